"""Operations that only look. They leave no trace: nothing is counted, no time moves."""

from typing import Any

from nuggets import codec
from nuggets.interfaces import answers
from nuggets.interfaces.rest import views
from nuggets.interfaces.rest.operation import (
    NAME,
    TEXT,
    TRUTH,
    Given,
    Operation,
    Schema,
    array,
    choice,
    named,
    or_null,
    shape,
    whole,
)
from nuggets.interfaces.rest.shapes import COUNT, STEPS
from nuggets.records import KINDS, SCOPES, TYPES
from nuggets.shelf import NuggetShelf

QUERY: Schema = {"type": "string", "minLength": 1, "maxLength": 2000}
FILTERS: dict[str, Schema] = {
    "nugget": NAME,
    "tag": NAME,
    "subject": NAME,
    "scope": choice(SCOPES),
    "type": choice(TYPES),
    "kind": choice(KINDS),
    "include_hidden": TRUTH,
}


def _filters(given: Given) -> dict[str, Any]:
    return {name: given[name] for name in FILTERS if name in given}


def _health(shelf: NuggetShelf, given: Given) -> Any:
    return {"ok": True}


def _summary(shelf: NuggetShelf, given: Given) -> Any:
    return {
        "revision": shelf.revision,  # first, as for the graph
        "project": shelf.project,
        "nuggets": [answers.status(status) for status in shelf.list()],
        "exports": answers.exports(shelf.exports_status()),
        "warnings": list(shelf.warnings),
    }


def _nugget(shelf: NuggetShelf, given: Given) -> Any:
    return answers.status(shelf.status(given["nugget"]))


def _facts(shelf: NuggetShelf, given: Given) -> Any:
    return [answers.fact(fact) for fact in shelf.facts(given["nugget"])]


def _recall(shelf: NuggetShelf, given: Given) -> Any:
    found = shelf.recall_or_search(given["query"], given.get("nugget"), session=None)
    return answers.recalled(shelf, *found)


def _notes(shelf: NuggetShelf, given: Given) -> Any:
    found = shelf.list_notes(**_filters(given))
    start = given["offset"]
    return [codec.note_to_json(note) for note in found[start : start + given["limit"]]]


def _note(shelf: NuggetShelf, given: Given) -> Any:
    return codec.note_to_json(shelf.get_note(given["note"], session=None))


def _note_history(shelf: NuggetShelf, given: Given) -> Any:
    note = shelf.get_note(given["note"], session=None)
    steps = shelf.history(note.id, given["limit"])
    return [views.commit(step, only=note.id) for step in steps]


def _graph(shelf: NuggetShelf, given: Given) -> Any:
    revision = shelf.revision  # first: what is newer comes again as an event, and changes nothing
    notes = shelf.list_notes(include_hidden=True)
    return {"revision": revision, "nodes": [views.node(note) for note in notes]}


def _search(shelf: NuggetShelf, given: Given) -> Any:
    query = given["query"]
    found = shelf.search_notes(query, given["limit"], session=None, **_filters(given))
    results = []
    for result in found:
        answer = answers.found(shelf, result)
        if given.get("why"):
            why = shelf.explain(query, result.note.id, given.get("include_hidden", False))
            answer["why"] = answers.plain(why)
        results.append(answer)
    return results


_NOTES = array(named("Note"))
_SUMMARY = shape(
    {
        "revision": COUNT,
        "project": TEXT,
        "nuggets": array(named("Status")),
        "exports": or_null(shape({"revision": COUNT, "behind": COUNT, "savedAt": TEXT})),
        "warnings": array(TEXT),
    }
)

OPERATIONS = (
    Operation("GET", "/api/health", "health", "Is anyone there?", _health, shape({"ok": TRUTH})),
    Operation(
        "GET", "/api/status", "status", "Every nugget and how full it is", _summary, _SUMMARY
    ),
    Operation(
        "GET", "/api/nuggets/{nugget}", "nugget", "How full a nugget is", _nugget, named("Status")
    ),
    Operation(
        "GET",
        "/api/nuggets/{nugget}/facts",
        "facts",
        "The facts of a nugget, oldest first, as the notes they are",
        _facts,
        array(named("Fact")),
    ),
    Operation(
        "GET",
        "/api/recall",
        "recall",
        "Find a fact by its key, part of it, or a misspelling, else notes on it; counts nothing",
        _recall,
        named("Recall"),
        {"query": QUERY, "nugget": NAME},
        ("query",),
    ),
    Operation(
        "GET",
        "/api/notes",
        "notes",
        "Notes, oldest first",
        _notes,
        _NOTES,
        {**FILTERS, "limit": whole(1, 1000, 100), "offset": whole(0, 2**31, 0)},
    ),
    Operation(
        "GET",
        "/api/notes/{note}",
        "note",
        "One note, by id, title or beginning of its id",
        _note,
        named("Note"),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/history",
        "noteHistory",
        "What was done to a note, newest first",
        _note_history,
        array(named("Commit")),
        {"limit": STEPS},
    ),
    Operation(
        "GET",
        "/api/graph",
        "graph",
        "Every note as a node with its links, without contents",
        _graph,
        shape({"revision": COUNT, "nodes": array(named("Node"))}),
    ),
    Operation(
        "GET",
        "/api/search",
        "search",
        "The notes that a query is about, best first; counts nothing",
        _search,
        array(named("SearchResult")),
        {**FILTERS, "query": QUERY, "limit": whole(1, 100, 5), "why": TRUTH},
        ("query",),
    ),
)
