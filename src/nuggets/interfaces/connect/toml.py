"""Put one table at the end of a TOML file that people write, and take it out again.

A table may always stand at the end, so nothing before it has to be understood or moved. Every
edit is checked by reading the result.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

_KEY_LINE = re.compile(r"\s*[\w-]+\s*=")


class Unreadable(ValueError):
    """The text is no TOML; says where."""


def read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Unreadable(str(problem)) from None


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The table with these values, in its old place if it had one, else at the end."""
    before = read(text)
    if _at(before, path) == dict(values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    block = [_header(path)]
    block += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    lines = text.splitlines()
    place = _place(lines, path)
    if place is None:
        room = [""] if lines and lines[-1].strip() else []
        lines = [*lines, *room, *block]
    else:
        lines[place[0] : place[1]] = block
    return newline.join(lines) + newline


def without_table(text: str, path: Sequence[str]) -> str:
    """Without the table, and without the blank line that came with it."""
    read(text)
    lines = text.splitlines(keepends=True)
    place = _place(lines, path)
    if place is None:
        return text
    start, end = place
    if start and not lines[start - 1].strip():
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _header(path: Sequence[str]) -> str:
    return f"[{'.'.join(path)}]"


def _place(lines: Sequence[str], path: Sequence[str]) -> tuple[int, int] | None:
    """From the header to behind the last of its own lines; a comment ends it."""
    header = _header(path)
    for start, line in enumerate(lines):
        if line.partition("#")[0].strip() == header:
            end = start + 1
            while end < len(lines) and _KEY_LINE.match(lines[end]):
                end += 1
            return start, end
    return None


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values
