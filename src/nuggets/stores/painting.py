"""Painting the documented files anew from what a process holds of the journal: only those parts
that changed since the revision they show. For whoever holds the store's lock."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from operator import attrgetter

from nuggets import codec
from nuggets.files import private_directory
from nuggets.records import Changes, MemoryNote, NuggetConfig
from nuggets.state import State
from nuggets.stores.logs import Step
from nuggets.stores.pictures import (
    GRAPH_FIELDS,
    GRAPH_VERSION,
    NUGGET_VERSION,
    Pictures,
    Shown,
    first_line,
)
from nuggets.stores.replica import Replica
from nuggets.text import folded


def paint(replica: Replica, pictures: Pictures) -> None:
    """Bring all the files to the revision now. The graph is the last one: it says how far."""
    state, now = replica.state, Shown(replica.position.revision, replica.position.at)
    before = pictures.shown()
    steps = replica.steps(before.revision) if before else None
    notes: set[str] | None = None  # ids of those that changed; None: all of them
    nuggets = set(state.nuggets)  # folded names of those that changed, came or went
    if steps is not None:
        notes = set().union(*(_ids(step.changes) for step in steps))
        nuggets = set().union(*(_nuggets(step, state) for step in steps))
    nuggets |= pictures.incomplete(state.nuggets)
    if nuggets:
        _paint_nuggets(pictures, state, nuggets, now)
    _paint_graph(pictures, state, notes, now)


def _ids(changes: Changes) -> set[str]:
    touched = (touch.note_id for touch in changes.touches)
    return {*(note.id for note in changes.put), *changes.drop, *touched}


def _nuggets(step: Step, state: State) -> set[str]:
    """Folded names of the nuggets whose files a step changes."""
    names = {config.name for config in step.changes.put_nuggets}
    names.update(step.changes.drop_nuggets, step.fact_nuggets)
    for touch in step.changes.touches:
        note = state.notes.get(touch.note_id)
        if note is not None:
            names.add(note.nugget_name)
    return set(map(folded, names))


# --- nuggets ----------------------------------------------------------------------------------


def facts_by_nugget(state: State, nuggets: Iterable[str]) -> dict[str, list[MemoryNote]]:
    """The facts that the files of these nuggets (by their folded names) show, oldest first: one
    that an undo brought back stands where it stood."""
    facts: dict[str, list[MemoryNote]] = {fold: [] for fold in nuggets}
    for note in state.notes.values():
        if note.kind == "fact" and not note.hidden:
            of_nugget = facts.get(folded(note.nugget_name))
            if of_nugget is not None:
                of_nugget.append(note)
    for of_nugget in facts.values():
        of_nugget.sort(key=attrgetter("created_at"))
    return facts


def _paint_nuggets(pictures: Pictures, state: State, nuggets: set[str], shown: Shown) -> None:
    facts = facts_by_nugget(state, nuggets)
    for fold, of_nugget in facts.items():
        config = state.nuggets.get(fold)
        if config is not None:
            path = pictures.nugget_path(config.name)
            pictures.place(path, [_nugget_text(config, of_nugget, shown)], shown)
    for path in list(pictures.paths()):
        fold = folded(pictures.name_of(path))
        if fold in facts and path != pictures.graph_path:
            config = state.nuggets.get(fold)
            if config is None or not _is_same(path, pictures.nugget_path(config.name)):
                pictures.remove(path)  # its nugget is gone, or is spelt otherwise


def _is_same(path: str, other: str) -> bool:
    """Also on file systems that take no notice of case."""
    with suppress(OSError):
        return path == other or os.path.samefile(path, other)
    return False


def _nugget_text(config: NuggetConfig, facts: list[MemoryNote], shown: Shown) -> bytes:
    shape = codec.nugget_to_json(config, facts)
    lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
    head = first_line(NUGGET_VERSION, shown)
    return f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'.encode()


# --- the graph --------------------------------------------------------------------------------


def _paint_graph(
    pictures: Pictures, state: State, changed: Collection[str] | None, shown: Shown
) -> None:
    lines = {} if changed is None else _old_lines(pictures.graph_path)
    for note_id in changed or ():
        if note_id in state.notes:
            lines[note_id] = _line(state.notes[note_id])
        else:
            lines.pop(note_id, None)
    complete = lines.keys() == state.notes.keys()

    def parts() -> Iterator[bytes]:
        fields = codec.dumps(state.marks.get(GRAPH_FIELDS, {}))[1:-1]
        head = first_line(GRAPH_VERSION, shown)
        yield f'{head}{"," if fields else ""}{fields},"notes":['.encode()
        separator = b"\n"
        for note in state.notes.values():
            yield separator
            yield lines[note.id] if complete else _line(note)
            separator = b",\n"
        yield b"\n]}\n"

    private_directory(os.path.dirname(pictures.graph_path))
    pictures.place(pictures.graph_path, parts(), shown)


def _line(note: MemoryNote) -> bytes:
    return codec.dumps(codec.note_to_json(note)).encode()


def _old_lines(path: str) -> dict[str, bytes]:
    """The notes of the picture as it is, undecoded: only what changed is encoded again."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return {}
    lines = {}
    for line in text.split(b"\n")[1:-2]:
        if line.startswith(b'{"id":"'):
            note_id = line[7 : line.find(b'"', 7)]
            lines[note_id.decode(errors="replace")] = line.removesuffix(b",")
    return lines
