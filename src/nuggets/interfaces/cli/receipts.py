"""What several commands print about a memory: receipts, when and where it is valid, caveats."""

from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote, RecallResult, WrittenNote
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces.cli.command import Call, Outcome
from nuggets.interfaces.cli.terminal_output import fit, format_minute, one_line, style
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from nuggets.maintenance.purge import Purged
    from nuggets.shelf import NuggetShelf


def written_note_outcome(call: Call, note: WrittenNote, done: str = "Noted") -> Outcome:
    """The receipt of a new note, `done` before its name, or of one that existed already."""
    from nuggets.interfaces import json_responses

    name = f"{one_line(note.title)} ({one_line(note.id)})"
    if not note.is_new:
        return Outcome(codec.note_to_json(note), [f"Already stored: {name}."])
    lines = [f"{done} {name}, {where_valid(note)}.", *contradiction_lines(note)]
    namesakes = call.shelf.namesakes(note)
    if namesakes:
        lines.append(
            f"Another note has the same title: {one_line(namesakes[0].id)}. Name them by id, "
            "or merge them with `nuggets note merge`."
        )
    return Outcome(json_responses.written_note(note), lines)


def contradiction_lines(note: WrittenNote) -> list[str]:
    """What a written memory contradicts, and the commands that settle it."""
    lines = []
    for other in note.contradicts:
        new, old = one_line(note.id), one_line(other.id)
        lines += [
            f"Contradicts {style(fit(other.title, 80), 'bold')} ({old}): {one_line(other.content)}",
            f"  Only the new one holds: nuggets note edit {new} --supersedes {old}",
            f"  Both hold: nuggets unlink {new} {old}",
        ]
    return lines


def where_valid(note: MemoryNote) -> str:
    """Where a memory is valid, for a receipt."""
    if note.project:
        return f"valid in this project ({one_line(name_of(note.project))})"
    return "valid everywhere"


def validity_lines(memory: MemoryNote | RecallResult) -> list[str]:
    """When a memory is valid, if that is said."""
    if memory.valid_from is None and memory.valid_until is None:
        return []
    start, end = memory.valid_from, memory.valid_until
    times = [f"from {format_minute(start)}"] if start else []
    times += [f"until {format_minute(end)}"] if end else []
    return [f"Valid: {' '.join(times)}"]


def caveat_lines(shelf: "NuggetShelf", note: MemoryNote | None) -> list[str]:
    """What speaks against relying on a memory."""
    caveats = shelf.caveats(note, ask_git=True) if note is not None else ()
    return [f"Caution: {one_line(caveat)}" for caveat in caveats]


def purge_outcome(done: "Purged") -> Outcome:
    """What a purge erased; places are named by kind, and files by path."""
    from nuggets.interfaces import json_responses

    where = [*(["the shelf"] if done.memories else []), "its history"]
    where += map(one_line, done.memory_files)
    if done.of_conversations:
        where.append(pluralize(len(done.of_conversations), "session record"))
    what = one_line(done.erased_items[0]) if done.memories else "its remains"
    places = " and ".join(filter(None, (", ".join(where[:-1]), where[-1])))
    lines = [f"Erased {what} from {places}."]
    if done.history[1:]:
        lines.append("Also deleted or written again, because they may have contained it:")
        lines += [f"  {one_line(path)}" for path in done.history[1:]]
    if done.merged_with:
        lines.append("Its text may also be in these notes; check them:")
        lines += [
            f"  {one_line(f'{note.kind} {note.title!r} ({note.id})')}" for note in done.merged_with
        ]
    if done.backups:
        lines.append("These backups cannot be read or written; delete them yourself:")
        lines += [f"  {one_line(path)}" for path in done.backups]
    lines.append(f"Not reached: {'; '.join(done.not_reached)}.")
    return Outcome(json_responses.purge_result(done), lines)
