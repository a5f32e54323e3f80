"""Exports notes for people and other programs, and makes and restores backups.

An export writes only to new files and empty directories, one note at a time, so that a large shelf
is never in memory as a whole.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.domain.state import State
from nuggets.errors import Conflict, InvalidInput
from nuggets.filesystem.atomic_files import NEW_FILE, private_directory, unwritable, write_parts
from nuggets.maintenance.export_forms import (
    csv_rows,
    dot_lines,
    graphml_lines,
    markdown_files,
    note_lines,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.argument_checks import checked_note, checked_nugget
from nuggets.operations.transactions import Transactions

if TYPE_CHECKING:
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored


# --- writing an export ----------------------------------------------------------------------------


_MARKDOWN = ("markdown", "obsidian", "okf")
FORMS = ("json", "jsonl", *_MARKDOWN, "csv", "graphml", "dot")
_DIRECTORIES = ("json", *_MARKDOWN)  # forms of several files
_STEP = 1000  # notes between two reports
Report = Callable[[str], None]


class Exported(NamedTuple):
    """The result of an export."""

    form: str
    path: str
    notes: int
    files: int


def export_notes(
    transactions: Transactions,
    form: str,
    path: str | None,
    *,
    ids: Collection[str] | None,
    dry_run: bool,
    report: Report,
) -> Exported:
    """Write notes in one of the forms to a new place; without one, bring the shelf's own documented
    files up to date. `ids`: only these."""
    store = transactions.store
    if form not in FORMS:
        raise InvalidInput(
            f"the form of an export must be one of {', '.join(FORMS)}; not {form!r:.80}"
        )
    if form == "json" and ids is not None:
        raise InvalidInput("json is the whole shelf; choose another form for some of its notes")
    if path is None:
        if form != "json" or store.is_remote:
            raise InvalidInput(f"name a new place for the export as {form}")
        if not dry_run:
            store.refresh_exports()
    with transactions.reading() as view:
        if path is None:
            count = len(view.state.nuggets) + 1
            return Exported(form, store.directory, len(view.state.notes), count)
        target = os.path.abspath(os.path.expanduser(path))
        export = _Export(view.state, store.position, form, ids)
        return export.write(target, dry_run=dry_run, report=report)


class _Export(NamedTuple):
    """What is exported, and how."""

    state: State
    position: tuple[int, str]
    form: str
    ids: Collection[str] | None  # None: all

    def write(self, path: str, *, dry_run: bool, report: Report) -> Exported:
        """Write the files; `dry_run` only counts and checks the target."""
        is_directory = self.form in _DIRECTORIES
        _refuse_occupied(path, is_directory=is_directory)
        total = len(self.state.notes if self.ids is None else self.ids)
        files = 0
        with nullcontext(path) if dry_run else _whole_or_nothing(path) as place:
            for name, parts in self._files(_progress_reporter(report, total)):
                files += 1
                if not dry_run:
                    _write_new(os.path.join(place, name) if name else place, parts)
            if is_directory and not dry_run:
                private_directory(place)
            _refuse_occupied(path, is_directory=is_directory)
        return Exported(self.form, path, total, files)

    def _files(self, with_progress: "_Progress") -> Iterator[tuple[str, Iterable[bytes]]]:
        """File names relative to the target, each with its content."""
        if self.form == "json":
            yield from _documented_files(self.state, self.position, with_progress)
            return
        if self.form in _MARKDOWN:
            yield from markdown_files(lambda: with_progress(self._notes()), self.form)
            return
        lines = {
            "jsonl": note_lines,
            "csv": csv_rows,
            "graphml": graphml_lines,
            "dot": dot_lines,
        }[self.form]
        yield "", lines(with_progress(self._notes()))

    def _notes(self) -> Iterable[MemoryNote]:
        if self.ids is None:
            return self.state.notes.values()
        return (self.state.notes[note_id] for note_id in self.ids)


def _documented_files(
    state: State, position: tuple[int, str], with_progress: "_Progress"
) -> Iterator[tuple[str, Iterable[bytes]]]:
    revision, at = position
    head_fields = {"revision": revision, "savedAt": at} if revision else {}
    for config in state.nuggets.values():
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        facts.sort(key=lambda fact: fact.created_at)
        shape = codec.dumps({"version": 4, **head_fields, **codec.nugget_to_json(config, facts)})
        yield f"{config.name}.nugget.json", [shape.encode(), b"\n"]
    head = codec.dumps({"version": 3, **head_fields})[:-1]
    yield os.path.join("graph", "graph.json"), _graph(head, with_progress(state.notes.values()))


def _graph(head: str, notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    yield f'{head},"notes":['.encode()
    separator = b"\n"
    for line in note_lines(notes):
        yield separator + line[:-1]
        separator = b",\n"
    yield b"\n]}\n"


_Progress = Callable[[Iterable[MemoryNote]], Iterator[MemoryNote]]


def _progress_reporter(report: Report, total: int) -> _Progress:
    def with_progress(notes: Iterable[MemoryNote]) -> Iterator[MemoryNote]:
        for number, note in enumerate(notes):
            if number % _STEP == 0:
                report(f"{number} of {total} notes")
            yield note

    return with_progress


def _refuse_occupied(path: str, *, is_directory: bool) -> None:
    if not os.path.lexists(path) or (is_directory and os.path.isdir(path) and not os.listdir(path)):
        return
    what = "an empty or new directory" if is_directory else "a new file"
    raise Conflict(f"{path} exists already, and nothing is overwritten; name {what}")


@contextmanager
def _whole_or_nothing(path: str) -> Iterator[str]:
    """A place beside a path, which becomes the path when all is written; if that fails or someone
    ends the program, nothing is left."""
    place = f"{path}.{os.getpid()}.partial"
    try:
        yield place
        os.rename(place, path)
    except BaseException as problem:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            os.unlink(place)
        if isinstance(problem, OSError):
            raise unwritable(path, problem) from problem
        raise


def _write_new(path: str, parts: Iterable[bytes]) -> None:
    private_directory(os.path.dirname(path))
    descriptor = os.open(path, NEW_FILE, 0o600)
    try:
        write_parts(descriptor, parts)
    finally:
        os.close(descriptor)


# --- backups ------------------------------------------------------------------------------------


def make_backup(transactions: Transactions, path: str | None, now: str) -> "Backup":
    """A copy of everything that is written, in one file; `path`: a new file, or a directory."""
    from nuggets.stores.backup import write_backup

    store = transactions.store
    if path is None and not store.directory:
        raise InvalidInput("a shelf in memory has no directory; name a file for the backup")
    target = os.path.join(store.directory, "backups", "") if path is None else path
    is_directory = target.endswith("/")
    target = os.path.abspath(os.path.expanduser(target))
    if is_directory or os.path.isdir(target):
        target = _new_backup_file(target, now)
    return write_backup(store.copy_to, target)


def _new_backup_file(directory: str, now: str) -> str:
    """A name after the time, that no file has."""
    stem = os.path.join(directory, f"nuggets-{now[:19].replace(':', '').replace('T', '-')}")
    path, number = f"{stem}.db", 2
    while os.path.lexists(path):
        path, number = f"{stem}-{number}.db", number + 1
    return path


def restore_backup(transactions: Transactions, path: str, now: str, *, dry_run: bool) -> "Restored":
    """Replace the shelf by a backup; `dry_run` only reports the difference."""
    from nuggets.stores.restore import RecordChecks, compare, restore

    store = transactions.store
    if store.is_remote or not store.directory:
        raise Conflict(
            "a backup replaces a shelf in a directory, not one in memory or in a database; "
            "`nuggets copy` puts it into a new shelf of a database"
        )
    checks = RecordChecks(checked_note, checked_nugget)
    backup = os.path.abspath(os.path.expanduser(path))
    if dry_run:
        return compare(store.directory, backup, checks)
    transactions.settle()
    store.close()
    done = restore(store.directory, backup, now, checks)
    store.refresh_exports()
    return done
