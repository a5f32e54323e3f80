"""Commands that copy the whole shelf and restore a copy: backup, restore."""

from argparse import ArgumentParser

from nuggets.interfaces import json_responses
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_text import format_minute, one_line
from nuggets.interfaces.display_text import pluralize


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
    return Outcome(json_responses.record_to_json(backup), lines)


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
    return Outcome({**json_responses.record_to_json(done), "dryRun": dry_run}, lines)


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
}
