"""Edit JSON with comments (JSONC): comments, order and every byte outside of the edit stay.

Written by hand: Python's libraries for JSONC drop the comments when they write, or are not yet
stable. This one parses a text into values with their positions, and edits the text itself.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from nuggets.interfaces.connect import EditError
from nuggets.named_tuple import NamedTuple

_BLANKS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)  # white space and comments
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/]+")
_COMMENT_TO_LINE_END = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)(?=\r?\n)")
_MAX_DEPTH = 100  # of values in values: Python's stack allows about 300, hosts' settings have 5


class Node(NamedTuple):
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    children: tuple["Child", ...] = ()  # of an object or a list


class Child(NamedTuple):
    """A member of an object, or an item of a list."""

    start: int
    key: str | int  # the index of an item
    node: Node


def parse(text: str) -> Node:
    """The value of a whole text. An empty text counts as an empty object."""
    start = _skip_blanks(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return Node(len(text), len(text), {})
    node = _parse_value(text, start, 0)
    end = _skip_blanks(text, node.end)
    if end != len(text):
        raise _error(text, end, "nothing more was expected")
    return node


def find_node(node: Node, path: Sequence[str | int]) -> Node | None:
    """The value at a path of keys and indexes."""
    for key in path:
        child = _find_child(node, key)
        if child is None:
            return None
        node = child.node
    return node


def value_at(text: str, path: Sequence[str | int]) -> Any:
    """The value at a path; None if there is none."""
    node = find_node(parse(text), path)
    return None if node is None else node.value


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path of keys; objects that are missing are created."""
    node = parse(text)
    newline = _line_ending(text)
    if node.start == node.end:  # nothing but comments
        comments = text.strip("\ufeff \t\r\n")
        lines = [comments] if comments else []
        return newline.join([*lines, _format(_nest(path, value), "", newline, "  "), ""])
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise EditError(f"{'.'.join(path[:depth])} is not an object")
        child = _find_child(node, key)
        if child is None:
            return _insert(text, node, key, _nest(path[depth + 1 :], value))
        node = child.node
    if node.value == value:
        return text
    formatted = _format(value, _indent_at(text, node.start), newline, _indent_unit(text))
    return text[: node.start] + formatted + text[node.end :]


def append_item(text: str, path: Sequence[str], item: Any) -> str:
    """Append to the list at a path; a list that is missing is created."""
    node = find_node(parse(text), path)
    if node is None:
        return set_member(text, path, [item])
    if not isinstance(node.value, list):
        raise EditError(f"{'.'.join(path)} is not a list")
    return _insert(text, node, len(node.children), item)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Remove a member or an item with its comma; comments around it stay."""
    parent = find_node(parse(text), path[:-1])
    keys = [child.key for child in parent.children] if parent is not None else []
    if parent is None or path[-1] not in keys:
        return text
    index = keys.index(path[-1])
    child = parent.children[index]
    start = len(text[: child.start].rstrip())
    end = child.node.end
    line_end = text.find("\n", start, child.start)
    follows_comment = line_end >= 0 and "//" in text[text.rfind("\n", 0, start) + 1 : start]
    if follows_comment and not _is_last_on_line(text, end):
        start = line_end + 1  # else the comment would swallow what follows
    next_sign = _skip_blanks(text, end)
    if text[next_sign] == ",":
        return text[:start] + text[end:next_sign] + text[next_sign + 1 :]
    if index:
        comma = _skip_blanks(text, parent.children[index - 1].node.end)
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _find_child(node: Node, key: str | int) -> Child | None:
    return next((child for child in reversed(node.children) if child.key == key), None)


def _insert(text: str, parent: Node, key: str | int, value: Any) -> str:
    """Add a last child, formatted like those before it."""
    name = json.dumps(key, ensure_ascii=False) + ": " if isinstance(key, str) else ""
    newline, unit = _line_ending(text), _indent_unit(text)
    if not parent.children:
        outer = _indent_at(text, parent.start)
        inner = outer + unit
        opening = text[: parent.end - 1].rstrip()
        new = name + _format(value, inner, newline, unit)
        return f"{opening}{newline}{inner}{new}{newline}{outer}{text[parent.end - 1 :]}"
    last = parent.children[-1]
    end = last.node.end
    if "\n" not in text[parent.start : parent.end]:
        return f"{text[:end]}, {name}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
    inner = _indent_at(text, last.start)
    new = name + _format(value, inner, newline, unit)
    comma = _skip_blanks(text, end)
    has_comma = text[comma] == ","  # some hosts allow one after the last child
    before, after = (comma, comma + 1) if has_comma else (end, end)
    comment = _COMMENT_TO_LINE_END.match(text, after)
    position = comment.end() if comment is not None else after
    return f"{text[:before]},{text[after:position]}{newline}{inner}{new}{text[position:]}"


def _nest(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _format(value: Any, indent: str, newline: str, unit: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _line_ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _is_last_on_line(text: str, position: int) -> bool:
    return text[position:].lstrip(" \t,")[:1] in ("\n", "\r")


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _parse_value(text: str, start: int, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        raise EditError("nested too deeply")
    first = text[start : start + 1]
    if first in ("{", "["):
        return _parse_container(text, start, depth)
    if first == '"':
        end = _find_string_end(text, start)
        return Node(start, end, _decode(text, start, end))
    match = _SCALAR.match(text, start)
    if match is None:
        raise _error(text, start, "a value was expected")
    return Node(start, match.end(), _decode(text, start, match.end()))


def _parse_container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    children: list[Child] = []
    position = _skip_blanks(text, start + 1)
    while text[position : position + 1] != closing:
        if is_object:
            child = _parse_member(text, position, depth)
        else:
            child = Child(position, len(children), _parse_value(text, position, depth + 1))
        children.append(child)
        position = _skip_blanks(text, child.node.end)
        if text[position : position + 1] == ",":
            position = _skip_blanks(text, position + 1)
        elif text[position : position + 1] != closing:
            raise _error(text, position, f"a comma or {closing} was expected")
    value: Any = (
        {child.key: child.node.value for child in children}
        if is_object
        else [child.node.value for child in children]
    )
    return Node(start, position + 1, value, tuple(children))


def _parse_member(text: str, start: int, depth: int) -> Child:
    if text[start : start + 1] != '"':
        raise _error(text, start, "a name in quotes was expected")
    end = _find_string_end(text, start)
    colon = _skip_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise _error(text, colon, "a colon was expected")
    value = _parse_value(text, _skip_blanks(text, colon + 1), depth + 1)
    return Child(start, _decode(text, start, end), value)


def _find_string_end(text: str, start: int) -> int:
    match = _STRING.match(text, start)
    if match is None:
        raise _error(text, start, "this text is not closed")
    return match.end()


def _decode(text: str, start: int, end: int) -> Any:
    try:
        return json.loads(text[start:end])
    except ValueError:
        raise _error(text, start, "this is not a JSON value") from None


def _error(text: str, position: int, message: str) -> EditError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return EditError(f"not valid JSON: line {line}, column {column}: {message}")
