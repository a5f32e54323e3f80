"""The fields before a Markdown text. Of YAML only what such files have is read: texts, numbers, and
lists; JSON is part of it."""

import json
import re
from collections.abc import Sequence
from typing import Any

MOST_LINES = 1000  # a longer one is no front matter, but a text between two rules
_FIELD = re.compile(r"([^\W\d][\w -]{0,80}):(?:[ \t]+(.*)|[ \t]*)$")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields before the text, and the text."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, "\n".join(lines)
    ends = (i for i, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() == "---")
    end = next(ends, 0)
    if not end:
        return {}, "\n".join(lines)
    return _fields(lines[1:end]), "\n".join(lines[end + 1 :])


def _fields(lines: Sequence[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    name = ""
    for line in lines:
        field = _FIELD.match(line)
        if field:
            name = field[1].strip()
            fields[name] = _value(field[2] or "")
        elif name and line.lstrip().startswith("- ") and not isinstance(fields[name], dict):
            items = fields[name] if isinstance(fields[name], list) else []
            fields[name] = [*items, _value(line.lstrip()[2:])]
    return fields


def _value(text: str) -> Any:
    """A JSON value, a list in brackets, or the text without its quotation marks."""
    text = text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_value(item) for item in text[1:-1].split(",") if item.strip()]
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def list_of(value: object) -> list[Any]:
    """What a field lists."""
    if isinstance(value, str):  # Obsidian writes several in one line too
        return value.replace(",", " ").split()
    return value if isinstance(value, list) else []
