"""Which form a path has, by what is in it: a shelf of ours, or what an importer reads."""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import BinaryIO

from nuggets.errors import InvalidInput, NotFound, NuggetsError, StoreBusy, StoreError
from nuggets.filesystem.atomic_files import open_plain, write_all
from nuggets.interfaces.hooks.transcript_reader import host_by_entries
from nuggets.interfaces.importers import (
    DATABASE_BEGIN,
    KNOWN,
    ReadFile,
    Records,
    parse_json,
    read_file,
)
from nuggets.interfaces.importers.discovery import transcripts_below
from nuggets.interfaces.importers.markdown_files import (
    is_instruction_file,
    read_folder,
    read_instructions,
    read_markdown,
)
from nuggets.interfaces.importers.past_sessions import (
    ZIP_BEGIN,
    archive_files,
    read_transcripts,
    unpacked_files,
)
from nuggets.interfaces.importers.program_databases import read_database
from nuggets.interfaces.importers.record_files import read_json, read_rows
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports.register import documented_files
from nuggets.stores.sqlite.database import APPLICATION

_HEAD = 5  # lines of a transcript by which it is known: the first ones may be of any kind


def read_path(path: str, found: Records) -> None:
    """Add what a path holds that is no shelf."""
    before = _count(found)
    if os.path.isdir(path):
        _read_directory(path, found)
    else:
        _read_content(path, read_file(path, follow_link=True), found)
    if _count(found) == before:
        raise NotFound(f"{path} contains no shelf and no memories; name {KNOWN}")


def _count(found: Records) -> int:
    sessions = found.idle_sessions + found.old_sessions
    return len(found.notes) + len(found.problems) + sessions


def _read_directory(path: str, found: Records) -> None:
    """A folder of Markdown, one of transcripts, one that an export was unpacked to, or one of the
    TypeScript program."""
    sessions = transcripts_below(path)
    files = unpacked_files(path) or fact_files(path)
    if sessions:
        found.form = "transcripts of sessions"
        read_transcripts(sessions, found)
    elif not files:
        read_folder(path, found)
    for name in () if sessions else files:
        try:
            _read_file_of_records(read_file(os.path.join(path, name)), name, found)
        except NuggetsError as problem:
            found.problems.append(str(problem))


def _read_file_of_records(file: ReadFile, name: str, found: Records) -> None:
    """JSON, or an archive of such files, of which each is read for itself."""
    if not file.content.startswith(ZIP_BEGIN):
        read_json(file.text(name), name, file.changed_at, found)
        return
    for place, member in archive_files(file, name, found):
        try:
            read_json(member.text(place), place, member.changed_at, found)
        except NuggetsError as problem:
            found.problems.append(str(problem))


def _read_content(path: str, file: ReadFile, found: Records) -> None:
    name, at = os.path.basename(path), file.changed_at
    if file.content.startswith(DATABASE_BEGIN):
        read_database(path, at, found)
        return
    if file.content.startswith(ZIP_BEGIN):
        _read_file_of_records(file, name, found)
        return
    text = file.text(name)
    if is_instruction_file(name):
        found.form = "instructions for agents"
        read_instructions(text, name, at, found)
    elif name.lower().endswith((".md", ".markdown")):
        read_markdown(file, name, found)
    elif _is_transcript(text):
        found.form = "a transcript of a session"
        read_transcripts([path], found)
    elif text.lstrip()[:1] in ("{", "["):
        read_json(text, name, at, found)
    elif text.strip():
        read_rows(text, name, at, found)


def _is_transcript(text: str) -> bool:
    if not text.startswith("{"):
        return False
    if text[:2] in ("{\n", "{\r"):  # one object: of Gemini CLI
        return '"sessionId"' in text[:1000] and '"messages"' in text
    entries = map(parse_json, text.split("\n", _HEAD)[:_HEAD])
    return bool(host_by_entries(entry for entry in entries if isinstance(entry, dict)))


# --- a shelf of ours, or a backup -----------------------------------------------------------------
#
# Read from a copy, because it may be in use, or on a read-only medium.


_CHUNK = 1 << 20  # bytes copied at a time
_ATTEMPTS = 5  # at copying a shelf that is in use: a commit takes a fraction of a copy
_OWNER = slice(68, 72)  # where the header of an SQLite file says whose database it is


@contextmanager
def open_copy(source: str, project: str) -> Iterator[NuggetShelf]:
    """The shelf of a directory or of a backup, in a temporary place."""
    with TemporaryDirectory(prefix="nuggets-import-") as temporary:
        copy = os.path.join(temporary, "shelf")
        try:
            if os.path.isdir(source):
                _copy_shelf(source, copy)
                _refuse_damaged(copy)
            with NuggetShelf(copy, project=project, short_lived=True) as shelf:
                if not os.path.isdir(source):
                    shelf.restore(source)
                yield shelf
        except StoreError as problem:
            message = str(problem).replace(copy, source)
            raise StoreError(f"{message} (with --dir {source})") from problem


def is_shelf(path: str) -> bool:
    """Is it the directory of a shelf?"""
    return os.path.isdir(path) and (
        os.path.exists(os.path.join(path, "nuggets.db"))
        or os.path.exists(os.path.join(path, "graph", "graph.json"))
    )


def fact_files(folder: str) -> list[str]:
    """The files of nuggets in a folder; without a shelf the TypeScript program wrote them."""
    return sorted(name for name in os.listdir(folder) if name.endswith(".nugget.json"))


def is_backup(path: str) -> bool:
    """Is it a database of ours, such as `nuggets backup` makes?"""
    try:
        with open(path, "rb", opener=open_plain) as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(DATABASE_BEGIN) and head[_OWNER] == APPLICATION.to_bytes(4, "big")


def _refuse_damaged(copy: str) -> None:
    """Raise an error if the database of the copy has what cannot be read; what can be read of a
    note is checked when it comes in."""
    from nuggets.stores.doctor.database_defects import NOTES, check_records
    from nuggets.stores.sqlite.database import reading_file

    path = os.path.join(copy, "nuggets.db")
    if os.path.exists(path):
        with reading_file(path) as database:
            check_records(database, NOTES, in_place=False)


def _copy_shelf(source: str, copy: str) -> None:
    """Copy again if the database changed meanwhile, so that it fits its log."""
    for _ in range(_ATTEMPTS):
        before = _find_files(source)
        try:
            _copy_files(source, before, copy)
        except OSError as problem:
            raise NuggetsError(f"{source} cannot be read: {problem}") from problem
        if _find_files(source) == before:
            return
        shutil.rmtree(copy)
    raise StoreBusy(f"{source} keeps changing while it is copied; nothing was changed. Try again")


def _find_files(source: str) -> dict[str, tuple[int, int]]:
    """The database and the documented files, each with its size and when it was changed: plain
    files only, because a link could lead to any file of this machine."""
    found = {}
    names = ["nuggets.db", "nuggets.db-wal", "recalls.jsonl", *sorted(documented_files(source))]
    for name in names:
        with suppress(FileNotFoundError, NotADirectoryError):
            status = os.lstat(os.path.join(source, name))
            if stat.S_ISREG(status.st_mode):
                found[name] = status.st_size, status.st_mtime_ns
    return found


def _copy_files(source: str, files: Mapping[str, tuple[int, int]], copy: str) -> None:
    """Copy the files. What is not there in full, such as a file with holes, could fill the disk."""
    size = sum(size for size, _ in files.values())
    free = shutil.disk_usage(os.path.dirname(copy)).free
    if size > free:
        raise NuggetsError(
            f"{source} has {size} bytes of memory, and there is space for {free} to copy them to "
            f"{os.path.dirname(copy)}; nothing was changed. Free some, or set TMPDIR"
        )
    os.mkdir(copy, 0o700)
    for name in files:
        target, path = os.path.join(copy, name), os.path.join(source, name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        with open(path, "rb", opener=_open_own) as file, open(target, "xb") as copied:
            has_holes = _copy_without_holes(file, copied)
        if has_holes and not name.startswith("nuggets.db"):
            raise InvalidInput(f"{path} has holes, and no program writes such a file for memories")
        shutil.copystat(path, target, follow_symlinks=False)


def _copy_without_holes(file: BinaryIO, copied: BinaryIO) -> bool:
    """Copy what is there: a file of many gigabytes may hold a few bytes, and so does its copy.

    Returns whether there are holes.
    """
    source, target = file.fileno(), copied.fileno()
    size, end, found = os.fstat(source).st_size, 0, 0
    while end < size:
        try:
            begin = os.lseek(source, end, os.SEEK_DATA)
        except OSError:  # only a hole is left
            break
        end = os.lseek(source, begin, os.SEEK_HOLE)
        found += end - begin
        os.lseek(target, begin, os.SEEK_SET)
        os.lseek(source, begin, os.SEEK_SET)
        while begin < end and (part := os.read(source, min(_CHUNK, end - begin))):
            write_all(target, part)
            begin += len(part)
    os.ftruncate(target, size)
    return found < size


def _open_own(path: str, flags: int) -> int:
    return open_plain(path, flags | os.O_NOFOLLOW)
