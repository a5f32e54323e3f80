"""Commands on whole nuggets: list, status, clear, remove."""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence

from nuggets import codec
from nuggets.errors import Conflict, InvalidInput
from nuggets.facts.capacity import NEARLY_FULL
from nuggets.interfaces import answers
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import bar, one_line, styled, table
from nuggets.interfaces.words import counted
from nuggets.project import name_of
from nuggets.records import ExportsStatus, MemoryNote, NoteKind, NuggetStatus

_UNCHANGED = Outcome(
    codec.error_to_json("error", "nothing was changed"), ["Nothing was changed."], 1
)


def _list(call: Call) -> Outcome:
    known = call.shelf.list()
    rows = [(n.name, str(n.fact_count), str(n.note_count)) for n in known]
    empty = ["Nothing is remembered yet. Begin with: nuggets remember <nugget> <key> <value>"]
    lines = table(("NUGGET", "FACTS", "NOTES"), rows) if rows else empty
    return Outcome([answers.status(n) for n in known], lines)


def _status_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", nargs="?", help="only this one; otherwise all")


def _status(call: Call) -> Outcome:
    if call.options.nugget:
        one = call.shelf.status(call.options.nugget)
        return Outcome(answers.status(one), _status_lines(one))
    known = call.shelf.list()
    lines = [line for status in known for line in (*_status_lines(status), "")][:-1]
    lines += _exports_lines(call.shelf.exports_status()) if known else []
    return Outcome([answers.status(n) for n in known], lines or ["Nothing is remembered yet."])


def _exports_lines(status: ExportsStatus | None) -> list[str]:
    """What a person should know who looks at the documented files; nothing while they agree."""
    if status is None or not status.behind:
        return []
    changes = counted(status.behind, "change")
    since = f"as of {status.saved_at}, " if status.saved_at else ""
    return ["", f"graph.json and the nugget files: {since}{changes} behind"]


def _status_lines(status: NuggetStatus) -> list[str]:
    colour = "green"
    if status.capacity_warning:
        colour = "red" if status.capacity_used_pct >= NEARLY_FULL else "yellow"
    gauge = styled(bar(status.capacity_used_pct / 100), colour)
    lines = [
        styled(one_line(status.name), "bold"),
        f"  {counted(status.fact_count, 'fact')}, {counted(status.note_count, 'note')}",
        f"  capacity {gauge} {status.capacity_used_pct}% of {status.capacity}",
    ]
    if status.max_facts:
        lines.append(f"  keeps the newest {counted(status.max_facts, 'fact')}")
    if status.capacity_warning:
        lines.append(f"  {styled(status.capacity_warning, colour)}")
    return lines


def _doomed_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", help="which one")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _clear(call: Call) -> Outcome:
    name = call.shelf.get(call.options.nugget).name
    if not _is_wanted(call, f"Forget all facts of {one_line(name)}", "fact"):
        return _UNCHANGED
    count = call.shelf.clear(name)
    return Outcome(answers.forgotten(name, count), [f"Forgot {counted(count, 'fact')}."])


def _remove(call: Call) -> Outcome:
    name = call.shelf.get(call.options.nugget).name
    if not _is_wanted(call, f"Remove {one_line(name)} with all it holds"):
        return _UNCHANGED
    count = call.shelf.remove(name)
    return Outcome(
        answers.removed(name, count),
        [f"Removed {one_line(name)} with {counted(count, 'memory', 'memories')}."],
    )


def _is_wanted(call: Call, question: str, kind: NoteKind | None = None) -> bool:
    """Ask before much is gone, for what is told and no more; without anyone to ask, only ``--yes``
    will do."""
    if call.options.yes:
        return True
    doomed = _held(call, kind)
    question = f"{question} ({_told(call, doomed)})?"
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput(f"{question} Nobody is here to answer: repeat it with --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    wanted = sys.stdin.readline().strip().lower() in ("y", "yes")
    if wanted and _versions(_held(call, kind)) != _versions(doomed):
        raise Conflict("it changed while you were asked, so nothing was taken away; repeat it")
    return wanted


def _held(call: Call, kind: NoteKind | None) -> Sequence[MemoryNote]:
    """What is in a nugget, archived or not."""
    return call.shelf.list_notes(nugget=call.options.nugget, kind=kind, include_hidden=True)


def _versions(notes: Sequence[MemoryNote]) -> set[tuple[str, str]]:
    return {(note.id, note.updated_at) for note in notes}


def _told(call: Call, notes: Sequence[MemoryNote]) -> str:
    """How many memories, how many of them those of other projects, and how many out of sight."""
    kinds = Counter(note.kind for note in notes)
    others = Counter(name_of(note.project) for note in notes if call.shelf.is_foreign(note))
    archived = sum(note.hidden for note in notes)
    parts = (
        ", ".join(counted(number, kind) for kind, number in sorted(kinds.items())) or "nothing",
        ", ".join(f"{number} of {one_line(name)}" for name, number in sorted(others.items())),
        f"{archived} archived" if archived else "",
    )
    return "; ".join(filter(None, parts))


COMMANDS = {
    "list": Command(
        ("nuggets list", "nuggets list --json"),
        _list,
    ),
    "status": Command(
        ("nuggets status", "nuggets status project --json"),
        _status,
        _status_arguments,
        summary="show how full a nugget is, or all of them",
    ),
    "clear": Command(
        ("nuggets clear scratch", "nuggets clear scratch --yes"),
        _clear,
        _doomed_arguments,
        summary="forget all facts of a nugget; its notes stay",
        changes=True,
    ),
    "remove": Command(
        ("nuggets remove scratch", "nuggets remove scratch --yes"),
        _remove,
        _doomed_arguments,
        changes=True,
    ),
}
