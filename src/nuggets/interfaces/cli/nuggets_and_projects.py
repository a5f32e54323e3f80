"""Commands on whole nuggets, on projects, and on the sessions with agents in them: list, status,
clear, remove, project, sessions."""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import (
    ExportsStatus,
    MemoryNote,
    NoteKind,
    NuggetStatus,
    ProjectMove,
    ProjectStatus,
)
from nuggets.errors import Conflict, InvalidInput, NuggetsError
from nuggets.facts.capacity import NEARLY_FULL
from nuggets.filesystem.current_project import SHARED_FOLDER, name_of, root_of
from nuggets.interfaces import json_responses, pluralize
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.terminal_output import bar, escape_controls, one_line, style, table

if TYPE_CHECKING:
    from nuggets.operations.shared_memories import SyncResult


# --- list, status, clear, remove ---------------------------------------------------------------


_UNCHANGED = Outcome(
    codec.error_to_json("error", "nothing was changed"), ["Nothing was changed."], 1
)


@command("list")
def _list(call: Call) -> Outcome:
    statuses = call.shelf.list()
    rows = [(n.name, str(n.fact_count), str(n.note_count)) for n in statuses]
    empty = ["Nothing is stored yet. Start with: nuggets remember <nugget> <key> <value>"]
    lines = table(("NUGGET", "FACTS", "NOTES"), rows) if rows else empty
    return Outcome(statuses, lines)


@command(
    "status",
    argument("nugget", "only this nugget (default: all)", nargs="?"),
    examples=("nuggets status", "nuggets status project --json"),
)
def _status(call: Call) -> Outcome:
    if call.options.nugget:
        status = call.shelf.status(call.options.nugget)
        return Outcome(status, _status_lines(status))
    statuses = call.shelf.list()
    lines = [line for status in statuses for line in (*_status_lines(status), "")][:-1]
    lines += _exports_lines(call.shelf.exports_status()) if statuses else []
    for path, why in call.shelf.memory_file_problems().items():  # edits that are not taken over
        lines += ["", one_line(f"{path}: {why}")]
    return Outcome(statuses, lines or ["Nothing is stored yet."])


def _exports_lines(status: ExportsStatus | None) -> list[str]:
    """How old the exported files are; nothing if they are current."""
    if status is None or not status.behind:
        return []
    changes = pluralize(status.behind, "change")
    shown = f"revision {status.revision} of {status.saved_at}, " if status.saved_at else ""
    return ["", f"graph.json and the nugget files: {shown}{changes} behind; `nuggets export json`"]


def _status_lines(status: NuggetStatus) -> list[str]:
    colour = "green"
    if status.capacity_warning:
        colour = "red" if status.capacity_used_pct >= NEARLY_FULL else "yellow"
    gauge = style(bar(status.capacity_used_pct / 100), colour)
    lines = [
        style(one_line(status.name), "bold"),
        f"  {pluralize(status.fact_count, 'fact')}, {pluralize(status.note_count, 'note')}",
        f"  capacity {gauge} {status.capacity_used_pct}% of {status.capacity}",
    ]
    if status.max_facts:
        lines.append(f"  keeps the newest {pluralize(status.max_facts, 'fact')}")
    if status.capacity_warning:
        lines.append(f"  {style(status.capacity_warning, colour)}")
    return lines


_REMOVAL_ARGUMENTS = (
    argument("nugget", "the nugget"),
    flag("--yes", "do not ask"),
)


@command(
    "clear",
    *_REMOVAL_ARGUMENTS,
    examples=("nuggets clear scratch", "nuggets clear scratch --yes"),
)
def _clear(call: Call) -> Outcome:
    name = call.shelf.get(call.options.nugget).name
    if not _confirm(call, f"Delete all facts of {one_line(name)}", "fact"):
        return _UNCHANGED
    count = call.shelf.clear(name)
    return Outcome(
        json_responses.forget_result(name, count), [f"Forgot {pluralize(count, 'fact')}."]
    )


@command(
    "remove",
    *_REMOVAL_ARGUMENTS,
    examples=("nuggets remove scratch", "nuggets remove scratch --yes"),
)
def _remove(call: Call) -> Outcome:
    name = call.shelf.get(call.options.nugget).name
    if not _confirm(call, f"Delete {one_line(name)} with all facts and notes"):
        return _UNCHANGED
    count = call.shelf.remove(name)
    return Outcome(
        json_responses.remove_result(name, count),
        [f"Removed {one_line(name)} with {pluralize(count, 'memory', 'memories')}."],
    )


def _confirm(call: Call, question: str, kind: NoteKind | None = None) -> bool:
    """Ask before deleting, unless ``--yes`` is given; refuse if there is no terminal, or if the
    nugget changed meanwhile."""
    if call.options.yes:
        return True
    chosen = {"nugget": call.options.nugget, "kind": kind, "include_hidden": True}
    notes = call.shelf.list_notes(**chosen)
    question = f"{question} ({_describe_contents(call, notes)})?"
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput(
            f"{question} There is no terminal to ask at; repeat the command with --yes"
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    wanted = sys.stdin.readline().strip().lower() in ("y", "yes")
    now = {(note.id, note.updated_at) for note in call.shelf.list_notes(**chosen)}
    if wanted and now != {(note.id, note.updated_at) for note in notes}:
        raise Conflict("it changed meanwhile, so nothing was deleted; try again")
    return wanted


def _describe_contents(call: Call, notes: Sequence[MemoryNote]) -> str:
    """How many facts and notes, how many of other projects, and how many archived."""
    kinds = Counter(note.kind for note in notes)
    by_project = Counter(name_of(note.project) for note in notes if call.shelf.is_foreign(note))
    archived = sum(note.hidden for note in notes)
    parts = (
        ", ".join(pluralize(number, kind) for kind, number in sorted(kinds.items())) or "nothing",
        ", ".join(f"{number} of {one_line(name)}" for name, number in sorted(by_project.items())),
        f"{archived} archived" if archived else "",
    )
    return "; ".join(filter(None, parts))


# --- project list, move, join, leave, share, unshare, trust, untrust ---------------------------


@command("project list")
def _list_projects(call: Call) -> Outcome:
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


@command(
    "project move",
    argument("project", "its old directory, or the name of that directory"),
    argument("to", "its new directory (default: the current one)", nargs="?"),
    DRY_RUN_ARGUMENT,
    examples=(
        "nuggets project move webshop --dry-run",
        "nuggets project move ~/old/webshop ~/code/webshop",
    ),
    summary="move the memories of a repository that was moved, renamed or cloned again",
)
def _move(call: Call) -> Outcome:
    options = call.options
    done = call.shelf.move_project(options.project, options.to, dry_run=options.dry_run)
    facts = sum(note.kind == "fact" for note in done.moved)
    what = f"{pluralize(facts, 'fact')} and {pluralize(len(done.moved) - facts, 'note')}"
    old, new = (one_line(root_of(project) or project) for project in (done.old, done.new))
    verb = "Would move" if options.dry_run else "Moved"
    line = f"{verb} {what} from {old} to {new}."
    return _move_outcome({"from": done.old, "to": done.new}, done, options.dry_run, [line])


def _move_outcome(
    shape: Mapping[str, str], done: ProjectMove, dry_run: bool, lines: list[str]
) -> Outcome:
    """What a move or a join says, with what was left because there is such a fact already."""
    moved, left = ([note.id for note in notes] for notes in (done.moved, done.left))
    if left:
        lines.append(
            "Not moved, because the new project has a fact with the same key, perhaps archived "
            "(to move these, first `nuggets forget` it there):"
        )
        lines += [f"  {one_line(note.nugget_name)}: {one_line(note.title)}" for note in done.left]
    return Outcome({**shape, "moved": moved, "left": left, "dryRun": dry_run}, lines)


@command(
    "project join",
    argument("project", "its directory, or the name of that directory"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets project join ~/code/webshop", "nuggets project join webshop --dry-run"),
    summary="use the memories of another clone or fork of this repository here too",
)
def _join(call: Call) -> Outcome:
    options = call.options
    done = call.shelf.join_project(options.project, dry_run=options.dry_run)
    verb = "Would use" if options.dry_run else "Uses"
    lines = [f"{verb} the memories of {one_line(root_of(done.new) or done.new)} here too."]
    if done.moved:
        lines.append(
            f"{pluralize(len(done.moved), 'memory', 'memories')} of this place moved there."
        )
    return _move_outcome({"project": done.new}, done, options.dry_run, lines)


@command(
    "project leave",
    summary="give this place memories of its own, though it was recognized as another project",
)
def _leave(call: Call) -> Outcome:
    project = call.shelf.leave_project()
    line = f"{one_line(root_of(project))} has memories of its own from now on."
    return Outcome({"project": project}, [line])


@command(
    "project share",
    DRY_RUN_ARGUMENT,
    examples=("nuggets project share --dry-run", "nuggets project share"),
    summary="write this project's memories into .nuggets of the repository, for others to read",
)
def _share(call: Call) -> Outcome:
    done = call.shelf.sharing.share(dry_run=call.options.dry_run)
    return _sync_outcome(call, done, "Shared through")


@command(
    "project trust",
    DRY_RUN_ARGUMENT,
    examples=("nuggets project trust --dry-run", "nuggets project trust"),
    summary="read the memories that the repository carries in .nuggets, together with yours",
)
def _trust(call: Call) -> Outcome:
    done = call.shelf.sharing.trust(dry_run=call.options.dry_run)
    return _sync_outcome(call, done, "Trusted:")


def _sync_outcome(call: Call, done: "SyncResult", verb: str) -> Outcome:
    dry_run = call.options.dry_run
    shape = {  # notes by their ids
        name: [getattr(item, "id", item) for item in items]
        for name, items in done._asdict().items()
    }
    folder = one_line(os.path.join(call.shelf.checkout, SHARED_FOLDER))
    lines = [f"Would be done in {folder}:" if dry_run else f"{verb} {folder}."]
    for notes, what in (
        (done.added, "read"),
        (done.updated, "updated"),
        (done.retired, "archived"),
    ):
        lines += [f"  {what}: {one_line(note.title)}" for note in notes]
    if dry_run:
        notes_by_id = call.shelf.get_notes([*done.written, *done.removed])
        for ids, what in ((done.written, "written"), (done.removed, "removed")):
            found = (notes_by_id[i] for i in ids if i in notes_by_id)
            lines += [f"  {what}: {one_line(n.title)}: {one_line(n.content)}" for n in found]
    if done.written or done.removed:
        counts = f"{len(done.written)} written, {len(done.removed)} removed"
        lines.append(f"  files: {counts}; look at them and commit them with git")
    lines += [f"  left out: {one_line(problem)}" for problem in done.problems]
    return Outcome({**shape, "dryRun": dry_run}, lines)


@command(
    "project unshare",
    summary="stop writing memories into the repository; existing files stay",
)
def _unshare(call: Call) -> Outcome:
    call.shelf.sharing.unshare()
    folder = one_line(os.path.join(call.shelf.checkout, SHARED_FOLDER))
    line = f"Nothing more is written into {folder}. Its files stay; remove them with git."
    return Outcome({"folder": folder}, [line])


@command(
    "project untrust",
    summary="stop reading the repository's memories, and drop those that came from it",
)
def _untrust(call: Call) -> Outcome:
    dropped = call.shelf.sharing.untrust()
    count = pluralize(len(dropped), "memory", "memories")
    line = f"The memories in this checkout are not read any more; {count} from there dropped."
    return Outcome({"dropped": [note.id for note in dropped]}, [line])


# --- sessions list, show, search ---------------------------------------------------------------


NONE_YET = "There is no note of a session yet. Hooks write them: nuggets connect --help"
NONE_HERE = (
    "There is no note of a session in this project yet. Hooks write them: nuggets connect --help "
    "(--all lists those of all projects)"
)


_ALL_ARGUMENT = flag("--all", "of all projects, not only this one")


def _keep_left_over(call: Call) -> None:
    """Note first what sessions did since their notes were written, as the next one would."""
    from nuggets.interfaces.hooks.session_note_update import keep_left_over

    with suppress(NuggetsError):  # another program writes: what is there is shown
        keep_left_over(call.shelf, call.settings["dir"])


@command(
    "sessions list",
    _ALL_ARGUMENT,
    examples=("nuggets sessions list", "nuggets sessions list --all --json"),
)
def _list_sessions(call: Call) -> Outcome:
    from nuggets.operations.session_notes import session_agent

    _keep_left_over(call)
    notes = call.shelf.sessions(all_projects=call.options.all)
    shape = notes
    if not notes:
        return Outcome(shape, [NONE_YET if call.options.all else NONE_HERE])
    rows = [
        (note.id, _end_time(note), session_agent(note), name_of(note.project), note.title[11:])
        for note in notes
    ]
    return Outcome(shape, table(("ID", "ENDED", "AGENT", "PROJECT", "GOAL"), rows))


def _end_time(note: MemoryNote) -> str:
    return note.updated_at[:16].replace("T", " ")


@command(
    "sessions show",
    argument("id", "id of its note (default: the last session here)", nargs="?"),
    examples=("nuggets sessions show", "nuggets sessions show note-sessions-1c2f"),
)
def _show_session(call: Call) -> Outcome:
    _keep_left_over(call)
    note = call.shelf.get_session(call.options.id)
    head = style(one_line(note.title), "bold")
    body = escape_controls(note.content).split("\n")
    return Outcome(note, [head, *body, *_foot(call, note)])


def _foot(call: Call, note: MemoryNote) -> list[str]:
    """Its id, when it ended, and the sessions that it is linked to."""
    from nuggets.operations.session_notes import session_agent

    linked = call.shelf.get_notes(link.to for link in note.links).values()
    earlier = [other.id for other in linked if other.created_at < note.created_at]
    parts = [note.id, f"ended {_end_time(note)}", session_agent(note), name_of(note.project)]
    lines = ["", " · ".join(one_line(part) for part in parts if part)]
    return [style(line, "dim") for line in [*lines, *(f"before it: {i}" for i in earlier[-1:])]]


@command(
    "sessions search",
    argument("query", "what the session was about", nargs="+"),
    argument("--limit", "maximum number of results (default: 5)", type=int, default=5),
    _ALL_ARGUMENT,
    examples=("nuggets sessions search uuid migration",),
)
def _search_sessions(call: Call) -> Outcome:
    _keep_left_over(call)
    options = call.options
    from nuggets.interfaces.cli.search_recall_graph import search_lines

    found = call.shelf.search_sessions(
        " ".join(options.query), options.limit, all_projects=options.all
    )
    shape = [json_responses.search_result(call.shelf, result) for result in found]
    lines = [line for result in found for line in search_lines(call, result)]
    return Outcome(shape, lines or ["Nothing found."], 0 if found else 1)
