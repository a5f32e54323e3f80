"""The command that writes memories for people and other programs: export."""

import sys
from argparse import ArgumentParser

from nuggets.domain import codec
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.progress import Progress
from nuggets.interfaces.cli.terminal_output import one_line
from nuggets.interfaces.display_text import pluralize
from nuggets.maintenance.export_and_backup import FORMS


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "form",
        choices=FORMS,
        help="json: the documented files; jsonl: a note per line; markdown: a file per note",
    )
    parser.add_argument(
        "path",
        nargs="?",
        help="a new directory; for jsonl a new file, or - for stdout; json without a path "
        "refreshes the shelf's own files",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be written")


def _export(call: Call) -> Outcome:
    form, path, dry_run = call.options.form, call.options.path, call.options.dry_run
    if path == "-" and not dry_run:
        return _print_lines(call, form)
    progress = Progress()
    try:
        done = call.shelf.export(form, path, dry_run=dry_run, report=progress)
    finally:
        progress.end()
    verb = "Would write" if dry_run else "Wrote"
    what = f"{pluralize(done.notes, 'note')} in {pluralize(done.files, 'file')}"
    lines = [f"{verb} {what} to {one_line(done.path)}"]
    return Outcome({**codec.to_json(done), "dryRun": dry_run}, lines)


def _print_lines(call: Call, form: str) -> Outcome:
    if form != "jsonl":
        raise InvalidInput(f"{form} is several files; name a directory for them")
    if call.options.json:
        raise InvalidInput("every line of the output is JSON already; leave out --json")
    sys.stdout.flush()
    call.shelf.export_lines(sys.stdout.buffer.write)
    sys.stdout.buffer.flush()
    return Outcome(None, [])


COMMANDS = {
    "export": Command(
        (
            "nuggets export markdown ~/notes",
            "nuggets export jsonl - | wc -l",
            "nuggets export json /media/stick/memory --dry-run",
        ),
        _export,
        _arguments,
        summary="write all notes as the documented JSON files, as lines of JSON, or as Markdown "
        "with front matter and links; nothing is overwritten",
    ),
}
