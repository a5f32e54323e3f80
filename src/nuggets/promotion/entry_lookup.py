"""Finds the entries of notes in a memory file, and what people did to them. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from nuggets.domain.records import MemoryNote
from nuggets.promotion.entry_hashes import Entry, Fate, WrittenEntries, line_hash
from nuggets.promotion.entry_rendering import ELLIPSIS, line_for, title_of
from nuggets.promotion.markdown_structure import (
    Line,
    is_item,
    item_end,
    parse_lines,
    structure,
)

TELLING_CHARACTERS = 4  # a shorter content occurs in any text


def owners_of(
    lines: list[Line], wanted: Mapping[str, str], entries: Mapping[str, Entry]
) -> dict[int, str]:
    """The note id of each line that is an entry, as it would be written now or was written last.

    A line that equals the current entry of a note counts as one even without a record, because a
    crash may come between writing the file and writing the record.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for n in range(len(lines) - 1, -1, -1):
        if is_item(lines[n]):
            places[line_hash(lines[n].text)].append(n)
    hashes = {i: line_hash(line) for i, line in wanted.items()} if places else {}
    as_now = sorted(hashes, key=lambda i: (i not in entries or entries[i].line != hashes[i], i))
    owners: dict[int, str] = {}
    owned: set[str] = set()
    for note_id, line in [
        *((i, hashes[i]) for i in as_now),
        *((i, entries[i].line) for i in sorted(entries)),
    ]:
        if note_id not in owned and places.get(line):
            owners[places[line].pop()] = note_id
            owned.add(note_id)
    return owners


def fate_of(note: MemoryNote, text: str) -> Fate:
    """Changed by hand if the title is still in the text, else removed by hand."""
    return "changed" if title_of(note) in text else "declined"


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


def has_entry(text: str, note_id: str, written: WrittenEntries) -> bool:
    """Whether the entry of a note is in the text as it was written."""
    entry = written.entries.get(note_id)
    return entry is not None and any(
        line_hash(line.text) == entry.line for line in parse_lines(text)
    )


def mentions_notes(text: str, versions: Iterable[MemoryNote], written: WrittenEntries) -> bool:
    """Whether a line of someone else has the title or the content of a version of a note."""
    own_lines = {entry.line for entry in written.entries.values()}
    other_text = "\n".join(
        line.text for line in parse_lines(text) if line_hash(line.text) not in own_lines
    )
    return any(words in other_text for note in versions for words in _searched_texts(note))


def _searched_texts(note: MemoryNote) -> list[str]:
    head = title_of(note)
    content = line_for(note).removeprefix(f"- {head}").removeprefix(": ").removesuffix(ELLIPSIS)
    return [head, content] if len(content) >= TELLING_CHARACTERS else [head]
