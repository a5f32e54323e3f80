"""Marks a memory that was written, and those that it contradicts, by links between them."""

from collections.abc import Mapping
from contextlib import suppress

from nuggets.domain.records import Changes, MemoryNote, WrittenNote
from nuggets.domain.rejected_changes import RejectedChange, read_rejected
from nuggets.domain.state import State
from nuggets.errors import InvalidInput
from nuggets.graph.contradictions import contradicting_notes
from nuggets.graph.links import CONTRADICTS, add_link, remove_link


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
