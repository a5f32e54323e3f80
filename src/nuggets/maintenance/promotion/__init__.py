"""The memory files of all projects, the record of entries written to each, and promotion."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nuggets.domain.marks import FILE_MARK, checksum, is_block_file, memory_file_records
from nuggets.domain.records import Changes, MemoryNote, ProjectMove
from nuggets.domain.state import State, load_state, merged_into
from nuggets.domain.times import invalidity
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import remove_leftovers
from nuggets.maintenance import ShelfContext
from nuggets.maintenance.promotion import file_access
from nuggets.maintenance.promotion.entries import (
    WrittenEntries,
    counted_sessions,
    line_for,
    line_hash,
    pin_marks,
    pinned_ids,
    why_not,
    with_caveats,
    written_entries,
)
from nuggets.maintenance.promotion.file_access import replace_block
from nuggets.maintenance.promotion.hand_edits import (
    ACTION,
    CLIENT,
    EditImport,
    FileEdits,
    Line,
    Shelf,
    entry_lines,
    import_edits,
    join_lines,
    mentions_notes,
)
from nuggets.maintenance.promotion.sections import (
    Promotion,
    is_header,
    merged_text,
    without_bare_headings,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.project_identity import recorded_locations
from nuggets.stores.sql.state import SqlState


class MemoryFileText(NamedTuple):
    """What a memory file says now."""

    text: str
    outdated: Sequence[str]  # lines of ours that are left out of it
    ours: Mapping[str, str]  # lines of ours in it, with the ids of their notes; "" for a heading


class MemoryFiles:
    """The memory files of all projects of one shelf."""

    def __init__(
        self,
        context: ShelfContext,
        default_path: Callable[[], str],
        stale_reasons: Callable[[MemoryNote], Sequence[str]],
    ) -> None:
        """`default_path`: finds the file of the current project; `stale_reasons`: what has changed
        of what a note names."""
        self._context = context
        self._transactions = context.transactions
        self._is_configured = bool(context.settings["memory_file"])  # one file for everything
        self._promote_after: int = context.settings["promote_after"]
        self._default_path = default_path
        self._stale_reasons = stale_reasons

    def explain(self, path: str, project: str) -> Promotion:
        """What promotion to this file, or with "" to a new one, would do; why for every note, and
        which sessions count for it."""
        with self._transactions.reading() as view:
            text = file_access.read(path) if path else ""
            decided = self._decide_edits(path, project, text)
            after = load_state(view.state)  # all notes, because each gets an explanation
            after.apply(decided.changes)
            plan = self._merge(text, after.notes, after, path, project, decided.written)
            hits = {
                (hit.note_id, hit.session): hit for hit in self._transactions.store.history.hits()
            }
        explanations = [
            why._replace(sessions=counted_sessions(after.notes[why.note_id], hits))
            if why.note_id in after.notes
            else why
            for why in plan.explanations
        ]
        return plan._replace(explanations=explanations, edits=decided.edits)

    def promote(self, path: str, project: str, *, is_named: bool = True) -> Promotion:
        """Take over people's edits, then promote to one file. A file that nobody named is recorded
        only with an entry."""
        with self._transactions.exclusive():
            self._move_record(path)
            promotion = file_access.rewrite(path, lambda text: self._promote(path, project, text))
            if is_named or promotion.written.entries or path in self.written_files():
                self._record(path, project, promotion)
            return promotion

    def _promote(self, path: str, project: str, text: str) -> tuple[str, Promotion]:
        """The new text, after people's edits of the old one were taken over."""
        edits = self._import_edits(path, project, text)
        state, written = self._transactions.state, self.record_of(path)
        notes = self._candidate_notes(state, written)
        done = self._merge(text, notes, state, path, project, written)
        if edits.not_taken_over:
            done = done._replace(written=done.written.before_decision(written))
        return done.text, done._replace(edits=edits)

    def _merge(
        self,
        text: str,
        notes: Mapping[str, MemoryNote],
        state: State,
        path: str,
        project: str,
        written: WrittenEntries,
    ) -> Promotion:
        return merged_text(
            text,
            notes,
            written,
            project,
            now=self._context.now(),
            promote_after=self._promote_after,
            pinned=pinned_ids(state.marks, state.notes),
            is_shared=is_block_file(path),
            stale_reasons=self._stale_reasons,
        )

    def _record(self, path: str, project: str, done: Promotion) -> None:
        problem = done.edits.not_taken_over
        mark = self._mark(path, project, done.written, done.text, problem)
        if any(self._transactions.state.marks.get(name) != mark[name] for name in mark):
            self._write_marks(mark)

    def _write_marks(self, marks: Mapping[str, Any]) -> None:
        changes = Changes(marks=marks, action="promote", client=self._context.client)
        self._transactions.write(changes)

    def _mark(
        self, path: str, project: str, written: WrittenEntries, text: str, problem: str
    ) -> dict[str, Any]:
        whole = replace_block("", text) if is_block_file(path) else text
        record = {
            "project": project,
            "written": written.to_json(),
            "checksum": checksum(path, whole.encode()),
        }
        return {f"{FILE_MARK}{path}": {**record, "problem": problem} if problem else record}

    def withdraw(self, path: str) -> bool:
        """Take all our lines out of a file with a block, and forget the file; the lines of people
        stay. False if the file has never been written."""
        with self._transactions.exclusive():
            if path not in self.written_files():
                return False
            file_access.rewrite(path, lambda text: (self._without_entries(path, text), None))
            self._write_marks({f"{FILE_MARK}{path}": None})
            return True

    def _without_entries(self, path: str, text: str) -> str:
        rest = merged_text(text, {}, self.record_of(path), "").text
        lines = (line for line in rest.splitlines() if line.strip())
        return "" if all(map(is_header, lines)) else rest

    # --- what people do to the lines ----------------------------------------------------------

    def import_edits(self, path: str) -> FileEdits:
        """Take over what people did to the lines of a file that was written before."""
        with self._transactions.exclusive():
            project = self.written_files()[path]
            return self._import_edits(path, project, file_access.read(path))

    def _import_edits(self, path: str, project: str, text: str) -> FileEdits:
        """Must be called while holding the store lock."""
        record = self._transactions.state.marks.get(f"{FILE_MARK}{path}")
        if record is None:
            return FileEdits(path)
        decided = self._decide_edits(path, project, text)
        edits = decided.edits
        is_known = decided.written == self.record_of(path)  # not if only the form of a line changed
        is_told = edits.not_taken_over == record.get("problem", "")
        if decided.changes != Changes() or not (is_known and is_told):
            edits = edits._replace(is_news=bool(edits.not_taken_over) and not is_told)
            mark = self._mark(path, project, decided.written, text, edits.not_taken_over)
            marks = {**decided.changes.marks, **mark}
            self._transactions.write(
                decided.changes._replace(marks=marks, action=ACTION, client=CLIENT)
            )
        return edits

    def _decide_edits(self, path: str, project: str, text: str) -> EditImport:
        elsewhere = {
            note_id
            for other in self.written_files()
            if other != path
            for note_id, entry in self.record_of(other).entries.items()
            if entry.is_in_file
        }
        context = self._context
        shelf = Shelf(
            self._transactions.state,
            context.now(),
            context.draw,
            self._earlier_versions,
            elsewhere,
            context.find_anchors,
        )
        return import_edits(shelf, path, text, self.record_of(path))

    def _earlier_versions(self, note_id: str) -> list[MemoryNote]:
        """What a note was before, as far as the history reaches."""
        images = self._transactions.store.history.earlier_images(note_id)
        return [image.note for image in images if image.note is not None]

    def problems(self) -> dict[str, str]:
        """By path, why edits of a memory file were not taken over when it was seen last."""
        found: dict[str, str] = {}
        with self._transactions.reading() as view:
            for path, record in memory_file_records(view.state.marks).items():
                is_there = os.path.isdir(os.path.dirname(path))  # the project may be gone
                with suppress(NuggetsError):  # the next write to the file reports the error
                    if is_there and not (is_block_file(path) and self._was_removed(path)):
                        found[path] = record.get("problem", "")
        return {path: problem for path, problem in found.items() if problem}

    def _candidate_notes(self, state: SqlState, written: WrittenEntries) -> dict[str, MemoryNote]:
        """The notes that may be in a file: recalled and pinned notes, notes with an entry there,
        and the notes that these were merged into."""
        notes = state.notes
        candidates = {note.id: note for note in notes.with_hits(1)}
        extra_ids = pinned_ids(state.marks, notes) | written.entries.keys()
        candidates.update(notes.many(extra_ids - candidates.keys()))
        into = {target for note in candidates.values() for target in merged_into(note)}
        return {**candidates, **notes.many(into - candidates.keys())}

    def pin(self, path: str, note: MemoryNote) -> Changes:
        """Pin a note to the file of the current project, also if a person removed its entry."""
        project, now = self._context.project, self._context.now()
        reason = why_not(note, project, self._promote_after, now, is_pinned=True)
        if reason:
            raise InvalidInput(f"{note.title!r:.80} cannot be pinned to MEMORY.md: {reason}")
        marks = pin_marks(note.id)
        record = self.record_of(path)
        if note.id in record.entries and not self.has_entry(path, note.id):
            entries = {i: entry for i, entry in record.entries.items() if i != note.id}
            written = record._replace(entries=entries).to_json()
            mark = f"{FILE_MARK}{path}"
            marks[mark] = {**self._transactions.state.marks[mark], "written": written}
        return Changes(marks=marks)

    def promote_to(self, files: Mapping[str, str]) -> tuple[int, list[NuggetsError]]:
        """The number of new entries, and the errors; an error in one file does not stop the others.

        A new file is created only if there is an entry for it. A file that a person deleted is not
        created again, unless it is the standard file of a project.
        """
        count, problems, expected = 0, [], self._expected_files()
        for path, project in files.items():
            has_folder = os.path.isdir(os.path.dirname(os.path.dirname(path)))  # of the project
            if path in expected or (has_folder and not self._was_removed(path)):
                try:
                    count += self.promote(path, project, is_named=False).new_count
                except NuggetsError as problem:
                    problems.append(problem)
        return count, problems

    def text_that_holds(
        self, path: str, caveats: Callable[[MemoryNote], Sequence[str]]
    ) -> MemoryFileText:
        """The text of a file as far as it holds, and the lines of ours that do not: their memories
        are gone, out of their time, or say something else. A line of a stale memory says so.

        `caveats`: what speaks against relying on a memory.
        """
        entries = self.record_of(path).entries
        notes = self._transactions.state.notes.many(entries)
        now = self._context.now()
        kept: list[Line] = []
        outdated: list[str] = []
        for line in self._lines(path):
            note = notes.get(line.owner)
            holds = note is not None and not note.hidden and not invalidity(note, now)
            if note and holds and line_hash(line.text) == line_hash(line_for(note)):
                kept.append(Line(with_caveats(line.text, caveats(note)), "\n", note.id))
            elif line.owner and entries[line.owner].fate == "written":
                outdated.append(line.text)
            else:  # a person's words
                kept.append(line._replace(end="\n", owner=""))
        kept = without_bare_headings(kept)
        owners = {line.text: line.owner for line in kept if line.owner or line.is_our_heading}
        return MemoryFileText(join_lines(kept), outdated, owners)

    def record_of(self, path: str) -> WrittenEntries:
        """The record of the entries written to a memory file."""
        marks = self._transactions.state.marks
        return written_entries(marks, f"{FILE_MARK}{self._recorded_path(path)}")

    def _recorded_path(self, path: str) -> str:
        """The path under which a file is recorded: its old one if it moved with this project."""
        marks = self._transactions.state.marks
        if f"{FILE_MARK}{path}" in marks or not os.path.lexists(path):
            return path
        moved = (
            recorded
            for recorded, record in memory_file_records(marks).items()
            if record["project"] == self._context.project
            and os.path.basename(recorded) == os.path.basename(path)
            and not os.path.lexists(recorded)
        )
        return next(moved, path)

    def _move_record(self, path: str) -> None:
        """Record a file that moved with this project under its new path."""
        recorded, marks = self._recorded_path(path), self._transactions.state.marks
        if recorded != path:
            record = marks[f"{FILE_MARK}{recorded}"]
            self._write_marks({f"{FILE_MARK}{path}": record, f"{FILE_MARK}{recorded}": None})

    def has_entry(self, path: str, note_id: str) -> bool:
        """Whether the entry of a note is in the file now; people may have removed it."""
        return note_id in self._owners(path)

    def files_with_entry(self, ids: Collection[str]) -> list[str]:
        """The written files that have an entry of one of the notes."""
        return [path for path in self.written_files() if not self._owners(path).isdisjoint(ids)]

    def _owners(self, path: str) -> set[str]:
        with suppress(NuggetsError):  # the next write to the file reports the error
            return {line.owner for line in self._lines(path)}
        return set()

    def _lines(self, path: str) -> list[Line]:
        return entry_lines(file_access.read(path), self.record_of(path))

    def _was_removed(self, path: str) -> bool:
        """Whether we wrote the file, or our block in it, and someone deleted it."""
        if self.record_of(path) == WrittenEntries():
            return False
        return not os.path.lexists(path) or (is_block_file(path) and not file_access.read(path))

    def written_files(self) -> dict[str, str]:
        """Path and project of each memory file that was ever written."""
        with self._transactions.reading() as view:
            records = memory_file_records(view.state.marks)
        return {path: record["project"] for path, record in records.items()}

    def other_files(self, path: str, project: str) -> dict[str, str]:
        """The files of a project that were written, but for this one."""
        written = self.written_files().items()
        return {other: of for other, of in written if of == project and other != path}

    def all_files(self) -> dict[str, str]:
        """Path and project of the written files and of the standard files."""
        return {**self._expected_files(), **self.written_files()}

    def _expected_files(self) -> dict[str, str]:
        """The standard files of the current project and of all others. If NUGGETS_MEMORY_FILE is
        set, the others have none."""
        files: dict[str, str] = {}
        with suppress(NotFound):
            files[self._default_path()] = self._context.project
        if not self._is_configured:
            with self._transactions.reading() as view:
                projects = {project: project for project in view.state.notes.projects()}
                places = {place.path: place for place in recorded_locations(view.state.marks)}
            projects |= {path: place.project for path, place in places.items()}
            for location, project in projects.items():
                own = file_access.shelf_path(self._transactions.store.directory, project)
                with suppress(NotFound):
                    files.setdefault(file_access.locate("", location, own), project)
        return files

    def files_mentioning(self, versions: Sequence[MemoryNote]) -> list[str]:
        """Files with a line of someone else that quotes a version of a note."""
        paths = []
        for path in self.all_files():
            remove_leftovers(os.path.realpath(path))
            with suppress(NuggetsError):  # promotion has reported the error already
                if mentions_notes(self._lines(path), versions):
                    paths.append(path)
        return paths

    def marks_after_move(self, move: ProjectMove) -> dict[str, Any]:
        """The marks that change when a project moves: its files are those of the new one. A file
        that moved along is found by its name (`record_of`)."""
        marks = self._transactions.state.marks
        return {
            f"{FILE_MARK}{path}": {**marks[f"{FILE_MARK}{path}"], "project": move.new}
            for path, project in self.written_files().items()
            if project == move.old
        }

    def import_all_edits(self, project: str | None = None) -> None:
        """Take over what people did to the lines of all files, or of a project's, as far as they
        can be read."""
        files = self.written_files() if project is None else self.other_files("", project)
        for path in files:
            with suppress(NuggetsError):
                self.import_edits(path)
