"""Checks of what callers pass to a shelf: queries, sessions, filters, paths, times; and which note
or nugget a name means."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain.limits import SESSION_CHARACTERS, check_most, storable
from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
)
from nuggets.domain.state import Notes, merged_into
from nuggets.domain.visibility import first_in_precedence, is_foreign
from nuggets.errors import Ambiguous, InvalidInput, NotFound, StoreCorrupt
from nuggets.filesystem.current_project import name_of
from nuggets.language.text import closest_name, edits_between, fold_case

if TYPE_CHECKING:
    from datetime import datetime


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
    changes: bool = False,
) -> MemoryNote:
    """The note with this id, else with this title, else whose id begins or ends with this part.

    An id is found in every nugget, other names only in the given one. Of equal titles a visible
    note wins (or with `archived` an archived one), then this `project`'s, then one of no project.
    With `follow_merges`, the title of a note that was merged away means the note it went into.
    Part of an id must be unique; at the end it has all 8 digits. `changes`: what is named is to be
    changed, so a title alone names no note that only another project has.
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
        if changes and is_foreign(chosen[0], project):
            raise NotFound(
                f"only another project has a note that is called {name!r:.80}; to change it, name "
                f"it by its id: {', '.join(note.id for note in chosen[:CANDIDATES_SHOWN])}"
            )
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
