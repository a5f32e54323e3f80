"""Edit JSON with comments (JSONC): comments, order and every byte outside of the edit stay.

Written by hand: Python's libraries for JSONC drop the comments when they write, or are not yet
stable. Python's own parser reads the text with blanks in place of comments; the positions of the
values in it are those in the text, which is what is edited.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from nuggets.interfaces.connect import EditError
from nuggets.named_tuple import NamedTuple

_BLANKS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)  # white space and comments
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"?|(//[^\n]*|/\*.*?\*/)|/\*.*', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[\[{,]\s*,|,(?=\s*[\]}])', re.DOTALL)
_COMMENT_TO_LINE_END = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)(?=\r?\n)")
_DECODER = json.JSONDecoder()


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
    plain = " " + text[1:] if text.startswith("\ufeff") else text
    plain = _STRING_OR_COMMENT.sub(_blank_comment, plain)
    plain = _STRING_OR_COMMA.sub(lambda found: found[0] if found[0] != "," else " ", plain)
    if not plain.strip():
        return Node(len(text), len(text), {})
    try:
        json.loads(plain)
        return _locate(plain, _skip_blanks(plain, 0))
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        raise EditError(f"not valid JSON: {place}: {problem.msg}") from None
    except (ValueError, RecursionError):
        raise EditError("not valid JSON: a number too long, or nested too deeply") from None


def _blank_comment(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0]) if found[1] else found[0]


def _locate(plain: str, start: int) -> Node:
    """The value that begins here, with its children; the text is valid."""
    value, end = _DECODER.raw_decode(plain, start)
    children: list[Child] = []
    position = _skip_blanks(plain, start + 1) if plain[start] in "{[" else end
    while position < end - 1:
        begin, key = position, len(children)
        if plain[start] == "{":
            key, position = _DECODER.raw_decode(plain, position)
            position = _skip_blanks(plain, plain.index(":", position) + 1)
        node = _locate(plain, position)
        children.append(Child(begin, key, node))
        position = _skip_blanks(plain, node.end)
        if plain[position] == ",":
            position = _skip_blanks(plain, position + 1)
    return Node(start, end, value, tuple(children))


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


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path; of an object each member, so that its others stay as they are."""
    if not isinstance(value, dict) or not isinstance(value_at(text, path), dict):
        return set_member(text, path, value)
    for key, part in value.items():
        text = set_member(text, (*path, key), part)
    return text


def remove_value(text: str, path: Sequence[str]) -> str:
    """Remove a member, and the objects around it that are empty then."""
    text = remove(text, path)
    is_empty = len(path) > 1 and value_at(text, path[:-1]) == {}
    return remove_value(text, path[:-1]) if is_empty else text


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
    is_last_on_line = text[end:].lstrip(" \t,")[:1] in ("\n", "\r")
    if follows_comment and not is_last_on_line:
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


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position
