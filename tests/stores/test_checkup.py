"""The doctor: sees what is wrong, mends what can be mended, and never deletes a byte."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from nuggets.errors import StoreError
from nuggets.graph.outside import adopted
from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores import journal
from nuggets.stores.checkup import examine, repair
from nuggets.stores.findings import Defect
from store_samples import contents, note, open_json, pictures_agree, put

LOG = "log-000000000001.jsonl"


def adopt(state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
    return adopted(lambda: os.urandom(4).hex(), state, base, edit, now)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    store = open_json(tmp_path)
    for number in range(1, 5):
        put(store, note(number))
    return tmp_path


ALL = {f"key {number}": f"value {number}" for number in range(1, 5)}


def kinds(found: list[Defect]) -> list[str]:
    return sorted({finding.kind for finding in found})


def damage(path: Path, place: int | None = None) -> bytes:
    """Flip a bit; what the file was before."""
    whole = path.read_bytes()
    place = len(whole) // 2 if place is None else place
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
    return whole


def test_a_sound_store_has_no_findings(directory: Path, tmp_path: Path) -> None:
    assert examine(str(directory), adopt) == []
    assert repair(str(directory), adopt) == []
    assert examine(str(tmp_path / "nothing there"), adopt) == []


def test_examining_changes_nothing(directory: Path) -> None:
    from store_samples import files_of

    damage(directory / "journal" / LOG)
    (directory / "graph" / "graph.json").write_text("hello")
    before = files_of(directory)
    examine(str(directory), adopt)

    assert files_of(directory) == before


def test_a_torn_tail_is_harmless(directory: Path) -> None:
    with open(directory / "journal" / LOG, "ab") as file:
        file.write(b"1234")
    found = examine(str(directory), adopt)

    assert kinds(found) == ["torn tail"]
    assert not found[0].harmful


def test_a_damaged_log_is_cut_and_what_the_pictures_still_show_comes_back(
    directory: Path,
) -> None:
    log = directory / "journal" / LOG
    damage(log)
    whole = log.read_bytes()

    assert "damaged log" in kinds(examine(str(directory), adopt))

    found = repair(str(directory), adopt)

    assert all(finding.mended for finding in found)
    assert contents(open_json(directory)) == ALL
    assert (directory / "journal" / f"{LOG}.damaged-1").read_bytes() == whole
    assert pictures_agree(directory)


def test_without_pictures_everything_before_the_damage_is_saved(directory: Path) -> None:
    log = directory / "journal" / LOG
    whole = log.read_bytes()
    damage(log, whole.index(b"value 3"))
    (directory / "graph" / "graph.json").unlink()
    (directory / "learnings.nugget.json").unlink()
    repair(str(directory), adopt)

    assert contents(open_json(directory)) == {"key 1": "value 1", "key 2": "value 2"}


@pytest.fixture
def folded_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two snapshots, a log for each revision, and no older history."""
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(journal, "HISTORY_BYTES", 1)
    store = open_json(tmp_path)
    for number in range(1, 5):
        put(store, note(number))
    return tmp_path


def test_for_a_damaged_snapshot_the_other_one_stands_in(folded_up: Path) -> None:
    snapshots = sorted((folded_up / "journal").glob("snapshot-*"))
    damage(snapshots[-1])
    for picture in (folded_up / "graph" / "graph.json", folded_up / "learnings.nugget.json"):
        picture.unlink()
    found = repair(str(folded_up), adopt)

    assert "damaged snapshot" in kinds(found)
    assert contents(open_json(folded_up)) == ALL
    assert (folded_up / "journal" / f"{snapshots[-1].name}.damaged-1").exists()


def test_with_both_snapshots_damaged_the_pictures_stand_in(folded_up: Path) -> None:
    for snapshot in (folded_up / "journal").glob("snapshot-*"):
        damage(snapshot)
    repair(str(folded_up), adopt)

    assert contents(open_json(folded_up)) == ALL
    assert examine(str(folded_up), adopt) == []


def test_a_gap_is_bridged(folded_up: Path) -> None:
    for snapshot in (folded_up / "journal").glob("snapshot-*"):
        snapshot.unlink()

    assert kinds(examine(str(folded_up), adopt)) == ["unreadable journal"]

    repair(str(folded_up), adopt)

    assert contents(open_json(folded_up)) == ALL


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_damaged_picture_is_set_aside_and_painted_again(directory: Path, name: str) -> None:
    (directory / name).write_text("{ half a file")
    found = repair(str(directory), adopt)

    assert "damaged picture" in kinds(found)
    assert (directory / f"{name}.damaged-1").read_text() == "{ half a file"
    assert contents(open_json(directory)) == ALL
    assert pictures_agree(directory)
    assert examine(str(directory), adopt) == []


def test_damage_upon_damage_keeps_every_version(directory: Path) -> None:
    for text in ("first", "second"):
        (directory / "graph" / "graph.json").write_text(text)
        repair(str(directory), adopt)

    assert (directory / "graph" / "graph.json.damaged-1").read_text() == "first"
    assert (directory / "graph" / "graph.json.damaged-2").read_text() == "second"


def test_old_pictures_leftovers_edits_and_open_modes_are_mended(directory: Path) -> None:
    dying = open_json(directory, paint_seconds=60)
    put(dying, note(9))
    dying._replica.loaded = False  # it dies
    (directory / "graph" / "graph.json.1-2.tmp").write_text("x")
    os.chmod(directory / "journal", 0o755)
    os.chmod(directory / "journal" / LOG, 0o644)
    found = repair(str(directory), adopt)

    assert kinds(found) == ["leftover", "old pictures", "open to others"]
    assert all(finding.mended for finding in found)
    assert examine(str(directory), adopt) == []
    assert pictures_agree(directory)


def test_an_edit_is_found_and_taken_in(directory: Path) -> None:
    path = directory / "learnings.nugget.json"
    path.write_text(path.read_text().replace("value 1", "by hand"))

    assert "edited picture" in kinds(examine(str(directory), adopt))

    repair(str(directory), adopt)

    assert contents(open_json(directory))["key 1"] == "by hand"


def test_a_file_in_the_place_of_a_directory_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "graph").write_text("hello")
    put(open_json(tmp_path), note(1))
    repair(str(tmp_path), adopt)

    assert (tmp_path / "graph.damaged-1").read_text() == "hello"
    assert pictures_agree(tmp_path)


def test_a_newer_format_is_left_alone(directory: Path) -> None:
    from nuggets.errors import StoreCorrupt
    from nuggets.stores import lines

    log = directory / "journal" / LOG
    newer = lines.line({"format": 99})
    log.write_bytes(newer)

    with pytest.raises(StoreCorrupt, match="newer"):
        repair(str(directory), adopt)
    assert log.read_bytes() == newer


def test_a_snapshot_that_cannot_be_opened_is_a_finding_and_not_a_crash(directory: Path) -> None:
    (directory / "journal" / "snapshot-000000000003.jsonl").mkdir(mode=0o700)

    assert {finding.kind for finding in examine(str(directory), adopt) if finding.harmful} == {
        "unreadable journal"
    }
    with pytest.raises(StoreError, match=r"snapshot-000000000003.jsonl.*move it away"):
        open_json(directory).read(0)


def test_a_file_that_goes_while_the_doctor_looks_is_passed_over(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing = directory / "journal" / "hits.jsonl"
    passing.write_bytes(b"")
    real = os.lstat

    def taken_away(path: str) -> os.stat_result:
        if path == str(passing):
            passing.unlink()
        return real(path)

    monkeypatch.setattr(os, "lstat", taken_away)

    assert examine(str(directory), adopt) == []


def test_a_doctor_who_dies_while_mending_a_log_has_not_taken_it_away(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory / "journal" / LOG
    damage(path, path.stat().st_size // 2)
    damaged = path.read_bytes()
    real = os.replace

    def dying(source: str, target: str) -> None:
        if target == str(path):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        repair(str(directory), adopt)
    monkeypatch.undo()

    assert path.read_bytes() == damaged
    assert "damaged log" in kinds([f for f in repair(str(directory), adopt) if f.mended])


def test_a_doctor_is_of_use_before_there_is_a_journal(tmp_path: Path) -> None:
    (tmp_path / "old.nugget.json").write_text(
        '{"name": "old", "facts": [{"key": "port", "value": "80"}]}'
    )
    (tmp_path / "bad.nugget.json").write_text('{"name": "bad", "facts": [{"key"')
    found = repair(str(tmp_path), adopt)

    assert all(finding.mended for finding in found)
    assert contents(open_json(tmp_path)) == {"port": "80"}
    assert (tmp_path / "bad.nugget.json.damaged-1").exists()
    assert examine(str(tmp_path), adopt) == []


@pytest.mark.parametrize("name", ["lock", "hits.jsonl", LOG])
def test_a_link_in_the_journal_is_told_and_left_alone(directory: Path, name: str) -> None:
    target, link = directory.parent / "elsewhere", directory / "journal" / name
    if link.exists():
        link.rename(target)
    else:
        target.touch()
    before = target.read_bytes()
    link.symlink_to(target)
    [found] = [one for one in examine(str(directory), adopt) if one.path == str(link)]

    assert found.kind == "link"
    assert found.harmful
    assert "move it away" in found.problem
    with suppress(StoreError):
        repair(str(directory), adopt)
    assert link.is_symlink()
    assert target.read_bytes() == before
