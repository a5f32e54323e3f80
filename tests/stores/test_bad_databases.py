"""Whatever happens to the database: never taken for empty, never overwritten, always a way out."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from database_samples import ALL, facts, filled, opened, overwrite, with_log
from fault_processes import environment
from nuggets import NuggetShelf
from nuggets.errors import NuggetsError, StoreCorrupt, StoreError
from nuggets.stores.sql import schema
from store_samples import note, open_directory, put


def _read(shelf: NuggetShelf) -> None:
    shelf.facts("facts")


def _write(shelf: NuggetShelf) -> None:
    shelf.remember("facts", "a", "b")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garbage(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to be taken for one\n" * 200)


def _without_header(path: Path) -> None:
    overwrite(path, 0, b"\xff" * 100)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def _without_tables(path: Path) -> None:
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE others (a)").connection.close()


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))
    path.symlink_to("elsewhere.db")


def _broken_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere/nuggets.db")


@pytest.mark.parametrize(
    "happen",
    [_empty, _garbage, _without_header, _cut, _without_tables, _directory, _link, _broken_link],
)
def test_a_spoilt_database_is_refused_with_a_way_out_and_left_alone(
    tmp_path: Path, happen: Callable[[Path], None]
) -> None:
    path = filled(tmp_path)
    happen(path)
    before = path.read_bytes() if path.is_file() else None
    for attempt in (_read, _write):
        with pytest.raises(StoreError, match=r"nuggets\.db") as refused:
            attempt(opened(tmp_path))
        assert any(way in str(refused.value) for way in ("doctor --fix", "bring that back"))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_missing_database_with_a_log_is_not_a_new_shelf(tmp_path: Path) -> None:
    with_log(tmp_path)
    (tmp_path / "nuggets.db").unlink()
    for attempt in (_read, _write):
        with pytest.raises(StoreCorrupt, match=r"nuggets\.db is missing.*doctor --fix"):
            attempt(opened(tmp_path))
    assert not (tmp_path / "nuggets.db").exists()


def test_a_database_without_its_log_is_as_it_was_before(tmp_path: Path) -> None:
    with_log(tmp_path).unlink()

    assert facts(tmp_path).items() >= ALL.items()
    opened(tmp_path).remember("facts", "goes", "on")


def test_a_log_of_another_shelf_is_damage_that_the_doctor_mends(tmp_path: Path) -> None:
    path = filled(tmp_path / "here")
    log = with_log(tmp_path / "there", 40)
    shutil.copy(log, f"{path}-wal")
    (tmp_path / "here" / "nuggets.db-shm").unlink(missing_ok=True)
    shelf = opened(tmp_path / "here")
    try:
        known = {fact.title for fact in shelf.facts("facts")}
    except StoreCorrupt as refused:
        assert "doctor --fix" in str(refused)
        assert [one.kind for one in shelf.checkup(fix=True) if one.harmful] == ["damaged database"]
        known = {fact.title for fact in opened(tmp_path / "here").facts("facts")}
    assert known


@pytest.mark.parametrize("suffix", ["-shm", "-wal"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/nowhere/at/all", path)]
)
def test_what_stands_in_place_of_the_log_or_its_index_is_named_and_left_alone(
    tmp_path: Path, make: Callable[[str], None], suffix: str
) -> None:
    """SQLite would have each process lock the others out, or say that the disk is full."""
    path = f"{filled(tmp_path)}{suffix}"
    make(path)
    kind = os.lstat(path).st_mode
    for attempt in (_read, _write):
        with pytest.raises(StoreError, match=rf"nuggets\.db{suffix} is .*move it away") as refused:
            attempt(opened(tmp_path))
        assert not isinstance(refused.value, StoreCorrupt)
    found = [one for one in opened(tmp_path).checkup(fix=True) if one.harmful]

    assert path in [one.path for one in found]
    assert not any(one.mended for one in found)
    assert os.lstat(path).st_mode & 0o170000 == kind & 0o170000


def test_a_pipe_in_place_of_the_index_of_the_log_makes_no_process_wait(tmp_path: Path) -> None:
    """Another process has the shelf open; the command says what is wrong, not that it is busy."""
    filled(tmp_path)
    holder = "import sys; from nuggets import NuggetShelf; s = NuggetShelf(sys.argv[1])"
    holder += "; s.remember('facts', 'held', 'yes'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        (tmp_path / "nuggets.db-shm").unlink()
        os.mkfifo(tmp_path / "nuggets.db-shm")
        for words in (("recall", "held"), ("remember", "facts", "a", "b")):
            command = [sys.executable, "-m", "nuggets", *words]
            done = subprocess.run(
                command, env=environment(NUGGETS_DIR=str(tmp_path)), capture_output=True, text=True
            )
            assert done.returncode == 1
            assert "nuggets.db-shm is no plain file" in done.stderr
        process.communicate()

    (tmp_path / "nuggets.db-shm").unlink(missing_ok=True)
    assert facts(tmp_path)["held"] == "yes"


def test_a_newer_schema_is_refused_by_readers_writers_and_the_doctor(tmp_path: Path) -> None:
    path = filled(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    connection.commit()
    connection.close()
    for attempt in (_read, _write):
        with pytest.raises(StoreError, match=r"newer version.*update Nuggets"):
            attempt(opened(tmp_path))
    found = [one for one in opened(tmp_path).checkup(fix=True) if one.harmful]

    assert [(one.kind, one.mended) for one in found] == [("unreadable database", False)]


def test_a_living_process_does_not_write_once_a_newer_version_has_migrated(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with opened(tmp_path) as shelf:
        shelf.remember("facts", "before", "kept")
        connection = sqlite3.connect(path)
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
        connection.commit()
        connection.close()
        for _ in range(2):
            with pytest.raises(StoreError, match=r"newer version.*update Nuggets"):
                _write(shelf)

        assert shelf.recall("before").answer == "kept"


def as_of_a_later_version(patch: pytest.MonkeyPatch, *statements: str) -> None:
    """From now on this process has one more migration."""
    number = schema.SCHEMA + 1
    patch.setattr(schema, "SCHEMA", number)
    patch.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, number: statements})


def test_a_later_version_migrates_the_tables_before_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    as_of_a_later_version(monkeypatch, "ALTER TABLE touches ADD COLUMN place TEXT")

    assert facts(tmp_path) == ALL
    with closing(sqlite3.connect(path)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(touches)")]
        assert "place" in columns
    monkeypatch.undo()
    with pytest.raises(StoreError, match=r"newer version.*update Nuggets"):
        facts(tmp_path)


def test_a_migration_that_fails_is_an_error_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    before = path.read_bytes()
    statements = "ALTER TABLE touches ADD COLUMN place TEXT", "CREATE TABLE notes (place TEXT)"
    as_of_a_later_version(monkeypatch, *statements)

    with pytest.raises(StoreError, match="nothing was changed"), opened(tmp_path) as shelf:
        shelf.facts("facts")

    assert path.read_bytes() == before


FULL = """
import resource, signal, sys
from nuggets import NuggetShelf
from nuggets.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
shelf = NuggetShelf(sys.argv[1], project="")
shelf.remember("facts", "before", "it")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    shelf.remember("facts", "too much", "x" * 900_000)
except StoreError as problem:
    print(problem)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""


def test_a_full_disk_changes_nothing_and_says_so(tmp_path: Path) -> None:
    path = filled(tmp_path)
    limit = str(path.stat().st_size + 100_000)
    command = [sys.executable, "-c", FULL, str(tmp_path), limit]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)

    assert "Cannot write" in done.stdout, done.stderr
    assert "Nothing was changed" in done.stdout
    assert facts(tmp_path) == {**ALL, "before": "it"}


def test_a_copy_of_the_database_alone_is_a_shelf(tmp_path: Path) -> None:
    path = filled(tmp_path / "here")
    (tmp_path / "there").mkdir()
    shutil.copy(path, tmp_path / "there")

    assert facts(tmp_path / "there") == ALL


def test_a_copy_of_a_living_directory_is_a_shelf(tmp_path: Path) -> None:
    filled(tmp_path / "here")
    living = opened(tmp_path / "here")
    living.remember("facts", "last", "word")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    living.remember("facts", "later", "word")

    assert facts(tmp_path / "there") == {**ALL, "last": "word"}
    assert facts(tmp_path / "here") == {**ALL, "last": "word", "later": "word"}
    living.close()


def test_a_backup_that_is_restored_shows_in_a_living_process(tmp_path: Path) -> None:
    filled(tmp_path)
    living, other = opened(tmp_path), opened(tmp_path)
    made = living.backup()
    living.remember("facts", "since", "then")
    assert other.recall("since").found
    revision = other.revision
    opened(tmp_path).restore(made.path)

    for shelf in (living, other):
        assert not shelf.recall("since").found
        assert shelf.revision > revision
        shelf.remember("facts", "goes", "on")
        assert shelf.recall("goes").found
    living.close()
    other.close()
    assert facts(tmp_path) == {**ALL, "goes": "on"}


def clock_of(year: int) -> Callable[[], str]:
    return lambda: f"{year}-01-01T00:00:00.000Z"


def test_a_clock_that_goes_back_keeps_the_history_in_order(tmp_path: Path) -> None:
    for year in (2040, 2020):
        put(open_directory(tmp_path, clock=clock_of(year)), note(year))
    moments = [commit.at for commit in opened(tmp_path).commits()]

    assert moments == sorted(moments)
    assert len(set(moments)) == len(moments)


def test_a_commit_from_the_future_neither_dates_nor_outlives_later_ones(tmp_path: Path) -> None:
    for year in (2031, 2099, 2032, 2033, 2034):
        put(open_directory(tmp_path, clock=clock_of(year)), note(year))
    assert [commit.at[:4] for commit in opened(tmp_path).commits()] == [
        *("2031", "2099", "2032", "2033", "2034")
    ]
    store = open_directory(tmp_path, clock=clock_of(2034))
    store.refresh_exports()
    store.prune_history("2033-01-01T00:00:00.000Z")

    assert [commit.at[:4] for commit in store.history.commits()] == ["2033", "2034"]


def test_a_commit_with_an_old_date_takes_no_newer_history_with_it(tmp_path: Path) -> None:
    for year in (2031, 2034, 2027, 2034):
        put(open_directory(tmp_path, clock=clock_of(year)), note(year))
    store = open_directory(tmp_path, clock=clock_of(2034))
    store.refresh_exports()
    store.prune_history("2033-01-01T00:00:00.000Z")

    assert [commit.at[:4] for commit in store.history.commits()] == ["2034", "2027", "2034"]


def test_a_page_that_is_damaged_while_it_is_read_is_an_error_in_words(tmp_path: Path) -> None:
    path = filled(tmp_path)
    size = path.stat().st_size
    for place in range(4096, size, 4096):
        overwrite(path, place, b"\xa5" * 4096)
    with pytest.raises(NuggetsError, match="damaged"):
        opened(tmp_path).list_notes()
