"""Files that survive."""

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import (
    is_leftover,
    private_directory,
    replace_file,
    sync,
    sync_path,
    temporary_path,
    write_beside,
)
from nuggets.filesystem.untrusted_folder import find_files, open_folder
from nuggets.maintenance.trusted_repositories import write_shared_files
from nuggets.stores.sqlite.database import building


def test_a_new_file_is_whole_private_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for content in (b"old", b"new" * 1_000_000):
        replace_file(str(path), [content], durable=True)

        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_parts_are_written_one_after_the_other(tmp_path: Path) -> None:
    parts = [bytes([65 + n % 26]) * 100_000 for n in range(40)]
    replace_file(str(tmp_path / "a"), iter(parts), durable=False)

    assert (tmp_path / "a").read_bytes() == b"".join(parts)


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "a"
    replace_file(str(path), [b"old"], durable=True)

    def failing(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(StoreError, match="free some space"):
        replace_file(str(path), [b"new"], durable=True)
    monkeypatch.undo()

    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_leftovers_are_known_by_their_names() -> None:
    assert is_leftover("graph.json.1f-2e.tmp")
    assert not is_leftover("graph.json")
    assert not is_leftover("notes.tmp")
    assert not is_leftover("a.b-c-d.tmp.json")
    assert not is_leftover("my-file.tmp")


def test_the_name_of_a_temporary_file_says_nothing_about_the_next(tmp_path: Path) -> None:
    seen: set[str] = set()
    for _ in range(2):
        write_beside(str(tmp_path / "file"), [], durable=False)
        with building(str(tmp_path / "database")):
            seen.update(os.listdir(tmp_path))
    names = [name for name in seen if name.endswith(".tmp")]

    assert all(map(is_leftover, names))
    chosen = [name.removesuffix(".tmp").partition("-")[2] for name in names]
    assert len(chosen) == 4
    assert len({text[:2] for text in chosen}) > 1  # moments of a clock would begin alike


def test_a_link_at_a_guessed_name_is_neither_followed_nor_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(os, "urandom", bytes)  # zeros: a guess that comes true
    guessed = Path(temporary_path(str(tmp_path / "file")))
    guessed.symlink_to(victim)

    with pytest.raises(StoreError):
        replace_file(str(tmp_path / "file"), [b"ours"], durable=False)

    assert victim.read_text() == "precious"
    assert not (tmp_path / "file").exists()


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    replace_file(str(tmp_path / "a"), [b"0123456789"], durable=False)

    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_file_where_a_directory_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    for path in (tmp_path / "x", tmp_path / "x" / "y"):
        with pytest.raises(StoreError, match="a file"):
            private_directory(str(path))


def test_a_link_to_nothing_is_named_and_left(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(tmp_path / "drive")
    with pytest.raises(StoreError, match=r"drive, which is not there"):
        private_directory(str(tmp_path / "x" / "y"))

    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, ValueError])
def test_a_write_that_is_broken_off_leaves_the_old_file_and_no_litter(
    tmp_path: Path, problem: type[BaseException]
) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise problem

    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(problem):
        replace_file(str(path), parts(), durable=False)

    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_gets_the_time_that_it_is_given(tmp_path: Path) -> None:
    path, wanted = str(tmp_path / "a"), 1_600_000_000_000_000_000
    temporary = write_beside(path, [b"a"], durable=False, mtime_ns=wanted)

    assert os.stat(temporary).st_mtime_ns == wanted


def test_a_new_directory_is_made_durable_in_all_those_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "a" / "b" / "c" / "d" / "e"
    private_directory(str(new))
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    sync_path(str(new))

    assert synced[:5] == [str(path) for path in (new, *new.parents)][:5]


def test_where_directories_cannot_be_synced_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some network and user-space file systems."""
    real = os.fsync

    def picky(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", picky)
    replace_file(str(tmp_path / "a"), [b"new"], durable=True)

    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("code, synced", [(errno.ENOTSUP, [True]), (errno.EIO, [])])
def test_a_drive_that_knows_no_full_sync_gets_a_plain_one_but_a_failed_one_is_never_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, synced: list[bool]
) -> None:
    """As on a Mac with a network drive."""

    def refusing(*arguments: Any) -> None:
        raise OSError(code, os.strerror(code))

    done: list[bool] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", refusing)
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(True))
    with open(tmp_path / "a", "wb") as file, suppress(OSError):
        sync(file.fileno())

    assert done == synced


def test_a_shared_file_is_written_beside_what_others_left_there(tmp_path: Path) -> None:
    folder = tmp_path / ".nuggets" / "memories"
    folder.mkdir(parents=True)
    guessed = folder / f".a.json.{os.getpid():x}.tmp"
    guessed.mkdir()  # whoever guesses the name of the temporary file keeps nobody from writing
    old, new = folder / ".b.json.1f-2e.tmp", folder / ".c.json.1f-2e.tmp"
    old.write_text("of a process that was killed")
    os.utime(old, (0, 0))
    new.write_text("of one that may be at work")

    write_shared_files(str(tmp_path), {"a": "text"}, [])

    assert (folder / "a.json").read_text() == "text"
    assert sorted(folder.iterdir()) == sorted([folder / "a.json", guessed, new])


def test_a_folder_with_too_many_files_is_told_of_once(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("text")
    with open_folder(str(tmp_path)) as folder:
        found, problems = find_files(folder, ".md", 2)

    assert [file.path for file in found] == ["0.md", "1.md"]
    assert problems == ["only the first 2 files were read"]
