"""What agents leave beside a shelf may be lost, and never fails whoever leaves it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nuggets.filesystem import hook_files

TRACES: list[Callable[[str], object]] = [
    lambda shelf: hook_files.append(hook_files.hook_path(shelf, "sessions", "s"), "a line\n"),
    lambda shelf: hook_files.append(hook_files.hook_path(shelf, "inbox"), "a line\n"),
    lambda shelf: hook_files.file_size(hook_files.hook_path(shelf, "inbox")),
    lambda shelf: hook_files.log(shelf, "what happened"),
    lambda shelf: hook_files.log_problem(shelf, "a hook", ValueError("why")),
    lambda shelf: hook_files.count_miss(shelf, "stop"),
    hook_files.missed_deadlines,
    lambda shelf: hook_files.record_session(shelf, 7, "talk"),
    lambda shelf: hook_files.recorded_session(shelf, 7),
    hook_files.sweep,
]


@pytest.mark.parametrize("leave", TRACES)
def test_a_file_where_a_folder_should_be_fails_nobody(
    leave: Callable[[str], object], tmp_path: Path
) -> None:
    (tmp_path / "hooks").write_text("in the way")

    assert not leave(str(tmp_path))
    assert (tmp_path / "hooks").read_text() == "in the way"


@pytest.mark.parametrize("leave", TRACES)
def test_a_folder_where_a_file_should_be_fails_nobody(
    leave: Callable[[str], object], tmp_path: Path
) -> None:
    for name in ("log", "missed", "inbox", "hosts/7", "sessions/s"):
        (tmp_path / "hooks" / name / "in the way").mkdir(parents=True)
        os.utime(tmp_path / "hooks" / name, (1, 1))

    leave(str(tmp_path))

    assert (tmp_path / "hooks" / "hosts" / "7" / "in the way").exists()


@pytest.mark.parametrize("leave", TRACES)
def test_a_shelf_that_has_no_directory_keeps_no_traces(
    leave: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    for url in ("memory:", "postgres://elsewhere"):
        assert not leave(url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("leave", TRACES)
def test_a_working_folder_that_was_taken_away_fails_nobody(
    leave: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert not leave("beside")


def test_a_log_that_has_grown_begins_anew_with_the_older_one_kept(tmp_path: Path) -> None:
    hook_files.log(str(tmp_path), "x" * hook_files.LOG_BYTES)
    hook_files.log(str(tmp_path), "the next")
    hook_files.log(str(tmp_path), "and one more")
    log = tmp_path / "hooks" / "log"

    assert [line.split(" ", 1)[1] for line in log.read_text().splitlines()] == [
        "the next",
        "and one more",
    ]
    assert (tmp_path / "hooks" / "log.1").stat().st_size > hook_files.LOG_BYTES


def test_misses_are_counted_up_to_a_size(tmp_path: Path) -> None:
    missed = tmp_path / "hooks" / "missed"
    hook_files.count_miss(str(tmp_path), "stop")
    hook_files.count_miss(str(tmp_path), "stop")
    counted = hook_files.missed_deadlines(str(tmp_path))
    missed.write_text("a miss\n" * hook_files.MISSES_BYTES)
    hook_files.count_miss(str(tmp_path), "stop")

    assert counted == 2
    assert hook_files.missed_deadlines(str(tmp_path)) == hook_files.MISSES_BYTES


def test_what_ended_conversations_left_is_swept_away(tmp_path: Path) -> None:
    for name in ("old", "new"):
        hook_files.append(hook_files.hook_path(str(tmp_path), "sessions", name), "said\n")
    os.utime(tmp_path / "hooks" / "sessions" / "old", (1, 1))

    hook_files.sweep(str(tmp_path))

    assert os.listdir(tmp_path / "hooks" / "sessions") == ["new"]


def test_misses_are_forgotten_when_there_was_none_for_a_week(tmp_path: Path) -> None:
    hook_files.count_miss(str(tmp_path), "stop")
    hook_files.sweep(str(tmp_path))
    soon = hook_files.missed_deadlines(str(tmp_path))
    os.utime(tmp_path / "hooks" / "missed", (1, 1))
    hook_files.sweep(str(tmp_path))

    assert soon == 1
    assert hook_files.missed_deadlines(str(tmp_path)) == 0


def test_two_hooks_that_note_one_conversation_at_once_note_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, write = threading.Barrier(2), hook_files.append

    def write_together(path: str, text: str) -> None:
        both.wait()
        write(path, text)

    monkeypatch.setattr(hook_files, "append", write_together)
    hooks = [
        threading.Thread(target=hook_files.record_session, args=(str(tmp_path), 7, "talk"))
        for _ in range(2)
    ]
    for hook in hooks:
        hook.start()
    for hook in hooks:
        hook.join()

    assert hook_files.recorded_session(str(tmp_path), 7) == "talk"
    assert os.listdir(tmp_path / "hooks" / "hosts") == ["7"]


def test_a_conversation_that_cannot_be_noted_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "hooks" / "hosts" / "7").mkdir(parents=True)

    hook_files.record_session(str(tmp_path), 7, "talk")

    assert os.listdir(tmp_path / "hooks" / "hosts") == ["7"]


def test_a_conversation_of_the_day_before_yesterday_is_not_this_one(tmp_path: Path) -> None:
    hook_files.record_session(str(tmp_path), 7, "talk")
    before = hook_files.recorded_session(str(tmp_path), 7)
    os.utime(tmp_path / "hooks" / "hosts" / "7", (1, 1))

    assert before == "talk"
    assert hook_files.recorded_session(str(tmp_path), 7) == ""
