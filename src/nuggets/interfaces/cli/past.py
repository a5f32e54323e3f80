"""Commands on the past: history, undo."""

from argparse import ArgumentParser
from collections.abc import Iterator

from nuggets import codec
from nuggets.interfaces.cli.arguments import NAME_HELP
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import one_line, styled
from nuggets.records import Commit, MemoryNote

_SHOWN = 5  # notes of one entry; the JSON has them all


def _history_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--note", help=f"only what changed this note: {NAME_HELP}")
    parser.add_argument("--limit", type=int, default=20, help="at most so many (default: 20)")


def _history(call: Call) -> Outcome:
    commits = call.shelf.history(call.options.note, call.options.limit)
    lines = [line for commit in commits for line in commit_lines(commit)]
    return Outcome([codec.commit_to_json(c) for c in commits], lines or ["Nothing was done yet."])


def commit_lines(commit: Commit) -> Iterator[str]:
    """One entry for a person: what was done, and the notes it changed."""
    changes = commit.changes
    count = len(changes.put) + len(changes.drop)
    what = styled(f"{commit.revision:>5}", "cyan") + f"  {commit.at}  "
    yield what + styled(changes.action or "change", "bold") + f" from {changes.client or '?'}"
    before = {note.id: note for note in commit.before.put}
    after: dict[str, MemoryNote | None] = {note.id: note for note in changes.put}
    after.update(dict.fromkeys(changes.drop))
    for note_id, note in list(after.items())[:_SHOWN]:
        yield f"         {_difference(before.get(note_id), note)}"
    if count > _SHOWN:
        yield f"         and {count - _SHOWN} more"


def _difference(before: MemoryNote | None, after: MemoryNote | None) -> str:
    if before is None and after is not None:
        return f"+ {one_line(after.title, 40)}: {one_line(after.content, 60)}"
    if before is None or after is None:
        gone = f"{one_line(before.title, 40)}: {one_line(before.content, 60)}" if before else ""
        return f"- {gone or 'purged'}"
    if before.content != after.content:
        old, new = one_line(before.content, 30), one_line(after.content, 30)
        return f"~ {one_line(after.title, 40)}: {old} → {new}"
    fields = [
        field.replace("_", " ")
        for field in MemoryNote._fields
        if getattr(before, field) != getattr(after, field) and field != "updated_at"
    ]
    return f"~ {one_line(after.title, 40)}: {', '.join(fields) or 'nothing'}"


def _undo_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "entry", nargs="?", type=int, help="its number in the history; otherwise the last one"
    )


def _undo(call: Call) -> Outcome:
    commit = call.shelf.undo(call.options.entry)
    lines = ["Undone:", *commit_lines(commit)]
    return Outcome({"undone": codec.commit_to_json(commit)}, lines)


COMMANDS = {
    "history": Command(
        ("nuggets history", 'nuggets history --note "Auth middleware" --json'),
        _history,
        _history_arguments,
    ),
    "undo": Command(
        ("nuggets undo", "nuggets undo 42    # undo an undo to redo"),
        _undo,
        _undo_arguments,
        summary="take a change back, by default the last one; never at the cost of a later one",
        changes=True,
    ),
}
