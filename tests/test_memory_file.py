"""A file that a person edits while we do."""

import ctypes
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from nuggets.errors import NotFound, StoreBusy, StoreError
from nuggets.maintenance.promotion.file_access import locate, read, rewrite

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can exchange two files")


def test_a_new_file_is_made_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "MEMORY.md"
    rewrite(str(path), lambda text: (text + "# Memory\n", None))

    assert path.read_text() == "# Memory\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_mode_and_link_of_an_existing_file_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "MEMORY.md"
    real.write_text("mine\n")
    real.chmod(0o640)
    link.symlink_to(real)
    rewrite(str(link), lambda text: (text + "ours\n", None))

    assert link.is_symlink()
    assert real.read_text() == "mine\nours\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_link_to_something_else_than_markdown_is_refused(tmp_path: Path) -> None:
    target, link = tmp_path / ".bashrc", tmp_path / "MEMORY.md"
    target.write_text("alias ls=ls\n")
    link.symlink_to(target)

    with pytest.raises(StoreError, match="no Markdown file"):
        rewrite(str(link), lambda text: (text + "ours\n", None))
    assert target.read_text() == "alias ls=ls\n"


def test_whoever_reads_meanwhile_has_the_whole_old_or_the_whole_new_file(tmp_path: Path) -> None:
    path, lines = tmp_path / "MEMORY.md", "a line\n" * 5000
    path.write_text(lines)

    with path.open() as reader:
        start = reader.readline()
        rewrite(str(path), lambda text: ("ours\n" + text, None))
        seen = start + reader.read()

    assert seen == lines
    assert path.read_text() == "ours\n" + lines


def test_a_save_in_between_is_merged_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("one\n")
    seen = []

    def decide(text: str) -> tuple[str, int]:
        seen.append(text)
        if len(seen) == 1:
            path.write_text("one\ntwo\n")  # the person saves while we think
        return text + "ours\n", len(seen)

    assert rewrite(str(path), decide) == 2
    assert path.read_text() == "one\ntwo\nours\n"
    assert os.listdir(tmp_path) == ["MEMORY.md"]


def before_each_exchange(monkeypatch: pytest.MonkeyPatch, step: Callable[[], object]) -> None:
    """Take a step whenever the system is about to exchange two files."""
    exchange = ctypes.CDLL(None, use_errno=True).renameat2

    def step_and_exchange(*arguments: object) -> int:
        step()
        return int(exchange(*arguments))

    library = SimpleNamespace(renameat2=step_and_exchange)
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: library)


@only_linux
@pytest.mark.parametrize("saves", [1, 2, 3, 4])
def test_no_save_is_lost_however_many_fall_between_our_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saves: int
) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("save 0\n")
    numbers = iter(range(1, saves + 1))

    def save() -> None:
        for number in islice(numbers, 1):
            (tmp_path / "draft").write_text(f"save {number}\n")
            (tmp_path / "draft").rename(path)

    before_each_exchange(monkeypatch, save)
    rewrite(str(path), lambda text: (text + "ours\n", None))

    assert path.read_text() == f"save {saves}\nours\n"
    assert os.listdir(tmp_path) == ["MEMORY.md"]


@only_linux
def test_a_save_in_between_that_is_not_utf8_is_not_lost_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("one\n")
    before_each_exchange(monkeypatch, lambda: path.write_bytes(b"caf\xe9\n"))
    with pytest.raises(StoreError, match="not UTF-8"):
        rewrite(str(path), lambda text: (text + "ours\n", None))

    assert path.read_bytes() == b"caf\xe9\n"


def test_a_file_that_never_rests_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("0\n")

    def decide(text: str) -> tuple[str, None]:
        path.write_text(f"{int(text.split()[0]) + 1}\n")
        return text + "ours\n", None

    with pytest.raises(StoreBusy, match="keeps changing"):
        rewrite(str(path), decide)
    assert "ours" not in path.read_text()


def test_a_file_made_by_someone_else_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"

    def decide(text: str) -> tuple[str, None]:
        if not text:
            path.write_text("theirs\n")
        return text + "ours\n", None

    rewrite(str(path), decide)

    assert path.read_text() == "theirs\nours\n"


def test_what_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("mine\n")
    before = path.stat()
    rewrite(str(path), lambda text: (text, None))

    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_file_that_is_not_utf8_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"caf\xe9\n")

    with pytest.raises(StoreError, match="not UTF-8"):
        rewrite(str(path), lambda text: (text + "ours", None))
    assert path.read_bytes() == b"caf\xe9\n"


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory"):
        rewrite(str(tmp_path), lambda text: (text + "ours", None))


def test_a_byte_order_mark_and_foreign_newlines_survive(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"\xef\xbb\xbfmine\r\nlast line")
    rewrite(str(path), lambda text: (text + "\r\nours", None))

    assert path.read_bytes() == b"\xef\xbb\xbfmine\r\nlast line\r\nours"


def test_reading_what_is_not_there_gives_nothing(tmp_path: Path) -> None:
    assert read(str(tmp_path / "MEMORY.md")) == ""


def test_the_hosts_memory_of_the_repository_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude/projects/-home-me-my-app-2").mkdir(parents=True)

    found = locate("", "/home/me/my_app.2/.git", "/own/MEMORY.md")

    assert found == str(tmp_path / ".claude/projects/-home-me-my-app-2/memory/MEMORY.md")


@pytest.mark.parametrize("location", ["/home/me/app/.git", "webshop", ""])
def test_what_the_host_does_not_know_has_a_file_of_the_shelf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude/projects").mkdir(parents=True)

    assert locate("", location, "/own/MEMORY.md") == "/own/MEMORY.md"
    with pytest.raises(NotFound, match="NUGGETS_MEMORY_FILE"):
        locate("", location, "")


def test_what_a_dead_writer_left_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("mine\n")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    others = ("MEMORY.md.tmp", "MEMORY.md.notes.tmp", "MEMORY.md.1f", "OTHER.md.1f.tmp")
    alive = f"MEMORY.md.{os.getppid():x}-1f.tmp"
    for name in (
        f"MEMORY.md.{ended.pid:x}-1f.tmp",
        f"MEMORY.md.{1 << 70:x}-1f.tmp",
        alive,
        *others,
    ):
        (tmp_path / name).touch()
    rewrite(str(path), lambda text: (text, None))

    assert sorted(os.listdir(tmp_path)) == sorted(["MEMORY.md", alive, *others])


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(tmp_path: Path) -> None:
    path, victim = tmp_path / "MEMORY.md", tmp_path / "victim"
    path.write_text("mine\n")
    victim.write_text("precious")

    def append_line(text: str) -> tuple[str, None]:
        (tmp_path / f"MEMORY.md.{os.getpid():x}.tmp").symlink_to(victim)
        return text + "ours\n", None

    rewrite(str(path), append_line)

    assert victim.read_text() == "precious"
    assert path.read_text() == "mine\nours\n"


def test_temporary_files_of_writers_that_were_killed_are_swept(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"MEMORY.md.{ended.pid:x}-0123456789abcdef.tmp"
    left.write_text("half")

    rewrite(str(tmp_path / "MEMORY.md"), lambda text: (text + "ours\n", None))

    assert not left.exists()
