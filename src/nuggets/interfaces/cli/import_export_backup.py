"""Commands: import, export, copy, backup, restore."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.credentials import memory_credential_kinds
from nuggets.domain.records import Intake, MemoryNote
from nuggets.domain.times import iso, now, parse
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    is_repository,
    root_of,
)
from nuggets.filesystem.shelf_location import directory_of, is_database, shown_location
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.run_command import FILTER_ARGUMENTS, filters
from nuggets.interfaces.cli.terminal_output import (
    Progress,
    escape_controls,
    format_minute,
    list_items,
    name_notes,
    one_line,
    style,
    warn,
)
from nuggets.interfaces.importers import KNOWN, Json, Records
from nuggets.maintenance.export_and_backup import FILE_FORMS, FORMS
from nuggets.maintenance.promotion.entries import line_for, without_caveats
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.interfaces.importers.discovery import Offer

_IS = ("is", "are")


@command(
    "import",
    argument("source", KNOWN, nargs="*"),
    flag(
        "--discover",
        "show what this machine has: past sessions, memories and instructions of agents, "
        "other memories; with --all bring it in",
    ),
    flag("--all", "with --discover: bring in all of it"),
    argument("--nugget", "nugget for memories without one (default: imported)", default="imported"),
    flag("--allow-secret", "bring in what looks like a credential too"),
    DRY_RUN_ARGUMENT,
    examples=(
        "nuggets import /media/stick/.nuggets --dry-run",
        "nuggets import ~/vault --nugget notes",
        "nuggets import CLAUDE.md .cursor/rules",
        "nuggets import ~/memory.jsonl --nugget research",
        "nuggets import --discover",
    ),
    summary="import memories from another machine's directory or another program. The later of "
    "two versions wins; what was deleted there stays here. One undo reverts the import",
)
def _import(call: Call) -> Outcome:
    # here, because all importers together are more than the other commands of this module load
    from nuggets.interfaces.importers.discovery import discover
    from nuggets.interfaces.importers.past_sessions import link_sessions
    from nuggets.interfaces.importers.recognition import is_backup, is_shelf, read_path

    options = call.options
    if options.discover == bool(options.source) or (options.all and not options.discover):
        raise InvalidInput("name what to import, or --discover to see what this machine has")
    shelves = [path for path in options.source if is_shelf(path) or is_backup(path)]
    with Progress() as progress:
        found = _new_records(call, progress)
        if options.discover:
            offers = discover()
            if not options.all:
                return _offer_outcome(offers)
            for offer in offers:
                _read_offer(call, offer, found)
        for path in options.source:
            if path not in shelves:
                found.project = call.shelf.project if _is_in_repository(path) else ""
                read_path(path, found)
    link_sessions(found)
    credentials = [] if options.allow_secret else _take_out_credentials(found)
    intakes = []
    with Progress("Importing …"), call.shelf.batch():  # one step of the history
        for path in shelves:
            intakes.append(_import_shelf(call, path))
        if options.discover or len(options.source) > len(shelves):
            done = call.shelf.import_memories(found.notes, dry_run=options.dry_run)
            intakes.append(done._replace(refused=tuple(_place(done.refused, found.places))))
    sums = (sum(numbers[1:], numbers[0]) for numbers in zip(*intakes, strict=True))
    return _outcome(call, Intake(*sums), found, credentials)


def _offer_outcome(offers: "Sequence[Offer]") -> Outcome:
    shape = [{"what": o.what, "path": o.path, "count": o.number, "unit": o.unit} for o in offers]
    if not offers:
        return Outcome(shape, ["Nothing was found that could be imported."])
    lines = []
    for offer in offers:
        unit = pluralize(offer.number, offer.unit, {"memory": "memories"}.get(offer.unit, ""))
        lines.append(f"{style(f'{offer.what} ({unit})', 'bold')}  {one_line(offer.path)}")
    lines.append("Bring in all of it: nuggets import --discover --all (see it first: --dry-run)")
    lines.append("Or one: nuggets import PATH")
    return Outcome(shape, lines)


def _read_offer(call: Call, offer: "Offer", found: Records) -> None:
    """Read what was discovered; what cannot be read is named, and the rest comes in."""
    from nuggets.interfaces.importers.past_sessions import read_transcripts
    from nuggets.interfaces.importers.recognition import read_path

    before = len(found.notes)
    try:
        if offer.files:
            read_transcripts(offer.files, found)
        else:
            found.project = call.shelf.project if _is_in_repository(offer.path) else ""
            read_path(offer.path, found)
    except NuggetsError as problem:
        found.problems.append(str(problem))
    project = found.project_of(offer.folder) if offer.folder else ""
    for note in found.notes[before:] if project else ():
        note |= {"project": project, "scope": "project"}
    found.form = "what this machine has"


def _new_records(call: Call, report: Callable[[str], None]) -> Records:
    found = Records(call.options.nugget, call.settings["dir"])
    found.report = report
    found.project_of = cache(call.shelf.project_of)
    promoted = cache(lambda: {line_for(note)[2:] for note in call.shelf.list_notes() if note.hits})
    found.is_promoted = lambda line: without_caveats(line) in promoted()
    days = call.settings["session_days"]
    found.oldest_session = iso(parse(now()) - timedelta(days=days)) if days else ""
    return found


def _is_in_repository(path: str) -> bool:
    """Does it lie in the repository that someone works in? Its instructions belong to that."""
    here = os.getcwd()
    folder = os.path.dirname(os.path.abspath(path))
    return is_repository(current_project(here)) and checkout_root(folder) == checkout_root(here)


def _take_out_credentials(found: Records) -> list[str]:
    """Leave out notes of other programs that contain a credential; says which, by their place."""
    named, kept, places = [], list[Json](), list[str]()
    for note, place in zip(found.notes, found.places, strict=True):
        texts = [
            str(note.get(field, "")) for field in ("content", "frontMatter") if note.get(field)
        ]
        kinds = memory_credential_kinds(str(note.get("title", "")), "\n".join(texts))
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


def _import_shelf(call: Call, source: str) -> Intake:
    from nuggets.interfaces.importers.recognition import open_copy

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
        # without --json thousands of notes would take a while for nothing
        **(codec.to_json(done) if call.options.json else {}),
        "refused": refused,
        "credentials": credentials,
        "relationsLeftOut": found.left_out,
        "sessionsLeftOut": found.idle_sessions + found.old_sessions,
        "dryRun": dry_run,
    }
    lines = [f"Recognised: {found.form}."] if found.form and dry_run else []
    lines += _lines(done, dry_run)
    records = pluralize(len(refused), "record")
    lines += list_items(f"Left out: {records} that cannot be read:", refused, "!", "red")
    records = pluralize(len(credentials), "record")
    head = f"Left out: {records} with a credential (--allow-secret brings them):"
    lines += list_items(head, credentials, "!", "red")
    days = call.settings["session_days"]
    for number, noun, which in (
        (found.left_out, "link", "to what is not there"),
        (found.old_sessions, "session", f"of more than {days} days ago (setting session_days)"),
        (found.idle_sessions, "session", "in which nothing substantial was asked"),
    ):
        if number:
            lines.append(f"Left out: {pluralize(number, noun)} {which}.")
    return Outcome(shape, [*lines, *_missing_project_lines(done)])


def _lines(done: Intake, dry_run: bool) -> list[str]:
    lines = []
    for verb, sign, colour, notes in (
        ("Would add" if dry_run else "Added", "+", "green", done.added),
        ("Would update" if dry_run else "Updated", "~", "yellow", done.updated),
    ):
        lines += list_items(f"{verb} {_count_kinds(notes)}:", name_notes(notes), sign, colour)
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


# --- backup, restore, copy ---------------------------------------------------------------------


@command(
    "backup",
    argument(
        "path", "a new file, or a directory (default: backups/ in the shelf's directory)", nargs="?"
    ),
    examples=("nuggets backup", "nuggets backup /media/stick/", "nuggets backup --json"),
    summary="copy the whole shelf into one verified file; agents may keep writing",
)
def _backup(call: Call) -> Outcome:
    backup = call.shelf.backup(call.options.path)
    size = f"{backup.size / 1e6:.1f} MB" if backup.size >= 1e5 else f"{backup.size / 1e3:.0f} kB"
    lines = [f"Backed up {pluralize(backup.notes, 'note')} ({size}) to {one_line(backup.path)}"]
    return Outcome(backup, lines)


@command(
    "restore",
    argument("path", "a file that `nuggets backup` made"),
    flag("--dry-run", "check the backup and show what would change"),
    examples=(
        "nuggets restore ~/.nuggets/backups/nuggets-2026-01-31-090000.db --dry-run",
        "nuggets restore /media/stick/nuggets-2026-01-31-090000.db",
    ),
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


@command(
    "copy",
    argument("source", "a directory, postgresql://…, or a file of `nuggets backup`"),
    argument("target", "a new directory, or postgresql://… with a new shelf"),
    DRY_RUN_ARGUMENT,
    examples=(
        "nuggets copy ~/.nuggets 'postgresql://me@db.example/memory?shelf=team'",
        "nuggets copy 'postgresql://me@db.example/memory?shelf=team' ~/copy --dry-run",
    ),
    summary="copy a whole shelf, with its history, into a new directory or database; "
    "interrupted, it leaves nothing",
)
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
        from nuggets.interfaces.importers.recognition import open_copy

        with open_copy(path, project) as shelf:
            yield shelf
        return
    if path and not os.path.exists(os.path.join(path, "nuggets.db")):
        raise NotFound(f"{location} contains no shelf; name a directory like ~/.nuggets")
    with NuggetShelf(location, project=project, short_lived=True) as shelf:
        yield shelf


# --- export ------------------------------------------------------------------------------------


@command(
    "export",
    argument(
        "form",
        "json: the documented files; jsonl, csv: a note per line; markdown: a file per note; "
        "obsidian: the same as a vault; okf: the same as an Open Knowledge Format bundle; graphml, "
        "dot: titles and links, for drawing",
        choices=FORMS,
    ),
    argument(
        "path",
        "a new directory for json, markdown, obsidian and okf, else a new file, or - for "
        "stdout; json without a path refreshes the shelf's own files",
        nargs="?",
    ),
    *FILTER_ARGUMENTS,
    DRY_RUN_ARGUMENT,
    examples=(
        "nuggets export obsidian ~/vault",
        "nuggets export csv prefs.csv --type preference",
        "nuggets export jsonl - | wc -l",
        "nuggets export json /media/stick/memory --dry-run",
    ),
    summary="write notes, all or some, for people and other programs; `nuggets import` makes "
    "the same notes of all forms but graphml and dot. Nothing is overwritten",
)
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
    if form not in FILE_FORMS:
        raise InvalidInput(f"{form} is several files; name a directory for them")
    if call.options.json:
        raise InvalidInput(f"--json prints one JSON value, and this prints {form}; leave it out")
    with suppress(BrokenPipeError):  # a reader, as in `… | head`, has seen enough
        sys.stdout.flush()
        if notes is None and form == "jsonl":
            call.shelf.export_lines(sys.stdout.buffer.write)
        else:
            listed = call.shelf.list_notes(include_hidden=True) if notes is None else notes
            sys.stdout.buffer.writelines(FILE_FORMS[form](listed))
        sys.stdout.buffer.flush()
    return Outcome(None, [])
