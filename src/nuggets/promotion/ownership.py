"""Which lines of a memory file are ours, and what became of those that are not there."""

from collections import defaultdict
from collections.abc import Mapping

from nuggets.promotion.document import Line
from nuggets.promotion.entry import line_for
from nuggets.promotion.written import Entry, Fate, line_hash
from nuggets.records import MemoryNote


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
    head = line_for(note._replace(content="")).removeprefix("- ")
    return "changed" if head in text else "declined"
