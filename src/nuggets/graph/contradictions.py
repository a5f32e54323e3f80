"""Which memories contradict each other, and how that is marked: by a link with a reason of its own.

The same key of the same nugget is no contradiction: the new value supersedes the old one.
"""

from collections.abc import Iterable, Sequence

from nuggets.domain.records import MemoryNote
from nuggets.domain.visibility import may_be_linked
from nuggets.language.contradictions import Statement, contradict, statements

Pair = tuple[MemoryNote, MemoryNote]


def contradicting_notes(note: MemoryNote, others: Iterable[MemoryNote]) -> list[MemoryNote]:
    """Those of the others that contradict the note."""
    own = _statements_of(note)
    if not own:
        return []
    return [
        other
        for other in others
        if other.id != note.id
        and not other.hidden
        and may_be_linked(note, other)
        and any(contradict(a, b) for a in own for b in _statements_of(other))
    ]


def contradicting_pairs(notes: Sequence[MemoryNote]) -> list[Pair]:
    """All pairs of visible notes that contradict each other, each with the earlier one first."""
    by_topic: dict[frozenset[str], list[MemoryNote]] = {}
    found: dict[tuple[str, str], Pair] = {}
    for note in sorted(notes, key=lambda note: note.updated_at):
        topics = {topic for statement in _statements_of(note) for topic in statement.topics}
        earlier = {other.id: other for topic in topics for other in by_topic.get(topic, ())}
        for other in contradicting_notes(note, earlier.values()):
            found[other.id, note.id] = (other, note)
        for topic in topics:
            by_topic.setdefault(topic, []).append(note)
    return list(found.values())


def _statements_of(note: MemoryNote) -> tuple[Statement, ...]:
    """What a memory states; the value of a fact also together with its key ("telemetry: off")."""
    between = " " if note.kind == "fact" else "\n"
    whole = statements(f"{note.title}{between}{note.content}")
    return (*whole, *statements(note.content)) if note.kind == "fact" else whole
