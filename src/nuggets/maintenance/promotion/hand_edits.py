"""Our lines of a memory file, found again; what people did to them since the file was last seen,
and what that changes on the shelf. Pure.

A changed line changes its memory, a deleted one archives it, one that is put back restores it, by
the rules for all copies that people edit. One commit, which `undo` takes back.

A changed line is paired with its memory by its title, by its content, or because it says nearly
the same; only lines that were not there when the file was last seen can be changed ones. If many
lines are gone at once, nobody deleted them one by one: another version of the file is there.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

from nuggets.domain.codec import Json, note_to_json
from nuggets.domain.records import Changes, ExternalEdit, MemoryNote
from nuggets.domain.state import MemoryState, State, fact_in_the_way
from nuggets.domain.three_way_merge import are_alike, are_too_many
from nuggets.errors import InvalidInput
from nuggets.language.markdown import Markup, continues_item, is_blank, is_item, structure
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
    why_secret,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.external_edits import import_edit
from nuggets.operations.lookups_before_write import FindAnchors
from nuggets.operations.note_completion import note_from_whole_json
from nuggets.operations.notes_and_links import normal_value

ACTION, CLIENT = "edit_memory_file", "memory file"  # in the history: nobody says who edits the file
_NOTHING_DONE = "; no memory was changed or archived"
_CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")


# --- finding entries ---------------------------------------------------------------------------

NO_LINES: Mapping[str, str] = {}
TELLING_CHARACTERS = 4  # a shorter content occurs in any text
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")


class Line(NamedTuple):
    """A line, its line ending, and the id of the note whose entry it is; "" for other lines.

    An item that someone wrapped is one line, with line endings inside.
    """

    text: str
    end: str
    owner: str = ""
    is_our_heading: bool = False
    markup: Markup = Markup()

    @property
    def is_blank(self) -> bool:
        return is_blank(self.text)

    @property
    def is_plain(self) -> bool:
        return self.markup.is_plain


def parse_lines(text: str) -> list[Line]:
    """The lines; `join_lines` gives the same text again."""
    return [Line(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]


def join_lines(lines: Iterable[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def entry_lines(
    text: str, written: WrittenEntries, current: Mapping[str, str] = NO_LINES
) -> list[Line]:
    """The lines of a file, each entry with its owner; an item that someone wrapped is one line,
    indented or not.

    An entry is a line as it was written last, or as it would be written now (`current`, by note
    id): a crash may come between writing the file and writing the record. Below it lines are a
    person's own, and so is what stood in the file when we last wrote it.
    """
    ids: defaultdict[str, list[str]] = defaultdict(list)  # of the notes that a line may be of
    for note_id, entry in sorted(written.entries.items()):
        ids[entry.line].append(note_id)
    for note_id, line_now in sorted(current.items()):
        ids[line_hash(line_now)].append(note_id)
    lines = _join_wrapped(text, written, ids)
    owned: set[str] = set()
    for n, line in enumerate(lines):
        if is_item(line.text):
            owner = next((i for i in ids.get(line_hash(line.text), ()) if i not in owned), "")
            lines[n] = line._replace(owner=owner)
            owned.add(owner)
    return lines


def _join_wrapped(text: str, written: WrittenEntries, known: Container[str]) -> list[Line]:
    """`known`: hashes of lines that nobody wrapped."""
    lines: list[Line] = []
    may_go_on = False
    physical = parse_lines(text)
    markup = structure([line.text for line in physical])
    headings = [short_hash(ln.text) for ln, m in zip(physical, markup, strict=True) if m.level]
    for line, kind in zip(physical, markup, strict=True):
        digest = short_hash(line.text) if kind.level else ""
        is_ours = digest in written.headings and headings.count(digest) == 1  # else a person's
        line = line._replace(is_our_heading=is_ours, markup=kind)
        is_own = short_hash(line.text) in written.others
        if may_go_on and line.is_plain and not is_own and continues_item(line.text):
            wrapped = lines.pop()
            line = Line(wrapped.text + wrapped.end + line.text, line.end)
        else:
            may_go_on = line.is_plain and is_item(line.text) and line_hash(line.text) not in known
        lines.append(line)
    return lines


def mentions_notes(lines: Iterable[Line], versions: Sequence[MemoryNote]) -> bool:
    """Whether a line of someone else has the title or the content of a version of a note."""
    other_text = "\n".join(line.text for line in lines if not line.owner)
    contents = (entry_text(line_for(note)).content.removesuffix(ELLIPSIS) for note in versions)
    telling = [content for content in contents if len(content) >= TELLING_CHARACTERS]
    return any(words in other_text for words in (*map(title_of, versions), *telling))


# --- what people did ---------------------------------------------------------------------------


class PersonEdits(NamedTuple):
    """What people did, by note id."""

    changed: Mapping[str, str] = {}  # the line as it is now
    deleted: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()  # deleted before
    problem: str = ""  # why nothing is taken over


class FileEdits(NamedTuple):
    """What was taken over from a memory file, by note id, and what was not."""

    path: str
    changed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    refused: Mapping[str, str] = {}  # why a changed line does not change its memory
    problem: str = ""  # why nothing was taken over
    is_news: bool = False  # what was not taken over was not reported yet

    @property
    def not_taken_over(self) -> str:
        """Why all or some lines change no memory; "" if each does."""
        problems = [self.problem + _NOTHING_DONE] if self.problem else []
        return "; ".join([*problems, *dict.fromkeys(self.refused.values())])


class EditImport(NamedTuple):
    """What an import changes on the shelf and in the record of the file."""

    changes: Changes
    written: WrittenEntries
    edits: FileEdits


class Shelf(NamedTuple):
    """What the edits are applied to."""

    state: State
    now: str
    draw: Callable[[], str]
    earlier: Callable[[str], Sequence[MemoryNote]]  # versions of a note, by its id
    entries_elsewhere: Collection[str]  # ids of notes that stand in other memory files too
    find_anchors: FindAnchors


def import_edits(shelf: Shelf, path: str, text: str, written: WrittenEntries) -> EditImport:
    """Apply what people did to the lines of a file."""
    notes = shelf.state.notes.many(written.entries)
    found = find_edits(text, notes, written)
    if _is_older_copy(found, shelf, written):
        found = PersonEdits(problem="it is an older copy: its lines say what memories said before")
    if found.problem:
        return EditImport(Changes(), written, FileEdits(path, problem=found.problem))
    return _apply_edits(shelf, path, found, notes, written)


def _is_older_copy(found: PersonEdits, shelf: Shelf, written: WrittenEntries) -> bool:
    """Do several of the changed lines say what their memories said before?"""
    total = len(written.entries)
    if not are_too_many(len(found.changed), total):
        return False
    old = (
        line_hash(line) in {line_hash(line_for(note)) for note in shelf.earlier(note_id)}
        for note_id, line in found.changed.items()
    )
    return are_too_many(sum(old), total)


def _apply_edits(
    shelf: Shelf,
    path: str,
    found: PersonEdits,
    notes: Mapping[str, MemoryNote],
    written: WrittenEntries,
) -> EditImport:
    """Import the edits like those of any other copy of memories."""
    entries = dict(written.entries)
    seen = MemoryState()  # as the person saw them
    shapes: dict[str, Json] = {}
    refused: dict[str, str] = {}
    for note_id, line in found.changed.items():
        known = _seen_note(shelf, notes[note_id], entries[note_id])
        title, content = apply_edit(known or notes[note_id], unwrap_line(line))
        if known is None:
            known = notes[note_id]._replace(title="", content="")
        if (title, content) != (known.title, known.content):
            shape = {"id": note_id, "title": title, "content": content}
            reason = _why_refused(shelf, notes[note_id], shape)
            if reason:
                refused[note_id] = reason
            else:
                seen.notes[note_id], shapes[note_id] = known, shape
    changed = tuple(shapes)
    for note_id in found.deleted:
        entries[note_id] = entries[note_id]._replace(fate="declined", memory="")
    retired = tuple(
        # one of no project that other files have is only taken out of this one
        note_id
        for note_id in found.deleted
        if notes[note_id].project or note_id not in shelf.entries_elsewhere
    )
    for note_id in found.put_back:
        entries[note_id] = Entry(entries[note_id].line)
    restored = tuple(note_id for note_id in found.put_back if notes[note_id].hidden)
    for note_id in (*retired, *restored):
        seen.notes[note_id] = notes[note_id]
        shapes[note_id] = {"id": note_id, "hidden": note_id in retired}
    edit = ExternalEdit(1, notes=tuple(shapes.values()), removed=())
    changes = import_edit(shelf.draw, shelf.state, seen, edit, shelf.now, shelf.find_anchors)
    after = {**notes, **{note.id: note for note in changes.changes.put}}
    for note_id, line in found.changed.items():
        if note_id not in refused:
            entries[note_id] = Entry.from_lines(line, line_for(after[note_id]))
    edits = FileEdits(path, changed, retired, restored, refused)
    return EditImport(changes.changes, written._replace(entries=entries), edits)


def _seen_note(shelf: Shelf, note: MemoryNote, entry: Entry) -> MemoryNote | None:
    """The note as it was when its line was written; None if the history has no such version."""
    hashes = (entry.line, entry.memory)
    if line_hash(line_for(note)) in hashes:
        return note
    return next((old for old in shelf.earlier(note.id) if line_hash(line_for(old)) in hashes), None)


def _why_refused(shelf: Shelf, note: MemoryNote, shape: Json) -> str:
    """Why a memory must not say what its line says now; "" if it may."""
    try:
        after = note_from_whole_json({**note_to_json(note, vector=False), **shape}, "the line")
        if after.kind == "fact":
            normal_value(after.content)
            if fact_in_the_way(shelf.state.notes, note, after):
                return f"another fact has the key {after.title!r:.80}"
    except InvalidInput as problem:
        return str(problem)
    return why_secret(after)


def find_edits(text: str, notes: Mapping[str, MemoryNote], written: WrittenEntries) -> PersonEdits:
    """Compare the text of a memory file with what we wrote; "" means that the file is missing."""
    current = {i: line_for(notes[i]) for i in written.entries if i in notes}
    lines = entry_lines(text.removeprefix("\ufeff"), written, current)
    live = {
        i: entry
        for i, entry in written.entries.items()
        if entry.fate != "declined" and i in notes and not notes[i].hidden
    }
    if all(line.is_blank for line in lines):
        return PersonEdits(problem="it is missing or empty" if live else "")
    if all(any(line.startswith(mark) for line in text.splitlines()) for mark in _CONFLICT_MARKS):
        return PersonEdits(problem="it has the marks of an unresolved conflict")
    owners = {line.owner for line in lines}
    gone = [i for i in live if i not in owners]
    entries = {line.text for line in lines if line.owner}
    new = [
        line
        for line in lines
        if not (line.is_blank or line.text in entries or short_hash(line.text) in written.others)
    ]
    new_items = [line.text for line in new if line.is_plain and is_item(line.text)]
    changed = _pair(gone, notes, new_items)
    new_text = "\n".join(line.text for line in new)
    deleted = tuple(
        i
        for i in gone
        if live[i].is_in_file and i not in changed and title_of(notes[i]) not in new_text
    )
    if are_too_many(len(deleted), sum(entry.is_in_file for entry in live.values())):
        return PersonEdits(
            problem=f"{len(deleted)} lines of Nuggets are gone at once (write them again, or "
            "archive what is wrong with `nuggets note archive`, then promote: "
            f"{', '.join(deleted)})"
        )
    declined = (i for i, entry in written.entries.items() if entry.fate == "declined")
    put_back = tuple(i for i in declined if i in owners and i in notes)
    return PersonEdits(changed, deleted, put_back)


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
