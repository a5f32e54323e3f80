"""What a client has while its server cannot be reached: calls that wait, and a bounded copy.

    <directory of the server>/
      queue/          a file for each call that waits, named in their order
      rejected/       a file for each call that the server did not take, with the reason
      calls           the id of this machine, and the number of its last call
      queue.lock      held while these files change
      sending.lock    held while calls are sent, so that their order is kept
      copy/           an ordinary shelf with the notes that were used last
      copied          its time says when the copy was refreshed

A call is durable before it is told as queued. A kill between sending and noting that it was done
sends it again, and the server knows it by its id. Changes that wait are made in the copy as well,
so that they can be read; when they have been sent, what the server says takes their place.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain.codec import note_digest
from nuggets.domain.records import Changes
from nuggets.errors import NotFound, NuggetsError, StoreError
from nuggets.filesystem.atomic_files import (
    is_leftover,
    open_plain,
    private_directory,
    read_if_plain,
    replace_file,
    sync_directory,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.idempotent_calls import SLOTS
from nuggets.remote import TokenRefused
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.operations.project_identity import Location

CLIENT = "server"  # in the history of the copy: what came from there
NOTES_PER_REQUEST = 200  # notes a request: far from what an answer may have, as most are short


class WaitingCall(NamedTuple):
    """A call that was not delivered, as its message will be sent."""

    id: str
    at: str  # when it was queued
    message: Mapping[str, Any]
    reason: str = ""  # why the server did not take it

    @property
    def summary(self) -> str:
        """What it does, in a few words."""
        args = self.message.get("args", [])
        return " ".join([str(self.message.get("method")), *(str(a) for a in args if a)])


class CallQueue:
    """The calls of this machine to one server."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._waiting = os.path.join(directory, "queue")
        self._rejected = os.path.join(directory, "rejected")

    @contextmanager
    def _lock(self, name: str = "queue.lock", *, waits: bool = True) -> Iterator[bool]:
        import fcntl

        private_directory(self._directory)
        descriptor = open_plain(os.path.join(self._directory, name), os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            try:
                yield True
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for a child that inherited it
        finally:
            os.close(descriptor)

    def number_call(self) -> tuple[str, int]:
        """The id of this machine, and the next of the slots in which the server notes its calls."""
        path = os.path.join(self._directory, "calls")
        with self._lock():
            recorded = read_if_plain(path)[:200].decode("ascii", "replace")
            machine, _, number = recorded.partition(" ")
            machine = machine or os.urandom(8).hex()
            slot = (int(number) + 1) % SLOTS if number.strip().isdigit() else 0
            replace_file(path, [f"{machine} {slot}".encode()], durable=False)
        return machine, slot

    @property
    def is_empty(self) -> bool:
        return not _calls(self._waiting)

    def waiting(self) -> list[WaitingCall]:
        """The calls that were not delivered, in their order."""
        return list(_calls(self._waiting).values())

    def rejections(self) -> list[WaitingCall]:
        """The calls that the server did not take."""
        return sorted(_calls(self._rejected).values(), key=lambda call: call.at)

    def add(self, call: WaitingCall) -> None:
        """Queue a call; when this returns it survives a crash."""
        with self._lock():
            last = max(_calls(self._waiting), default=f"{0:08}")
            _write(self._waiting, f"{int(last) + 1:08}", call)

    def send(
        self, post: Callable[[Mapping[str, Any]], Any]
    ) -> Iterator[tuple[WaitingCall, NuggetsError | None]]:
        """Send what waits, in order; each call with the reason if the server did not take it.

        Such a call is kept with the reason: mostly, others changed the same memory meanwhile
        (`operations/idempotent_calls.py`). One process sends at a time; others do not wait for it.
        """
        with self._lock("sending.lock", waits=False) as is_ours:
            for call in self.waiting() if is_ours else ():
                refusal = None
                try:
                    post(call.message)
                except (StoreError, TokenRefused):  # the server's problem, not the call's
                    raise
                except NuggetsError as problem:
                    _write(self._rejected, call.id, call._replace(reason=str(problem)))
                    refusal = problem
                with self._lock():
                    _remove(self._waiting, call)
                yield call, refusal

    def drop(self, name: str) -> WaitingCall:
        """Give up a call, named by the beginning of its id: one that waits, or a rejected one."""
        with self._lock():
            call = _find(name, [*self.waiting(), *self.rejections()])
            for folder in (self._waiting, self._rejected):
                _remove(folder, call)
            return call

    def retry(self, name: str) -> WaitingCall:
        """Queue a rejected call again, whatever others changed: a person has decided."""
        call = _find(name, self.rejections())
        caller = dict(call.message["caller"])
        caller["call"] = {k: v for k, v in caller["call"].items() if k != "seen"}
        options = dict(call.message.get("options") or {})
        options.pop("expected", None)  # an edit is of what the server holds now
        message = {**call.message, "caller": caller, "options": options}
        # first: a kill here leaves it in both places, and it is sent once
        self.add(call._replace(message=message, reason=""))
        _remove(self._rejected, call)
        return call


def _find(name: str, calls: Collection[WaitingCall]) -> WaitingCall:
    found = {call.id: call for call in calls if name and call.id.startswith(name)}
    if len(found) != 1:
        raise NotFound(f"no single queued change matches {name!r:.40}; `nuggets queue` lists them")
    return next(iter(found.values()))


def _calls(folder: str) -> dict[str, WaitingCall]:
    """The calls in a folder by the names of their files, in order. What no program of ours wrote is
    left out."""
    calls = {}
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):
            with suppress(ValueError, RecursionError, LookupError, TypeError):
                entry = (
                    {}
                    if is_leftover(name)
                    else json.loads(read_if_plain(os.path.join(folder, name)))
                )
                message = entry["message"]
                message = {**message, "args": [*message["args"]]}
                message["caller"] = {**message["caller"], "call": {**message["caller"]["call"]}}
                calls[name] = WaitingCall(**{**entry, "message": message})
    return calls


def _write(folder: str, name: str, call: WaitingCall) -> None:
    private_directory(folder)
    replace_file(os.path.join(folder, name), [json.dumps(call._asdict()).encode()], durable=True)


def _remove(folder: str, call: WaitingCall) -> None:
    names = [name for name, other in _calls(folder).items() if other.id == call.id]
    for name in names:
        os.unlink(os.path.join(folder, name))
    if names:
        sync_directory(folder)


# --- the copy -------------------------------------------------------------------------------------


class LocalCopy(NuggetShelf):
    """The copy of what a server keeps."""

    def __init__(self, directory: str, **options: Any) -> None:
        """`directory`: that of the server."""
        private_directory(directory)
        self._record_path = os.path.join(directory, "copied")
        super().__init__(os.path.join(directory, "copy"), **options)

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
        from nuggets.operations.note_completion import (
            checked_note,
            checked_nugget,
            valid_records,
        )

        index = remote.copy_index(most)
        wanted = list(index.notes)[:most]
        with self._transactions.reading() as view:
            held = {note.id: note_digest(note) for note in view.state.notes.values()}
        changed = [note_id for note_id in wanted if held.get(note_id) != index.notes[note_id]]
        nuggets, problems = valid_records(index.nuggets, checked_nugget)
        names = {fold_case(nugget.name) for nugget in nuggets}
        marks = {here.mark: here.to_json()} if here else {}
        self._write(Changes(put_nuggets=nuggets, marks=marks))
        kept = set(wanted).difference(changed)
        for start in range(0, len(changed), NOTES_PER_REQUEST):
            ids = changed[start : start + NOTES_PER_REQUEST]
            answered = remote.get_notes(ids).values()
            valid, reasons = valid_records(
                [note for note in answered if note.id in ids], checked_note
            )
            problems += reasons
            notes = tuple(note for note in valid if fold_case(note.nugget_name) in names)
            self._write(Changes(put=notes))
            kept.update(note.id for note in notes)
        self._write(Changes(drop=tuple(held.keys() - kept)))
        replace_file(self._record_path, [], durable=False)
        if problems:
            tell(f"{len(problems)} records were left out of the local copy: {problems[0]}")
        return len(kept)

    def _write(self, changes: Changes) -> None:
        self._transactions.update("copy", CLIENT, lambda: (changes, None))
