"""Notes that others wrote as JSON: what a new one lacks is filled in, and the whole is checked; and
the records of other shelves, checked in the same way."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from nuggets.domain.codec import (
    json_fields,
    note_from_json,
    note_to_json,
    nugget_to_json,
)
from nuggets.domain.limits import checked_reason
from nuggets.domain.names_and_tags import (
    DEFAULT_NUGGET,
    checked_nugget_name,
    normal_tags,
    title_from_text,
)
from nuggets.domain.records import (
    DEFAULT_REASON,
    GraphNoteMetaInput,
    MemoryNote,
    NoteLink,
    NuggetConfig,
)
from nuggets.domain.times import normalize_time
from nuggets.errors import InvalidInput
from nuggets.operations.argument_checks import checked_session
from nuggets.operations.metadata_inference import check_metadata
from nuggets.operations.notes_and_links import check_note_limits, new_note, normal_content, note_id
from nuggets.stores.json_validation import check_note, check_savable, nugget_from_json

Json = dict[str, Any]
Record = TypeVar("Record")
META_FIELDS = ("subject", "scope", "type", "source", "confidence", "stability", "project")
OURS = ("vector",)  # grows from the note: what the file says of it is derived from it


def name_note(shape: Json, where: str) -> Json:
    """A new note with a nugget, a title and a content, of which its author may leave out some.

    The nugget is read from the id; of title and content each can be made from the other. A fact
    without a key or a value means nothing.
    """
    _, dash, rest = shape.get("id", "").partition("-")
    nugget = shape.get("nuggetName") or (rest.rpartition("-")[0] if dash else "")
    title = (shape.get("title") or shape.get("sourceKey") or "").strip()
    content = shape.get("content", "")
    is_fact = shape.get("kind") == "fact"
    if not (title or content.strip()) or (is_fact and not (title and content.strip())):
        problem = "a fact needs a title and a content" if is_fact else "no title and no content"
        raise InvalidInput(f"{where}: {problem}")
    return {
        **shape,
        "nuggetName": nugget or DEFAULT_NUGGET,
        "title": title or title_from_text(content),
        "content": content or title,
    }


def complete_note(shape: Json, now: str) -> MemoryNote:
    """A note that is new to us: what its author left out is inferred as for any new note."""
    shape = {**shape, "links": complete_links(shape, now)}
    fields = {field: value for field, value in shape.items() if field in _KNOWN}
    unknown = {field: value for field, value in shape.items() if field not in _KNOWN}
    note = new_note(
        nugget=checked_nugget_name(fields["nuggetName"]),
        kind=fields.get("kind", "note"),
        title=fields["title"],
        content=fields["content"],
        tags=fields.get("tags", ()),
        given=GraphNoteMetaInput(**{name: fields.get(name) for name in META_FIELDS}),
        now=now,
        note_id=fields["id"],
        project=fields.get("project", ""),
        created_at=fields.get("createdAt"),
    )
    rest = {field: value for field, value in fields.items() if field not in _GIVEN}
    # a file names the stability of every note, so that tells nothing
    given = {"stabilityGiven": fields.get("stabilityGiven", False)}
    whole = {**note_to_json(note, vector=False), **rest, **given, **unknown}
    return normalize_note(note_from_json(whole))


def complete_links(shape: Json, now: str) -> list[Json]:
    """The links of a note, of which its author may leave out all but the other end."""
    return [
        {
            **link,
            "reason": link.get("reason") or DEFAULT_REASON,
            "createdAt": link.get("createdAt") or now,
        }
        for link in shape.get("links", ())
    ]


_GIVEN = ("id", "nuggetName", "kind", "title", "tags", *META_FIELDS, *OURS, "createdAt")
_KNOWN = {*(field.json_name for field in json_fields(MemoryNote)), *OURS}


def normalize_note(note: MemoryNote) -> MemoryNote:
    """Check and normalize the note as a whole, after each field was checked."""
    checked_nugget_name(note.nugget_name)
    given = check_metadata(GraphNoteMetaInput(confidence=note.confidence))
    sessions = note.hit_sessions
    if not sessions and note.last_hit_session:
        sessions = (note.last_hit_session,)
    return note._replace(
        created_at=_normalize_time(note.created_at),
        updated_at=_normalize_time(note.updated_at),
        last_accessed_at=_normalize_time(note.last_accessed_at),
        last_rewritten_at=_normalize_optional_time(note.last_rewritten_at),
        archived_at=_normalize_optional_time(note.archived_at) if note.hidden else None,
        last_inspected_at=_normalize_optional_time(note.last_inspected_at),
        content=normal_content(note.content),
        tags=normal_tags(note.tags, note.nugget_name, note.scope, note.type),
        confidence=note.confidence if given.confidence is None else given.confidence,
        source_key=note.title if note.kind == "fact" else note.source_key,
        hit_sessions=sessions,
        links=tuple(
            NoteLink(link.to, checked_reason(link.reason, ""), _normalize_time(link.created_at))
            for link in note.links
        ),
        valid_from=_normalize_optional_time(note.valid_from),
        valid_until=_normalize_optional_time(note.valid_until),
    )


_normalize_time = lru_cache(maxsize=64)(normalize_time)  # those of a note are mostly the same


def _normalize_optional_time(moment: str | None) -> str | None:
    return _normalize_time(moment) if moment else None


# --- notes and nuggets from elsewhere, checked as a whole ----------------------------------------


def notes_from_json(
    shapes: Iterable[Mapping[str, Any]], now: str, draw: Callable[[], str]
) -> tuple[tuple[MemoryNote, ...], tuple[str, ...]]:
    """Notes in their documented JSON, and what is wrong with those that are none; what a note
    leaves out is inferred as for any new one."""
    notes, problems, ids = [], [], set[str]()
    for number, shape in enumerate(shapes, 1):
        where = f"note {number}"
        try:
            if isinstance(shape, dict):  # what is derived is not looked at
                shape = {name: value for name, value in shape.items() if name not in OURS}
            checked = name_note(check_note(shape, where), where)
            where += f" ({checked['title']!r:.80})"
            check_savable(checked, where)
            kind, nugget = checked.get("kind", "note"), checked["nuggetName"]
            if "id" not in checked:
                checked["id"] = note_id(kind, checked_nugget_name(nugget), draw, ids)
            note = complete_note(checked, now)
            check_note_limits(note)
            notes.append(note)
            ids.add(note.id)
        except InvalidInput as problem:
            said = str(problem)
            problems.append(said if said.startswith(f"note {number}") else f"{where}: {said}")
    return tuple(notes), tuple(problems)


@contextmanager
def _name_record(where: str, name: str = "") -> Iterator[None]:
    """Errors inside say which record is meant, by its name or else by where it is."""
    try:
        yield
    except InvalidInput as problem:
        reason = str(problem).removeprefix(f"{where}: ")
        raise InvalidInput(f"{name or where}: {reason}") from None
    except (AttributeError, LookupError, TypeError, ValueError):
        raise InvalidInput(f"{name or where}: fields of wrong types") from None


def note_from_whole_json(shape: Json, where: str) -> MemoryNote:
    """A note that leaves nothing out, with its fields and sizes checked, in its written form."""
    with _name_record(where):
        check_savable(shape, where)
        note = note_from_json(check_note(shape, where))
        check_note_limits(note)
        return normalize_note(note)


def checked_note(note: MemoryNote) -> MemoryNote:
    """A note of another shelf, checked as if someone had written it into a documented file."""
    where = f"note {note.id!r:.80}"
    with _name_record(where, f"{where} ({note.title!r:.80})"):
        typed = note_from_whole_json(note_to_json(note, vector=False), where)
        for session in (typed.last_hit_session, *typed.hit_sessions):
            checked_session(session)
        return typed


def checked_nugget(config: NuggetConfig) -> NuggetConfig:
    """A nugget of another shelf; its fields are checked as if they stood in its documented file."""
    where = f"nugget {config.name!r:.80}"
    with _name_record(where):
        shape = nugget_to_json(config)
        check_savable(shape, where)
        checked, _ = nugget_from_json(shape, where)
        return checked._replace(name=checked_nugget_name(checked.name))


def valid_records(
    records: Iterable[Record], check: Callable[[Record], Record]
) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The records of another shelf that pass their check, and what is wrong with the others."""
    valid, problems = [], []
    for record in records:
        try:
            valid.append(check(record))
        except InvalidInput as problem:
            problems.append(str(problem))
    return tuple(valid), tuple(problems)
