"""Markdown: the fields before a text, between two lines `---`, the code in it, and the structure of
its lines.

Of YAML what such files have is read: texts, numbers, lists and objects, in lines or in brackets,
and texts of several lines; JSON is part of it. What is more (anchors, types, a broken quotation) is
kept as the text that it is, so that no field is lost. What is written is YAML for any reader.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from typing import Any

from nuggets.named_tuple import NamedTuple

MOST_LINES = 1000  # a longer one is no front matter, but a text between two rules
MARK = "---"
_DEEPEST = 16  # objects within objects: people write two or three
_KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.){1,200}"|'[^']{1,200}'|[^\s"'#\[\]{}&*!|>%@`,?-][^\n]{0,200}?)"""
    r"[ \t]*:(?:[ \t]+(?P<value>.*)|)$"
)
_LIST_ITEM = re.compile(r"-(?: (.*)|)$")
_BLOCK_TEXT = re.compile(r"[|>][-+]?[1-9]?[-+]?$")
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+-]*[\w./()+-])?|\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?")
_OTHER_VALUES = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n"])


class _NotUnderstood(Exception):
    """More of YAML than is read here."""


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields before a text, and the text. Without any, the text as it is."""
    first, line_end, _ = text.partition("\n")
    if first.endswith("\r"):  # a program of Windows saved it
        text = text.replace("\r\n", "\n")
    if not line_end or first.rstrip() != MARK:
        return {}, text
    lines = text.split("\n", MOST_LINES)
    ends = (i for i, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() == MARK)
    end = next(ends, 0)
    return (read_fields(lines[1:end]), "\n".join(lines[end + 1 :])) if end else ({}, text)


def read_fields(lines: Sequence[str]) -> dict[str, Any]:
    """The fields; what is not understood of one is its text."""
    fields = {}
    for name, value, block in _entries(lines):
        try:
            fields[name] = _value(value, block, 0)
        except _NotUnderstood:
            fields[name] = "\n".join([value, *block]).strip()
    return fields


def list_of(value: object) -> list[Any]:
    """What a field lists."""
    if isinstance(value, str):  # people, and Obsidian, write several in one line too
        return value.replace(",", " ").split()
    return value if isinstance(value, list) else []


def _entries(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Each key with what follows it in its line, and the lines that belong to it."""
    for first, block in _groups(lines, _KEY):
        yield _text(first["key"]), (first["value"] or "").strip(), block


def _groups(
    lines: Sequence[str], first_line: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], list[str]]]:
    """The first line of each entry or item, and the lines below it."""
    starts = [(n, match) for n, line in enumerate(lines) if (match := first_line.match(line))]
    ends = [n for n, _ in starts[1:]] + [len(lines)]
    for (n, match), end in zip(starts, ends, strict=False):
        yield match, list(lines[n + 1 : end])


def _is_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _value(value: str, block: Sequence[str], depth: int) -> Any:
    """What a key has: in its line, or in the lines below it."""
    if _BLOCK_TEXT.match(value) and not depth:  # deeper its empty lines were passed over
        return _block_text(value, block)
    block = [line for line in block if not _is_nothing(line)]
    if value and not value.startswith("#"):
        return _scalar(" ".join([value, *map(str.strip, block)]).rstrip())
    return _node(block, depth + 1)


def _node(lines: Sequence[str], depth: int) -> Any:
    """A list, an object, or a text of several lines, none of them empty."""
    if not lines:
        return None
    if depth > _DEEPEST:
        raise _NotUnderstood
    lines = _dedent(lines)
    if _LIST_ITEM.match(lines[0]):
        if not all(_LIST_ITEM.match(line) or line.startswith(" ") for line in lines):
            raise _NotUnderstood
        items = [[f"  {mark[1] or ''}", *block] for mark, block in _groups(lines, _LIST_ITEM)]
        return [
            _node([line for line in item if not _is_nothing(line)], depth + 1) for item in items
        ]
    if not _KEY.match(lines[0]):
        return _scalar(" ".join(line.strip() for line in lines))
    return {name: _value(value, block, depth) for name, value, block in _entries(lines)}


def _dedent(lines: Sequence[str]) -> list[str]:
    filled = (line for line in lines if line.strip())
    indent = min((len(line) - len(line.lstrip(" ")) for line in filled), default=0)
    return [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines]


def _block_text(mark: str, block: Sequence[str]) -> str:
    """A text in lines of its own; `>` joins them, and `-` takes away the end of the last."""
    lines = _dedent(block)
    while lines and not lines[-1].strip():
        lines.pop()
    text = "\n".join(line.rstrip("\r") for line in lines)
    if mark[0] == ">":
        text = re.sub(r"(?<![\n ])\n(?![\n ])", " ", text).replace("\n\n", "\n")
    return text if "-" in mark else f"{text}\n"


def _scalar(text: str) -> Any:
    """A value in one line."""
    try:
        value = _decoder.decode(text)
        return text if isinstance(value, float) and isinf(value) else value
    except (ValueError, RecursionError):
        pass
    if text[:1] in ("[", "{"):
        return _flow(text)
    if text[:1] in ('"', "'"):
        end = text.rfind(text[0]) + 1
        return _text(text[:end] if _is_nothing(text[end:]) else text)
    if text[:1] in ("&", "*", "!", "%", "@", "`") or _BLOCK_TEXT.match(text):
        raise _NotUnderstood
    plain = text.partition(" #")[0].rstrip()
    return plain if plain == text or plain == "" else _scalar(plain)


def _refuse(name: str) -> Any:
    raise ValueError(name)


_decoder = json.JSONDecoder(parse_constant=_refuse)


def _text(quoted: str) -> str:
    """A text without its quotation marks."""
    if len(quoted) > 1 and quoted[0] == quoted[-1] == "'":
        return quoted[1:-1].replace("''", "'")
    if len(quoted) > 1 and quoted[0] == quoted[-1] == '"':
        try:
            return str(json.loads(quoted))
        except ValueError:
            return quoted[1:-1]
    if quoted[:1] in ('"', "'"):
        raise _NotUnderstood
    return quoted.rstrip()


_FLOW_TOKEN = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\[\]{},]|:(?=\s)|"""
    r"""[^\[\]{},"'\s](?:[^\[\]{},:\n]|:(?!\s))*)"""
)


def _flow(text: str) -> Any:
    """The list or object in brackets that a text begins with, read as the JSON that it means."""
    parts, depth, at = [""], 0, 0
    while depth or not at:
        token = _FLOW_TOKEN.match(text, at)
        if token is None:
            raise _NotUnderstood
        sign, at = token[1], token.end()
        if sign in ("]", "}", ",") and parts[-1] == ":":
            parts.append("null")
        if sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}"):
            depth -= 1
            if parts[-1] == ",":
                parts.pop()
        elif sign not in (",", ":"):
            sign = json.dumps(_scalar(sign.strip()))
        parts.append(sign)
    if not _is_nothing(text[at:]):
        raise _NotUnderstood
    try:
        return _decoder.decode("".join(parts))
    except (ValueError, RecursionError):
        raise _NotUnderstood from None


# --- writing --------------------------------------------------------------------------------------


def front_matter(fields: Mapping[str, Any]) -> str:
    """The fields in their lines, with the marks around them."""
    lines = [MARK]
    for name, value in fields.items():
        if isinstance(value, list | tuple) and value and all(isinstance(t, str) for t in value):
            lines += [f"{name}:", *(f"  - {_write_value(item)}" for item in value)]
        else:
            lines.append(f"{name}: {_write_value(value)}")
    return "\n".join([*lines, MARK, ""])


def is_plain_name(name: str) -> bool:
    """Can a field be called so without quotation marks?"""
    return bool(_PLAIN.fullmatch(name)) and len(name) <= 80 and name.lower() not in _OTHER_VALUES


def _write_value(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHER_VALUES:
        return value
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # what YAML calls not printable, and what some programs take for the end of a line
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


# --- code fences ------------------------------------------------------------------------------

_OPENING = re.compile(
    r"(?P<lead>[ \t]*(?P<items>(?:(?:[-*+]|\d{1,9}[.)]) {1,4})*))"
    r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})"  # ```like this``` it is part of a line
)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


class Fence(NamedTuple):
    """The line that fenced code begins with."""

    mark: str
    item_indent: int  # columns up to the text of the list item that it is in; 0 outside of one

    def code_end(self, lines: Sequence[str], at: int) -> tuple[int, bool]:
        """The line after the code that begins in line `at`, and whether it is closed there, by its
        mark or because its list item has ended."""
        for n in range(at + 1, len(lines)):
            line = lines[n].expandtabs(4)
            bare, indent = line.strip(" "), len(line) - len(line.lstrip(" "))
            if bare and indent < self.item_indent:
                return n, True
            if bare.startswith(self.mark) and not bare.strip(self.mark[0]):
                return n + 1, True
        return len(lines), bool(self.item_indent)


def opening_fence(line: str) -> Fence | None:
    """The fence that the line opens."""
    opening = _OPENING.match(line)
    if opening is None:
        return None
    return Fence(opening["mark"], len(opening["lead"]) if opening["items"] else 0)


def continues_code(lines: Sequence[str]) -> list[bool]:
    """For each line whether it belongs to fenced code that began above it."""
    continuing: list[bool] = []
    while len(continuing) < len(lines):
        at = len(continuing)
        fence = opening_fence(lines[at])
        end = fence.code_end(lines, at)[0] if fence else at + 1
        continuing += [False, *[True] * (end - at - 1)]
    return continuing


def without_code(text: str) -> str:
    """The text without what stands between ``` marks, within a line too."""
    return _CODE.sub("\n", text)


# --- the structure of lines -----------------------------------------------------------------------
#
# The part of CommonMark that decides where a list item may be inserted: fenced code, comments and
# other HTML, headings that begin with `#`, and what belongs to a list item.

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)(.*)")  # its name may be closed by such signs
_THEMATIC_BREAK = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_COMMENT = re.compile(r" {0,3}<!--")
_OTHER_HTML = re.compile(r" {0,3}<[A-Za-z/?!]")  # ends with an empty line


class Markup(NamedTuple):
    """What a line is."""

    is_plain: bool = True  # not in code, a comment or other HTML
    is_open: bool = False  # in a block that nothing closes
    level: int = 0  # of a heading
    name: str = ""  # of a heading


def structure(lines: Sequence[str]) -> list[Markup]:
    markup: list[Markup] = []
    while len(markup) < len(lines):
        at = len(markup)
        end, is_closed = _block_end(lines, at)
        markup += [Markup(is_plain=False, is_open=not is_closed)] * (end - at)
        if end == at:
            heading = _HEADING.match(lines[at].removeprefix("\ufeff"))
            named = (len(heading[1]), heading[2].strip(" \t#")) if heading else ()
            markup.append(Markup(True, False, *named))
    return markup


def _block_end(lines: Sequence[str], at: int) -> tuple[int, bool]:
    """The line after the code or HTML that begins here, and whether it is closed.

    Where nothing begins, the line itself.
    """
    text = lines[at]
    fence = _opening_fence(text)
    if fence:
        return fence.code_end(lines, at)
    if _COMMENT.match(text):
        last = next((n for n in range(at, len(lines)) if "-->" in lines[n]), None)
        return (len(lines), False) if last is None else (last + 1, True)
    if _OTHER_HTML.match(text):
        return next((n for n in range(at, len(lines)) if is_blank(lines[n])), len(lines)), True
    return at, True


def _opening_fence(text: str) -> Fence | None:
    """The fence that the line opens; None in indented code, where fences have no meaning."""
    return None if text.expandtabs(4)[:4].isspace() else opening_fence(text)


def item_end(lines: Sequence[str], plain: Sequence[bool], at: int) -> int:
    """The line after the list item that begins at `at`."""
    end = at + 1
    while end < len(lines):
        following = next((n for n in range(end, len(lines)) if not is_blank(lines[n])), None)
        if following is None:
            break
        line = lines[following]
        continues = following == end and plain[following] and not _begins_block(line)
        if not (continues or line.startswith(("  ", "\t"))):
            break
        end = following + 1
    return end


def is_item(line: str) -> bool:
    return _ITEM.match(line) is not None and _THEMATIC_BREAK.match(line) is None


def is_blank(line: str) -> bool:
    return not line.strip(" \t\ufeff")


def continues_item(line: str) -> bool:
    """Whether the line, below an item, goes on with its words."""
    return not (is_blank(line) or _begins_block(line.lstrip()))


def _begins_block(text: str) -> bool:
    if text.lstrip(" ").startswith(">") or _opening_fence(text):
        return True
    return any(begins.match(text) for begins in (_ITEM, _HEADING, _OTHER_HTML, _THEMATIC_BREAK))
