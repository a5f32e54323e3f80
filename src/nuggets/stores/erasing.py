"""Take a note out of everything a store ever wrote: it is not enough to forget it.

Commits keep their place and their number, so that whoever follows the journal still can; only what
they said of the note is gone, with every link to it.
"""

import os
from collections.abc import Collection, Iterator
from typing import Any

from nuggets.files import replace_file
from nuggets.stores import lines

_ASIDE = ".damaged-"  # what a doctor set aside may hold anything


def erase(directory: str, note_ids: Collection[str]) -> list[str]:
    """The files that were changed, or taken away where they could not be read line by line."""
    changed = []
    needles = [f'"{note_id}"'.encode() for note_id in note_ids]
    for path in sorted(_files(directory)):
        with open(path, "rb") as file:
            content = file.read()
        if not any(needle in content for needle in needles):
            continue
        if _ASIDE in os.path.basename(path):
            os.unlink(path)
            changed.append(path)
        elif os.path.basename(path).startswith(("log-", "snapshot-")):
            after = [_without(line, note_ids) for line in content.splitlines(keepends=True)]
            if b"".join(after) != content:
                replace_file(path, after, durable=True)
                changed.append(path)
    return changed


def _files(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".jsonl") or _ASIDE in name:
                yield os.path.join(folder, name)


def _without(line: bytes, note_ids: Collection[str]) -> bytes:
    shape = lines.checked(line)
    if not isinstance(shape, dict):
        return line  # torn: never committed, and replaced by the next write
    if shape.get("note", {}).get("id") in note_ids:
        return b""
    return lines.line(_scrubbed(shape, note_ids))


def _scrubbed(value: Any, note_ids: Collection[str]) -> Any:
    """The same without the notes themselves, recalls of them, and links to them."""
    if isinstance(value, dict):
        return {name: _scrubbed(part, note_ids) for name, part in value.items()}
    if isinstance(value, list):
        return [_scrubbed(part, note_ids) for part in value if not _speaks_of(part, note_ids)]
    return value


def _speaks_of(part: Any, note_ids: Collection[str]) -> bool:
    if isinstance(part, dict):
        return part.get("id") in note_ids or part.get("to") in note_ids
    return isinstance(part, list) and part[:1] != [] and part[0] in note_ids
