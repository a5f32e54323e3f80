"""Put one table at the end of a TOML file that people write, and take it out again.

A table may always stand at the end, so nothing before it has to be understood or moved. It is
cut out with all that was added to it: what is left of half a table may keep its host from
starting. An edit is checked by reading it again: it changes the table and nothing else, or it is
not made.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# texts and comments, which may hold anything; brackets, and the ends of lines
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]',
    re.DOTALL,
)


class Unreadable(ValueError):
    """The text is no TOML, or none that can be edited; says where or why."""


class _Statement(NamedTuple):
    """A header, a key with its value, or a line that says nothing; with its line end."""

    text: str
    path: tuple[str, ...]  # of what it is about; () if it says nothing
    is_header: bool


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The table with these values, in its old place if it had one, else at the end.

    What else was set in it stays; but one that has none of these keys was about something else.
    """
    before = _read(text)
    there = _at(before, path)
    known = there if isinstance(there, dict) else {}
    if values.items() <= known.items():
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    new = {
        key: f"{key} = {json.dumps(value, ensure_ascii=False)}{newline}"
        for key, value in values.items()
        if known.get(key) != value
    }
    text += "" if text.endswith("\n") or not text else newline
    after = _with_lines(text, path, new, keep=bool(known.keys() & values.keys()))
    if after is None:
        room = newline if text and text.splitlines()[-1].strip() else ""
        after = f"{text}{room}[{'.'.join(path)}]{newline}{''.join(new.values())}"
    try:
        made = _read(after)
    except Unreadable:  # ours does not go together with what is there
        raise _another_form(path) from None
    there = _at(made, path)
    unlike = not isinstance(there, dict) or not values.items() <= there.items()
    if unlike or _less(made, path) != _less(before, path):
        raise _another_form(path)
    return after


def without_table(text: str, path: Sequence[str]) -> str:
    """Without the table and all that is in it, and without the blank line that came with it."""
    before = _read(text)
    if _at(before, path) is None:
        return text
    kept: list[str] = []
    idle: list[str] = []  # blanks and comments, which go only from inside the table
    inside = False
    for statement in _statements(text):
        if not statement.path:
            idle.append(statement.text)
            continue
        ours = statement.path[: len(path)] == tuple(path)
        if ours and not inside and idle and not idle[-1].strip():
            idle.pop()
        if not (ours and inside):
            kept += idle
        if not ours:
            kept.append(statement.text)
        idle, inside = [], ours
    after = "".join([*kept, *idle])
    left = _read(after)
    if _at(left, path) is not None or _less(left, path) != _less(before, path):
        raise _another_form(path)
    return after


def _with_lines(
    text: str, path: Sequence[str], lines: Mapping[str, str], *, keep: bool
) -> str | None:
    """The table where it is, with these lines by their keys; None if it has no header."""
    new = dict(lines)
    statements = list(_statements(text))
    headers = [i for i, statement in enumerate(statements) if statement.is_header]
    start = next((i + 1 for i in headers if statements[i].path == tuple(path)), None)
    if start is None:
        return None
    end = next((i for i in headers if i >= start), len(statements))
    inside = []
    for statement in statements[start:end]:
        key = statement.path[len(path)] if statement.path else ""
        if key in new:
            inside.append(new.pop(key))
        elif keep or not key:
            inside.append(statement.text)
    texts = [statement.text for statement in statements]
    return "".join([*texts[:start], *new.values(), *inside, *texts[end:]])


def _another_form(path: Sequence[str]) -> Unreadable:
    name = ".".join(path)
    return Unreadable(f"{name} has another form here; give it lines of its own, below [{name}]")


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=str)  # as a number, nan would differ from itself
    except tomllib.TOMLDecodeError as problem:
        raise Unreadable(str(problem)) from None


def _statements(text: str) -> Iterator[_Statement]:
    """All of a text that can be read, in its order."""
    table: tuple[str, ...] = ()
    for piece in _pieces(text):
        path = tuple(_path(tomllib.loads(piece)))
        is_header = piece.lstrip().startswith("[")
        if is_header:
            table = path
        yield _Statement(piece, table + path if path and not is_header else path, is_header)


def _pieces(text: str) -> Iterator[str]:
    """Lines, but whole values."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and not depth:
            yield text[start : token.end()]
            start = token.end()
    if start < len(text):
        yield text[start:]


def _path(values: Any) -> Iterator[str]:
    """The keys down to where something branches or ends."""
    while isinstance(values, dict | list) and len(values) == 1:
        if isinstance(values, dict):
            ((key, values),) = values.items()
            yield key
        else:
            (values,) = values


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def _less(values: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """All but what is at the path, and but what would be empty around it."""
    rest = {key: value for key, value in values.items() if key != path[0]}
    inner = values.get(path[0])
    if len(path) > 1 and isinstance(inner, dict) and (less := _less(inner, path[1:])):
        rest[path[0]] = less
    return rest
