"""Where in a memory file an entry stands: the Markdown structure of its lines, the sections and
their order. Inserts entries and removes them. Pure.

Lines of other people are never changed or moved. An empty line is removed only together with a
heading of ours above it.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from nuggets.domain.records import MemoryNote
from nuggets.language.markdown import Fence, opening_fence
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.metadata_inference import PREFERENCE_NUGGETS

# --- Markdown ---------------------------------------------------------------------------------

# The part of CommonMark that decides where an entry may be inserted: fenced code, comments and
# other HTML, headings of both forms, and what belongs to a list item.
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")
_WRAP = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_THEMATIC_BREAK = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_COMMENT, _COMMENT_END = re.compile(r" {0,3}<!--"), re.compile(r"-->")
_OTHER_HTML = re.compile(r" {0,3}<[A-Za-z/?!]")  # ends with an empty line


class Line(NamedTuple):
    """A line, its line ending, and the id of the note whose entry it is; "" for other lines.

    An item that someone wrapped is one line, with line endings inside.
    """

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


def unwrap_line(text: str) -> str:
    """The words of an item in one line, as they were before someone wrapped it."""
    return _WRAP.sub(" ", text)


def continues_item(line: Line) -> bool:
    """Whether the line, below an item, goes on with its words."""
    begins = _begins_block(line.text.lstrip()) or _UNDERLINE.match(line.text)
    return not (line.is_blank or begins)


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
    return _ITEM.match(line.text) is not None and _THEMATIC_BREAK.match(line.text) is None


def _block_end(lines: list[Line], at: int) -> tuple[int, bool]:
    """The line after the code or HTML that begins here, and whether it is closed.

    Where nothing begins, the line itself.
    """
    text = lines[at].text
    fence = _opening_fence(text)
    if fence:
        return _fence_end(lines, at, fence)
    comment = _COMMENT.match(text)
    if comment:
        if _COMMENT_END.search(text, comment.end()):
            return at + 1, True
        rest = range(at + 1, len(lines))
        last = next((n for n in rest if _COMMENT_END.search(lines[n].text)), None)
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
    if text.lstrip(" ").startswith(">") or _opening_fence(text):
        return True
    return any(begins.match(text) for begins in (_ITEM, _HEADING, _OTHER_HTML, _THEMATIC_BREAK))


# --- where an entry stands --------------------------------------------------------------------

FIRST_SECTIONS = ("learnings", "preferences")
SECTION_LEVEL = 2  # of "## learnings", as documented
TITLE = "# Memory"
_RULE = "Auto-promoted from nuggets graph notes ({}+ recalls across sessions)."


def section_of(note: MemoryNote) -> str:
    """The heading of its entry. A memory of a project is not listed as the user's."""
    if "learnings" in note.tags:
        return "learnings"
    is_users = not note.project or fold_case(note.nugget_name) in PREFERENCE_NUGGETS
    if "preferences" in note.tags and is_users:
        return "preferences"
    if note.project and note.scope != "session":
        return "shared-context"
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.subject.startswith("user:"):
        return "user"
    return "shared-context" if note.scope in ("shared", "project") else note.nugget_name


class Page(NamedTuple):
    """The lines of the file, and the sections that we created."""

    lines: list[Line]
    headings: tuple[str, ...]  # names of the sections that we created


class Place(NamedTuple):
    """An entry and what decides its position."""

    line: str
    owner: str
    section: str
    fellows: Collection[str]  # note ids of the same section
    sections: Collection[str]  # names of all sections of entries
    promote_after: int  # for the header of a new file


def with_entry(page: Page, place: Place) -> Page:
    """Insert an entry after the last one of its section, else under its heading, else a new one."""
    if all(line.is_blank for line in page.lines):
        begun = [Line(text, "") for text in header(place.promote_after)]
        page = page._replace(lines=_insert_lines(page.lines, len(page.lines), begun, True))
    shape = structure(page.lines)
    entry = Line(place.line, "", place.owner)
    position = _place_in_section(page, shape, place)
    if position is not None:
        at, apart = position
        return page._replace(lines=_insert_lines(page.lines, at, [entry], apart))
    at = _place_of_section(page, shape, place)
    begun = [Line(f"## {place.section}", ""), Line("", ""), entry]
    headings = tuple(sorted({*page.headings, place.section}))
    return Page(_insert_lines(page.lines, at, begun, True), headings)


def without_entries(page: Page, owners: Collection[str]) -> Page:
    """Remove entries, but keep their headings for the entries that replace them."""
    lines = [line for line in page.lines if not line.owner or line.owner not in owners]
    return page._replace(lines=lines)


def without_entries_and_headings(page: Page, owners: Collection[str]) -> Page:
    """Remove entries, and headings of ours that have no entry left."""
    if not owners:
        return page
    gone = {n for n, line in enumerate(page.lines) if line.owner and line.owner in owners}
    emptied = _emptied_headings(page, gone)
    for at in emptied.values():
        gone |= {at} if page.lines[at + 1].text else {at, at + 1}
    return Page(
        [line for n, line in enumerate(page.lines) if n not in gone],
        tuple(name for name in page.headings if name not in emptied),
    )


def without_removed_headings(page: Page) -> Page:
    """Forget headings of ours that someone removed."""
    if not page.headings:
        return page
    texts = {line.text for line in page.lines}
    return page._replace(headings=tuple(name for name in page.headings if f"## {name}" in texts))


def header(promote_after: int) -> tuple[str, ...]:
    """The first lines of a new file."""
    return TITLE, "", _RULE.format(promote_after)


def with_current_header(lines: list[Line], promote_after: int) -> list[Line]:
    """The lines with the current number of recalls in our header."""
    return [
        line._replace(text=_RULE.format(promote_after)) if _is_rule(line.text) else line
        for line in lines
    ]


def without_header(lines: Iterable[str]) -> list[str]:
    """The lines but for those of our header."""
    return [line for line in lines if not (line == TITLE or _is_rule(line))]


def _is_rule(line: str) -> bool:
    start, end = _RULE.split("{}")
    number = line[len(start) : -len(end)]
    return line.startswith(start) and line.endswith(end) and number.isdecimal()


def _emptied_headings(page: Page, gone: set[int]) -> dict[str, int]:
    """Headings of ours, by name, whose section has no lines but these."""
    shape = structure(page.lines)
    names = {f"## {name}": name for name in page.headings}
    headings: dict[str, int] = {}
    starts = [*(heading.at for heading in shape.headings), len(page.lines)]
    for heading, end in zip(shape.headings, starts[1:], strict=True):
        name = names.get(page.lines[heading.at].text)
        filled = {n for n in range(heading.at + 1, end) if not page.lines[n].is_blank}
        if name is not None and filled and filled <= gone:
            headings.setdefault(name, heading.at)
    return headings


def _section_end(page: Page, shape: Structure, at: int, level: int = 6) -> int:
    """The line of the next heading of this level or a higher one."""
    later = (h.at for h in shape.headings if h.at > at and h.level <= level)
    return next(later, len(page.lines))


def _section_order(name: str) -> tuple[int, str]:
    """A sort key: learnings and preferences first, then alphabetical."""
    first = FIRST_SECTIONS.index(name) if name in FIRST_SECTIONS else len(FIRST_SECTIONS)
    return first, fold_case(name)


def _place_in_section(page: Page, shape: Structure, place: Place) -> tuple[int, bool] | None:
    """The line to insert before, and whether an empty line must precede the entry."""
    lines, wanted = page.lines, fold_case(place.section)
    for heading in shape.headings:
        if heading.level == SECTION_LEVEL and fold_case(heading.name) == wanted:
            end = _section_end(page, shape, heading.at)
            own_lines = [n for n in range(heading.at, end) if lines[n].owner and shape.plain[n]]
            if own_lines:
                return item_end(lines, shape.plain, own_lines[-1]), False
            at = _after_text(page, shape, heading.at, end)
            return at, not (is_item(lines[at - 1]) and shape.plain[at - 1])
    # someone renamed or removed the heading: stay with the other entries of the section
    fellows = [n for n, line in enumerate(lines) if line.owner in place.fellows and shape.plain[n]]
    return (item_end(lines, shape.plain, fellows[-1]), False) if fellows else None


def _place_of_section(page: Page, shape: Structure, place: Place) -> int:
    """The place of a section: before the first one that sorts later, else after the last."""
    own_names = {fold_case(name) for name in (*page.headings, *place.sections)}
    own_headings = [
        h for h in shape.headings if h.level == SECTION_LEVEL and fold_case(h.name) in own_names
    ]
    for heading in own_headings:
        if _section_order(heading.name) > _section_order(place.section):
            return _after_text(page, shape, 0, heading.at)
    start = own_headings[-1].at if own_headings else 0
    end = _section_end(page, shape, start, SECTION_LEVEL) if own_headings else len(page.lines)
    return _after_text(page, shape, start, end)


def _after_text(page: Page, shape: Structure, start: int, end: int) -> int:
    """After the last line with text from `start` to `end`; never inside an unclosed block."""
    if shape.open_from is not None:
        end = min(end, shape.open_from)
    filled = (n + 1 for n in range(end - 1, start - 1, -1) if not page.lines[n].is_blank)
    return next(filled, start)


def _insert_lines(lines: list[Line], at: int, new: list[Line], apart: bool) -> list[Line]:
    """Insert lines before line `at`, using the empty lines that exist."""
    newline = newline_of(lines)
    above, below = lines[:at], lines[at:]
    if above and not above[-1].end:
        above[-1] = above[-1]._replace(end=newline)
    if apart and above and not above[-1].is_blank:
        above.append(below.pop(0) if below and below[0].is_blank else Line("", newline))
        above[-1] = above[-1]._replace(end=above[-1].end or newline)
    if below and not below[0].is_blank and not is_item(below[0]):
        new = [*new, Line("", "")]
    return [*above, *(line._replace(end=newline) for line in new), *below]
