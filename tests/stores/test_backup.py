"""A backup is one sealed file; a restore puts it in place and keeps what was there."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from database_samples import ALL, facts, filled, opened, overwrite
from fault_processes import environment, start_writer
from nuggets import NuggetShelf
from nuggets.domain import times
from nuggets.errors import Conflict, InvalidInput, NotFound, StoreCorrupt, StoreError
from nuggets.stores.backup import append_checksum, unpack
from nuggets.stores.restore import RecordChecks, restore


def test_a_backup_is_one_private_file_that_sqlite_can_open(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as shelf:
        made = shelf.backup()
    path = Path(made.path)

    assert path.parent == tmp_path / "backups"
    assert os.listdir(path.parent) == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600
    assert (made.notes, made.size) == (len(ALL), path.stat().st_size)
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (len(ALL),)
    connection.close()


def test_a_backup_goes_where_it_is_told_and_overwrites_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "shelf")
    shelf = opened(tmp_path / "shelf")
    made = shelf.backup(tmp_path / "mine.db")
    assert made.path == str(tmp_path / "mine.db")
    with pytest.raises(Conflict, match="already exists"):
        shelf.backup(tmp_path / "mine.db")

    first, second = shelf.backup(tmp_path), shelf.backup(tmp_path)
    assert first.path != second.path
    assert os.path.dirname(first.path) == str(tmp_path)


def test_backups_made_while_others_write_are_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    writers = [start_writer(str(tmp_path), f"w{n}", 30, quiet=True) for n in range(2)]
    shelf = opened(tmp_path)
    made = [shelf.backup() for _ in range(5)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0

    assert all(shelf.restore(one.path, dry_run=True).backup == one for one in made)


def test_a_restore_brings_everything_back_and_keeps_what_was_there(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as shelf:
        made = shelf.backup()
        history = shelf.commits()
        shelf.remember("facts", "key 1", "changed")
        shelf.forget("facts", "key 2")
        shelf.remember("facts", "new", "since")
        looked = shelf.restore(made.path, dry_run=True)
        assert facts(tmp_path)["new"] == "since"
        done = shelf.restore(made.path)

        assert looked.difference == done.difference == (1, 1, 1)
        assert shelf.commits()[: len(history)] == history
        assert [commit.changes.action for commit in shelf.history(limit=1)] == ["restore"]
        shelf.remember("facts", "after", "it")
    assert facts(tmp_path) == {**ALL, "after": "it"}
    kept = facts(Path(done.replaced))
    assert kept["new"] == "since"
    assert kept["key 1"] == "changed"
    assert opened(tmp_path).checkup() == []


def test_the_documented_files_show_what_was_restored(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as shelf:
        made = shelf.backup()
        shelf.remember("other", "new", "since")
        shelf.restore(made.path)

    assert "since" not in (tmp_path / "graph" / "graph.json").read_text()
    assert not (tmp_path / "other.nugget.json").exists()
    assert (tmp_path / "facts.nugget.json").exists()


def test_an_undo_does_not_reach_behind_a_restore_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as shelf:
        shelf.remember("facts", "one", "1")
        made = shelf.backup()
        shelf.remember("facts", "two", "2")
        shelf.restore(made.path)
        assert shelf.undo().changes.put[0].title == "one"


def test_a_restore_mends_a_shelf_whose_database_is_damaged(tmp_path: Path) -> None:
    path = filled(tmp_path)
    made = opened(tmp_path).backup()
    path.write_bytes(b"garbage" * 1000)
    done = opened(tmp_path).restore(made.path)

    assert facts(tmp_path) == ALL
    assert (Path(done.replaced) / "nuggets.db").read_bytes() == b"garbage" * 1000


def test_a_restore_makes_a_shelf_where_there_is_none(tmp_path: Path) -> None:
    filled(tmp_path / "here")
    made = opened(tmp_path / "here").backup(tmp_path / "moved.db")
    done = opened(tmp_path / "there").restore(made.path)

    assert done.replaced == ""
    assert facts(tmp_path / "there") == ALL


def test_an_edit_that_nobody_took_in_is_kept_with_what_was_there(tmp_path: Path) -> None:
    filled(tmp_path)
    made = opened(tmp_path).backup()
    edited = tmp_path / "facts.nugget.json"
    edited.write_text(edited.read_text().replace('"value 1"', '"by hand"'))
    done = opened(tmp_path).restore(made.path)

    assert facts(tmp_path) == ALL
    assert facts(Path(done.replaced))["key 1"] == "by hand"


def test_a_flipped_byte_anywhere_is_noticed_and_nothing_is_changed(tmp_path: Path) -> None:
    filled(tmp_path)
    shelf = opened(tmp_path)
    made = Path(shelf.backup().path)
    for place in range(0, made.stat().st_size, 7919):
        spoilt = Path(shutil.copy(made, tmp_path / "spoilt.db"))
        with open(spoilt, "rb") as file:
            file.seek(place)
            byte = file.read(1)[0]
        overwrite(spoilt, place, bytes([byte ^ 16]))
        with pytest.raises((StoreCorrupt, InvalidInput)):
            shelf.restore(spoilt)
    assert not (tmp_path / "replaced-1").exists()
    assert facts(tmp_path) == ALL


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path)
    shelf = opened(tmp_path)
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_text("")
    for name in ("text", "empty"):
        with pytest.raises(InvalidInput, match="not a complete backup"):
            shelf.restore(tmp_path / name)
    with pytest.raises(InvalidInput, match="nuggets import"):
        shelf.restore(path)
    with pytest.raises(NotFound, match="nuggets backup"):
        shelf.restore(tmp_path / "nothing")
    with pytest.raises(StoreError, match="directory"):
        shelf.restore(tmp_path)
    with pytest.raises(Conflict, match="in memory"):
        NuggetShelf("memory:", project="").restore(path)


CRAFTED = (
    "update notes set record = '{'",
    "update notes set record = '[1, 2]'",
    "insert or replace into recalls select place, 'x', '', '[]', '' from notes",
    "update nuggets set config = replace(config, 'facts', '../../evil')",
    "update commits set rest = 'x'",
    "update commits set revision = 9223372036854775807 where revision = 1",
    "update changes set recalls = 'x'",
    "insert into marks values ('crafted', '[[')",
    "update meta set value = 'x' where name = 'schema'",
    "update meta set value = '-5' where name = 'schema'",
    "delete from meta",
    "create trigger t after insert on commits begin delete from notes; end",
    "create view v as with recursive r (n) as (select 1 union all select n from r) select * from r",
)


@pytest.mark.parametrize("damage", CRAFTED)
def test_a_backup_that_no_shelf_wrote_is_refused_whatever_its_checksum(
    tmp_path: Path, damage: str
) -> None:
    filled(tmp_path / "theirs")
    crafted = tmp_path / "crafted.db"
    with opened(tmp_path / "theirs") as shelf:
        unpack(shelf.backup().path, str(crafted))
    with closing(sqlite3.connect(crafted)) as database, database:
        database.execute(damage)
    append_checksum(str(crafted))

    with opened(tmp_path / "mine") as shelf:
        shelf.remember("facts", "mine", "stays")
        for dry_run in (True, False):
            with pytest.raises(StoreError):
                shelf.restore(crafted, dry_run=dry_run)
    assert facts(tmp_path / "mine") == {"mine": "stays"}
    assert not list(tmp_path.rglob("*evil*"))
    assert not list((tmp_path / "mine").glob("*.tmp*"))


def test_a_backup_that_is_exchanged_after_it_was_checked_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "theirs")
    with opened(tmp_path / "theirs") as shelf:
        backup = shelf.backup().path
        shelf.remember("facts", "later", "1")
        other = shelf.backup().path

    def exchange(record: object) -> None:
        shutil.copy(other, backup)

    checks = RecordChecks(note=exchange, nugget=lambda record: None)
    with pytest.raises(Conflict, match="changed meanwhile"):
        restore(str(tmp_path / "mine"), backup, times.now(), checks)
    assert os.listdir(tmp_path / "mine") == ["nuggets.lock"]


def test_a_refused_backup_makes_no_shelf(tmp_path: Path) -> None:
    with opened(tmp_path / "mine") as shelf, pytest.raises(NotFound):
        shelf.restore(tmp_path / "none.db")
    assert not (tmp_path / "mine").exists()


def test_a_shelf_in_memory_can_be_backed_up(tmp_path: Path) -> None:
    shelf = NuggetShelf("memory:", project="")
    shelf.remember("facts", "key", "value")
    with pytest.raises(InvalidInput, match="name a file"):
        shelf.backup()
    shelf.backup(tmp_path / "kept.db")
    opened(tmp_path / "shelf").restore(tmp_path / "kept.db")

    assert facts(tmp_path / "shelf") == {"key": "value"}


RESTORE = """
import os, signal, sys
from nuggets import NuggetShelf
directory, path, doom = sys.argv[1:]
def dying(name):
    real = getattr(os, name)
    def call(*arguments, **options):
        if doom == f"before {name}": os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **options)
        if doom == f"after {name}": os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(os, name, call)
for name in ("rename", "replace"): dying(name)
NuggetShelf(directory, project="").restore(path)
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["rename", "replace"])
def test_whoever_is_killed_leaves_the_old_shelf_or_the_new_one(
    tmp_path: Path, moment: str, step: str
) -> None:
    filled(tmp_path)
    with opened(tmp_path) as shelf:
        made = shelf.backup()
        shelf.remember("facts", "new", "since")
    command = [sys.executable, "-c", RESTORE, str(tmp_path), made.path, f"{moment} {step}"]
    done = subprocess.run(command, env=environment(), check=False)
    assert done.returncode == -signal.SIGKILL

    assert facts(tmp_path) in (ALL, {**ALL, "new": "since"})
    opened(tmp_path).restore(made.path)
    assert facts(tmp_path) == ALL
