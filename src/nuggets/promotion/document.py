"""A memory file as lines, and what Markdown makes of them. Knows no note and changes nothing.

As much of CommonMark's block structure as decides where a line of ours may stand: fenced code,
comments and other HTML, headings of both forms, and what belongs to a list item.
"""

import re
from typing import NamedTuple

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")
_FENCE = re.compile(
    r"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,4})*)(?P<mark>`{3,}(?=[^`]*$)|~{3,})"
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_HTML_ENDS = (  # how a block of HTML begins and what ends it, beside the end of the text
    (re.compile(r" {0,3}<!--"), re.compile(r"-->")),
    (
        re.compile(r" {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)", re.I),
        re.compile(r"</(?:script|pre|style|textarea)>", re.I),
    ),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r" {0,3}<![A-Za-z]"), re.compile(r">")),
)
_OTHER_HTML = re.compile(r" {0,3}</?[A-Za-z]")  # ends with an empty line


class Line(NamedTuple):
    """A line, its ending, and whose entry it is: a note id, or "" for what is not ours."""

    text: str
    end: str
    owner: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.text.strip(" \t\ufeff")


class Heading(NamedTuple):
    at: int  # its first line
    level: int
    name: str


class Structure(NamedTuple):
    """What the lines are to a reader of Markdown."""

    plain: list[bool]  # False: inside code, a comment or other HTML
    headings: list[Heading]
    open_from: int | None  # where a block begins that nothing closes


def parsed(text: str) -> list[Line]:
    """The lines; joined again they are the text, byte for byte."""
    return [Line(found[1], found[2]) for found in _LINE.finditer(text) if found[0]]


def joined(lines: list[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def size_of(lines: list[Line]) -> int:
    """Bytes; those that are no UTF-8 count as they were."""
    return len(joined(lines).encode(errors="surrogateescape"))


def newline_of(lines: list[Line]) -> str:
    """The ending that most lines have."""
    ends = [line.end for line in lines if line.end]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def structure(lines: list[Line]) -> Structure:
    plain: list[bool] = []
    headings: list[Heading] = []
    at = 0
    while at < len(lines):
        inside, closed = _block_end(lines, at)
        if inside > at:
            plain += [False] * (inside - at)
            if not closed:
                return Structure(plain, headings, at)
            at = inside
            continue
        plain.append(True)
        heading = _heading(lines, plain, at)
        if heading:
            headings.append(heading)
        at += 1
    return Structure(plain, headings, None)


def item_end(lines: list[Line], plain: list[bool], at: int) -> int:
    """The line after all that belongs to the list item at `at`."""
    end = at + 1
    while end < len(lines):
        following = next((n for n in range(end, len(lines)) if not lines[n].is_blank), None)
        if following is None:
            break
        line = lines[following].text
        continues = following == end and plain[following] and not _begins_block(line)
        if not (continues or line.startswith(("  ", "\t"))):
            break
        end = following + 1
    return end


def is_item(line: Line) -> bool:
    return _ITEM.match(line.text) is not None and _RULE.match(line.text) is None


def _block_end(lines: list[Line], at: int) -> tuple[int, bool]:
    """The line after the code or HTML that begins here, and whether it is closed.

    Where nothing begins, the line itself.
    """
    text = lines[at].text
    fence = _FENCE.match(text)
    if fence:
        return _fence_end(lines, at, fence)
    for begins, ends in _HTML_ENDS:
        opening = begins.match(text)
        if opening:
            if ends.search(text, opening.end()):
                return at + 1, True
            last = next((n for n in range(at + 1, len(lines)) if ends.search(lines[n].text)), None)
            return (len(lines), False) if last is None else (last + 1, True)
    if _OTHER_HTML.match(text):
        return next((n for n in range(at, len(lines)) if lines[n].is_blank), len(lines)), True
    return at, True


def _fence_end(lines: list[Line], at: int, fence: re.Match[str]) -> tuple[int, bool]:
    mark = fence["mark"]
    indent = len(fence["lead"]) if fence["lead"].strip() else 0  # inside a list item
    for n in range(at + 1, len(lines)):
        text = lines[n].text
        bare = text.strip(" \t")
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return n + 1, True
        if indent and bare and len(text) - len(text.lstrip(" ")) < indent:
            return n, True  # the item is over, and its code with it
    return len(lines), bool(indent)


def _heading(lines: list[Line], plain: list[bool], at: int) -> Heading | None:
    text = lines[at].text.removeprefix("\ufeff")
    marked = _HEADING.match(text)
    if marked:
        return Heading(at, len(marked[1]), (marked[2] or "").strip())
    underline = _UNDERLINE.match(text)
    if not underline:
        return None
    first = at
    while first and plain[first - 1] and _is_paragraph(lines[first - 1]):
        first -= 1
    if first == at or (first and is_item(lines[first - 1]) and not lines[first - 1].is_blank):
        return None
    level = 1 if underline[1][0] == "=" else 2
    return Heading(first, level, lines[first].text.strip())


def _is_paragraph(line: Line) -> bool:
    return not line.is_blank and not line.text.startswith("    ") and not _begins_block(line.text)


def _begins_block(text: str) -> bool:
    begins = (_ITEM, _HEADING, _FENCE, _OTHER_HTML, _RULE)
    return text.lstrip(" ").startswith((">", "<!", "<?")) or any(b.match(text) for b in begins)
