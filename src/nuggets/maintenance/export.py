"""Exports all notes for people and other programs: documented JSON, JSON lines, Markdown.

It writes only to new files and empty directories. One note is written at a time, so that a
large shelf is never in memory as a whole.
"""

import os
from collections.abc import Callable, Iterable, Iterator

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.domain.state import State
from nuggets.errors import Conflict
from nuggets.filesystem.atomic_files import NEW_FILE, private_directory, unwritable, write_all
from nuggets.maintenance.markdown_export import Names, text_of
from nuggets.named_tuple import NamedTuple

FORMS = ("json", "jsonl", "markdown")
_CHUNK = 1 << 18
_STEP = 1000  # notes between two reports

Report = Callable[[str], None]


class Exported(NamedTuple):
    """The result of an export."""

    form: str
    path: str
    notes: int
    files: int


def export(
    state: State, position: tuple[int, str], form: str, path: str, *, dry_run: bool, report: Report
) -> Exported:
    """Write all notes in one of the forms; `dry_run` only counts and checks the target."""
    _refuse_occupied(path, is_directory=form != "jsonl")
    total = len(state.notes)
    files = {"json": len(state.nuggets) + 1, "jsonl": 1, "markdown": total}[form]
    if not dry_run:
        try:
            for name, parts in _files(state, position, form, _progress_reporter(report, total)):
                _write_new(os.path.join(path, name) if name else path, parts)
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return Exported(form, path, total, files)


def note_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Each note as one line of documented JSON."""
    return (f"{codec.dumps(codec.note_to_json(note))}\n".encode() for note in notes)


def _files(
    state: State, position: tuple[int, str], form: str, with_progress: "_Progress"
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """File names relative to the target, each with its content."""
    if form == "jsonl":
        yield "", note_lines(with_progress(state.notes.values()))
    elif form == "json":
        yield from _documented_files(state, position, with_progress)
    else:
        names = Names((note.id, note.nugget_name, note.title) for note in state.notes.values())
        for note in with_progress(state.notes.values()):
            yield f"{names[note.id]}.md", [text_of(note, names).encode()]


def _documented_files(
    state: State, position: tuple[int, str], with_progress: "_Progress"
) -> Iterator[tuple[str, Iterable[bytes]]]:
    revision, at = position
    head_fields = {"revision": revision, "savedAt": at} if revision else {}
    for config in state.nuggets.values():
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        facts.sort(key=lambda fact: fact.created_at)
        shape = codec.dumps({"version": 4, **head_fields, **codec.nugget_to_json(config, facts)})
        yield f"{config.name}.nugget.json", [shape.encode(), b"\n"]
    head = codec.dumps({"version": 3, **head_fields})[:-1]
    yield os.path.join("graph", "graph.json"), _graph(head, with_progress(state.notes.values()))


def _graph(head: str, notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    yield f'{head},"notes":['.encode()
    separator = b"\n"
    for line in note_lines(notes):
        yield separator + line[:-1]
        separator = b",\n"
    yield b"\n]}\n"


_Progress = Callable[[Iterable[MemoryNote]], Iterator[MemoryNote]]


def _progress_reporter(report: Report, total: int) -> _Progress:
    def with_progress(notes: Iterable[MemoryNote]) -> Iterator[MemoryNote]:
        for number, note in enumerate(notes):
            if number % _STEP == 0:
                report(f"{number} of {total} notes")
            yield note

    return with_progress


def _refuse_occupied(path: str, *, is_directory: bool) -> None:
    if not os.path.lexists(path) or (is_directory and os.path.isdir(path) and not os.listdir(path)):
        return
    what = "an empty or new directory" if is_directory else "a new file"
    raise Conflict(f"{path} exists already, and nothing is overwritten; name {what}")


def _write_new(path: str, parts: Iterable[bytes]) -> None:
    private_directory(os.path.dirname(path))
    descriptor = os.open(path, NEW_FILE, 0o600)
    try:
        chunk = bytearray()
        for part in parts:
            chunk += part
            if len(chunk) >= _CHUNK:
                write_all(descriptor, chunk)
                chunk.clear()
        write_all(descriptor, chunk)
    finally:
        os.close(descriptor)
