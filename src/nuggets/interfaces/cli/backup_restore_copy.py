"""Commands for whole shelves: backup, restore, copy."""

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from nuggets.domain import codec
from nuggets.errors import InvalidInput, NotFound
from nuggets.filesystem.shelf_location import directory_of, is_database, shown_location
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.progress import Progress
from nuggets.interfaces.cli.terminal_output import format_minute, one_line
from nuggets.interfaces.display_text import pluralize
from nuggets.shelf import NuggetShelf


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
    parser.add_argument("--dry-run", action="store_true", help="only show what would be copied")


def _copy(call: Call) -> Outcome:
    options, progress = call.options, Progress()
    if directory_of(options.source) == directory_of(options.target):
        raise InvalidInput("source and target are the same shelf; name another target")
    with (
        _open_source(options.source, call.shelf.project) as source,
        NuggetShelf(options.target, project=call.shelf.project, short_lived=True) as target,
    ):
        try:
            copied = target.copy_from(source, dry_run=options.dry_run, report=progress)
        finally:
            progress.end()
    shape = {**codec.to_json(copied), "dryRun": options.dry_run}
    return Outcome(shape, _lines(options.source, options.target, copied.rows, options.dry_run))


def _lines(source: str, target: str, rows: dict[str, int], dry_run: bool) -> list[str]:
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
}
