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


class _Register(NamedTuple):
    """All files as they were left, by path."""

    at: str  # the time of the shelf's last commit that they show; "" if there was none
    files: Mapping[str, _Entry]


class _Scan(NamedTuple):
    """What is in the folder."""

    found: Mapping[str, FoundFile]
    edited: Mapping[str, VaultFile]  # that are not as they were left
    contents: Mapping[str, str]  # fingerprints of these
    unread: frozenset[str]  # that are there and cannot be read
    problems: tuple[str, ...]


class _Intake(NamedTuple):
    """What was taken in: the note of each edited file, and what changed."""

    notes: Mapping[str, str]
    old_paths: Mapping[str, str]  # of files that were renamed
    calls: Mapping[str, str]  # ids by all that wikilinks may call a note
    before: Mapping[str, MemoryNote]  # all notes until then
    changes: Changes
    problems: tuple[str, ...]


class Vault:
    """One folder."""

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
        self._register = self._read_register()
        self._scan = _Scan({}, {}, {}, frozenset(), ())

    def sync(self, *, dry_run: bool = False) -> VaultResult:
        """Take in what people changed in the files, and write what changed on the shelf."""
        if not dry_run:
            self._transactions.settle()
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._scan = self._scan_folder()
        intake = self._take_in(dry_run=dry_run)
        written, deleted = self._write(intake, dry_run=dry_run)
        put, before = intake.changes.put, intake.before
        return VaultResult(
            self._folder,
            tuple(note for note in put if note.id not in before and CONFLICT not in note.tags),
            tuple(note for note in put if note.id in before),
            tuple(before[i] for i in intake.changes.drop if i in before),
            tuple(note for note in put if note.id not in before and CONFLICT in note.tags),
            tuple(written),
            tuple(deleted),
            len(self._scan.found) - len(set(written) & self._scan.found.keys()) - len(deleted),
            (*self._scan.problems, *intake.problems),
        )

    # --- the folder -------------------------------------------------------------------------

    def _scan_folder(self) -> _Scan:
        """Find the files that are not as they were left."""
        edited, contents, unread = {}, {}, set()
        try:
            with open_folder(self._folder) as folder:
                files, problems = find_files(folder, ENDING, MOST_FILES)
                for file in files:
                    known = self._register.files.get(file.path)
                    if known and (known.size, known.modified_ns) == file[1:]:
                        continue
                    try:
                        raw = read_plain(folder, file.path, MOST_BYTES)
                        contents[file.path] = digest_of(raw)
                        if known is None or known.content != contents[file.path]:
                            edited[file.path] = VaultFile(file.path, raw.decode("utf-8-sig"))
                    except (OSError, ValueError, RecursionError) as problem:
                        problems.append(f"{file.path!r:.120}: {problem}")
                        unread.add(file.path)
        except FileNotFoundError:
            return self._scan  # a preview of a new one
        except OSError as problem:
            raise unreadable(self._folder, problem) from problem
        found = {file.path: file for file in files}
        return _Scan(found, edited, contents, frozenset(unread), tuple(problems))

    # --- from the files ---------------------------------------------------------------------

    def _take_in(self, *, dry_run: bool) -> _Intake:
        def decide() -> tuple[Changes, _Intake]:
            intake = self._decide(self._transactions.state)
            return intake.changes, intake

        gone = self._register.files.keys() - self._scan.found.keys()
        if dry_run or not (self._scan.edited or gone):
            with self._transactions.reading():
                return decide()[1]
        return self._transactions.update(VAULT, self._context.client, decide)

    def _decide(self, state: State) -> _Intake:
        register, scan = self._register, self._scan
        now, problems = self._context.now(), list[str]()
        notes = dict(state.notes.items())
        gone = {path: entry for path, entry in register.files.items() if path not in scan.found}
        ids, old_paths = self._identify(gone, state)
        moved = set(old_paths.values())
        removed = [entry.note for path, entry in gone.items() if path not in moved]
        if are_too_many(len(removed), len(register.files)):
            problems.append(
                f"{len(removed)} of {len(register.files)} files are gone at once: none of their "
                "notes was deleted, and they are written again"
            )
            removed = []
        if len(scan.found) >= MOST_FILES:  # the listing was cut, so what it lacks may be there
            removed = []
        calls = self._calls(ids, notes)
        base, shapes = MemoryState(), []
        for path, file in scan.edited.items():
            current = notes.get(ids[path])
            old_path = old_paths.get(path, path if path in register.files else "")
            known = self._note_then(ids[path], register.at) if old_path else None
            if known is None and current is not None:
                known = current._replace(title="", content="")  # what its author saw is unknown
            try:
                shape = file.to_json(ids[path], known, old_path, calls)
                for link in shape["links"]:
                    link["createdAt"] = link["createdAt"] or now
                shape = self._checked_shape(shape, current or known)
            except InvalidInput as problem:
                problems.append(f"{path!r:.120}: {problem}")
                del ids[path]
                continue
            if known is not None:
                base.notes[known.id] = known
            shapes.append(shape)
        for note in removed:
            known = self._note_then(note, register.at)
            if known is not None and note in notes:
                base.notes[note] = known
        edit = ExternalEdit(1, notes=tuple(shapes), removed=tuple(removed))
        context = self._context
        imported = import_edit(context.draw, state, base, edit, now, context.find_anchors)
        changes = imported.changes._replace(action="", client="")
        return _Intake(ids, old_paths, calls, notes, changes, tuple(problems))

    def _identify(
        self, gone: Mapping[str, _Entry], state: State
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The note of each edited file, and where renamed ones were before."""
        register, scan = self._register, self._scan
        by_id = {entry.note: path for path, entry in gone.items()}
        by_content = {entry.content: path for path, entry in gone.items()}
        kept = {entry.note for path, entry in register.files.items() if path in scan.found}
        ids: dict[str, str] = {}
        old_paths: dict[str, str] = {}
        for path, file in scan.edited.items():
            known = register.files.get(path)
            old = by_id.get(file.id) or by_content.get(scan.contents[path])
            if known is not None:
                ids[path] = known.note
            elif old is not None and gone[old].note not in ids.values():
                ids[path], old_paths[path] = gone[old].note, old
            elif file.id and file.id not in kept and file.id not in ids.values():
                ids[path] = file.id
            else:  # a new note, or a copy of another file
                taken = {*state.notes, *ids.values()}
                ids[path] = note_id("note", file.nugget[:64], self._context.draw, taken)
        return ids, old_paths

    def _calls(self, ids: Mapping[str, str], notes: Mapping[str, MemoryNote]) -> dict[str, str]:
        """Ids by all that a wikilink may call a note, the surest name first."""
        edited = self._scan.edited
        left = {p: e.note for p, e in self._register.files.items() if p not in edited}
        paths = {**{path: ids[path] for path in edited}, **left}
        names = [
            *((wikilink_name(path), note) for path, note in paths.items()),
            *((stem_of(path), note) for path, note in paths.items()),
            *((file.title, ids[path]) for path, file in edited.items() if file.title),
            *((notes[note].title, note) for note in left.values() if note in notes),
            *((alias, ids[path]) for path, file in edited.items() for alias in file.aliases),
        ]
        calls: dict[str, str] = {}
        for name, note in names:
            calls.setdefault(fold_case(name), note)
        return calls

    def _note_then(self, note: str, moment: str) -> MemoryNote | None:
        """The note as it was when its file was written."""
        images = self._transactions.store.earlier_images(note)
        return note_at(images, self._transactions.state.notes.get(note), moment)

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

    def _write(self, intake: _Intake, *, dry_run: bool) -> tuple[list[str], list[str]]:
        """Write the files of notes that say something else than they do; the paths of those, and
        of files that were deleted."""
        register, scan = self._register, self._scan
        left_alone = scan.unread | (scan.edited.keys() - intake.notes.keys())
        paths, moved = self._paths(intake, left_alone)
        if moved and not dry_run:
            self._rename_in_texts(moved, paths)
        with self._transactions.reading() as view:
            at = self._transactions.store.position[1]
            notes = {i: n for i, n in view.state.notes.items() if i in paths and not n.hidden}
        paths = {note: path for note, path in paths.items() if note in notes}
        entries = {path: register.files[path] for path in left_alone & register.files.keys()}
        written: list[str] = []
        try:
            with nullcontext(-1) if dry_run else open_folder(self._folder) as folder:
                for number, (note_id_, path) in enumerate(paths.items()):
                    if number % _STEP == 0:
                        self._report(f"{number} of {len(paths)} files")
                    note = notes[note_id_]
                    text = vault_text(note, paths).encode(errors="replace")
                    entry = self._find_entry(intake, note, path, text)
                    if entry is None and self._is_as_found(path):
                        written.append(path)
                        if not dry_run:
                            replace_plain(folder, path, text, 0o600, durable=False)
                            entry = self._new_entry(note, path, text)
                    entry = entry or register.files.get(path)
                    if entry is not None:
                        entries[path] = entry
                gone = (p for p in register.files if p in scan.found and p not in entries)
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

    def _paths(
        self, intake: _Intake, left_alone: Collection[str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The path of each visible note's file, by id; and where files were that are elsewhere now,
        because a note was renamed on the shelf, or its file by a person."""
        register, scan = self._register, self._scan
        with self._transactions.reading() as view:
            notes = {i: n for i, n in view.state.notes.items() if not n.hidden}
        there = {entry.note: path for path, entry in register.files.items()}
        there |= {note: path for path, note in intake.notes.items()}
        paths = {note: path for note, path in there.items() if note in notes}
        taken = {fold_case(path.removesuffix(ENDING)) for path in (*scan.found, *paths.values())}
        moved = {intake.notes[p]: old for p, old in intake.old_paths.items() if p in intake.notes}
        for note_id_, note in notes.items():
            path = paths.get(note_id_, "")
            entry = register.files.get(path)
            is_renamed = entry is not None and entry.stem != safe_name(note.title)
            folder = os.path.dirname(path) if path else safe_name(note.nugget_name)
            if not path or (is_renamed and path not in scan.edited and path not in left_alone):
                paths[note_id_] = free_name(folder, note.id, note.title, taken) + ENDING
                if path:
                    moved[note_id_] = path
            taken.add(fold_case(paths[note_id_].removesuffix(ENDING)))
        return {note: path for note, path in paths.items() if path not in left_alone}, moved

    def _find_entry(
        self, intake: _Intake, note: MemoryNote, path: str, text: bytes
    ) -> _Entry | None:
        """The entry of a file that need not be written; None if it must be."""
        register, scan = self._register, self._scan
        known, found = register.files.get(path), scan.found.get(path)
        fingerprint, stem = digest_of(text), safe_name(note.title)
        if found is None:
            return None
        if path in scan.edited:
            file = scan.edited[path]
            if file.says(VaultFile(path, text.decode()), note, intake.calls):
                return _Entry(note.id, scan.contents[path], fingerprint, stem, *found[1:])
        elif known is not None and known.text == fingerprint:
            return known._replace(size=found.size, modified_ns=found.modified_ns)
        return None

    def _new_entry(self, note: MemoryNote, path: str, text: bytes) -> _Entry:
        status = os.lstat(os.path.join(self._folder, path))
        fingerprint, stem = digest_of(text), safe_name(note.title)
        return _Entry(note.id, fingerprint, fingerprint, stem, status.st_size, status.st_mtime_ns)

    def _is_as_found(self, path: str) -> bool:
        """Has nobody changed the file since it was read? Else the next time takes that in."""
        found = self._scan.found.get(path)
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

    def _read_register(self) -> _Register:
        shape = read_register(self._register_path)
        try:
            files = {path: _Entry(*entry) for path, entry in shape["files"].items()}
            return _Register(shape["at"], files)
        except (AttributeError, LookupError, TypeError):
            return _Register("", {})  # then every file is compared with its note
