"""The first command moves the files of an earlier version in and says so; a hook never does."""

import json
from pathlib import Path

import pytest

from command_line import Nuggets, NuggetsProcess
from journal_samples import busy_shelf, write_journal

pytestmark = pytest.mark.usefixtures("no_daily_pass")


@pytest.fixture
def old_shelf(tmp_path: Path) -> Path:
    write_journal(tmp_path / "old", busy_shelf())
    return tmp_path / "old"


def test_a_command_says_in_one_line_that_it_moved_them(nuggets: Nuggets, old_shelf: Path) -> None:
    first = nuggets("list", "--dir", str(old_shelf), "--json")
    aside = old_shelf / "journal.old"
    assert first.err == f"Moved 9 notes into nuggets.db; the old files are in {aside}\n"
    assert {one["name"] for one in first.json} == {"plans", "facts", "empty"}
    assert nuggets("list", "--dir", str(old_shelf)).err == ""


def test_a_hook_leaves_them_alone_and_says_so_at_the_start(
    nuggets_process: NuggetsProcess, old_shelf: Path
) -> None:
    def hook(name: str, **sent: str) -> str:
        payload = json.dumps({"session_id": "s", **sent}).encode()
        done = nuggets_process("hook", name, "--dir", str(old_shelf), stdin=payload)
        assert (done.code, done.err) == (0, "")
        return done.out

    start = json.loads(hook("session-start", source="startup"))
    assert "nuggets list" in start["hookSpecificOutput"]["additionalContext"]
    assert hook("user-prompt", prompt="what is the value of key 1?") == ""
    assert (old_shelf / "journal").is_dir()
    assert not (old_shelf / "nuggets.db").exists()


def test_a_damaged_one_is_an_error_that_names_the_doctor(nuggets: Nuggets, old_shelf: Path) -> None:
    log = old_shelf / "journal" / "log-000000000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Step 2", b"Step X", 1))
    refused = nuggets("list", "--dir", str(old_shelf))
    assert refused.code == 1
    assert "doctor --fix" in refused.err

    assert nuggets("version", "--dir", str(old_shelf)).code == 0
    assert "damaged journal" in nuggets("doctor", "--dir", str(old_shelf)).out
    assert nuggets("doctor", "--dir", str(old_shelf), "--fix").code == 0
    assert "Plan 1" in nuggets("note", "list", "--dir", str(old_shelf)).out
