"""Operations that change the shelf, and the preview of a merge.

Each change but a purge is one step of the history and can be undone.
"""

from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import REASON_CHARACTERS, TAG_CHARACTERS, TAGS, Limit, Name, Session
from nuggets.domain.records import GraphNoteMetaInput
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import reference
from nuggets.interfaces.rest import events
from nuggets.interfaces.rest.operation_definition import Content, Notes, Query, operation
from nuggets.shelf import NuggetShelf

Meta = Annotated[Any, GraphNoteMetaInput]
Reason = Annotated[str, Limit(0, REASON_CHARACTERS)]
Tags = Annotated[tuple[Annotated[str, Limit(0, TAG_CHARACTERS)], ...], Limit(0, TAGS + 3, "items")]

_NOTE = reference("Note")


@operation(
    "POST",
    "/api/nuggets/{nugget}/facts",
    "Store a fact; a known key gets the new value",
    reference("Remembered"),
    status=201,
)
def _remember(shelf: NuggetShelf, nugget: Name, key: Name, value: Content, **meta: Meta) -> Any:
    return json_responses.written_fact(shelf.remember(nugget, key, value, **meta))


@operation("DELETE", "/api/nuggets/{nugget}/facts", "Forget a fact")
def _forget(shelf: NuggetShelf, nugget: Name, key: Name) -> Any:
    return json_responses.forget_result(nugget, int(shelf.forget(nugget, key)), key)


@operation("POST", "/api/nuggets/{nugget}/clear", "Forget all facts of a nugget; its notes stay")
def _clear(shelf: NuggetShelf, nugget: Name) -> Any:
    return json_responses.forget_result(nugget, shelf.clear(nugget))


@operation("DELETE", "/api/nuggets/{nugget}", "Remove a nugget with everything in it")
def _remove(shelf: NuggetShelf, nugget: Name) -> Any:
    return json_responses.remove_result(nugget, shelf.remove(nugget))


@operation(
    "POST",
    "/api/recall",
    "Recall a fact for an agent, else search notes; a new session adds a hit",
    reference("Recall"),
    quiet=True,
)
def _recall_in_session(
    shelf: NuggetShelf, query: Query, nugget: Name | None = None, session: Session = ""
) -> Any:
    with shelf.snapshot():
        answers = shelf.recall_or_search(query, nugget, session)
        return json_responses.recall_result(shelf, *answers)


@operation("POST", "/api/notes", "Store a note", reference("Written"), status=201)
def _create_note(
    shelf: NuggetShelf, nugget: Name, title: Name, content: Content, tags: Tags = (), **meta: Meta
) -> Any:
    return json_responses.written_note(shelf.create_note(nugget, title, content, tags, **meta))


@operation(
    "PATCH",
    "/api/notes/{note}",
    "Change the given fields; `expected` is the updatedAt that the editor saw",
    reference("Written"),
)
def _edit_note(
    shelf: NuggetShelf,
    note: Name,
    content: Content | None = None,
    title: Name | None = None,
    tags: Tags | None = None,
    hidden: bool | None = None,
    expected: Name | None = None,
    **meta: Meta,
) -> Any:
    after = shelf.edit_note(note, content, title, tags, hidden=hidden, expected=expected, **meta)
    return json_responses.written_note(after)


@operation(
    "DELETE",
    "/api/notes/{note}",
    "Archive a note, or with `hard` delete it and all links to it",
)
def _delete_note(shelf: NuggetShelf, note: Name, hard: bool = False) -> Any:
    gone = shelf.delete_note(note, hard)
    return json_responses.delete_result(gone) if hard else codec.note_to_json(gone)


@operation("POST", "/api/notes/{note}/restore", "Restore an archived note", _NOTE)
def _restore_note(shelf: NuggetShelf, note: Name) -> Any:
    return codec.note_to_json(shelf.restore_note(note))


@operation(
    "POST",
    "/api/notes/{note}/merge",
    "Merge another note into this one; the other is archived",
    _NOTE,
)
def _merge_notes(shelf: NuggetShelf, note: Name, source: Name, reason: Reason = "") -> Any:
    return codec.note_to_json(shelf.merge_notes(note, source, reason))


@operation("GET", "/api/notes/{note}/merge", "Preview of a merge; changes nothing", _NOTE)
def _preview_merge(shelf: NuggetShelf, note: Name, source: Name) -> Any:
    return codec.note_to_json(shelf.merge_notes(note, source, dry_run=True))


@operation(
    "POST",
    "/api/notes/{note}/purge",
    "Erase a note from the shelf, its history and MEMORY.md; there is no undo",
)
def _purge_note(shelf: NuggetShelf, note: Name) -> Any:
    return json_responses.purge_result(shelf.purge(note))


@operation("GET", "/api/notes/{note}/purge", "What an erasure would take away; changes nothing")
def _preview_purge(shelf: NuggetShelf, note: Name) -> Any:
    return json_responses.purge_result(shelf.purge(note, dry_run=True))


@operation("POST", "/api/links", "Link two notes, at both ends")
def _link(shelf: NuggetShelf, a: Name, b: Name, reason: Reason = "") -> Any:
    return json_responses.link_result(shelf, a, b, shelf.add_link(a, b, reason))


@operation("DELETE", "/api/links", "Remove the link with this reason, or all links between the two")
def _unlink(shelf: NuggetShelf, a: Name, b: Name, reason: Reason | None = None) -> Any:
    return {"removed": shelf.remove_link(a, b, reason)}


@operation("POST", "/api/undo", "Undo a change, by default the page's own last one in its project")
def _undo(shelf: NuggetShelf, revision: Annotated[int, Limit(1, 2**53)] | None = None) -> Any:
    commit = shelf.undo(revision)
    kept = shelf.changes_in_effect(commit.revision) if revision is None else None
    return json_responses.undone_change(events.commit(commit), commit.left, kept)


@operation("POST", "/api/reflection", "Reflect now", reference("Reflection"))
def _reflect(shelf: NuggetShelf, nugget: Name | None = None, limit: Notes | None = None) -> Any:
    return codec.to_json(shelf.reflect(nugget, limit))


@operation("POST", "/api/promotion", "Promote to MEMORY.md now")
def _promote(shelf: NuggetShelf) -> Any:
    return {"promoted": shelf.promote()}  # never to a path from outside: it writes a file
