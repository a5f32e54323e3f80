"""The memories that a repository carries: one file each in `.nuggets/memories` of a checkout.

Anyone may have written them (`untrusted_folder`); what cannot be read is reported and left alone.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nuggets.filesystem.atomic_files import unwritable
from nuggets.filesystem.current_project import SHARED_FOLDER
from nuggets.filesystem.untrusted_folder import (
    open_below,
    open_folder,
    read_plain,
    remove_plain,
    replace_plain,
    sweep,
)
from nuggets.named_tuple import NamedTuple

SUFFIX = ".json"
# Anyone may have put files there; what is beyond these is reported and left alone.
MOST_FILES = 5000
MOST_BYTES = 256 * 1024  # of one file, a note with all its fields


class SharedFiles(NamedTuple):
    """The texts by the name of their file, without suffix, and what could not be read."""

    texts: Mapping[str, bytes]
    problems: tuple[str, ...]


def shared_fingerprint(root: str) -> str:
    """Changes when a file is added, removed or written; "" if there is no folder."""
    import hashlib

    try:
        with _folder(root, create=False) as folder:
            entries = []
            for name in sorted(os.listdir(folder))[:MOST_FILES]:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                entries.append(f"{name}\0{status.st_size}\0{status.st_mtime_ns}")
    except OSError:
        return ""
    text = "\n".join(entries).encode(errors="surrogateescape")
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()


def read_shared_files(root: str) -> SharedFiles:
    """All memories of the checkout."""
    texts: dict[str, bytes] = {}
    problems = []
    try:
        with _folder(root, create=False) as folder:
            names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
            for name in names[:MOST_FILES]:
                try:
                    texts[name.removesuffix(SUFFIX)] = read_plain(folder, name, MOST_BYTES)
                except (OSError, ValueError) as problem:
                    problems.append(f"{name!r:.80}: {problem}")
            if len(names) > MOST_FILES:
                problems.append(f"only the first {MOST_FILES} files were read")
    except FileNotFoundError:
        pass
    except OSError as problem:
        problems.append(f"{SHARED_FOLDER} cannot be read: {problem.strerror}")
    return SharedFiles(texts, tuple(problems))


def write_shared_files(root: str, texts: Mapping[str, str], removed: list[str]) -> None:
    """Write some memories and remove others; each file is replaced as a whole."""
    try:
        with _folder(root, create=True) as folder:
            sweep(folder)
            for name, text in texts.items():
                replace_plain(folder, name + SUFFIX, text.encode(), 0o644, durable=False)
            for name in removed:
                remove_plain(folder, name + SUFFIX)
    except OSError as problem:
        raise unwritable(os.path.join(root, SHARED_FOLDER), problem) from problem


@contextmanager
def _folder(root: str, *, create: bool) -> Iterator[int]:
    with (
        open_folder(root) as checkout,
        open_below(checkout, SHARED_FOLDER, create=create) as folder,
    ):
        yield folder
