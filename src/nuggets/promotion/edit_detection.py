"""What people did to our lines of a memory file since it was last seen. Pure.

A changed line is paired with its memory by its title, by its content, or because it says nearly
the same; only lines that were not there when the file was last seen can be changed ones. If many
lines are gone at once, nobody deleted them one by one: another version of the file is there.
"""

from collections.abc import Mapping

from nuggets.domain.records import MemoryNote
from nuggets.named_tuple import NamedTuple
from nuggets.promotion.edited_memory import entry_text
from nuggets.promotion.entry_hashes import Entry, WrittenEntries, line_hash, short_hash
from nuggets.promotion.entry_rendering import line_for, title_of
from nuggets.promotion.markdown_structure import Line, is_item, parse_lines, structure

DELETED_PART = 5  # one in five of our lines may be deleted at once, and always one
LEAST_SIMILARITY = 0.6  # of two lines, by `difflib`: the same entry, changed
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")


class PersonEdits(NamedTuple):
    """What people did, by note id."""

    changed: Mapping[str, str] = {}  # the line as it is now
    deleted: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()  # deleted before
    missing: tuple[str, ...] = ()  # too many at once to be deletions
    problem: str = ""  # why nothing is taken over


def find_edits(text: str, notes: Mapping[str, MemoryNote], written: WrittenEntries) -> PersonEdits:
    """Compare the text of a memory file with what we wrote; "" means that the file is missing."""
    lines = parse_lines(text.removeprefix("\ufeff"))
    live = {i: e for i, e in written.entries.items() if _is_live(notes.get(i), e)}
    if all(line.is_blank for line in lines):
        problem = "it is missing or empty" if live else ""
        return PersonEdits(missing=tuple(live), problem=problem)
    if all(any(line.text.startswith(mark) for line in lines) for mark in _CONFLICT_MARKS):
        return PersonEdits(problem="it has the marks of an unresolved conflict")
    hashes = [line_hash(line.text) for line in lines]
    here = set(hashes)
    gone = [i for i, e in live.items() if here.isdisjoint((e.line, line_hash(line_for(notes[i]))))]
    new = _new_lines(lines, hashes, notes, written)
    plain = structure(lines).plain
    changed = _pair(gone, notes, [lines[n].text for n in new if plain[n] and is_item(lines[n])])
    new_text = "\n".join(lines[n].text for n in new)
    deleted = tuple(
        i
        for i in gone
        if i not in changed and live[i].is_in_file and title_of(notes[i]) not in new_text
    )
    total = sum(entry.is_in_file for entry in live.values())
    if len(deleted) > max(1, total // DELETED_PART):
        problem = f"{len(deleted)} of the {total} lines of Nuggets are gone at once"
        return PersonEdits(missing=deleted, problem=problem)
    put_back = tuple(
        i
        for i, entry in written.entries.items()
        if entry.fate == "declined" and entry.line in here and i in notes and notes[i].hidden
    )
    return PersonEdits(changed, deleted, put_back)


def _is_live(note: MemoryNote | None, entry: Entry) -> bool:
    return note is not None and not note.hidden and entry.fate in ("written", "changed")


def _new_lines(
    lines: list[Line], hashes: list[str], notes: Mapping[str, MemoryNote], written: WrittenEntries
) -> list[int]:
    """The places of the lines that were not there when the file was last seen."""
    old = {entry.line for entry in written.entries.values()}
    old |= {line_hash(line_for(notes[i])) for i in written.entries if i in notes}
    return [
        n
        for n, line in enumerate(lines)
        if not (line.is_blank or hashes[n] in old or short_hash(line.text) in written.others)
    ]


def _pair(gone: list[str], notes: Mapping[str, MemoryNote], new_lines: list[str]) -> dict[str, str]:
    """The changed line of each entry that has one."""
    pairs: dict[str, str] = {}
    left = list(new_lines)
    for matches in (_same_title, _same_content, _alike):
        for note_id in gone:
            if note_id not in pairs:
                line = next((line for line in left if matches(notes[note_id], line)), None)
                if line is not None:
                    pairs[note_id] = line
                    left.remove(line)
    return pairs


def _same_title(note: MemoryNote, line: str) -> bool:
    return entry_text(line).title == entry_text(line_for(note)).title


def _same_content(note: MemoryNote, line: str) -> bool:
    content = entry_text(line_for(note)).content
    return bool(content) and entry_text(line).content == content


def _alike(note: MemoryNote, line: str) -> bool:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, line_for(note), line, autojunk=False)
    return matcher.quick_ratio() >= LEAST_SIMILARITY and matcher.ratio() >= LEAST_SIMILARITY
