"""Find what is wrong with the documented files: those that cannot be read, and external edits."""

import os
from collections.abc import Iterator
from contextlib import suppress

from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.doctor.defects import DAMAGED_FILE, Defect
from nuggets.stores.exports.edit_reader import parse_edit, read_settled
from nuggets.stores.exports.export_fingerprints import (
    Export,
    changed_files,
    checksum_of,
    exports,
    forget,
)
from nuggets.stores.exports.layout import GRAPH, documented_files
from nuggets.stores.sqlite.database import Database, open_read_only


def find_export_defects(directory: str) -> Iterator[Defect]:
    """Files that cannot be read, and those that someone edited; nothing is changed."""
    graph = os.path.join(directory, os.path.dirname(GRAPH))
    if os.path.lexists(graph) and not os.path.isdir(graph):
        reason = "a file stands where a directory should be"
        yield Defect(DAMAGED_FILE, graph, reason, "set it aside", harmful=False)
    recorded, files = _read_register(directory), documented_files(directory)
    refused = [name for name in files if name in recorded and recorded[name].problem]
    for name in dict.fromkeys([*refused, *changed_files(files, recorded)]):
        path = os.path.join(directory, name)
        try:
            file = read_settled(path)
            if name not in recorded or recorded[name].checksum != checksum_of(file.content):
                parse_edit(directory, name, file)
                reason = "edited or copied by someone; the next command imports what is new"
                yield Defect("edited file", path, reason, "import it", harmful=False)
        except StoreBusy:
            continue  # someone is saving it: it will show the next time
        except StoreError as problem:
            remedy = "set it aside, and write it again from the database"
            yield Defect(DAMAGED_FILE, path, str(problem), remedy, harmful=True)


def _read_register(directory: str) -> dict[str, Export]:
    """The recorded exports; none if the database cannot be read."""
    with suppress(StoreError, OSError):
        database = open_read_only(os.path.join(directory, "nuggets.db"))
        try:
            return exports(database)
        finally:
            database.close()
    return {}


def forget_export(directory: str, path: str) -> None:
    """Remove a file from the register, so that it is written again."""
    with suppress(StoreError, OSError):
        database = Database(os.path.join(directory, "nuggets.db"))
        try:
            forget(database, os.path.relpath(path, directory))
        finally:
            database.close()
