"""Commands that write a shelf elsewhere, and bring it back: backup, restore, copy, export."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput, NotFound
from nuggets.filesystem.shelf_location import directory_of, is_database, shown_location
from nuggets.interfaces.cli.arguments_and_receipts import filter_arguments, filters
from nuggets.interfaces.cli.command_table import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import Progress, format_minute, one_line
from nuggets.interfaces.display_text import pluralize
from nuggets.maintenance.export_and_backup import FORMS, note_lines
from nuggets.shelf import NuggetShelf

# --- backup, restore, copy ---------------------------------------------------------------------


def _backup_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        help="a new file, or a directory (default: backups/ in the shelf's directory)",
    )


def _backup(call: Call) -> Outcome:
    backup = call.shelf.backup(call.options.path)
    size = f"{backup.size / 1e6:.1f} MB" if backup.size >= 1e5 else f"{backup.size / 1e3:.0f} kB"
    lines = [f"Backed up {pluralize(backup.notes, 'note')} ({size}) to {one_line(backup.path)}"]
    return Outcome(codec.to_json(backup), lines)


def _restore_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", help="a file that `nuggets backup` made")
    parser.add_argument(
        "--dry-run", action="store_true", help="check the backup and show what would change"
    )


def _restore(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    done = call.shelf.restore(call.options.path, dry_run=dry_run)
    backup, changes = done.backup, done.difference
    of = f" of {format_minute(backup.at)}" if backup.at else ""
    verb = "This backup" if dry_run else "Restored the backup"
    lines = [f"{verb}{of} {'has' if dry_run else 'with'} {pluralize(backup.notes, 'note')}."]
    counts = (
        (changes.back, "would be restored" if dry_run else "restored"),
        (changes.gone, "would be removed" if dry_run else "removed"),
        (changes.changed, "would change" if dry_run else "changed"),
    )
    parts = [f"{number} {what}" for number, what in counts if number]
    lines.append(f"Compared with now: {', '.join(parts) or 'the same notes'}.")
    if done.replaced:
        lines.append(f"The replaced shelf is in {one_line(done.replaced)}")
    return Outcome({**codec.to_json(done), "dryRun": dry_run}, lines)


def _copy_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("source", help="a directory, postgresql://…, or a file of `nuggets backup`")
    parser.add_argument("target", help="a new directory, or postgresql://… with a new shelf")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _copy(call: Call) -> Outcome:
    options = call.options
    if directory_of(options.source) == directory_of(options.target):
        raise InvalidInput("source and target are the same shelf; name another target")
    with (
        _open_source(options.source, call.shelf.project) as source,
        NuggetShelf(options.target, project=call.shelf.project, short_lived=True) as target,
        Progress() as progress,
    ):
        copied = target.copy_from(source, dry_run=options.dry_run, report=progress)
    shape = {**codec.to_json(copied), "dryRun": options.dry_run}
    return Outcome(
        shape, _copied_lines(options.source, options.target, copied.rows, options.dry_run)
    )


def _copied_lines(source: str, target: str, rows: dict[str, int], dry_run: bool) -> list[str]:
    what = f"{pluralize(rows['notes'], 'note')} and {pluralize(rows['commits'], 'revision')}"
    places = f"{one_line(shown_location(source))} to {one_line(shown_location(target))}"
    if dry_run:
        return [f"Would copy {what} from {places}", "Nothing was written: --dry-run."]
    return [f"Copied {what} from {places}", "All rows were compared."]


@contextmanager
def _open_source(location: str, project: str) -> Iterator[NuggetShelf]:
    """A shelf that is there; a backup is restored into a temporary directory first."""
    path = "" if is_database(location) else directory_of(location)
    if path and os.path.isfile(path):
        from tempfile import TemporaryDirectory

        with (
            TemporaryDirectory(prefix="nuggets-copy-") as directory,
            NuggetShelf(directory, project=project, short_lived=True) as shelf,
        ):
            shelf.restore(path)
            yield shelf
        return
    if path and not os.path.exists(os.path.join(path, "nuggets.db")):
        raise NotFound(f"{location} contains no shelf; name a directory like ~/.nuggets")
    with NuggetShelf(location, project=project, short_lived=True) as shelf:
        yield shelf


# --- export ------------------------------------------------------------------------------------


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "form",
        choices=FORMS,
        help="json: the documented files; jsonl, csv: a note per line; markdown: a file per note, "
        "as Obsidian opens it; graphml, dot: titles and links, for drawing",
    )
    parser.add_argument(
        "path",
        nargs="?",
        help="a new directory for json and markdown, else a new file; jsonl: - for stdout; json "
        "without a path refreshes the shelf's own files",
    )
    filter_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _export(call: Call) -> Outcome:
    form, path, dry_run = call.options.form, call.options.path, call.options.dry_run
    notes = _filtered_notes(call)
    if path == "-" and not dry_run:
        return _print_lines(call, form, notes)
    ids = None if notes is None else [note.id for note in notes]
    with Progress() as progress:
        done = call.shelf.export(form, path, ids=ids, dry_run=dry_run, report=progress)
    verb = "Would write" if dry_run else "Wrote"
    what = f"{pluralize(done.notes, 'note')} in {pluralize(done.files, 'file')}"
    lines = [f"{verb} {what} to {one_line(done.path)}"]
    return Outcome({**codec.to_json(done), "dryRun": dry_run}, lines)


def _filtered_notes(call: Call) -> Sequence[MemoryNote] | None:
    """The notes that the filters select; None without any, for all notes, archived ones too."""
    selected = filters(call)
    is_any = any(value is not None for name, value in selected.items() if name != "include_hidden")
    return call.shelf.list_notes(**selected) if is_any else None


def _print_lines(call: Call, form: str, notes: Sequence[MemoryNote] | None) -> Outcome:
    if form != "jsonl":
        raise InvalidInput(f"{form} is several files; name a directory for them")
    if call.options.json:
        raise InvalidInput("every line of the output is JSON already; leave out --json")
    with suppress(BrokenPipeError):  # a reader, as in `… | head`, has seen enough
        sys.stdout.flush()
        if notes is None:
            call.shelf.export_lines(sys.stdout.buffer.write)
        else:
            sys.stdout.buffer.writelines(note_lines(notes))
        sys.stdout.buffer.flush()
    return Outcome(None, [])


COMMANDS = {
    "backup": Command(
        ("nuggets backup", "nuggets backup /media/stick/", "nuggets backup --json"),
        _backup,
        _backup_arguments,
        summary="copy the whole shelf into one verified file; agents may keep writing",
        changes=True,
    ),
    "restore": Command(
        (
            "nuggets restore ~/.nuggets/backups/nuggets-2026-01-31-090000.db --dry-run",
            "nuggets restore /media/stick/nuggets-2026-01-31-090000.db",
        ),
        _restore,
        _restore_arguments,
        summary="replace the shelf by a backup; the replaced shelf is kept",
        changes=True,
    ),
    "copy": Command(
        (
            "nuggets copy ~/.nuggets 'postgresql://me@db.example/memory?shelf=team'",
            "nuggets copy 'postgresql://me@db.example/memory?shelf=team' ~/copy --dry-run",
        ),
        _copy,
        _copy_arguments,
        summary="copy a whole shelf, with its history, into a new directory or database; "
        "interrupted, it leaves nothing",
        changes=True,
    ),
    "export": Command(
        (
            "nuggets export markdown ~/notes",
            "nuggets export csv prefs.csv --type preference",
            "nuggets export jsonl - | wc -l",
            "nuggets export json /media/stick/memory --dry-run",
        ),
        _export,
        _export_arguments,
        summary="write notes, all or some, for people and other programs; `nuggets import` makes "
        "the same notes of json, jsonl, markdown and csv. Nothing is overwritten",
    ),
}
