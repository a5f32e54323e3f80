"""Reading documented files that a person or another program wrote: strictly, and never guessing."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from nuggets import codec
from nuggets.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError
from nuggets.files import unreadable
from nuggets.records import OutsideEdit
from nuggets.stores import shapes
from nuggets.stores.exports.layout import (
    GRAPH,
    GRAPH_VERSION,
    NUGGET_VERSION,
    Shown,
    nugget_in,
    shown_in,
)
from nuggets.text import folded

_PAUSES = (0.002, 0.01, 0.05, 0.25)  # seconds, between looks at a file that someone is saving
_OURS = ("version", "revision", "savedAt", "recalls", "notes")

R = TypeVar("R")


class Found(NamedTuple):
    """The bytes of a file, read while nobody wrote it."""

    content: bytes
    status: os.stat_result


class Edited(NamedTuple):
    """A file as someone left it."""

    name: str
    found: Found
    shown: Shown | None  # what its author saw, if it still says so
    edit: OutsideEdit
    fields: codec.Json  # of the graph's file: what stands beside the notes


def read_settled(path: str) -> Found:
    if os.path.islink(path) or not os.path.isfile(path):
        raise StoreError(f"{path} is not a plain file; move it away, and Nuggets writes it anew")
    try:
        for pause in (*_PAUSES, 0):
            before = os.lstat(path)
            with open(path, "rb") as file:
                content = file.read()
            after = os.lstat(path)
            if before[:7] == after[:7] and before.st_mtime_ns == after.st_mtime_ns:
                return Found(content, after)
            time.sleep(pause)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    raise StoreBusy(f"{path} is being saved by someone; nothing was changed. Try again")


def edit_in(directory: str, name: str, found: Found) -> Edited:
    """What a file says; `StoreCorrupt` if that is not what it should be."""
    path, where = os.path.join(directory, name), os.path.basename(name)
    shape = _checked(path, codec.loads, found.content.removeprefix(b"\xef\xbb\xbf"), where)
    _checked(path, shapes.savable, shape, where)
    if not isinstance(shape, dict):
        raise damaged(path, "it holds no object")
    newest = GRAPH_VERSION if name == GRAPH else NUGGET_VERSION
    version = shape.get("version", newest)
    if not isinstance(version, int) or version > newest:
        raise damaged(path, f"version {version!r} is not known here, only up to {newest}")
    shown = shown_in(shape)
    revision = shown.revision if shown else 0
    if name == GRAPH:
        notes = tuple(_graph_notes(shape, path))
        fields = {field: value for field, value in shape.items() if field not in _OURS}
        return Edited(name, found, shown, OutsideEdit(revision, notes=notes), fields)
    config, facts = _checked(path, shapes.nugget_from_json, shape, where)
    if folded(config.name) != folded(nugget_in(name)):
        config = config._replace(name=nugget_in(name))  # a renamed or copied file is what it is now
    return Edited(name, found, shown, OutsideEdit(revision, nugget=config, facts=tuple(facts)), {})


def damaged(path: str, problem: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be read: {problem}. It is left as it is. Correct it, or run "
        "`nuggets doctor --fix`: that sets it aside and writes it again from the database"
    )


def _graph_notes(shape: codec.Json, path: str) -> Iterator[codec.Json]:
    if not isinstance(shape.get("notes"), list):
        raise damaged(path, "there is no list of notes in it")
    seen: set[str] = set()
    for number, note in enumerate(shape["notes"], 1):
        checked = _checked(path, shapes.checked_note, note, f"note {number}")
        if checked["id"] in seen:
            raise damaged(path, f"the id {checked['id']!r} stands twice")
        seen.add(checked["id"])
        yield checked


def _checked(path: str, read: Callable[[Any, str], R], shape: Any, where: str) -> R:
    try:
        return read(shape, where)
    except InvalidInput as problem:
        raise damaged(path, str(problem)) from None
