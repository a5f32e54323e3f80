"""Stores that are made wrong on purpose: each harness must notice them, else it proves nothing.

Each is a program to run before the harness itself.
"""

WITHOUT_SYNC = """
from nuggets.filesystem import atomic_files
atomic_files.sync = lambda what: None
from nuggets.stores.sqlite import database
database.DURABLE = database.NOT_DURABLE = "synchronous = OFF"
"""

WITHOUT_LOCK = """
from nuggets.stores.process_lock import LockFile
LockFile.take = lambda self, wait_seconds: None
LockFile.release = lambda self: None
LockFile.is_still_held = lambda self: True
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
from nuggets.stores.exports import edits
edits.is_torn = lambda file: False
"""

WITHOUT_CHECKSUM = """
from nuggets.stores import backup

class hashlib:  # says the same of all bytes
    class sha256:
        update = lambda self, data: None
        hexdigest = lambda self: "0" * 64

backup.hashlib = hashlib
"""

# A server that never forgets a write; the arguments are the bytes that it keeps of each, and those
# of the command.
KEEPS_EVERY_WRITE = """
import sys
from nuggets.__main__ import run_command as main
from nuggets.shelf import NuggetShelf
whole, kept, size = NuggetShelf.remember, [], int(sys.argv.pop(1))

def remember(self, *arguments, **options):
    kept.append(b"x" * size)
    return whole(self, *arguments, **options)

NuggetShelf.remember = remember
sys.exit(main(sys.argv[1:]))
"""
