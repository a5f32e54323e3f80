"""Which memories contradict each other, and the links that mark it.

The same key of the same nugget is no contradiction: the new value supersedes the old one.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from nuggets.domain.records import Changes, MemoryNote, WrittenNote
from nuggets.domain.state import State
from nuggets.domain.undone_reflection import RejectedChange, read_rejected
from nuggets.domain.visibility import may_be_linked
from nuggets.errors import InvalidInput
from nuggets.graph.links import CONTRADICTS, add_link, remove_link
from nuggets.language.contradictions import Statement, contradict, statements

Pair = tuple[MemoryNote, MemoryNote]


def mark_contradictions(
    state: State,
    changes: Changes,
    written: WrittenNote,
    candidates: Mapping[str, MemoryNote],
    now: str,
) -> tuple[Changes, WrittenNote]:
    """The changes with the marks, and the note with what it contradicts.

    What a person unlinked is not marked again.
    """
    put = {note.id: note for note in changes.put}
    note: MemoryNote = written
    linked = state.notes.many(link.to for link in note.links if link.reason == CONTRADICTS)
    others = {**linked, **candidates}
    others.update((i, put[i]) for i in others.keys() & put.keys())
    refused = read_rejected(state)
    opposed = [
        other
        for other in contradicting_notes(note, others.values())
        if RejectedChange.of_pair("link", note.id, other.id) not in refused
    ]
    opposed_ids = {other.id for other in opposed}
    pairs = [
        remove_link(note, other, CONTRADICTS) for i, other in linked.items() if i not in opposed_ids
    ]
    for pair in filter(None, pairs):
        note = pair[0]
        put[pair[1].id] = pair[1]
    for other in opposed:
        with suppress(InvalidInput):  # it has as many links as there may be
            marked = add_link(note, other, CONTRADICTS, now)
            if marked is not None:
                note = marked[0]
                put[other.id] = marked[1]
    if note != written:
        put[note.id] = note
    result = WrittenNote.from_note(note, is_new=written.is_new, replaced=written.replaced)
    result.contradicts = tuple(put.get(other.id, other) for other in opposed)
    return changes._replace(put=tuple(put.values())), result


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
