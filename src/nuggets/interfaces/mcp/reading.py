"""Tools that look: recall, search_notes, get_note, list_notes, status."""

from collections.abc import Iterable

from nuggets import codec
from nuggets.interfaces import answers
from nuggets.interfaces.fencing import PREFACE, age, fenced, fenced_note, one_line, project_name
from nuggets.interfaces.mcp import fields
from nuggets.interfaces.mcp.arguments import (
    TEXT,
    TRUTH,
    WHOLE,
    Schema,
    object_schema,
    one_of,
    told,
)
from nuggets.interfaces.mcp.seen import AT_A_GLANCE
from nuggets.interfaces.mcp.tool import READ, Answer, Asked, Json, Tool
from nuggets.interfaces.words import counted
from nuggets.records import SCOPES, MemoryNote, SearchNotesResult
from nuggets.traces import missed_deadlines

LINE = AT_A_GLANCE  # of a note in an index: enough to decide whether to open it
PAGE = 30_000  # characters of a note shown at once: hosts cut an answer at about 25,000 tokens
LISTED = 50

_ITEMS: Schema = {"type": "array", "items": {"type": "object"}}
_INDEX = object_schema({"results": _ITEMS, "omitted": WHOLE}, ("results", "omitted"))
_NOTE = told(TEXT, "id, exact title, or start of the id")
_NUGGET = told(TEXT, "only this topic")


def _recall(asked: Asked, given: Json) -> Answer:
    result, notes = asked.shelf.recall_or_search(given["query"], given.get("nugget"), asked.session)
    shape = fields.recalled(answers.recalled(asked.shelf, result))
    if result.found:
        note = asked.seen.all_of(asked.session, asked.shelf.get_note(result.note_id, session=None))
        text = f"{PREFACE}\n{_shown(asked, note, result.answer)}"
        others = [asked.shelf.get_note(one, session=None) for one in result.also]
        if others:
            lines = "\n".join(_line(asked, other) for other in others)
            text += f"\nOther facts fit the question as well:\n{fenced(lines)}"
        return Answer(shape, text)
    if not notes:
        return Answer(shape, "Nothing is remembered about this.")
    index = _index(asked, notes)
    shape["notes"] = index.structured["results"]
    return Answer(shape, f"No fact of that key, but notes on it:\n{index.text}")


def _search(asked: Asked, given: Json) -> Answer:
    wanted = {name: given[name] for name in ("nugget", "scope", "type", "tag") if name in given}
    limit = given.get("limit", 8)
    return _index(
        asked,
        asked.shelf.search_notes(given["query"], limit, session=asked.session, **wanted),
    )


def _index(asked: Asked, results: Iterable[SearchNotesResult]) -> Answer:
    found = list(results)
    shapes = [{**_entry(asked, r.note), "relevance": r.relevance} for r in found]
    return _within_budget(asked, [r.note for r in found], shapes, len(found), "narrow the query")


def _entry(asked: Asked, note: MemoryNote) -> Json:
    foreign = asked.shelf.is_foreign(note)
    return {"note": fields.indexed(note, foreign), "foreign": foreign}


def _within_budget(
    asked: Asked, notes: list[MemoryNote], shapes: list[Json], total: int, advice: str
) -> Answer:
    """As many as there is room for, as lines and as structure alike; what is left out is counted,
    never silently gone."""
    lines = [_line(asked, note) for note in notes]
    sizes = (max(len(line), len(codec.dumps(one))) for line, one in zip(lines, shapes, strict=True))
    lines = lines[: fields.room_for(sizes)]
    omitted = total - len(lines)
    structured = {"results": shapes[: len(lines)], "omitted": omitted}
    if not lines:
        return Answer(structured, "Nothing is remembered about this.")
    more = [f"{omitted} more did not fit; {advice}."] if omitted else []
    text = "\n".join([PREFACE, fenced("\n".join(lines)), *more, "Open one with get_note."])
    return Answer(structured, text)


def _line(asked: Asked, note: MemoryNote) -> str:
    foreign = asked.shelf.is_foreign(note)
    where = f", other project: {project_name(note.project)}" if foreign else ""
    where += ", archived" if note.hidden else ""
    title, line = one_line(note.title, 80), one_line(note.content, LINE)
    source, old = note.source.replace("_", " "), age(note.updated_at, asked.now)
    return f"{note.id} | {title}: {line} ({source}, {old}{where})"


def _shown(asked: Asked, note: MemoryNote, text: str) -> str:
    return fenced_note(note, text, here=asked.shelf.project, now=asked.now)


def _get(asked: Asked, given: Json) -> Answer:
    note = asked.shelf.get_note(given["note"], given.get("nugget"), asked.session)
    start = max(0, given.get("offset", 0))
    page = note.content[start : start + PAGE]
    asked.seen.read(asked.session, note, start, start + len(page))
    shape = fields.whole(note._replace(content=page))
    links = note.links[: fields.LINKS]
    around = [f"tags: {', '.join(note.tags)}"]
    around += [f"linked to {link.to}: {one_line(link.reason, LINE)}" for link in links]
    around += [f"and {shape['omittedLinks']} more links"] if "omittedLinks" in shape else []
    lines = [PREFACE, _shown(asked, note, "\n".join([page, "", *around]))]
    if start + PAGE < len(note.content):
        shape["nextOffset"] = start + PAGE
        lines.append(f"There is more: get_note with offset {start + PAGE}.")
    if note.hidden:
        lines.append("This note is archived; edit_note with hidden=false brings it back.")
    return Answer(shape, "\n".join(lines))


def _list(asked: Asked, given: Json) -> Answer:
    limit = max(1, min(given.pop("limit", 20), LISTED))
    notes = list(asked.shelf.list_notes(**given))
    notes.sort(key=lambda note: note.updated_at, reverse=True)
    notes.sort(key=asked.shelf.is_foreign)
    shapes = [_entry(asked, note) for note in notes[:limit]]
    return _within_budget(
        asked, notes[:limit], shapes, len(notes), "filter by nugget, tag or scope, or raise limit"
    )


def _status(asked: Asked, given: Json) -> Answer:
    shelf = asked.shelf
    statuses = [shelf.status(given["nugget"])] if "nugget" in given else list(shelf.list())
    missed = missed_deadlines(shelf.settings["dir"])
    lines = [f"Current project: {project_name(shelf.project)}."]
    for status in statuses:
        held = f"{counted(status.fact_count, 'fact')}, {counted(status.note_count, 'note')}"
        warning = f" ({status.capacity_warning})" if status.capacity_warning else ""
        lines.append(f"{status.name}: {held}{warning}")
    if missed:
        lines.append(
            f"Hooks missed their deadline {counted(missed, 'time')}; see `nuggets doctor`."
        )
    lines += [f"Warning, tell the user: {warning}." for warning in shelf.warnings]
    shape = {
        "nuggets": [answers.status(one) for one in statuses],
        "project": shelf.project,
        "session": asked.session,
        "missedDeadlines": missed,
        "exports": answers.exports(shelf.exports_status()),
        "warnings": list(shelf.warnings),
    }
    return Answer(shape, "\n".join(lines))


TOOLS = (
    Tool(
        "recall",
        "Recall",
        "Ask memory first: before you search files, guess a path, command, convention or decision, "
        "or ask the user something they may have said before. Finds a fact by key (typos are "
        "fine), else notes about it. found=false with no notes: memory has nothing.",
        object_schema({"query": TEXT, "nugget": _NUGGET}, ("query",)),
        object_schema({"found": TRUTH, "answer": TEXT, "notes": _ITEMS}, ("found", "answer")),
        READ,
        _recall,
    ),
    Tool(
        "search_notes",
        "Search notes",
        "Find notes by topic, when you start a task or recall found no fact. "
        "Returns an index (id, title, one line), best first; open what matters with get_note.",
        object_schema(
            {
                "query": TEXT,
                "limit": WHOLE,
                "nugget": _NUGGET,
                "scope": one_of(SCOPES),
                "type": TEXT,
                "tag": TEXT,
            },
            ("query",),
        ),
        _INDEX,
        READ,
        _search,
    ),
    Tool(
        "get_note",
        "Read a note",
        "Read a whole note and its links, after an index showed that it matters.",
        object_schema({"note": _NOTE, "nugget": _NUGGET, "offset": WHOLE}, ("note",)),
        object_schema({"id": TEXT, "content": TEXT}, ("id", "content")),
        READ,
        _get,
    ),
    Tool(
        "status",
        "Memory status",
        "See which nuggets exist, how full they are and which project you are in, before you "
        "choose a nugget for something new.",
        object_schema({"nugget": _NUGGET}),
        object_schema({"nuggets": _ITEMS, "project": TEXT}, ("nuggets", "project")),
        READ,
        _status,
    ),
)

MORE_TOOLS = (
    Tool(
        "list_notes",
        "List notes",
        "List notes by filter, newest first, when you want all of a kind.",
        object_schema(
            {
                "nugget": _NUGGET,
                "tag": TEXT,
                "scope": one_of(SCOPES),
                "include_hidden": TRUTH,
                "limit": WHOLE,
            }
        ),
        _INDEX,
        READ,
        _list,
    ),
)
