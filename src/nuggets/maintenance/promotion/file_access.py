"""Locates, reads and rewrites a MEMORY.md that people edit too, or our block in a file of theirs,
without losing their saves.

Knows text and paths; `sections` decides what is written.
"""

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from nuggets.domain.marks import BLOCK_BEGIN, BLOCK_END, is_block_file
from nuggets.errors import NotFound, StoreBusy, StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    remove_leftovers,
    sync_directory,
    unwritable,
    write_beside,
)
from nuggets.filesystem.current_project import name_of, root_of
from nuggets.filesystem.shelf_location import MEMORY_DIRECTORY
from nuggets.maintenance.promotion.entries import line_hash

T = TypeVar("T")
NAME_CHARACTERS = 60  # of at most 4 bytes: file systems allow 255
ATTEMPTS = 5  # a person does not save five times within a few milliseconds


def locate(configured: str, location: str, own: str) -> str:
    """The configured file, else the host's memory file of the repository if the host knows that,
    else the shelf's `own`, which a shelf in memory lacks ("")."""
    if configured:
        return os.path.abspath(os.path.expanduser(configured))
    path = host_path(location)
    if path and os.path.isdir(os.path.dirname(os.path.dirname(path))):
        return path
    if own:
        return own
    raise NotFound(
        "this shelf has no directory for a memory file; give its path (`nuggets promote --path`), "
        "or set NUGGETS_MEMORY_FILE"
    )


def shelf_path(directory: str, project: str) -> str:
    """Where a shelf keeps the memory file of a project itself, by the name of the project and a
    hash of its id, which is often a path; "" if the shelf has no directory."""
    if not directory:
        return ""
    letters = (c if c.isalnum() or c in "-_" else "-" for c in name_of(project)[:NAME_CHARACTERS])
    folder = f"{''.join(letters)}-{line_hash(project)[:8]}" if project else ""
    return os.path.join(directory, MEMORY_DIRECTORY, folder, "MEMORY.md")


def host_path(location: str) -> str:
    """Where the host keeps the memory file of a repository; "" if the location is not a path."""
    root = root_of(location)
    if not root:
        return ""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in root)
    return os.path.join(os.path.expanduser("~/.claude/projects"), name, "memory", "MEMORY.md")


def read(path: str) -> str:
    """The text of the file; "" if it does not exist. Of a file with a block, what is inside."""
    text = _read(_target(path))[0]
    return block_text(text) if is_block_file(path) else text


def rewrite(path: str, decide: Callable[[str], tuple[str, T]]) -> T:
    """Replace the text by the result of `decide`; repeat if someone saves the file meanwhile."""
    target = _target(path)
    remove_leftovers(target)
    for _ in range(ATTEMPTS):
        whole, raw = _read(target)
        text = block_text(whole) if is_block_file(path) else whole
        after, result = decide(text)
        if after == text:
            return result
        changed = replace_block(whole, after) if is_block_file(path) else after
        if _replace(target, raw, changed.encode()):
            return result
    raise StoreBusy(f"{path} keeps changing; nothing was written to it. Try again later")


def _target(path: str) -> str:
    """The target of a symbolic link, which must be a Markdown file."""
    target = os.path.realpath(path)
    if os.path.islink(path) and not target.endswith(".md"):
        raise StoreError(f"{path} leads to {target}, which is no Markdown file; left as it is")
    folder = os.path.join(os.path.realpath(os.path.dirname(path)), "")
    if is_block_file(path) and not target.startswith(folder):  # a repository may come from anybody
        raise StoreError(f"{path} leads to {target}, outside of its folder; left as it is")
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


def _replace(target: str, expected: bytes | None, content: bytes) -> bool:
    """Replace the content; False if the file no longer has the expected content."""
    directory, temporary = os.path.dirname(target), ""
    private_directory(directory)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode) if expected is not None else 0o600
        temporary = write_beside(target, [content], durable=True, mode=mode)
        if expected is None:
            os.link(temporary, target)
            return True
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "it is read-only", target)
        return _exchange(temporary, target, expected, content)
    except FileExistsError:  # someone created it meanwhile
        return False
    except OSError as problem:
        raise unwritable(target, problem) from problem
    finally:
        with suppress(OSError):  # there is none, or nothing can be written here
            os.unlink(temporary)
        with suppress(OSError):
            sync_directory(directory)


def _exchange(temporary: str, target: str, old: bytes, content: bytes) -> bool:
    """Swap the two files and compare the old content. If it is not what was read, someone saved it
    meanwhile: swap again, repeatedly if they save again. False if their content stays."""
    if not _swap(temporary, target):
        if _read(target)[1] != old:
            return False
        os.replace(temporary, target)
        return True
    in_place, swapped_out = content, old
    while (out := _bytes(temporary)) != swapped_out:
        in_place, swapped_out = out, in_place
        if not _swap(temporary, target):  # someone deleted the file meanwhile
            return False
    return in_place is content


def _bytes(path: str) -> bytes:
    with open(path, "rb", opener=open_plain) as file:
        return file.read()


def _swap(path: str, other_path: str) -> bool:
    """Exchange two files atomically; False if the system does not support it."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    at_cwd, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(swap(at_cwd, os.fsencode(path), at_cwd, os.fsencode(other_path), exchange) == 0)


# --- the block of Nuggets in a file of instructions that agents read: AGENTS.md, GEMINI.md ------
#
# Such a file belongs to the people of a repository. What is outside of the block is never changed;
# what is inside is treated like a whole memory file.


def block_text(text: str) -> str:
    """What is inside of the block; "" if there is none."""
    parts = _split(text)
    return parts[1] if parts else ""


def replace_block(text: str, inside: str) -> str:
    """The text with another inside of the block, which is appended if there is none. Without
    anything inside, the block goes, and the text is as it was before the block came."""
    newline = "\r\n" if "\r\n" in text else "\n"
    parts = _split(text)
    if not inside.strip():
        if parts is None:
            return text
        before, _, after = parts
        return before + after if after else before.removesuffix(newline)
    body = inside.replace("\r\n", "\n").replace("\n", newline).removesuffix(newline)
    block = newline.join((BLOCK_BEGIN, body, BLOCK_END, ""))
    if parts is None:
        return f"{text}{newline if text else ''}{block}"
    return f"{parts[0]}{block}{parts[2]}"


def _split(text: str) -> tuple[str, str, str] | None:
    """The text before, inside and after the block; None if there is no block."""
    if BLOCK_BEGIN not in text and BLOCK_END not in text:
        return None
    before, _, rest = text.partition(BLOCK_BEGIN)
    inside, end, after = rest.partition(BLOCK_END)
    if not end or BLOCK_BEGIN in rest or BLOCK_END in before + after:
        raise StoreError(
            f"the marks of the block of Nuggets ({BLOCK_BEGIN!r}, {BLOCK_END!r}) are not one pair; "
            "repair or delete them. Nothing was written"
        )
    return before, _without_first_newline(inside), _without_first_newline(after)


def _without_first_newline(text: str) -> str:
    return text.removeprefix("\r\n") if text.startswith("\r\n") else text.removeprefix("\n")
