"""Tools that write: remember, forget, create_note, edit_note, add_link, merge_notes."""

from typing import Annotated, Literal

from nuggets.domain.codec import Json
from nuggets.domain.names_and_tags import DEFAULT_NUGGET
from nuggets.domain.records import MemoryScope, MemoryStability, MemoryType, WrittenNote
from nuggets.errors import Conflict, InvalidInput
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import Parameters, some_of
from nuggets.interfaces.mcp.tool_definition import (
    ADD,
    CHANGE,
    HEAD,
    Answer,
    Tool,
    ToolCall,
    receipt,
    valid_in,
)
from nuggets.interfaces.prompt_quoting import fence
from nuggets.language.text import one_line

NEAR_SEARCHED, NEAR_NAMED = 6, 2
NEAR_STATED = 0.5  # share of the new title that a near memory says
_NOTE = Annotated[str, "id or exact title"]
_NUGGET = Annotated[str, "topic, e.g. project, prefs, learnings; created if new"]
_SOURCE = Literal["agent_reflection", "explicit_user"]  # the instructions say what they mean
_META = {"scope": MemoryScope, "stability": MemoryStability, "source": _SOURCE}
_VALIDITY = {"valid_until": str, "supersedes": str}


def _remember(call: ToolCall, arguments: Json) -> Answer:
    fact = call.shelf.remember(
        arguments.pop("nugget"), arguments.pop("key"), arguments.pop("value"), **arguments
    )
    answer = receipt("Remembered", fact)
    if fact.replaced_content is None:
        return _with_near(call, fact, answer) if fact.is_new else answer
    was = one_line(fact.replaced_content, 200)
    return Answer(
        {**answer.structured, **json_responses.replaced_value(was)},
        f"{answer.text} It was:\n{fence(was)}",
    )


def _with_near(call: ToolCall, note: WrittenNote, answer: Answer) -> Answer:
    """The answer with what is stored on the same, which the new memory may replace."""
    if note.contradicts:
        return answer  # it says so already
    results = call.shelf.search_notes(note.title, NEAR_SEARCHED, session=None)
    near = [
        result.note
        for result in results
        if result.note.id != note.id
        and result.stated >= NEAR_STATED
        and result.note.stability != "temporary"
        and not call.shelf.is_foreign(result.note)
    ][:NEAR_NAMED]
    if not near:
        return answer
    lines = (f"{other.id}: {one_line(other.content, 120)}" for other in near)
    return Answer(
        {**answer.structured, "near": [other.id for other in near]},
        f"{answer.text} Near it in memory; if the new one replaces one of them, call edit_note on "
        f"{note.id} with supersedes:\n" + fence("\n".join(lines)),
    )


def _forget(call: ToolCall, arguments: Json) -> Answer:
    try:
        gone = call.shelf.forget(arguments["nugget"], arguments["key"])
    except Conflict as problem:
        raise Conflict(f"{problem} (edit_note with hidden=true)") from None
    shape = json_responses.forget_result(arguments["nugget"], int(gone), arguments["key"])
    if gone:
        return Answer(shape, f"Forgot this key of nugget {arguments['nugget']}.")
    return Answer(shape, f"Nothing forgotten: nugget {arguments['nugget']} has no such key.")


def _create(call: ToolCall, arguments: Json) -> Answer:
    nugget, title, content = (
        arguments.pop("nugget", DEFAULT_NUGGET),
        arguments.pop("title"),
        arguments.pop("content"),
    )
    note = call.shelf.create_note(nugget, title, content, arguments.pop("tags", ()), **arguments)
    if not note.is_new:
        return receipt("Already stored:", note)
    answer = receipt("Noted", note)
    namesakes = [namesake.id for namesake in call.shelf.namesakes(note)]
    if not namesakes:
        return _with_near(call, note, answer)
    hint = f"{namesakes[0]} has the same title: name each by its id, or edit one."
    return Answer({**answer.structured, "namesakes": namesakes}, f"{answer.text} {hint}")


def _edit(call: ToolCall, arguments: Json) -> Answer:
    name = arguments.pop("note")
    if not arguments:
        raise InvalidInput("name what to change: content, title, tags, hidden or metadata")
    note = call.shelf.edit_note(name, **arguments)
    was_hidden = note.replaced is not None and note.replaced.hidden
    back = "Restored" if was_hidden else "Changed"
    return receipt("Archived" if note.hidden else back, note)


def _link(call: ToolCall, arguments: Json) -> Answer:
    a, b, reason = arguments["a"], arguments["b"], arguments.get("reason", "")
    added = call.shelf.add_link(a, b, reason)
    shape = json_responses.link_result(call.shelf, a, b, added)
    verb = "Linked" if added else "Already linked:"
    places = " and ".join(
        f"{end['id']} (nugget {end['nuggetName']}, scope {end['scope']}, "
        f"valid {valid_in(end['project'])})"
        for end in shape["notes"]
    )
    return Answer(shape, f"{verb} {places}.")


def _merge(call: ToolCall, arguments: Json) -> Answer:
    note = call.shelf.merge_notes(
        arguments["target"], arguments["source"], arguments.get("reason", "")
    )
    return receipt("Merged into", note)


TOOLS = (
    Tool(
        "remember",
        "Remember a fact",
        "Store one short fact under a key you will ask for again: as soon as you learn a file "
        "location, command, convention or preference that the next session would need. A known "
        "key gets the new value. Longer than a sentence: create_note.",
        Parameters(
            {
                "nugget": _NUGGET,
                "key": Annotated[str, "what you will ask for, e.g. test cmd"],
                "value": str,
                **_META,
                "valid_until": str,
            },
            ("nugget", "key", "value"),
        ),
        HEAD,
        CHANGE._replace(destructive=False),
        _remember,
    ),
    Tool(
        "forget",
        "Forget a fact",
        "Delete a fact when it is wrong or the user asks. Exact key only.",
        Parameters({"nugget": str, "key": str}, ("nugget", "key")),
        some_of({"forgotten": int}),
        CHANGE,
        _forget,
    ),
    Tool(
        "create_note",
        "Write a note",
        "Store what needs more than a sentence: a decision and its reason, how a part works, a "
        "lesson from a bug. One idea per note; search_notes first and edit what exists.",
        Parameters(
            {
                "nugget": _NUGGET,
                "title": str,
                "content": str,
                "tags": tuple[str, ...],
                **_META,
                "type": MemoryType,
            },
            ("title", "content"),
        ),
        HEAD,
        ADD,
        _create,
    ),
    Tool(
        "edit_note",
        "Change a note",
        "Correct or extend a note or fact when what it says has changed; hidden=true archives "
        "it, hidden=false brings it back. Give the whole new content: get_note first.",
        Parameters(
            {
                "note": _NOTE,
                "content": str,
                "title": str,
                "tags": tuple[str, ...],
                "hidden": bool,
                "scope": MemoryScope,
                "source": _SOURCE,
                **_VALIDITY,
            },
            ("note",),
        ),
        HEAD,
        CHANGE,
        _edit,
    ),
    Tool(
        "add_link",
        "Link two notes",
        "Connect two notes when one helps to understand the other; say why.",
        Parameters({"a": _NOTE, "b": _NOTE, "reason": str}, ("a", "b")),
        some_of({"added": bool}),
        ADD._replace(idempotent=True),
        _link,
    ),
    Tool(
        "merge_notes",
        "Merge two notes",
        "Unite two notes that say the same; the source, never a fact, is archived with a link.",
        Parameters({"target": _NOTE, "source": _NOTE, "reason": str}, ("target", "source")),
        HEAD,
        CHANGE,
        _merge,
    ),
)
