"""Set one table in a TOML file that people write, and remove it again.

tomlkit keeps comments, order and formatting. Every result is read again with tomllib: an edit
changes that table and nothing else, or it is refused.
"""

import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, AoT, InlineTable, Item, Null, Table, Whitespace

from nuggets.interfaces.connect import EditError

_BYTE_ORDER_MARK = "\ufeff"


def set_value(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Set values in the table at a path, which keeps its others; if there is none, append one."""
    content = text.removeprefix(_BYTE_ORDER_MARK)
    before = _load(content)
    current = _value_at(before, path)
    if isinstance(current, dict) and values.items() <= current.items():
        return text
    newline = "\r\n" if "\r\n" in content else "\n"
    try:
        document = tomlkit.parse(content)
        parent = _value_at(document, path[:-1])
        if isinstance(current, dict):
            _set_values(parent[path[-1]], values, newline)
            after = document.as_string()
        elif isinstance(parent, InlineTable):
            parent[path[-1]] = values
            after = document.as_string()
        else:
            after = _append_table(content, path, values, newline)
    except TOMLKitError:
        raise _refusal(path) from None
    _check_edit(before, after, path, values)
    return text.removesuffix(content) + after


def remove_value(text: str, path: Sequence[str]) -> str:
    """Remove the table at a path, with everything in it."""
    content = text.removeprefix(_BYTE_ORDER_MARK)
    before = _load(content)
    if _value_at(before, path) is None:
        return text
    try:
        document = tomlkit.parse(content)
    except TOMLKitError:
        raise _refusal(path) from None
    _remove_at(document, path)
    after = document.as_string()
    for end in ("\n\n", "\r\n\r\n"):  # `_append_table` put a blank line before it
        if after.endswith(end) and not content.endswith(end):
            after = after[: -len(end) // 2]
    _check_edit(before, after, path, {})
    return text.removesuffix(content) + after


def value_at(text: str, path: Sequence[str]) -> Any:
    """The value at a path; None if there is none."""
    return _value_at(_load(text.removeprefix(_BYTE_ORDER_MARK)), path)


def _set_values(table: MutableMapping[str, Any], values: Mapping[str, Any], newline: str) -> None:
    body = table.value.body if isinstance(table, AbstractTable) else []
    comments = []  # at the end of the table: they are about what follows, so they stay there
    while body and body[-1][0] is None:
        comments.append(body.pop())
    for key, value in values.items():
        if table.get(key) != value:
            item = tomlkit.item(value)
            item.trivia.trail = newline
            table[key] = item
    body += reversed(comments)


def _append_table(text: str, path: Sequence[str], values: Mapping[str, Any], newline: str) -> str:
    """Append the table at the end, where nothing else has to move."""
    nested: Mapping[str, Any] = values
    for key in reversed(path):
        nested = {key: nested}
    lines = text.splitlines()
    end = "" if not text or text.endswith("\n") else newline
    blank_line = newline if lines and lines[-1].strip() else ""
    return text + end + blank_line + tomlkit.dumps(nested).replace("\n", newline)


def _remove_at(container: Container, path: Sequence[str]) -> None:
    for index, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0]:
            continue
        if len(path) == 1:
            # as whitespace: a comment of its own would make tomlkit write a header above it
            comments = _comments_after(item).lstrip()
            container.body[index] = (None, Whitespace(comments) if comments else Null())
        elif isinstance(item, AbstractTable):
            _remove_at(item.value, path[1:])


def _comments_after(item: Item) -> str:
    """The lines between a table's last value and the next header: they are about the latter."""
    if isinstance(item, AoT):
        item = item[-1]
    comments = ""
    for key, part in reversed(item.value.body if isinstance(item, Table) else []):
        if key is not None:
            return _comments_after(part) + comments
        comments = part.as_string() + comments
    return comments


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=str)  # as a number, nan would differ from itself
    except tomllib.TOMLDecodeError as problem:
        raise EditError(f"not valid TOML: {problem}") from None


def _check_edit(
    before: Mapping[str, Any], text: str, path: Sequence[str], values: Mapping[str, Any]
) -> None:
    """The table has these values, or is gone if there are none; all else is as before."""
    try:
        after = _load(text)
    except EditError:
        raise _refusal(path) from None
    table = _value_at(after, path)
    is_set = isinstance(table, dict) and values.items() <= table.items()
    if (is_set if values else table is None) and _rest(after, path) == _rest(before, path):
        return
    raise _refusal(path)


def _refusal(path: Sequence[str]) -> EditError:
    name = ".".join(path)
    return EditError(f"{name} has another form here; write it as a table, below [{name}]")


def _value_at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def _rest(values: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """All values but the one at the path, without tables that are empty then."""
    rest = {key: value for key, value in values.items() if key != path[0]}
    inner = values.get(path[0])
    if len(path) > 1 and isinstance(inner, dict) and (inner_rest := _rest(inner, path[1:])):
        rest[path[0]] = inner_rest
    return rest
