"""A bounded copy of a server's shelf on this machine, for use while the server is unreachable.

An ordinary shelf below the directory of the server. Changes that wait in the queue are made in it
as well, so that they can be read; when they have been sent, what the server says takes their place.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import Changes, MemoryNote
from nuggets.engine.argument_checks import checked_note, checked_nugget, valid_records
from nuggets.errors import InvalidInput
from nuggets.filesystem.atomic_files import open_plain, private_directory, replace_file
from nuggets.language.text import fold_case
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.operations.project_identity import Location

CLIENT = "server"  # in the history of the copy: what came from there
NOTES_PER_REQUEST = 200  # notes a request


class LocalCopy(NuggetShelf):
    """The copy of what a server keeps."""

    def __init__(self, directory: str, **options: Any) -> None:
        """`directory`: that of the server."""
        private_directory(directory)
        self._record_path = os.path.join(directory, "copied")
        super().__init__(os.path.join(directory, "copy"), records_location=False, **options)

    @property
    def copied_at(self) -> float:
        """When it was last refreshed, in seconds since 1970; 0 if it never was."""
        try:
            return os.stat(self._record_path).st_mtime
        except OSError:
            return 0.0

    def refresh(
        self,
        remote: NuggetShelf,
        most: int,
        here: "Location | None",
        tell: Callable[[str], None] = lambda text: None,
    ) -> int:
        """Hold what the server says a copy should (`copy_index`: the notes recalled last, then the
        newest); how many notes those are.

        `here`: the place someone works in, as the server knows it. `tell`: is told of records that
        are left out, because no shelf could have made them.
        """
        since, own_revision = self._read_record()
        index = remote.copy_index(most, since)
        listed = index.ids[:most]
        with self._transactions.reading() as view:
            held = set(view.state.notes)
        wanted = set(listed)
        missing = {*(wanted - held), *index.changed, *(self._changed_here(own_revision) & wanted)}
        marks = {here.mark: here.to_json()} if here else {}
        nuggets, problems = valid_records(index.nuggets, checked_nugget)
        names = {fold_case(nugget.name) for nugget in nuggets}
        self._write(Changes(put_nuggets=nuggets, marks=marks))
        for ids in _parts([note_id for note_id in listed if note_id in missing], NOTES_PER_REQUEST):
            answered = remote.get_notes(ids)
            asked = {note.id: note for note in answered.values()}
            notes, reasons = valid_records(
                [asked[note_id] for note_id in ids if note_id in asked],
                partial(_checked_with_nugget, names),
            )
            problems += reasons
            wanted.difference_update(ids)
            wanted.update(_ids(notes))
            self._write(Changes(put=notes))
            held.update(_ids(notes))
        self._write(Changes(drop=tuple(held - wanted)))
        record = json.dumps([index.revision, self.revision]).encode()
        replace_file(self._record_path, [record], durable=False)
        if problems:
            tell(f"{len(problems)} records were left out of the local copy: {problems[0]}")
        return len(wanted)

    def _write(self, changes: Changes) -> None:
        self._transactions.update("copy", CLIENT, lambda: (changes, None))

    def _changed_here(self, since: int) -> set[str]:
        """Notes that were written here, not by the server, since it was refreshed."""
        return {
            note_id
            for commit in self.commits(since)
            if commit.changes.client != CLIENT
            for note_id in (*_ids(commit.changes.put), *commit.changes.drop)
        }

    def _read_record(self) -> tuple[int, int]:
        """The revision of the server that it shows, and its own revision then."""
        try:
            with open(self._record_path, "rb", opener=open_plain) as file:
                theirs, own = json.loads(file.read(1000))
            return int(theirs), int(own)
        except (OSError, ValueError, TypeError, RecursionError):
            return 0, 0


def _checked_with_nugget(names: Collection[str], note: MemoryNote) -> MemoryNote:
    checked = checked_note(note)
    if fold_case(checked.nugget_name) not in names:
        raise InvalidInput(f"note {note.id!r:.80}: there is no nugget {note.nugget_name!r:.80}")
    return checked


def _ids(notes: Iterable[MemoryNote]) -> Iterator[str]:
    return (note.id for note in notes)


def _parts(ids: list[str], size: int) -> Iterator[list[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
