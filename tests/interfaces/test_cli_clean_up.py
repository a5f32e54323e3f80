"""reflect, promote, history, undo, audit and schedule on the command line."""

import json
from pathlib import Path

import pytest

from command_line import Nuggets


def seen_in_three_sessions(nuggets: Nuggets, key: str) -> None:
    for session in "abc":
        assert nuggets("recall", key, "--session", session).code == 0


def test_reflect_shows_each_change_and_how_to_undo(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.\nUses JWT.")
    done = nuggets("reflect")

    assert done.code == 0
    assert "content: 1 repeated line removed" in done.out
    assert "rewritten 1" in done.out
    assert "nuggets undo" in done.out


def test_reflect_without_writing(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Auth", "Uses JWT.\nUses JWT.")

    assert "Would change: rewritten 1" in nuggets("reflect", "--dry-run").out
    assert "Uses JWT.\nUses JWT." in nuggets("note", "show", "Auth").out


def test_reflect_all_gives_every_note_its_turn(nuggets: Nuggets) -> None:
    for number in range(12):
        nuggets("note", "add", "project", f"Note {number}", f"Text {number}.\nText {number}.")
    shape = json.loads(nuggets("reflect", "--all", "--json").out)

    assert (shape["inspected"], shape["rewritten"]) == (12, 12)
    assert shape["changes"][0].keys() == {"type", "nuggetName", "noteId", "detail"}


def test_all_and_a_limit_exclude_each_other(nuggets: Nuggets) -> None:
    assert nuggets("reflect", "--all", "--limit", "3").code == 2


def test_promote_writes_and_explains(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    nuggets("remember", "prefs", "editor", "helix")
    nuggets("remember", "prefs", "font", "mono")
    seen_in_three_sessions(nuggets, "editor")
    explained = nuggets("promote", "--path", str(path), "--explain")
    done = nuggets("promote", "--path", str(path))

    assert "recalled in 0 of 3 sessions" in explained.out
    assert "Promoted 1 new entry" in done.out
    assert "- **editor**: helix" in path.read_text()


def test_explaining_writes_nothing(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    nuggets("remember", "prefs", "editor", "helix")
    seen_in_three_sessions(nuggets, "editor")
    shape = json.loads(nuggets("promote", "--path", str(path), "--explain", "--json").out)

    assert shape["promoted"] == 1
    assert shape["explanations"][0]["outcome"] == "new"
    assert not path.exists()


def test_promote_without_a_file_says_what_to_do(nuggets: Nuggets) -> None:
    done = nuggets("promote")

    assert done.code == 1
    assert "NUGGETS_MEMORY_FILE" in done.err


def test_history_tells_and_undo_takes_back(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "port", "8080")

    assert "80 → 8080" in nuggets("history").out
    assert nuggets("undo").code == 0
    assert "Value: 80\n" in nuggets("recall", "port").out


def test_the_history_as_json_has_both_versions(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "port", "8080")
    entry = json.loads(nuggets("history", "--limit", "1", "--json").out)[0]

    assert entry["client"] == "cli"
    assert entry["notes"][0]["before"]["content"] == "80"
    assert entry["notes"][0]["after"]["content"] == "8080"


def test_nothing_to_undo_is_said(nuggets: Nuggets) -> None:
    done = nuggets("undo")

    assert done.code == 1
    assert "nothing to undo" in done.err


def test_audit_reports_by_kind(nuggets: Nuggets) -> None:
    nuggets("remember", "a", "port", "80")
    nuggets("remember", "b", "port", "81")

    assert "contradiction" in nuggets("audit").out
    assert json.loads(nuggets("audit", "--json").out)[0]["kind"] == "contradiction"


def test_the_schedule_has_a_last_and_a_next_run(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "0")
    monkeypatch.setenv("QUIET_HOURS_START", "-1")

    assert "Last run: never" in nuggets("schedule", "status").out
    assert json.loads(nuggets("schedule", "run", "--once", "--json").out)["ran"] is True
    assert json.loads(nuggets("schedule", "run", "--once", "--json").out)["ran"] is False
    assert "inspected 0" in nuggets("schedule", "status").out


def test_the_history_shows_that_something_was_purged_and_not_what(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "80")
    nuggets("remember", "project", "code", "swordfish")
    nuggets("forget", "project", "code")
    [dropped] = nuggets("history", "--limit", "1", "--json").json[0]["notes"]
    nuggets("note", "delete", dropped["id"], "--purge")
    done = nuggets("history")

    assert done.code == 0
    assert "- purged" in done.out
    assert "swordfish" not in done.out
