"""Operations that only read: they count no hit and change no time."""

from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import Limit, Name
from nuggets.domain.records import NoteFilterOptions
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import (
    Default,
    array,
    given_kinds,
    nullable,
    reference,
    shape,
)
from nuggets.interfaces.rest import events
from nuggets.interfaces.rest.operation_definition import Arguments, Count, Operation, Steps
from nuggets.shelf import NuggetShelf

QUERY = Annotated[str, Limit(1, 2000)]  # what the page lets people type


def up_to(most: int, default: int, *, least: int = 1) -> Any:
    """How many items to answer with, or to pass over."""
    return Annotated[int, Limit(least, most), Default(default)]


LAST = "last"  # instead of a session's id
FILTERS = given_kinds(NoteFilterOptions)


def _filters(arguments: Arguments) -> dict[str, Any]:
    return {name: arguments[name] for name in FILTERS if name in arguments}


def _health(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return {"ok": True}


def _summary(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return {
        "revision": shelf.revision,  # read first, as for the graph
        "project": shelf.project,
        "nuggets": [json_responses.status(status) for status in shelf.list()],
        "exports": json_responses.exports(shelf.exports_status()),
        "warnings": json_responses.warnings(shelf),
    }


def _nugget(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.status(shelf.status(arguments["nugget"]))


def _facts(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return [json_responses.fact(fact) for fact in shelf.facts(arguments["nugget"])]


def _recall(shelf: NuggetShelf, arguments: Arguments) -> Any:
    if "as_of" in arguments:
        result = shelf.recall(arguments["query"], arguments.get("nugget"), as_of=arguments["as_of"])
        return json_responses.earlier_recall(result)
    with shelf.snapshot():
        answers = shelf.recall_or_search(arguments["query"], arguments.get("nugget"), session=None)
        return json_responses.recall_result(shelf, *answers)


def _notes(shelf: NuggetShelf, arguments: Arguments) -> Any:
    notes = shelf.list_notes(**_filters(arguments))
    start = arguments["offset"]
    return [codec.note_to_json(note) for note in notes[start : start + arguments["limit"]]]


def _note(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.shown_note(shelf, shelf.get_note(arguments["note"], session=None))


def _note_history(shelf: NuggetShelf, arguments: Arguments) -> Any:
    note = shelf.get_note(arguments["note"], session=None)
    steps = shelf.history(note.id, arguments["limit"])
    return [events.commit(step, only=note.id) for step in steps]


def _versions(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.versions(shelf.versions(arguments["note"], arguments.get("nugget")))


def _graph(shelf: NuggetShelf, arguments: Arguments) -> Any:
    revision = shelf.revision  # read first: a newer change arrives again as an event
    notes = shelf.list_notes(include_hidden=True)
    return {"revision": revision, "nodes": [events.node(note) for note in notes]}


def _explanation(shelf: NuggetShelf, arguments: Arguments) -> Any:
    note = shelf.get_note(arguments["note"], session=None)
    why = shelf.explain(arguments["query"], note.id, arguments.get("include_hidden", False))
    return codec.to_json(why)


def _search(shelf: NuggetShelf, arguments: Arguments) -> Any:
    query = arguments["query"]
    results = []
    with shelf.snapshot():
        matches = shelf.search_notes(query, arguments["limit"], session=None, **_filters(arguments))
        for result in matches:
            answer = json_responses.search_result(shelf, result)
            if arguments.get("why"):
                why = shelf.explain(query, result.note.id, arguments.get("include_hidden", False))
                answer["why"] = codec.to_json(why)
            results.append(answer)
    return results


def _sessions(shelf: NuggetShelf, arguments: Arguments) -> Any:
    notes = shelf.sessions(all_projects=arguments.get("all", False))
    return [codec.note_to_json(note) for note in notes[: arguments["limit"]]]


def _session(shelf: NuggetShelf, arguments: Arguments) -> Any:
    name = arguments["session"]
    return codec.note_to_json(shelf.get_session(None if name == LAST else name))


def _search_sessions(shelf: NuggetShelf, arguments: Arguments) -> Any:
    results = shelf.search_sessions(
        arguments["query"], arguments["limit"], all_projects=arguments.get("all", False)
    )
    return [json_responses.search_result(shelf, result) for result in results]


_NOTES = array(reference("Note"))
_SUMMARY = shape(
    {
        "revision": Count,
        "project": str,
        "nuggets": array(reference("Status")),
        "exports": nullable(shape({"revision": Count, "behind": Count, "savedAt": str})),
        "warnings": array(str),
    }
)

OPERATIONS = (
    Operation(
        "GET", "/api/health", "health", "Whether the server answers", _health, shape({"ok": bool})
    ),
    Operation(
        "GET", "/api/status", "status", "Every nugget and how full it is", _summary, _SUMMARY
    ),
    Operation(
        "GET",
        "/api/nuggets/{nugget}",
        "nugget",
        "How full a nugget is",
        _nugget,
        reference("Status"),
    ),
    Operation(
        "GET",
        "/api/nuggets/{nugget}/facts",
        "facts",
        "The facts of a nugget, oldest first, as the notes they are",
        _facts,
        array(reference("Fact")),
    ),
    Operation(
        "GET",
        "/api/recall",
        "recall",
        "Recall a fact by its key, part of it, or a misspelling, else search notes; counts no hit",
        _recall,
        reference("Recall"),
        {"query": QUERY, "nugget": Name, "as_of": Name},
        ("query",),
    ),
    Operation(
        "GET",
        "/api/notes",
        "notes",
        "Notes, oldest first",
        _notes,
        _NOTES,
        {**FILTERS, "limit": up_to(1000, 100), "offset": up_to(2**31, 0, least=0)},
    ),
    Operation(
        "GET",
        "/api/notes/{note}",
        "note",
        "One note, by id, title or beginning of its id",
        _note,
        reference("Note"),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/history",
        "noteHistory",
        "What was done to a note, newest first",
        _note_history,
        array(reference("Commit")),
        {"limit": Steps},
    ),
    Operation(
        "GET",
        "/api/notes/{note}/versions",
        "versions",
        "What a fact or note said and when, newest first",
        _versions,
        array(reference("Version")),
        {"nugget": Name},
    ),
    Operation(
        "GET",
        "/api/notes/{note}/explanation",
        "explanation",
        "Why a search for a query finds this note",
        _explanation,
        {"type": "object"},
        {"query": QUERY, "include_hidden": bool},
        ("query",),
    ),
    Operation(
        "GET",
        "/api/sessions",
        "sessions",
        "The notes of this project's sessions with agents, or of all, the last one first",
        _sessions,
        _NOTES,
        {"all": bool, "limit": up_to(1000, 20)},
    ),
    Operation(
        "GET",
        "/api/sessions/search",
        "searchSessions",
        "The notes of sessions that are about a query, best first; counts no hit",
        _search_sessions,
        array(reference("SearchResult")),
        {"query": QUERY, "all": bool, "limit": up_to(100, 5)},
        ("query",),
    ),
    Operation(
        "GET",
        "/api/sessions/{session}",
        "session",
        "The note of one session, by its id; `last`: of this project's last one",
        _session,
        reference("Note"),
    ),
    Operation(
        "GET",
        "/api/graph",
        "graph",
        "Every note as a node with its links, without contents",
        _graph,
        shape({"revision": Count, "nodes": array(reference("Node"))}),
    ),
    Operation(
        "GET",
        "/api/search",
        "search",
        "The notes that match a query, best first; counts no hit",
        _search,
        array(reference("SearchResult")),
        {**FILTERS, "query": QUERY, "limit": up_to(100, 5), "why": bool},
        ("query",),
    ),
)
