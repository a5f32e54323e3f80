"""Directories that are not there, not ours, not writable or full: clear errors, nothing lost."""

import json
import os
import shutil
import stat
import subprocess
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from nuggets.domain.records import Changes
from nuggets.errors import SettingsError, StoreError
from nuggets.shelf import NuggetShelf
from nuggets.stores import open_store
from store_samples import (
    contents,
    exports_agree,
    files_of,
    note,
    open_directory,
    put,
    state_of,
    touch,
)


@contextmanager
def immutable(directory: Path) -> Iterator[Path]:
    _needs("chattr", "-R", "+i", str(directory))
    try:
        yield directory
    finally:
        subprocess.run(["chattr", "-R", "-i", str(directory)], check=True)


@contextmanager
def mounted_read_only(directory: Path) -> Iterator[Path]:
    mounted = directory.with_name("mounted")
    mounted.mkdir()
    _needs("mount", "--bind", str(directory), str(mounted))
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(mounted)], check=True)
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


@contextmanager
def forbidden(directory: Path) -> Iterator[Path]:
    """Nobody may write there. Root may nevertheless, and becomes someone else for it."""
    entries = [directory, *directory.rglob("*")]
    before = {path: path.stat().st_mode for path in entries}
    for path in entries:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() == 0:
        for above in directory.parents:
            if not above.stat().st_mode & 0o001:
                above.chmod(above.stat().st_mode | 0o011)
    try:
        yield directory
    finally:
        for path, mode in before.items():
            path.chmod(mode)


def _needs(*command: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(command[:2])}: {done.stderr.strip()}")


NOBODY = 65534


def run_as_nobody(work: Callable[[Path], list[str]], directory: Path) -> list[str]:
    """What it says in a child of this process that has no rights of root.

    A fork, because another user may not be able to start this Python.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            lines = work(directory)
        except BaseException:
            lines = traceback.format_exc().splitlines()
        os.write(writing, json.dumps(lines).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        lines = json.loads(pipe.read())
    os.waitpid(child, 0)
    return list(lines)


def visit(directory: Path) -> list[str]:
    """Read, recall, try to write, and read."""
    store = open_directory(directory)
    lines = [str(contents(store))]
    touch(store, note(1).id, "s1")
    try:
        put(store, note(3))
    except StoreError as problem:
        lines.append(str(problem))
    store.close()
    lines.append(str(contents(store)))
    store.close()
    return lines


@pytest.mark.parametrize("made_read_only", [immutable, mounted_read_only, forbidden])
def test_a_read_only_store_is_read_and_a_write_is_refused_in_one_clear_line(
    tmp_path: Path, made_read_only: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    visit(tmp_path / "another")  # so that all modules are loaded
    store = open_directory(tmp_path / "store")
    put(store, note(1), note(2))
    store.close()
    with made_read_only(tmp_path / "store") as directory:
        before = files_of(directory)
        lines = run_as_nobody(visit, directory) if made_read_only is forbidden else visit(directory)
        after = files_of(directory)

    assert lines[0] == lines[2] == "{'key 1': 'value 1', 'key 2': 'value 2'}"
    assert lines[1].startswith("Cannot write")
    assert "recall still works" in lines[1]
    assert after == before


def read_twice(directory: Path) -> list[str]:
    store = open_directory(directory)
    return [str(contents(store)), str(contents(store)), *store.warnings]


def test_a_read_only_copy_of_a_store_is_read_as_it_is(tmp_path: Path) -> None:
    store = open_directory(tmp_path / "store")
    put(store, note(1))
    store.close()
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    with forbidden(tmp_path / "copy") as copy:
        before = files_of(copy)

        assert run_as_nobody(read_twice, copy) == ["{'key 1': 'value 1'}"] * 2
        assert files_of(copy) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mounted = tmp_path / "disk"
    mounted.mkdir()
    _needs("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mounted))
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


def test_a_disk_with_little_room_is_a_finding_of_doctor(small_disk: Path) -> None:
    with NuggetShelf(str(small_disk / "shelf")) as shelf:
        shelf.remember("p", "key", "value")
        before = [defect.kind for defect in shelf.checkup()]
        (small_disk / "ballast").write_bytes(b"x" * 1024 * 1024)
        found = [defect for defect in shelf.checkup() if defect.kind == "full disk"]

    assert "full disk" not in before
    assert len(found) == 1 and "KiB left" in found[0].problem


def test_a_full_disk_loses_nothing_and_works_again_when_there_is_room(small_disk: Path) -> None:
    directory = small_disk / "store"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1024 * 1024)
    store = open_directory(directory)
    kept: list[int] = []
    with pytest.raises(StoreError, match=r"(?i)no space left.*free some space"):
        for number in range(1, 400):
            put(store, note(number, content="x" * 500))
            kept.append(number)
    touch(store, note(1).id, "s1")
    other = open_directory(directory)
    while_full = contents(other)
    other.close()
    left = [name for _, _, names in os.walk(directory) for name in names if name.endswith(".tmp")]
    ballast.unlink()
    put(store, note(500))
    after = contents(store)
    store.close()

    assert len(kept) > 5
    assert while_full.keys() == {f"key {number}" for number in kept}
    assert left == []
    assert after.keys() == {*while_full, "key 500"}
    assert exports_agree(directory)


def test_a_file_where_the_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("hello")
    for use in (state_of, lambda s: put(s, note(1))):
        with pytest.raises(StoreError, match=r"a file (stands|where)"):
            use(open_directory(tmp_path / "store"))
    assert (tmp_path / "store").read_text() == "hello"


def test_a_file_where_the_directory_of_the_graph_should_be(tmp_path: Path) -> None:
    (tmp_path / "graph").write_text("hello")
    put(open_directory(tmp_path), note(1))

    assert contents(open_directory(tmp_path)) == {"key 1": "value 1"}
    assert (tmp_path / "graph").read_text() == "hello"


def test_a_directory_where_the_lock_should_be(tmp_path: Path) -> None:
    (tmp_path / "nuggets.lock").mkdir()

    with pytest.raises(StoreError, match="lock"):
        put(open_directory(tmp_path), note(1))


def test_everything_is_private_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: set[tuple[bool, int]] = set()
    real = os.replace

    def watching(source: str, target: str) -> None:
        modes.add((False, stat.S_IMODE(os.stat(source).st_mode)))
        real(source, target)

    monkeypatch.setattr(os, "replace", watching)
    old = os.umask(0)
    try:
        store = open_directory(tmp_path / "above" / "store")
        put(store, note(1), note(2, kind="note"))
        touch(store, note(1).id, "s1")
        for folder, folders, names in os.walk(tmp_path / "above"):
            for name in (*folders, *names):
                status = os.stat(os.path.join(folder, name))
                modes.add((stat.S_ISDIR(status.st_mode), stat.S_IMODE(status.st_mode)))
        above = stat.S_IMODE(os.stat(tmp_path / "above").st_mode)
    finally:
        os.umask(old)

    assert modes == {(True, 0o700), (False, 0o600)}
    assert above == 0o700


def test_unfinished_files_of_dead_writers_are_swept_and_others_are_not(tmp_path: Path) -> None:
    put(open_directory(tmp_path), note(1))
    litter = [
        tmp_path / "graph" / "graph.json.1a2b-3c4d.tmp",
        tmp_path / "learnings.nugget.json.1-2.tmp",
    ]
    kept = [tmp_path / "mine.tmp", tmp_path / "graph" / "my-notes.tmp", tmp_path / "x.y-z.tmp"]
    for path in (*litter, *kept):
        path.write_text("x")
        os.utime(path, (0, 0))
    fresh = tmp_path / "graph" / "graph.json.1a2b-5e6f.tmp"
    fresh.write_text("x")  # of a process that is writing it
    put(open_directory(tmp_path), note(2))

    assert not any(path.exists() for path in litter)
    assert all(path.exists() for path in (*kept, fresh))


def test_stores_are_opened_by_url(tmp_path: Path) -> None:
    def adopt(*arguments: object) -> tuple[Changes, int]:
        return Changes(), 0

    assert open_store("memory:", (), adopt).directory == ""
    for url in (str(tmp_path), f"file://{tmp_path}"):
        assert open_store(url, (), adopt).directory == str(tmp_path)
    for url, scheme in (("redis://x", "redis:"), (f"sqlite:{tmp_path}/x", "sqlite:")):
        with pytest.raises(SettingsError, match=f"no store is known for {scheme}"):
            open_store(url, (), adopt)


def test_closing_what_was_thrown_away_makes_nothing(tmp_path: Path) -> None:
    store = open_directory(tmp_path / "store")
    put(store, note(1))
    shutil.rmtree(tmp_path / "store")
    store.close()

    assert not (tmp_path / "store").exists()


def test_reading_an_empty_place_makes_nothing(tmp_path: Path) -> None:
    store = open_directory(tmp_path / "nothing")
    state_of(store)
    store.close()

    assert not (tmp_path / "nothing").exists()


def test_a_directory_behind_a_link_is_one_store_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    one, other = open_directory(tmp_path / "real"), open_directory(tmp_path / "link")
    for number in range(1, 5):
        put((one, other)[number % 2], note(number))

    assert contents(one) == contents(other) == {f"key {n}": f"value {n}" for n in range(1, 5)}
    assert exports_agree(tmp_path / "link")


@pytest.mark.parametrize("name", ["nuggets.lock", "nuggets.db"])
def test_a_link_in_place_of_a_file_of_ours_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").write_text("dear to me")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / name).symlink_to(tmp_path / "mine")
    with pytest.raises(StoreError, match="a link"):
        put(open_directory(tmp_path / "store"), note(1))

    assert (tmp_path / "mine").read_text() == "dear to me"


def test_a_link_to_a_drive_that_is_missing_is_no_empty_store(tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to(tmp_path / "drive" / "store")
    for use in (state_of, lambda s: put(s, note(1))):
        with pytest.raises(StoreError, match="is a drive missing"):
            use(open_directory(tmp_path / "store"))

    assert os.listdir(tmp_path) == ["store"]
