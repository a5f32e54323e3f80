"""Small files of hooks in a shelf's directory: a log, missed deadlines, conversations.

    <shelf's directory>/hooks/
      log, missed          what went wrong, never with the texts that were handled
      hosts/<process>      which conversation a host's process is in
      sessions/<id>        a conversation's diary: its last prompts, and what it was shown
      inbox                files that tools touched, on their way into memory
      inbox-order-<time>   what a person ordered memory to do, until it is done
      repositories/<hash>  the first commit of a repository, so that git is asked once
      purged               when a memory was last erased: no older transcript is read again

Knows no memory. Losing these files does no harm, so a function here fails only if it says so.
"""

import os
from contextlib import suppress

from nuggets.errors import SettingsError, StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    read_beginning,
    read_if_plain,
    write_private_file,
)
from nuggets.filesystem.shelf_location import directory_of

LOG_BYTES = 256 * 1024  # then the log begins anew, with one older one kept
MISSES_BYTES = 64 * 1024  # far more than anyone needs to see that something is wrong
SESSION_SECONDS = 2 * 86400  # a conversation that was silent for two days is over
MISS_SECONDS = 7 * 86400  # who was in time for a week is no longer late
ASKED_SECONDS = 30 * 86400  # then git is asked again
ORDER_PREFIX = "inbox-order-"
SHELLS = ("sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh")


def hook_path(url: str, *parts: str) -> str:
    """A path in the `hooks` directory of a shelf; "" if the shelf has no directory."""
    try:
        directory = directory_of(url)
    except (SettingsError, OSError):  # opening the shelf reports this
        return ""
    return os.path.join(directory, "hooks", *parts) if directory else ""


def append(path: str, text: str) -> None:
    """Append a line to a file that only its owner can read."""
    with suppress(OSError, StoreError):
        private_directory(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = open_plain(path, flags)
        try:
            os.write(descriptor, text.encode(errors="replace"))
        finally:
            os.close(descriptor)


def file_size(path: str) -> int:
    """Its size in bytes; 0 if there is no such file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def waiting_order_paths(directory: str) -> list[str]:
    """The orders that wait for memory, oldest first."""
    folder = hook_path(directory)
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(ORDER_PREFIX))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def log_problem(directory: str, what: str, problem: BaseException) -> None:
    """Log where an error happened and its type, but never the texts that were handled."""
    log(directory, f"{what}: {type(problem).__name__} {_describe_location(problem)}")


def log(directory: str, text: str) -> None:
    """Append a line to the log, with the time."""
    from nuggets.domain import times

    path = hook_path(directory, "log")
    if file_size(path) > LOG_BYTES:
        with suppress(OSError):
            os.replace(path, f"{path}.1")
    append(path, f"{times.now()} {text}\n")


def _describe_location(problem: BaseException) -> str:
    trace = problem.__traceback__
    steps = []
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    message = " ".join(str(problem).split())[:200] if isinstance(problem, OSError) else ""
    return " ".join(filter(None, [message, "in", " > ".join(steps[-4:])]))


def count_miss(directory: str, event: str) -> None:
    """Record that a hook ran out of time."""
    from nuggets.domain import times

    path = hook_path(directory, "missed")
    if file_size(path) <= MISSES_BYTES:
        append(path, f"{times.now()} {event[:40]}\n")


def missed_deadlines(directory: str) -> int:
    """How often a hook ran out of time."""
    return read_if_plain(hook_path(directory, "missed")).count(b"\n")


def host_processes() -> list[int]:
    """The process that called this one, and its parent if it is a shell: some shells wait."""
    parent = os.getppid()
    with suppress(OSError, ValueError):  # this system has no such file, and its shells do not wait
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(") ")
        if name in SHELLS:
            return [parent, int(rest.split()[1])]
    return [parent]


def record_session(directory: str, host_process: int, session: str) -> None:
    """Record the conversation of a host's process; its MCP server then counts the same session."""
    if not session or recorded_session(directory, host_process) == session:
        return
    path = hook_path(directory, "hosts", str(host_process))
    with suppress(OSError, StoreError):
        write_private_file(path, session.encode(errors="replace"), durable=False)


def recorded_session(directory: str, host_process: int) -> str:
    """The conversation that a hook recorded for this process; "" if there is no recent one."""
    import time

    path = hook_path(directory, "hosts", str(host_process))
    try:
        if time.time() - os.stat(path).st_mtime > SESSION_SECONDS:
            return ""
    except OSError:
        return ""
    return read_if_plain(path).decode(errors="replace")


def diaries(directory: str) -> list[str]:
    """The paths of the diaries of conversations and of the inbox."""
    found: list[str] = []
    for folder, prefix in ((hook_path(directory, "sessions"), ""), (hook_path(directory), "inbox")):
        with suppress(FileNotFoundError):  # there were no conversations
            names = sorted(name for name in os.listdir(folder) if name.startswith(prefix))
            found += (os.path.join(folder, name) for name in names)
    return found


def drop_diaries(directory: str) -> list[str]:
    """Delete the diaries of conversations and the inbox, which may hold what is being purged.

    Returns the paths, and fails if one cannot be deleted. A conversation that goes on only forgets
    what it was shown.
    """
    from nuggets.domain import times

    deleted = diaries(directory)
    for path in deleted:
        with suppress(FileNotFoundError):  # another process has swept it
            os.unlink(path)
    path = hook_path(directory, "purged")
    if os.path.isdir(os.path.dirname(path)):  # else no hook has ever run
        with suppress(FileNotFoundError):
            os.unlink(path)
        append(path, times.now())
    return deleted


def purge_time(directory: str) -> str:
    """When a memory was last erased; "" if none ever was."""
    return read_beginning(hook_path(directory, "purged"), 40)


def sweep(directory: str) -> None:
    """Delete the files of ended conversations and old misses."""
    _delete_if_older(hook_path(directory, "missed"), MISS_SECONDS)
    ages = {"hosts": SESSION_SECONDS, "sessions": SESSION_SECONDS, "repositories": ASKED_SECONDS}
    for subfolder, seconds in ages.items():
        folder = hook_path(directory, subfolder)
        with suppress(OSError):
            for name in os.listdir(folder):
                _delete_if_older(os.path.join(folder, name), seconds)


def _delete_if_older(path: str, most_seconds: int) -> None:
    import time

    with suppress(OSError):
        if os.stat(path).st_mtime < time.time() - most_seconds:
            os.unlink(path)
