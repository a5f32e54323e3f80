"""Reads files that others wrote: plain ones only, within bounds, and without following links."""

import os
from collections.abc import Iterator

from nuggets.domain.times import normalize_time
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import open_plain
from nuggets.named_tuple import NamedTuple

LARGEST_FILE = 1 << 28  # bytes: parsed JSON takes about ten times as much memory
MOST_FILES = 100_000  # of a folder; the largest vaults that people report have a tenth of that
DEEPEST_FOLDER = 32  # below the one that was named: paths of 4096 characters end about there
_SKIPPED_FOLDERS = ("node_modules",)  # beside those whose name begins with a dot


class ReadFile(NamedTuple):
    """A file's content, and when it was changed."""

    content: bytes
    changed_at: str

    def text(self, name: str) -> str:
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = self.content.count(b"\n", 0, problem.start) + 1
            raise InvalidInput(f"{name}, line {line}: not valid UTF-8; convert it first") from None


def read_file(path: str, *, follow_link: bool = False) -> ReadFile:
    """The file at a path. `follow_link`: a person named it, so it may be a link."""
    from datetime import UTC, datetime

    no_link = 0 if follow_link else os.O_NOFOLLOW
    try:
        with open(path, "rb", opener=lambda name, flags: open_plain(name, flags | no_link)) as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST_FILE:
                raise InvalidInput(
                    f"{path} is larger than {LARGEST_FILE >> 20} MB; import it in parts"
                )
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a directory of memories or a file") from None
    except OSError as problem:
        raise NuggetsError(f"{path} cannot be read: {problem.strerror}") from problem
    changed = datetime.fromtimestamp(status.st_mtime, UTC)
    return ReadFile(content, normalize_time(changed))


def files_below(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    """The plain files with such a name, relative to the folder, in order; hidden folders, links
    and what is no plain file are passed over, except for the folder of Cursor's rules."""
    count = 0
    for parent, folders, names in os.walk(folder):
        inside = os.path.relpath(parent, folder)
        depth = 0 if inside == "." else inside.count(os.sep) + 1
        folders[:] = sorted(
            name
            for name in folders
            if depth < DEEPEST_FOLDER
            and (name == ".cursor" or not name.startswith("."))
            and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(names):
            path = os.path.join(parent, name)
            if name.lower().endswith(endings) and not os.path.islink(path):
                count += 1
                if count > MOST_FILES:
                    raise InvalidInput(f"{folder} has over {MOST_FILES} files; import its parts")
                yield os.path.relpath(path, folder)
