"""Our lines of a memory file, found again; what people did to them since the file was last seen,
and what that changes on the shelf. Pure.

A changed line changes its memory, a deleted one archives it, one that is put back restores it. One
commit, which `undo` takes back.

A changed line is paired with its memory by its title, by its content, or because it says nearly
the same; only lines that were not there when the file was last seen can be changed ones. If many
lines are gone at once, nobody deleted them one by one: another version of the file is there.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.state import MemoryState, State, load_state
from nuggets.domain.three_way_merge import are_alike, are_too_many
from nuggets.errors import NuggetsError
from nuggets.language.markdown import continues_item, is_blank, is_item, structure
from nuggets.language.text import ELLIPSIS
from nuggets.maintenance.promotion.entries import (
    Entry,
    WrittenEntries,
    apply_edit,
    entry_text,
    line_for,
    line_hash,
    short_hash,
    title_of,
    unwrap_line,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.lookups_before_write import FindAnchors, anchor_edit
from nuggets.operations.metadata_inference import metadata_from_kwargs
from nuggets.operations.operation_changes import OperationChanges
from nuggets.operations.permissions import Client

ACTION = "edit_memory_file"
# nobody says who edits the file
CLIENT = Client("memory file", refuses_credentials=True, is_unattended=True)
CHANGED_TOO = "the memory was changed too"
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")


# --- finding entries ---------------------------------------------------------------------------

TELLING_CHARACTERS = 4  # a shorter content occurs in any text
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")


class Line(NamedTuple):
    """A line, its line ending, and the id of the note whose entry it is; "" for other lines.

    An item that someone wrapped is one line, with line endings inside.
    """

    text: str
    end: str
    owner: str = ""

    @property
    def is_blank(self) -> bool:
        return is_blank(self.text)


def parse_lines(text: str) -> list[Line]:
    """The lines; `join_lines` gives the same text again."""
    return [Line(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]


def join_lines(lines: Iterable[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def entry_lines(text: str, written: WrittenEntries, current: Iterable[str] = ()) -> list[Line]:
    """The lines of a file, of which an item that someone wrapped is one, indented or not.

    Below a line of ours that stands as it was written, or would be written now (`current`), lines
    are a person's own, and so is what stood in the file when we last wrote it.
    """
    known = {entry.line for entry in written.entries.values()}
    known |= {line_hash(line) for line in current}
    lines: list[Line] = []
    may_go_on = False
    physical = parse_lines(text)
    plain = structure([line.text for line in physical]).plain
    for line, is_plain in zip(physical, plain, strict=True):
        is_own = short_hash(line.text) in written.others
        if may_go_on and is_plain and not is_own and continues_item(line.text):
            wrapped = lines.pop()
            line = Line(wrapped.text + wrapped.end + line.text, line.end)
        else:
            may_go_on = is_plain and is_item(line.text) and line_hash(line.text) not in known
        lines.append(line)
    return lines


def owners_of(
    lines: list[Line], wanted: Mapping[str, str], entries: Mapping[str, Entry]
) -> dict[int, str]:
    """The note id of each line that is an entry, as it would be written now or was written last.

    A line that equals the current entry of a note counts as one even without a record, because a
    crash may come between writing the file and writing the record.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for n in range(len(lines) - 1, -1, -1):
        if is_item(lines[n].text):
            places[line_hash(lines[n].text)].append(n)
    hashes = {i: line_hash(line) for i, line in wanted.items()} if places else {}
    as_now = sorted(hashes, key=lambda i: (i not in entries or entries[i].line != hashes[i], i))
    owners: dict[int, str] = {}
    owned: set[str] = set()
    for note_id, line in [
        *((i, hashes[i]) for i in as_now),
        *((i, entries[i].line) for i in sorted(entries)),
    ]:
        if note_id not in owned and places.get(line):
            owners[places[line].pop()] = note_id
            owned.add(note_id)
    return owners


def has_entry(text: str, note_id: str, written: WrittenEntries) -> bool:
    """Whether the entry of a note is in the text as it was written."""
    entry = written.entries.get(note_id)
    return entry is not None and any(
        line_hash(line.text) == entry.line for line in entry_lines(text, written)
    )


def mentions_notes(text: str, versions: Iterable[MemoryNote], written: WrittenEntries) -> bool:
    """Whether a line of someone else has the title or the content of a version of a note."""
    own_lines = {entry.line for entry in written.entries.values()}
    other_text = "\n".join(
        line.text for line in entry_lines(text, written) if line_hash(line.text) not in own_lines
    )
    return any(words in other_text for note in versions for words in _searched_texts(note))


def _searched_texts(note: MemoryNote) -> list[str]:
    head = title_of(note)
    content = line_for(note).removeprefix(f"- {head}").removeprefix(": ").removesuffix(ELLIPSIS)
    return [head, content] if len(content) >= TELLING_CHARACTERS else [head]


# --- what people did ---------------------------------------------------------------------------


class PersonEdits(NamedTuple):
    """What people did, by note id."""

    changed: Mapping[str, str] = {}  # the line as it is now
    deleted: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()  # deleted before
    returned: tuple[str, ...] = ()  # missing before, together with many others
    missing: tuple[str, ...] = ()  # too many at once to be deletions
    problem: str = ""  # why nothing is taken over


class FileEdits(NamedTuple):
    """What was taken over from a memory file, by note id, and what was not."""

    path: str
    changed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    refused: Mapping[str, str] = {}  # why a changed line does not change its memory
    refused_lines: frozenset[str] = frozenset()  # short hashes of these lines
    problem: str = ""  # why nothing was taken over
    is_news: bool = False  # what was not taken over was not reported yet

    @property
    def not_taken_over(self) -> str:
        """Why all or some lines change no memory; "" if each does."""
        if self.problem:
            return f"{self.problem}; no memory was changed or archived"
        return "; ".join(dict.fromkeys(self.refused.values()))


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
    find_anchors: FindAnchors
    why_not: Callable[[MemoryNote], str]  # be in the file


def import_edits(shelf: Shelf, path: str, text: str, written: WrittenEntries) -> EditImport:
    """Apply what people did to the lines of a file."""
    notes = shelf.state.notes.many(written.entries)
    found = find_edits(text, notes, written)
    if _is_older_copy(found, shelf, written):
        found = PersonEdits(problem="it is an older copy: its lines say what memories said before")
    if found.problem:
        edits = FileEdits(path, problem=found.problem)
        return EditImport(Changes(), _mark_missing(found, text, written), edits)
    return _Import(shelf, written).run(path, found, notes)


def _mark_missing(found: PersonEdits, text: str, written: WrittenEntries) -> WrittenEntries:
    """Entries that are gone from a file with other content; a lost file is written again."""
    if not text.strip():
        return written
    missing = {i: written.entries[i]._replace(fate="missing") for i in found.missing}
    return written._replace(entries={**written.entries, **missing})


def _is_older_copy(found: PersonEdits, shelf: Shelf, written: WrittenEntries) -> bool:
    """Do several of the changed lines say what their memories said before?"""
    total = len(written.entries)
    if not are_too_many(len(found.changed), total):
        return False
    old = (line_hash(line) in shelf.earlier_lines(i) for i, line in found.changed.items())
    return are_too_many(sum(old), total)


class _Import:
    """One import while it is decided."""

    def __init__(self, shelf: Shelf, written: WrittenEntries) -> None:
        self.shelf = shelf
        self.put: dict[str, MemoryNote] = {}
        self.marks: dict[str, object] = {}
        self.entries = dict(written.entries)
        self.written = written
        self.refused: dict[str, str] = {}

    @cached_property
    def state(self) -> MemoryState:
        """The memories as they are after the edits so far."""
        return load_state(self.shelf.state)

    def run(self, path: str, found: PersonEdits, notes: Mapping[str, MemoryNote]) -> EditImport:
        lines = found.changed
        changed = [i for i in lines if self._change(notes[i], unwrap_line(lines[i]))]
        retired = [i for i in found.deleted if self._retire(notes[i])]
        restored = [i for i in found.put_back if self._edit(notes[i], hidden=False)]
        for note_id in (*restored, *found.returned):
            self.entries[note_id] = Entry(self.entries[note_id].line)
        refused = [lines[i] for i in lines if i in self.refused]
        edits = FileEdits(
            path,
            tuple(changed),
            tuple(retired),
            tuple(restored),
            self.refused,
            frozenset(short_hash(text) for line in refused for text in (line, *line.splitlines())),
        )
        changes = Changes(put=tuple(self.put.values()), marks=self.marks)
        return EditImport(changes, self.written._replace(entries=self.entries), edits)

    def _change(self, note: MemoryNote, line: str) -> bool:
        """Change a memory to what its line says now; False if only the form of the line changed."""
        entry = self.entries[note.id]
        own_line = line_hash(line_for(note))
        if own_line not in (entry.line, entry.memory):
            self.refused[note.id] = f"{note.title!r:.80}: {CHANGED_TOO} since the line was written"
            return False
        title, content = apply_edit(note, line)
        says_more = (title, content) != (note.title, note.content)
        if says_more and not self._edit(note, title=title, content=content):
            return False
        self.entries[note.id] = Entry.from_lines(line, line_for(self.put.get(note.id, note)))
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
        decisions = OperationChanges(
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
                metadata_from_kwargs(_times_of(note)),  # the line does not show them: they stay
                content=content,
                title=title,
                tags=None,
                hidden=hidden,
            )
        except NuggetsError as problem:
            self.refused[note.id] = str(problem)
            return False
        reason = "" if after.hidden else self.shelf.why_not(after)
        if reason and not self.shelf.why_not(note):
            self.refused[note.id] = reason
            return False
        others = (changed for changed in changes.put if changed.id != note.id)
        anchored = anchor_edit(
            self.shelf.find_anchors, self.shelf.state, note, MemoryNote._make(after)
        )
        changes = changes._replace(put=(*others, anchored) if changes.put else ())
        self.state.apply(changes)
        self.put.update((changed.id, changed) for changed in changes.put)
        self.marks.update(changes.marks)
        return bool(changes.put)


def _times_of(note: MemoryNote) -> dict[str, object]:
    times = {"valid_from": note.valid_from, "valid_until": note.valid_until}
    return {name: moment for name, moment in times.items() if moment}


def find_edits(text: str, notes: Mapping[str, MemoryNote], written: WrittenEntries) -> PersonEdits:
    """Compare the text of a memory file with what we wrote; "" means that the file is missing."""
    current = [line_for(notes[i]) for i in written.entries if i in notes]
    known = {entry.line for entry in written.entries.values()} | {*map(line_hash, current)}
    lines = entry_lines(text.removeprefix("\ufeff"), written, current)
    live = {i: e for i, e in written.entries.items() if _is_live(notes.get(i), e)}
    if all(line.is_blank for line in lines):
        problem = "it is missing or empty" if live else ""
        return PersonEdits(missing=tuple(live), problem=problem)
    if all(any(line.startswith(mark) for line in text.splitlines()) for mark in _CONFLICT_MARKS):
        return PersonEdits(problem="it has the marks of an unresolved conflict")
    hashes = [line_hash(line.text) for line in lines]
    here = set(hashes)
    gone = [i for i, e in live.items() if here.isdisjoint((e.line, line_hash(line_for(notes[i]))))]
    new = [
        n
        for n, line in enumerate(lines)
        if not (line.is_blank or hashes[n] in known or short_hash(line.text) in written.others)
    ]
    plain = structure([line.text for line in lines]).plain
    new_items = [lines[n].text for n in new if plain[n] and is_item(lines[n].text)]
    changed = _pair(gone, notes, new_items)
    new_text = "\n".join(lines[n].text for n in new)
    deleted = tuple(
        i
        for i in gone
        if i not in changed and live[i].is_in_file and title_of(notes[i]) not in new_text
    )
    total = sum(entry.is_in_file for entry in live.values())
    if are_too_many(len(deleted), total):
        problem = f"{len(deleted)} of the {total} lines of Nuggets are gone at once"
        return PersonEdits(missing=deleted, problem=problem)
    put_back = tuple(
        i
        for i, entry in written.entries.items()
        if entry.fate == "declined" and entry.line in here and i in notes and notes[i].hidden
    )
    returned = tuple(
        i for i, e in written.entries.items() if e.fate == "missing" and e.line in here
    )
    return PersonEdits(changed, deleted, put_back, returned)


def _is_live(note: MemoryNote | None, entry: Entry) -> bool:
    return note is not None and not note.hidden and entry.fate in ("written", "changed")


def _pair(gone: list[str], notes: Mapping[str, MemoryNote], new_lines: list[str]) -> dict[str, str]:
    """The changed line of each entry that has one."""
    pairs: dict[str, str] = {}
    left = list(new_lines)
    for matches in (_same_title, _same_content, _alike):
        for note_id in gone:
            if note_id not in pairs:
                line = next((ln for ln in left if matches(notes[note_id], unwrap_line(ln))), None)
                if line is not None:
                    pairs[note_id] = line
                    left.remove(line)
    return pairs


def _same_title(note: MemoryNote, line: str) -> bool:
    title = entry_text(line).title or ""
    return title.casefold() == (entry_text(line_for(note)).title or "").casefold()


def _same_content(note: MemoryNote, line: str) -> bool:
    content = entry_text(line_for(note)).content
    return bool(content) and entry_text(line).content == content


def _alike(note: MemoryNote, line: str) -> bool:
    return are_alike(line_for(note), line)
