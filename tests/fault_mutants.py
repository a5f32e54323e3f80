"""Stores that are made wrong on purpose: each harness must notice them, else it proves nothing.

Each is a program to run before the harness itself.
"""

WITHOUT_SYNC = """
from nuggets.filesystem import files
files.sync = lambda what: None
from nuggets.stores.sqlite import database
database.DURABLE = database.NOT_DURABLE = "synchronous = OFF"
database.OF_EVERY_CONNECTION = (*database.OF_EVERY_CONNECTION, "synchronous = OFF")
"""

WITHOUT_LOCK = """
from contextlib import contextmanager
from nuggets.stores.sqlite import store as module

@contextmanager
def unlocked(directory, wait_seconds=0):
    yield lambda: True

module.hold_shelf_lock = unlocked
"""

FORGETS_TO_COMMIT = """
from nuggets.stores.sqlite.database import Database
Database.commit = Database.rollback  # says it wrote, and did not
"""

WRITES_IN_PIECES = """
from nuggets.domain.records import Changes
from nuggets.stores.sqlite.store import SqliteStore
whole = SqliteStore.write

def in_pieces(self, changes):
    for note_id in changes.drop:
        whole(self, Changes(drop=(note_id,)))
    return whole(self, changes._replace(drop=()))

SqliteStore.write = in_pieces
"""

TAKES_TORN_FILES_FOR_EDITS = """
from nuggets.stores.exports import external_edits
external_edits.is_torn = lambda file: False
"""

WITHOUT_CHECKSUM = """
from nuggets.stores import backup

class hashlib:  # says the same of all bytes
    class sha256:
        update = lambda self, data: None
        hexdigest = lambda self: "0" * 64

backup.hashlib = hashlib
"""
