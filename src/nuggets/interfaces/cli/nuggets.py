"""Commands on whole nuggets: list, status, clear, remove."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from nuggets.domain import codec
from nuggets.domain.records import ExportsStatus, MemoryNote, NoteKind, NuggetStatus
from nuggets.errors import Conflict, InvalidInput
from nuggets.facts.capacity import NEARLY_FULL
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import json_responses, pluralize
from nuggets.interfaces.cli.command_table import Call, Outcome, argument, command
from nuggets.interfaces.cli.terminal_output import bar, one_line, style, table

_UNCHANGED = Outcome(
    codec.error_to_json("error", "nothing was changed"), ["Nothing was changed."], 1
)


@command("list", examples=("nuggets list", "nuggets list --json"))
def _list(call: Call) -> Outcome:
    statuses = call.shelf.list()
    rows = [(n.name, str(n.fact_count), str(n.note_count)) for n in statuses]
    empty = ["Nothing is stored yet. Start with: nuggets remember <nugget> <key> <value>"]
    lines = table(("NUGGET", "FACTS", "NOTES"), rows) if rows else empty
    return Outcome([n._asdict() for n in statuses], lines)


@command(
    "status",
    argument("nugget", nargs="?", help="only this nugget (default: all)"),
    examples=("nuggets status", "nuggets status project --json"),
    summary="show how full a nugget is, or all of them",
)
def _status(call: Call) -> Outcome:
    if call.options.nugget:
        status = call.shelf.status(call.options.nugget)
        return Outcome(status._asdict(), _status_lines(status))
    statuses = call.shelf.list()
    lines = [line for status in statuses for line in (*_status_lines(status), "")][:-1]
    lines += _exports_lines(call.shelf.exports_status()) if statuses else []
    lines += _memory_file_lines(call.shelf.memory_file_problems())
    return Outcome([n._asdict() for n in statuses], lines or ["Nothing is stored yet."])


def _exports_lines(status: ExportsStatus | None) -> list[str]:
    """How old the exported files are; nothing if they are current."""
    if status is None or not status.behind:
        return []
    changes = pluralize(status.behind, "change")
    shown = f"revision {status.revision} of {status.saved_at}, " if status.saved_at else ""
    return ["", f"graph.json and the nugget files: {shown}{changes} behind; `nuggets export json`"]


def _memory_file_lines(problems: Mapping[str, str]) -> list[str]:
    """Memory files whose edits are not taken over."""
    return [line for path, why in problems.items() for line in ("", one_line(f"{path}: {why}"))]


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
    argument("nugget", help="the nugget"),
    argument("--yes", action="store_true", help="do not ask"),
)


@command(
    "clear",
    *_REMOVAL_ARGUMENTS,
    examples=("nuggets clear scratch", "nuggets clear scratch --yes"),
    summary="delete all facts of a nugget; its notes stay",
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
    notes = _contents(call, kind)
    question = f"{question} ({_describe_contents(call, notes)})?"
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput(
            f"{question} There is no terminal to ask at; repeat the command with --yes"
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    wanted = sys.stdin.readline().strip().lower() in ("y", "yes")
    if wanted and _versions(_contents(call, kind)) != _versions(notes):
        raise Conflict("it changed meanwhile, so nothing was deleted; try again")
    return wanted


def _contents(call: Call, kind: NoteKind | None) -> Sequence[MemoryNote]:
    """The facts and notes of a nugget, archived ones too."""
    return call.shelf.list_notes(nugget=call.options.nugget, kind=kind, include_hidden=True)


def _versions(notes: Sequence[MemoryNote]) -> set[tuple[str, str]]:
    return {(note.id, note.updated_at) for note in notes}


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
