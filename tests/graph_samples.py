"""Notes for the tests of the graph room, made with a fixed time and counted ids."""

from collections.abc import Iterable, Mapping

from nuggets.domain.records import GraphNoteMetaInput, MemoryNote, NoteKind
from nuggets.domain.state import MemoryNotes
from nuggets.language.text import fold_case
from nuggets.operations.notes_and_links import new_note

NOW = "2026-01-31T09:00:00.000Z"
LATER = "2026-02-01T10:30:00.000Z"


def sample(
    number: int = 1,
    *,
    title: str = "Auth middleware",
    content: str = "Uses JWT.",
    nugget: str = "learnings",
    kind: NoteKind = "note",
    tags: Iterable[str] = (),
    given: GraphNoteMetaInput | None = None,
    now: str = NOW,
    project: str = "",
    created_at: str | None = None,
) -> MemoryNote:
    return new_note(
        nugget=nugget,
        kind=kind,
        title=title,
        content=content,
        tags=tags,
        given=given or GraphNoteMetaInput(),
        now=now,
        note_id=f"{kind}-{nugget}-{number:08x}",
        project=project,
        created_at=created_at,
    )


def by_id(*notes: MemoryNote) -> MemoryNotes:
    return MemoryNotes((note.id, note) for note in notes)


def links_are_sound(notes: Mapping[str, MemoryNote]) -> bool:
    """Does each link have its other end, and none occur twice?"""
    ends = [
        (note.id, link.to, fold_case(link.reason)) for note in notes.values() for link in note.links
    ]
    others = {(b, a, reason) for a, b, reason in ends if a != b}
    return others == set(ends) and len(others) == len(ends)
