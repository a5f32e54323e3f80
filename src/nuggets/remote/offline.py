"""What a client has while its server cannot be reached: calls that wait, and a bounded copy.

    <directory of the server>/
      queue           a line of JSON for each call, and one for each that was done
      rejected        calls that the server did not take, and why
      calls           the id of this machine, and the number of its last call
      queue.lock      held while these files change
      sending.lock    held while calls are sent, so that their order is kept
      copy/           an ordinary shelf with the notes that were used last
      copied          the revision of the server that it shows

A call is durable before it is told as queued. A kill between sending and noting that it was done
sends it again, and the server knows it by its id. Changes that wait are made in the copy as well,
so that they can be read; when they have been sent, what the server says takes their place.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import Changes, MemoryNote
from nuggets.errors import InvalidInput, NotFound, NuggetsError, StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    replace_file,
    sync,
    sync_directory,
    unwritable,
    write_all,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.argument_checks import checked_note, checked_nugget, valid_records
from nuggets.operations.idempotent_calls import SLOTS
from nuggets.remote.server_requests import TokenRefused
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
        self._path = os.path.join(directory, "queue")
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
            yield True
        finally:
            os.close(descriptor)

    def number_call(self) -> tuple[str, int]:
        """The id of this machine, and the next of the slots in which the server notes its calls."""
        path = os.path.join(self._directory, "calls")
        with self._lock():
            machine, _, number = _read(path).partition(" ")
            machine = machine or os.urandom(8).hex()
            slot = (int(number) + 1) % SLOTS if number.strip().isdigit() else 0
            replace_file(path, [f"{machine} {slot}".encode()], durable=False)
        return machine, slot

    @property
    def is_empty(self) -> bool:
        """One look at the file system: nearly always there is nothing."""
        with suppress(OSError):
            return os.stat(self._path).st_size == 0
        return True

    def waiting(self) -> list[WaitingCall]:
        """The calls that were not delivered, in their order."""
        calls: dict[str, WaitingCall] = {}
        for entry in _lines(self._path):
            if "done" in entry:
                calls.pop(str(entry["done"]), None)
            else:
                calls[str(entry["id"])] = _call(entry)
        return list(calls.values())

    def rejections(self) -> list[WaitingCall]:
        """The calls that the server did not take."""
        calls = map(_call, filter(_is_call, _lines(self._rejected)))
        return list({call.id: call for call in calls}.values())

    def add(self, call: WaitingCall) -> None:
        """Queue a call; when this returns it survives a crash."""
        with self._lock():
            _append(self._path, call._asdict())

    def send(
        self, post: Callable[[Mapping[str, Any]], Any]
    ) -> Iterator[tuple[WaitingCall, NuggetsError | None]]:
        """Send what waits, in order; each call with the reason if the server did not take it.

        Such a call is kept with the reason: mostly, others changed the same memory meanwhile
        (`operations/idempotent_calls.py`). One process sends at a time; others do not wait for it.
        """
        with self._lock("sending.lock", waits=False) as is_ours:
            for call in self.waiting() if is_ours else ():
                try:
                    post(call.message)
                except (StoreError, TokenRefused):  # the server's problem, not the call's
                    raise
                except NuggetsError as problem:
                    self._reject(call, str(problem))
                    yield call, problem
                else:
                    self.finish(call)
                    yield call, None

    def finish(self, call: WaitingCall) -> None:
        """It was delivered."""
        with self._lock():
            self._finish(call)

    def _finish(self, call: WaitingCall) -> None:
        _append(self._path, {"done": call.id})
        if not self.waiting():
            replace_file(self._path, [], durable=True)

    def _reject(self, call: WaitingCall, reason: str) -> None:
        with self._lock():
            _append(self._rejected, call._replace(reason=reason)._asdict())
            self._finish(call)

    def drop(self, name: str) -> WaitingCall:
        """Give up a call, named by the beginning of its id: one that waits, or a rejected one."""
        with self._lock():
            for call in self.waiting():
                if name and call.id.startswith(name):
                    self._finish(call)
                    return call
            return self._take_rejected(name)

    def retry(self, name: str) -> WaitingCall:
        """Queue a rejected call again, whatever others changed: a person has decided."""
        with self._lock():
            call = self._find_rejected(name)
            caller = dict(call.message["caller"])
            caller["call"] = {k: v for k, v in caller["call"].items() if k != "seen"}
            options = dict(call.message.get("options") or {})
            options.pop("expected", None)  # an edit is of what the server holds now
            message = {**call.message, "caller": caller, "options": options}
            # first: a kill here leaves it in both places, and it is sent once
            _append(self._path, call._replace(message=message, reason="")._asdict())
            return self._take_rejected(name)

    def _find_rejected(self, name: str) -> WaitingCall:
        found = [call for call in self.rejections() if name and call.id.startswith(name)]
        if len(found) != 1:
            raise NotFound(
                f"no single queued change matches {name!r:.40}; `nuggets queue` lists them"
            )
        return found[0]

    def _take_rejected(self, name: str) -> WaitingCall:
        call = self._find_rejected(name)
        rest = [other for other in self.rejections() if other.id != call.id]
        lines = (json.dumps(other._asdict()).encode() + b"\n" for other in rest)
        replace_file(self._rejected, lines, durable=True)
        return call


def _call(entry: Mapping[str, Any]) -> WaitingCall:
    return WaitingCall(
        str(entry["id"]), str(entry["at"]), entry["message"], str(entry.get("reason", ""))
    )


def _is_call(entry: Mapping[str, Any]) -> bool:
    """Could we have written it? Anything else in the file is left out, like half a line."""
    message = entry.get("message")
    if not ({"id", "at"} <= entry.keys() and isinstance(message, dict)):
        return False
    caller = message.get("caller")
    return (
        isinstance(message.get("args", []), list)
        and isinstance(caller, dict)
        and isinstance(caller.get("call"), dict)
    )


def _append(path: str, entry: Mapping[str, Any]) -> None:
    """Add a line, durably. What a crash left of a line stays by itself."""
    line = json.dumps(entry).encode() + b"\n"
    try:
        is_new = not os.path.exists(path)
        descriptor = open_plain(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            write_all(descriptor, line)
            sync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            sync_directory(os.path.dirname(path))
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _lines(path: str) -> Iterator[Mapping[str, Any]]:
    try:
        with open(path, "rb", opener=open_plain) as file:
            for line in file:
                with suppress(ValueError, RecursionError):  # a crash left a part of it
                    entry = json.loads(line)
                    if isinstance(entry, dict) and ("done" in entry or _is_call(entry)):
                        yield entry
    except FileNotFoundError:
        return


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace", opener=open_plain) as file:
            return file.read(200)
    except FileNotFoundError:
        return ""


# --- the copy -------------------------------------------------------------------------------------


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
