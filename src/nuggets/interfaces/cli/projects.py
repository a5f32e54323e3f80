"""Commands on projects: list, move, join, leave, share, unshare, trust, untrust."""

import os
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from nuggets.domain.records import ProjectMove, ProjectStatus
from nuggets.filesystem.current_project import SHARED_FOLDER, name_of, root_of
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import one_line, table
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from nuggets.maintenance.trusted_repositories import SyncResult


def _list(call: Call) -> Outcome:
    projects = call.shelf.projects()
    shape = [{**status._asdict(), "there": _is_there(status)} for status in projects]
    if not projects:
        return Outcome(shape, ["No memory belongs to a project yet."])
    rows = [
        (
            name_of(status.project),
            str(status.fact_count),
            str(status.note_count),
            "" if _is_there(status) else "gone",
            ", ".join(map(root_of, _places(status))) or status.project,
        )
        for status in projects
    ]
    lines = table(("PROJECT", "FACTS", "NOTES", "STATE", "WHERE"), rows, whole=True)
    if not all(map(_is_there, projects)):
        lines.append("If one was moved, run in its new directory: nuggets project move <project>")
    return Outcome(shape, lines)


def _is_there(status: ProjectStatus) -> bool:
    """Does its directory exist? A project that a setting names has no path."""
    places = _places(status)
    return not places or any(map(os.path.exists, places))


def _places(status: ProjectStatus) -> list[str]:
    """Where it lies; without those that are gone if there are others."""
    recorded = list(status.locations)
    if not recorded:
        recorded = [status.project] if root_of(status.project) else []
    return [place for place in recorded if os.path.exists(place)] or recorded


def _move_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="its old directory, or the name of that directory")
    parser.add_argument("to", nargs="?", help="its new directory (default: the current one)")
    parser.add_argument("--dry-run", action="store_true", help="only show what would move")


def _move(call: Call) -> Outcome:
    options = call.options
    done = call.shelf.move_project(options.project, options.to, dry_run=options.dry_run)
    shape = {
        "from": done.old,
        "to": done.new,
        "moved": [note.id for note in done.moved],
        "left": [note.id for note in done.left],
        "dryRun": options.dry_run,
    }
    return Outcome(shape, _moved_lines(done, options.dry_run))


def _moved_lines(done: ProjectMove, dry_run: bool) -> list[str]:
    facts = sum(note.kind == "fact" for note in done.moved)
    what = f"{pluralize(facts, 'fact')} and {pluralize(len(done.moved) - facts, 'note')}"
    old, new = (one_line(root_of(project) or project) for project in (done.old, done.new))
    verb = "Would move" if dry_run else "Moved"
    return [f"{verb} {what} from {old} to {new}.", *_left_lines(done)]


def _left_lines(done: ProjectMove) -> list[str]:
    lines = []
    if done.left:
        lines.append(
            "Not moved, because the new project has a fact with the same key, perhaps archived "
            "(to move these, first `nuggets forget` it there):"
        )
        lines += [f"  {one_line(note.nugget_name)}: {one_line(note.title)}" for note in done.left]
    return lines


def _join_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="its directory, or the name of that directory")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _join(call: Call) -> Outcome:
    options = call.options
    done = call.shelf.join_project(options.project, dry_run=options.dry_run)
    shape = {
        "project": done.new,
        "moved": [note.id for note in done.moved],
        "left": [note.id for note in done.left],
        "dryRun": options.dry_run,
    }
    verb = "Would use" if options.dry_run else "Uses"
    lines = [f"{verb} the memories of {one_line(root_of(done.new) or done.new)} here too."]
    if done.moved:
        lines.append(
            f"{pluralize(len(done.moved), 'memory', 'memories')} of this place moved there."
        )
    return Outcome(shape, [*lines, *_left_lines(done)])


def _leave(call: Call) -> Outcome:
    project = call.shelf.leave_project()
    line = f"{one_line(root_of(project))} has memories of its own from now on."
    return Outcome({"project": project}, [line])


def _sharing_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


def _share(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    done = call.shelf.share_project(dry_run=dry_run)
    return _sync_outcome(call, done, dry_run, "Shared through")


def _trust(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    done = call.shelf.trust_project(dry_run=dry_run)
    return _sync_outcome(call, done, dry_run, "Trusted:")


def _sync_outcome(call: Call, done: "SyncResult", dry_run: bool, verb: str) -> Outcome:
    shape = {
        "added": [note.id for note in done.added],
        "updated": [note.id for note in done.updated],
        "retired": [note.id for note in done.retired],
        "written": list(done.written),
        "removed": list(done.removed),
        "problems": list(done.problems),
        "dryRun": dry_run,
    }
    folder = one_line(os.path.join(call.shelf.checkout, SHARED_FOLDER))
    lines = [f"Would be done in {folder}:" if dry_run else f"{verb} {folder}."]
    for notes, what in (
        (done.added, "read"),
        (done.updated, "updated"),
        (done.retired, "archived"),
    ):
        lines += [f"  {what}: {one_line(note.title)}" for note in notes]
    if done.written or done.removed:
        counts = f"{len(done.written)} written, {len(done.removed)} removed"
        lines.append(f"  files: {counts}; look at them and commit them with git")
    lines += [f"  left out: {one_line(problem)}" for problem in done.problems]
    return Outcome(shape, lines)


def _unshare(call: Call) -> Outcome:
    call.shelf.unshare_project()
    folder = one_line(os.path.join(call.shelf.checkout, SHARED_FOLDER))
    line = f"Nothing more is written into {folder}. Its files stay; remove them with git."
    return Outcome({"folder": folder}, [line])


def _untrust(call: Call) -> Outcome:
    dropped = call.shelf.untrust_project()
    count = pluralize(len(dropped), "memory", "memories")
    line = f"The memories in this checkout are not read any more; {count} from there dropped."
    return Outcome({"dropped": [note.id for note in dropped]}, [line])


COMMANDS = {
    "project list": Command(
        ("nuggets project list", "nuggets project list --json"),
        _list,
    ),
    "project move": Command(
        (
            "nuggets project move webshop --dry-run",
            "nuggets project move ~/old/webshop ~/code/webshop",
        ),
        _move,
        _move_arguments,
        summary="move the memories of a repository that was moved, renamed or cloned again",
        changes=True,
    ),
    "project join": Command(
        ("nuggets project join ~/code/webshop", "nuggets project join webshop --dry-run"),
        _join,
        _join_arguments,
        summary="use the memories of another clone or fork of this repository here too",
        changes=True,
    ),
    "project leave": Command(
        ("nuggets project leave",),
        _leave,
        summary="give this place memories of its own, though it was recognized as another project",
        changes=True,
    ),
    "project share": Command(
        ("nuggets project share --dry-run", "nuggets project share"),
        _share,
        _sharing_arguments,
        summary="write this project's memories into .nuggets of the repository, for others to read",
        changes=True,
    ),
    "project unshare": Command(
        ("nuggets project unshare",),
        _unshare,
        summary="stop writing memories into the repository; existing files stay",
        changes=True,
    ),
    "project trust": Command(
        ("nuggets project trust --dry-run", "nuggets project trust"),
        _trust,
        _sharing_arguments,
        summary="read the memories that the repository carries in .nuggets, together with yours",
        changes=True,
    ),
    "project untrust": Command(
        ("nuggets project untrust",),
        _untrust,
        summary="stop reading the repository's memories, and drop those that came from it",
        changes=True,
    ),
}
