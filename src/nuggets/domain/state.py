"""All that a shelf holds at one revision, asked by key, and how changes move it on.

`State` is what operations read: notes, nuggets and marks. Stores answer the same questions from a
database (`stores/sql/state.py`); `MemoryState` answers them from dictionaries. `Database` is how
modules that have tables run SQL.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from nuggets.domain.names_and_tags import abbreviates, title_form
from nuggets.domain.records import Changes, MemoryNote, NoteKind, NuggetConfig, Touch
from nuggets.domain.visibility import may_be_linked
from nuggets.language.text import fold_case

# --- running SQL; knows no driver -----------------------------------------------------------------


# Of one list of a statement: SQLite took 999 parameters in all before 3.32.
MOST_PARAMETERS = 500


class Cursor(Protocol):
    """The rows that a statement returns."""

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """Runs SQL inside the transaction that its owner has begun."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


def chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values in pieces that fit into one `IN (…)`.

    A value may be repeated: lists of few different lengths make few different statements, and a
    database prepares each of those once.
    """
    rest = iter(values)
    while chunk := list(islice(rest, MOST_PARAMETERS)):
        length = min(1 << (len(chunk) - 1).bit_length(), MOST_PARAMETERS)
        yield chunk + chunk[-1:] * (length - len(chunk))


def placeholders(values: Sequence[Any]) -> str:
    """One placeholder for each value."""
    return ",".join("?" * len(values))


# --- the state of a shelf -------------------------------------------------------------------------


SESSIONS_KEPT = 64  # per note: a session is over long before 64 others have asked for the note

NoteCounts = Mapping[tuple[str, NoteKind], int]  # visible notes by folded nugget name and kind


class Notes(Mapping[str, MemoryNote]):
    """The notes by id, in order of creation. Subclasses answer from wherever they are kept."""

    def many(self, ids: Iterable[str]) -> dict[str, MemoryNote]:
        """The notes with these ids, as far as they exist."""
        pairs = ((note_id, self.get(note_id)) for note_id in dict.fromkeys(ids))
        return {note_id: note for note_id, note in pairs if note is not None}

    def is_damaged(self, note_id: str) -> bool:
        """Is there a note with this id whose record cannot be read? All others pass it over."""
        return False

    def find(
        self,
        *,
        nugget: str | None = None,
        title: str | None = None,
        kind: NoteKind | None = None,
        project: str | None = None,
        hidden: bool | None = None,
    ) -> list[MemoryNote]:
        """The notes that match all given conditions, in order of creation.

        `nugget` and `title` are compared in their folded forms, a title also whatever its blanks.
        """
        return [
            note
            for note in self.values()
            if (kind is None or note.kind == kind)
            and (hidden is None or note.hidden == hidden)
            and (project is None or note.project == project)
            and (nugget is None or fold_case(note.nugget_name) == fold_case(nugget))
            and (title is None or title_form(note.title) == title_form(title))
        ]

    def linking_to(self, ids: Collection[str]) -> list[MemoryNote]:
        """The notes with a link to any of these."""
        return [note for note in self.values() if any(link.to in ids for link in note.links)]

    def find_by_id_part(self, part: str) -> list[MemoryNote]:
        """The notes whose folded id begins with this, or ends with it after a dash."""
        return [note for note in self.values() if abbreviates(part, note.id)]

    def ids_with_title_length(self, length: int, slips: int) -> Iterator[str]:
        """Ids of visible notes whose folded title has about this length."""
        for note in self.values():
            if not note.hidden and abs(len(fold_case(note.title)) - length) <= slips:
                yield note.id


class State(Protocol):
    """What a shelf holds at one revision."""

    @property
    def notes(self) -> Notes: ...

    @property
    def nuggets(self) -> Mapping[str, NuggetConfig]:
        """Nuggets by folded name."""

    @property
    def marks(self) -> Mapping[str, Any]: ...


class MemoryNotes(dict[str, MemoryNote], Notes):
    """Notes in a dictionary: for tests, and for what is tried out on a copy."""

    __hash__ = None  # type: ignore[assignment]


class MemoryState:
    """A whole state in dictionaries, moved on by `apply`. Knows no store."""

    def __init__(self) -> None:
        self.notes = MemoryNotes()
        self.nuggets: dict[str, NuggetConfig] = {}
        self.marks: dict[str, Any] = {}

    def apply(self, changes: Changes) -> None:
        """Apply changes."""
        for config in changes.put_nuggets:
            self.nuggets[fold_case(config.name)] = config
        for note in changes.put:
            self.notes[note.id] = note
        for touch in changes.touches:
            note_or_none = self.notes.get(touch.note_id)
            if note_or_none is not None:
                self.notes[touch.note_id] = apply_touch(note_or_none, touch)
        for note_id in changes.drop:
            self.notes.pop(note_id, None)
        for name in changes.drop_nuggets:
            self.nuggets.pop(fold_case(name), None)
        for mark, value in changes.marks.items():
            if value is None:
                self.marks.pop(mark, None)
            else:
                self.marks[mark] = value


def load_state(state: State) -> MemoryState:
    """A copy in memory; the records in it are frozen and shared."""
    copy = MemoryState()
    copy.apply(everything(state))
    return copy


def facts_with_key(notes: Notes, nugget: str, key: str) -> list[MemoryNote]:
    """The facts of exactly this key in every project, archived ones too, oldest first."""
    titled = notes.find(nugget=nugget, title=key, kind="fact")
    return [fact for fact in titled if fold_case(fact.title) == fold_case(key)]


def fact_in_the_way(notes: Notes, before: MemoryNote, after: MemoryNote) -> MemoryNote | None:
    """Another fact of that very key, archived or not. One that is renamed meets also those that are
    seen in the same place: one of the two would answer for both."""
    is_renamed = fold_case(before.title) != fold_case(after.title)
    for other in facts_with_key(notes, after.nugget_name, after.title):
        is_same = other.project == after.project
        if other.id != after.id and (is_same or (is_renamed and may_be_linked(other, after))):
            return other
    return None


def everything(state: State) -> Changes:
    """The changes that lead from nothing to this state."""
    return Changes(
        put=tuple(state.notes.values()),
        put_nuggets=tuple(state.nuggets.values()),
        marks=dict(state.marks),
    )


def apply_touch(note: MemoryNote, touch: Touch) -> MemoryNote:
    """The note after it was shown: a session counts once, however often it asks."""
    accessed = max(note.last_accessed_at, touch.at)
    if not touch.session or touch.session in note.hit_sessions:
        return note._replace(last_accessed_at=accessed)
    return note._replace(
        last_accessed_at=accessed,
        hits=note.hits + 1,
        last_hit_session=touch.session,
        hit_sessions=(*note.hit_sessions, touch.session)[-SESSIONS_KEPT:],
    )


def with_recalls_of(note: MemoryNote, other: MemoryNote) -> MemoryNote:
    """The note as if it had been shown when the other one was."""
    return note._replace(
        hits=other.hits,
        hit_sessions=other.hit_sessions,
        last_hit_session=other.last_hit_session,
        last_accessed_at=other.last_accessed_at,
    )


def merged_into(note: MemoryNote) -> list[str]:
    """The notes that an archived note was merged into: the merge gave it its last link."""
    since = note.archived_at if note.hidden else None
    return [link.to for link in note.links if since is not None and link.created_at >= since]


def merge_changes(many: Iterable[Changes]) -> Changes:
    """Several changes as one; later ones win, and touches apply to the notes in it."""
    after = MemoryState()
    dropped: dict[str, None] = {}
    dropped_nuggets: dict[str, str] = {}
    touches: list[Touch] = []
    marks: dict[str, Any] = {}
    last = Changes()
    for last in many:
        written = {note.id for note in last.put}
        for note_id in written:
            dropped.pop(note_id, None)
        for config in last.put_nuggets:
            dropped_nuggets.pop(fold_case(config.name), None)
        touches = [touch for touch in touches if touch.note_id not in written]
        after.apply(last)
        touches.extend(touch for touch in last.touches if touch.note_id not in after.notes)
        dropped.update(dict.fromkeys(last.drop))
        dropped_nuggets.update({fold_case(name): name for name in last.drop_nuggets})
        marks.update(last.marks)
    return Changes(
        put=tuple(after.notes.values()),
        drop=tuple(dropped),
        put_nuggets=tuple(after.nuggets.values()),
        drop_nuggets=tuple(dropped_nuggets.values()),
        touches=tuple(touches),
        marks=marks,
        action=last.action,
        client=last.client,
    )
