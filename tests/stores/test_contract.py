"""What every store promises, whatever it is kept in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nuggets.errors import StaleWrite
from nuggets.records import Changes, NuggetConfig
from nuggets.state import State
from nuggets.stores.base import Store
from nuggets.stores.in_memory import InMemoryStore
from store_samples import contents, drop, note, open_json, put, state_of, touch

BACKENDS: dict[str, Callable[[Path], Store]] = {
    "memory": lambda directory: InMemoryStore(),
    "json": lambda directory: open_json(directory / "store"),
    "json, painting later": lambda directory: open_json(directory / "store", paint_seconds=60),
}


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = BACKENDS[request.param](tmp_path)
    yield opened
    opened.close()


def test_a_new_store_is_empty_at_revision_0(store: Store) -> None:
    assert store.read(0) == (Changes(), 0)


def test_what_was_written_is_read(store: Store) -> None:
    revision = store.write(Changes(put=(note(1),), put_nuggets=(NuggetConfig("learnings"),)), 0)
    changes, now = store.read(0)

    assert (revision, now) == (1, 1)
    assert changes.put == (note(1),)
    assert changes.put_nuggets == (NuggetConfig("learnings"),)


def test_every_write_is_one_revision(store: Store) -> None:
    assert [put(store, note(n)) for n in (1, 2, 3)] == [1, 2, 3]


def test_reading_since_a_revision_gives_only_what_came_after(store: Store) -> None:
    put(store, note(1))
    put(store, note(2))
    drop(store, note(1).id)
    changes, revision = store.read(1)

    assert (changes.put, changes.drop, revision) == ((note(2),), (note(1).id,), 3)


def test_reading_at_the_newest_revision_gives_nothing(store: Store) -> None:
    put(store, note(1))

    assert store.read(1) == (Changes(), 1)


def test_a_revision_that_never_was_is_refused(store: Store) -> None:
    put(store, note(1))

    with pytest.raises(StaleWrite):
        store.read(5)


def test_differences_lead_to_the_same_state_as_everything(store: Store) -> None:
    follower = State()
    seen = 0
    steps: list[Callable[[], int]] = [
        lambda: put(store, note(1), note(2)),
        lambda: drop(store, note(1).id),
    ]
    for step in steps:
        step()
        changes, seen = store.read(seen)
        follower.apply(changes)

    assert follower.notes == state_of(store).notes
    assert follower.nuggets == state_of(store).nuggets


def test_a_write_against_an_older_revision_is_refused_and_changes_nothing(store: Store) -> None:
    put(store, note(1))
    put(store, note(2))

    with pytest.raises(StaleWrite):
        store.write(Changes(put=(note(3),)), 1)
    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}


def test_a_read_inside_exclusive_is_not_stale_at_the_write(store: Store) -> None:
    with store.exclusive(), store.exclusive():
        _, revision = store.read(0)
        store.write(Changes(put=(note(1),)), revision)

    assert contents(store) == {"key 1": "value 1"}


def test_a_touch_is_seen_but_is_no_write(store: Store) -> None:
    put(store, note(1))
    touch(store, note(1).id, "s1")
    store.write(Changes(marks={"x": 1}), expected=1)

    assert state_of(store).notes[note(1).id].hits == 1


def test_a_session_counts_once_however_often_it_is_read(store: Store) -> None:
    put(store, note(1))
    for session in ("s1", "s2", "s1", ""):
        touch(store, note(1).id, session)
    put(store, note(2))
    touch(store, note(1).id, "s1")

    assert state_of(store).notes[note(1).id].hits == 2


def test_a_touch_of_a_note_that_is_gone_does_nothing(store: Store) -> None:
    touch(store, "fact-none-00000000", "s1")

    assert state_of(store).notes == {}


def test_marks_and_dropped_nuggets_are_kept(store: Store) -> None:
    put(store, note(1))
    store.write(Changes(marks={"last run": {"day": 1}, "other": 2}), 1)
    store.write(Changes(marks={"other": None}, drop_nuggets=("LEARNINGS",)), 2)
    state = state_of(store)

    assert state.marks == {"last run": {"day": 1}}
    assert state.nuggets == {}


def test_the_history_leads_back(store: Store) -> None:
    put(store, note(1))
    put(store, note(1, content="newer"))
    drop(store, note(1).id)
    state = state_of(store)
    commits = list(store.commits(1))
    for commit in reversed(commits):
        state.apply(commit.before)

    assert [commit.revision for commit in commits] == [2, 3]
    assert state.notes == {note(1).id: note(1)}


def test_a_closed_store_can_be_used_again(store: Store) -> None:
    put(store, note(1))
    store.close()
    put(store, note(2))

    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}


@pytest.mark.parametrize(
    "content", ["", "\x00\x1b[31m", "a\u2028b\r\n\x85", "設定 🎉", "x" * 100_000]
)
def test_any_text_comes_back_as_it_was(store: Store, content: str) -> None:
    put(store, note(1, content=content))

    assert state_of(store).notes[note(1).id].content == content


# --- what is kept for later ----------------------------------------------------------------------


def test_what_is_kept_is_there_until_something_is_erased(store: Store) -> None:
    put(store, note(1), note(2))
    assert store.kept("search") == b""

    store.keep("search", [b"fir", b"st"], 1)
    store.keep("search", [b"second"], 1)
    assert (store.kept("search"), store.kept("other")) == (b"second", b"")

    drop(store, note(1).id)
    assert store.kept("search") == b"second"

    store.erase([note(1).id])
    assert store.kept("search") == b""

    store.keep("search", [b"of what was erased"], 1)
    assert store.kept("search") == b""


def test_whoever_touches_is_not_told_so_again_and_others_are(store: Store) -> None:
    put(store, note(1), note(2))
    _, revision = store.read(0)
    touch(store, note(1).id, "s1")

    assert store.read(revision)[0].touches == ()
    assert state_of(store).notes[note(1).id].hits == 1
