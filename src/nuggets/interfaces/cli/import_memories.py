"""The command that imports memories from another shelf or program: import."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence

from nuggets.domain import codec
from nuggets.domain.credentials import memory_credential_kinds
from nuggets.domain.records import Intake, MemoryNote
from nuggets.errors import InvalidInput
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    is_repository,
    root_of,
)
from nuggets.interfaces.cli.command_table import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import (
    TITLE_WIDTH,
    announce,
    escape_controls,
    fit,
    one_line,
    style,
    warn,
)
from nuggets.interfaces.display_text import pluralize
from nuggets.interfaces.importers import Json, Records
from nuggets.interfaces.importers.nuggets_shelf import is_backup, is_shelf, open_copy
from nuggets.interfaces.importers.recognition import read_path

_IS = ("is", "are")
_NOTES_SHOWN = 10  # notes of each kind: with two kinds a screen of 24 lines; the JSON has them all


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source",
        nargs="+",
        help="a shelf, a backup, Markdown (a file, a folder, a vault), instructions such as "
        "CLAUDE.md, JSON, lines of JSON, CSV, or the database of claude-mem",
    )
    parser.add_argument(
        "--nugget", default="imported", help="nugget for memories without one (default: imported)"
    )
    parser.add_argument(
        "--allow-secret", action="store_true", help="bring in what looks like a credential too"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _import(call: Call) -> Outcome:
    options = call.options
    shelves = [path for path in options.source if is_shelf(path) or is_backup(path)]
    found = Records()
    with announce("Reading …"):
        for path in options.source:
            if path not in shelves:
                found.project = call.shelf.project if _is_in_repository(path) else ""
                read_path(path, options.nugget, found)
    credentials = [] if options.allow_secret else _take_out_credentials(found)
    intakes = []
    with announce("Importing …"), call.shelf.batch():  # one step of the history
        for path in shelves:
            intakes.append(_import_shelf(call, path))
        if len(options.source) > len(shelves):
            done = call.shelf.import_memories(found.notes, dry_run=options.dry_run)
            intakes.append(done._replace(refused=tuple(_place(done.refused, found.places))))
    return _outcome(call, _sum(intakes), found, credentials)


def _is_in_repository(path: str) -> bool:
    """Does it lie in the repository that someone works in? Its instructions belong to that."""
    here = os.getcwd()
    folder = os.path.dirname(os.path.abspath(path))
    return is_repository(current_project(here)) and checkout_root(folder) == checkout_root(here)


def _take_out_credentials(found: Records) -> list[str]:
    """Leave out notes of other programs that contain a credential; says which, by their place."""
    named, kept, places = [], list[Json](), list[str]()
    for note, place in zip(found.notes, found.places, strict=True):
        texts = (str(note.get(field, "")) for field in ("title", "content"))
        kinds = memory_credential_kinds(*texts)
        if kinds:
            named.append(f"{place}: {', '.join(kinds)}")
        else:
            kept.append(note)
            places.append(place)
    found.notes, found.places = kept, places
    return named


def _place(refused: Sequence[str], places: Sequence[str]) -> list[str]:
    """What is wrong with a note, with the place where it was read instead of its number."""
    placed = []
    for problem in refused:
        rest = problem.removeprefix("note ").lstrip("0123456789")
        number = problem.removeprefix("note ").removesuffix(rest)
        placed.append(f"{places[int(number) - 1]}{rest}" if number else problem)
    return placed


def _sum(intakes: Sequence[Intake]) -> Intake:
    sums = [sum(numbers[1:], numbers[0]) for numbers in zip(*intakes, strict=True)]
    return Intake(*sums)


def _import_shelf(call: Call, source: str) -> Intake:
    own_directory = call.settings["dir"]
    if os.path.isdir(own_directory) and os.path.samefile(source, own_directory):
        raise InvalidInput(
            f"{source} is the current shelf; name another with --dir, or another source"
        )
    with open_copy(source, call.shelf.project) as other_shelf:
        done = call.shelf.import_memories(other_shelf, dry_run=call.options.dry_run)
        for warning in other_shelf.warnings:
            copy = other_shelf.settings["dir"]
            warn(f"Warning: {escape_controls(warning.replace(copy, source))}")
    return done


def _outcome(call: Call, done: Intake, found: Records, credentials: list[str]) -> Outcome:
    dry_run = call.options.dry_run
    refused = [*found.problems, *done.refused]
    shape = {
        "form": found.form,
        "added": [codec.note_to_json(note) for note in done.added],
        "updated": [codec.note_to_json(note) for note in done.updated],
        "linked": done.linked,
        "same": done.same,
        "older": done.older,
        "deleted": done.deleted,
        "refused": refused,
        "credentials": credentials,
        "relationsLeftOut": found.left_out,
        "dryRun": dry_run,
    }
    lines = [f"Recognised: {found.form}."] if found.form and dry_run else []
    lines += _lines(done, dry_run)
    lines += _named_lines("Left out: {} that cannot be read", refused, "record")
    lines += _named_lines(
        "Left out: {} with a credential (--allow-secret brings them)", credentials, "record"
    )
    if found.left_out:
        lines.append(f"Left out: {pluralize(found.left_out, 'link')} to what is not there.")
    return Outcome(shape, [*lines, *_missing_project_lines(done)])


def _lines(done: Intake, dry_run: bool) -> list[str]:
    lines = []
    for verb, sign, colour, notes in (
        ("Would add" if dry_run else "Added", "+", "green", done.added),
        ("Would update" if dry_run else "Updated", "~", "yellow", done.updated),
    ):
        if notes:
            lines.append(f"{verb} {_count_kinds(notes)}:")
            lines += (
                f"  {style(sign, colour)} {one_line(note.nugget_name)}: "
                f"{fit(note.title, TITLE_WIDTH)}"
                for note in notes[:_NOTES_SHOWN]
            )
        if len(notes) > _NOTES_SHOWN:
            lines.append(f"    and {len(notes) - _NOTES_SHOWN} more")
    if done.linked:
        verb = "Would link" if dry_run else "Linked"
        lines.append(f"{verb} {pluralize(done.linked, 'note')} that {_IS[done.linked > 1]} here.")
    lines = lines or ["Nothing new."]
    left = {
        "already here": done.same,
        "changed here since": done.older,
        "deleted here since": done.deleted,
    }
    if any(left.values()):
        lines.append(f"Left as it is: {', '.join(f'{n} {why}' for why, n in left.items() if n)}.")
    return lines


def _named_lines(head: str, problems: Sequence[str], noun: str) -> list[str]:
    """What was left out, each with its place."""
    if not problems:
        return []
    lines = [f"{head.format(pluralize(len(problems), noun))}:"]
    lines += (f"  {style('!', 'red')} {one_line(reason)}" for reason in problems[:_NOTES_SHOWN])
    if len(problems) > _NOTES_SHOWN:
        lines.append(f"    and {len(problems) - _NOTES_SHOWN} more; --json names all")
    return lines


def _count_kinds(notes: tuple[MemoryNote, ...]) -> str:
    facts = sum(note.kind == "fact" for note in notes)
    kinds = (facts, "fact"), (len(notes) - facts, "note")
    return " and ".join(pluralize(number, kind) for number, kind in kinds if number)


def _missing_project_lines(done: Intake) -> list[str]:
    """A hint if projects of the imported notes do not exist on this machine."""
    roots = {root_of(note.project) for note in (*done.added, *done.updated)} - {""}
    gone = sum(not os.path.exists(root) for root in roots)
    if not gone:
        return []
    where = pluralize(gone, "repository", "repositories")
    return [f"Some belong to {where} that cannot be found here; see: nuggets project list"]


COMMANDS = {
    "import": Command(
        (
            "nuggets import /media/stick/.nuggets --dry-run",
            "nuggets import ~/vault --nugget notes",
            "nuggets import CLAUDE.md .cursor/rules",
            "nuggets import ~/memory.jsonl --nugget research",
        ),
        _import,
        _arguments,
        summary="import memories from another machine's directory or another program. The later of "
        "two versions wins; what was deleted there stays here. One undo reverts the import",
        changes=True,
    ),
}
