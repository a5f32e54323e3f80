"""Operations that only read: they count no hit and change no time."""

from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import Limit, Name
from nuggets.domain.records import NoteFilterOptions
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import array, reference
from nuggets.interfaces.rest import events
from nuggets.interfaces.rest.operation_definition import ANSWER, Query, Steps, operation
from nuggets.shelf import NuggetShelf

Filters = Annotated[Any, NoteFilterOptions]
UpTo100 = Annotated[int, Limit(1, 100)]
UpTo1000 = Annotated[int, Limit(1, 1000)]
LAST = "last"  # instead of a session's id

_NOTES = array(reference("Note"))
_RESULTS = array(reference("SearchResult"))


@operation("GET", "/api/health", "Whether the server answers")
def _health(shelf: NuggetShelf) -> Any:
    return {"ok": True}


@operation("GET", "/api/status", "Every nugget and how full it is")
def _status(shelf: NuggetShelf) -> Any:
    return {
        "revision": shelf.revision,  # read first, as for the graph
        "project": shelf.project,
        "nuggets": [status._asdict() for status in shelf.list()],
        "exports": json_responses.exports(shelf.exports_status()),
        "warnings": json_responses.warnings(shelf),
    }


@operation("GET", "/api/nuggets/{nugget}", "How full a nugget is", reference("Status"))
def _nugget(shelf: NuggetShelf, nugget: Name) -> Any:
    return shelf.status(nugget)._asdict()


@operation(
    "GET",
    "/api/nuggets/{nugget}/facts",
    "The facts of a nugget, oldest first, as the notes they are",
    array(reference("Fact")),
)
def _facts(shelf: NuggetShelf, nugget: Name) -> Any:
    return [json_responses.fact(fact) for fact in shelf.facts(nugget)]


@operation(
    "GET",
    "/api/recall",
    "Recall a fact by its key, part of it, or a misspelling, else search notes; counts no hit",
    reference("Recall"),
)
def _recall(
    shelf: NuggetShelf, query: Query, nugget: Name | None = None, as_of: Name | None = None
) -> Any:
    if as_of is not None:
        return codec.to_json(shelf.recall(query, nugget, as_of=as_of))
    with shelf.snapshot():
        answers = shelf.recall_or_search(query, nugget, session=None)
        return json_responses.recall_result(shelf, *answers)


@operation("GET", "/api/notes", "Notes, oldest first", _NOTES)
def _notes(
    shelf: NuggetShelf,
    limit: UpTo1000 = 100,
    offset: Annotated[int, Limit(0, 2**31)] = 0,
    **filters: Filters,
) -> Any:
    notes = shelf.list_notes(**filters)[offset : offset + limit]
    return [codec.note_to_json(note) for note in notes]


@operation(
    "GET",
    "/api/notes/{note}",
    "One note, by id, title or beginning of its id",
    reference("Note"),
)
def _note(shelf: NuggetShelf, note: Name) -> Any:
    return json_responses.shown_note(shelf, shelf.get_note(note, session=None))


@operation(
    "GET",
    "/api/notes/{note}/history",
    "What was done to a note, newest first",
    array(ANSWER),
)
def _note_history(shelf: NuggetShelf, note: Name, limit: Steps = 20) -> Any:
    note_id = shelf.get_note(note, session=None).id
    return [events.commit(step, only=note_id) for step in shelf.history(note_id, limit)]


@operation(
    "GET",
    "/api/notes/{note}/versions",
    "What a fact or note said and when, newest first",
    array(ANSWER),
)
def _versions(shelf: NuggetShelf, note: Name, nugget: Name | None = None) -> Any:
    return json_responses.versions(shelf.versions(note, nugget))


@operation("GET", "/api/notes/{note}/explanation", "Why a search for a query finds this note")
def _explanation(shelf: NuggetShelf, note: Name, query: Query, include_hidden: bool = False) -> Any:
    note_id = shelf.get_note(note, session=None).id
    return codec.to_json(shelf.explain(query, note_id, include_hidden))


@operation(
    "GET",
    "/api/sessions",
    "The notes of this project's sessions with agents, or of all, the last one first",
    _NOTES,
)
def _sessions(shelf: NuggetShelf, all: bool = False, limit: UpTo1000 = 20) -> Any:
    return [codec.note_to_json(note) for note in shelf.sessions(all_projects=all)[:limit]]


@operation(
    "GET",
    "/api/sessions/search",
    "The notes of sessions that are about a query, best first; counts no hit",
    _RESULTS,
)
def _search_sessions(
    shelf: NuggetShelf, query: Query, all: bool = False, limit: UpTo100 = 5
) -> Any:
    results = shelf.search_sessions(query, limit, all_projects=all)
    return [json_responses.search_result(shelf, result) for result in results]


@operation(
    "GET",
    "/api/sessions/{session}",
    "The note of one session, by its id; `last`: of this project's last one",
    reference("Note"),
)
def _session(shelf: NuggetShelf, session: Name) -> Any:
    return codec.note_to_json(shelf.get_session(None if session == LAST else session))


@operation("GET", "/api/graph", "Every note as a node with its links, without contents")
def _graph(shelf: NuggetShelf) -> Any:
    revision = shelf.revision  # read first: a newer change arrives again as an event
    notes = shelf.list_notes(include_hidden=True)
    return {"revision": revision, "nodes": [events.node(note) for note in notes]}


@operation(
    "GET", "/api/search", "The notes that match a query, best first; counts no hit", _RESULTS
)
def _search(
    shelf: NuggetShelf, query: Query, limit: UpTo100 = 5, why: bool = False, **filters: Filters
) -> Any:
    results = []
    with shelf.snapshot():
        for result in shelf.search_notes(query, limit, session=None, **filters):
            answer = json_responses.search_result(shelf, result)
            if why:
                include_hidden = filters.get("include_hidden", False)
                explanation = shelf.explain(query, result.note.id, include_hidden)
                answer["why"] = codec.to_json(explanation)
            results.append(answer)
    return results
