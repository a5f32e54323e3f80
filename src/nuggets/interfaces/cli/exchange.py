"""Commands that exchange memories with other places: import."""

import os
import shutil
from argparse import ArgumentParser
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nuggets import codec, times
from nuggets.errors import InvalidInput, NotFound, NuggetsError, StoreBusy, StoreError
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import TITLE, fitted, one_line, printable, styled, warn
from nuggets.interfaces.words import counted
from nuggets.project import root_of
from nuggets.records import Intake, MemoryNote
from nuggets.shelf import NuggetShelf
from nuggets.stores.moving_in import is_needed

if TYPE_CHECKING:
    from nuggets.interfaces.knowledge_graph import Entities

_IS = ("is", "are")
_SHOWN = 10  # notes of each kind; the JSON has them all
_NOT_MEMORY = (  # of a shelf's directory
    *("hooks", "backups", "lock", "nuggets.lock", "nuggets.db-shm", "token"),
    *("replaced-*", "journal.old*", "*.damaged-*", "*.tmp*"),
)
_ATTEMPTS = 5  # at copying a shelf that is in use


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", help="a directory of memories, or a memory file of the MCP reference server"
    )
    parser.add_argument(
        "--nugget", default="imported", help="where to put what has none (default: imported)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would come in")


def _import(call: Call) -> Outcome:
    source, dry_run = call.options.source, call.options.dry_run
    left_out = 0
    if os.path.isdir(source):
        done = _shelf_in(call, source, dry_run)
    else:
        told = _file_in(source, call.options.nugget)
        done = call.shelf.take_in(told.notes, dry_run=dry_run)
        left_out = told.left_out
    shape = {
        "added": [codec.note_to_json(note) for note in done.added],
        "updated": [codec.note_to_json(note) for note in done.updated],
        "linked": done.linked,
        "same": done.same,
        "older": done.older,
        "deleted": done.deleted,
        "relationsLeftOut": left_out,
        "dryRun": dry_run,
    }
    lines = _lines(done, dry_run)
    if left_out:
        relations = counted(left_out, "relation")
        lines.append(f"Left out: {relations} to what the file says nothing else about.")
    return Outcome(shape, lines)


def _shelf_in(call: Call, source: str, dry_run: bool) -> Intake:
    """From a copy: whose memory it is may be using it, or it may lie where nobody can write."""
    if not _is_shelf(source):
        raise NotFound(
            f"there is no memory in {source}; name a directory like ~/.nuggets, "
            "which holds graph/graph.json"
        )
    ours = call.settings["dir"]
    if os.path.isdir(ours) and os.path.samefile(source, ours):
        raise InvalidInput(f"{source} is this very shelf; name another with --dir, or as source")
    with TemporaryDirectory(prefix="nuggets-import-") as place:
        copy = os.path.join(place, "shelf")
        _copy_shelf(source, copy)
        try:
            with NuggetShelf(copy, project=call.shelf.project, short_lived=True) as other:
                done = call.shelf.take_in(other, dry_run=dry_run)
                warnings = other.warnings
        except StoreError as problem:
            told = str(problem).replace(copy, source)
            raise StoreError(f"{told} (with --dir {source})") from problem
    for warning in warnings:
        warn(f"Warning: {printable(warning.replace(copy, source))}")
    return done


def _copy_shelf(source: str, copy: str) -> None:
    """Again if someone wrote meanwhile: a database and its log belong together."""
    for _ in range(_ATTEMPTS):
        before = _database_versions(source)
        try:
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*_NOT_MEMORY))
        except (OSError, shutil.Error) as problem:
            raise NuggetsError(f"{source} cannot be read: {problem}") from problem
        if _database_versions(source) == before:
            return
        shutil.rmtree(copy)
    raise StoreBusy(f"{source} keeps changing while it is copied; nothing was changed. Try again")


def _database_versions(source: str) -> list[tuple[int, int]]:
    found = []
    for name in ("nuggets.db", "nuggets.db-wal"):
        with suppress(OSError):
            status = os.stat(os.path.join(source, name))
            found.append((status.st_size, status.st_mtime_ns))
    return found


def _is_shelf(directory: str) -> bool:
    return (
        os.path.exists(os.path.join(directory, "nuggets.db"))
        or is_needed(directory)
        or os.path.exists(os.path.join(directory, "graph", "graph.json"))
        or any(name.endswith(".nugget.json") for name in os.listdir(directory))
    )


def _file_in(path: str, nugget: str) -> "Entities":
    from datetime import UTC, datetime

    from nuggets.interfaces.knowledge_graph import read

    if os.path.basename(path) == "graph.json" or path.endswith(".nugget.json"):
        raise InvalidInput(f"{path} is part of a shelf; name the directory that it belongs to")
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            text = file.read()
            changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a directory of memories or a file") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise NuggetsError(f"{path} cannot be read: {problem}") from problem
    return read(text, nugget, times.normal(changed.isoformat()))


def _lines(done: Intake, dry_run: bool) -> list[str]:
    lines = []
    for verb, sign, colour, notes in (
        ("Would add" if dry_run else "Added", "+", "green", done.added),
        ("Would update" if dry_run else "Updated", "~", "yellow", done.updated),
    ):
        if notes:
            lines.append(f"{verb} {_numbered(notes)}:")
            lines += (
                f"  {styled(sign, colour)} {one_line(note.nugget_name)}: "
                f"{fitted(note.title, TITLE)}"
                for note in notes[:_SHOWN]
            )
        if len(notes) > _SHOWN:
            lines.append(f"    and {len(notes) - _SHOWN} more")
    if done.linked:
        verb = "Would link" if dry_run else "Linked"
        lines.append(f"{verb} {counted(done.linked, 'note')} that {_IS[done.linked > 1]} here.")
    lines = lines or ["Nothing new."]
    left = {
        "known already": done.same,
        "changed here since": done.older,
        "deleted here since": done.deleted,
    }
    if any(left.values()):
        lines.append(f"Left as it is: {', '.join(f'{n} {why}' for why, n in left.items() if n)}.")
    return lines + _about_projects(done)


def _numbered(notes: tuple[MemoryNote, ...]) -> str:
    facts = sum(note.kind == "fact" for note in notes)
    kinds = (facts, "fact"), (len(notes) - facts, "note")
    return " and ".join(counted(number, kind) for number, kind in kinds if number)


def _about_projects(done: Intake) -> list[str]:
    """Those of another machine have other paths."""
    roots = {root_of(note.project) for note in (*done.added, *done.updated)} - {""}
    gone = sum(not os.path.exists(root) for root in roots)
    if not gone:
        return []
    where = counted(gone, "repository", "repositories")
    return [f"Some belong to {where} that cannot be found here; see: nuggets project list"]


COMMANDS = {
    "import": Command(
        (
            "nuggets import /media/stick/.nuggets --dry-run",
            "nuggets import ~/memory.jsonl --nugget research",
        ),
        _import,
        _arguments,
        summary="take memories in from another machine's directory or another program. Of two "
        "versions the later counts; what was deleted there stays here. One undo takes it all back",
        changes=True,
    ),
}
