"""Checks of what callers pass to a shelf: queries, sessions, filters, paths, times; and which note
or nugget a name means."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets.domain import codec
from nuggets.domain.limits import SESSION_CHARACTERS, check_most, storable
from nuggets.domain.names_and_tags import checked_nugget_name
from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
)
from nuggets.domain.state import Notes, merged_into
from nuggets.domain.visibility import first_in_precedence
from nuggets.errors import Ambiguous, InvalidInput, NotFound, StoreCorrupt
from nuggets.filesystem.current_project import name_of
from nuggets.language.text import closest_name, edits_between, fold_case

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


def checked_question(query: str) -> str:
    """What a recall asks; an empty question means no key."""
    return storable(query.replace("\0", " ") if isinstance(query, str) else query, "a query")


def checked_query(query: str) -> str:
    """What a search looks for."""
    text = checked_question(query)
    if not text.strip():
        raise InvalidInput("ask for something: the query is empty")
    return text


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
    from nuggets.operations.note_completion import OURS, complete_note, name_note
    from nuggets.operations.notes_and_links import check_note_limits, note_id
    from nuggets.stores.json_validation import check_note, check_savable

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


def note_from_whole_json(shape: dict[str, Any], where: str) -> MemoryNote:
    """A note that leaves nothing out, with its fields and sizes checked, in its written form."""
    from nuggets.operations.note_completion import normalize_note
    from nuggets.operations.notes_and_links import check_note_limits
    from nuggets.stores.json_validation import check_note, check_savable

    with _name_record(where):
        check_savable(shape, where)
        note = codec.note_from_json(check_note(shape, where))
        check_note_limits(note)
        return normalize_note(note)


def checked_note(note: MemoryNote) -> MemoryNote:
    """A note of another shelf, checked as if someone had written it into a documented file."""
    where = f"note {note.id!r:.80}"
    with _name_record(where, f"{where} ({note.title!r:.80})"):
        typed = note_from_whole_json(codec.note_to_json(note, vector=False), where)
        for session in (typed.last_hit_session, *typed.hit_sessions):
            checked_session(session)
        return typed


def checked_nugget(config: NuggetConfig) -> NuggetConfig:
    """A nugget of another shelf; its fields are checked as if they stood in its documented file."""
    from nuggets.stores.json_validation import check_savable, nugget_from_json

    where = f"nugget {config.name!r:.80}"
    with _name_record(where):
        shape = codec.nugget_to_json(config)
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


# --- which note or nugget a name means ------------------------------------------------------------


ID_TAIL = 8  # hex digits at the end of every id
KIND_PREFIX = len("note-")  # a prefix this short names a kind, not a note
CANDIDATES_SHOWN = 10  # more would not help to choose: a message is a few lines


def resolve(
    notes: Notes,
    name: str,
    nugget: str | None = None,
    *,
    project: str | None = None,
    archived: bool = False,
    follow_merges: bool = False,
) -> MemoryNote:
    """The note with this id, else with this title, else whose id begins or ends with this part.

    An id is found in every nugget, other names only in the given one. Of equal titles a visible
    note wins (or with `archived` an archived one), then this `project`'s, then one of no project.
    With `follow_merges`, the title of a note that was merged away means the note it went into.
    Part of an id must be unique; at the end it has all 8 digits.
    """
    wanted = fold_case(storable(name, "the name of a note"))
    home = None if nugget is None else fold_case(storable(nugget, "a nugget's name"))
    if not wanted:
        raise InvalidInput("name a note by its id, its title, or the beginning of its id")
    exact = notes.get(name.strip())
    if exact is not None:
        return exact
    alike = notes.find(nugget=home, title=name)
    titled = [note for note in alike if fold_case(note.title) == wanted] or alike
    chosen = [note for note in titled if note.hidden == archived] or titled
    if not titled:
        chosen = _find_by_id_part(notes, wanted, home)
    elif project is not None:
        chosen = first_in_precedence(chosen, project)
    if titled and follow_merges:
        survivors = (_survivor(notes, note) for note in chosen)
        chosen = list({note.id: note for note in survivors}.values())
    if not chosen and notes.is_damaged(name.strip()):
        raise StoreCorrupt(
            f"the record of {name.strip()} in the database is damaged, and nothing else is. It can "
            "be purged by this id; `nuggets doctor --fix` takes out all that are damaged"
        )
    if not chosen:
        where = "" if nugget is None else f" in nugget {nugget!r}"
        raise NotFound(f"no note{where} is called {name!r:.80}; {_suggestion(wanted, notes, home)}")
    if len(chosen) > 1:
        raise Ambiguous(_candidates(name, chosen))
    return chosen[0]


def find_nugget(nuggets: Mapping[str, NuggetConfig], name: str) -> NuggetConfig | None:
    """The nugget of this name, ignoring case; `nuggets` by folded name."""
    if not isinstance(name, str):
        raise InvalidInput(f"a nugget's name must be a text, not {name!r}")
    return nuggets.get(fold_case(name))


def require_nugget(nuggets: Mapping[str, NuggetConfig], name: str) -> NuggetConfig:
    """The same, or `NotFound` with a suggestion."""
    config = find_nugget(nuggets, name)
    if config is None:
        close = closest_name(fold_case(name), nuggets)
        names = ", ".join(sorted(config.name for config in nuggets.values())[:CANDIDATES_SHOWN])
        hint = f"there are: {names}" if names else "there is none yet"
        if close:
            hint = f"did you mean {nuggets[close].name!r}?"
        raise NotFound(f"there is no nugget {name!r}; {hint}")
    return config


def _survivor(notes: Notes, note: MemoryNote) -> MemoryNote:
    """The visible note that it was merged into; itself if there is none."""
    into = notes.many(merged_into(note))
    return next((other for other in into.values() if not other.hidden), note)


def _find_by_id_part(notes: Notes, wanted: str, home: str | None) -> list[MemoryNote]:
    """The notes whose id begins so, or ends with these eight digits."""
    if len(wanted) <= KIND_PREFIX:
        return []
    candidates = (note for note in notes.find_by_id_part(wanted) if _is_in(note, home))
    by_end = len(wanted) == ID_TAIL
    return [note for note in candidates if by_end or fold_case(note.id).startswith(wanted)]


def _is_in(note: MemoryNote, home: str | None) -> bool:
    return home is None or fold_case(note.nugget_name) == home


def _suggestion(wanted: str, notes: Notes, home: str | None) -> str:
    slips = min(2, len(wanted) // 4)
    for note_id in notes.ids_with_title_length(len(wanted), slips):
        note = notes[note_id]
        if _is_in(note, home) and edits_between(fold_case(note.title), wanted, slips) <= slips:
            return f"did you mean {note.title!r:.80}?"
    return "search or list the notes to see their ids"


def _candidates(name: str, notes: Sequence[MemoryNote]) -> str:
    descriptions = [
        f"{note.id} ({note.title!r:.80} in {note.nugget_name}{_of_project(note)})"
        for note in notes[:CANDIDATES_SHOWN]
    ]
    if len(notes) > len(descriptions):
        descriptions.append(f"and {len(notes) - len(descriptions)} more")
    listed = ", ".join(descriptions)
    return f"{name!r:.80} could be any of {len(notes)} notes; use an id: {listed}"


def _of_project(note: MemoryNote) -> str:
    return f", project {name_of(note.project)}" if note.project else ""
