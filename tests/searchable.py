"""Notes and indexes for the tests of search."""

from typing import Any

from nuggets.records import Changes, MemoryNote, NoteLink, SearchNotesResult
from nuggets.search.index import SearchIndex

AT = "2026-01-01T09:00:00.000Z"


def note(number: int, title: str, content: str, *tags: str, **given: Any) -> MemoryNote:
    made = MemoryNote(
        id=f"note-n-{number:08x}",
        nugget_name="n",
        title=title,
        content=content,
        kind="note",
        subject="user:primary",
        scope="user",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=AT,
        updated_at=AT,
        last_accessed_at=AT,
        tags=(*tags, "n", "scope:user", "type:note"),
    )
    return made._replace(**given)


def linked(first: MemoryNote, second: MemoryNote) -> tuple[MemoryNote, MemoryNote]:
    return (
        first._replace(links=(*first.links, NoteLink(second.id, "belongs", AT))),
        second._replace(links=(*second.links, NoteLink(first.id, "belongs", AT))),
    )


def index_of(*notes: MemoryNote) -> SearchIndex:
    index = SearchIndex()
    index.apply(Changes(put=notes))
    return index


def titles(results: list[SearchNotesResult]) -> list[str]:
    return [result.note.title for result in results]


def found(index: SearchIndex, query: str, **given: Any) -> list[str]:
    return titles(index.search(query, **given))
