"""Read documented files that a person or another program edited: strictly, without guessing."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from nuggets.domain import codec
from nuggets.domain.records import ExternalEdit
from nuggets.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import open_plain, unreadable
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores import json_validation
from nuggets.stores.exports.layout import (
    GRAPH,
    GRAPH_VERSION,
    NUGGET_VERSION,
    ExportedRevision,
    nugget_in,
    read_exported_revision,
)

_PAUSES = (0.002, 0.01, 0.05, 0.25)  # seconds between attempts to read a file that is being saved
_OUR_FIELDS = ("version", "revision", "savedAt", "recalls", "notes")

R = TypeVar("R")


class FileContent(NamedTuple):
    """The bytes of a file, read while nobody wrote it."""

    content: bytes
    status: os.stat_result


class EditedFile(NamedTuple):
    """A file that someone edited."""

    name: str
    file: FileContent
    exported: ExportedRevision | None  # what its author saw, if its first line still says so
    edit: ExternalEdit
    fields: codec.Json  # of graph.json: unknown fields beside the notes


def read_settled(path: str) -> FileContent:
    """Read a file while nobody writes it; `StoreBusy` if someone keeps writing."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise StoreError(f"{path} is not a plain file; move it away, and Nuggets writes it anew")
    try:
        for pause in (*_PAUSES, 0):
            before = os.lstat(path)
            with open(path, "rb", opener=open_plain) as file:
                content = file.read()
            after = os.lstat(path)
            if before[:7] == after[:7] and before.st_mtime_ns == after.st_mtime_ns:
                return FileContent(content, after)
            time.sleep(pause)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    raise StoreBusy(f"{path} is being saved by someone; nothing was changed. Try again")


def parse_edit(directory: str, name: str, file: FileContent) -> EditedFile:
    """Parse an edited file; `StoreCorrupt` if it is not as documented."""
    path, where = os.path.join(directory, name), os.path.basename(name)
    shape = _validate(path, codec.loads, file.content.removeprefix(b"\xef\xbb\xbf"), where)
    _validate(path, json_validation.check_savable, shape, where)
    if not isinstance(shape, dict):
        raise _unreadable_error(path, "it holds no object")
    newest = GRAPH_VERSION if name == GRAPH else NUGGET_VERSION
    version = shape.get("version", newest)
    if not isinstance(version, int) or version > newest:
        problem = f"version {version!r} is not known here, only up to {newest}"
        raise _unreadable_error(path, problem)
    exported = read_exported_revision(shape)
    revision = exported.revision if exported else 0
    if name == GRAPH:
        notes = tuple(_graph_notes(shape, path))
        fields = {field: value for field, value in shape.items() if field not in _OUR_FIELDS}
        return EditedFile(name, file, exported, ExternalEdit(revision, notes=notes), fields)
    config, facts = _validate(path, json_validation.nugget_from_json, shape, where)
    if fold_case(config.name) != fold_case(nugget_in(name)):  # the file was renamed or copied
        config = config._replace(name=nugget_in(name))
    edit = ExternalEdit(revision, nugget=config, facts=tuple(facts))
    return EditedFile(name, file, exported, edit, {})


def _graph_notes(shape: codec.Json, path: str) -> Iterator[codec.Json]:
    if not isinstance(shape.get("notes"), list):
        raise _unreadable_error(path, "there is no list of notes in it")
    ids: set[str] = set()
    for number, note in enumerate(shape["notes"], 1):
        fields = _validate(path, json_validation.check_note, note, f"note {number}")
        if "id" in fields:
            if fields["id"] in ids:
                raise _unreadable_error(path, f"the id {fields['id']!r} occurs twice")
            ids.add(fields["id"])
        yield fields


def _validate(path: str, check: Callable[[Any, str], R], shape: Any, where: str) -> R:
    """Call a function that checks; its errors name the file."""
    try:
        return check(shape, where)
    except InvalidInput as problem:
        raise _unreadable_error(path, str(problem)) from None


def _unreadable_error(path: str, problem: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be read: {problem}. It is left as it is. Correct it, or run "
        "`nuggets doctor --fix`: that sets it aside and writes it again from the database"
    )
