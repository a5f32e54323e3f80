"""The operations of the REST interface: those that only read, then those that change the shelf.

Reading counts no hit and changes no time. Each change but a purge is one step of the history
and can be undone.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import REASON_CHARACTERS, TAG_CHARACTERS, TAGS, Limit, Name, Session
from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryNote,
    NoteFilterOptions,
    NuggetStatus,
    ReflectionResult,
    WrittenNote,
)
from nuggets.errors import InvalidInput, NotFound
from nuggets.interfaces import json_responses
from nuggets.interfaces.rest.operation_definition import (
    Content,
    Count,
    Fact,
    Found,
    Notes,
    Query,
    Recall,
    ShownNote,
    Steps,
    operation,
)
from nuggets.shelf import NuggetShelf

Filters = Annotated[Any, NoteFilterOptions]
# Results of one request: ours, above what the page asks for.
UpTo100 = Annotated[int, Limit(1, 100)]
UpTo1000 = Annotated[int, Limit(1, 1000)]


@operation("GET", "/api/health", "Whether the server answers")
def _health(shelf: NuggetShelf) -> Any:
    return {"ok": True}


@operation("GET", "/api/status", "Every nugget and how full it is")
def _status(shelf: NuggetShelf) -> Any:
    return {
        "revision": shelf.revision,  # read first, as for the graph
        "project": shelf.project,
        "nuggets": [status._asdict() for status in shelf.list()],
        "exports": codec.to_json(shelf.exports_status()),
        "warnings": json_responses.warnings(shelf),
    }


@operation("GET", "/api/nuggets/{nugget}", "How full a nugget is")
def _nugget(shelf: NuggetShelf, nugget: Name) -> NuggetStatus:
    return shelf.status(nugget)


@operation(
    "GET",
    "/api/nuggets/{nugget}/facts",
    "The facts of a nugget, oldest first, as the notes they are",
)
def _facts(shelf: NuggetShelf, nugget: Name) -> list[Fact]:
    return [json_responses.fact(fact) for fact in shelf.facts(nugget)]


@operation(
    "GET",
    "/api/recall",
    "Recall a fact by its key, part of it, or a misspelling, else search notes; counts no hit",
)
def _recall(
    shelf: NuggetShelf, query: Query, nugget: Name | None = None, as_of: Name | None = None
) -> Recall:
    if as_of is not None:
        return shelf.recall(query, nugget, as_of=as_of)
    with shelf.snapshot():
        answers = shelf.recall_or_search(query, nugget, session=None)
        return json_responses.recall_result(shelf, *answers)


@operation("GET", "/api/notes", "Notes, oldest first")
def _notes(
    shelf: NuggetShelf,
    limit: UpTo1000 = 100,
    offset: Annotated[int, Limit(0, 2**31)] = 0,
    **filters: Filters,
) -> Sequence[MemoryNote]:
    return shelf.list_notes(**filters)[offset : offset + limit]


@operation("GET", "/api/notes/{note}", "One note, by id, title or beginning of its id")
def _note(shelf: NuggetShelf, note: Name) -> ShownNote:
    return json_responses.shown_note(shelf, shelf.get_note(note, session=None))


@operation("GET", "/api/notes/{note}/history", "What was done to a note, newest first")
def _note_history(shelf: NuggetShelf, note: Name, limit: Steps = 20) -> Sequence[Any]:
    note_id = shelf.get_note(note, session=None).id
    return [json_responses.commit(step, only=note_id) for step in shelf.history(note_id, limit)]


@operation("GET", "/api/notes/{note}/versions", "What a fact or note said and when, newest first")
def _versions(shelf: NuggetShelf, note: Name, nugget: Name | None = None) -> Sequence[Any]:
    return shelf.versions(note, nugget)[::-1]


@operation("GET", "/api/notes/{note}/explanation", "Why a search for a query finds this note")
def _explanation(shelf: NuggetShelf, note: Name, query: Query, include_hidden: bool = False) -> Any:
    note_id = shelf.get_note(note, session=None).id
    return shelf.explain(query, note_id, include_hidden)


@operation(
    "GET",
    "/api/sessions",
    "The notes of this project's sessions with agents, or of all, the last one first",
)
def _sessions(shelf: NuggetShelf, all: bool = False, limit: UpTo1000 = 20) -> Sequence[MemoryNote]:
    return shelf.sessions(all_projects=all)[:limit]


@operation(
    "GET",
    "/api/sessions/search",
    "The notes of sessions that are about a query, best first; counts no hit",
)
def _search_sessions(
    shelf: NuggetShelf, query: Query, all: bool = False, limit: UpTo100 = 5
) -> list[Found]:
    results = shelf.search_sessions(query, limit, all_projects=all)
    return [json_responses.search_result(shelf, result) for result in results]


@operation("GET", "/api/graph", "Every note as a node with its links, without contents")
def _graph(shelf: NuggetShelf) -> Any:
    revision = shelf.revision  # read first: a newer change arrives again as an event
    notes = shelf.list_notes(include_hidden=True)
    return {"revision": revision, "nodes": [json_responses.node(note) for note in notes]}


@operation("GET", "/api/search", "The notes that match a query, best first; counts no hit")
def _search(
    shelf: NuggetShelf, query: Query, limit: UpTo100 = 5, **filters: Filters
) -> list[Found]:
    with shelf.snapshot():
        results = shelf.search_notes(query, limit, session=None, **filters)
        return [json_responses.search_result(shelf, result) for result in results]


# --- the whole shelf: history, reflection, MEMORY.md, activity ------------------------------------


TEXT_SHOWN = 100_000  # characters of MEMORY.md; hosts load a quarter of that
NOTES_EXPLAINED = 300  # those with most hits: more than the 200 lines that hosts load
RECENT_STEPS = 5000  # of the history, for a plot: ours, it bounds the time of the page
Revisions = Annotated[str, Limit(1, 4000)]  # those of 200 steps, the most of one answer


@operation("GET", "/api/history", "What was done, newest first")
def _history(shelf: NuggetShelf, limit: Steps = 20, since: Count = 0) -> Sequence[Any]:
    return [json_responses.commit(step) for step in shelf.history(limit=limit, since=since)]


@operation("GET", "/api/undoable", "Which of these revisions (`12,15`) can be undone at the moment")
def _undoable(shelf: NuggetShelf, revisions: Revisions) -> Any:
    numbers = revisions.split(",")
    if not all(number.isascii() and number.isdigit() and len(number) < 17 for number in numbers):
        raise InvalidInput("revisions are numbers with commas between them, such as 12,15")
    return {"revisions": sorted(shelf.undoable(map(int, numbers)))}


@operation("GET", "/api/reflection", "What the next reflection would do")
def _preview_reflection(
    shelf: NuggetShelf, nugget: Name | None = None, limit: Notes | None = None
) -> ReflectionResult:
    return shelf.reflect(nugget, limit, dry_run=True)


@operation("GET", "/api/reflections", "Past reflections with what they changed, newest first")
def _reflections(shelf: NuggetShelf, limit: Steps = 20) -> Sequence[Any]:
    with shelf.snapshot():
        steps = shelf.commit_summaries(0, RECENT_STEPS)
        passes = [step.revision for step in steps if step.action.startswith("reflect")]
        return [json_responses.commit(shelf.commit(revision)) for revision in passes[::-1][:limit]]


@operation("GET", "/api/promotion", "What MEMORY.md contains, what is close to promotion, and why")
def _promotion(shelf: NuggetShelf) -> Any:
    answer: codec.Json = {"problem": None, "path": "", "text": "", "notes": []}
    answer["promoteAfter"] = shelf.settings["promote_after"]
    try:
        path = shelf.memory_path()
    except NotFound as problem:  # no memory file: an answer, not an error
        return {**answer, "problem": str(problem)}
    plan = shelf.promotion(dry_run=True)
    hits = {note.id: note.hits for note in shelf.list_notes(include_hidden=True)}
    notes = [
        {**codec.to_json(why), "hits": hits.get(why.note_id, 0)}
        for why in plan.explanations
        if why.outcome != "out" or hits.get(why.note_id, 0)
    ]
    return {
        **answer,
        "path": path,
        "text": plan.text[:TEXT_SHOWN],
        "notes": notes[:NOTES_EXPLAINED],
    }


@operation("GET", "/api/activity", "What was written and recalled lately, oldest first")
def _activity(shelf: NuggetShelf, since: Count = 0) -> Any:
    with shelf.snapshot():
        activity = json_responses.activity(shelf.commit_summaries(since, RECENT_STEPS))
        return {"revision": shelf.revision, **activity}


# --- changes, and previews of a merge and of an erasure -------------------------------------------


Meta = Annotated[Any, GraphNoteMetaInput]
Reason = Annotated[str, Limit(0, REASON_CHARACTERS)]
Tags = Annotated[tuple[Annotated[str, Limit(0, TAG_CHARACTERS)], ...], Limit(0, TAGS + 3, "items")]


@operation(
    "POST",
    "/api/nuggets/{nugget}/facts",
    "Store a fact; a known key gets the new value",
    status=201,
)
def _remember(
    shelf: NuggetShelf, nugget: Name, key: Name, value: Content, **meta: Meta
) -> WrittenNote:
    return shelf.remember(nugget, key, value, **meta)


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
    "POST", "/api/recall", "Recall a fact for an agent, else search notes; a new session adds a hit"
)
def _recall_in_session(
    shelf: NuggetShelf, query: Query, nugget: Name | None = None, session: Session = ""
) -> Recall:
    with shelf.snapshot():
        answers = shelf.recall_or_search(query, nugget, session)
        return json_responses.recall_result(shelf, *answers)


@operation("POST", "/api/notes", "Store a note", status=201)
def _create_note(
    shelf: NuggetShelf, nugget: Name, title: Name, content: Content, tags: Tags = (), **meta: Meta
) -> WrittenNote:
    return shelf.create_note(nugget, title, content, tags, **meta)


@operation(
    "PATCH",
    "/api/notes/{note}",
    "Change the given fields; `expected` is the updatedAt that the editor saw",
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
) -> WrittenNote:
    return shelf.edit_note(note, content, title, tags, hidden=hidden, expected=expected, **meta)


@operation(
    "DELETE",
    "/api/notes/{note}",
    "Archive a note, or with `hard` delete it and all links to it",
)
def _delete_note(shelf: NuggetShelf, note: Name, hard: bool = False) -> Any:
    gone = shelf.delete_note(note, hard)
    return json_responses.delete_result(gone) if hard else codec.note_to_json(gone)


@operation("POST", "/api/notes/{note}/restore", "Restore an archived note")
def _restore_note(shelf: NuggetShelf, note: Name) -> MemoryNote:
    return shelf.restore_note(note)


@operation(
    "POST", "/api/notes/{note}/merge", "Merge another note into this one; the other is archived"
)
def _merge_notes(shelf: NuggetShelf, note: Name, source: Name, reason: Reason = "") -> MemoryNote:
    return shelf.merge_notes(note, source, reason)


@operation("GET", "/api/notes/{note}/merge", "Preview of a merge; changes nothing")
def _preview_merge(shelf: NuggetShelf, note: Name, source: Name) -> MemoryNote:
    return shelf.merge_notes(note, source, dry_run=True)


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
    return json_responses.undone_change(json_responses.commit(commit), commit.left, kept)


@operation("POST", "/api/reflection", "Reflect now")
def _reflect(
    shelf: NuggetShelf, nugget: Name | None = None, limit: Notes | None = None
) -> ReflectionResult:
    return shelf.reflect(nugget, limit)


@operation("POST", "/api/promotion", "Promote to MEMORY.md now")
def _promote(shelf: NuggetShelf) -> Any:
    return {"promoted": shelf.promote()}  # never to a path from outside: it writes a file
