"""Keeps a folder of Markdown and the shelf equal, both ways: a file for every visible note.

A register beside the shelf says for every file which note it is, how it was left, and when. A file
that someone changed since is an external edit like one of the documented files: it is compared with
the note as it was then (`operations/external_edits.py`). A file is written only if its note says
something else than it does; one that cannot be read is left alone.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from typing import Any

from nuggets.domain import codec
from nuggets.domain.limits import CONTENT_BYTES
from nuggets.domain.records import Changes, ExternalEdit, MemoryNote
from nuggets.domain.state import MemoryState, State
from nuggets.domain.three_way_merge import are_too_many
from nuggets.domain.times import note_at
from nuggets.errors import InvalidInput
from nuggets.filesystem.atomic_files import unreadable, unwritable
from nuggets.filesystem.untrusted_folder import (
    FoundFile,
    check_place,
    digest_of,
    find_files,
    open_folder,
    read_plain,
    read_register,
    register_path,
    remove_plain,
    replace_plain,
    save_register,
)
from nuggets.language.text import fold_case
from nuggets.maintenance import ShelfContext
from nuggets.maintenance.export_and_backup import free_name, safe_name
from nuggets.maintenance.vault_notes import (
    ENDING,
    VaultFile,
    as_shown,
    rename_links,
    stem_of,
    vault_text,
    wikilink_name,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.external_edits import import_edit
from nuggets.operations.note_completion import notes_from_json
from nuggets.operations.note_merging import CONFLICT
from nuggets.operations.notes_and_links import edit_note, note_id
from nuggets.stores.json_validation import check_note

VAULT = "vault"  # the action of its commits
REGISTERS = "vaults"  # the directory of the registers, beside the database
MOST_FILES = 100_000  # as an import of a folder reads
MOST_BYTES = 2 * CONTENT_BYTES  # of a file: a note of the largest content with all its fields

Json = dict[str, Any]
Report = Callable[[str], None]
_STEP = 500  # files between two reports: ours, a person sees it go on


class VaultResult(NamedTuple):
    """What came in and what went out."""

    folder: str
    added: tuple[MemoryNote, ...] = ()
    updated: tuple[MemoryNote, ...] = ()
    removed: tuple[MemoryNote, ...] = ()
    conflicts: tuple[MemoryNote, ...] = ()  # versions that were kept beside the one that holds
    written: tuple[str, ...] = ()  # files
    deleted: tuple[str, ...] = ()
    unchanged: int = 0  # files that were left as they are
    problems: tuple[str, ...] = ()


class _Entry(NamedTuple):
    """A file as it was left."""

    note: str  # id
    content: str  # fingerprint of its bytes
    text: str  # fingerprint of what would be written for its note
    stem: str  # the name that follows from its note's title
    size: int
    modified_ns: int


class Vault:
    """One folder, brought up to date once."""

    def __init__(self, context: ShelfContext, folder: str, report: Report) -> None:
        self._context = context
        self._transactions = context.transactions
        self._folder = folder
        self._report = report
        directory = self._transactions.store.directory
        if not directory:
            raise InvalidInput("a shelf in memory has no vault; open one in a directory")
        check_place(folder, directory)
        self._register_path = register_path(directory, REGISTERS, folder)
        # all files as they were left, and the time of the last commit that they show
        self._left, self._left_at = self._read_register()
        self._found: dict[str, FoundFile] = {}  # what is in the folder
        self._edited: dict[str, VaultFile] = {}  # of that what is not as it was left
        self._digests: dict[str, str] = {}  # of the bytes of these
        self._unread: set[str] = set()  # what is there and cannot be taken in
        self._ids: dict[str, str] = {}  # the note of each edited file
        self._old_paths: dict[str, str] = {}  # of files that were renamed
        self._calls: dict[str, str] = {}  # ids by all that wikilinks may call a note
        self._problems: list[str] = []

    def sync(self, *, dry_run: bool = False) -> VaultResult:
        """Take in what people changed in the files, and write what changed on the shelf."""
        if not dry_run:
            self._transactions.settle()
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._scan_folder()
        before, changes = self._take_in(dry_run=dry_run)
        written, deleted = self._write(dry_run=dry_run)
        put = changes.put
        return VaultResult(
            self._folder,
            tuple(note for note in put if note.id not in before and CONFLICT not in note.tags),
            tuple(note for note in put if note.id in before),
            tuple(before[i] for i in changes.drop if i in before),
            tuple(note for note in put if note.id not in before and CONFLICT in note.tags),
            tuple(written),
            tuple(deleted),
            len(self._found) - len(set(written) & self._found.keys()) - len(deleted),
            tuple(self._problems),
        )

    # --- the folder -------------------------------------------------------------------------

    def _scan_folder(self) -> None:
        """Find the files that are not as they were left."""
        try:
            with open_folder(self._folder) as folder:
                files, self._problems = find_files(folder, ENDING, MOST_FILES)
                for file in files:
                    known = self._left.get(file.path)
                    if known and (known.size, known.modified_ns) == file[1:]:
                        continue
                    try:
                        raw = read_plain(folder, file.path, MOST_BYTES)
                        self._digests[file.path] = digest_of(raw)
                        if known is None or known.content != self._digests[file.path]:
                            self._edited[file.path] = VaultFile(file.path, raw.decode("utf-8-sig"))
                    except (OSError, ValueError, RecursionError) as problem:
                        self._leave(file.path, problem)
        except FileNotFoundError:
            return  # a preview of a new one
        except OSError as problem:
            raise unreadable(self._folder, problem) from problem
        self._found = {file.path: file for file in files}

    def _leave(self, path: str, problem: Exception) -> None:
        """Leave a file alone, and say why."""
        self._problems.append(f"{path!r:.120}: {problem}")
        self._unread.add(path)

    # --- from the files ---------------------------------------------------------------------

    def _take_in(self, *, dry_run: bool) -> tuple[Mapping[str, MemoryNote], Changes]:
        """All notes until then, and what changed."""

        def decide() -> tuple[Changes, tuple[Mapping[str, MemoryNote], Changes]]:
            notes = dict(self._transactions.state.notes.items())
            changes = self._decide(self._transactions.state, notes)
            return changes, (notes, changes)

        if dry_run or not (self._edited or self._left.keys() - self._found.keys()):
            with self._transactions.reading():
                return decide()[1]
        return self._transactions.update(VAULT, self._context.client, decide)

    def _decide(self, state: State, notes: Mapping[str, MemoryNote]) -> Changes:
        now = self._context.now()
        gone = {path: entry for path, entry in self._left.items() if path not in self._found}
        self._identify(gone, notes)
        moved = set(self._old_paths.values())
        removed = [entry.note for path, entry in gone.items() if path not in moved]
        if are_too_many(len(removed), len(self._left)):
            self._problems.append(
                f"{len(removed)} of {len(self._left)} files are gone at once: none of their "
                "notes was deleted, and they are written again"
            )
            removed = []
        if len(self._found) >= MOST_FILES:  # the listing was cut, so what it lacks may be there
            removed = []
        self._find_calls(notes)
        base, shapes, ids_there = MemoryState(), [], set(self._calls.values())
        for path, file in self._edited.items():
            current = notes.get(self._ids[path])
            old_path = self._old_paths.get(path, path if path in self._left else "")
            known = self._note_then(self._ids[path]) if old_path else None
            if known is None and current is not None:
                known = current._replace(title="", content="")  # what its author saw is unknown
            try:
                shape = file.to_json(self._ids[path], known, old_path, self._calls)
                shape = self._checked_shape(shape, current or known)
            except InvalidInput as problem:
                self._leave(path, problem)
                continue
            if known is not None:
                base.notes[known.id] = as_shown(known, ids_there)
            shapes.append(shape)
        for note in removed:
            known = self._note_then(note)
            if known is not None and note in notes:
                base.notes[note] = known
        edit = ExternalEdit(1, notes=tuple(shapes), removed=tuple(removed))
        context = self._context
        imported = import_edit(context.draw, state, base, edit, now, context.find_anchors)
        return imported.changes._replace(action="", client="")

    def _identify(self, gone: Mapping[str, _Entry], notes: Collection[str]) -> None:
        """Find the note of each edited file, and where renamed ones were before."""
        by_id = {entry.note: path for path, entry in gone.items()}
        by_content = {entry.content: path for path, entry in gone.items()}
        kept = {entry.note for path, entry in self._left.items() if path in self._found}
        ids = self._ids
        for path, file in self._edited.items():
            known = self._left.get(path)
            old = by_id.get(file.id) or by_content.get(self._digests[path])
            if known is not None:
                ids[path] = known.note
            elif old is not None and gone[old].note not in ids.values():
                ids[path], self._old_paths[path] = gone[old].note, old
            elif file.id and file.id not in kept and file.id not in ids.values():
                ids[path] = file.id
            else:  # a new note, or a copy of another file
                taken = {*notes, *ids.values()}
                ids[path] = note_id("note", file.nugget[:64], self._context.draw, taken)

    def _find_calls(self, notes: Mapping[str, MemoryNote]) -> None:
        """Find the ids by all that a wikilink may call a note, the surest name first."""
        edited, ids = self._edited, self._ids
        left = {p: e.note for p, e in self._left.items() if p not in edited}
        paths = {**ids, **left}
        names = [
            *((wikilink_name(path), note) for path, note in paths.items()),
            *((stem_of(path), note) for path, note in paths.items()),
            *((file.title, ids[path]) for path, file in edited.items() if file.title),
            *((notes[note].title, note) for note in left.values() if note in notes),
            *((alias, ids[path]) for path, file in edited.items() for alias in file.aliases),
        ]
        for name, note in names:
            self._calls.setdefault(fold_case(name), note)

    def _note_then(self, note: str) -> MemoryNote | None:
        """The note as it was when its file was written."""
        images = self._transactions.store.history.earlier_images(note)
        return note_at(images, self._transactions.state.notes.get(note), self._left_at)

    def _checked_shape(self, shape: Json, note: MemoryNote | None) -> Json:
        """What a file says; refused if no note could be made of it."""
        if note is None:
            shape = check_note(shape, "it")
        whole = {**codec.note_to_json(note, vector=False), **shape} if note else shape
        _, problems = notes_from_json([whole], self._context.now(), self._context.draw)
        if problems:
            raise InvalidInput(problems[0].removeprefix("note 1: "))
        return shape

    # --- to the files -----------------------------------------------------------------------

    def _write(self, *, dry_run: bool) -> tuple[list[str], list[str]]:
        """Write the files of notes that say something else than they do; the paths of those, and
        of files that were deleted."""
        paths, moved = self._paths()
        if moved and not dry_run:
            self._rename_in_texts(moved, paths)
        with self._transactions.reading() as view:
            at = self._transactions.store.position[1]
            notes = {i: n for i, n in view.state.notes.items() if i in paths and not n.hidden}
        paths = {note: path for note, path in paths.items() if note in notes}
        entries = {path: self._left[path] for path in self._unread & self._left.keys()}
        written: list[str] = []
        try:
            with nullcontext(-1) if dry_run else open_folder(self._folder) as folder:
                for number, (note_id_, path) in enumerate(paths.items()):
                    if number % _STEP == 0:
                        self._report(f"{number} of {len(paths)} files")
                    note = notes[note_id_]
                    text = vault_text(note, paths).encode(errors="replace")
                    entry = self._find_entry(note, path, text)
                    if entry is None and self._is_as_found(path):
                        written.append(path)
                        if not dry_run:
                            replace_plain(folder, path, text, 0o600, durable=False)
                            status = os.lstat(os.path.join(self._folder, path))
                            looks = status.st_size, status.st_mtime_ns
                            entry = _new_entry(note, text, digest_of(text), looks)
                    entry = entry or self._left.get(path)
                    if entry is not None:
                        entries[path] = entry
                gone = (p for p in self._left if p in self._found and p not in entries)
                deleted = [path for path in gone if self._is_as_found(path)]
                for path in () if dry_run else deleted:
                    remove_plain(folder, path)
        except OSError as problem:
            raise unwritable(self._folder, problem) from problem
        if not dry_run:
            shape = {path: list(entry) for path, entry in entries.items()}
            register_json = {"folder": self._folder, "at": at, "files": shape}
            save_register(self._register_path, register_json)
        return written, deleted

    def _paths(self) -> tuple[dict[str, str], dict[str, str]]:
        """The path of each visible note's file, by id; and where files were that are elsewhere now,
        because a note was renamed on the shelf, or its file by a person."""
        with self._transactions.reading() as view:
            notes = {i: n for i, n in view.state.notes.items() if not n.hidden}
        taken_in = {p: note for p, note in self._ids.items() if p not in self._unread}
        there = {entry.note: path for path, entry in self._left.items()}
        there |= {note: path for path, note in taken_in.items()}
        paths = {note: path for note, path in there.items() if note in notes}
        taken = {fold_case(path.removesuffix(ENDING)) for path in (*self._found, *paths.values())}
        moved = {taken_in[p]: old for p, old in self._old_paths.items() if p in taken_in}
        for note_id_, note in notes.items():
            path = paths.get(note_id_, "")
            entry = self._left.get(path)
            is_renamed = entry is not None and entry.stem != safe_name(note.title)
            folder = os.path.dirname(path) if path else safe_name(note.nugget_name)
            if not path or (is_renamed and path not in self._edited and path not in self._unread):
                paths[note_id_] = free_name(folder, note.id, note.title, taken) + ENDING
                if path:
                    moved[note_id_] = path
            taken.add(fold_case(paths[note_id_].removesuffix(ENDING)))
        return {note: path for note, path in paths.items() if path not in self._unread}, moved

    def _find_entry(self, note: MemoryNote, path: str, text: bytes) -> _Entry | None:
        """The entry of a file that need not be written; None if it must be."""
        known, found = self._left.get(path), self._found.get(path)
        if found is None:
            return None
        if path in self._edited:
            file = VaultFile(path, text.decode())
            if self._edited[path].says(file, note, self._calls):
                return _new_entry(note, text, self._digests[path], found[1:])
        elif known is not None and known.text == digest_of(text):
            return _new_entry(note, text, known.content, found[1:])
        return None

    def _is_as_found(self, path: str) -> bool:
        """Has nobody changed the file since it was read? Else the next time takes that in."""
        found = self._found.get(path)
        try:
            status = os.lstat(os.path.join(self._folder, path))
        except OSError:
            return True
        return found is not None and found[1:] == (status.st_size, status.st_mtime_ns)

    def _rename_in_texts(self, moved: Mapping[str, str], paths: Mapping[str, str]) -> None:
        """Let wikilinks in the texts of notes follow the files that are called otherwise now."""
        stems = [fold_case(stem_of(path)) for path in (*paths.values(), *moved.values())]
        renamed = {}
        for note, old in moved.items():
            if note in paths:
                renamed[fold_case(wikilink_name(old))] = wikilink_name(paths[note])
                if stems.count(fold_case(stem_of(old))) == 1:
                    renamed[fold_case(stem_of(old))] = stem_of(paths[note])

        def decide() -> tuple[Changes, None]:
            now = self._context.now()
            put = []
            for note in self._transactions.state.notes.values():
                content = rename_links(note.content, renamed)
                if content != note.content:
                    put.append(edit_note(note, now=now, content=content))
            return Changes(put=tuple(put)), None

        self._transactions.update(VAULT, self._context.client, decide)

    # --- the register -----------------------------------------------------------------------

    def _read_register(self) -> tuple[Mapping[str, _Entry], str]:
        shape = read_register(self._register_path)
        try:
            return {path: _Entry(*entry) for path, entry in shape["files"].items()}, shape["at"]
        except (AttributeError, LookupError, TypeError):
            return {}, ""  # then every file is compared with its note


def _new_entry(note: MemoryNote, text: bytes, content: str, looks: tuple[int, int]) -> _Entry:
    """`text`: what would be written for the note; `content`: the fingerprint of what is there."""
    return _Entry(note.id, content, digest_of(text), safe_name(note.title), *looks)
