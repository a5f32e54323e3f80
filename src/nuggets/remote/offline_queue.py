"""Calls that wait for a server which cannot be reached, in a private file of this machine.

    <directory of the server>/
      queue           a line of JSON for each call, and one for each that was done
      rejected        calls that the server did not take, and why
      calls           the id of this machine, and the number of its last call
      queue.lock      held while these files change
      sending.lock    held while calls are sent, so that their order is kept

A call is durable before it is told as queued. A kill between sending and noting that it was done
sends it again, and the server knows it by its id.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from nuggets.errors import NotFound, NuggetsError, StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    replace_file,
    sync,
    sync_directory,
    unwritable,
    write_all,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.idempotent_calls import SLOTS
from nuggets.remote.server_requests import TokenRefused


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
        (`operations/write_conflicts.py`). One process sends at a time; others do not wait for it.
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
            again = call._replace(message={**call.message, "caller": caller}, reason="")
            _append(
                self._path, again._asdict()
            )  # first: a kill here leaves it in both places, and it is sent once
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
