"""Take a note out of everything a store ever wrote: it is not enough to forget it.

Commits keep their place and their number, so that whoever follows the journal still can; only what
they said of the note is gone, with every link to it.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from nuggets.codec import dumps
from nuggets.files import replace_file, sync_directory, unreadable, unwritable
from nuggets.stores import lines

_ASIDE = ".damaged-"  # what a doctor set aside may hold anything


def erase(directory: str, note_ids: Collection[str]) -> list[str]:
    """The files that were changed, or taken away where they could not be read line by line."""
    changed = []
    for path in _files(directory, lambda name: name.endswith(".kept")):
        _remove(path)  # derived from everything, and soon made again
        changed.append(path)
    said = set(note_ids)
    for path in _files(directory, lambda name: name.startswith(("log-", "snapshot-"))):
        content = _content(path)
        if not _mentions(content, note_ids):
            continue
        written = content.splitlines(keepends=True)
        said.update(text for line in written for text in _texts(lines.checked(line), note_ids))
        after = [_without(line, note_ids) for line in written]
        if after != written:
            replace_file(path, after, durable=True)
            changed.append(path)
    for path in _files(directory, lambda name: _ASIDE in name):
        if _holds(_content(path), said):
            _remove(path)
            changed.append(path)
    return changed


def _files(directory: str, meant: Callable[[str], bool]) -> list[str]:
    walk = os.walk(directory)
    return sorted(os.path.join(at, name) for at, _, names in walk for name in names if meant(name))


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _holds(content: bytes, texts: Iterable[str]) -> bool:
    """Does any of these stand in it as JSON, in our form or in the one that is all ASCII?"""
    return any(form(text).encode() in content for text in texts for form in (dumps, json.dumps))


def _mentions(content: bytes, note_ids: Iterable[str]) -> bool:
    """Does any of our lines name one of them, if only within what a clean-up tells?"""
    return any(dumps(note_id)[1:-1].encode() in content for note_id in note_ids)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
        sync_directory(os.path.dirname(path))
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _texts(value: Any, note_ids: Collection[str]) -> Iterator[str]:
    """What the notes ever said: a nugget's file that was set aside does not call them by id."""
    if isinstance(value, dict) and _is_one_of(value.get("id"), note_ids):
        yield from filter(None, (value["title"], value["content"]))  # one may be cut off
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part, note_ids)


def _without(line: bytes, note_ids: Collection[str]) -> bytes:
    shape = lines.checked(line)
    if not isinstance(shape, dict):
        return line  # torn: never committed, and replaced by the next write
    if shape.get("note", {}).get("id") in note_ids:
        return b""
    return lines.line(_scrubbed(shape, note_ids))


def _scrubbed(value: Any, note_ids: Collection[str]) -> Any:
    """The same without the notes themselves, recalls of them, links to them, and what marks say."""
    if isinstance(value, dict):
        kept = (name for name in value if name not in note_ids)
        return {name: _scrubbed(value[name], note_ids) for name in kept}
    if isinstance(value, list):
        return [_scrubbed(part, note_ids) for part in value if not _speaks_of(part, note_ids)]
    return value


def _speaks_of(part: Any, note_ids: Collection[str]) -> bool:
    if isinstance(part, dict):
        named = (part.get(name) for name in ("id", "to", "noteId"))
        return any(_is_one_of(name, note_ids) for name in named) or _tells_of(part, note_ids)
    return isinstance(part, list) and part[:1] != [] and _is_one_of(part[0], note_ids)


def _tells_of(part: dict[str, Any], note_ids: Collection[str]) -> bool:
    """Is it a step of a clean-up that was taken with one of them? That calls it by its title."""
    told = part.get("detail") if "noteId" in part else None
    return isinstance(told, str) and any(f" {note_id} " in f" {told} " for note_id in note_ids)


def _is_one_of(value: Any, note_ids: Collection[str]) -> bool:
    return isinstance(value, str) and value in note_ids
