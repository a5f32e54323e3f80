"""Keeps the shelves of several machines equal through a folder that they share, without a server.

Each machine appends what was changed on it to its own log in the folder, and takes in the logs of
the others (`operations/change_log.py`). Which of their changes were taken in is one mark, written
in the commit that takes them in; a machine's own log always tells what is on its shelf. So whatever
is interrupted is done again with the same result, and a log that was lost is written anew.

Nothing in the folder is trusted: every line is checked as an import is, and one that cannot be read
is left out and told. A register beside the shelf has the digests of the logs as they were checked,
so that only what is new is checked. The lines may be encrypted.
"""

import hashlib
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

from nuggets.domain.marks import is_purged
from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.state import State
from nuggets.domain.times import CLOCKS_DIFFER, iso, parse
from nuggets.errors import InvalidInput, MissingExtra, NotFound
from nuggets.filesystem.atomic_files import (
    read_if_plain,
    unreadable,
    unwritable,
    write_private_file,
)
from nuggets.filesystem.shelf_location import database_stamp
from nuggets.filesystem.untrusted_folder import (
    append_lines,
    check_place,
    digest_of,
    open_folder,
    read_plain,
    read_register,
    register_path,
    replace_plain,
    save_register,
    sweep,
)
from nuggets.maintenance import ShelfContext
from nuggets.named_tuple import NamedTuple
from nuggets.operations.change_log import (
    Change,
    Replica,
    check_line,
    find_changes,
    find_edit,
    read_line,
    to_line,
    without_superseded,
)
from nuggets.operations.external_edits import import_edit

MARK = "pair:"  # followed by the path of the folder
PAIR = "pair"  # the action of its commits
REGISTERS = "pairs"  # the directory of registers and keys, beside the database
MOST_MACHINES = 64  # ours: one person has a few, and each log is read whole
MOST_BYTES = 512 * 1024 * 1024  # of a log: a hundred thousand notes, each changed often
LONGEST_LINE = 4 * 1024 * 1024  # a note of the largest content, escaped, or an encrypted part
_NAME = re.compile(r"nuggets-([0-9a-f]{16})\.jsonl")
_ANY_NAME = re.compile(r"nuggets-[0-9a-f]{16}\b.*\.jsonl")  # also what a program made of a conflict
_PROBLEMS = 20  # that are told of one log: a damaged one may have thousands
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


class _Log(NamedTuple):
    """The log of a machine."""

    content: bytes = b""
    changes: tuple[Change, ...] = ()
    problems: tuple[str, ...] = ()
    is_canonical: bool = True  # is every line as we would write it, and so need not be checked?


class _Position(NamedTuple):
    """How this machine is called in the folder, and which changes of each machine it took in."""

    machine: str
    stamp: str  # of the database: a copy or a restored one is another machine
    taken: Mapping[str, int]


class Pairing:
    """One shared folder."""

    def __init__(self, context: ShelfContext, folder: str, passphrase: str | None) -> None:
        """`passphrase`: encrypts what is written from now on."""
        self._context = context
        self._transactions = context.transactions
        self._folder = folder
        self._passphrase, self._cipher = passphrase, PLAIN
        self._logs: dict[str, _Log] = {}  # as they were read last
        self._directory = directory = self._transactions.store.directory
        check_place(folder, directory)
        self._register_path = register_path(directory, REGISTERS, folder) if directory else ""
        self._checked = read_register(self._register_path) if self._register_path else {}

    def sync(self, *, dry_run: bool = False) -> PairResult:
        """Tell the others what was changed here, and take in what they changed."""
        if not os.path.isdir(self._folder):
            raise NotFound(
                f"{self._folder} is no folder; is a drive missing? Make it, or name another"
            )
        self._cipher = open_cipher(self._folder, self._directory, self._passphrase)
        if not dry_run:
            self._transactions.settle()
        with self._transactions.reading():
            self._read()  # here, because to check what is new takes long
            if dry_run:
                return self._decide(dry_run=True)[1]
        done = self._transactions.update(PAIR, self._context.client, self._decide)
        if self._register_path:
            logs = {machine: log.content for machine, log in self._logs.items() if log.is_canonical}
            save_register(
                self._register_path,
                {machine: [len(content), digest_of(content)] for machine, content in logs.items()},
            )
        return done

    # --- one round --------------------------------------------------------------------------

    def _decide(self, *, dry_run: bool = False) -> tuple[Changes, PairResult]:
        """Inside the lock: nobody else changes the shelf or our log."""
        state, now = self._transactions.state, self._context.now()
        position, problems = self._position(state), self._read()
        own, logged = position.machine, [c for log in self._logs.values() for c in log.changes]
        known_changes, unknown = list[Change](), list[Change]()
        for change in logged:
            is_known = change.number <= position.taken.get(change.machine, 0)
            (known_changes if is_known or change.machine == own else unknown).append(change)
        notes = dict(state.notes.items())
        known = everything = Replica(known_changes)
        if unknown:
            everything = Replica(logged)
        own_numbers = [change.number for change in logged if change.machine == own]
        number = max((position.taken.get(own, 0), *own_numbers))
        marks = state.marks
        found = find_changes(notes, known, everything, partial(is_purged, marks), now)
        new = [
            change._replace(machine=own, number=number + place)
            for place, change in enumerate(found, 1)
        ]
        if not dry_run:
            self._write(own, new, everything)
        changes = Changes()
        if unknown:
            if new:
                known, everything = Replica([*known_changes, *new]), Replica([*logged, *new])
            base, edit = find_edit(known, everything, notes)
            changes = import_edit(self._context.draw, state, base, edit, now).changes
        taken = dict(position.taken)
        for change in (*logged, *new):
            taken[change.machine] = max(taken.get(change.machine, 0), change.number)
        mark = position._replace(taken=taken)._asdict()
        if marks.get(MARK + self._folder) != mark:
            changes = changes._replace(marks={**changes.marks, MARK + self._folder: mark})
        purged = everything.purged | {change.note_id for change in new if change.purged}
        result = PairResult(
            self._folder,
            own,
            len(self._logs.keys() - {own}),
            tuple(note for note in changes.put if note.id not in notes),
            tuple(note for note in changes.put if note.id in notes),
            tuple(notes[note_id] for note_id in changes.drop),
            tuple(n for n in changes.put if n.id in everything.conflicts and n.id not in notes),
            len(new),
            tuple(sorted(i for i in purged if self._is_in_history(state, i))),
            problems,
        )
        return changes._replace(action="", client=""), result

    def _position(self, state: State) -> _Position:
        value = state.marks.get(MARK + self._folder)
        known = _Position(**value) if isinstance(value, dict) else _Position("", "", {})
        stamp = database_stamp(self._directory)
        if known.machine and known.stamp == stamp:
            return known
        return known._replace(
            machine=f"{self._context.draw()}{self._context.draw()}"[:16].zfill(16), stamp=stamp
        )

    def _is_in_history(self, state: State, note_id: str) -> bool:
        """Was a note here that is not purged here?"""
        commits = self._transactions.store.commits(note=note_id)
        return not is_purged(state.marks, note_id) and any(True for _ in commits)

    # --- the folder -------------------------------------------------------------------------

    def _read(self) -> tuple[str, ...]:
        """Read the log of each machine, of which only what is new is checked; what is wrong."""
        logs: dict[str, _Log] = {}
        problems: list[str] = []
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
                    else:
                        log = logs[match[1]] = self._read_log(match[1], content)
                        problems += log.problems[:_PROBLEMS]
                if len(names) > MOST_MACHINES:
                    problems.append(f"only the first {MOST_MACHINES} logs were read")
        except OSError as problem:
            raise unreadable(self._folder, problem) from problem
        self._logs = logs
        return tuple(problems)

    def _read_log(self, machine: str, content: bytes) -> _Log:
        before = self._logs.get(machine, _Log())
        if content == before.content and not before.problems:
            return before
        size = 0  # of what was checked before
        with suppress(LookupError, TypeError, ValueError):  # the register is damaged
            known, digest = self._checked[machine]
            size = known if digest_of(content[:known]) == digest else 0
        latest = iso(parse(self._context.now()) + CLOCKS_DIFFER)
        return _read_lines(content, size, machine, self._cipher, latest)

    def _write(self, machine: str, new: list[Change], everything: Replica) -> None:
        """Append to our log, or write it anew without what was purged, superseded or damaged."""
        log = self._logs.get(machine, _Log())
        purged = everything.purged | {change.note_id for change in new if change.purged}
        needed = without_superseded([*log.changes, *new], purged)
        has_purged = any(change.note_id in purged and not change.purged for change in log.changes)
        is_long = len(log.changes) > 2 * len(needed) + _SPARE_LINES
        name = _log_name(machine)
        try:
            with open_folder(self._folder) as folder:
                sweep(folder)
                if has_purged or is_long or log.problems:
                    content = self._encode(needed)
                    replace_plain(folder, name, content, 0o600, durable=True)
                    self._logs[machine] = _Log(content, tuple(needed))
                elif new or machine not in self._logs:  # so that others can count this one
                    lines = self._encode(new)
                    append_lines(folder, name, lines, MOST_BYTES)
                    changes = (*log.changes, *new)
                    self._logs[machine] = log._replace(content=log.content + lines, changes=changes)
        except (OSError, ValueError) as problem:
            if not isinstance(problem, OSError):
                problem = OSError(0, str(problem))
            raise unwritable(os.path.join(self._folder, name), problem) from problem

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


def _read_lines(content: bytes, checked: int, machine: str, cipher: Cipher, latest: str) -> _Log:
    """The log of a machine with its changes. A last line that does not end yet is on its way.

    `checked`: so many bytes were checked before. `latest`: no change can be later, because clocks
    differ less.
    """
    changes: list[Change] = []
    problems: list[str] = []
    is_canonical, last, end = True, 0, 0
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        where = f"{_log_name(machine)}, line {number}"
        end += len(line) + 1
        try:
            for part in _decrypt(line, cipher, where):
                if end <= checked:
                    change = read_line(part, machine)
                else:
                    change = check_line(part, machine, where)
                    is_canonical &= to_line(change).encode() == part
                if change.number <= last:
                    raise InvalidInput(f"{where}: it is not in order")
                if change.at > latest:
                    later = "its time lies ahead, and it is taken in then"
                    problems.append(f"{where}: {later}; are the clocks right?")
                    return _Log(content, tuple(changes), tuple(problems), is_canonical=False)
                last = change.number
                changes.append(change)
        except InvalidInput as problem:
            problems.append(str(problem))
    return _Log(content, tuple(changes), tuple(problems), is_canonical and not problems)


def _decrypt(line: bytes, cipher: Cipher, where: str) -> Iterable[bytes]:
    if not line.strip():
        return ()
    if len(line) > LONGEST_LINE:
        raise InvalidInput(f"{where}: it is too long")
    if cipher == PLAIN:
        return (line,)
    try:
        return cipher.decrypt(line).splitlines()
    except ValueError as problem:
        raise InvalidInput(f"{where}: {problem}") from None


def _log_name(machine: str) -> str:
    return f"nuggets-{machine}.jsonl"


# --- encryption -----------------------------------------------------------------------------------
#
# In the `age` format, by a passphrase that all machines know. A random key lies in the folder,
# masked with what follows from the passphrase and a random salt; a machine that was told the
# passphrase once keeps the key beside its shelf. The public half is nowhere in the folder: whoever
# does not know the passphrase can neither read a line nor write one that is taken in. The names of
# the logs, their sizes and times stay visible.
#
# (A key that `age` itself encrypts with a passphrase is as hard to open as the machine that made it
# is fast at that moment, and slower or busier machines may refuse it. So the work is fixed here.)

KEY_FILE = "nuggets-key.txt"
_KEY_BYTES = 16 * 1024  # of the file with the salt: it has some hundred
_WORK = {"n": 1 << 17, "r": 8, "p": 1, "maxmem": 1 << 28}  # of scrypt, as OWASP advises: 128 MiB
_PROOF = b"nuggets"  # encrypted with the key: whoever can read it has that, unchanged


def open_cipher(folder: str, directory: str, passphrase: str | None) -> Cipher:
    """How the lines of a folder are encrypted; not at all if nobody has asked for it.

    `passphrase`: of the folder's key, which is made if there is none.
    """
    path = register_path(directory, REGISTERS, folder, "key")
    key = b"" if passphrase is not None else read_if_plain(path)
    if not key and passphrase is None:
        if os.path.lexists(os.path.join(folder, KEY_FILE)):
            raise InvalidInput(
                f"{folder} is encrypted: nuggets pair {folder} --encrypt asks for its passphrase"
            )
        return PLAIN
    age = _library()
    if passphrase is not None:
        if not directory:
            raise InvalidInput("a shelf in memory keeps no key; open one in a directory")
        key = (_unlock(age, folder, passphrase) or _make_key(age, folder, passphrase)).encode()
        write_private_file(path, key, durable=True)
    return _cipher(age, key.decode())


def _library() -> ModuleType:
    try:
        import pyrage
    except ImportError as problem:
        raise MissingExtra(
            "encryption needs a library: pip install 'nuggets-memory[encryption]'"
        ) from problem
    module: ModuleType = pyrage
    return module


def _unlock(age: ModuleType, folder: str, passphrase: str) -> str:
    """The key of the folder; "" if it has none."""
    with suppress(FileNotFoundError), open_folder(folder) as place:
        try:
            salt, masked, proof = read_plain(place, KEY_FILE, _KEY_BYTES).split()
            key = _mask(bytes.fromhex(masked.decode()), passphrase, salt).decode()
            _cipher(age, key).decrypt(proof)
            return key
        except (ValueError, age.IdentityError):
            path = os.path.join(folder, KEY_FILE)
            raise InvalidInput(f"the passphrase does not fit {path}; try again") from None
    return ""


def _make_key(age: ModuleType, folder: str, passphrase: str) -> str:
    if not passphrase:
        raise InvalidInput("a passphrase has at least one character; four random words are good")
    salt, key = os.urandom(16).hex().encode(), str(age.x25519.Identity.generate())
    masked = _mask(key.encode(), passphrase, salt).hex().encode()
    content = b"\n".join([salt, masked, _cipher(age, key).encrypt(_PROOF), b""])
    try:
        with open_folder(folder) as place:
            replace_plain(place, KEY_FILE, content, 0o600, durable=True)
    except OSError as problem:
        raise unwritable(os.path.join(folder, KEY_FILE), problem) from problem
    return key


def _mask(key: bytes, passphrase: str, salt: bytes) -> bytes:
    """The key masked by the passphrase, or unmasked: each salt is for one key."""
    mask = hashlib.scrypt(passphrase.encode(), salt=salt, dklen=len(key), **_WORK)
    return bytes(a ^ b for a, b in zip(key, mask, strict=True))


def _cipher(age: ModuleType, key: str) -> Cipher:
    identity = age.x25519.Identity.from_str(key)
    recipient = identity.to_public()

    def encrypt(lines: bytes) -> bytes:
        return b64encode(age.encrypt(lines, [recipient]))

    def decrypt(line: bytes) -> bytes:
        try:
            plain: bytes = age.decrypt(b64decode(line, validate=True), [identity])
            return plain
        except (ValueError, age.DecryptError):
            raise ValueError("it is not encrypted with the key of this folder") from None

    return Cipher(encrypt, decrypt)
