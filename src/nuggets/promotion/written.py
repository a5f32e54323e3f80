"""What we wrote into one memory file, by hash: how our lines are known again. Knows no file.

Hashes, not marks in the file: people read it, and a mark can be copied to another line. Not the
lines themselves either: what is purged must not live on in the record.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from nuggets.promotion.document import parsed

Fate = Literal["written", "changed", "declined"]  # by hand, the last two; neither is written again


class Entry(NamedTuple):
    """One line of ours and what became of it."""

    line: str  # hash
    fate: Fate = "written"


class Written(NamedTuple):
    """All that is ours in one file; kept with the store between two promotions."""

    entries: Mapping[str, Entry] = {}  # by note id
    headings: tuple[str, ...] = ()  # names of the sections that we began

    def moved_to(self, text: str) -> "Written":
        """What of it holds for a file in another place: all, if a line of ours came along, or
        else only what people refused; what is not there was not taken out by anyone."""
        there = {line_hash(line.text) for line in parsed(text)}
        if any(entry.line in there for entry in self.entries.values()):
            return self
        return Written({i: one for i, one in self.entries.items() if one.fate != "written"})

    def to_json(self) -> dict[str, Any]:
        return {
            "entries": {i: list(self.entries[i]) for i in sorted(self.entries)},
            "headings": list(self.headings),
        }

    @classmethod
    def from_json(cls, shape: Any) -> "Written":
        """What cannot be understood is not ours: then it is left alone in the file."""
        known = shape if isinstance(shape, dict) else {}
        entries = known.get("entries")
        headings = known.get("headings")
        return cls(
            {
                note_id: Entry(*entry)
                for note_id, entry in (entries if isinstance(entries, dict) else {}).items()
                if _is_entry(entry)
            },
            tuple(h for h in headings if isinstance(h, str)) if isinstance(headings, list) else (),
        )


def line_hash(line: str) -> str:
    """Enough of SHA-256 that no line is taken for another."""
    from hashlib import sha256

    return sha256(line.encode(errors="surrogateescape")).hexdigest()[:24]


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and isinstance(entry[0], str)
        and entry[1] in get_args(Fate)
    )
