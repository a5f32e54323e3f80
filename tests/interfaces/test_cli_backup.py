"""backup, restore and doctor, as people and scripts see them."""

import os
from pathlib import Path

import pytest

from command_line import Nuggets


@pytest.fixture
def shelf_directory() -> Path:
    return Path(os.environ["NUGGETS_DIR"])


def test_a_backup_says_where_it_is(nuggets: Nuggets, shelf_directory: Path) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    done = nuggets("backup")
    [path] = (shelf_directory / "backups").iterdir()

    assert done.lines[0].startswith("Backed up 1 note (")
    assert done.lines[0].endswith(f"B) to {path}")


def test_backup_and_restore_in_json(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    made = nuggets("backup", str(tmp_path / "kept.db"), "--json").json
    assert made["path"] == str(tmp_path / "kept.db")
    assert set(made) == {"path", "size", "revision", "at", "notes", "checksum"}
    nuggets("remember", "prefs", "editor", "helix")

    looked = nuggets("restore", made["path"], "--dry-run", "--json").json
    assert looked["dryRun"] is True
    assert looked["difference"] == {"back": 0, "gone": 1, "changed": 0}
    assert nuggets("recall", "editor").code == 0
    done = nuggets("restore", made["path"], "--json").json
    assert done["backup"] == made
    assert os.path.isfile(os.path.join(done["replaced"], "nuggets.db"))
    assert nuggets("recall", "editor").code == 1


def test_a_restore_says_what_changed_and_where_the_rest_is(
    nuggets: Nuggets, tmp_path: Path, shelf_directory: Path
) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    nuggets("backup", str(tmp_path / "kept.db"))
    nuggets("remember", "prefs", "shell", "zsh")
    nuggets("remember", "prefs", "editor", "helix")
    looked = nuggets("restore", str(tmp_path / "kept.db"), "--dry-run").lines
    done = nuggets("restore", str(tmp_path / "kept.db")).lines

    assert looked[0].startswith("This backup of ")
    assert looked[1] == "Compared with now: 1 would be removed, 1 would change."
    assert done[0].startswith("Restored the backup of ")
    assert done[1] == "Compared with now: 1 removed, 1 changed."
    assert done[2] == f"The replaced shelf is in {shelf_directory / 'replaced-1'}"
    assert "fish" in nuggets("recall", "shell").out
    assert "restore" in nuggets("history").lines[0]


def test_what_is_no_backup_is_a_usage_error(nuggets: Nuggets, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    assert nuggets("restore", str(tmp_path / "text")).code == 2
    gone = nuggets("restore", str(tmp_path / "gone"), "--json")
    assert gone.code == 1
    assert gone.json["error"]["code"] == "not_found"


def test_a_damaged_database_is_named_with_the_way_out_and_mended(
    nuggets: Nuggets, shelf_directory: Path
) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    (shelf_directory / "nuggets.db").write_bytes(b"garbage" * 900)
    refused = nuggets("recall", "shell")
    assert refused.code == 1
    assert "doctor --fix" in refused.err

    found = nuggets("doctor", "--json")
    assert found.code == 1
    assert [one["kind"] for one in found.json] == ["damaged database"]
    done = nuggets("doctor", "--fix")
    assert done.code == 0
    assert any("nuggets.db.damaged-1" in line for line in done.lines)
    assert "fish" in nuggets("recall", "shell").out


def test_a_doctor_who_finds_nothing_says_nothing_else(nuggets: Nuggets) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    assert nuggets("doctor").lines == ["No problems found."]


def test_a_purge_writes_backups_again_and_names_those_that_it_cannot_read(nuggets: Nuggets) -> None:
    nuggets("remember", "prefs", "shell", "fish")
    path, unread = (Path(nuggets("backup", "--json").json["path"]) for _ in range(2))
    unread.write_bytes(unread.read_bytes()[:-9])
    done = nuggets("forget", "prefs", "shell", "--purge")
    assert f"  {path}" in done.lines
    assert done.lines[-2] == f"  {unread}"
    assert b"fish" not in path.read_bytes()
