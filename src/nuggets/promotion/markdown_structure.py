"""Parses a memory file into lines and their Markdown structure. Knows no note.

It covers the part of CommonMark that decides where an entry may be inserted: fenced code,
comments and other HTML, headings of both forms, and what belongs to a list item.
"""

import re
from collections.abc import Sequence

from nuggets.language.code_fences import Fence, opening_fence
from nuggets.named_tuple import NamedTuple

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_HTML_ENDS = (  # the start and the end of each kind of HTML block
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
    """A line, its line ending, and the id of the note whose entry it is; "" for other lines."""

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
    """The Markdown structure of the lines."""

    plain: list[bool]  # False: inside code, a comment or other HTML
    headings: list[Heading]
    open_from: int | None  # the line where an unclosed block begins


def parse_lines(text: str) -> list[Line]:
    """The lines; `join_lines` gives the same text again."""
    return [Line(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]


def join_lines(lines: Sequence[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def size_of(lines: Sequence[Line]) -> int:
    """The size in bytes; undecodable bytes count as one each."""
    return len(join_lines(lines).encode(errors="surrogateescape"))


def newline_of(lines: list[Line]) -> str:
    """The most frequent line ending."""
    ends = [line.end for line in lines if line.end]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def structure(lines: list[Line]) -> Structure:
    plain: list[bool] = []
    headings: list[Heading] = []
    at = paragraph = 0  # the line, and where the paragraph began that reaches up to it
    while at < len(lines):
        inside, closed = _block_end(lines, at)
        if inside > at:
            plain += [False] * (inside - at)
            if not closed:
                return Structure(plain, headings, at)
            at = paragraph = inside
            continue
        plain.append(True)
        heading = _heading(lines, paragraph, at)
        if heading:
            headings.append(heading)
        if not _is_paragraph(lines[at]):
            paragraph = at + 1
        at += 1
    return Structure(plain, headings, None)


def item_end(lines: list[Line], plain: list[bool], at: int) -> int:
    """The line after the list item that begins at `at`."""
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
    fence = _opening_fence(text)
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


def _fence_end(lines: list[Line], at: int, fence: Fence) -> tuple[int, bool]:
    for n in range(at + 1, len(lines)):
        if fence.is_closed_by(lines[n].text):
            return n + 1, True
        if fence.is_left_by(lines[n].text):
            return n, True
    return len(lines), bool(fence.item_indent)


def _opening_fence(text: str) -> Fence | None:
    """The fence that the line opens; None in indented code, where fences have no meaning."""
    return None if text.expandtabs(4)[:4].isspace() else opening_fence(text)


def _heading(lines: list[Line], paragraph: int, at: int) -> Heading | None:
    """The heading that is complete with this line; `paragraph`: where the one above it begins."""
    text = lines[at].text.removeprefix("\ufeff")
    marked = _HEADING.match(text)
    if marked:
        return Heading(at, len(marked[1]), _name_of_heading(text[marked.end() :]))
    underline = _UNDERLINE.match(text)
    if not underline or paragraph == at:
        return None
    if paragraph and is_item(lines[paragraph - 1]) and not lines[paragraph - 1].is_blank:
        return None
    level = 1 if underline[1][0] == "=" else 2
    return Heading(paragraph, level, lines[paragraph].text.strip())


def _name_of_heading(text: str) -> str:
    """The heading without closing `#` signs that follow a blank."""
    name = text.strip(" \t")
    bare = name.rstrip("#")
    return (bare if not bare or bare[-1] in " \t" else name).strip()


def _is_paragraph(line: Line) -> bool:
    return not line.is_blank and not line.text.startswith("    ") and not _begins_block(line.text)


def _begins_block(text: str) -> bool:
    if text.lstrip(" ").startswith((">", "<!", "<?")) or _opening_fence(text):
        return True
    return any(begins.match(text) for begins in (_ITEM, _HEADING, _OTHER_HTML, _RULE))
