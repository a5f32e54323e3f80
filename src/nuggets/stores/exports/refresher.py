"""The refresher: a process that writes the documented files of a shelf once nobody has written for
a moment, and then ends. It outlives the command that started it, and may be killed at any time.

A shelf has at most one, which holds a lock file. No request is lost: whoever commits tries that
lock and starts a refresher if it is free; a refresher lets it go first, and looks once more whether
anyone has committed after so long a time that nobody tries twice in it.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial

from nuggets.errors import StoreError
from nuggets.filesystem.processes import NEUTRAL_FOLDER, isolated_command
from nuggets.stores.exports.register import documented_files, is_incomplete, read_registers
from nuggets.stores.process_lock import hold_shelf_lock, open_lock_file
from nuggets.stores.sqlite.database import Database

DATABASE = "nuggets.db"

MOST_NOTES = 20_000  # a larger shelf is left to the daily pass: this many take a second or two
QUIET_SECONDS = 0.1  # without a commit: most writers write several times in a row
LONGEST_SECONDS = 5.0  # that files may lag behind writers who never pause
_LOCK = os.path.join("graph", "refresher.lock")

# It ends at once if the shelf was removed meanwhile.
_PROGRAM = f"""
import os, sys
root, directory, lock = sys.argv[1:]
if os.path.exists(os.path.join(directory, "{DATABASE}")):
    os.chdir("{NEUTRAL_FOLDER}")
    sys.path.insert(0, root)
    from nuggets.stores.exports.refresher import run
    run(directory, int(lock))
"""
_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))

_started: dict[int, str] = {}  # by process id: the directories of those that this process started
_seen: dict[str, float] = {}  # by directory: when one was at work


def start(directory: str, is_wanted: Callable[[], bool]) -> None:
    """Start the refresher of a shelf, unless one is at work; `is_wanted` is asked only then."""
    now = time.monotonic()
    if now - _seen.get(directory, -QUIET_SECONDS) < QUIET_SECONDS:
        return
    _forget_ended()
    program = os.path.basename(sys.executable or "")
    if not program.startswith(("python", "pypy")):  # embedded in another program
        return
    with suppress(OSError, StoreError):
        descriptor = _try_lock(directory)
        if descriptor is None:
            _seen[directory] = now
            return
        try:
            if is_wanted():
                _started[_spawn(os.path.abspath(directory), descriptor)] = directory
                _seen[directory] = now
        finally:
            os.close(descriptor)  # the new process has its own, and the lock with it


def _try_lock(directory: str) -> int | None:
    """Lock the file of the refresher; None if another process has locked it."""
    descriptor = open_lock_file(os.path.join(directory, _LOCK))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _spawn(directory: str, lock: int) -> int:
    inherited = 3 if lock != 3 else 4  # another number, or it would be closed
    null = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    dup = os.POSIX_SPAWN_DUP2
    actions = [null, (dup, 0, 1), (dup, 0, 2), (dup, lock, inherited)]
    command = isolated_command(_PROGRAM, _ROOT, directory, str(inherited))
    spawn = partial(os.posix_spawn, command[0], command, os.environ, file_actions=actions)
    try:
        return spawn(setsid=True)  # so that it outlives the terminal or the host
    except NotImplementedError:  # as on macOS
        return spawn(setpgroup=0)


def stop(directory: str) -> None:
    """End the refresher, if this process started it: the caller writes the files."""
    _seen.pop(directory, None)
    _forget_ended()
    for process in [process for process, of in _started.items() if of == directory]:
        del _started[process]
        with suppress(ChildProcessError, ProcessLookupError):
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _forget_ended() -> None:
    """Until then they are zombies."""
    for process in list(_started):
        with suppress(ChildProcessError):
            if not os.waitpid(process, os.WNOHANG)[0]:
                continue
        del _started[process]


# --- in its own process -----------------------------------------------------------------------


def run(directory: str, lock: int) -> None:
    """Write the files until they are current. `lock`: the descriptor of the lock file."""
    import gc

    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # removes what is unfinished
    os.nice(5)  # whoever waits for an answer goes first
    gc.disable()  # nothing here is circular, and there are many objects
    with suppress(OSError, StoreError):  # whoever opens the shelf next starts another one
        database = Database(os.path.join(directory, DATABASE))
        try:
            while True:
                shown = _write_when_quiet(database, directory)
                fcntl.flock(lock, fcntl.LOCK_UN)
                time.sleep(QUIET_SECONDS)
                if _last_change(database) == shown:
                    return
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if another is at work
        finally:
            if os.path.exists(database.path):
                with hold_shelf_lock(directory):
                    database.close()  # the last connection moves the log into the database


def _write_when_quiet(database: Database, directory: str) -> int:
    """Write the files when nobody has written for a moment; the last change that they show."""
    from nuggets.stores.exports.write import refresh  # whoever starts a refresher needs it not

    deadline, change = time.monotonic() + LONGEST_SECONDS, _last_change(database)
    while time.monotonic() < deadline:
        time.sleep(QUIET_SECONDS)
        before, change = change, _last_change(database)
        if change == before:
            break
    registers = read_registers(database)
    if registers.has_unexported or is_incomplete(documented_files(directory), registers.exports):
        with closing(Database(database.path)) as reader:
            refresh(reader, partial(hold_shelf_lock, directory))
    return change


def _last_change(database: Database) -> int:
    """The last revision that is more than recalls."""
    sql = "SELECT revision FROM commits WHERE action <> 'recall' ORDER BY revision DESC LIMIT 1"
    row = database.execute(sql).fetchone()
    return 0 if row is None else int(row[0])
