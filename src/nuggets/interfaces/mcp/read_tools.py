"""Tools that read: recall, search_notes, get_note, list_notes, status, sessions."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Annotated

from nuggets.domain import codec, times
from nuggets.domain.codec import Json
from nuggets.domain.records import (
    MemoryNote,
    MemoryScope,
    MemoryVersion,
    RecallResult,
    SearchNotesResult,
)
from nuggets.filesystem.hook_files import missed_deadlines
from nuggets.interfaces import explain_recognition, json_responses, pluralize
from nuggets.interfaces.json_schemas import some_of
from nuggets.interfaces.mcp.tool_definition import INDEX, ITEMS, READ, Answer, ToolCall, tool
from nuggets.interfaces.prompt_quoting import PREFACE, fence, fence_note, project_name
from nuggets.language.text import one_line
from nuggets.operations.permissions import AT_A_GLANCE
from nuggets.operations.session_notes import is_session_note
from nuggets.search.answer_degree import describe_gaps

LINE = AT_A_GLANCE  # of a note in an index: enough to decide whether to open it
PAGE = 30_000  # characters of a note shown at once: hosts cut an answer at about 25,000 tokens
NOTES_LISTED = 50  # at most, ours; what fits is bounded by `ROOM`
VERSIONS = 20  # of a memory, the newest; together as long as a page

_Note = Annotated[str, "id, exact title, or start of the id"]
_Nugget = Annotated[str, "only this topic"]


@tool(
    "Recall",
    "Ask memory first: before you search files, guess a path, command, convention or decision, "
    "or ask the user something they may have said before. Finds a fact by key (typos are "
    "fine), else the nearest notes; as_of: what was true on a day. found=false and no note "
    "with clearAnswer: not known.",
    some_of({"found": bool, "answer": str, "notes": ITEMS}),
    READ,
)
def _recall(
    call: ToolCall, query: str, nugget: _Nugget | None = None, as_of: str | None = None
) -> Answer:
    if as_of is not None:
        return _recall_version(call, call.shelf.recall(query, nugget, as_of=as_of))
    with call.shelf.snapshot():
        return _recall_in_snapshot(call, query, nugget)


def _recall_version(call: ToolCall, result: RecallResult) -> Answer:
    shape = _first_page(recall_fields(codec.to_json(result)))
    if not result.found:
        return Answer(shape, "Memory does not know what was true then.")
    times = f"valid from {result.valid_from} to {result.valid_until or 'today'}"
    return Answer(shape, f"{PREFACE}\n{fence(f'{one_line(result.answer, LINE)} ({times})')}")


def _recall_in_snapshot(call: ToolCall, query: str, nugget: str | None) -> Answer:
    result, notes = call.shelf.recall_or_search(query, nugget, call.session)
    shape = _first_page(recall_fields(json_responses.recall_result(call.shelf, result)))
    if result.found:
        note = call.shelf.get_note(result.note_id, session=None)
        call.shelf.record_reading(note, 0, len(shape["answer"]))
        doubt = f"; {one_line(result.doubt, LINE)}" if result.doubt else ""
        text = (
            f"Probability {result.probability:.2f} that this is what was meant{doubt}."
            f"\n{PREFACE}\n{_fence(call, note, shape['answer'])}"
        )
        if "nextOffset" in shape:
            text += f"\nThere is more: get_note {note.id} with offset {PAGE}."
        also_matching = [call.shelf.get_note(note_id, session=None) for note_id in result.also]
        if also_matching:
            lines = "\n".join(_line(call, fact) for fact in also_matching)
            text += f"\nOther facts that match the query:\n{fence(lines)}"
        return Answer(shape, text)
    if not notes:
        return Answer(shape, "Not found.")
    index = _index(call, notes)
    shape["notes"] = index.structured["results"]
    if notes[0].clear_answer:
        return Answer(shape, f"No fact of that key, but the first note answers:\n{index.text}")
    return Answer(shape, f"Not found. Nearest notes, maybe on something else:\n{index.text}")


def _first_page(shape: Json) -> Json:
    """The answer as far as it is shown at once."""
    answer = shape.get("answer") or ""
    return {**shape, "answer": answer[:PAGE], "nextOffset": PAGE} if answer[PAGE:] else shape


@tool(
    "Search notes",
    "Find notes by topic, when you start a task or recall found no fact. "
    "Returns an index (id, title, one line), best first; open what matters with get_note.",
    INDEX,
    READ,
)
def _search_notes(
    call: ToolCall,
    query: str,
    limit: int = 8,
    nugget: _Nugget | None = None,
    scope: MemoryScope | None = None,
    type: str | None = None,
    tag: str | None = None,
) -> Answer:
    filters: Json = {"nugget": nugget, "scope": scope, "type": type, "tag": tag}
    results = call.shelf.search_notes(query, limit, session=call.session, **filters)
    index, told = _index(call, results), describe_gaps(results)
    if not told:
        return index
    shape = {
        **index.structured,
        "littleFound": results[0].little_found,
        "knownWords": list(results[0].known_words),
        "unknownWords": list(results[0].unknown_words),
    }
    return Answer(shape, f"{one_line(told, LINE)}\n{index.text}")


def _index(call: ToolCall, results: Sequence[SearchNotesResult]) -> Answer:
    shapes = [
        {**_entry(call, r.note), "relevance": r.relevance, "clearAnswer": r.clear_answer}
        for r in results
    ]
    return _fit(call, [r.note for r in results], shapes, len(results), "narrow the query")


def _fit(
    call: ToolCall, notes: Sequence[MemoryNote], shapes: list[Json], total: int, advice: str
) -> Answer:
    """As many entries as fit, in the text and in the JSON; of `total` the others are counted."""
    lines = [_line(call, note) for note in notes]
    sizes = (
        max(len(line), len(codec.dumps(shape))) for line, shape in zip(lines, shapes, strict=True)
    )
    lines = lines[: room_for(sizes)]
    omitted = total - len(lines)
    structured = {"results": shapes[: len(lines)], "omitted": omitted}
    if not lines:
        return Answer(structured, "Memory has nothing on this.")
    more = [f"{omitted} more did not fit; {advice}."] if omitted else []
    text = "\n".join([PREFACE, fence("\n".join(lines)), *more, "Open one with get_note."])
    return Answer(structured, text)


def _line(call: ToolCall, note: MemoryNote) -> str:
    foreign = call.shelf.is_foreign(note)
    where = f", other project: {project_name(note.project)}" if foreign else ""
    where += ", archived" if note.hidden else ""
    title, line = one_line(note.title, 80), one_line(note.content, LINE)
    source, old = note.source.replace("_", " "), times.age(note.updated_at, call.now)
    where += "".join(f", {caveat}" for caveat in call.shelf.caveats(note))
    return f"{note.id} | {title}: {line} ({source}, {old}{where})"


def _fence(call: ToolCall, note: MemoryNote, text: str) -> str:
    caveats = call.shelf.caveats(note)
    return fence_note(note, text, project=call.shelf.project, now=call.now, caveats=caveats)


@tool(
    "Read a note",
    "Read a whole note and its links, after an index showed that it matters; versions=true "
    "adds what it said before.",
    some_of({"id": str, "content": str}),
    READ,
)
def _get_note(
    call: ToolCall, note: _Note, nugget: str | None = None, offset: int = 0, versions: bool = False
) -> Answer:
    found = call.shelf.get_note(note, nugget, call.session)
    start = max(0, offset)
    page = found.content[start : start + PAGE]
    call.shelf.record_reading(found, start, start + len(page))
    shape = full_note(found._replace(content=page))
    shape.update(json_responses.caveats(call.shelf, found))
    links = found.links[:MOST_LINKS]
    around = [f"tags: {', '.join(found.tags)}"]
    around += [f"linked to {link.to}: {one_line(link.reason, LINE)}" for link in links]
    around += [f"and {shape['omittedLinks']} more links"] if "omittedLinks" in shape else []
    lines = [PREFACE, _fence(call, found, "\n".join([page, "", *around]))]
    if start + PAGE < len(found.content):
        shape["nextOffset"] = start + PAGE
        lines.append(f"There is more: get_note with offset {start + PAGE}.")
    if versions:
        last = call.shelf.versions(found.id)[: -VERSIONS - 1 : -1]
        shape["versions"] = json_responses.shape_of([*map(_shorten, last)])
        past = "\n".join(map(_past, last))
        lines += ["What it said before, newest first:", fence(past)]
    if found.hidden and not is_session_note(found):
        lines.append("This note is archived; edit_note with hidden=false brings it back.")
    return Answer(shape, "\n".join(lines))


def _shorten(version: MemoryVersion) -> MemoryVersion:
    """All versions together take as much room as one page."""
    content = version.note.content[: PAGE // VERSIONS]
    return version._replace(note=version.note._replace(content=content))


def _past(version: MemoryVersion) -> str:
    times = f"{version.valid_from} to {version.valid_until or 'today'}"
    return f"{times}: {one_line(version.note.content, LINE)}"


@tool("List notes", "List notes by filter, newest first.", INDEX, READ)
def _list_notes(
    call: ToolCall,
    nugget: str | None = None,
    tag: str | None = None,
    scope: MemoryScope | None = None,
    include_hidden: bool = False,
    limit: int = 20,
) -> Answer:
    notes = list(
        call.shelf.list_notes(nugget=nugget, tag=tag, scope=scope, include_hidden=include_hidden)
    )
    notes.sort(key=lambda note: note.updated_at, reverse=True)
    notes.sort(key=call.shelf.is_foreign)
    listed = notes[: max(1, min(limit, NOTES_LISTED))]
    shapes = [_entry(call, note) for note in listed]
    advice = "filter by nugget, tag or scope, or raise limit"
    return _fit(call, listed, shapes, len(notes), advice)


@tool(
    "Memory status",
    "See which nuggets exist, how full they are and your project, before you choose one.",
    some_of({"nuggets": ITEMS, "project": str}),
    READ,
)
def _status(call: ToolCall, nugget: str | None = None) -> Answer:
    shelf = call.shelf
    statuses = list(shelf.list()) if nugget is None else [shelf.status(nugget)]
    missed = missed_deadlines(shelf.settings["dir"])
    lines = [f"Current project: {project_name(shelf.project)}."]
    for status in statuses:
        counts = f"{pluralize(status.fact_count, 'fact')}, {pluralize(status.note_count, 'note')}"
        warning = f" ({status.capacity_warning})" if status.capacity_warning else ""
        lines.append(f"{status.name}: {counts}{warning}")
    if missed:
        lines.append(
            f"Hooks missed their deadline {pluralize(missed, 'time')}; see `nuggets doctor`."
        )
    warnings = json_responses.warnings(shelf)
    lines += [f"Warning, tell the user: {warning}." for warning in warnings]
    if shelf.recognition is not None:
        lines.append(f"Tell the user: {explain_recognition(shelf.recognition)}")
    shape = {
        "nuggets": [status._asdict() for status in statuses],
        "project": shelf.project,
        "session": call.session,
        "missedDeadlines": missed,
        "exports": codec.to_json(shelf.exports_status()),
        "warnings": warnings,
    }
    return Answer(shape, "\n".join(lines))


# --- notes of sessions with agents: list, show, search -----------------------------------------


SESSIONS_LISTED = 10  # unless more are asked for; what fits is bounded by `ROOM`
SESSION_TITLE = 100  # characters: a title made by a hook has a date and 80 of the goal
NO_SESSION = (
    "There is no note of such a session here. Hooks write them; all=true asks for every project."
)


@tool(
    "Earlier sessions",
    "See what earlier sessions with any agent in this project were about (goal, decisions, "
    "open points), when the user asks where you were or to continue something.",
    INDEX,
    READ,
)
def _sessions(
    call: ToolCall,
    query: str | None = None,
    session: Annotated[str, "id: only this one"] | None = None,
    all: Annotated[bool, "of all projects"] = False,
    limit: int = SESSIONS_LISTED,
) -> Answer:
    limit = max(1, limit)
    if session is not None:
        return _session_answer(call, [call.shelf.get_session(session)], 1)
    if query is not None:
        found = call.shelf.search_sessions(query, limit, all_projects=all)
        return _session_answer(call, [result.note for result in found], len(found))
    notes = call.shelf.sessions(all_projects=all)
    return _session_answer(call, notes[:limit], len(notes))


def _session_answer(call: ToolCall, notes: Sequence[MemoryNote], total: int) -> Answer:
    """The first session whole, of the others the titles, as many as fit."""
    if not notes:
        return Answer({"results": [], "omitted": 0}, NO_SESSION)
    shapes = [_session(call, note, is_whole=not i) for i, note in enumerate(notes)]
    shapes = shapes[: room_for(len(codec.dumps(shape)) for shape in shapes)]
    omitted = total - len(shapes)
    first, *others = notes[: len(shapes)]
    lines = [PREFACE, fence_note(first, first.content, project=call.shelf.project, now=call.now)]
    if others:
        lines += ["Others:", fence("\n".join(_session_line(call, note) for note in others))]
        lines.append("Read one of them: sessions with session=its id.")
    if omitted:
        lines.append(f"{omitted} more: ask with a query, or raise limit.")
    return Answer({"results": shapes, "omitted": omitted}, "\n".join(lines))


def _session_line(call: ToolCall, note: MemoryNote) -> str:
    where = f", {project_name(note.project)}" if call.shelf.is_foreign(note) else ""
    title, age = one_line(note.title, SESSION_TITLE), times.age(note.updated_at, call.now)
    return f"{note.id} | {title} ({age}{where})"


# --- which fields a model gets, and how many entries ----------------------------------------------
#
# Those that help it, under their documented names. Some hosts give a model the JSON and not the
# text, so every field costs tokens at every call.


ROOM = 4800  # characters of an index, about 1,200 tokens, as documented
MOST_LINKS = 20  # of a note: ours, a line each; the note says how many more there are

_NAME_FIELDS = ("id", "title")  # an id begins with the nugget
_TRUST_FIELDS = ("source", "updatedAt")  # source and age
_RECALL_FIELDS = (
    *("found", "answer", "probability", "missing", "doubt", "key", "nugget", "match", "ratio"),
    *("confidence", "margin", "validFrom", "validUntil", "caveats"),
)
_INTERNAL = (  # of no use to a model
    *("hitSessions", "lastHitSession", "lastInspectedAt", "anchors", "stabilityGiven"),
)


def pick(shape: Json, names: Iterable[str]) -> Json:
    """Only these fields of a shape."""
    return {name: shape[name] for name in names if name in shape}


def _entry(call: ToolCall, note: MemoryNote) -> Json:
    """A note in an index: the beginning of its text, its source and age."""
    foreign = call.shelf.is_foreign(note)
    extra = ["project"] * foreign + ["hidden"] * note.hidden
    shape = pick(
        codec.note_to_json(note, vector=False), (*_NAME_FIELDS, "content", *_TRUST_FIELDS, *extra)
    )
    shape["content"] = one_line(note.content, LINE)
    return {"note": shape, "foreign": foreign, **json_responses.caveats(call.shelf, note)}


def _session(call: ToolCall, note: MemoryNote, *, is_whole: bool) -> Json:
    """The note of a session in a list of them: its title, when it ended, and its text if asked."""
    foreign = call.shelf.is_foreign(note)
    names = [*_NAME_FIELDS, "updatedAt", *["content"] * is_whole, *["project"] * foreign]
    return {"note": pick(codec.note_to_json(note, vector=False), names), "foreign": foreign}


def recall_fields(shape: Json) -> Json:
    """The answer of a recall, with the note's id to open it by."""
    answer = pick(shape, _RECALL_FIELDS)
    if "note" not in shape:
        return answer
    answer["note"] = pick(shape["note"], ("id", *_TRUST_FIELDS, "project"))
    if "also" in shape:
        answer["also"] = [pick(note, _NAME_FIELDS) for note in shape["also"]]
    return answer


def full_note(note: MemoryNote) -> Json:
    """All of a note; links that are left out are counted."""
    shape = codec.note_to_json(note, vector=False)
    for name in _INTERNAL:
        shape.pop(name, None)
    shape["links"] = [pick(link, ("to", "reason")) for link in shape["links"][:MOST_LINKS]]
    more = len(note.links) - MOST_LINKS
    return {**shape, "omittedLinks": more} if more > 0 else shape


def room_for(sizes: Iterable[int]) -> int:
    """How many entries of these sizes fit into an index: at least one."""
    return max(1, sum(total <= ROOM for total in accumulate(sizes)))
