"""What a machine has already is found, offered, and comes in as one step."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import transcript_samples as samples
from command_line import Nuggets

DAY = 86_400


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with an agent's past, its memories, and two other memories."""
    home = Path(os.path.expanduser("~"))
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(shop)
    (shop / "AGENTS.md").write_text("- Two spaces\n")
    project = home / ".claude" / "projects" / "-tmp-shop"
    (project / "memory").mkdir(parents=True)
    (project / "abc.jsonl").write_text(samples.lines(samples.claude_code(shop)))
    os.utime(project / "abc.jsonl", (time.time() - 20 * DAY,) * 2)
    (project / "agent-1.jsonl").write_text(samples.lines(samples.claude_code(shop)))
    (project / "memory" / "MEMORY.md").write_text(
        "- [Tests](tests.md) — how they run\n- The database is Postgres\n"
    )
    (project / "memory" / "tests.md").write_text("---\ntype: feedback\n---\nRun one at a time.\n")
    (home / ".claude-mem").mkdir()
    with closing(sqlite3.connect(home / ".claude-mem" / "claude-mem.db")) as database, database:
        database.execute("CREATE TABLE observations (id, title)")
        database.execute("INSERT INTO observations VALUES (1, 'Cart fixed')")
    (home / ".basic-memory").mkdir()
    (tmp_path / "bm").mkdir()
    (tmp_path / "bm" / "Tea.md").write_text("---\npermalink: tea\n---\nGreen.\n")
    settings = {"projects": {"main": {"path": str(tmp_path / "bm")}, "gone": "/nowhere", "odd": 3}}
    (home / ".basic-memory" / "config.json").write_text(json.dumps(settings))
    return home


def test_what_is_there_is_shown_with_counts_and_nothing_changes(
    nuggets: Nuggets, home: Path
) -> None:
    offers = nuggets("import", "--discover", "--json").json
    shown = nuggets("import", "--discover").out

    assert [(offer["what"], offer["count"]) for offer in offers] == [
        ("instructions for agents", 1),
        ("memories of claude-code", 2),
        ("memories of claude-mem", 1),
        ("notes of basic-memory", 1),
        ("past sessions of claude-code", 1),
    ]
    assert "past sessions of claude-code (1 session)" in shown
    assert nuggets("history", "--json").json == []


def test_all_of_it_comes_in_as_one_step_where_it_belongs(
    nuggets: Nuggets, home: Path, tmp_path: Path
) -> None:
    nuggets("config", "set", "session_days", "0")
    done = nuggets("import", "--discover", "--all", "--json").json
    notes = {note["title"]: note for note in done["added"]}
    project = str(tmp_path / "shop" / ".git")

    assert done["refused"] == []
    assert {note["project"] for note in notes.values()} == {"", project}
    assert notes["tests"]["project"] == notes["The database is Postgres"]["project"] == project
    assert notes["Two spaces"]["project"] == project
    assert notes["Cart fixed"]["project"] == ""
    assert sum(note["nuggetName"] == "sessions" for note in notes.values()) == 1
    assert not any("how they run" in note["content"] for note in notes.values())
    assert len(nuggets("history", "--json").json) == 1
    assert nuggets("import", "--discover", "--all").lines[0] == "Nothing new."
    assert samples.GOAL[:30] in nuggets("sessions", "list").out


def test_one_offer_comes_in_by_its_path(nuggets: Nuggets, home: Path) -> None:
    nuggets("config", "set", "session_days", "0")
    done = nuggets("import", str(home / ".claude"), "--json").json
    assert done["form"] == "transcripts of sessions"
    assert [note["nuggetName"] for note in done["added"]] == ["sessions"]


def test_what_was_promoted_is_not_imported_again(nuggets: Nuggets, home: Path) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    for session in ("a", "b", "c"):
        nuggets("recall", "editor", "--session", session)
    path = home / ".claude" / "projects" / "-tmp-shop" / "memory" / "MEMORY.md"
    nuggets("promote", "--path", str(path))
    assert "helix" in path.read_text()
    done = nuggets("import", str(path), "--json").json
    assert [note["title"] for note in done["added"]] == ["The database is Postgres"]


def test_doctor_says_what_will_be_deleted_and_when(nuggets: Nuggets, home: Path) -> None:
    day = time.strftime("%Y-%m-%d", time.localtime(time.time() + 10 * DAY))
    said = nuggets("doctor").out
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 3650}')
    later = nuggets("doctor").out
    nuggets("config", "set", "session_days", "0")
    nuggets("import", "--discover", "--all")

    assert f"after 30 days: 1 session without a note, the first on {day}" in said
    assert "after 3650 days" in later
    assert "Claude Code deletes" not in nuggets("doctor").out


def test_connect_offers_it_in_one_line(nuggets: Nuggets, home: Path) -> None:
    done = nuggets("connect", "claude-code")
    assert done.lines[-1] == (
        "Found on this machine: 1 past session, 1 memory of another program and 4 files of "
        "memories or instructions. See them: nuggets import --discover"
    )


def test_links_and_broken_settings_lead_nowhere(nuggets: Nuggets, tmp_path: Path) -> None:
    home = Path(os.path.expanduser("~"))
    (home / ".claude" / "projects").mkdir(parents=True)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "s.jsonl").write_text(samples.lines(samples.claude_code(tmp_path)))
    (home / ".claude" / "projects" / "p").mkdir()
    (home / ".claude" / "projects" / "p" / "s.jsonl").symlink_to(tmp_path / "x" / "s.jsonl")
    (home / ".claude" / "settings.json").write_text("[" * 100_000)
    (home / ".claude-mem").mkdir()
    (home / ".claude-mem" / "claude-mem.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    (home / ".basic-memory").mkdir()
    os.mkfifo(home / ".basic-memory" / "config.json")

    assert nuggets("import", "--discover", "--json").json == []
    assert nuggets("import", "--discover").lines == ["Nothing was found that could be imported."]
    assert nuggets("import").code == nuggets("import", "x", "--all").code == 2
