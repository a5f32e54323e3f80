"""Where a line of ours goes in, and what goes when it is taken out. Knows no note's worth.

Nothing that others wrote is changed or moved, and no empty line is ever taken out but the one
under a heading of ours that goes with it.
"""

from collections.abc import Collection
from typing import NamedTuple

from nuggets.promotion.document import (
    Line,
    Structure,
    is_item,
    item_end,
    newline_of,
    structure,
)
from nuggets.text import folded

FIRST_SECTIONS = ("learnings", "preferences")
SECTION_LEVEL = 2
HEADER = ("# Memory", "", "Auto-promoted from nuggets graph notes (3+ recalls across sessions).")


class Page(NamedTuple):
    """The file at some stage of the work."""

    lines: list[Line]
    headings: tuple[str, ...]  # names of the sections that we began


class Place(NamedTuple):
    """What one entry needs to find its place."""

    line: str
    owner: str
    section: str
    fellows: Collection[str]  # note ids of the same section
    sections: Collection[str]  # names of all sections that can be ours


def section_order(name: str) -> tuple[int, str]:
    """Learnings and preferences first, then alphabetical."""
    first = FIRST_SECTIONS.index(name) if name in FIRST_SECTIONS else len(FIRST_SECTIONS)
    return first, folded(name)


def with_entry(page: Page, place: Place) -> Page:
    """After our last entry of its section; else under its heading; else under a new one."""
    if all(line.is_blank for line in page.lines):
        page = page._replace(lines=_inserted(page.lines, len(page.lines), _header(), True))
    shape = structure(page.lines)
    entry = Line(place.line, "", place.owner)
    found = _place_in_section(page, shape, place)
    if found is not None:
        at, apart = found
        return page._replace(lines=_inserted(page.lines, at, [entry], apart))
    at = _place_of_section(page, shape, place)
    begun = [Line(f"## {place.section}", ""), Line("", ""), entry]
    headings = tuple(sorted({*page.headings, place.section}))
    return Page(_inserted(page.lines, at, begun, True), headings)


def without_entries(page: Page, owners: Collection[str]) -> Page:
    """Their lines go, the headings stay for whoever gets the room."""
    kept = [line for line in page.lines if not line.owner or line.owner not in owners]
    return page._replace(lines=kept)


def without_traces(page: Page, owners: Collection[str]) -> Page:
    """Their lines go for good, and with its last one a heading of ours and the line below it."""
    if not owners:
        return page
    gone = {n for n, line in enumerate(page.lines) if line.owner and line.owner in owners}
    emptied = _emptied(page, gone)
    for at in emptied.values():
        gone |= {at} if page.lines[at + 1].text else {at, at + 1}
    return Page(
        [line for n, line in enumerate(page.lines) if n not in gone],
        tuple(name for name in page.headings if name not in emptied),
    )


def still_there(page: Page) -> Page:
    """The page without those of our headings that someone took out."""
    if not page.headings:
        return page
    there = {line.text for line in page.lines}
    return page._replace(headings=tuple(name for name in page.headings if f"## {name}" in there))


def _header() -> list[Line]:
    return [Line(text, "") for text in HEADER]


def _emptied(page: Page, gone: set[int]) -> dict[str, int]:
    """Our headings, by name, that stand over nothing but these lines."""
    shape = structure(page.lines)
    names = {f"## {name}": name for name in page.headings}
    found: dict[str, int] = {}
    for heading in shape.headings:
        name = names.get(page.lines[heading.at].text)
        below = range(heading.at + 1, _section_end(page, shape, heading.at))
        filled = {n for n in below if not page.lines[n].is_blank}
        if name is not None and filled and filled <= gone:
            found.setdefault(name, heading.at)
    return found


def _section_end(page: Page, shape: Structure, at: int, level: int = 6) -> int:
    """The line of the next heading of this level or a higher one."""
    later = (h.at for h in shape.headings if h.at > at and h.level <= level)
    return next(later, len(page.lines))


def _place_in_section(page: Page, shape: Structure, place: Place) -> tuple[int, bool] | None:
    """The line to put it before, and whether it must be set apart from what is above."""
    lines, wanted = page.lines, folded(place.section)
    for heading in shape.headings:
        if heading.level == SECTION_LEVEL and folded(heading.name) == wanted:
            end = _section_end(page, shape, heading.at)
            ours = [n for n in range(heading.at, end) if lines[n].owner and shape.plain[n]]
            if ours:
                return item_end(lines, shape.plain, ours[-1]), False
            at = _after_text(page, shape, heading.at, end)
            return at, not (is_item(lines[at - 1]) and shape.plain[at - 1])
    # a heading that someone renamed or took away: its entries show where they want to be
    fellows = [n for n, line in enumerate(lines) if line.owner in place.fellows and shape.plain[n]]
    return (item_end(lines, shape.plain, fellows[-1]), False) if fellows else None


def _place_of_section(page: Page, shape: Structure, place: Place) -> int:
    """Before the first of our sections that comes later in order, else after the last of them."""
    ours = {folded(name) for name in (*page.headings, *place.sections)}
    known = [h for h in shape.headings if h.level == SECTION_LEVEL and folded(h.name) in ours]
    for heading in known:
        if section_order(heading.name) > section_order(place.section):
            return _after_text(page, shape, 0, heading.at)
    start = known[-1].at if known else 0
    end = _section_end(page, shape, start, SECTION_LEVEL) if known else len(page.lines)
    return _after_text(page, shape, start, end)


def _after_text(page: Page, shape: Structure, start: int, end: int) -> int:
    """Behind the last line of a stretch that is not empty; never inside an unclosed block."""
    if shape.open_from is not None:
        end = min(end, shape.open_from)
    filled = (n + 1 for n in range(end - 1, start - 1, -1) if not page.lines[n].is_blank)
    return next(filled, start)


def _inserted(lines: list[Line], at: int, new: list[Line], apart: bool) -> list[Line]:
    """With the new lines before line `at`; empty lines that are there already are made use of."""
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
