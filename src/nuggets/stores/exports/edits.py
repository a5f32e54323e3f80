"""Import external edits: read files that a person or another program edited, strictly and without
guessing; find out what their authors saw; commit the changes that follow.

What an edit means for notes is decided by a function that the caller gives.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets.domain import codec
from nuggets.domain.records import NO_CHANGES, Changes, ExternalEdit, MemoryNote
from nuggets.domain.state import MemoryState, State, load_state
from nuggets.domain.three_way_merge import merge_record
from nuggets.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import DAMAGED, free_name, open_plain, unreadable, unwritable
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores import json_validation
from nuggets.stores.exports.register import (
    GRAPH,
    SUFFIX,
    Export,
    changed_files,
    documented_files,
    nugget_in,
    record,
    refuse_link,
    status_of,
)
from nuggets.stores.exports.write import (
    FIRST_BYTES,
    GRAPH_FIELDS,
    GRAPH_VERSION,
    NUGGET_VERSION,
    ExportedRevision,
    checksum_of,
    read_current,
    read_exported_revision,
)
from nuggets.stores.sql.history import History

if TYPE_CHECKING:
    from nuggets.stores.sqlite.database import Database

_PAUSES = (0.002, 0.01, 0.05, 0.25)  # seconds between attempts to read a file that is being saved
_OUR_FIELDS = ("version", "revision", "savedAt", "recalls", "notes")
_SECTOR_BYTES = 512  # that arrive on a medium together
_SAVING_SECONDS = 2.0  # a file that was empty or torn for less may be one that is being saved

DecideEdit = Callable[[State, State | None, ExternalEdit, str], tuple[Changes, int]]
"""Decide what an edit means: (the current state, what its author saw or None, the edit, now). Gives
the changes, and how many memories are kept although the file lacks them."""

R = TypeVar("R")


# --- reading a file ---------------------------------------------------------------------------


class FileContent(NamedTuple):
    """The bytes of a file, read while nobody wrote it."""

    content: bytes
    status: os.stat_result


class EditedFile(NamedTuple):
    """A file that someone edited."""

    name: str
    file: FileContent
    exported: ExportedRevision | None  # what its author saw, if its first line still says so
    edit: ExternalEdit
    fields: codec.Json  # of graph.json: unknown fields beside the notes
    name_within: str = ""  # of the nugget, where the file has another one


def read_settled(path: str) -> FileContent:
    """Read a file while nobody writes it; `StoreBusy` if someone keeps writing."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise StoreError(f"{path} is not a plain file; move it away, and Nuggets writes it anew")
    try:
        for pause in (*_PAUSES, 0):
            before = os.lstat(path)
            with open(path, "rb", opener=open_plain) as file:
                content = file.read()
            after = os.lstat(path)
            if before[:7] == after[:7] and before.st_mtime_ns == after.st_mtime_ns:
                return FileContent(content, after)
            time.sleep(pause)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    raise StoreBusy(f"{path} is being saved by someone; nothing was changed. Try again")


def parse_edit(directory: str, name: str, file: FileContent) -> EditedFile:
    """Parse an edited file; `StoreCorrupt` if it is not as documented."""
    path, where = os.path.join(directory, name), os.path.basename(name)
    shape = _validate(path, codec.loads, file.content.removeprefix(b"\xef\xbb\xbf"), where)
    _validate(path, json_validation.check_savable, shape, where)
    if not isinstance(shape, dict):
        raise _unreadable_error(path, "it holds no object")
    newest = GRAPH_VERSION if name == GRAPH else NUGGET_VERSION
    version = shape.get("version", newest)
    if not isinstance(version, int) or version > newest:
        problem = f"version {version!r} is not known here, only up to {newest}"
        raise _unreadable_error(path, problem)
    exported = read_exported_revision(shape)
    revision = exported.revision if exported else 0
    if name == GRAPH:
        notes = tuple(_graph_notes(shape, path))
        fields = {field: value for field, value in shape.items() if field not in _OUR_FIELDS}
        return EditedFile(name, file, exported, ExternalEdit(revision, notes=notes), fields)
    config, facts = _validate(path, json_validation.nugget_from_json, shape, where)
    name_within = ""
    if fold_case(config.name) != fold_case(nugget_in(name)):  # the file was renamed or copied
        name_within, config = config.name, config._replace(name=nugget_in(name))
    edit = ExternalEdit(revision, nugget=config, facts=tuple(facts))
    return EditedFile(name, file, exported, edit, {}, name_within)


def _graph_notes(shape: codec.Json, path: str) -> Iterator[codec.Json]:
    if not isinstance(shape.get("notes"), list):
        raise _unreadable_error(path, "there is no list of notes in it")
    ids: set[str] = set()
    for number, note in enumerate(shape["notes"], 1):
        fields = _validate(path, json_validation.check_note, note, f"note {number}")
        if "id" in fields:
            if fields["id"] in ids:
                raise _unreadable_error(path, f"the id {fields['id']!r} occurs twice")
            ids.add(fields["id"])
        yield fields


def _validate(path: str, check: Callable[[Any, str], R], shape: Any, where: str) -> R:
    """Call a function that checks; its errors name the file."""
    try:
        return check(shape, where)
    except InvalidInput as problem:
        raise _unreadable_error(path, str(problem)) from None


def _unreadable_error(path: str, problem: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be read: {problem}. It is left as it is. Correct it, or run "
        "`nuggets doctor --fix`: that sets it aside and writes it again from the database"
    )


def is_torn(file: FileContent) -> bool:
    """Did a power cut come before all of an export was on the medium? Then blocks of it are missing
    at its end, or are zeros. No person saves such a file, but one may be in the middle of it."""
    content = file.content
    if is_empty(file) or not content.startswith((FIRST_BYTES, b"\0")):
        return False
    is_cut_off = len(content) % _SECTOR_BYTES == 0 and not content.rstrip().endswith(b"]}")
    return b"\0" in content or is_cut_off


def is_empty(file: FileContent) -> bool:
    """A power cut came before its content was on the medium, or someone emptied it: no edit."""
    return not file.content.strip(b"\0")


def is_being_saved(file: FileContent) -> bool:
    """Our own files are dated back further than that."""
    return time.time() - file.status.st_mtime < _SAVING_SECONDS


# --- importing --------------------------------------------------------------------------------


class EditImport:
    """Imports the external edits of a directory, inside a transaction under the lock."""

    def __init__(
        self, directory: str, database: "Database", state: State, decide: DecideEdit
    ) -> None:
        self._directory = directory
        self._database = database
        self._state = state
        self._current, _, self._recorded = read_current(database)
        self._decide = decide
        self._files = documented_files(directory)
        self.notices: list[str] = []  # what a person should know of an edit

    def run(self, commit: Callable[[Changes], int], now: str) -> bool:
        """Commit each edit; whether there was any.

        A file that cannot be imported is left as it is. Only in a new shelf it raises an error, so
        that nothing is imported by halves.
        """
        imported = False
        nuggets_seen: set[str] = set()
        for edited in list(self._read_edits()):
            fold = fold_case(edited.edit.nugget.name) if edited.edit.nugget else ""
            try:
                # Of two spellings of a name the second only adds: the first still exists.
                base, changes, kept = self._changes(edited, now, only_adds=fold in nuggets_seen)
            except StoreError as problem:
                self._leave_alone(edited.name, edited.file.status, problem)
                continue
            nuggets_seen.add(fold)
            if kept:
                self.notices.append(
                    f"{kept} memories were missing in {edited.name} at once, and are kept. To "
                    "delete memories, use `nuggets note delete` or `nuggets forget`"
                )
            if changes is not None:
                both = _count_conflicts(changes, self._state, base)
                revision = commit(changes)
                if both:
                    self.notices.append(
                        f"an edit of {edited.name} changed {both} of the memories that others "
                        f"changed since; `nuggets undo {revision}` brings theirs back"
                    )
            elif self._is_older(edited):
                self.notices.append(
                    f"{edited.name} is an older copy that nobody edited: it changes nothing, and "
                    "is written again. `nuggets undo` takes back what was written since"
                )
            self._record_import(edited)
            imported = True
        return imported

    def _read_edits(self) -> Iterator[EditedFile]:
        for name in changed_files(self._files, self._recorded):
            try:
                refuse_link(self._directory, name)
                file = read_settled(os.path.join(self._directory, name))
                if not self._is_ours(name, file):
                    edited = parse_edit(self._directory, name, file)
                    self._refuse_copy(edited)
                    yield edited
            except StoreError as problem:
                self._leave_alone(name, self._files[name], problem)

    def _refuse_copy(self, edited: EditedFile) -> None:
        """People copy a file before they edit it: its facts are no second nugget."""
        original = f"{edited.name_within}{SUFFIX}"
        is_known = fold_case(nugget_in(edited.name)) in self._state.nuggets
        is_there = bool(edited.name_within) and original in self._files
        if is_there and not is_known and self._current.revision:
            raise StoreError(
                f"{edited.name} is a copy of {original}, so it is not imported. Delete it or move "
                'it away; to make a nugget of it, change its "name" too'
            )

    def _is_ours(self, name: str, file: FileContent) -> bool:
        """Was our file only copied, or emptied or torn by a power cut? Then its new status is
        recorded, or it is written again."""
        known = self._recorded.get(name)
        status = status_of(file.status)
        if known is not None and known.checksum == checksum_of(file.content):
            record(self._database, [known._replace(status=status, problem="")])
            return True
        # A power cut may have come before the row, too.
        is_named_so = name == GRAPH or fold_case(nugget_in(name)) in self._state.nuggets
        if is_being_saved(file) or not self._current.revision or not (known or is_named_so):
            return False
        if is_torn(file):
            self._set_aside(name)
            status = ""
        elif not is_empty(file):
            return False
        export = known or Export(name, self._current.revision)
        record(self._database, [export._replace(status=status, edited=1, problem="")])
        return True

    def _set_aside(self, name: str) -> None:
        """Keep what a power cut left of a file under another name."""
        path = os.path.join(self._directory, name)
        try:
            os.rename(path, free_name(path + DAMAGED))
        except OSError as problem:
            raise unwritable(path, problem) from problem

    def _leave_alone(self, name: str, status: os.stat_result, problem: StoreError) -> None:
        """Leave a file as it is until it changes; the register says why."""
        if isinstance(problem, StoreBusy) or not self._current.revision:
            raise problem
        export = self._recorded.get(name) or Export(name, self._current.revision)
        record(self._database, [export._replace(status=status_of(status), problem=str(problem))])

    def _record_import(self, edited: EditedFile) -> None:
        exported = edited.exported or self._current
        row = Export(
            edited.name,
            min(exported.revision, self._current.revision),
            exported.touch or 0,
            checksum_of(edited.file.content),
            status_of(edited.file.status),
            edited=1,
        )
        record(self._database, [row])

    # --- what they mean ---------------------------------------------------------------------

    def _changes(
        self, edited: EditedFile, now: str, *, only_adds: bool
    ) -> tuple[State | None, Changes | None, int]:
        """What the author of an edit saw; the changes that import it, None if it says nothing new;
        how many memories it lacks that are kept."""
        # A graph has every note: they are loaded once instead of one by one.
        state = self._state if edited.edit.nugget else load_state(self._state)
        base = None if only_adds else self._base(edited, state)
        changes, kept = self._decide(state, base, edited.edit, now)
        old_fields = state.marks.get(GRAPH_FIELDS, {})
        # Without a revision a program wrote the file, which may not know all fields.
        fields = {**(old_fields if edited.exported is None else {}), **edited.fields}
        if edited.edit.nugget is None and fields != old_fields:
            changes = changes._replace(marks={**changes.marks, GRAPH_FIELDS: fields or None})
        is_empty = changes._replace(action="", client="") == NO_CHANGES
        return base, None if is_empty else changes, kept

    def _base(self, edited: EditedFile, state: State) -> State | None:
        """What the author of an edit saw; None if it was never ours, so that it can only add."""
        if not self._current.revision:
            return MemoryState()
        exported, known = edited.exported, self._recorded.get(edited.name)
        if exported is None:  # a program wrote the whole file: it probably saw our last export
            if known is None:
                return None
            sound = ExportedRevision(known.revision, "", known.touch)
            return self._state_of(sound if known.is_sound else self._current, state)
        sql = "SELECT at FROM commits WHERE revision = ?"  # the history may not reach back to it
        row = self._database.execute(sql, (exported.revision,)).fetchone()
        if row is None or row[0] != exported.saved_at:
            return None
        return self._state_of(exported, state)

    def _is_older(self, edited: EditedFile) -> bool:
        known = self._recorded.get(edited.name)
        return bool(known and edited.exported and edited.exported.revision < known.revision)

    def _state_of(self, exported: ExportedRevision, state: State) -> State:
        """What an export showed: all commits since then are taken back, and all recalls."""
        database, copy = self._database, load_state(state)
        changed: dict[str, int] = {}  # by note: the first commit since then that changed it
        for commit in History(database).commits(exported.revision, newest_first=True):
            copy.apply(commit.before)
            ids = (*commit.changes.drop, *(note.id for note in commit.changes.put))
            changed.update(dict.fromkeys(ids, commit.revision))
        touch = exported.touch
        if touch is None:  # the last one that the revision counted
            sql = "SELECT max(number) FROM touches WHERE revision <= ?"
            touch = database.execute(sql, (exported.revision,)).fetchone()[0] or 0
        sql = "SELECT note, session, revision FROM touches WHERE number > ? ORDER BY number"
        for note_id, session, revision in database.execute(sql, (touch,)).fetchall():
            note, first = copy.notes.get(note_id), changed.get(note_id)
            # An image has the recalls before its commit.
            if note and (first is None or (revision is not None and revision <= first)):
                copy.notes[note_id] = _without_hit(note, session)
        return copy


def _count_conflicts(changes: Changes, state: State, base: State | None) -> int:
    """How many notes both the author of an edit and someone else since have changed. The edit
    holds."""
    ids = [note.id for note in changes.put]
    ours, seen = state.notes.many(ids), base.notes.many(ids) if base else {}
    merges = (
        merge_record(_words(seen[note.id]), _words(note), _words(ours[note.id]))
        for note in changes.put
        if note.id in ours and note.id in seen
    )
    return sum(bool(merge.conflicts) for merge in merges)


def _words(note: MemoryNote) -> dict[str, str]:
    return {"title": note.title, "content": note.content}


def _without_hit(note: MemoryNote, session: str) -> MemoryNote:
    """The note before a session recalled it."""
    remaining = tuple(other for other in note.hit_sessions if other != session)
    return note._replace(
        hits=max(note.hits - 1, 0),
        hit_sessions=remaining,
        last_hit_session=remaining[-1] if remaining else "",
    )
