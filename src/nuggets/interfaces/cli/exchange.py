"""Commands that exchange memories with other places: import."""

import os
import shutil
from argparse import ArgumentParser
from tempfile import TemporaryDirectory

from nuggets import codec, times
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import TITLE, fitted, one_line, styled
from nuggets.interfaces.words import counted
from nuggets.project import root_of
from nuggets.records import Intake, MemoryNote
from nuggets.shelf import NuggetShelf

_SHOWN = 10  # notes of each kind; the JSON has them all
_NOT_MEMORY = ("hooks", "backups", "lock", "token", "search.kept")  # of a shelf's directory


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
    if os.path.isdir(source):
        done = _shelf_in(call, source, dry_run)
    else:
        done = call.shelf.take_in(_file_in(source, call.options.nugget), dry_run=dry_run)
    shape = {
        "added": [codec.note_to_json(note) for note in done.added],
        "updated": [codec.note_to_json(note) for note in done.updated],
        "same": done.same,
        "older": done.older,
        "deleted": done.deleted,
        "dryRun": dry_run,
    }
    return Outcome(shape, _lines(done, dry_run))


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
        try:
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*_NOT_MEMORY))
        except (OSError, shutil.Error) as problem:
            raise NuggetsError(f"{source} cannot be read: {problem}") from problem
        with NuggetShelf(copy, project=call.shelf.project, short_lived=True) as other:
            return call.shelf.take_in(other, dry_run=dry_run)


def _is_shelf(directory: str) -> bool:
    kept = ("journal", os.path.join("graph", "graph.json"))
    return any(os.path.exists(os.path.join(directory, name)) for name in kept) or any(
        name.endswith(".nugget.json") for name in os.listdir(directory)
    )


def _file_in(path: str, nugget: str) -> list[codec.Json]:
    from datetime import UTC, datetime

    from nuggets.interfaces.knowledge_graph import notes_in

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
            changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a directory of memories or a file") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise NuggetsError(f"{path} cannot be read: {problem}") from problem
    return notes_in(text, nugget, times.normal(changed.isoformat()))


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
    roots = {root_of(note.project) for note in done.added} - {""}
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
        summary="take memories in from another machine's directory or from another program: "
        "of two versions the later one counts, and one undo takes it all back",
        changes=True,
    ),
}
