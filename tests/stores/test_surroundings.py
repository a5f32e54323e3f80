"""Directories that are not there, not ours, not writable or full: clear errors, nothing lost."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nuggets.errors import StoreError
from nuggets.stores import open_store
from nuggets.stores.in_memory import InMemoryStore
from nuggets.stores.json_files import JsonFileStore
from nuggets.stores.logs import log_name
from store_samples import contents, files_of, note, open_json, pictures_agree, put, save, touch

TESTS = Path(__file__).parents[1]


@pytest.fixture(params=["immutable", "read-only mount", "another user"])
def read_only(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A store that cannot be written, in each way that stops even root."""
    directory = tmp_path / "store"
    store = open_json(directory)
    put(store, note(1), note(2))
    store.close()
    if request.param == "immutable":
        _needs("chattr", "-R", "+i", str(directory))
        yield request.param, directory
        subprocess.run(["chattr", "-R", "-i", str(directory)], check=True)
    elif request.param == "read-only mount":
        mounted = tmp_path / "mounted"
        mounted.mkdir()
        _needs("mount", "--bind", str(directory), str(mounted))
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", str(mounted)], check=True)
            yield request.param, mounted
        finally:
            subprocess.run(["umount", str(mounted)], check=True)
    else:
        if os.getuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("only root can become another user, and with setpriv")
        for folder, _, names in os.walk(directory):
            os.chmod(folder, 0o755)
            for name in names:
                os.chmod(os.path.join(folder, name), 0o644)
        yield request.param, directory


def _needs(*command: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(command[:2])}: {done.stderr.strip()}")


VISIT = """
import sys
from store_samples import contents, note, open_json, put, touch
from nuggets.errors import StoreError
store = open_json(sys.argv[1])
print(contents(store))
touch(store, note(1).id, "s1")
try:
    put(store, note(3))
except StoreError as problem:
    print(problem)
store.close()
print(contents(store))
"""


def test_a_read_only_store_is_read_and_a_write_is_refused_in_one_clear_line(
    read_only: tuple[str, Path],
) -> None:
    how, directory = read_only
    before = files_of(directory)
    command = [sys.executable, "-c", VISIT, str(directory)]
    if how == "another user":
        for above in (directory, *directory.parents):
            if not above.stat().st_mode & 0o001:
                os.chmod(above, above.stat().st_mode | 0o011)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )
    said = done.stdout.splitlines()

    assert done.stderr == ""
    assert said[0] == said[2] == "{'key 1': 'value 1', 'key 2': 'value 2'}"
    assert said[1].startswith("Cannot write")
    assert "recall still works" in said[1]
    assert files_of(directory) == before


def test_edits_in_a_read_only_store_are_shown(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    directory.mkdir()
    save(directory / "a.nugget.json", {"name": "a", "facts": [{"key": "k", "value": "v"}]})
    _needs("chattr", "-R", "+i", str(directory))
    try:
        assert contents(open_json(directory)) == {"k": "v"}
    finally:
        subprocess.run(["chattr", "-R", "-i", str(directory)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mounted = tmp_path / "disk"
    mounted.mkdir()
    _needs("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(mounted))
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


def test_a_full_disk_loses_nothing_and_works_again_when_there_is_room(small_disk: Path) -> None:
    directory = small_disk / "store"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 128 * 1024)
    store = open_json(directory)
    kept: list[int] = []
    with pytest.raises(StoreError, match=r"No space left.*free some space"):
        for number in range(1, 400):
            put(store, note(number, content="x" * 500))
            kept.append(number)
    touch(store, note(1).id, "s1")
    while_full = contents(open_json(directory))
    left = [name for _, _, names in os.walk(directory) for name in names if name.endswith(".tmp")]
    ballast.unlink()
    put(store, note(500))
    store.close()

    assert len(kept) > 10
    assert while_full.keys() == {f"key {number}" for number in kept}
    assert left == []
    assert contents(open_json(directory)).keys() == {*while_full, "key 500"}
    assert pictures_agree(directory)


def test_a_file_where_the_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("hello")
    for use in (lambda s: s.read(0), lambda s: put(s, note(1))):
        with pytest.raises(StoreError, match=r"a file (stands|where)"):
            use(open_json(tmp_path / "store"))
    assert (tmp_path / "store").read_text() == "hello"


@pytest.mark.parametrize("name", ["journal", "graph"])
def test_a_file_where_a_directory_of_ours_should_be(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("hello")
    store = open_json(tmp_path)
    if name == "journal":
        for use in (lambda: store.read(0), lambda: put(store, note(1))):
            with pytest.raises(StoreError, match=r"a file (stands|where)"):
                use()
    else:
        put(store, note(1))  # the journal is the truth; doctor tells about the picture

        assert contents(open_json(tmp_path)) == {"key 1": "value 1"}
    assert (tmp_path / name).read_text() == "hello"


def test_a_directory_where_the_lock_should_be(tmp_path: Path) -> None:
    (tmp_path / "journal" / "lock").mkdir(parents=True)

    with pytest.raises(StoreError, match="lock"):
        put(open_json(tmp_path), note(1))


def test_everything_is_private_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nuggets.stores import journal

    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    modes: set[tuple[bool, int]] = set()
    real = os.replace

    def watching(source: str, target: str) -> None:
        modes.add((False, stat.S_IMODE(os.stat(source).st_mode)))
        real(source, target)

    monkeypatch.setattr(os, "replace", watching)
    old = os.umask(0)
    try:
        store = open_json(tmp_path / "above" / "store")
        put(store, note(1), note(2, kind="note"))
        store.read(0)
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
    put(open_json(tmp_path), note(1))
    litter = [
        tmp_path / "graph" / "graph.json.1a2b-3c4d.tmp",
        tmp_path / "learnings.nugget.json.1-2.tmp",
        tmp_path / "journal" / "snapshot-000000000001.jsonl.ff-0.tmp",
    ]
    kept = [tmp_path / "mine.tmp", tmp_path / "graph" / "my-notes.tmp", tmp_path / "x.y-z.tmp"]
    for path in (*litter, *kept):
        path.write_text("x")
    put(open_json(tmp_path), note(2))

    assert not any(path.exists() for path in litter)
    assert all(path.exists() for path in kept)


def test_stores_are_opened_by_url(tmp_path: Path) -> None:
    from nuggets.errors import SettingsError
    from nuggets.graph.outside import adopted

    def adopt(*arguments: object) -> object:
        return adopted(lambda: "0" * 8, *arguments)  # type: ignore[arg-type]

    assert isinstance(open_store("memory:", adopt), InMemoryStore)  # type: ignore[arg-type]
    for url in (str(tmp_path), f"file://{tmp_path}"):
        store = open_store(url, adopt)  # type: ignore[arg-type]

        assert isinstance(store, JsonFileStore)
        assert store.directory == str(tmp_path)
    for url, scheme in (("redis://x", "redis:"), (f"sqlite:{tmp_path}/x", "sqlite:")):
        with pytest.raises(SettingsError, match=f"no store is known for {scheme}"):
            open_store(url, adopt)  # type: ignore[arg-type]


def test_closing_what_was_thrown_away_makes_nothing(tmp_path: Path) -> None:
    store = open_json(tmp_path / "store")
    put(store, note(1))
    shutil.rmtree(tmp_path / "store")
    store.close()

    assert not (tmp_path / "store").exists()


def test_reading_an_empty_place_makes_nothing(tmp_path: Path) -> None:
    store = open_json(tmp_path / "nothing")
    store.read(0)
    store.close()

    assert not (tmp_path / "nothing").exists()


def test_a_directory_behind_a_link_is_one_store_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    one, other = open_json(tmp_path / "real"), open_json(tmp_path / "link")
    for number in range(1, 5):
        put((one, other)[number % 2], note(number))

    assert contents(one) == contents(other) == {f"key {n}": f"value {n}" for n in range(1, 5)}
    assert pictures_agree(tmp_path / "link")


@pytest.mark.parametrize("name", ["lock", log_name(1)])
def test_a_link_in_place_of_a_file_of_ours_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").write_text("dear to me")
    (tmp_path / "store" / "journal").mkdir(parents=True)
    (tmp_path / "store" / "journal" / name).symlink_to(tmp_path / "mine")
    with pytest.raises(StoreError, match="a link stands where a file of ours should be"):
        put(open_json(tmp_path / "store"), note(1))

    assert (tmp_path / "mine").read_text() == "dear to me"


def test_a_link_to_a_drive_that_is_missing_is_no_empty_store(tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to(tmp_path / "drive" / "store")
    for use in (lambda s: s.read(0), lambda s: put(s, note(1))):
        with pytest.raises(StoreError, match="is a drive missing"):
            use(open_json(tmp_path / "store"))

    assert os.listdir(tmp_path) == ["store"]
