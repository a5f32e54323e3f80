"""Import external edits: which documented files changed, what their authors saw, and the changes
that follow. What an edit means for notes is decided by a function that the caller gives."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from nuggets.domain.records import Changes, ExternalEdit
from nuggets.domain.sql_interface import Database
from nuggets.domain.state import MemoryState, Overlay, State
from nuggets.errors import StoreBusy, StoreError
from nuggets.filesystem.atomic_files import unwritable
from nuggets.language.text import fold_case
from nuggets.stores.exports.edit_reader import (
    EditedFile,
    FileContent,
    parse_edit,
    read_settled,
)
from nuggets.stores.exports.export_fingerprints import (
    Export,
    changed_files,
    checksum_of,
    exports,
    record,
    status_of,
)
from nuggets.stores.exports.exported_state import changes_back_to, current_revision, moment_of
from nuggets.stores.exports.layout import (
    GRAPH,
    GRAPH_FIELDS,
    ExportedRevision,
    documented_files,
    nugget_in,
)
from nuggets.stores.exports.torn_exports import is_emptied, is_torn
from nuggets.stores.set_aside_files import DAMAGED, free_name

DecideEdit = Callable[[State, State | None, ExternalEdit, str], Changes]
"""Decide what an edit means: (the current state, what its author saw or None, the edit, now)."""


class EditImport:
    """Imports the external edits of a directory, inside a transaction under the lock."""

    def __init__(
        self, directory: str, database: Database, state: State, decide: DecideEdit
    ) -> None:
        self._directory = directory
        self._database = database
        self._state = state
        self._current = current_revision(database)
        self._decide = decide
        self._recorded = exports(database)
        self._files = documented_files(directory)
        self.notices: list[str] = []  # edits that took most notes away

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
                changes = self._changes(edited, now, only_adds=fold in nuggets_seen)
            except StoreError as problem:
                self._leave_alone(edited.name, edited.file.status, problem)
                continue
            nuggets_seen.add(fold)
            if changes is not None:
                gone, total = _count_gone(changes, self._state), len(self._state.notes)
                revision = commit(changes)
                if gone > 1 and gone * 2 > total:
                    self.notices.append(
                        f"an edit of {edited.name} took {gone} of {total} memories away; "
                        f"`nuggets undo {revision}` brings them back"
                    )
            self._record_import(edited)
            imported = True
        return imported

    # --- which files ------------------------------------------------------------------------

    def _read_edits(self) -> Iterator[EditedFile]:
        for name in changed_files(self._files, self._recorded):
            try:
                file = read_settled(os.path.join(self._directory, name))
                if not self._is_ours(name, file):
                    yield parse_edit(self._directory, name, file)
            except StoreError as problem:
                self._leave_alone(name, self._files[name], problem)

    def _is_ours(self, name: str, file: FileContent) -> bool:
        """Was our file only copied, or emptied or torn by a power cut? Then its new status is
        recorded, or it is written again."""
        if self._current.revision and is_torn(file):
            self._set_aside(name)
            return True
        export = self._recorded.get(name) or self._lost_row(name)
        if export is None:
            return False
        export = export._replace(status=status_of(file.status), problem="")
        if export.checksum == checksum_of(file.content):
            record(self._database, export)
            return True
        if is_emptied(file, self._recorded.get(name, Export(name))):
            record(self._database, export._replace(edited=1))
            return True
        return False

    def _lost_row(self, name: str) -> Export | None:
        """A row for a file of ours that has none: a power cut may have come before the row."""
        is_ours = name == GRAPH or fold_case(nugget_in(name)) in self._state.nuggets
        return Export(name, self._current.revision) if is_ours and self._current.revision else None

    def _set_aside(self, name: str) -> None:
        """Keep what a power cut left of a file under another name; it is written again."""
        path = os.path.join(self._directory, name)
        try:
            os.rename(path, free_name(path + DAMAGED))
        except OSError as problem:
            raise unwritable(path, problem) from problem
        export = self._recorded.get(name) or Export(name, self._current.revision)
        record(self._database, export._replace(status="", edited=1, problem=""))

    def _leave_alone(self, name: str, status: os.stat_result, problem: StoreError) -> None:
        """Leave a file as it is until it changes; the register says why."""
        if isinstance(problem, StoreBusy) or not self._current.revision:
            raise problem
        export = self._recorded.get(name) or Export(name, self._current.revision)
        record(self._database, export._replace(status=status_of(status), problem=str(problem)))

    def _record_import(self, edited: EditedFile) -> None:
        exported = edited.exported or self._current
        record(
            self._database,
            Export(
                edited.name,
                min(exported.revision, self._current.revision),
                exported.touch or 0,
                checksum_of(edited.file.content),
                status_of(edited.file.status),
                edited=1,
            ),
        )

    # --- what they mean ---------------------------------------------------------------------

    def _changes(self, edited: EditedFile, now: str, *, only_adds: bool) -> Changes | None:
        """The changes that import a file; None if it says nothing new."""
        # A graph has every note: they are loaded once instead of one by one.
        state = self._state if edited.edit.nugget else _load(self._state)
        base = None if only_adds else self._base(edited, state)
        return self._decide_changes(edited, state, base, now)

    def _base(self, edited: EditedFile, state: State) -> State | None:
        """What the author of an edit saw; None if it was never ours, so that it can only add."""
        if not self._current.revision:
            return MemoryState()
        exported = edited.exported
        if exported is None:  # a program wrote the whole file: it probably saw our last export
            export = self._recorded.get(edited.name)
            if export is None:
                return None
            sound = ExportedRevision(export.revision, "", export.touch)
            return self._state_at(sound if export.is_sound else self._current, state)
        if moment_of(self._database, exported.revision) != exported.saved_at:
            return None
        base = self._state_at(exported, state)
        return self._state_at(self._current, state) if self._is_restored(edited, base) else base

    def _state_at(self, exported: ExportedRevision, state: State) -> State:
        back = changes_back_to(self._database, self._state, exported)
        if isinstance(state, MemoryState):
            copy = _load(state)
            copy.apply(back)
            return copy
        overlay = Overlay(state)
        overlay.apply(back)
        return overlay

    def _is_restored(self, edited: EditedFile, base: State) -> bool:
        """Did someone replace a newer export by this older one? Then later changes shall go.

        If the database is newer in the directory than the file, someone copied both while another
        process wrote, and a file that lags behind means nothing.
        """
        if edited.file.status.st_ctime_ns < _database_ctime_ns(self._directory):
            return False
        return self._decide_changes(edited, base, base, self._current.saved_at) is None

    def _decide_changes(
        self, edited: EditedFile, state: State, base: State | None, now: str
    ) -> Changes | None:
        changes = self._decide(state, base, edited.edit, now)
        marks = dict(changes.marks)
        if edited.edit.nugget is None:
            old_fields = state.marks.get(GRAPH_FIELDS, {})
            fields = dict(edited.fields)
            if edited.exported is None:
                fields = {**old_fields, **fields}
            if fields != old_fields:
                marks[GRAPH_FIELDS] = fields or None
        changes = changes._replace(marks=marks)
        return None if changes._replace(action="", client="") == Changes() else changes


def copied_files(
    directory: str, files: Mapping[str, os.stat_result], recorded: Mapping[str, Export]
) -> dict[str, str]:
    """The files that are ours and were only copied, with their statuses."""
    statuses = {}
    for name in changed_files(files, recorded):
        with suppress(StoreError):
            content, status = read_settled(os.path.join(directory, name))
            if name in recorded and recorded[name].checksum == checksum_of(content):
                statuses[name] = status_of(status)
    return statuses


def _load(state: State) -> MemoryState:
    """A copy in memory."""
    copy = MemoryState()
    copy.notes.update(state.notes.items())
    copy.nuggets.update(state.nuggets)
    copy.marks.update(state.marks)
    return copy


def _count_gone(changes: Changes, state: State) -> int:
    """How many notes an edit drops or archives."""
    before = state.notes.many(note.id for note in changes.put if note.hidden)
    return len(changes.drop) + sum(not note.hidden for note in before.values())


def _database_ctime_ns(directory: str) -> int:
    """When the database was last written or copied here; no program can set that time."""
    newest = 0
    for name in ("nuggets.db", "nuggets.db-wal"):
        try:
            status = os.stat(os.path.join(directory, name))
        except OSError:
            continue
        if status.st_size:  # an empty log was made by opening the database
            newest = max(newest, status.st_ctime_ns)
    return newest
