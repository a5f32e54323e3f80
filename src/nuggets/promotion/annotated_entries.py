"""Entries that people changed or extended, to be moved to another memory file. Pure."""

from collections.abc import Mapping

from nuggets.domain.records import MemoryNote
from nuggets.promotion.entry_hashes import Entry, line_hash
from nuggets.promotion.entry_placement import Page, Place, with_entry
from nuggets.promotion.entry_rendering import title_of
from nuggets.promotion.markdown_structure import (
    Line,
    is_item,
    item_end,
    join_lines,
    parse_lines,
    structure,
)
from nuggets.promotion.sections import section_of


def annotated_entries(
    text: str, notes: Mapping[str, MemoryNote], entries: Mapping[str, Entry]
) -> dict[str, str]:
    """By note id, the list items with a note's title that are not just as we wrote them."""
    lines = parse_lines(text)
    plain = structure(lines).plain
    annotated: dict[str, str] = {}
    for note_id in entries.keys() & notes.keys():
        title = title_of(notes[note_id])
        for at, is_plain in enumerate(plain):
            if is_plain and is_item(lines[at]) and title in lines[at].text:
                item = [line.text for line in lines[at : item_end(lines, plain, at)]]
                entry = entries[note_id]
                if len(item) > 1 or line_hash(item[0]) != entry.line or entry.memory:
                    annotated[note_id] = "\n".join(item)
                break
    return annotated


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
