"""Operations that look after the shelf: history, undo, clean-up, MEMORY.md, activity."""

from collections.abc import Sequence
from typing import Any

from nuggets import codec
from nuggets.errors import NotFound
from nuggets.interfaces import answers
from nuggets.interfaces.rest import views
from nuggets.interfaces.rest.operation import (
    NAME,
    TEXT,
    Given,
    Operation,
    array,
    closed,
    named,
    or_null,
    shape,
    whole,
)
from nuggets.interfaces.rest.shapes import COUNT, STEPS
from nuggets.records import Commit
from nuggets.shelf import NuggetShelf

TEXT_SHOWN = 100_000  # characters of MEMORY.md; hosts load a quarter of that
EXPLAINED = 300  # notes, those with most hits first
LOOKED_AT = 5000  # steps of the history that a plot, or the list of clean-ups, is made from


def _history(shelf: NuggetShelf, given: Given) -> Any:
    return [views.commit(step) for step in shelf.history(limit=given["limit"])]


def _recent(shelf: NuggetShelf) -> Sequence[Commit]:
    return shelf.commits(since=max(0, shelf.revision - LOOKED_AT))


def _preview(shelf: NuggetShelf, given: Given) -> Any:
    result = shelf.reflect(given.get("nugget"), given.get("limit"), dry_run=True)
    return codec.reflection_to_json(result)


def _passes(shelf: NuggetShelf, given: Given) -> Any:
    steps = [step for step in _recent(shelf) if step.changes.action.startswith("reflect")]
    return [views.commit(step) for step in steps[::-1][: given["limit"]]]


def _promotion(shelf: NuggetShelf, given: Given) -> Any:
    try:
        path = shelf.memory_path()
    except NotFound as problem:  # no memory file here: that is worth showing, not a failure
        return {"problem": str(problem), "path": "", "text": "", "notes": []}
    planned = shelf.promotion(dry_run=True)
    hits = {note.id: note.hits for note in shelf.list_notes(include_hidden=True)}
    return {
        "problem": None,
        "path": path,
        "text": planned.text[:TEXT_SHOWN],
        "notes": [
            {**answers.plain(why), "hits": hits.get(why.note_id, 0)}
            for why in planned.explanations
            if why.outcome != "out" or hits.get(why.note_id, 0)
        ][:EXPLAINED],
    }


def _activity(shelf: NuggetShelf, given: Given) -> Any:
    return views.activity(_recent(shelf))


def _undo(shelf: NuggetShelf, given: Given) -> Any:
    return {"undone": views.commit(shelf.undo(given.get("revision")))}


def _reflect(shelf: NuggetShelf, given: Given) -> Any:
    return codec.reflection_to_json(shelf.reflect(given.get("nugget"), given.get("limit")))


def _promote(shelf: NuggetShelf, given: Given) -> Any:
    return {"promoted": shelf.promote()}  # never to a path from outside: it writes a file


_WHY = shape({"noteId": TEXT, "title": TEXT, "outcome": TEXT, "reason": TEXT, "hits": COUNT})
_PROMOTION = shape(
    {"problem": or_null(TEXT), "path": TEXT, "text": TEXT, "notes": array(_WHY)},
)

OPERATIONS = (
    Operation(
        "GET",
        "/api/history",
        "history",
        "What was done, newest first",
        _history,
        array(named("Commit")),
        {"limit": STEPS},
    ),
    Operation(
        "GET",
        "/api/reflection",
        "previewReflection",
        "What the next clean-up would do",
        _preview,
        named("Reflection"),
        {"nugget": NAME, "limit": whole(1, 1_000_000)},
    ),
    Operation(
        "GET",
        "/api/reflections",
        "reflections",
        "Past clean-ups with what they changed, newest first",
        _passes,
        array(named("Commit")),
        {"limit": STEPS},
    ),
    Operation(
        "GET",
        "/api/promotion",
        "promotion",
        "What stands in MEMORY.md, what is close to it, and why",
        _promotion,
        _PROMOTION,
    ),
    Operation(
        "GET",
        "/api/activity",
        "activity",
        "What was written and recalled lately, oldest first",
        _activity,
        named("Activity"),
    ),
    Operation(
        "POST",
        "/api/undo",
        "undo",
        "Take a change back, by default the last one",
        _undo,
        shape({"undone": named("Commit")}),
        body=closed({"revision": whole(1, 2**53)}),
    ),
    Operation(
        "POST",
        "/api/reflection",
        "reflect",
        "Clean up now",
        _reflect,
        named("Reflection"),
        body=closed({"nugget": NAME, "limit": whole(1, 1_000_000)}),
    ),
    Operation(
        "POST",
        "/api/promotion",
        "promote",
        "Write what sticks to MEMORY.md now",
        _promote,
        shape({"promoted": COUNT}),
        body=closed({}),
    ),
)
