"""The one way in which changes move a state on, and back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain.records import Changes, NuggetConfig, Touch
from nuggets.domain.state import (
    SESSIONS_KEPT,
    MemoryState,
    apply_touch,
    everything,
    load_state,
    merge_changes,
)
from store_samples import NOW, note

numbers = st.integers(1, 4)
notes = st.builds(
    lambda number, content: note(number, content=content), numbers, st.text(max_size=3)
)
touches = st.builds(
    lambda number, session: Touch(note(number).id, session, NOW),
    numbers,
    st.sampled_from(["", "s1", "s2"]),
)
configs = st.builds(
    lambda name, dims: NuggetConfig(name, dims=dims), st.sampled_from(["a", "B"]), st.integers(2, 4)
)
some_changes = st.builds(
    lambda **parts: Changes(**parts),
    put=st.lists(notes, max_size=3, unique_by=lambda n: n.id).map(tuple),
    drop=st.lists(numbers.map(lambda n: note(n).id), max_size=2, unique=True).map(tuple),
    put_nuggets=st.lists(configs, max_size=1).map(tuple),
    drop_nuggets=st.lists(st.sampled_from(["A", "b"]), max_size=1).map(tuple),
    marks=st.dictionaries(st.sampled_from("xy"), st.none() | st.integers(), max_size=2),
)
with_touches = st.builds(
    lambda changes, shown: changes._replace(touches=shown),
    some_changes,
    st.lists(touches, max_size=2).map(tuple),
)


def after(*many: Changes) -> MemoryState:
    state = MemoryState()
    for changes in many:
        state.apply(changes)
    return state


def contents(state: MemoryState) -> object:
    return state.notes, state.nuggets, state.marks


@settings(max_examples=example_count(150))
@given(st.lists(with_touches, max_size=5), with_touches)
def test_everything_leads_from_nothing_to_here(many: list[Changes], last: Changes) -> None:
    state = after(*many, last)

    assert contents(after(everything(state))) == contents(state)


@settings(max_examples=example_count(200))
@given(st.lists(with_touches, max_size=3), st.lists(with_touches, max_size=4))
def test_several_changes_as_one_lead_to_the_same(first: list[Changes], then: list[Changes]) -> None:
    state = after(*first)
    state.apply(merge_changes(then))

    assert contents(state) == contents(after(*first, *then))


def test_a_copy_goes_its_own_way() -> None:
    state = after(Changes(put=(note(1),), marks={"x": 1}))
    other = load_state(state)
    other.apply(Changes(drop=(note(1).id,), marks={"x": None}))

    assert list(state.notes) == [note(1).id]
    assert state.marks == {"x": 1}


def test_only_so_many_sessions_are_kept_but_all_are_counted() -> None:
    one = note(1)
    for number in range(SESSIONS_KEPT + 10):
        one = apply_touch(one, Touch(one.id, f"s{number}", NOW))

    assert one.hits == SESSIONS_KEPT + 10
    assert len(one.hit_sessions) == SESSIONS_KEPT
    assert one.last_hit_session == f"s{SESSIONS_KEPT + 9}"


def test_an_older_recall_does_not_turn_the_clock_back() -> None:
    one = apply_touch(note(1), Touch(note(1).id, "s", "2020-01-01T00:00:00.000Z"))

    assert one.last_accessed_at == NOW
    assert one.hits == 1
