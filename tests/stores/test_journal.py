"""The journal: what was committed is there, what was torn never was, and damage is never silent."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggets.errors import StaleWrite, StoreCorrupt
from nuggets.records import Changes
from nuggets.stores import journal, lines
from nuggets.stores.journal import Journal
from nuggets.stores.logs import Position
from nuggets.stores.past import states_at
from store_samples import NOW, contents, files_of, note, open_json, put

LOG = "log-000000000001.jsonl"


def written(directory: Path, *numbers: int) -> tuple[Journal, Position]:
    """A journal with one commit per number, and where its end is."""
    directory.mkdir(exist_ok=True)
    made = Journal(str(directory))
    state, position, _ = made.load()
    for number in numbers:
        changes = Changes(put=(note(number),))
        position = made.append(position, f"2026-01-01T00:00:00.{number:03d}Z", changes, Changes())
        state.apply(changes)
    return made, position


def titles(directory: Path) -> list[str]:
    return [n.title for n in Journal(str(directory)).load()[0].notes.values()]


def test_a_torn_tail_is_as_if_it_had_never_been_at_every_byte(tmp_path: Path) -> None:
    written(tmp_path, 1)
    whole = (tmp_path / LOG).read_bytes()
    written(tmp_path, 2)
    longer = (tmp_path / LOG).read_bytes()
    for cut in range(len(whole), len(longer)):
        (tmp_path / LOG).write_bytes(longer[:cut])

        assert titles(tmp_path) == ["key 1"], cut
        if cut % 20 == 0:
            written(tmp_path, 3)

            assert titles(tmp_path) == ["key 1", "key 3"], cut


def test_a_first_line_torn_at_every_byte_leaves_a_new_journal(tmp_path: Path) -> None:
    written(tmp_path, 1)
    whole = (tmp_path / LOG).read_bytes()
    for cut in range(len(whole)):
        (tmp_path / LOG).write_bytes(whole[:cut])

        assert titles(tmp_path) == []
        if cut % 40 == 0:
            written(tmp_path, 2)

            assert titles(tmp_path) == ["key 2"]


def test_blocks_of_zeros_where_the_last_line_should_be_are_a_torn_tail(tmp_path: Path) -> None:
    written(tmp_path, 1)
    whole = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(whole + b"\0" * 900)

    assert titles(tmp_path) == ["key 1"]


def test_every_flipped_bit_of_the_last_record_is_damage_not_a_torn_tail(tmp_path: Path) -> None:
    written(tmp_path, 1)
    start = (tmp_path / LOG).stat().st_size
    written(tmp_path, 2)
    whole = (tmp_path / LOG).read_bytes()
    for place in range(start, len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            rest = bytes(flipped[start:])

            assert not lines.is_torn(rest, start), (place, bit)
            assert lines.checked(rest) is None, (place, bit)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_in_earlier_records_is_damage_and_nothing_is_overwritten(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("store")
    store = open_json(directory)
    put(store, note(1))
    put(store, note(2))
    log = directory / "journal" / LOG
    whole = log.read_bytes()
    place = data.draw(st.integers(0, whole.rindex(b"\n", 0, len(whole) - 1)))
    bit = data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[place] ^= 1 << bit
    log.write_bytes(flipped)
    before = files_of(directory)

    with pytest.raises(StoreCorrupt, match=f"{LOG}.*doctor"):
        put(open_json(directory), note(3))
    assert {**files_of(directory), "journal/lock": b""} == {**before, "journal/lock": b""}


def test_a_damaged_snapshot_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    put(open_json(tmp_path), note(1))
    snapshot = tmp_path / "journal" / "snapshot-000000000001.jsonl"
    whole = snapshot.read_bytes()
    for damage in (b"", whole[:-10], whole.replace(b"value", b"valae"), whole.split(b"\n")[0]):
        snapshot.write_bytes(damage)

        with pytest.raises(StoreCorrupt, match="snapshot-000000000001"):
            open_json(tmp_path).read(0)
        assert snapshot.read_bytes() == damage


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    put(open_json(tmp_path), note(1))
    log = tmp_path / "journal" / LOG
    newer = lines.line({"format": 2}) + b"who knows\n"
    log.write_bytes(newer)

    with pytest.raises(StoreCorrupt, match="newer version"):
        put(open_json(tmp_path), note(2))
    assert log.read_bytes() == newer


def test_a_missing_log_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(open_json(tmp_path), note(1))
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    put(open_json(tmp_path), note(2))
    put(open_json(tmp_path), note(3))
    for name in os.listdir(tmp_path / "journal"):
        if name.startswith("snapshot") or name == LOG:
            os.unlink(tmp_path / "journal" / name)

    with pytest.raises(StoreCorrupt, match="part is missing"):
        open_json(tmp_path).read(0)


def test_a_missing_revision_inside_a_log_is_a_gap(tmp_path: Path) -> None:
    written(tmp_path, 1, 2, 3)
    kept = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / LOG).write_bytes(b"".join(kept[:2] + kept[3:]))

    with pytest.raises(StoreCorrupt, match="part is missing"):
        Journal(str(tmp_path)).load()


def test_a_whole_line_of_someone_else_is_never_cut_off(tmp_path: Path) -> None:
    made, position = written(tmp_path, 1)
    written(tmp_path, 2)

    with pytest.raises(StaleWrite):
        made.append(position, NOW, Changes(put=(note(3),)), Changes())
    assert titles(tmp_path) == ["key 1", "key 2"]


def test_a_follower_that_sleeps_through_many_snapshots_wakes_up_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(journal, "HISTORY_BYTES", 1)
    sleeper, busy = open_json(tmp_path), open_json(tmp_path)
    put(sleeper, note(1))
    for number in range(2, 9):
        put(busy, note(number))

    assert LOG not in os.listdir(tmp_path / "journal")
    assert put(sleeper, note(9)) == 9
    assert len(contents(busy)) == 9


def test_a_follower_of_an_unborn_store_sees_its_birth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(journal, "HISTORY_BYTES", 1)
    early = open_json(tmp_path)
    early.read(0)
    late = open_json(tmp_path)
    for number in range(1, 6):
        put(late, note(number))

    assert len(contents(early)) == 5


def test_logs_are_pruned_but_never_what_two_snapshots_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(journal, "HISTORY_BYTES", 1)
    store = open_json(tmp_path)
    for number in range(1, 40):
        put(store, note(number % 3))
    names = sorted(os.listdir(tmp_path / "journal"))
    snapshots = [name for name in names if name.startswith("snapshot")]
    os.unlink(tmp_path / "journal" / snapshots[-1])

    assert len(snapshots) == 2
    assert len(names) < 9
    assert contents(open_json(tmp_path)) == contents(store)


def test_the_state_at_an_earlier_revision_counts_recalls_too(tmp_path: Path) -> None:
    from store_samples import touch

    store = open_json(tmp_path)
    put(store, note(1))
    touch(store, note(1).id, "s1")
    put(store, note(2))
    kept = Journal(str(tmp_path / "journal"))
    states = states_at(kept, {1, 2, 3})
    hits = [states[r][0].notes[note(1).id].hits for r in (1, 2)]

    assert hits == [0, 1]
    assert 3 not in states


def test_a_crash_between_snapshot_and_the_end_of_its_log_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    kept = Journal(str(tmp_path / "journal"))
    state, position, _ = kept.load()
    monkeypatch.setattr(Journal, "_close_log", lambda self, position: position)
    kept.snapshot(state, position)
    monkeypatch.undo()
    put(store, note(2))

    assert contents(open_json(tmp_path)) == {"key 1": "value 1", "key 2": "value 2"}
    assert sorted(os.listdir(tmp_path / "journal"))[1:] == [LOG, "snapshot-000000000001.jsonl"]


def test_commits_are_stamped_in_order_even_when_the_clock_jumps_back(tmp_path: Path) -> None:
    times = iter([f"2026-01-01T00:00:0{second}.000Z" for second in (5, 5, 1, 9)])
    store = open_json(tmp_path)
    store._clock = lambda: next(times)
    stamps = []
    for number in range(1, 5):
        put(store, note(number))
        stamps.append(list(store.commits(0))[-1].at)

    assert stamps == sorted(set(stamps))
