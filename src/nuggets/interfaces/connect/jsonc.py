"""Edit JSON that people write: comments, order and every byte that is not ours stay.

Knows text and positions. An edit is checked by reading it again: it changes what it should and
nothing else, or it is not made.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/]+")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)(?=\r?\n)")
_DEEPEST = 100


class Node(NamedTuple):
    """A value and where it stands; of containers, also what is in them."""

    start: int
    end: int
    value: Any
    parts: tuple["Part", ...] = ()


class Part(NamedTuple):
    """A member of an object, or an item of a list (its key is then None)."""

    start: int
    key: str | None
    node: Node


class Unreadable(ValueError):
    """The text is no JSON; says where."""


def read(text: str) -> Node:
    """The whole text, positions included. Empty text is an empty object."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return Node(len(text), len(text), {})
    node = _node(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise Unreadable(_where(text, _skip(text, node.end), "nothing more was expected"))
    return node


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path of keys; objects on the way are made if need be."""
    if not text.strip("\ufeff \t\r\n"):
        return _pretty(_nested(path, value), "", "\n", "  ") + "\n"
    node = read(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise Unreadable(f"{'.'.join(path[:depth])} is no object")
        part = next((p for p in reversed(node.parts) if p.key == key), None)
        if part is None:
            return _inserted(text, node, key, _nested(path[depth + 1 :], value))
        node = part.node
    if node.value == value:
        return text
    style = _style(text, node.start)
    return text[: node.start] + _pretty(value, *style) + text[node.end :]


def with_item(text: str, path: Sequence[str], item: Any) -> str:
    """Append to the list at a path; made if need be."""
    node = found(read(text), path)
    if node is None:
        return with_member(text, path, [item])
    if not isinstance(node.value, list):
        raise Unreadable(f"{'.'.join(path)} is no list")
    return _inserted(text, node, None, item)


def without(text: str, path: Sequence[str | int]) -> str:
    """Cut a member or item out, with its comma; comments around it stay."""
    parent = found(read(text), path[:-1])
    if parent is None:
        return text
    keys = [part.key if part.key is not None else i for i, part in enumerate(parent.parts)]
    if path[-1] not in keys:
        return text
    index = keys.index(path[-1])
    part = parent.parts[index]
    start = len(text[: part.start].rstrip())
    following = _skip(text, part.node.end)
    line_end = text.find("\n", start, part.start)
    commented = line_end >= 0 and "//" in text[text.rfind("\n", 0, start) + 1 : start]
    if commented and not _ends_line(text, part.node.end):
        start = line_end + 1  # else a comment would swallow what follows
    if text[following] == ",":
        return text[:start] + text[part.node.end : following] + text[following + 1 :]
    if index:
        comma = _skip(text, parent.parts[index - 1].node.end)
        return text[:comma] + text[comma + 1 : start] + text[part.node.end :]
    return text[:start] + text[part.node.end :]


def found(node: Node, path: Sequence[str | int]) -> Node | None:
    """The value at a path of keys and positions."""
    for key in path:
        if isinstance(key, int):
            if key >= len(node.parts):
                return None
            node = node.parts[key].node
            continue
        part = next((p for p in reversed(node.parts) if p.key == key), None)
        if part is None:
            return None
        node = part.node
    return node


def _inserted(text: str, parent: Node, key: str | None, value: Any) -> str:
    newline, unit = _newline(text), _unit(text)
    outer = _indent(text, parent.start)
    lead = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    last = parent.parts[-1] if parent.parts else None
    if last is None:
        inner = outer + unit
        written = lead + _pretty(value, inner, newline, unit)
        inside = text[parent.start + 1 : parent.end - 1].rstrip()
        opening = text[: parent.start + 1] + inside
        return f"{opening}{newline}{inner}{written}{newline}{outer}{text[parent.end - 1 :]}"
    if "\n" not in text[parent.start : parent.end]:
        written = lead + json.dumps(value, ensure_ascii=False)
        return f"{text[: last.node.end]}, {written}{text[last.node.end :]}"
    inner = _indent(text, last.start)
    written = lead + _pretty(value, inner, newline, unit)
    end = last.node.end
    comma = _skip(text, end)
    # some hosts allow a comma after the last one
    behind, rest = (comma, comma + 1) if text[comma] == "," else (end, end)
    line = _REST_OF_LINE.match(text, rest)
    here = line.end() if line is not None else rest  # behind a comment on the last one
    return f"{text[:behind]},{text[rest:here]}{newline}{inner}{written}{text[here:]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _style(text: str, position: int) -> tuple[str, str, str]:
    return _indent(text, position), _newline(text), _unit(text)


def _pretty(value: Any, indent: str, newline: str, unit: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _ends_line(text: str, position: int) -> bool:
    return text[position:].lstrip(" \t,")[:1] in ("\n", "\r")


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _node(text: str, start: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise Unreadable("nested too deeply")
    opening = text[start : start + 1]
    if opening in ("{", "["):
        return _container(text, start, depth)
    if opening == '"':
        end = _string_end(text, start)
        return Node(start, end, _loaded(text, start, end))
    match = _SCALAR.match(text, start)
    if match is None:
        raise Unreadable(_where(text, start, "a value was expected"))
    return Node(start, match.end(), _loaded(text, start, match.end()))


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        part = _part(text, at, is_object, depth)
        parts.append(part)
        at = _skip(text, part.node.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise Unreadable(_where(text, at, f"a comma or {closing} was expected"))
    value: Any = (
        {part.key: part.node.value for part in parts}
        if is_object
        else [part.node.value for part in parts]
    )
    return Node(start, at + 1, value, tuple(parts))


def _part(text: str, at: int, is_object: bool, depth: int) -> Part:
    if not is_object:
        return Part(at, None, _node(text, at, depth + 1))
    if text[at : at + 1] != '"':
        raise Unreadable(_where(text, at, "a name in quotes was expected"))
    end = _string_end(text, at)
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise Unreadable(_where(text, colon, "a colon was expected"))
    return Part(at, _loaded(text, at, end), _node(text, _skip(text, colon + 1), depth + 1))


def _string_end(text: str, start: int) -> int:
    match = _STRING.match(text, start)
    if match is None:
        raise Unreadable(_where(text, start, "this text is not closed"))
    return match.end()


def _loaded(text: str, start: int, end: int) -> Any:
    try:
        return json.loads(text[start:end])
    except ValueError:
        raise Unreadable(_where(text, start, "this is no JSON value")) from None


def _where(text: str, position: int, what: str) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}: {what}"
