"""Older copies of a shelf in its own directory: backups, files that were set aside, and temporary
files of writers that died."""

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator

from nuggets.filesystem.atomic_files import is_leftover, open_plain, unwritable
from nuggets.stores.exports.register import documented_files

DAMAGED = ".damaged-"  # then a number: a file that a repair set aside
REPLACED = "replaced-"  # then a number: a shelf that a restore replaced
_OWN_NAMES = ("nuggets.db", "nuggets.lock", "recalls.jsonl", "config.toml", "token")
_SHORTEST = 6  # bytes of a text that is looked for: shorter ones are everywhere
_CHUNK = 1 << 20


def free_name(prefix: str) -> str:
    """The first path of the form `<prefix><number>` that does not exist."""
    number = 1
    while os.path.lexists(f"{prefix}{number}"):
        number += 1
    return f"{prefix}{number}"


def remove_copies(directory: str) -> list[str]:
    """Remove everything that was set aside, since it may hold what is being erased; the paths.

    So do temporary files. Their writers, if any is alive, then fail and begin anew.
    """
    paths = list(_set_aside_paths(directory))
    for path in paths:
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except FileNotFoundError:
            pass  # its writer has just removed it
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return paths


def _set_aside_paths(directory: str) -> Iterator[str]:
    for subfolder in ("", "graph", "backups"):
        folder = os.path.join(directory, subfolder)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            is_copy = DAMAGED in name or name.startswith(REPLACED)
            if is_copy or is_leftover(name):
                yield os.path.join(folder, name)


def files_with_text(directory: str, texts: Iterable[str]) -> list[str]:
    """Files of others in a shelf's directory that hold one of the texts: what editors leave
    (`graph.json~`, `.swp`), and copies that someone made. Our own files are not searched, because
    other memories may say the same."""
    needles = {form for text in texts for form in _written_forms(text) if len(form) >= _SHORTEST}
    ours = {os.path.join(directory, name) for name in documented_files(directory)}
    found = []
    for subfolder in ("", "graph", "backups"):
        folder = os.path.join(directory, subfolder)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            path = os.path.join(folder, name)
            is_ours = path in ours or name.startswith(_OWN_NAMES) or is_leftover(name)
            if is_ours or not os.path.isfile(path):
                continue
            if subfolder != "backups" and _holds(path, needles):
                found.append(path)
    return found


def _written_forms(text: str) -> Iterator[bytes]:
    """The longest line as it stands in a text file, and in JSON of either kind."""
    line = max(text.splitlines(), key=len, default="").strip()
    yield line.encode()
    for ascii_only in (True, False):
        yield json.dumps(line, ensure_ascii=ascii_only)[1:-1].encode()


def _holds(path: str, needles: Collection[bytes]) -> bool:
    """Is one of them in the file? One that cannot be read counts as if it were."""
    longest = max(map(len, needles), default=0)
    rest = b""
    try:
        with open(path, "rb", opener=open_plain) as file:
            while part := file.read(_CHUNK):
                rest = rest[-longest:] + part
                if any(needle in rest for needle in needles):
                    return True
    except OSError:
        return bool(needles)
    return False


def list_backups(directory: str) -> list[str]:
    """The backups that a shelf's own directory holds."""
    folder = os.path.join(directory, "backups")
    names = os.listdir(folder) if directory and os.path.isdir(folder) else []
    paths = (os.path.join(folder, name) for name in names)
    return sorted(path for path in paths if not os.path.isdir(path))  # of `connect`: no memories
