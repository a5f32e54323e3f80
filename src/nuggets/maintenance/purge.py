"""Erases memories for good: from the shelf, its history, its copies and the memory files. Notes and
diaries of agents' conversations are erased too, because they may quote the memory.

One commit drops the notes and records that they are to be erased; only then is anything erased, and
the history, which tells what there was, comes last. So a purge that is interrupted anywhere can be
finished by whoever writes next (`operations/transactions.py` looks for one).
"""

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from datetime import timedelta

from nuggets.domain import times
from nuggets.domain.marks import purge_intent, record_purge, unfinished_purge
from nuggets.domain.records import MemoryNote
from nuggets.domain.state import merged_into
from nuggets.domain.visibility import is_of_conversation
from nuggets.errors import NotFound, StoreCorrupt, StoreError
from nuggets.filesystem.hook_files import diaries, drop_diaries
from nuggets.filesystem.shelf_location import is_database
from nuggets.maintenance import ShelfContext
from nuggets.maintenance.history import History
from nuggets.maintenance.promotion import MemoryFiles
from nuggets.maintenance.undo import PURGE
from nuggets.named_tuple import NamedTuple
from nuggets.operations.notes_and_links import drop_notes
from nuggets.operations.transactions import KINDS
from nuggets.stores.backup import erase_from_backups, files_with_text

UNREACHED = (
    "backups and exports in other places, and copies and clones of the shelf",
    "files of a vault and logs of paired machines, until they are brought up to date",
    "transcripts that agents keep themselves",
    "freed blocks of the file system or the drive",
)
# A conversation goes on after its last note: people store in the afternoon what they said before.
_LONGEST_PAUSE = timedelta(days=1)
_LONG_TEXT = 20  # characters of a text that is no common word or number
_MENTIONS = (
    "has its title or content in a line that someone changed or wrote; take that out by hand"
)
UNREACHED_ON_SERVER = (
    "the database server's dead rows until VACUUM, its write-ahead log, standbys and backups"
)


class Purged(NamedTuple):
    """What a purge erased, and from where."""

    memories: tuple[MemoryNote, ...]  # their last versions; empty if they had been deleted before
    memory_files: tuple[str, ...]  # that had a promoted line of them
    history: tuple[str, ...]  # files of the store
    of_conversations: tuple[str, ...]  # notes that hooks wrote, and diaries
    merged_with: tuple[MemoryNote, ...]  # they remain and may contain the same text
    backups: tuple[str, ...] = ()  # that cannot be read, and so may still contain the memory

    @property
    def not_reached(self) -> tuple[str, ...]:
        """Where it may remain, because no purge can look there."""
        on_server = any(is_database(place) for place in self.history)
        return (*UNREACHED, UNREACHED_ON_SERVER) if on_server else UNREACHED

    @property
    def erased_items(self) -> list[str]:
        """Everything that was erased, by name or path."""
        names = map(_describe, self.memories)
        return [*names, *self.memory_files, *self.history, *self.of_conversations]


class Purge:
    """Whoever erases something from a shelf and its memory files."""

    def __init__(self, context: ShelfContext, files: MemoryFiles) -> None:
        self._context = context
        self._transactions = context.transactions
        self._history = History(context)
        self._files = files

    def erase_memory(self, name: str, nugget: str | None, *, dry_run: bool = False) -> Purged:
        """Erase a memory; a deleted note can be named by its whole id."""
        with self._transactions.reading() if dry_run else self._transactions.exclusive():
            note_id = self._history.find_id(name, nugget, changes=True)
            if dry_run:
                return self._find_what_goes([note_id])
            return self._purge_notes([note_id])

    def erase_key(self, nugget: str, key: str, current_id: Callable[[], str]) -> Purged:
        """Erase every fact that ever had the key; `current_id`: finds the present one."""
        with self._transactions.exclusive():
            ids = self._history.forgotten_fact_ids(nugget, key)
            with suppress(NotFound) if ids else nullcontext():
                ids.append(current_id())
            return self._purge_notes(ids)

    def finish(self) -> None:
        """Go on with a purge that was interrupted, if there is one."""
        with self._transactions.exclusive():
            if unfinished_purge(self._transactions.store.state.marks):
                self._erase()

    def _find_what_goes(self, ids: Sequence[str]) -> Purged:
        """What a purge would erase, besides the history and the backups, where it always looks."""
        versions = self._versions(ids)
        notes = self._transactions.state.notes
        conversations = map(_describe, self._conversation_notes(ids, versions))
        directory = self._transactions.store.directory
        return Purged(
            tuple(notes[note_id] for note_id in ids if note_id in notes),
            tuple(self._files.files_with_entry(ids)),
            (),
            (*conversations, *(diaries(directory) if directory else ())),
            self._merged_with(versions),
        )

    def _purge_notes(self, ids: Sequence[str]) -> Purged:
        """Erase the notes. Must be called while holding the store lock."""
        self._transactions.save()
        if self._transactions.store.warnings:
            unread = self._transactions.store.warnings[0]
            raise StoreCorrupt(
                "Nothing was erased, because a file that cannot be read may still hold it: "
                f"{unread}"
            )
        versions = self._versions(ids)
        merged_notes = self._merged_with(versions)
        notes = self._transactions.state.notes
        memories = tuple(notes[note_id] for note_id in dict.fromkeys(ids) if note_id in notes)
        conversation_notes = self._conversation_notes(ids, versions)
        present = [note.id for note in (*memories, *conversation_notes) if note.id in notes]
        present += filter(notes.is_damaged, ids)
        interrupted = unfinished_purge(self._transactions.state.marks)
        intent = purge_intent([*interrupted, *ids, *(note.id for note in conversation_notes)])
        revision = self._transactions.store.position[0] + 1
        erased_notes = [*versions, *conversation_notes]
        seen = record_purge(
            self._transactions.state.marks, erased_notes, revision, os.urandom(16).hex()
        )
        gone = drop_notes(notes, present)._replace(
            marks={**intent, **seen}, action=PURGE, client=self._context.client
        )
        self._transactions.write(gone)
        erased, problems = self._erase()
        if problems:  # raised last: a file that cannot be written must not stop the erasure
            merged = (f"{note.kind} {note.title!r} ({note.id})" for note in merged_notes)
            places = "; ".join([*problems, *merged])
            raise StoreError(f"It was erased, but perhaps not here: {places}")
        return erased._replace(
            memories=memories,
            of_conversations=(*map(_describe, conversation_notes), *erased.of_conversations),
            merged_with=merged_notes,
        )

    def _erase(self) -> tuple[Purged, list[str]]:
        """Erase what the mark names, wherever it may be: the places, and what went wrong."""
        store = self._transactions.store
        ids = unfinished_purge(store.state.marks)
        versions = self._versions(ids)
        memory_files = tuple(self._files.files_with_entry(ids))
        # before the history is erased, which records the lines that we wrote
        _, problems = self._files.promote_to(self._files.written_files())
        mentioning = [f"{path} {_MENTIONS}" for path in self._files.files_mentioning(versions)]
        dropped, diary_problem = _drop_diaries(store.directory)
        memories = [note for note in versions if not is_of_conversation(note)]
        backups, unread_backups = erase_from_backups(
            store.directory, ids, lambda note: _may_quote(note, memories), KINDS
        )
        history = (*store.erase(ids), *backups)  # last: it finds what is to be erased
        if store.directory:
            copies = files_with_text(store.directory, {note.content for note in versions})
            mentioning += [f"{path} holds its text; delete that file by hand" for path in copies]
        unfinished = filter(None, [store.unfinished_erasure, diary_problem])
        done = Purged((), memory_files, history, tuple(dropped), (), tuple(unread_backups))
        return done, [*map(str, problems), *mentioning, *unfinished]

    def _versions(self, ids: Sequence[str]) -> list[MemoryNote]:
        """Every version of the notes, oldest first."""
        past_versions = [
            note
            for note_id in dict.fromkeys(ids)
            for commit in self._transactions.store.history.commits(note=note_id)
            for note in (*commit.before.put, *commit.changes.put)
            if note.id == note_id
        ]
        return [
            *past_versions,
            *(note for note in map(self._transactions.state.notes.get, ids) if note is not None),
        ]

    def _merged_with(self, versions: Sequence[MemoryNote]) -> tuple[MemoryNote, ...]:
        """Other notes with the same text: those they were merged into, those merged into them, and
        those that say the same by themselves."""
        last = {note.id: note for note in versions}
        notes = self._transactions.state.notes
        into = [notes[i] for note in last.values() for i in merged_into(note) if i in notes]
        sources = [
            source
            for source in notes.linking_to(last.keys())
            if not last.keys().isdisjoint(merged_into(source))
        ]
        texts = {note.content.strip() for note in versions} - {""}
        alike = [note for note in notes.values() if any(_quotes(note, text) for text in texts)]
        found = {note.id: note for note in (*into, *sources, *alike) if note.id not in last}
        return tuple(note for note in found.values() if not is_of_conversation(note))

    def _conversation_notes(
        self, ids: Sequence[str], versions: Sequence[MemoryNote]
    ) -> list[MemoryNote]:
        """Other notes that hooks wrote about conversations and that may quote these memories, also
        those that were dropped since."""
        dropped = (
            note
            for commit in self._transactions.store.history.commits()
            for note in commit.before.put
        )
        notes = (*dropped, *self._transactions.state.notes.values())
        found = {note.id: note for note in notes if _may_quote(note, versions)}
        return [note for note in found.values() if note.id not in ids]


def _drop_diaries(directory: str) -> tuple[list[str], str]:
    """Delete the diaries of conversations: their paths, and what went wrong."""
    try:
        return (drop_diaries(directory) if directory else []), ""
    except OSError as problem:
        return [], f"{problem.filename}: {problem.strerror}"


def _quotes(note: MemoryNote, text: str) -> bool:
    """Does the note say the text? A short one only if it says nothing else."""
    if len(text) < _LONG_TEXT:
        return note.content.strip() == text
    return text in note.content


def _may_quote(note: MemoryNote, memories: Sequence[MemoryNote]) -> bool:
    """Is it of a conversation that may have gone on when one of the memories was made, or later? It
    may say the same in other words. Whatever was over before cannot."""
    if not is_of_conversation(note):
        return False
    made = [times.parse(memory.created_at) for memory in memories]
    return not made or times.parse(note.updated_at) >= min(made) - _LONGEST_PAUSE


def _describe(note: MemoryNote) -> str:
    return f"{note.kind} {note.title!r} in {note.nugget_name}"
