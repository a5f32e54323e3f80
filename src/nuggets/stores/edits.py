"""Reading documented files that a person or another program wrote: strictly, and never guessing."""

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from nuggets import codec, times
from nuggets.errors import InvalidInput, StoreCorrupt, StoreError
from nuggets.files import unreadable
from nuggets.records import OutsideEdit
from nuggets.stores.pictures import GRAPH_VERSION, NUGGET_VERSION, SUFFIX, Shown
from nuggets.text import folded

_ATTEMPTS = 5  # at reading a file that someone is saving
_OURS = ("version", "revision", "savedAt", "notes")

R = TypeVar("R")


class Edited(NamedTuple):
    """A file as someone left it."""

    path: str
    status: os.stat_result
    shown: Shown | None  # the picture that its author started from, if it still says so
    edit: OutsideEdit
    fields: codec.Json  # of the graph's file: what stands beside the notes


def read_edit(path: str, graph_path: str) -> Edited:
    """What a file says now; `StoreCorrupt` if that is not what it should be."""
    text, status = _settled(path)
    where = os.path.basename(path)
    shape = _checked(path, codec.loads, text.removeprefix(b"\xef\xbb\xbf"), where)
    _checked(path, codec.savable, shape, where)
    if not isinstance(shape, dict):
        raise damaged(path, "it holds no object")
    newest = GRAPH_VERSION if path == graph_path else NUGGET_VERSION
    version = shape.get("version", newest)
    if not isinstance(version, int) or version > newest:
        raise damaged(path, f"version {version!r} is not known here, only up to {newest}")
    shown = _shown(shape)
    revision = shown.revision if shown else 0
    if path == graph_path:
        notes = tuple(_graph_notes(shape, path))
        fields = {name: value for name, value in shape.items() if name not in _OURS}
        return Edited(path, status, shown, OutsideEdit(revision, notes=notes), fields)
    config, facts = _checked(path, codec.nugget_from_json, shape, where)
    stem = os.path.basename(path).removesuffix(SUFFIX)
    if folded(config.name) != folded(stem):
        config = config._replace(name=stem)  # a renamed or copied file is what its name says
    edit = OutsideEdit(revision, nugget=config, facts=tuple(facts))
    return Edited(path, status, shown, edit, {})


def damaged(path: str, problem: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be read: {problem}. It was left as it is and nothing was changed. Correct "
        "it, or run `nuggets doctor --fix`: that sets it aside and writes it again from the journal"
    )


def _settled(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, read while nobody wrote it."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise StoreError(f"{path} is not a plain file; move it away, and Nuggets writes it anew")
    try:
        for _ in range(_ATTEMPTS):
            before = os.lstat(path)
            with open(path, "rb") as file:
                text = file.read()
            after = os.lstat(path)
            if before[:7] == after[:7] and before.st_mtime_ns == after.st_mtime_ns:
                break
    except OSError as problem:
        raise unreadable(path, problem) from problem
    return text, after


def _shown(shape: codec.Json) -> Shown | None:
    revision, saved_at = shape.get("revision"), shape.get("savedAt")
    if not isinstance(revision, int) or isinstance(revision, bool) or revision < 1:
        return None
    try:
        return Shown(revision, times.normal(saved_at)) if isinstance(saved_at, str) else None
    except InvalidInput:
        return None


def _graph_notes(shape: codec.Json, path: str) -> Iterator[codec.Json]:
    if not isinstance(shape.get("notes"), list):
        raise damaged(path, "there is no list of notes in it")
    seen: set[str] = set()
    for number, note in enumerate(shape["notes"], 1):
        checked = _checked(path, codec.checked_note, note, f"note {number}")
        if checked["id"] in seen:
            raise damaged(path, f"the id {checked['id']!r} stands twice")
        seen.add(checked["id"])
        yield checked


def _checked(path: str, read: Callable[[Any, str], R], shape: Any, where: str) -> R:
    try:
        return read(shape, where)
    except InvalidInput as problem:
        raise damaged(path, str(problem)) from None
