"""Takes over what people did to the lines of a memory file: what it changes on the shelf. Pure.

A changed line changes its memory, a deleted one archives it, one that is put back restores it. One
commit, which `undo` takes back.
"""

from collections.abc import Callable, Collection, Mapping

from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.state import Overlay, State
from nuggets.errors import NuggetsError
from nuggets.graph.metadata_inference import metadata_from_kwargs
from nuggets.named_tuple import NamedTuple
from nuggets.operations.client_permissions import Client
from nuggets.operations.decisions import Decisions
from nuggets.promotion.edit_detection import PersonEdits, find_edits
from nuggets.promotion.edited_memory import apply_edit
from nuggets.promotion.entry_hashes import Entry, WrittenEntries, line_hash, short_hash
from nuggets.promotion.entry_rendering import line_for

ACTION = "edit_memory_file"
CLIENT = Client("memory file", is_unattended=True)  # nobody says who edits the file


class FileEdits(NamedTuple):
    """What was taken over from a memory file, by note id, and what was not."""

    path: str
    changed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    refused: Mapping[str, str] = {}  # why a changed line does not change its memory
    refused_lines: frozenset[str] = frozenset()  # short hashes of these lines
    problem: str = ""  # why nothing was taken over
    is_news: bool = False  # the problem was not reported yet


class EditImport(NamedTuple):
    """What an import changes on the shelf and in the record of the file."""

    changes: Changes
    written: WrittenEntries
    edits: FileEdits


class Shelf(NamedTuple):
    """What the edits are applied to."""

    state: State
    project: str
    now: str
    earlier_lines: Callable[[str], Collection[str]]  # hashes of a note's lines in the past
    entries_elsewhere: Collection[str]  # ids of notes that stand in other memory files too


def import_edits(
    shelf: Shelf,
    path: str,
    text: str,
    written: WrittenEntries,
    why_not: Callable[[MemoryNote], str],
) -> EditImport:
    """Apply what people did to the lines of a file; `why_not`: why a note may not be in it."""
    notes = shelf.state.notes.many(written.entries)
    found = find_edits(text, notes, written)
    if _is_older_copy(found, shelf, written):
        found = PersonEdits(problem="it is an older copy: its lines say what memories said before")
    if found.problem:
        return EditImport(Changes(), _mark_missing(found, text, written), _report(path, found))
    return _Import(shelf, path, written, why_not).run(found, notes)


def _report(path: str, found: PersonEdits) -> FileEdits:
    return FileEdits(path, problem=found.problem)


def _mark_missing(found: PersonEdits, text: str, written: WrittenEntries) -> WrittenEntries:
    """Entries that are gone from a file with other content; a lost file is written again."""
    if not text.strip():
        return written
    missing = {i: written.entries[i]._replace(fate="missing") for i in found.missing}
    return written._replace(entries={**written.entries, **missing})


def _is_older_copy(found: PersonEdits, shelf: Shelf, written: WrittenEntries) -> bool:
    """Do several of the changed lines say what their memories said before?"""
    limit = max(1, len(written.entries) // 5)
    if len(found.changed) <= limit:
        return False
    old = (line_hash(line) in shelf.earlier_lines(i) for i, line in found.changed.items())
    return sum(old) > limit


class _Import:
    """One import while it is decided."""

    def __init__(
        self,
        shelf: Shelf,
        path: str,
        written: WrittenEntries,
        why_not: Callable[[MemoryNote], str],
    ) -> None:
        self.shelf = shelf
        self.path = path
        self.why_not = why_not
        self.state = Overlay(shelf.state)
        self.put: dict[str, MemoryNote] = {}
        self.marks: dict[str, object] = {}
        self.entries = dict(written.entries)
        self.written = written
        self.refused: dict[str, str] = {}

    def run(self, found: PersonEdits, notes: Mapping[str, MemoryNote]) -> EditImport:
        changed = [i for i, line in found.changed.items() if self._change(notes[i], line)]
        retired = [i for i in found.deleted if self._retire(notes[i])]
        restored = [i for i in found.put_back if self._edit(notes[i], hidden=False)]
        for note_id in restored:
            self.entries[note_id] = Entry(self.entries[note_id].line)
        refused_lines = frozenset(
            short_hash(line) for i, line in found.changed.items() if i in self.refused
        )
        edits = FileEdits(
            self.path,
            tuple(changed),
            tuple(retired),
            tuple(restored),
            self.refused,
            refused_lines,
        )
        changes = Changes(put=tuple(self.put.values()), marks=self.marks)
        return EditImport(changes, self.written._replace(entries=self.entries), edits)

    def _change(self, note: MemoryNote, line: str) -> bool:
        """Change a memory to what its line says now; False if only the form of the line changed."""
        entry = self.entries[note.id]
        own_line = line_hash(line_for(note))
        if own_line not in (entry.line, entry.memory):
            self.refused[note.id] = "the memory changed as well since the line was written"
            return False
        title, content = apply_edit(note, line)
        says_more = (title, content) != (note.title, note.content)
        if says_more and not self._edit(note, title=title, content=content):
            return False
        after = self.put.get(note.id, note)
        fresh = line_hash(line_for(after))
        digest = line_hash(line)
        self.entries[note.id] = (
            Entry(digest) if digest == fresh else Entry(digest, "changed", fresh)
        )
        return says_more

    def _retire(self, note: MemoryNote) -> bool:
        """Archive a memory. One of no project that other files have is only taken out of this."""
        self.entries[note.id] = self.entries[note.id]._replace(fate="declined", memory="")
        if not note.project and note.id in self.shelf.entries_elsewhere:
            return False
        return self._edit(note, hidden=True)

    def _edit(
        self,
        note: MemoryNote,
        *,
        title: str | None = None,
        content: str | None = None,
        hidden: bool | None = None,
    ) -> bool:
        """Edit a memory by the rules of all doors; False, with the reason, if they refuse."""
        decisions = Decisions(
            self.state,
            project=self.shelf.project,
            client=CLIENT,
            readings=None,
            now=self.shelf.now,
            draw=str,  # an edit draws no id
        )
        try:
            changes, after = decisions.edit_note(
                note.id,
                None,
                None,
                metadata_from_kwargs({}),
                content=content,
                title=title,
                tags=None,
                hidden=hidden,
            )
        except NuggetsError as problem:
            self.refused[note.id] = str(problem)
            return False
        reason = "" if after.hidden else self.why_not(after)
        if reason and not self.why_not(note):
            self.refused[note.id] = reason
            return False
        self.state.apply(changes)
        self.put.update((changed.id, changed) for changed in changes.put)
        self.marks.update(changes.marks)
        return bool(changes.put)
