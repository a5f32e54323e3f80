"""Commands on projects: list, move."""

import os
from argparse import ArgumentParser

from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import one_line, table
from nuggets.interfaces.words import counted
from nuggets.project import name_of, root_of
from nuggets.records import ProjectMove, ProjectStatus


def _list(call: Call) -> Outcome:
    known = call.shelf.projects()
    shape = [{**status._asdict(), "there": _is_there(status)} for status in known]
    if not known:
        return Outcome(shape, ["No memory belongs to a project yet."])
    rows = [
        (
            name_of(one.project),
            str(one.fact_count),
            str(one.note_count),
            "" if _is_there(one) else "gone",
            root_of(one.project) or one.project,
        )
        for one in known
    ]
    lines = table(("PROJECT", "FACTS", "NOTES", "STATE", "WHERE"), rows, copied=True)
    if not all(map(_is_there, known)):
        lines.append("If one was moved, in its new place: nuggets project move <project>")
    return Outcome(shape, lines)


def _is_there(status: ProjectStatus) -> bool:
    """One that is no path was named by a setting, and can be anywhere."""
    return not root_of(status.project) or os.path.exists(status.project)


def _move_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="the folder that it was in, or just the folder's name")
    parser.add_argument("to", nargs="?", help="where it is now; by default where you are")
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
    what = f"{counted(facts, 'fact')} and {counted(len(done.moved) - facts, 'note')}"
    old, new = (one_line(root_of(one) or one) for one in (done.old, done.new))
    verb = "Would move" if dry_run else "Moved"
    lines = [f"{verb} {what} from {old} to {new}."]
    if done.left:
        lines.append(
            "Left, because a fact by the same key is there, in sight or archived "
            "(to take these along, first `nuggets forget` it there):"
        )
        lines += [f"  {one_line(note.nugget_name)}: {one_line(note.title)}" for note in done.left]
    return lines


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
        summary="take the memories of a repository along that was moved, renamed or cloned anew",
        changes=True,
    ),
}
