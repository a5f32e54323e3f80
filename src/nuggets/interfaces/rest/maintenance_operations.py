"""Operations on the whole shelf: history, undo, reflection, MEMORY.md, activity."""

from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import Limit, Name
from nuggets.errors import InvalidInput, NotFound
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import array, reference
from nuggets.interfaces.rest import events
from nuggets.interfaces.rest.operation_definition import ANSWER, Count, Steps, operation
from nuggets.shelf import NuggetShelf

TEXT_SHOWN = 100_000  # characters of MEMORY.md; hosts load a quarter of that
NOTES_EXPLAINED = 300  # notes, those with most hits first
RECENT_STEPS = 5000  # of the history, for the plot and the list of reflections
Revisions = Annotated[str, Limit(1, 4000)]  # those of 200 steps, the most of one answer
Notes = Annotated[int, Limit(1, 1_000_000)]


@operation("GET", "/api/history", "What was done, newest first", array(ANSWER))
def _history(shelf: NuggetShelf, limit: Steps = 20, since: Count = 0) -> Any:
    return [events.commit(step) for step in shelf.history(limit=limit, since=since)]


@operation("GET", "/api/undoable", "Which of these revisions (`12,15`) can be undone at the moment")
def _undoable(shelf: NuggetShelf, revisions: Revisions) -> Any:
    numbers = revisions.split(",")
    if not all(number.isascii() and number.isdigit() and len(number) < 17 for number in numbers):
        raise InvalidInput("revisions are numbers with commas between them, such as 12,15")
    return {"revisions": sorted(shelf.undoable(map(int, numbers)))}


@operation("POST", "/api/undo", "Undo a change, by default the page's own last one in its project")
def _undo(shelf: NuggetShelf, revision: Annotated[int, Limit(1, 2**53)] | None = None) -> Any:
    commit = shelf.undo(revision)
    kept = shelf.changes_in_effect(commit.revision) if revision is None else None
    return json_responses.undone_change(events.commit(commit), commit.left, kept)


@operation("GET", "/api/reflection", "What the next reflection would do", reference("Reflection"))
def _preview_reflection(
    shelf: NuggetShelf, nugget: Name | None = None, limit: Notes | None = None
) -> Any:
    return codec.to_json(shelf.reflect(nugget, limit, dry_run=True))


@operation("POST", "/api/reflection", "Reflect now", reference("Reflection"))
def _reflect(shelf: NuggetShelf, nugget: Name | None = None, limit: Notes | None = None) -> Any:
    return codec.to_json(shelf.reflect(nugget, limit))


@operation(
    "GET",
    "/api/reflections",
    "Past reflections with what they changed, newest first",
    array(ANSWER),
)
def _reflections(shelf: NuggetShelf, limit: Steps = 20) -> Any:
    with shelf.snapshot():
        steps = shelf.commit_summaries(0, RECENT_STEPS)
        passes = [step.revision for step in steps if step.action.startswith("reflect")]
        return [events.commit(shelf.commit(revision)) for revision in passes[::-1][:limit]]


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


@operation("POST", "/api/promotion", "Promote to MEMORY.md now")
def _promote(shelf: NuggetShelf) -> Any:
    return {"promoted": shelf.promote()}  # never to a path from outside: it writes a file


@operation("GET", "/api/activity", "What was written and recalled lately, oldest first")
def _activity(shelf: NuggetShelf, since: Count = 0) -> Any:
    with shelf.snapshot():
        activity = events.activity(shelf.commit_summaries(since, RECENT_STEPS))
        return {"revision": shelf.revision, **activity}
