"""Where in a memory file an entry stands: its section, the order of sections, its line. Inserts
entries and removes them. Pure.

Lines of other people are never changed or moved. An empty line is removed only together with a
heading of ours above it.
"""

from collections.abc import Collection, Iterable, Mapping

from nuggets.domain.records import MemoryNote
from nuggets.graph.metadata_inference import PREFERENCE_NUGGETS
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.promotion.entry_text import title_of
from nuggets.promotion.markdown_structure import (
    Line,
    Structure,
    is_item,
    item_end,
    join_lines,
    newline_of,
    parse_lines,
    structure,
)

FIRST_SECTIONS = ("learnings", "preferences")
SECTION_LEVEL = 2
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


def insert_entries(
    text: str, items: Mapping[str, str], notes: Mapping[str, MemoryNote], promote_after: int
) -> str:
    """The text with those list items whose titles are not in it yet."""
    page = Page(parse_lines(text), ())
    sections = {note_id: section_of(notes[note_id]) for note_id in items}
    for note_id in sorted(items):
        if title_of(notes[note_id]) not in text:
            place = Place(
                items[note_id], note_id, sections[note_id], items, sections.values(), promote_after
            )
            page = with_entry(page, place)
    return join_lines([Line(line.text, line.end) for line in page.lines])


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
