"""The store contract in its plainest form: the reference for the others, and for tests."""

import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager

from nuggets import times
from nuggets.errors import StaleWrite
from nuggets.records import Changes, Commit, Touch
from nuggets.state import State, merged


class InMemoryStore:
    """Keeps every change in a list; gone when the process ends."""

    def __init__(self) -> None:
        self._writer = threading.RLock()  # held as long as someone decides
        self._lock = threading.RLock()  # only while the lists are looked at: readers never wait
        self._log: list[tuple[str, Changes]] = []
        self._touches: list[Touch] = []  # that no write has taken in yet
        self._told = 0  # how many of them readers know
        self._kept: dict[str, bytes] = {}

    @property
    def directory(self) -> str:
        return ""

    def read(self, since: int) -> tuple[Changes, int]:
        with self._lock:
            if since > len(self._log):
                raise StaleWrite(f"there is no revision {since}; read it all")
            found = merged(changes for _, changes in self._log[since:])
            if since == 0:
                state = State()
                for _, changes in self._log:
                    state.apply(changes)
                found = state.everything()
            told = self._told if since else 0
            self._told = len(self._touches)
            return found._replace(touches=(*found.touches, *self._touches[told:])), len(self._log)

    def write(self, changes: Changes, expected: int) -> int:
        with self._writer, self._lock:
            if expected != len(self._log):
                raise StaleWrite(f"revision {len(self._log)} is newer than {expected}; read again")
            changes = changes._replace(touches=(*changes.touches, *self._touches))
            self._log.append((times.now(), changes))
            self._touches, self._told = [], 0
            return len(self._log)

    def exclusive(self) -> AbstractContextManager[None]:
        return self._writer  # type: ignore[return-value]

    def touch(self, touches: Sequence[Touch]) -> None:
        with self._lock:
            if self._told == len(self._touches):
                self._told += len(touches)
            self._touches += touches

    def commits(self, since: int) -> Iterable[Commit]:
        with self._lock:
            state, found = State(), []
            for revision, (at, changes) in enumerate(self._log, 1):
                if revision > since:
                    found.append(Commit(revision, at, changes, state.before(changes)))
                state.apply(changes)
            return found

    def erase(self, note_ids: Collection[str]) -> list[str]:
        with self._writer, self._lock:
            self._log = [(at, _without(changes, note_ids)) for at, changes in self._log]
            self._kept.clear()
            return ["memory"]

    def keep(self, name: str, parts: Iterable[bytes | memoryview], at: int) -> None:
        with self._lock:
            if at == len(self._log):
                self._kept[name] = b"".join(parts)

    def kept(self, name: str) -> bytes:
        return self._kept.get(name, b"")

    @property
    def warnings(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing to leave behind."""


def _without(changes: Changes, note_ids: Collection[str]) -> Changes:
    kept = (note for note in changes.put if note.id not in note_ids)
    return changes._replace(
        put=tuple(
            note._replace(links=tuple(link for link in note.links if link.to not in note_ids))
            for note in kept
        ),
        touches=tuple(touch for touch in changes.touches if touch.note_id not in note_ids),
    )
