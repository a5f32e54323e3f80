"""Crash states: from a recorded run, any state of the disk that a power cut may leave.

The shim records what a process did to files. What was synced is there after a crash; of the rest
anything may be missing, be torn, or have arrived before what was done earlier. A name in a
directory is safe when the directory was synced, the content of a file when the file was.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from fault_processes import TESTS, environment

SECTOR = 512


class Effect(NamedTuple):
    """One thing that a process did."""

    kind: str  # write, truncate, sync; link (a new name), unlink, rename; ack
    inode: str  # the identity of a file or directory
    path: str = ""
    target: str = ""  # of a rename
    offset: int = 0
    data: bytes = b""


RECORD = """
import ctypes, sys
from nuggets.shelf import NuggetShelf
shim, directory, log = ctypes.CDLL(None), *sys.argv[1:]
shim.shim_arm(directory.encode(), 0, 0)
shim.shim_record(log.encode())

def acknowledge(key):
    shim.shim_note(b"ack " + key.encode(), b"", 0)

for life in range(3):
    with NuggetShelf(directory, short_lived=True, project="") as shelf:
        for number in range(4):
            key = f"key {life} {number}"
            shelf.remember("facts", key, f"value of {key} " * 20)
            acknowledge(key)
        shelf.recall("key 0 0", session=f"s{life}")
        with shelf.batch():
            shelf.create_note("plans", f"plan {life}", "one")
            shelf.remember("facts", f"both {life}", "two")
        acknowledge(f"both {life}")
"""


def record(shim: str, work: str, program: str = RECORD) -> list[Effect]:
    """What a process did that wrote, in three lives, and said what was acknowledged."""
    directory, log = os.path.join(work, "recorded"), os.path.join(work, "log")
    done = subprocess.run(
        [sys.executable, "-c", program, directory, log],
        env=environment(LD_PRELOAD=shim),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with open(log, "rb") as file:
        return list(_effects(file.read(), directory))


def _effects(raw: bytes, directory: str) -> Iterator[Effect]:
    """The recorded effects, with paths below the directory."""
    files = _Files()
    start = 0
    while start < len(raw):
        end = raw.index(b"\n", start)
        size, kind, rest = raw[start:end].decode().split(" ", 2)
        data = raw[end + 1 : end + 1 + int(size)]
        start = end + 1 + int(size)
        if kind == "ack":
            yield Effect("ack", "", rest)
        elif kind in ("write", "truncate"):
            inode, offset = rest.split()
            yield Effect(kind, files.identity(inode), offset=int(offset), data=data)
        elif kind == "sync":
            yield Effect("sync", files.identity(rest))
        elif kind == "open":
            inode, path = rest.split(" ", 1)
            path = os.path.relpath(path, directory)
            if files.names.get(path) != inode:
                files.names[path] = inode
                yield Effect("link", files.identity(inode), path)
        elif kind != "mkdir":
            yield from _name_effects(files, kind, rest.split("\t"), directory)


def _name_effects(files: "_Files", kind: str, paths: list[str], directory: str) -> Iterator[Effect]:
    old, new = (os.path.relpath(path, directory) for path in (paths[0], paths[-1]))
    inode = files.names.get(old)
    if inode is None:
        return  # there was none
    identity = files.identity(inode)
    if kind != "unlink":
        files.remove(new)
        files.names[new] = inode
    if kind != "link":
        files.remove(old)
    yield Effect(kind, identity, new if kind == "link" else old, new if kind == "rename" else "")


class _Files:
    """Which file has which name now. A file system uses the number of a deleted one again."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # path -> inode
        self._deleted: dict[str, int] = {}  # how often a number became free

    def identity(self, inode: str) -> str:
        return f"{inode}.{self._deleted.get(inode, 0)}"

    def remove(self, path: str) -> None:
        inode = self.names.pop(path, None)
        if inode is not None and inode not in self.names.values():
            self._deleted[inode] = self._deleted.get(inode, 0) + 1


class Disk(NamedTuple):
    """Names and contents after a crash."""

    names: dict[str, str]  # path -> inode
    contents: dict[str, bytearray]

    def apply(self, effect: Effect, part: int | None = None) -> None:
        """`part`: how many bytes of a write arrive."""
        if effect.kind == "write":
            content = self.contents.setdefault(effect.inode, bytearray())
            data = effect.data if part is None else effect.data[:part]
            if len(content) < effect.offset:
                content.extend(bytes(effect.offset - len(content)))
            content[effect.offset : effect.offset + len(data)] = data
        elif effect.kind == "truncate":
            content = self.contents.setdefault(effect.inode, bytearray())
            del content[effect.offset :]
            content.extend(bytes(effect.offset - len(content)))
        elif effect.kind == "link":
            self.names[effect.path] = effect.inode
        elif effect.kind == "unlink":
            self.names.pop(effect.path, None)
        elif effect.kind == "rename":
            self.names.pop(effect.path, None)
            self.names[effect.target] = effect.inode

    def write_to(self, directory: str) -> None:
        for path, inode in self.names.items():
            if path.endswith("-shm") or path == ".":  # SQLite makes its shared memory anew
                continue
            target = os.path.join(directory, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if inode in self.contents or not os.path.isdir(target):
                with open(target, "wb") as file:
                    file.write(self.contents.get(inode, b""))
                os.chmod(target, 0o600)


class CrashState(NamedTuple):
    """A state of the disk, and what was acknowledged before the power went."""

    disk: Disk
    acknowledged: set[str]
    description: str


def crash_states(effects: list[Effect], count: int, seed: int) -> Iterator[CrashState]:
    """States at random moments, with the unsynced effects kept, dropped, torn or reordered."""
    chance = random.Random(seed)
    directories = _directories(effects)
    for number in range(count):
        moment = chance.randrange(1, len(effects) + 1)
        done = effects[:moment]
        pending = _pending(done, directories)
        way = ("none", "all", "some", "torn", "one missing", "one alone")[number % 6]
        kept = _choose(pending, way, chance)
        disk = Disk({}, {})
        for place, effect in enumerate(done):
            if place not in pending or place in kept:
                part = None
                if way == "torn" and place in pending and effect.kind == "write":
                    part = chance.randrange(0, len(effect.data) // SECTOR + 1) * SECTOR
                disk.apply(effect, part)
        acknowledged = {effect.path for effect in done if effect.kind == "ack"}
        yield CrashState(disk, acknowledged, f"after effect {moment}, unsynced: {way}")


def _choose(pending: list[int], way: str, chance: random.Random) -> set[int]:
    if way in ("none", "one alone", "one missing") and not pending:
        return set()
    if way == "none":
        return set()
    if way == "one alone":
        return {chance.choice(pending)}
    if way == "one missing":
        return set(pending) - {chance.choice(pending)}
    if way == "some":
        return {place for place in pending if chance.random() < 0.5}
    return set(pending)


def _directories(effects: list[Effect]) -> dict[str, str]:
    """The inode of each directory that was opened, by its path."""
    parents = {os.path.dirname(effect.path) or "." for effect in effects if effect.kind == "link"}
    return {e.path: e.inode for e in effects if e.kind == "link" and e.path in parents}


def _pending(done: list[Effect], directories: dict[str, str]) -> list[int]:
    """The places of effects that no sync has made safe yet."""
    pending: list[int] = []
    for place, effect in enumerate(done):
        if effect.kind == "sync":
            pending = [p for p in pending if not _is_safe(done[p], effect.inode, directories)]
        elif effect.kind != "ack" and effect.path not in directories:
            pending.append(place)
    return pending


def _is_safe(effect: Effect, synced: str, directories: dict[str, str]) -> bool:
    if effect.kind in ("write", "truncate"):
        return effect.inode == synced
    parent = os.path.dirname(effect.target or effect.path) or "."
    return directories.get(parent) == synced


def check_state(state: CrashState, directory: str) -> list[str]:
    """Recover as the next process would: what is lost or not in order."""
    from fault_processes import age_leftovers, kept_keys, problems_in, write_after

    state.disk.write_to(directory)
    try:
        age_leftovers(directory)
        _date_files(directory)
        kept = kept_keys(directory) if os.path.exists(directory) else set()
        write_after(directory, "the cut")
        problems = problems_in(directory)
    except Exception as problem:
        return [f"{type(problem).__name__}: {problem}"]
    lost = state.acknowledged - kept
    return [*([f"lost {sorted(lost)}"] if lost else []), *problems]


def _date_files(directory: str) -> None:
    """A boot takes its time, and the database was the last to be written: an export that is older
    because its refresh was lost must not look as if someone had put it back."""
    paths = [os.path.join(folder, n) for folder, _, names in os.walk(directory) for n in names]
    newest = 0
    for path in paths:
        os.utime(path, (10**9, 10**9))
        newest = max(newest, os.stat(path).st_ctime_ns)
    for path in paths:
        while "nuggets.db" in path and os.stat(path).st_ctime_ns <= newest:
            os.utime(path, (10**9, 10**9))


def main(shim: str, work: str, count: str = "60", seed: str = "1", program: str = RECORD) -> int:
    """Print how many states are as they must be, and those that are not."""
    import shutil

    effects = record(shim, work, program)
    bad = 0
    for number, state in enumerate(crash_states(effects, int(count), int(seed))):
        directory = os.path.join(work, "state")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory, 0o700)
        problems = check_state(state, directory)
        if problems:
            bad += 1
            print(f"state {number}, {state.description}: {problems}", flush=True)
    print(f"{count} states of {len(effects)} effects, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.path.insert(0, TESTS)
    sys.exit(main(*sys.argv[1:]))
