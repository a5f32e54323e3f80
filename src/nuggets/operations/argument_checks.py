"""Checks of what callers pass to a shelf: queries, sessions, filters, paths, times."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets.domain import codec
from nuggets.domain.limits import SESSION_CHARACTERS, check_most, storable
from nuggets.domain.names_and_tags import checked_nugget_name
from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryNote,
    NoteFilterOptions,
    NuggetConfig,
)
from nuggets.domain.state import State
from nuggets.errors import InvalidInput
from nuggets.operations import name_resolution

if TYPE_CHECKING:
    from datetime import datetime


Record = TypeVar("Record")
StrPath = str | os.PathLike[str]


def path_text(path: StrPath | None) -> str | None:
    """A path as text; whether it is one at all is checked where it is used."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def checked_moment(now: "datetime") -> "datetime":
    from datetime import datetime

    if not isinstance(now, datetime):
        raise InvalidInput(f"the time is a datetime, in local time; not {now!r:.80}")
    return now


def checked_query(query: str) -> str:
    text = storable(query.replace("\0", " ") if isinstance(query, str) else query, "a query")
    if not text.strip():
        raise InvalidInput("ask for something: the query is empty")
    return text


def checked_filters(
    filters: NoteFilterOptions, wanted: Mapping[str, Any], state: State
) -> NoteFilterOptions:
    """What may be shown; a nugget that is not there is a mistake, not an empty answer."""
    from nuggets.domain.visibility import combine_filters

    combined = combine_filters(filters, wanted)
    if combined.nugget is not None:
        name_resolution.require_nugget(state.nuggets, combined.nugget)
    return combined


def checked_session(session: str) -> str:
    """The session id of a caller, which may be any text; "" counts no hit."""
    session = storable(session, "a session").strip()
    check_most(len(session), SESSION_CHARACTERS, "a session", "characters")
    return session


def checked_metadata(named: Mapping[str, Any]) -> GraphNoteMetaInput:
    from nuggets.operations.metadata_inference import metadata_from_kwargs

    return metadata_from_kwargs(named)


def notes_from_json(
    shapes: Iterable[Mapping[str, Any]], now: str, draw: Callable[[], str]
) -> tuple[tuple[MemoryNote, ...], tuple[str, ...]]:
    """Notes in their documented JSON, and what is wrong with those that are none; what a note
    leaves out is inferred as for any new one."""
    from nuggets.operations.note_completion import complete_note, name_note
    from nuggets.operations.notes import check_note_limits, note_id
    from nuggets.stores.json_validation import check_note, check_savable

    notes, problems, ids = [], [], set[str]()
    for number, shape in enumerate(shapes, 1):
        where = f"note {number}"
        try:
            checked = name_note(check_note(shape, where), where)
            where += f" ({checked['title']!r:.80})"
            check_savable(checked, where)
            kind, nugget = checked.get("kind", "note"), checked["nuggetName"]
            if "id" not in checked:
                checked["id"] = note_id(kind, checked_nugget_name(nugget), ids, draw)
            note = complete_note(checked, now)
            check_note_limits(note)
            notes.append(note)
            ids.add(note.id)
        except InvalidInput as problem:
            said = str(problem)
            problems.append(said if said.startswith(f"note {number}") else f"{where}: {said}")
    return tuple(notes), tuple(problems)


def checked_note(note: MemoryNote) -> MemoryNote:
    """A note of another shelf, in its written form; fields and sizes are checked as if someone had
    written it into a documented file."""
    from nuggets.operations.note_completion import normalize_note
    from nuggets.operations.notes import check_note_limits
    from nuggets.stores.json_validation import check_note, check_savable

    where = f"note {note.id!r:.80}"
    try:
        shape = codec.note_to_json(note, vector=False)
        check_savable(shape, where)
        typed = codec.note_from_json(check_note(shape, where))
        for session in (typed.last_hit_session, *typed.hit_sessions):
            checked_session(session)
        check_note_limits(typed)
        return normalize_note(typed)
    except InvalidInput as problem:
        reason = str(problem).removeprefix(f"{where}: ")
        raise InvalidInput(f"{where} ({note.title!r:.80}): {reason}") from None
    except (AttributeError, LookupError, TypeError, ValueError):
        raise InvalidInput(f"{where}: fields of wrong types") from None


def checked_nugget(config: NuggetConfig) -> NuggetConfig:
    """A nugget of another shelf; its fields are checked as if they stood in its documented file."""
    from nuggets.stores.json_validation import check_savable, nugget_from_json

    where = f"nugget {config.name!r:.80}"
    try:
        shape = codec.nugget_to_json(config)
        check_savable(shape, where)
        checked, _ = nugget_from_json(shape, where)
        return checked._replace(name=checked_nugget_name(checked.name))
    except InvalidInput as problem:
        raise InvalidInput(f"{where}: {str(problem).removeprefix(f'{where}: ')}") from None
    except (AttributeError, LookupError, TypeError, ValueError):
        raise InvalidInput(f"{where}: fields of wrong types") from None


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
