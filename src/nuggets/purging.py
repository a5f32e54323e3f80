"""Erasing memories for good: from the shelf, its history, the memory files, and with all that
agents' conversations said, which may have been this."""

from collections.abc import Sequence
from typing import NamedTuple

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.graph import links
from nuggets.history import PURGE
from nuggets.promoting import MemoryFiles
from nuggets.records import MemoryNote
from nuggets.state import merged_into
from nuggets.stores.set_aside import backups_in
from nuggets.traces import drop_diaries
from nuggets.transactions import Transactions


class Purged(NamedTuple):
    """What a purge erased, and from where."""

    memories: tuple[MemoryNote, ...]  # as they last were; none if they were gone before
    memory_files: tuple[str, ...]  # that had a line of ours on them
    history: tuple[str, ...]  # files of the store
    of_conversations: tuple[str, ...]  # what hooks noted, and diaries
    merged_with: tuple[MemoryNote, ...]  # they are still there, and may have the same words
    backups: tuple[str, ...] = ()  # that may still have them; whose they are, removes them

    @property
    def erased(self) -> list[str]:
        """All that is gone, by its name or its path."""
        names = map(_described, self.memories)
        return [*names, *self.memory_files, *self.history, *self.of_conversations]


def purged(
    transactions: Transactions, files: MemoryFiles, ids: Sequence[str], client: str
) -> Purged:
    """Erase the notes, for whoever is alone."""
    transactions.save()
    if transactions.store.warnings:
        unread = transactions.store.warnings[0]
        raise StoreCorrupt(f"Nothing is erased while it may still stand here: {unread}")
    versions = _versions(transactions, ids)
    fellows = _merged_with(transactions, versions)
    notes = transactions.state.notes
    memories = tuple(notes[one] for one in dict.fromkeys(ids) if one in notes)
    noted = [note for note in _of_conversations(transactions) if note.id not in ids]
    doomed = [*dict.fromkeys(ids), *(note.id for note in noted)]
    if memories or noted:
        gone = links.dropping(notes, [note.id for note in (*memories, *noted)])
        transactions.write(gone._replace(action=PURGE, client=client))
    written = files.written()
    told = tuple(path for path in written if any(files.stands_in(path, one) for one in doomed))
    # first, because what is erased is not known as ours any more
    _, problems = files.promote_to(written)
    history = tuple(transactions.store.erase(doomed))
    why = "has its title or content in a line that someone changed or wrote; take that out by hand"
    left = [*map(str, problems), *(f"{path} {why}" for path in files.telling_of(versions))]
    left += filter(None, [transactions.store.unfinished_erasure])
    diaries: list[str] = []
    try:
        diaries = drop_diaries(transactions.store.directory) if transactions.store.directory else []
    except OSError as problem:
        left.append(f"{problem.filename}: {problem.strerror}")
    if left:  # told last: a file that refuses must not keep it in the history
        others = (f"{one.kind} {one.title!r} ({one.id})" for one in fellows)
        raise StoreError(f"It is erased, but perhaps not here: {'; '.join([*left, *others])}")
    backups = tuple(backups_in(transactions.store.directory))
    return Purged(memories, told, history, (*map(_described, noted), *diaries), fellows, backups)


def _versions(transactions: Transactions, ids: Sequence[str]) -> list[MemoryNote]:
    """All that the notes ever were, oldest first."""
    known = [
        note
        for note_id in dict.fromkeys(ids)
        for commit in transactions.store.commits(note=note_id)
        for note in (*commit.before.put, *commit.changes.put)
        if note.id == note_id
    ]
    return [*known, *(note for note in map(transactions.state.notes.get, ids) if note is not None)]


def _merged_with(
    transactions: Transactions, versions: Sequence[MemoryNote]
) -> tuple[MemoryNote, ...]:
    """Other notes that have their words: those they were merged into, and what went into them."""
    last = {note.id: note for note in versions}
    notes = transactions.state.notes
    into = [notes[i] for note in last.values() for i in merged_into(note) if i in notes]
    sources = [
        other
        for other in notes.linking_to(last.keys())
        if not last.keys().isdisjoint(merged_into(other))
    ]
    return tuple({one.id: one for one in (*into, *sources) if one.id not in last}.values())


def _of_conversations(transactions: Transactions) -> list[MemoryNote]:
    """What hooks noted of them, like the diaries that it was taken from."""
    return [
        note
        for note in transactions.state.notes.values()
        if (note.source, note.scope) == ("system", "session")
    ]


def _described(note: MemoryNote) -> str:
    return f"{note.kind} {note.title!r} in {note.nugget_name}"
