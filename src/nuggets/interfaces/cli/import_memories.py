"""The command that imports memories from another shelf or program: import."""

import os
import shutil
import stat
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import closing, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from nuggets.domain import codec, times
from nuggets.domain.records import Intake, MemoryNote
from nuggets.errors import InvalidInput, NotFound, NuggetsError, StoreBusy, StoreError
from nuggets.filesystem.atomic_files import open_plain, write_all
from nuggets.filesystem.current_project import root_of
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import (
    TITLE_WIDTH,
    escape_controls,
    fit,
    one_line,
    style,
    warn,
)
from nuggets.interfaces.display_text import pluralize
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports.register import documented_files

if TYPE_CHECKING:
    from nuggets.interfaces.mcp_memory_import import Entities

_IS = ("is", "are")
_NOTES_SHOWN = 10  # notes of each kind; the JSON has them all
_LARGEST_FILE = 1 << 30  # bytes of a memory file: all of it is read into memory
_CHUNK = 1 << 20
_ATTEMPTS = 5  # at copying a shelf that is in use


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", help="a directory of memories, or a memory file of the MCP reference server"
    )
    parser.add_argument(
        "--nugget", default="imported", help="nugget for memories without one (default: imported)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be imported")


def _import(call: Call) -> Outcome:
    source, dry_run = call.options.source, call.options.dry_run
    left_out = 0
    if os.path.isdir(source):
        done = _import_shelf(call, source, dry_run)
    else:
        entities = _read_file(source, call.options.nugget)
        done = call.shelf.import_memories(entities.notes, dry_run=dry_run)
        left_out = entities.left_out
    shape = {
        "added": [codec.note_to_json(note) for note in done.added],
        "updated": [codec.note_to_json(note) for note in done.updated],
        "linked": done.linked,
        "same": done.same,
        "older": done.older,
        "deleted": done.deleted,
        "refused": list(done.refused),
        "relationsLeftOut": left_out,
        "dryRun": dry_run,
    }
    lines = _lines(done, dry_run)
    if left_out:
        relations = pluralize(left_out, "relation")
        lines.append(f"Left out: {relations} to entities that the file does not contain.")
    return Outcome(shape, lines)


def _import_shelf(call: Call, source: str, dry_run: bool) -> Intake:
    """Import from a copy: the source may be in use, or on a read-only medium."""
    if not _is_shelf(source):
        raise NotFound(
            f"{source} contains no shelf; name a directory like ~/.nuggets, "
            "which holds graph/graph.json"
        )
    own_directory = call.settings["dir"]
    if os.path.isdir(own_directory) and os.path.samefile(source, own_directory):
        raise InvalidInput(
            f"{source} is the current shelf; name another with --dir, or another source"
        )
    with TemporaryDirectory(prefix="nuggets-import-") as temporary:
        copy = os.path.join(temporary, "shelf")
        _copy_shelf(source, copy)
        try:
            _refuse_damaged(copy)
            with NuggetShelf(copy, project=call.shelf.project, short_lived=True) as other_shelf:
                done = call.shelf.import_memories(other_shelf, dry_run=dry_run)
                warnings = other_shelf.warnings
        except StoreError as problem:
            message = str(problem).replace(copy, source)
            raise StoreError(f"{message} (with --dir {source})") from problem
    for warning in warnings:
        warn(f"Warning: {escape_controls(warning.replace(copy, source))}")
    return done


def _refuse_damaged(copy: str) -> None:
    """Raise an error if the database of the copy has what cannot be read; what can be read of a
    note is checked when it comes in."""
    from nuggets.stores.doctor.database_defects import check_records
    from nuggets.stores.doctor.row_checks import NOTES
    from nuggets.stores.sqlite.database import ExplainErrors, open_read_only

    path = os.path.join(copy, "nuggets.db")
    if os.path.exists(path):
        with closing(open_read_only(path)) as database, ExplainErrors(path):
            check_records(database, NOTES)


def _copy_shelf(source: str, copy: str) -> None:
    """Copy again if the database changed meanwhile, so that it fits its log."""
    for _ in range(_ATTEMPTS):
        before = _database_versions(source)
        try:
            _copy_files(source, copy)
        except (OSError, shutil.Error) as problem:
            raise NuggetsError(f"{source} cannot be read: {problem}") from problem
        if _database_versions(source) == before:
            return
        shutil.rmtree(copy)
    raise StoreBusy(f"{source} keeps changing while it is copied; nothing was changed. Try again")


def _copy_files(source: str, copy: str) -> None:
    """Copy the plain files that hold memory. A link could lead to any file of this machine, and
    what is not there in full, such as a file with holes, could fill the disk."""
    names = list(_files_with_memory(source))
    size = sum(os.lstat(os.path.join(source, name)).st_size for name in names)
    free = shutil.disk_usage(os.path.dirname(copy)).free
    if size > free:
        raise NuggetsError(
            f"{source} has {size} bytes of memory, and there is space for {free} to copy them to "
            f"{os.path.dirname(copy)}; nothing was changed. Free some, or set TMPDIR"
        )
    os.mkdir(copy, 0o700)
    for name in names:
        target = os.path.join(copy, name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        path = os.path.join(source, name)
        with open(path, "rb", opener=_open_own) as file, open(target, "xb") as copied:
            has_holes = _copy_without_holes(file, copied)
        if has_holes and not name.startswith("nuggets.db"):
            raise InvalidInput(f"{path} has holes, and no program writes such a file for memories")
        shutil.copystat(path, target, follow_symlinks=False)


def _copy_without_holes(file: BinaryIO, copied: BinaryIO) -> bool:
    """Copy what is there: a file of many gigabytes may hold a few bytes, and so does its copy.

    Returns whether there are holes.
    """
    source, target = file.fileno(), copied.fileno()
    size, end, found = os.fstat(source).st_size, 0, 0
    while end < size:
        try:
            begin = os.lseek(source, end, os.SEEK_DATA)
        except OSError:  # only a hole is left
            break
        end = os.lseek(source, begin, os.SEEK_HOLE)
        found += end - begin
        os.lseek(target, begin, os.SEEK_SET)
        os.lseek(source, begin, os.SEEK_SET)
        while begin < end and (part := os.read(source, min(_CHUNK, end - begin))):
            write_all(target, part)
            begin += len(part)
    os.ftruncate(target, size)
    return found < size


def _files_with_memory(source: str) -> Iterator[str]:
    """The database and the documented files: plain files only."""
    names = ["nuggets.db", "nuggets.db-wal", "recalls.jsonl", *sorted(documented_files(source))]
    for name in names:
        with suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISREG(os.lstat(os.path.join(source, name)).st_mode):
                yield name


def _open_own(path: str, flags: int) -> int:
    return open_plain(path, flags | os.O_NOFOLLOW)


def _database_versions(source: str) -> list[tuple[int, int]]:
    versions = []
    for name in ("nuggets.db", "nuggets.db-wal"):
        with suppress(OSError):
            status = os.stat(os.path.join(source, name))
            versions.append((status.st_size, status.st_mtime_ns))
    return versions


def _is_shelf(directory: str) -> bool:
    return (
        os.path.exists(os.path.join(directory, "nuggets.db"))
        or os.path.exists(os.path.join(directory, "graph", "graph.json"))
        or any(name.endswith(".nugget.json") for name in os.listdir(directory))
    )


def _read_file(path: str, nugget: str) -> "Entities":
    from datetime import UTC, datetime

    from nuggets.interfaces.mcp_memory_import import read

    if os.path.basename(path) == "graph.json" or path.endswith(".nugget.json"):
        raise InvalidInput(f"{path} is part of a shelf; name the directory that it belongs to")
    try:
        with open(path, encoding="utf-8-sig", newline="\n", opener=open_plain) as file:
            if os.fstat(file.fileno()).st_size > _LARGEST_FILE:
                raise InvalidInput(f"{path} is larger than a gigabyte; import it in parts")
            text = file.read()
            changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a directory of memories or a file") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise NuggetsError(f"{path} cannot be read: {problem}") from problem
    return read(text, nugget, times.normalize_time(changed.isoformat()))


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
    return lines + _refused_lines(done) + _missing_project_lines(done)


def _refused_lines(done: Intake) -> list[str]:
    if not done.refused:
        return []
    count = pluralize(len(done.refused), "record")
    lines = [f"Refused: {count} that no shelf could have written:"]
    lines += (f"  {style('!', 'red')} {one_line(reason)}" for reason in done.refused[:_NOTES_SHOWN])
    if len(done.refused) > _NOTES_SHOWN:
        lines.append(f"    and {len(done.refused) - _NOTES_SHOWN} more; --json names all")
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
            "nuggets import ~/memory.jsonl --nugget research",
        ),
        _import,
        _arguments,
        summary="import memories from another machine's directory or another program. The later of "
        "two versions wins; what was deleted there stays here. One undo reverts the import",
        changes=True,
    ),
}
