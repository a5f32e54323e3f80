"""Commands that clean up and promote: reflect, promote."""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping

from nuggets import codec
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import one_line, styled, table, titles, warn, without_ids
from nuggets.interfaces.words import cleaned, counted
from nuggets.records import ReflectionChange, ReflectionResult

_A_MOMENT = 1000  # notes; with more a pass takes seconds
_COLOURS = {"rewrite": "cyan", "merge": "yellow", "hide": "red", "tag": "green", "link": "green"}
_NAMING = ("hide", "merge")  # changes whose details say which notes they are about


def _reflect_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--nugget", help="only this one")
    parser.add_argument(
        "--limit",
        type=int,
        help="inspect at most so many notes (default: the setting reflection_max_notes)",
    )
    parser.add_argument("--all", action="store_true", help="inspect every note, in one pass")
    parser.add_argument("--dry-run", action="store_true", help="say what it would do, do nothing")


def _reflect(call: Call) -> Outcome:
    options = call.options
    if options.all and options.limit is not None:
        raise InvalidInput("--all inspects everything; leave --limit out")
    limit = options.limit
    if options.all:  # in one pass: one entry of the history, which one undo takes back
        limit = max(1, len(call.shelf.list_notes(nugget=options.nugget)))
        if sys.stderr.isatty() and limit > _A_MOMENT:
            warn(f"Looking at {counted(limit, 'note')} …")
    result = call.shelf.reflect(options.nugget, limit, options.dry_run)
    concerned = {note for change in result.changes for note in (change.note_id, *change.partners)}
    names = titles(call.shelf.get_notes(concerned).values())
    lines = _result_lines(result, names, options.dry_run)
    if result.changes and not options.dry_run:
        lines.append(f"`nuggets undo {call.shelf.own_revision}` takes it back.")
    return Outcome(codec.reflection_to_json(result), lines)


def _result_lines(result: ReflectionResult, names: Mapping[str, str], dry_run: bool) -> list[str]:
    lines = [
        styled(f"{change.type:8}", _COLOURS[change.type]) + _said(change, names)
        for change in result.changes
    ]
    verb = "Would change" if dry_run else "Changed"
    lines.append(f"Inspected {counted(result.inspected, 'note')}. {verb}: {cleaned(result)}.")
    return lines


def _said(change: ReflectionChange, names: Mapping[str, str]) -> str:
    """What happened to which note; some details name it themselves."""
    detail = one_line(without_ids(change.detail, (change.note_id, *change.partners), names))
    if change.type in _NAMING:
        return detail
    return f"{one_line(names.get(change.note_id, change.note_id))}  {detail}"


def _promote_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--path", help="the memory file (default: your agent's of the repository)")
    parser.add_argument("--explain", action="store_true", help="say of each note why or why not")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")


def _promote(call: Call) -> Outcome:
    options = call.options
    path = call.shelf.memory_path(options.path)
    done = call.shelf.promotion(path, dry_run=options.dry_run or options.explain)
    shape: codec.Json = {"path": path, "promoted": done.new_count}
    lines = []
    if options.explain:
        shape["explanations"] = [
            {"noteId": e.note_id, "title": e.title, "outcome": e.outcome, "reason": e.reason}
            for e in done.explanations
        ]
        rows = [(e.outcome, e.title or e.note_id, e.reason) for e in done.explanations]
        lines = table(("OUTCOME", "NOTE", "WHY"), rows) if rows else ["There are no notes yet."]
    verb = "Would promote" if options.dry_run or options.explain else "Promoted"
    new = counted(done.new_count, "new entry", "new entries")
    lines.append(f"{verb} {new} to {one_line(path)}.")
    return Outcome(shape, lines)


COMMANDS = {
    "reflect": Command(
        ("nuggets reflect --dry-run", "nuggets reflect", "nuggets reflect --all"),
        _reflect,
        _reflect_arguments,
        summary="clean up: archive rubbish, tidy, tag, merge near-duplicates, link",
        changes=True,
    ),
    "promote": Command(
        ("nuggets promote --explain", "nuggets promote --path ./MEMORY.md"),
        _promote,
        _promote_arguments,
        changes=True,
    ),
}
