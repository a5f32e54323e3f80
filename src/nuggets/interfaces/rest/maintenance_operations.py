"""Operations on the whole shelf: history, undo, reflection, MEMORY.md, activity."""

from collections.abc import Sequence
from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import Limit, Name
from nuggets.domain.records import CommitSummary
from nuggets.errors import InvalidInput, NotFound
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import Default, Parameters, array, nullable, reference, shape
from nuggets.interfaces.rest import events
from nuggets.interfaces.rest.operation_definition import Arguments, Count, Operation, Steps
from nuggets.shelf import NuggetShelf

TEXT_SHOWN = 100_000  # characters of MEMORY.md; hosts load a quarter of that
NOTES_EXPLAINED = 300  # notes, those with most hits first
RECENT_STEPS = 5000  # of the history, for the plot and the list of reflections
REVISIONS = Annotated[str, Limit(1, 4000)]  # those of 200 steps, the most of one answer
SINCE = Annotated[int, Limit(0, 2**53), Default(0)]  # a revision: only what came later


def _history(shelf: NuggetShelf, arguments: Arguments) -> Any:
    steps = shelf.history(limit=arguments["limit"], since=arguments["since"])
    return [events.commit(step) for step in steps]


def _undoable(shelf: NuggetShelf, arguments: Arguments) -> Any:
    numbers = arguments["revisions"].split(",")
    if not all(number.isascii() and number.isdigit() and len(number) < 17 for number in numbers):
        raise InvalidInput("revisions are numbers with commas between them, such as 12,15")
    return {"revisions": sorted(shelf.undoable(map(int, numbers)))}


def _recent_steps(shelf: NuggetShelf, since: int = 0) -> Sequence[CommitSummary]:
    return shelf.commit_summaries(since, RECENT_STEPS)


def _preview(shelf: NuggetShelf, arguments: Arguments) -> Any:
    result = shelf.reflect(arguments.get("nugget"), arguments.get("limit"), dry_run=True)
    return codec.to_json(result)


def _passes(shelf: NuggetShelf, arguments: Arguments) -> Any:
    with shelf.snapshot():
        summaries = [step for step in _recent_steps(shelf) if step.action.startswith("reflect")]
        newest = summaries[::-1][: arguments["limit"]]
        return [events.commit(shelf.commit(step.revision)) for step in newest]


def _promotion(shelf: NuggetShelf, arguments: Arguments) -> Any:
    promote_after = shelf.settings["promote_after"]
    try:
        path = shelf.memory_path()
    except NotFound as problem:  # no memory file: an answer, not an error
        return {
            "problem": str(problem),
            "path": "",
            "text": "",
            "promoteAfter": promote_after,
            "notes": [],
        }
    plan = shelf.promotion(dry_run=True)
    hits = {note.id: note.hits for note in shelf.list_notes(include_hidden=True)}
    return {
        "problem": None,
        "path": path,
        "text": plan.text[:TEXT_SHOWN],
        "promoteAfter": promote_after,
        "notes": [
            {**codec.to_json(why), "hits": hits.get(why.note_id, 0)}
            for why in plan.explanations
            if why.outcome != "out" or hits.get(why.note_id, 0)
        ][:NOTES_EXPLAINED],
    }


def _activity(shelf: NuggetShelf, arguments: Arguments) -> Any:
    with shelf.snapshot():
        activity = events.activity(_recent_steps(shelf, arguments["since"]))
        return {"revision": shelf.revision, **activity}


def _undo(shelf: NuggetShelf, arguments: Arguments) -> Any:
    commit = shelf.undo(arguments.get("revision"))
    kept = None if "revision" in arguments else shelf.changes_in_effect(commit.revision)
    return json_responses.undone_change(events.commit(commit), kept)


def _reflect(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return codec.to_json(shelf.reflect(arguments.get("nugget"), arguments.get("limit")))


def _promote(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return {"promoted": shelf.promote()}  # never to a path from outside: it writes a file


_KEPT = shape({"revision": Count, "at": str, "action": str, "client": str, "noteCount": Count})
_WHY = shape(
    {
        "noteId": str,
        "title": str,
        "outcome": str,
        "reason": str,
        "hits": Count,
        "sessions": array(shape({"session": str, "at": str, "kind": str})),
    }
)
_PROMOTION = shape(
    {
        "problem": nullable(str),
        "path": str,
        "text": str,
        "promoteAfter": Count,
        "notes": array(_WHY),
    },
)

OPERATIONS = (
    Operation(
        "GET",
        "/api/history",
        "history",
        "What was done, newest first",
        _history,
        array(reference("Commit")),
        {"limit": Steps, "since": SINCE},
    ),
    Operation(
        "GET",
        "/api/undoable",
        "undoable",
        "Which of these revisions (`12,15`) can be undone at the moment",
        _undoable,
        shape({"revisions": array(Count)}),
        {"revisions": REVISIONS},
        ("revisions",),
    ),
    Operation(
        "GET",
        "/api/reflection",
        "previewReflection",
        "What the next reflection would do",
        _preview,
        reference("Reflection"),
        {"nugget": Name, "limit": Annotated[int, Limit(1, 1_000_000)]},
    ),
    Operation(
        "GET",
        "/api/reflections",
        "reflections",
        "Past reflections with what they changed, newest first",
        _passes,
        array(reference("Commit")),
        {"limit": Steps},
    ),
    Operation(
        "GET",
        "/api/promotion",
        "promotion",
        "What MEMORY.md contains, what is close to promotion, and why",
        _promotion,
        _PROMOTION,
    ),
    Operation(
        "GET",
        "/api/activity",
        "activity",
        "What was written and recalled lately, oldest first",
        _activity,
        reference("Activity"),
        {"since": SINCE},
    ),
    Operation(
        "POST",
        "/api/undo",
        "undo",
        "Undo a change, by default the page's own last one in its project",
        _undo,
        shape({"undone": reference("Commit"), "kept": array(_KEPT)}, "kept"),
        body=Parameters({"revision": Annotated[int, Limit(1, 2**53)]}),
    ),
    Operation(
        "POST",
        "/api/reflection",
        "reflect",
        "Reflect now",
        _reflect,
        reference("Reflection"),
        body=Parameters({"nugget": Name, "limit": Annotated[int, Limit(1, 1_000_000)]}),
    ),
    Operation(
        "POST",
        "/api/promotion",
        "promote",
        "Promote to MEMORY.md now",
        _promote,
        shape({"promoted": Count}),
        body=Parameters({}),
    ),
)
