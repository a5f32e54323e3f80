"""What every store promises: in memory, in a directory, in a database."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from nuggets.domain.records import Changes, Commit, NoteLink, NuggetConfig, Touch
from nuggets.domain.state import MemoryState, load_state
from nuggets.filesystem.shelf_location import DatabaseUrl
from nuggets.stores.postgresql.store import PostgresqlStore
from nuggets.stores.sql.store import Store
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    NOW,
    contents,
    drop,
    history_of,
    note,
    open_directory,
    put,
    revision_of,
    state_of,
    touch,
)

DIRECTORIES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda directory: SqliteStore(""),
    "directory": lambda directory: open_directory(directory / "store"),
    "directory of a living process": lambda directory: open_directory(
        directory / "store", short_lived=False
    ),
}


class Failure(Exception):
    """Something went wrong in the middle."""


@pytest.fixture(params=[*DIRECTORIES, "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql_url")
        opened: Store = PostgresqlStore(DatabaseUrl(url))
    else:
        opened = DIRECTORIES[request.param](tmp_path)
    yield opened
    opened.close()


def commits_of(
    store: Store, since: int = 0, note: str | None = None, *, newest_first: bool = False
) -> list[Commit]:
    with store.reading():
        return list(store.history.commits(since, note, newest_first=newest_first))


def hits_of(store: Store, number: int) -> int:
    return state_of(store).notes[note(number).id].hits


def same(found: MemoryState, expected: MemoryState) -> bool:
    """Whatever the order: what was dropped and comes back is as new."""
    return (found.notes, found.nuggets, found.marks) == (
        expected.notes,
        expected.nuggets,
        expected.marks,
    )


# --- reading and writing -------------------------------------------------------------------------


def test_a_new_store_is_empty_at_revision_0(store: Store) -> None:
    with store.reading():
        assert store.position == (0, "")
    assert same(state_of(store), MemoryState())


def test_every_write_is_one_revision(store: Store) -> None:
    assert [put(store, note(n)) for n in (1, 2, 3)] == [1, 2, 3]
    assert revision_of(store) == 3


def test_what_was_written_is_read(store: Store) -> None:
    store.write(Changes(put=(note(1),), put_nuggets=(NuggetConfig("learnings"),)))
    state = state_of(store)

    assert state.notes == {note(1).id: note(1)}
    assert state.nuggets == {"learnings": NuggetConfig("learnings")}


def test_notes_are_in_the_order_of_their_creation_and_keep_it(store: Store) -> None:
    put(store, note(2), note(1))
    put(store, note(3))
    put(store, note(2, content="newer"))

    assert list(contents(store)) == ["key 2", "key 1", "key 3"]


def test_marks_and_dropped_nuggets_are_kept(store: Store) -> None:
    put(store, note(1))
    store.write(Changes(marks={"last run": {"day": 1}, "other": 2}))
    store.write(Changes(marks={"other": None}, drop_nuggets=("LEARNINGS",)))
    state = state_of(store)

    assert state.marks == {"last run": {"day": 1}}
    assert state.nuggets == {}


@pytest.mark.parametrize(
    "content", ["", "\x00\x1b[31m", "a\u2028b\r\n\x85", "設定 🎉", "x" * 100_000]
)
def test_any_text_comes_back_as_it_was(store: Store, content: str) -> None:
    put(store, note(1, content=content, title=f"t {content[:20]}", tags=(content[:9],)))
    found = state_of(store).notes[note(1).id]

    assert (found.content, found.title, found.tags) == (
        content,
        f"t {content[:20]}",
        (content[:9],),
    )


def test_a_write_that_cannot_be_done_leaves_nothing(store: Store) -> None:
    put(store, note(1))
    unwritable = note(3, content="\ud800")
    with pytest.raises(UnicodeEncodeError):
        put(store, note(2), unwritable)

    assert contents(store) == {"key 1": "value 1"}
    assert revision_of(store) == 1
    assert put(store, note(4)) == 2


def test_a_closed_store_can_be_used_again(store: Store) -> None:
    put(store, note(1))
    store.close()
    put(store, note(2))
    store.close()

    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}


# --- one at a time -------------------------------------------------------------------------------


def test_exclusive_may_be_nested_and_what_it_reads_stays(store: Store) -> None:
    with store.exclusive(), store.exclusive():
        revision, _ = store.position
        assert store.write(Changes(put=(note(1),))) == revision + 1
        assert note(1).id in store.state.notes

    assert contents(store) == {"key 1": "value 1"}


def test_whatever_leaves_exclusive_by_an_error_keeps_what_was_written_before(store: Store) -> None:
    with suppress(Failure), store.exclusive():
        put(store, note(1))
        raise Failure

    assert contents(store) == {"key 1": "value 1"}
    assert put(store, note(2)) == 2


# --- batches -------------------------------------------------------------------------------------


def test_a_batch_is_one_revision(store: Store) -> None:
    put(store, note(1))
    with store.batch():
        put(store, note(2))
        put(store, note(3), note(2, content="newer"))
        drop(store, note(1).id)

        assert note(2).id in store.state.notes
    commit = commits_of(store, since=1)

    assert contents(store) == {"key 2": "newer", "key 3": "value 3"}
    assert [one.revision for one in commit] == [2]
    assert commit[0].changes.put == (note(2, content="newer"), note(3))
    assert commit[0].changes.drop == (note(1).id,)


def test_a_batch_that_fails_leaves_nothing(store: Store) -> None:
    put(store, note(1))
    with suppress(Failure), store.batch():
        put(store, note(2, nugget_name="new"))
        drop(store, note(1).id)
        raise Failure

    assert contents(store) == {"key 1": "value 1"}
    assert set(state_of(store).nuggets) == {"learnings"}
    assert put(store, note(3)) == 2


def test_an_empty_batch_is_no_revision(store: Store) -> None:
    put(store, note(1))
    with store.batch(), store.batch():
        pass

    assert revision_of(store) == 1


def test_an_inner_batch_that_fails_takes_only_its_own_back(store: Store) -> None:
    with store.batch():
        put(store, note(1))
        with suppress(Failure), store.batch():
            put(store, note(1, content="inner"), note(2))
            raise Failure
        put(store, note(3))
        with store.batch():
            put(store, note(4))

    assert contents(store) == {"key 1": "value 1", "key 3": "value 3", "key 4": "value 4"}
    assert revision_of(store) == 1
    assert commits_of(store)[0].changes.put == (note(1), note(3), note(4))


def test_a_batch_reads_the_nuggets_that_it_has_made_and_no_others(store: Store) -> None:
    first, second = NuggetConfig("first"), NuggetConfig("second")
    with store.batch():
        store.write(Changes(put_nuggets=(first,)))
        assert store.state.nuggets["first"] == first
        with suppress(Failure), store.batch():
            store.write(Changes(put_nuggets=(first._replace(dims=8), second)))
            assert store.state.nuggets["first"].dims == 8
            raise Failure
        assert store.state.nuggets.get("second") is None
        assert store.state.nuggets["first"] == first
        store.write(Changes(drop_nuggets=("first",)))
        assert "first" not in store.state.nuggets


def test_an_inner_batch_that_comes_first_and_fails_leaves_the_outer_one_as_it_was(
    store: Store,
) -> None:
    with store.batch():
        with suppress(Failure), store.batch():
            put(store, note(1))
            raise Failure
        put(store, note(2))

    assert contents(store) == {"key 2": "value 2"}
    assert revision_of(store) == 1


def test_a_batch_inside_exclusive_is_whole_and_so_is_what_comes_after(store: Store) -> None:
    with store.exclusive():
        with store.batch():
            put(store, note(1))
            put(store, note(2))
        with suppress(Failure), store.batch():
            put(store, note(3))
            raise Failure
        put(store, note(4))

    assert list(contents(store)) == ["key 1", "key 2", "key 4"]
    assert revision_of(store) == 2


def test_what_a_batch_does_and_undoes_leads_back_to_where_it_began(store: Store) -> None:
    put(store, note(1))
    with store.batch():
        put(store, note(2))
        drop(store, note(2).id, note(1).id)
        put(store, note(1, content="again"))
        store.write(Changes(marks={"x": 1}, put_nuggets=(NuggetConfig("other", dims=512),)))
        store.write(Changes(marks={"x": 2}, drop_nuggets=("other",)))

    assert contents(store) == {"key 1": "again"}
    state = state_of(store)
    state.apply(commits_of(store, since=1)[0].before)
    assert contents_of(state) == {"key 1": "value 1"}
    assert (set(state.nuggets), state.marks) == ({"learnings"}, {})


def contents_of(state: MemoryState) -> dict[str, str]:
    return {n.title: n.content for n in state.notes.values()}


# --- a private copy ------------------------------------------------------------------------------


def test_a_private_copy_goes_its_own_way(store: Store) -> None:
    put(store, note(1))
    copy = store.private_copy()
    copy.write(Changes(put=(note(2),), drop=(note(1).id,), marks={"x": 1}))

    assert (contents(copy), state_of(copy).marks) == ({"key 2": "value 2"}, {"x": 1})
    assert (contents(store), state_of(store).marks) == ({"key 1": "value 1"}, {})
    assert put(store, note(4)) == 2
    assert contents(copy) == {"key 2": "value 2"}


def test_a_private_copy_is_of_the_moment_that_is_read(store: Store) -> None:
    put(store, note(1))
    with store.reading():
        copy = store.private_copy()

    assert (contents(copy), revision_of(copy)) == ({"key 1": "value 1"}, 1)


# --- recalls -------------------------------------------------------------------------------------


def test_a_session_counts_once_however_often_it_is_read(store: Store) -> None:
    put(store, note(1))
    for session in ("s1", "s2", "s1", ""):
        touch(store, note(1).id, session)
    put(store, note(2))
    touch(store, note(1).id, "s1")

    assert hits_of(store, 1) == 2


def test_a_counted_recall_is_a_commit_of_its_own_and_any_other_is_none(store: Store) -> None:
    put(store, note(1))
    for session in ("s1", "s1", ""):
        touch(store, note(1).id, session)

    assert history_of(store) == ["put", "recall"]
    assert [t.session for t in commits_of(store)[1].changes.touches] == ["s1"]


def test_a_write_of_what_was_read_before_a_recall_does_not_take_the_recall_back(
    store: Store,
) -> None:
    """A recall is no lost update, and loses none: whoever writes says how often it was recalled."""
    put(store, note(1))
    touch(store, note(1).id, "s1")
    read = state_of(store).notes[note(1).id]
    put(store, read._replace(content="newer"))
    touch(store, note(1).id, "s1")
    touch(store, note(1).id, "s2")

    found = state_of(store).notes[note(1).id]
    assert (found.content, found.hits, found.hit_sessions) == ("newer", 2, ("s1", "s2"))


def test_the_time_of_the_last_access_never_goes_back(store: Store) -> None:
    put(store, note(1))
    touch(store, note(1).id, "", at="2026-03-01T00:00:00.000Z")
    touch(store, note(1).id, "", at="2026-02-01T00:00:00.000Z")

    found = state_of(store).notes[note(1).id]
    assert (found.last_accessed_at, found.hits) == ("2026-03-01T00:00:00.000Z", 0)


def accessed(store: Store, number: int) -> str:
    return state_of(store).notes[note(number).id].last_accessed_at[11:]


def show(store: Store, number: int, moment: str) -> None:
    touch(store, note(number).id, "", at=f"2026-03-01T{moment}Z")


def test_notes_shown_again_in_the_same_second_are_written_with_the_next_write(
    store: Store,
) -> None:
    put(store, note(1), note(2))
    show(store, 1, "09:00:00.001")
    show(store, 2, "09:00:00.002")
    show(store, 1, "09:00:00.003")
    put(store, note(3))

    assert accessed(store, 1) == "09:00:00.003Z"
    assert accessed(store, 2) == "09:00:00.002Z"
    assert history_of(store) == ["put", "put"]


def test_notes_shown_again_in_the_same_second_are_written_with_a_hit_a_batch_or_when_asked(
    store: Store,
) -> None:
    put(store, note(1), note(2))
    show(store, 1, "09:00:00.001")
    show(store, 1, "09:00:00.002")
    touch(store, note(2).id, "s1")
    assert accessed(store, 1) == "09:00:00.002Z"

    show(store, 1, "09:00:00.003")
    with store.batch():
        put(store, note(3))
    assert accessed(store, 1) == "09:00:00.003Z"

    show(store, 1, "09:00:00.004")
    store.flush_touches()
    assert accessed(store, 1) == "09:00:00.004Z"


def test_a_touch_of_a_note_that_is_gone_does_nothing(store: Store) -> None:
    touch(store, "fact-none-00000000", "s1")

    assert state_of(store).notes == {}
    assert revision_of(store) == 0


def test_recalls_inside_a_batch_go_with_it(store: Store) -> None:
    put(store, note(1))
    with suppress(Failure), store.batch():
        put(store, note(2))
        touch(store, note(1).id, "s1")
        raise Failure
    assert hits_of(store, 1) == 0

    with store.batch():
        put(store, note(2))
        touch(store, note(1).id, "s1")
    assert hits_of(store, 1) == 1
    assert history_of(store) == ["put", "put"]


def test_recalls_that_are_written_with_a_change_are_counted_with_it(store: Store) -> None:
    put(store, note(1))
    store.write(Changes(put=(note(2),), touches=(Touch(note(1).id, "s1", NOW),), action="put"))

    assert hits_of(store, 1) == 1
    assert [t.session for t in commits_of(store)[1].changes.touches] == ["s1"]


def test_each_hit_is_kept_with_its_session_time_and_kind(store: Store) -> None:
    put(store, note(1))
    opened = Touch(note(1).id, "s1", NOW, "opened")
    answered = Touch(note(1).id, "s2", NOW, "answered")
    store.touch([opened, answered, Touch(note(1).id, "s2", NOW, "opened")])

    assert list(store.history.hits()) == [opened, answered]

    put(store, note(2))

    assert list(store.history.hits()) == [opened, answered]
    assert commits_of(store)[1].changes.touches == (opened, answered)


# --- history -------------------------------------------------------------------------------------


def lead_back(store: Store, commits: Sequence[Commit]) -> Iterator[MemoryState]:
    """The state before each commit, newest first."""
    state = state_of(store)
    for commit in commits:
        state.apply(commit.before)
        yield load_state(state)


def without_recalls(state: MemoryState) -> MemoryState:
    """Counting a recall changes a note and is not undone."""
    copy = load_state(state)
    for note_id, one in copy.notes.items():
        copy.notes[note_id] = one._replace(
            hits=0, hit_sessions=(), last_hit_session="", last_accessed_at=""
        )
    return copy


def test_the_history_leads_back_through_puts_drops_batches_and_recalls(store: Store) -> None:
    linked = note(2, links=(NoteLink(note(1).id, "why", NOW),))
    steps: list[Callable[[], object]] = [
        lambda: put(store, note(1), linked),
        lambda: put(store, note(1, content="newer")),
        lambda: touch(store, note(1).id, "s1"),
        lambda: drop(store, note(1).id),
        lambda: put(store, note(1, content="again"), note(3, nugget_name="Other")),
        lambda: drop(store, note(1).id, note(2).id),
        lambda: store.write(Changes(marks={"x": [1]}, drop_nuggets=("other",))),
        lambda: store.write(Changes(put_nuggets=(NuggetConfig("Other", dims=64),))),
    ]
    seen = []
    for step in steps:
        seen.append(state_of(store))
        step()
    with store.batch():
        put(store, note(5))
        drop(store, note(3).id)
    commits = commits_of(store)
    states = list(lead_back(store, commits[::-1]))[::-1]

    assert [commit.revision for commit in commits] == list(range(1, len(steps) + 2))
    for before, expected in zip(states, seen, strict=False):
        assert same(without_recalls(before), without_recalls(expected))


def test_a_commit_says_what_it_put_though_that_was_changed_since(store: Store) -> None:
    put(store, note(1))
    touch(store, note(1).id, "s1")
    recalled = state_of(store).notes[note(1).id]
    put(store, recalled._replace(content="newer"))
    touch(store, note(1).id, "s2")
    drop(store, note(1).id)
    put(store, note(1, content="again"))
    put_by = [commit.changes.put for commit in commits_of(store)]

    assert put_by == [
        (note(1),),
        (),
        (recalled._replace(content="newer"),),
        (),
        (),
        (note(1, content="again"),),
    ]


def test_the_history_of_one_note_and_from_the_newest_on(store: Store) -> None:
    put(store, note(1))
    put(store, note(2))
    with store.batch():
        put(store, note(1, content="newer"), note(3))
    drop(store, note(1).id)

    assert [c.revision for c in commits_of(store, note=note(1).id)] == [1, 3, 4]
    assert [c.revision for c in commits_of(store, 1, note(1).id, newest_first=True)] == [4, 3]
    assert [c.revision for c in commits_of(store, newest_first=True)] == [4, 3, 2, 1]
    assert [c.revision for c in commits_of(store, since=3)] == [4]
    assert commits_of(store, note="fact-none-00000000") == []


def test_a_long_history_is_read_to_its_end_in_both_directions(store: Store) -> None:
    with store.exclusive():
        for number in range(150):
            store.write(Changes(marks={"number": number}))
    numbers = [c.changes.marks["number"] for c in commits_of(store, since=20)]

    assert numbers == list(range(20, 150))
    assert [c.revision for c in commits_of(store, 20, newest_first=True)] == [*range(150, 20, -1)]


def test_commits_say_who_did_what_and_when_and_time_never_goes_back(tmp_path: Path) -> None:
    moments = iter(["2026-01-02T00:00:00.000Z", "2026-01-01T00:00:00.000Z"])
    store = SqliteStore("", clock=lambda: next(moments))
    store.write(Changes(put=(note(1),), action="remember", client="cli"))
    store.write(Changes(put=(note(2),), action="note", client="mcp"))
    first, second = commits_of(store)

    assert (first.changes.action, first.changes.client) == ("remember", "cli")
    assert (second.changes.action, second.changes.client) == ("note", "mcp")
    assert first.at == "2026-01-02T00:00:00.000Z"
    assert second.at > first.at


def test_a_batch_is_called_by_what_it_did_or_a_save(store: Store) -> None:
    with store.batch():
        put(store, note(1))
        put(store, note(2))
    with store.batch():
        put(store, note(3))
        drop(store, note(3).id)

    assert history_of(store) == ["put", "save"]
