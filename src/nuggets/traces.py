"""Small files beside the shelf that agents leave: a log, missed deadlines, conversations.

    <shelf's directory>/hooks/
      log, missed          what went wrong, never with the texts that were handled
      hosts/<process>      which conversation a host's process is in
      sessions/<id>        a conversation's diary: its last prompts, and what it was shown
      inbox                files that tools touched, on their way into memory

Knows no memory. Everything here may be lost without harm, so nothing here may fail its caller.
"""

import os
from contextlib import suppress

from nuggets.errors import SettingsError
from nuggets.place import directory_of

LOG_BYTES = 256 * 1024  # then the log begins anew, with one older one kept
MISSES_BYTES = 64 * 1024  # far more than anyone needs to see that something is wrong
SESSION_SECONDS = 2 * 86400  # a conversation that was silent for two days is over
MISS_SECONDS = 7 * 86400  # who was in time for a week is no longer late
SHELLS = ("sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh")


def place(url: str, *parts: str) -> str:
    """A path in the hooks' corner of a shelf; "" if it has no directory."""
    try:
        known = directory_of(url)
    except (SettingsError, OSError):  # said where the shelf is opened
        return ""
    return os.path.join(known, "hooks", *parts) if known else ""


def append(path: str, text: str) -> None:
    """One line more, for its owner only; none if it cannot be written."""
    with suppress(OSError):
        _make(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, text.encode(errors="replace"))
        finally:
            os.close(descriptor)


def _make(folder: str) -> None:
    """The folder and all that is missing above it, for its owner only."""
    if folder and not os.path.isdir(folder):  # "": above a bare name, or no path at all
        _make(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def size(path: str) -> int:
    """In bytes; 0 for what is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def log_problem(directory: str, what: str, problem: BaseException) -> None:
    """Where it happened and what kind it was; never the texts that were being handled."""
    log(directory, f"{what}: {type(problem).__name__} {_where(problem)}")


def log(directory: str, text: str) -> None:
    """One line more in the log, with its time."""
    from nuggets import times

    path = place(directory, "log")
    if size(path) > LOG_BYTES:
        with suppress(OSError):
            os.replace(path, f"{path}.1")
    append(path, f"{times.now()} {text}\n")


def _where(problem: BaseException) -> str:
    trace = problem.__traceback__
    steps = []
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    said = " ".join(str(problem).split())[:200] if isinstance(problem, OSError) else ""
    return " ".join(filter(None, [said, "in", " > ".join(steps[-4:])]))


def count_miss(directory: str, event: str) -> None:
    """A hook ran out of time."""
    from nuggets import times

    path = place(directory, "missed")
    if size(path) <= MISSES_BYTES:
        append(path, f"{times.now()} {event[:40]}\n")


def missed_deadlines(directory: str) -> int:
    """How often a hook ran out of time."""
    try:
        with open(place(directory, "missed"), "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def host_processes() -> list[int]:
    """Who called this process, and through which shell: some wait for what they start."""
    parent = os.getppid()
    with suppress(OSError, ValueError):  # no such file on this system: its shells do not wait
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(") ")
        if name in SHELLS:
            return [parent, int(rest.split()[1])]
    return [parent]


def note_session(directory: str, host_process: int, session: str) -> None:
    """Which conversation a host's process is in, so that its MCP server counts it as the same."""
    if not session or noted_session(directory, host_process) == session:
        return
    path = place(directory, "hosts", str(host_process))
    new = path and f"{path}.{os.urandom(4).hex()}"  # of this hook: others may note it as well
    append(new, session)
    with suppress(OSError):
        os.replace(new, path)
    with suppress(OSError):
        os.unlink(new)


def noted_session(directory: str, host_process: int) -> str:
    """The conversation that a hook noted for this process; "" if none, or an old one."""
    import time

    path = place(directory, "hosts", str(host_process))
    try:
        if time.time() - os.stat(path).st_mtime > SESSION_SECONDS:
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def drop_diaries(directory: str) -> list[str]:
    """Take away what conversations said and which files wait to be noted: one of them may be what
    is being purged, and would come back.

    Where it was; unlike all else here this fails if it cannot. A conversation that goes on only
    forgets what it was shown.
    """
    gone = []
    for folder, beginning in ((place(directory, "sessions"), ""), (place(directory), "inbox")):
        with suppress(FileNotFoundError):  # there were no conversations
            for name in sorted(os.listdir(folder)):
                if not name.startswith(beginning):
                    continue
                path = os.path.join(folder, name)
                with suppress(FileNotFoundError):  # swept away by someone else
                    os.unlink(path)
                gone.append(path)
    return gone


def sweep(directory: str) -> None:
    """Take away what ended conversations left, and misses that are long ago."""
    _sweep(place(directory, "missed"), MISS_SECONDS)
    for corner in ("hosts", "sessions"):
        folder = place(directory, corner)
        with suppress(OSError):
            for name in os.listdir(folder):
                _sweep(os.path.join(folder, name), SESSION_SECONDS)


def _sweep(path: str, most_seconds: int) -> None:
    import time

    with suppress(OSError):
        if os.stat(path).st_mtime < time.time() - most_seconds:
            os.unlink(path)
