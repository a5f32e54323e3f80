"""Commands that keep a copy of the whole shelf and bring one back: backup, restore."""

from argparse import ArgumentParser

from nuggets.interfaces import answers
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import minute, one_line
from nuggets.interfaces.words import counted


def _backup_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        help="a new file, or a directory to put it in; otherwise backups/ of the shelf",
    )


def _backup(call: Call) -> Outcome:
    made = call.shelf.backup(call.options.path)
    size = f"{made.size / 1e6:.1f} MB" if made.size >= 1e5 else f"{made.size / 1e3:.0f} kB"
    lines = [f"Backed up {counted(made.notes, 'note')} ({size}) to {one_line(made.path)}"]
    return Outcome(answers.plain(made), lines)


def _restore_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", help="a file that `nuggets backup` made")
    parser.add_argument(
        "--dry-run", action="store_true", help="only check it, and show what would change"
    )


def _restore(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    done = call.shelf.restore(call.options.path, dry_run=dry_run)
    backup, changes = done.backup, done.difference
    of = f" of {minute(backup.at)}" if backup.at else ""
    verb = "This backup" if dry_run else "Restored the backup"
    lines = [f"{verb}{of} {'has' if dry_run else 'with'} {counted(backup.notes, 'note')}."]
    told = (
        (changes.back, "would come back" if dry_run else "came back"),
        (changes.gone, "would go" if dry_run else "went"),
        (changes.changed, "would be as before" if dry_run else "are as before"),
    )
    parts = [f"{number} {what}" for number, what in told if number]
    lines.append(f"Compared with now: {', '.join(parts) or 'the same notes'}.")
    if done.replaced:
        lines.append(f"What was here is kept in {one_line(done.replaced)}")
    return Outcome({**answers.plain(done), "dryRun": dry_run}, lines)


COMMANDS = {
    "backup": Command(
        ("nuggets backup", "nuggets backup /media/stick/", "nuggets backup --json"),
        _backup,
        _backup_arguments,
        summary="copy the whole shelf into one checked file, while agents go on writing",
        changes=True,
    ),
    "restore": Command(
        (
            "nuggets restore ~/.nuggets/backups/nuggets-2026-01-31-090000.db --dry-run",
            "nuggets restore /media/stick/nuggets-2026-01-31-090000.db",
        ),
        _restore,
        _restore_arguments,
        summary="put a backup in the place of all that is here, which is kept aside",
        changes=True,
    ),
}
