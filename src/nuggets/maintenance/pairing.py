"""Keeps the shelves of several machines equal through a folder that they share, without a server.

Each machine appends what was changed on it to its own log in the folder, and takes in the logs of
the others (`operations/change_log.py`). Which of their changes were taken in is one mark, written
in the commit that takes them in; a machine's own log always tells what is on its shelf. So whatever
is interrupted is done again with the same result, and a log that was lost is written anew.

Nothing in the folder is trusted: every line is checked as an import is, and one that cannot be read
is left out and told.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from nuggets.domain import codec
from nuggets.domain.marks import is_purged
from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.state import State
from nuggets.domain.times import CLOCKS_DIFFER, iso, parse
from nuggets.errors import InvalidInput, NotFound
from nuggets.filesystem.atomic_files import unreadable, unwritable
from nuggets.filesystem.untrusted_folder import (
    append_lines,
    open_folder,
    read_plain,
    replace_plain,
    sweep,
)
from nuggets.named_tuple import NamedTuple
from nuggets.operations.change_log import (
    Change,
    Replica,
    find_changes,
    find_edit,
    parse_line,
    to_line,
    without_superseded,
)
from nuggets.operations.external_edits import import_edit
from nuggets.operations.note_completion import normalize_note
from nuggets.operations.notes_and_links import check_note_limits
from nuggets.operations.transactions import Transactions
from nuggets.stores.json_validation import check_note, check_savable

MARK = "pair:"  # followed by the path of the folder
PAIR = "pair"  # the action of its commits
MOST_MACHINES = 64
MOST_BYTES = 512 * 1024 * 1024  # of a log: a hundred thousand notes, each changed often
LONGEST_LINE = 4 * 1024 * 1024  # a note of the largest content, escaped, or an encrypted part
ROUNDS = 3  # what is taken in may lead to a change here, such as of its spelling, and that to none
_NAME = re.compile(r"nuggets-([0-9a-f]{16})\.jsonl")
_ANY_NAME = re.compile(r"nuggets-[0-9a-f]{16}\b.*\.jsonl")  # also what a program made of a conflict
_PROBLEMS = 20  # that are told of one log
_SPARE_LINES = 1000  # superseded ones, before a log is written anew

Json = dict[str, Any]


class Cipher(NamedTuple):
    """How lines are encrypted and decrypted; nothing is done by default."""

    encrypt: Callable[[bytes], bytes] = bytes
    decrypt: Callable[[bytes], bytes] = bytes


PLAIN = Cipher()


class PairResult(NamedTuple):
    """What came in and what went out."""

    folder: str
    machine: str  # the name of this one in the folder
    machines: int  # whose logs were read, beside this one's
    added: tuple[MemoryNote, ...] = ()
    updated: tuple[MemoryNote, ...] = ()
    removed: tuple[MemoryNote, ...] = ()
    conflicts: tuple[MemoryNote, ...] = ()  # versions that were kept beside the one that holds
    written: int = 0  # changes
    purged_elsewhere: tuple[str, ...] = ()  # ids that the history here still has
    problems: tuple[str, ...] = ()


class _Logs(NamedTuple):
    """What the folder says."""

    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    own_lines: int  # in the log of this machine
    own_is_damaged: bool
    own_status: tuple[int, int]  # size and time of that log when it was read


class _Position(NamedTuple):
    """How this machine is called in the folder, and which changes of each machine it took in."""

    machine: str
    stamp: str  # of the database: a copy or a restored one is another machine
    taken: Mapping[str, int]

    def to_json(self) -> Json:
        return {"machine": self.machine, "stamp": self.stamp, "taken": dict(self.taken)}


class Pairing:
    """One shared folder."""

    def __init__(
        self,
        transactions: Transactions,
        folder: str,
        *,
        stamp: Callable[[], str],
        client: str,
        clock: Callable[[], str],
        draw: Callable[[], str],
        cipher: Callable[[], Cipher],
    ) -> None:
        """`stamp`: of the database, asked inside a transaction, because the first one makes it.
        `cipher`: asked when the folder is there."""
        self._transactions = transactions
        self._folder = folder
        self._stamp = stamp
        self._client = client
        self._clock = clock
        self._draw = draw
        self._find_cipher, self._cipher = cipher, PLAIN
        self._parsed: dict[tuple[str, bytes], Change] = {}  # lines that were read before
        check_place(folder, transactions.store.directory)

    def sync(self, *, dry_run: bool = False) -> PairResult:
        """Tell the others what was changed here, and take in what they changed."""
        if not os.path.isdir(self._folder):
            raise NotFound(
                f"{self._folder} is no folder; is a drive missing? Make it, or name another"
            )
        self._cipher = self._find_cipher()
        if dry_run:
            with self._transactions.reading():
                return self._decide(None, dry_run=True)[1]
        self._transactions.settle()
        results: list[PairResult] = []
        while len(results) < ROUNDS and (not results or _came_in(results[-1])):
            decide = partial(self._decide, self._read())
            results.append(self._transactions.update(PAIR, self._client, decide))
        return _sum(results)

    # --- one round --------------------------------------------------------------------------

    def _decide(self, logs: _Logs | None, *, dry_run: bool = False) -> tuple[Changes, PairResult]:
        """Inside the lock: nobody else changes the shelf or our log."""
        state, now = self._transactions.state, self._clock()
        position = self._position(state)
        if logs is None or logs.own_status != self._status(position.machine):
            logs = self._read()  # another process of this machine wrote meanwhile
        own = position.machine
        known_changes = [
            change
            for change in logs.changes
            if change.machine == own or change.number <= position.taken.get(change.machine, 0)
        ]
        notes = dict(state.notes.items())
        known, everything = Replica(known_changes), Replica(logs.changes)
        own_numbers = [change.number for change in logs.changes if change.machine == own]
        number = max((position.taken.get(own, 0), *own_numbers))
        found = find_changes(notes, known, everything, partial(is_purged, state.marks), now)
        new = [
            change._replace(machine=own, number=number + place)
            for place, change in enumerate(found, 1)
        ]
        if not dry_run:
            self._write(own, logs, new, everything)
        if new:
            known, everything = Replica([*known_changes, *new]), Replica([*logs.changes, *new])
        base, edit = find_edit(known, everything, notes)
        changes = import_edit(self._draw, state, base, edit, now).changes
        taken = dict(position.taken)
        for change in (*logs.changes, *new):
            taken[change.machine] = max(taken.get(change.machine, 0), change.number)
        mark = {MARK + self._folder: position._replace(taken=taken).to_json()}
        if state.marks.get(MARK + self._folder) != mark[MARK + self._folder]:
            changes = changes._replace(marks={**changes.marks, **mark})
        changes = changes._replace(action="", client="")
        result = PairResult(
            self._folder,
            own,
            len({change.machine for change in logs.changes} - {own}),
            tuple(note for note in changes.put if note.id not in notes),
            tuple(note for note in changes.put if note.id in notes),
            tuple(notes[note_id] for note_id in changes.drop),
            tuple(n for n in changes.put if n.id in everything.conflicts and n.id not in notes),
            len(new),
            tuple(sorted(i for i in everything.purged if self._is_in_history(state, i))),
            logs.problems,
        )
        return changes, result

    def _position(self, state: State) -> _Position:
        value = state.marks.get(MARK + self._folder)
        known = _Position(**value) if isinstance(value, dict) else _Position("", "", {})
        stamp = self._stamp()
        if known.machine and known.stamp == stamp:
            return known
        return known._replace(machine=f"{self._draw()}{self._draw()}"[:16].zfill(16), stamp=stamp)

    def _is_in_history(self, state: State, note_id: str) -> bool:
        """Was a note here that is not purged here?"""
        commits = self._transactions.store.commits(note=note_id)
        return not is_purged(state.marks, note_id) and any(True for _ in commits)

    # --- the folder -------------------------------------------------------------------------

    def _status(self, machine: str) -> tuple[int, int]:
        try:
            status = os.lstat(os.path.join(self._folder, _log_name(machine)))
            return status.st_size, status.st_mtime_ns
        except OSError:
            return 0, 0

    def _read(self) -> _Logs:
        """All logs in the folder."""
        with self._transactions.reading() as view:
            own = self._position(view.state).machine
        status = self._status(own)
        latest = iso(parse(self._clock()) + CLOCKS_DIFFER)
        changes: list[Change] = []
        problems: list[str] = []
        own_lines, own_is_damaged = 0, False
        try:
            with open_folder(self._folder) as folder:
                names = sorted(filter(_ANY_NAME.fullmatch, os.listdir(folder)))
                for name in names[:MOST_MACHINES]:
                    match = _NAME.fullmatch(name)
                    if match is None:
                        problems.append(f"{name!r:.80}: it is no log of a machine; remove it")
                        continue
                    try:
                        content = read_plain(folder, name, MOST_BYTES)
                    except (OSError, ValueError) as problem:
                        problems.append(f"{name}: {problem}")
                        continue
                    log = _Log(match[1], name, self._cipher, latest, self._parsed)
                    changes += log.read(content)
                    problems += log.problems[:_PROBLEMS]
                    if match[1] == own:
                        own_lines, own_is_damaged = log.lines, bool(log.problems)
                if len(names) > MOST_MACHINES:
                    problems.append(f"only the first {MOST_MACHINES} logs were read")
        except OSError as problem:
            raise unreadable(self._folder, problem) from problem
        return _Logs(tuple(changes), tuple(problems), own_lines, own_is_damaged, status)

    def _write(self, machine: str, logs: _Logs, new: list[Change], everything: Replica) -> None:
        """Append to our log, or write it anew without what was purged, superseded or damaged."""
        own = [change for change in logs.changes if change.machine == machine]
        purged = everything.purged | {change.note_id for change in new if change.purged}
        needed = without_superseded([*own, *new], purged)
        has_purged = any(change.note_id in purged and not change.purged for change in own)
        is_long = logs.own_lines > 2 * len(needed) + _SPARE_LINES
        try:
            with open_folder(self._folder) as folder:
                sweep(folder)
                if has_purged or is_long or logs.own_is_damaged:
                    content = self._encode(needed)
                    name = _log_name(machine)
                    replace_plain(folder, name, content, 0o600, durable=True)
                elif new:
                    append_lines(folder, _log_name(machine), self._encode(new), MOST_BYTES)
        except (OSError, ValueError) as problem:
            if not isinstance(problem, OSError):
                problem = OSError(0, str(problem))
            raise unwritable(os.path.join(self._folder, _log_name(machine)), problem) from problem

    def _encode(self, changes: Iterable[Change]) -> bytes:
        """Whole lines; an encrypted one may hold several changes."""
        parts: list[bytes] = [b""]
        for change in changes:
            line = f"{to_line(change)}\n".encode()
            if len(parts[-1]) + len(line) > LONGEST_LINE // 2:
                parts.append(b"")
            parts[-1] += line
        if self._cipher == PLAIN:
            return b"".join(parts)
        return b"".join(self._cipher.encrypt(part) + b"\n" for part in parts if part)


class _Log:
    """One log that is read."""

    def __init__(
        self,
        machine: str,
        name: str,
        cipher: Cipher,
        latest: str,
        parsed: dict[tuple[str, bytes], Change],
    ) -> None:
        self._machine = machine
        self._name = name
        self._cipher = cipher
        self._latest = latest  # the time of a change cannot be later: clocks differ less
        self._parsed = parsed
        self.problems: list[str] = []
        self.lines = 0

    def read(self, content: bytes) -> list[Change]:
        """Its changes. A last line that does not end yet is on its way."""
        changes: list[Change] = []
        last = 0
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            where = f"{self._name}, line {number}"
            try:
                for part in self._decode(line, where):
                    self.lines += 1
                    change = self._parse(part, where)
                    if change.number <= last:
                        raise InvalidInput(f"{where}: it is not in order")
                    if change.at > self._latest:
                        later = (
                            "its time lies ahead, and it is taken in then; are the clocks right?"
                        )
                        self.problems.append(f"{where}: {later}")
                        return changes
                    last = change.number
                    changes.append(change)
            except InvalidInput as problem:
                self.problems.append(str(problem))
        return changes

    def _parse(self, line: bytes, where: str) -> Change:
        """The change of a line; one that was checked before is not checked again."""
        change = self._parsed.get((self._machine, line))
        if change is None:
            change = parse_line(line, self._machine, where, _check_note)
            self._parsed[self._machine, line] = change
        return change

    def _decode(self, line: bytes, where: str) -> Iterable[bytes]:
        if not line.strip():
            return ()
        if len(line) > LONGEST_LINE:
            raise InvalidInput(f"{where}: it is too long")
        if self._cipher == PLAIN:
            return (line,)
        try:
            return self._cipher.decrypt(line).splitlines()
        except ValueError as problem:
            raise InvalidInput(f"{where}: {problem}") from None


def _check_note(shape: Json, where: str) -> MemoryNote:
    try:
        check_savable(shape, where)
        note = codec.note_from_json(check_note(shape, where))
        check_note_limits(note)
        return normalize_note(note)
    except KeyError as problem:
        raise InvalidInput(f"{where}: the note has no {problem}") from None
    except (AttributeError, TypeError, ValueError):
        raise InvalidInput(f"{where}: fields of wrong types") from None


def _log_name(machine: str) -> str:
    return f"nuggets-{machine}.jsonl"


def _came_in(result: PairResult) -> bool:
    return bool(result.added or result.updated or result.removed)


def _sum(results: list[PairResult]) -> PairResult:
    """What all rounds did; what is so at the end is said by the last one."""
    last = results[-1]
    joined: Json = {
        field: tuple(note for result in results for note in getattr(result, field))
        for field in ("added", "updated", "removed", "conflicts")
    }
    return last._replace(**joined, written=sum(result.written for result in results))


def check_place(folder: str, directory: str) -> None:
    """Refuse a folder that holds the database, which only one machine may open."""
    if not directory:
        return
    shared, own = os.path.realpath(folder), os.path.realpath(directory)
    if os.path.commonpath((shared, own)) in (shared, own):
        raise InvalidInput(
            f"{folder} and the shelf {directory} lie in each other. A database that a program "
            "copies while it is open is damaged, so it never lies in a shared folder: name another "
            "folder, or move the shelf (NUGGETS_DIR)"
        )
