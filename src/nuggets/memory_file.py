"""A MEMORY.md that someone else edits too: where it is, and how to change it without losing a save.

Knows text and paths; what is written there is the promotion's matter.
"""

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from nuggets.errors import NotFound, StoreBusy, StoreError
from nuggets.files import private_directory, sync, sync_directory, unwritable, write_all
from nuggets.project import root_of

T = TypeVar("T")
ATTEMPTS = 5  # a person does not save five times within a few milliseconds


def located(told: str, project: str) -> str:
    """The file as told, else the host's memory of the repository; `NotFound` without either."""
    if told:
        return os.path.abspath(os.path.expanduser(told))
    path = of_host(project)
    if path and os.path.isdir(os.path.dirname(os.path.dirname(path))):
        return path
    raise NotFound(
        "no memory file is known for this place; give its path (`nuggets promote --path`), set "
        "NUGGETS_MEMORY_FILE, or work in a repository that your agent has been used in"
    )


def of_host(project: str) -> str:
    """Where the host keeps its memory of a repository, if it ever saw it; "" for a mere name."""
    root = root_of(project)
    if not root:
        return ""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in root)
    return os.path.join(os.path.expanduser("~/.claude/projects"), name, "memory", "MEMORY.md")


def read(path: str) -> str:
    """All of it, byte for byte decodable again; "" if it is not there."""
    return _read(_target(path))[0]


def rewrite(path: str, decide: Callable[[str], tuple[str, T]]) -> T:
    """Replace the text by what `decide` makes of it; again if someone saves in between."""
    target = _target(path)
    sweep(path)
    for _ in range(ATTEMPTS):
        text, raw = _read(target)
        after, result = decide(text)
        if after == text:
            return result
        if _replace(target, raw, after.encode()):
            return result
    raise StoreBusy(f"{path} keeps changing; nothing was written to it. Try again later")


def sweep(path: str) -> None:
    """Take away what writers left beside the file that did not live to finish."""
    directory, name = os.path.split(os.path.realpath(path))
    try:
        beside = os.listdir(directory)
    except OSError:  # nothing can have been left there, or nothing can be taken away
        return
    for other in beside:
        writer = _writer_of(other, name)
        if writer is not None and not _is_another_alive(writer):
            with suppress(OSError):  # the next one tries again
                os.unlink(os.path.join(directory, other))


def _target(path: str) -> str:
    """The file behind a link. Only a Markdown file: anything else is not meant to be written."""
    target = os.path.realpath(path)
    if os.path.islink(path) and not target.endswith(".md"):
        raise StoreError(f"{path} leads to {target}, which is no Markdown file; left as it is")
    if os.path.isdir(target):
        raise StoreError(f"{path} is a directory; name a file, such as {path}/MEMORY.md")
    return target


def _read(target: str) -> tuple[str, bytes | None]:
    try:
        raw = _bytes(target)
    except FileNotFoundError:
        return "", None
    except OSError as problem:
        raise StoreError(f"{target} cannot be read: {problem.strerror}") from problem
    try:
        return raw.decode(), raw
    except UnicodeDecodeError:
        raise StoreError(f"{target} is not UTF-8; it was left as it is. Convert it first") from None


def _replace(target: str, seen: bytes | None, content: bytes) -> bool:
    """Put the new text in place; False if the old one was no longer what had been read."""
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        private_directory(directory)
    temporary = _temporary(target, os.getpid())
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode) if seen is not None else 0o600
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            os.fchmod(descriptor, mode)
            write_all(descriptor, content)
            sync(descriptor)
        finally:
            os.close(descriptor)
        if seen is None:
            return _placed_first(temporary, target)
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "it is read-only", target)
        return _exchanged(temporary, target, seen, content)
    except OSError as problem:
        raise unwritable(target, problem) from problem
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        with suppress(OSError):
            sync_directory(directory)


def _temporary(target: str, writer: int) -> str:
    return f"{target}.{writer:x}.tmp"


def _writer_of(name: str, target: str) -> int | None:
    """The process that made this temporary file of the target; None if it is none."""
    with suppress(ValueError):
        writer = int(name.removeprefix(f"{target}.").removesuffix(".tmp"), 16)
        if name == _temporary(target, writer):
            return writer
    return None


def _is_another_alive(process: int) -> bool:
    """Whether it may still be writing; of ourselves nothing is under way when this is asked."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)  # asks, and does no harm
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _placed_first(temporary: str, target: str) -> bool:
    """A new file, unless someone made it meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    return True


def _exchanged(temporary: str, target: str, seen: bytes, content: bytes) -> bool:
    """Swap the two and look at what came out: if it is not what we read, someone saved it, and it
    goes back; again, if they saved once more before it was there."""
    if not _swap(temporary, target):
        if _read(target)[1] != seen:
            return False
        os.replace(temporary, target)
        return True
    inside, expected = content, seen
    while (out := _bytes(temporary)) != expected:
        inside, expected = out, inside
        if not _swap(temporary, target):  # they took it away: that is their last word
            return False
    return inside is content


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _swap(one: str, other: str) -> bool:
    """Exchange two files in one step; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(swap(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
