"""Erasing memories for good: from the shelf, its history, the memory files, and with all that
agents' conversations said, which may have been this."""

from collections.abc import Sequence

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.graph import links
from nuggets.graph.notes import merged_into
from nuggets.history import PURGE
from nuggets.promoting import MemoryFiles
from nuggets.records import MemoryNote
from nuggets.rhythm import Rhythm
from nuggets.traces import drop_diaries

MERGED_WITH = "perhaps in "  # and a note: what cannot be erased from another one's words


def purged(rhythm: Rhythm, files: MemoryFiles, ids: Sequence[str], client: str) -> list[str]:
    """Erase the notes, for whoever is alone; where they were."""
    rhythm.save()
    if rhythm.store.warnings:
        unread = rhythm.store.warnings[0]
        raise StoreCorrupt(f"Nothing is erased while it may still stand here: {unread}")
    versions = _versions(rhythm, ids)
    fellows = _merged_with(rhythm, versions)
    doomed = list(dict.fromkeys([*ids, *_of_conversations(rhythm)]))
    there = [note_id for note_id in doomed if note_id in rhythm.state.notes]
    places = [_described(rhythm.state.notes[note_id]) for note_id in there]
    if there:
        gone = links.dropping(rhythm.state.notes, there)
        rhythm.write(gone._replace(action=PURGE, client=client))
    written = files.written()
    places += [path for path in written if any(files.stands_in(path, one) for one in doomed)]
    # first, because what is erased is not known as ours any more
    _, problems = files.promote_to(written)
    places += rhythm.store.erase(doomed)
    rhythm.forget_picture()
    told = "has its title or content in a line that someone changed or wrote; take that out by hand"
    left = [*map(str, problems), *(f"{path} {told}" for path in files.telling_of(versions))]
    try:
        places += drop_diaries(rhythm.store.directory) if rhythm.store.directory else []
    except OSError as problem:
        left.append(f"{problem.filename}: {problem.strerror}")
    if left:  # told last: a file that refuses must not keep it in the history
        where = "; ".join([*left, *fellows])
        raise StoreError(f"It is erased, but perhaps not here: {where}")
    return places + [f"{MERGED_WITH}{fellow}" for fellow in fellows]


def _versions(rhythm: Rhythm, ids: Sequence[str]) -> list[MemoryNote]:
    """All that the notes ever were, oldest first."""
    known = [
        note
        for commit in rhythm.store.commits(0)
        for note in (*commit.before.put, *commit.changes.put)
        if note.id in ids
    ]
    return [*known, *(note for note in map(rhythm.state.notes.get, ids) if note is not None)]


def _merged_with(rhythm: Rhythm, versions: Sequence[MemoryNote]) -> list[str]:
    """Other notes that have their words: those they were merged into, and what went into them."""
    last = {note.id: note for note in versions}
    notes = rhythm.state.notes
    into = [notes[i] for note in last.values() for i in merged_into(note) if i in notes]
    sources = [other for other in notes.values() if not last.keys().isdisjoint(merged_into(other))]
    others = {one.id: one for one in (*into, *sources) if one.id not in last}
    return [f"{one.kind} {one.title!r} ({one.id})" for one in others.values()]


def _of_conversations(rhythm: Rhythm) -> list[str]:
    """What hooks noted of them, like the diaries that it was taken from."""
    return [
        note.id
        for note in rhythm.state.notes.values()
        if (note.source, note.scope) == ("system", "session")
    ]


def _described(note: MemoryNote) -> str:
    return f"{note.kind} {note.title!r} in {note.nugget_name}"
