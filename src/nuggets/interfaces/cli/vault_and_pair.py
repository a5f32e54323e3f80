"""Commands: vault, pair."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.untrusted_folder import folder_fingerprint
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli.command_table import DRY_RUN_ARGUMENT, Call, Outcome, argument, command
from nuggets.interfaces.cli.terminal_output import (
    LISTED,
    TITLE_WIDTH,
    Progress,
    announce,
    escape_controls,
    fit,
    listed_notes,
    listed_problems,
    one_line,
    print_outcome,
    warn,
)
from nuggets.maintenance.pair_encryption import KEY_FILE

if TYPE_CHECKING:
    from nuggets.maintenance.pairing import PairResult
    from nuggets.maintenance.vault import VaultResult

_PAUSE = 1.0  # seconds between two looks: an editor saves seldom more often


def _watch(
    call: Call, run: Callable[[], Outcome], folders: Callable[[], Iterable[str]], ending: str
) -> Outcome:
    """Run whenever something has changed on either side, until someone stops it. What it writes
    itself lets it look once more: an edit that is made meanwhile is not missed."""
    seen: tuple[Any, ...] = ()
    with suppress(KeyboardInterrupt):
        while True:
            looks = tuple(folder_fingerprint(folder, ending) for folder in folders())
            now = (call.shelf.revision, looks)
            if now != seen:
                try:
                    outcome = run()
                    if not outcome.is_read_only or not seen:
                        print_outcome(outcome, as_json=call.options.json)
                except NuggetsError as problem:  # a drive may come back
                    warn(f"Warning: {escape_controls(str(problem))}")
                seen = now
            time.sleep(_PAUSE)
    return Outcome(None, [])


def _came_in_lines(
    done: "PairResult | VaultResult", dry_run: bool, conflicts: Sequence[MemoryNote]
) -> list[str]:
    lines = []
    for verb, sign, colour, notes in (
        ("added", "+", "green", done.added),
        ("updated", "~", "yellow", done.updated),
        ("deleted", "-", "red", done.removed),
    ):
        told = f"Would be {verb}" if dry_run else verb.capitalize()
        head = f"{told} here: {pluralize(len(notes), 'memory', 'memories')}"
        lines += listed_notes(head, notes, sign, colour)
    if conflicts:
        lines.append(
            f"Both sides had changed {pluralize(len(conflicts), 'memory', 'memories')}: the other "
            "version is kept beside it (nuggets note list --tag conflict)"
        )
        lines += (f"  {fit(note.title, TITLE_WIDTH)}" for note in conflicts[:LISTED])
    return lines


def _problem_lines(problems: Sequence[str]) -> list[str]:
    return listed_problems(f"Left as it is: {pluralize(len(problems), 'problem')}", problems)


def _notes_to_json(done: "PairResult | VaultResult") -> dict[str, Any]:
    """The result, with its notes in the documented JSON."""
    return {codec.json_name(name): codec.to_json(value) for name, value in done._asdict().items()}


# --- vault -------------------------------------------------------------------------------------


@command(
    "vault",
    argument("folder", help="the folder, such as a vault of Obsidian; made if new"),
    argument("--watch", action="store_true", help="go on until stopped (Ctrl-C)"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets vault ~/Notes/Memory", "nuggets vault ~/Notes/Memory --watch"),
    summary="keep a folder of Markdown and your memory equal, both ways: a file for each note, "
    "as Obsidian opens it",
)
def _vault(call: Call) -> Outcome:
    if call.options.watch:
        _refuse_preview(call)
        return _watch(call, lambda: _vault_once(call), lambda: [call.options.folder], ".md")
    return _vault_once(call)


def _vault_once(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    with Progress() as progress:
        done = call.shelf.vault(call.options.folder, dry_run=dry_run, report=progress)
    lines = _came_in_lines(done, dry_run, done.conflicts)
    counts = [
        f"{len(done.written)} {'to write' if dry_run else 'written'}",
        f"{len(done.deleted)} {'to delete' if dry_run else 'deleted'}",
        f"{done.unchanged} left as they are",
    ]
    lines.append(f"Files in {one_line(done.folder)}: {', '.join(counts)}")
    is_quiet = not (done.added or done.updated or done.removed or done.written or done.deleted)
    shape = {**_notes_to_json(done), "dryRun": dry_run}
    lines += _problem_lines(done.problems)
    return Outcome(shape, lines, is_read_only=is_quiet and not done.problems)


def _refuse_preview(call: Call) -> None:
    if call.options.dry_run:
        raise InvalidInput("this changes something at once; leave out --dry-run")


# --- pair --------------------------------------------------------------------------------------


@command(
    "pair",
    argument(
        "folder",
        nargs="?",
        help="a folder that your machines share: Syncthing, Dropbox, a git checkout, a stick "
        "(default: every folder that was named before)",
    ),
    argument("--watch", action="store_true", help="go on until stopped (Ctrl-C)"),
    argument(
        "--purge", action="store_true", help="erase here too what was purged on another machine"
    ),
    argument(
        "--encrypt",
        action="store_true",
        help="ask for a passphrase (or read it from stdin) that encrypts what lies in the folder; "
        "each machine is told it once",
    ),
    argument("--stop", action="store_true", help="pair no longer through the folder"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets pair ~/Sync/nuggets", "nuggets pair", "nuggets pair --watch"),
    summary="keep the memory of several machines equal through a folder that they share, "
    "without a server",
)
def _pair(call: Call) -> Outcome:
    options = call.options
    if options.stop:
        if options.folder is None:
            raise InvalidInput("name the folder through which you want to pair no longer")
        call.shelf.unpair(options.folder)
        line = f"Nothing is read from or written to {one_line(options.folder)} any more."
        return Outcome({"folder": options.folder}, [line, "Its files and your memories stay."])
    if options.folder is None and not call.shelf.paired_folders():
        raise InvalidInput("name a folder that your machines share: nuggets pair FOLDER")
    if options.encrypt:
        _refuse_preview(call)
        if options.folder is None:
            raise InvalidInput("name the folder that shall be encrypted")
        call.shelf.pair(options.folder, passphrase=_read_passphrase(options.folder))
    if options.watch:
        _refuse_preview(call)
        if options.folder is not None:
            call.shelf.pair(options.folder)
        return _watch(call, lambda: _pair_once(call), call.shelf.paired_folders, ".jsonl")
    return _pair_once(call)


def _read_passphrase(folder: str) -> str:
    """The passphrase, never from the command line, which others on this machine can read."""
    if sys.stdin is None or not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n") if sys.stdin is not None else ""
    from getpass import getpass

    passphrase = getpass(f"Passphrase of {folder}: ")
    is_new = not os.path.lexists(os.path.join(os.path.expanduser(folder), KEY_FILE))
    if is_new and getpass("The same again: ") != passphrase:
        raise InvalidInput("these were two different passphrases; try again")
    return passphrase


def _pair_once(call: Call) -> Outcome:
    options = call.options
    with announce("Reading the logs …"):
        results = call.shelf.pair(options.folder, dry_run=options.dry_run)
    lines: list[str] = []
    is_quiet = True
    for done in results:
        lines += _came_in_lines(done, options.dry_run, done.conflicts)
        others = pluralize(done.machines, "other machine")
        has_come_in = bool(done.added or done.updated or done.removed)
        if done.written or has_come_in:
            verb = "Would tell" if options.dry_run else "Told"
            told = f"{verb} {pluralize(done.written, 'change')} to {others}"
        else:
            told = f"Nothing is new here or on {others}"
        lines.append(f"{told} through {one_line(done.folder)}")
        lines += _purged_lines(call, done)
        lines += _problem_lines(done.problems)
        is_quiet &= not (done.written or has_come_in or done.problems)
    shape = {"pairs": [_notes_to_json(done) for done in results], "dryRun": options.dry_run}
    return Outcome(shape, lines, is_read_only=is_quiet)


def _purged_lines(call: Call, done: "PairResult") -> list[str]:
    """What was purged elsewhere is deleted here, and erased when someone says so: a folder that
    others write to must not erase what no undo brings back."""
    count = pluralize(len(done.purged_elsewhere), "memory", "memories")
    if not done.purged_elsewhere:
        return []
    if not call.options.purge or call.options.dry_run:
        return [f"{count} purged on another machine: erase it here too with nuggets pair --purge"]
    for note_id in done.purged_elsewhere:
        call.shelf.purge(note_id)
    return [f"Erased {count} here, as on another machine"]
