"""Commands on whole nuggets: list, status, clear, remove."""

import sys
from argparse import ArgumentParser

from nuggets import codec
from nuggets.errors import InvalidInput
from nuggets.facts.capacity import NEARLY_FULL
from nuggets.interfaces import answers
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import bar, one_line, styled, table
from nuggets.interfaces.words import counted
from nuggets.records import NuggetStatus

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
    return Outcome([answers.status(n) for n in known], lines or ["Nothing is remembered yet."])


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
    status = call.shelf.status(call.options.nugget)
    facts = counted(status.fact_count, "fact")
    if not _is_wanted(call, f"Forget all of {one_line(status.name)} ({facts})?"):
        return _UNCHANGED
    count = call.shelf.clear(status.name)
    return Outcome(answers.forgotten(status.name, count), [f"Forgot {counted(count, 'fact')}."])


def _remove(call: Call) -> Outcome:
    status = call.shelf.status(call.options.nugget)
    held = f"{counted(status.fact_count, 'fact')} and {counted(status.note_count, 'note')}"
    if not _is_wanted(call, f"Remove {one_line(status.name)} with its {held}?"):
        return _UNCHANGED
    count = call.shelf.remove(status.name)
    return Outcome(
        answers.removed(status.name, count),
        [f"Removed {one_line(status.name)} with {counted(count, 'memory', 'memories')}."],
    )


def _is_wanted(call: Call, question: str) -> bool:
    """Ask before much is gone; without anyone to ask, only ``--yes`` will do."""
    if call.options.yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput(f"{question} Nobody is here to answer: repeat it with --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


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
