"""The command on a shelf in a database."""

import json
from pathlib import Path

import pytest

from command_line import Nuggets

SECRET = "s3cret-word"


def test_a_url_names_the_shelf(nuggets: Nuggets, postgresql_url: str) -> None:
    nuggets("--dir", postgresql_url, "remember", "learnings", "deploy", "make ship")

    assert "make ship" in nuggets("--dir", postgresql_url, "recall", "deploy").out
    assert nuggets("recall", "deploy").code == 1


def test_the_environment_names_the_shelf(
    nuggets: Nuggets, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_STORE", postgresql_url)
    nuggets("remember", "learnings", "deploy", "make ship")
    shown = {one["name"]: one for one in json.loads(nuggets("config", "--json").out)}

    assert "make ship" in nuggets("recall", "deploy").out
    checked = nuggets("doctor")
    assert (checked.code, "SQLite" in checked.out) == (0, False)
    assert (shown["dir"]["origin"], "postgresql://" in shown["dir"]["value"]) == (
        "environment",
        True,
    )


def test_settings_lie_in_a_directory_of_this_machine(nuggets: Nuggets, postgresql_url: str) -> None:
    nuggets("--dir", postgresql_url, "config", "set", "promote_after", "7")
    (path,) = Path.home().glob(".nuggets/databases/*/config.toml")

    assert path.read_text() == "promote_after = 7\n"


def test_a_password_is_never_shown_or_written(
    nuggets: Nuggets, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_STORE", postgresql_url.replace("@", f":{SECRET}@"))
    calls = [nuggets("config"), nuggets("config", "--json"), nuggets("connect", "claude-code")]

    assert [call.code for call in calls] == [0, 0, 1]
    assert ".pgpass" in calls[2].err
    assert SECRET not in "".join(call.out + call.err for call in calls)


def test_a_shelf_is_copied_into_a_database_and_back_from_a_backup(
    nuggets: Nuggets, postgresql_url: str, tmp_path: Path
) -> None:
    for key in ("deploy", "rollback"):
        nuggets("remember", "learnings", key, f"make {key}")
    planned = nuggets("copy", str(Path.home() / "nuggets"), postgresql_url, "--dry-run")
    copied = nuggets("copy", str(Path.home() / "nuggets"), postgresql_url)
    nuggets("--dir", postgresql_url, "backup", str(tmp_path / "b.db"))
    back = nuggets("copy", str(tmp_path / "b.db"), str(tmp_path / "shelf"), "--json")

    assert "Would copy 2 notes and 2 revisions" in planned.out
    assert "Copied 2 notes and 2 revisions" in copied.out
    assert "make deploy" in nuggets("--dir", postgresql_url, "recall", "deploy").out
    assert json.loads(back.out)["rows"]["notes"] == 2
    assert "make rollback" in nuggets("--dir", str(tmp_path / "shelf"), "recall", "rollback").out


def test_a_copy_needs_a_shelf_and_another_empty_one(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("remember", "learnings", "deploy", "make ship")
    own = str(Path.home() / "nuggets")
    nuggets("--dir", str(tmp_path / "other"), "remember", "learnings", "deploy", "make it")

    assert nuggets("copy", str(tmp_path / "none"), str(tmp_path / "new")).code == 1
    assert nuggets("copy", own, own).code == 2
    assert "is not empty" in nuggets("copy", own, str(tmp_path / "other")).err


def test_what_needs_files_says_so(nuggets: Nuggets, postgresql_url: str, tmp_path: Path) -> None:
    nuggets("--dir", postgresql_url, "remember", "learnings", "deploy", "make ship")
    calls = [
        nuggets("--dir", postgresql_url, "restore", str(tmp_path / "none.db")),
        nuggets("--dir", postgresql_url, "export", "json"),
    ]

    assert [call.code != 0 for call in calls] == [True, True]
    assert "`nuggets copy`" in calls[0].err
    assert "name a new place" in calls[1].err
