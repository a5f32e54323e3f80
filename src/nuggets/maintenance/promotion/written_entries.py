"""The record of the entries written to one memory file, by hash; how they are found again, and what
people did to them. Knows no file.

Hashes are stored instead of marks in the file, which people would see and could copy to other
lines, and instead of the lines themselves, which must not outlive a purge.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from nuggets.domain.marks import FILE_MARK
from nuggets.domain.records import MemoryNote
from nuggets.language.text import ELLIPSIS
from nuggets.maintenance.promotion.entries import line_for, title_of, without_caveats
from nuggets.maintenance.promotion.entry_placement import (
    Line,
    continues_item,
    is_item,
    parse_lines,
    structure,
    unwrap_line,
)
from nuggets.named_tuple import NamedTuple

# By hand: changed; deleted (declined); gone together with many others (missing). Not written again.
Fate = Literal["written", "changed", "declined", "missing"]


class Entry(NamedTuple):
    """The hash of an entry and what became of it."""

    line: str  # hash
    fate: Fate = "written"
    memory: str = ""  # of a line in a person's words: hash of the line that we would write

    @property
    def is_in_file(self) -> bool:
        """Was the line in the file when that was last seen?"""
        return self.fate == "written" or bool(self.memory)


class WrittenEntries(NamedTuple):
    """The entries and headings that we wrote to one file; stored as a mark."""

    entries: Mapping[str, Entry] = {}  # by note id
    headings: tuple[str, ...] = ()  # names of the sections that we created
    others: frozenset[str] = frozenset()  # short hashes of people's own lines

    def to_json(self) -> dict[str, Any]:
        return {
            "entries": {i: _entry_to_json(self.entries[i]) for i in sorted(self.entries)},
            "headings": list(self.headings),
            "others": sorted(self.others),
        }

    @classmethod
    def from_json(cls, shape: Any) -> "WrittenEntries":
        """Read a record; invalid parts are ignored, so their lines stay in the file."""
        fields = shape if isinstance(shape, dict) else {}
        entries = fields.get("entries")
        headings, others = fields.get("headings"), fields.get("others")
        return cls(
            {
                note_id: Entry(*entry)
                for note_id, entry in (entries if isinstance(entries, dict) else {}).items()
                if _is_entry(entry)
            },
            tuple(h for h in headings if isinstance(h, str)) if isinstance(headings, list) else (),
            frozenset(o for o in others if isinstance(o, str))
            if isinstance(others, list)
            else frozenset(),
        )


def line_hash(line: str) -> str:
    """A prefix of the SHA-256 of the line, long enough to avoid collisions. Caveats come and go,
    and are no edit, nor is where a line is wrapped."""
    from hashlib import sha256

    return sha256(without_caveats(unwrap_line(line)).encode(errors="surrogateescape")).hexdigest()[
        :24
    ]


def short_hash(line: str) -> str:
    """The same for lines of people, of which there are many."""
    return line_hash(line)[:12]


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) in (2, 3)
        and all(isinstance(part, str) for part in entry)
        and entry[1] in get_args(Fate)
    )


def _entry_to_json(entry: Entry) -> list[str]:
    return list(entry) if entry.memory else list(entry[:2])


def written_entries(marks: Mapping[str, Any], mark: str) -> WrittenEntries:
    """The record of one memory file among the marks."""
    return WrittenEntries.from_json((marks.get(mark) or {}).get("written"))


def unchanged_files(after: Mapping[str, Any], before: Mapping[str, Any]) -> set[str]:
    """The marks of the memory files whose entries are the same in both."""
    return {
        mark
        for mark in after
        if mark.startswith(FILE_MARK)
        and written_entries(after, mark).entries == written_entries(before, mark).entries
    }


def without_taken_out(
    now: Mapping[str, Any], after: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The marks of the memory files without the entries that people took out of them between the
    marks of `before` and `after`, so that these may be written again."""
    marks: dict[str, Any] = {}
    for mark in after:
        if mark.startswith(FILE_MARK) and now.get(mark):
            was, is_now = written_entries(before, mark).entries, written_entries(now, mark)
            back = {
                i: entry
                for i, entry in is_now.entries.items()
                if entry.fate != "declined" or i not in was or not was[i].is_in_file
            }
            if len(back) < len(is_now.entries):
                marks[mark] = {**now[mark], "written": is_now._replace(entries=back).to_json()}
    return marks


# --- finding entries --------------------------------------------------------------------------


TELLING_CHARACTERS = 4  # a shorter content occurs in any text


def entry_lines(text: str, written: WrittenEntries, current: Iterable[str] = ()) -> list[Line]:
    """The lines of a file, of which an item that someone wrapped is one, indented or not.

    Below a line of ours that stands as it was written, or would be written now (`current`), lines
    are a person's own, and so is what stood in the file when we last wrote it.
    """
    known = {entry.line for entry in written.entries.values()}
    known |= {line_hash(line) for line in current}
    lines: list[Line] = []
    may_go_on = False
    physical = parse_lines(text)
    for line, is_plain in zip(physical, structure(physical).plain, strict=True):
        is_own = short_hash(line.text) in written.others
        if may_go_on and is_plain and not is_own and continues_item(line):
            wrapped = lines.pop()
            line = Line(wrapped.text + wrapped.end + line.text, line.end)
        else:
            may_go_on = is_plain and is_item(line) and line_hash(line.text) not in known
        lines.append(line)
    return lines


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


def has_entry(text: str, note_id: str, written: WrittenEntries) -> bool:
    """Whether the entry of a note is in the text as it was written."""
    entry = written.entries.get(note_id)
    return entry is not None and any(
        line_hash(line.text) == entry.line for line in entry_lines(text, written)
    )


def mentions_notes(text: str, versions: Iterable[MemoryNote], written: WrittenEntries) -> bool:
    """Whether a line of someone else has the title or the content of a version of a note."""
    own_lines = {entry.line for entry in written.entries.values()}
    other_text = "\n".join(
        line.text for line in entry_lines(text, written) if line_hash(line.text) not in own_lines
    )
    return any(words in other_text for note in versions for words in _searched_texts(note))


def _searched_texts(note: MemoryNote) -> list[str]:
    head = title_of(note)
    content = line_for(note).removeprefix(f"- {head}").removeprefix(": ").removesuffix(ELLIPSIS)
    return [head, content] if len(content) >= TELLING_CHARACTERS else [head]
