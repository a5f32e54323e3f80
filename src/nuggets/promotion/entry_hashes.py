"""The record of the entries written to one memory file, by hash. Knows no file.

Hashes are stored instead of marks in the file, which people would see and could copy to other
lines, and instead of the lines themselves, which must not outlive a purge.
"""

from collections.abc import Container, Mapping
from typing import Any, Literal, get_args

from nuggets.domain.memory_file_record import FILE_MARK
from nuggets.named_tuple import NamedTuple
from nuggets.promotion.entry_rendering import without_caveats
from nuggets.promotion.markdown_structure import parse_lines

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

    def for_moved_file(self, text: str, annotated: Container[str]) -> "WrittenEntries":
        """The record for the file of a moved project: all of it if the file has one of our lines,
        else only what people refused, because missing lines were not removed by anyone, and the
        `annotated` entries, which are carried there."""
        hashes = {line_hash(line.text) for line in parse_lines(text)}
        if any(entry.line in hashes for entry in self.entries.values()):
            return self
        return WrittenEntries(
            {
                i: entry
                for i, entry in self.entries.items()
                if not entry.is_in_file or i in annotated
            }
        )

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
    and are no edit."""
    from hashlib import sha256

    return sha256(without_caveats(line).encode(errors="surrogateescape")).hexdigest()[:24]


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
