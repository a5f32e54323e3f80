"""Which lines of a memory file are ours, and what became of those that are not there."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from nuggets.promotion.document import Line, parsed
from nuggets.promotion.entry import ELLIPSIS, line_for
from nuggets.promotion.written import Entry, Fate, Written, line_hash
from nuggets.records import MemoryNote

TELLING_CHARACTERS = 4  # of a content: a shorter one stands anywhere


def owners_of(
    lines: list[Line], wanted: Mapping[str, str], known: Mapping[str, Entry]
) -> dict[int, str]:
    """Which lines are ours, and whose: as we would write them now, or as we wrote them last.

    A line just as we would write it is taken for ours even without a record: a crash between
    writing the file and the record must not leave lines behind that nobody minds.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for n in range(len(lines) - 1, -1, -1):
        if lines[n].text.startswith("- **"):
            places[line_hash(lines[n].text)].append(n)
    hashes = {i: line_hash(line) for i, line in wanted.items()} if places else {}
    as_now = sorted(hashes, key=lambda i: (i not in known or known[i].line != hashes[i], i))
    owners: dict[int, str] = {}
    owned: set[str] = set()
    for note_id, line in [
        *((i, hashes[i]) for i in as_now),
        *((i, known[i].line) for i in sorted(known)),
    ]:
        if note_id not in owned and places.get(line):
            owners[places[line].pop()] = note_id
            owned.add(note_id)
    return owners


def fate_of(note: MemoryNote, text: str) -> Fate:
    """Changed, if some line still has its title."""
    return "changed" if _head(note) in text else "declined"


def stands_in(text: str, note_id: str, written: Written) -> bool:
    """Whether our line of a note is there as we wrote it."""
    entry = written.entries.get(note_id)
    return entry is not None and any(line_hash(line.text) == entry.line for line in parsed(text))


def tells_of(text: str, versions: Iterable[MemoryNote], written: Written) -> bool:
    """Whether a line that is not ours has the title or the content that a note ever had."""
    ours = {entry.line for entry in written.entries.values()}
    others = "\n".join(line.text for line in parsed(text) if line_hash(line.text) not in ours)
    return any(words in others for note in versions for words in _telling(note))


def _telling(note: MemoryNote) -> list[str]:
    head = _head(note)
    content = line_for(note).removeprefix(f"- {head}").removeprefix(": ").removesuffix(ELLIPSIS)
    return [head, content] if len(content) >= TELLING_CHARACTERS else [head]


def _head(note: MemoryNote) -> str:
    return line_for(note._replace(content="")).removeprefix("- ")
