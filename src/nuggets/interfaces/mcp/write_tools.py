"""Tools that write: remember, forget, create_note, edit_note, add_link, merge_notes; and those for
the whole memory: reflect_and_clean_memory, undo, promote."""

import sys
from collections.abc import Iterator
from typing import Annotated, Literal

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.names_and_tags import DEFAULT_NUGGET
from nuggets.domain.records import (
    Commit,
    MemoryNote,
    MemoryScope,
    MemoryStability,
    MemoryType,
    WrittenNote,
)
from nuggets.errors import Conflict, InvalidInput, NotFound
from nuggets.interfaces import (
    cautions,
    json_responses,
    pluralize,
    summarize_clean_up,
    where_valid,
)
from nuggets.interfaces.json_schemas import some_of
from nuggets.interfaces.mcp.read_tools import NOTES_LISTED, room_for
from nuggets.interfaces.mcp.tool_definition import (
    ADD,
    ADD_ONCE,
    CHANGE,
    HEAD,
    ITEMS,
    TIDY,
    UNDO,
    Answer,
    ToolCall,
    tool,
)
from nuggets.interfaces.prompt_quoting import fence, project_name
from nuggets.language.text import one_line
from nuggets.maintenance.undo import last_to_undo

# Ours: what is found besides the note itself, and what a receipt has room for.
NEAR_SEARCHED, NEAR_NAMED = 6, 2
NEAR_STATED = 0.5  # share of the new title that a near memory says
_Note = Annotated[str, "id or exact title"]
_Nugget = Annotated[str, "topic, e.g. project, prefs, learnings; created if new"]
_Source = Literal["agent_reflection", "explicit_user"]  # the instructions say what they mean


@tool(
    "Remember a fact",
    "Store one short fact under a key you will ask for again: as soon as you learn a file "
    "location, command, convention or preference that the next session would need. A known "
    "key gets the new value. Longer than a sentence: create_note.",
    HEAD,
    ADD_ONCE,
)
def _remember(
    call: ToolCall,
    nugget: _Nugget,
    key: Annotated[str, "what you will ask for, e.g. test cmd"],
    value: str,
    scope: MemoryScope | None = None,
    stability: MemoryStability | None = None,
    source: _Source | None = None,
    valid_until: str | None = None,
) -> Answer:
    given: Json = {"scope": scope, "stability": stability, "source": source}
    fact = call.shelf.remember(nugget, key, value, valid_until=valid_until, **given)
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


@tool(
    "Forget a fact",
    "Delete a fact when it is wrong or the user asks. Exact key only.",
    some_of({"forgotten": int}),
    CHANGE,
)
def _forget(call: ToolCall, nugget: str, key: str) -> Answer:
    try:
        gone = call.shelf.forget(nugget, key)
    except Conflict as problem:
        raise Conflict(f"{problem} (edit_note with hidden=true)") from None
    shape = json_responses.forget_result(nugget, int(gone), key)
    if gone:
        return Answer(shape, f"Forgot this key of nugget {nugget}.")
    return Answer(shape, f"Nothing forgotten: nugget {nugget} has no such key.")


@tool(
    "Write a note",
    "Store what needs more than a sentence: a decision and its reason, how a part works, a "
    "lesson from a bug. One idea per note; search_notes first and edit what exists.",
    HEAD,
    ADD,
)
def _create_note(
    call: ToolCall,
    title: str,
    content: str,
    nugget: _Nugget = DEFAULT_NUGGET,
    tags: tuple[str, ...] = (),
    scope: MemoryScope | None = None,
    stability: MemoryStability | None = None,
    source: _Source | None = None,
    type: MemoryType | None = None,
) -> Answer:
    given: Json = {"scope": scope, "stability": stability, "source": source, "type": type}
    note = call.shelf.create_note(nugget, title, content, tags, **given)
    if not note.is_new:
        done = "Already stored, with other metadata now:" if note.replaced else "Already stored:"
        return receipt(done, note)
    answer = receipt("Noted", note)
    titled = call.shelf.notes_titled(note.title)
    namesakes = [other.id for other in titled if other.id != note.id]
    if not namesakes:
        return _with_near(call, note, answer)
    hint = f"{namesakes[0]} has the same title: name each by its id, or edit one."
    return Answer({**answer.structured, "namesakes": namesakes}, f"{answer.text} {hint}")


@tool(
    "Change a note",
    "Correct or extend a note or fact when what it says has changed; hidden=true archives "
    "it, hidden=false brings it back. Give the whole new content: get_note first.",
    HEAD,
    CHANGE,
)
def _edit_note(
    call: ToolCall,
    note: _Note,
    content: str | None = None,
    title: str | None = None,
    tags: tuple[str, ...] | None = None,
    hidden: bool | None = None,
    scope: MemoryScope | None = None,
    stability: MemoryStability | None = None,
    source: _Source | None = None,
    type: MemoryType | None = None,
    valid_until: str | None = None,
    supersedes: str | None = None,
) -> Answer:
    text = {"content": content, "title": title, "tags": tags, "hidden": hidden}
    meta: Json = {"scope": scope, "stability": stability, "source": source, "type": type}
    times: Json = {"valid_until": valid_until, "supersedes": supersedes}
    changes: Json = {k: v for k, v in {**text, **meta, **times}.items() if v is not None}
    if not changes:
        raise InvalidInput("name what to change: content, title, tags, hidden or metadata")
    after = call.shelf.edit_note(note, **changes)
    if hidden is not None:
        return receipt("Archived" if hidden else "Restored", after)
    return receipt(
        "Changed what is archived (hidden=false restores it):" if after.hidden else "Changed", after
    )


@tool(
    "Link two notes",
    "Connect two notes when one helps to understand the other; say why.",
    some_of({"added": bool}),
    ADD_ONCE,
)
def _add_link(call: ToolCall, a: _Note, b: _Note, reason: str = "") -> Answer:
    added = call.shelf.add_link(a, b, reason)
    ends = [call.shelf.get_note(name, session=None) for name in (a, b)]
    shape = {"added": added, "notes": [json_responses.brief(end) for end in ends]}
    verb = "Linked" if added else "Already linked:"
    places = " and ".join(
        f"{end.id} (nugget {end.nugget_name}, scope {end.scope}, valid {where_valid(end)})"
        for end in ends
    )
    return Answer(shape, f"{verb} {places}.")


@tool(
    "Merge two notes",
    "Unite two notes that say the same; the source, never a fact, is archived.",
    HEAD,
    CHANGE,
)
def _merge_notes(call: ToolCall, target: _Note, source: str, reason: str = "") -> Answer:
    return receipt("Merged into", call.shelf.merge_notes(target, source, reason))


# --- the whole memory: clean-up, undo, promotion --------------------------------------------------


NOTES_NAMED = 5  # notes of an undone change: ours, a few words each


@tool(
    "Reflect and clean up",
    "Tidy memory (merge near-duplicates, tag, link, archive rubbish) when the user asks or "
    "after a long session; it runs daily anyway. dry_run shows the plan.",
    some_of({"inspected": int, "changes": ITEMS}),
    TIDY,
)
def _reflect_and_clean_memory(
    call: ToolCall, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
) -> Answer:
    result = call.shelf.reflect(nugget, limit, dry_run=dry_run)
    verb = "Would change" if dry_run else "Changed"
    tail = ""
    if result.changes and not dry_run:
        tail = f" Nothing was deleted; `nuggets undo {call.shelf.own_revision}` reverts it."
    inspected = pluralize(result.inspected, "note")
    shape = codec.to_json(result)
    fitting = room_for(len(codec.dumps(change)) for change in shape["changes"])
    shape["omitted"] = len(shape["changes"][fitting:])
    shape["changes"] = shape["changes"][:fitting]
    return Answer(shape, f"Inspected {inspected}. {verb}: {summarize_clean_up(result)}.{tail}")


@tool(
    "Undo a change",
    "Undo your last change, or that of a revision, when it was a mistake.",
    some_of({"revision": int}),
    UNDO,
)
def _undo(call: ToolCall, revision: int | None = None) -> Answer:
    commit = call.shelf.undo(_own_last(call) if revision is None else revision)
    ids = [note.id for note in commit.changes.put] + list(commit.changes.drop)
    shape = {
        "revision": commit.revision,
        "action": commit.changes.action,
        "notes": ids[:NOTES_LISTED],
        "left": codec.to_json(commit.left[:NOTES_LISTED]),
    }
    text = f"Undone: {commit.changes.action} (revision {commit.revision})."
    return Answer(shape, "\n".join([text, *map(fence, _note_outcomes(commit))]))


def _own_last(call: ToolCall) -> int:
    """The last revision that this conversation wrote; others may have written later ones."""
    first = min(call.written, default=sys.maxsize)  # nothing before it needs to be read
    commits = call.shelf.history(limit=sys.maxsize, since=first - 1)
    own = last_to_undo(commits, lambda commit: commit.revision in call.written)
    if own is None:
        raise NotFound(
            "this session has no change to undo; to undo a change of another one, "
            "name its revision (`nuggets history` lists them)"
        )
    return own.revision


def _note_outcomes(commit: Commit) -> Iterator[str]:
    """The state of each note after the undo, as one text, and which were left, as another."""
    before = {note.id for note in commit.before.put}
    after = {note.id for note in commit.changes.put}
    outcomes = [(n, "as before" if n.id in before else "gone") for n in commit.changes.put]
    outcomes += [(note, "back") for note in commit.before.put if note.id not in after]
    left = [(note, f"left as it is now: {note.reason}") for note in commit.left]
    for part in (outcomes, left):
        words = [f"{note.title!r:.80} is {what}" for note, what in part[:NOTES_NAMED]]
        words += [f"and {len(part) - NOTES_NAMED} more"] if len(part) > NOTES_NAMED else []
        if words:
            yield ", ".join(words)


@tool(
    "Promote to MEMORY.md",
    "Write what was recalled often to MEMORY.md, when the user asks.",
    some_of({"promoted": int}),
    ADD_ONCE,
)
def _promote(call: ToolCall, dry_run: bool = False) -> Answer:
    count = call.shelf.promote(dry_run=dry_run)
    where = project_name(call.shelf.project)
    return Answer(
        {"promoted": count, "project": call.shelf.project},
        f"{pluralize(count, 'new entry', 'new entries')} for MEMORY.md of {where}.",
    )


# --- receipts -------------------------------------------------------------------------------------


def receipt(verb: str, note: MemoryNote) -> Answer:
    """The answer to a write: where the memory was stored and its source. Not its title, which may
    be hostile text."""
    text = (
        f"{verb} {note.id} in nugget {note.nugget_name}, scope {note.scope}, {note.stability}, "
        f"source {note.source}, valid {where_valid(note)}."
    )
    text += "".join(f" Caution: {caution}." for caution in cautions(note))
    if not isinstance(note, WrittenNote) or not note.contradicts:
        return Answer(json_responses.brief(note), text)
    lines = (f"{other.id}: {one_line(other.content, 200)}" for other in note.contradicts)
    return Answer(
        {**json_responses.brief(note), **json_responses.contradictions(note)},
        f"{text} It contradicts what is stored; both stand. If only the new one holds, call "
        f"edit_note on {note.id} with supersedes:\n" + fence("\n".join(lines)),
    )
