"""What a doctor finds in the documented files: those that cannot be taken in, and edits."""

import os
from collections.abc import Iterator
from contextlib import suppress

from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.defects import Defect
from nuggets.stores.exports.layout import GRAPH, documented_files
from nuggets.stores.exports.reading import edit_in, read_settled
from nuggets.stores.exports.register import Export, checksum_of, exports, foreign, forget
from nuggets.stores.sqlite.database import Database, open_read_only

DAMAGED_FILE = "damaged file"


def documented_defects(directory: str) -> Iterator[Defect]:
    """Files that cannot be taken in, and those that someone edited."""
    graph = os.path.join(directory, os.path.dirname(GRAPH))
    if os.path.lexists(graph) and not os.path.isdir(graph):
        why = "a file stands where a directory should be"
        yield Defect(DAMAGED_FILE, graph, why, "set it aside", harmful=False)
    known, files = _known_exports(directory), documented_files(directory)
    refused = [name for name in files if name in known and known[name].problem]
    for name in dict.fromkeys([*refused, *foreign(files, known)]):
        path = os.path.join(directory, name)
        try:
            found = read_settled(path)
            if name not in known or known[name].checksum != checksum_of(found.content):
                edit_in(directory, name, found)
                why = "edited or copied by someone; the next command takes in what is new"
                yield Defect("edited file", path, why, "take it in", harmful=False)
        except StoreBusy:
            continue  # it is being saved: it will show the next time
        except StoreError as problem:
            remedy = "set it aside, and write it again from the database"
            yield Defect(DAMAGED_FILE, path, str(problem), remedy, harmful=True)


def _known_exports(directory: str) -> dict[str, Export]:
    with suppress(StoreError, OSError):
        database = open_read_only(os.path.join(directory, "nuggets.db"))
        try:
            return exports(database)
        finally:
            database.close()
    return {}


def forget_export(directory: str, path: str) -> None:
    """So that the file is written anew."""
    with suppress(StoreError, OSError):
        database = Database(os.path.join(directory, "nuggets.db"))
        try:
            forget(database, os.path.relpath(path, directory))
        finally:
            database.close()
