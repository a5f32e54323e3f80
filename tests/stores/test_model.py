"""Whatever is done to it, by whichever of two handles: a store equals a state in dictionaries.

The reference is `MemoryState` and a list of what was done; the history must lead back through it.
"""

import shutil
import tempfile
from contextlib import suppress

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from nuggets.domain.records import Changes, MemoryNote, NoteLink, NuggetConfig, Touch
from nuggets.domain.state import MemoryState, load_state
from nuggets.filesystem.shelf_location import DatabaseUrl
from nuggets.operations.transactions import KINDS
from nuggets.stores.postgresql.store import PostgresqlStore
from nuggets.stores.sql.store import Store
from nuggets.stores.sqlite.store import SqliteStore
from postgresql_server import Server
from store_samples import NOW, exports_agree, note, state_of

NUGGETS = ("learnings", "Prefs")
numbers = st.integers(1, 5)
handles = st.integers(0, 1)
# no text of ours has NUL or halves of surrogate pairs: every door refuses them
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
sessions = st.sampled_from(["", "s1", "s2"])


class Failure(Exception):
    """A batch that does not reach its end."""


class Model:
    """What a store must say: all that is there, and how it was before each revision."""

    def __init__(self) -> None:
        self.state = MemoryState()
        self.past: list[MemoryState] = []

    def commit(self, *changes: Changes) -> None:
        self.past.append(load_state(self.state))
        for one in changes:
            self.state.apply(one)

    def recall(self, touch: Touch) -> None:
        """A revision only if it makes a hit."""
        before = load_state(self.state)
        self.state.apply(Changes(touches=(touch,)))
        shown = before.notes.get(touch.note_id)
        if shown is not None and self.state.notes[touch.note_id].hits != shown.hits:
            self.past.append(before)


def put(made: MemoryNote) -> Changes:
    return Changes(put=(made,), put_nuggets=(NuggetConfig(made.nugget_name),), action="put")


@st.composite
def changes(draw: st.DrawFn) -> Changes:
    """One that any operation could have decided."""
    number, nugget = draw(numbers), draw(st.sampled_from(NUGGETS))
    made = note(
        number,
        kind=draw(st.sampled_from(["fact", "note"])),
        nugget_name=nugget,
        content=draw(words),
        hidden=draw(st.booleans()),
        links=tuple(NoteLink(note(n).id, "why", NOW) for n in draw(st.sets(numbers, max_size=2))),
    )
    found: Changes = draw(
        st.sampled_from(
            [
                put(made),
                put(made._replace(extra={"x": [number]})),
                Changes(drop=(made.id,), action="drop"),
                Changes(put=(made,), drop=(note(number + 1).id,), action="replace"),
                Changes(marks={f"mark {number % 2}": number or None}, action="mark"),
                Changes(marks={f"mark {number % 2}": None}, action="mark"),
                Changes(put=(made,), touches=(Touch(note(number).id, "s3", NOW),), action="put"),
            ]
        )
    )
    return found


class TwoHandles(RuleBasedStateMachine):
    """And a third one that only looks."""

    @initialize(short_lived=st.booleans())
    def open(self, short_lived: bool) -> None:
        self.directory = tempfile.mkdtemp()
        self.short_lived = short_lived
        self.model = Model()
        self.stores = [self.opened(), self.opened()]
        self.witness = self.opened()

    def opened(self) -> Store:
        return SqliteStore(
            self.directory, KINDS, lambda *edit: (Changes(), 0), short_lived=self.short_lived
        )

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            self.the_history_leads_back()
            self.the_indexes_are_as_if_made_anew()
            for store in (*self.stores, self.witness):
                store.close()
            shutil.rmtree(self.directory)

    @rule(handle=handles, change=changes())
    def write(self, handle: int, change: Changes) -> None:
        revision = self.stores[handle].write(change)
        self.model.commit(change)

        assert revision == len(self.model.past)

    @rule(handle=handles, inside=st.lists(changes(), min_size=1, max_size=4), fails=st.booleans())
    def write_in_a_batch(self, handle: int, inside: list[Changes], fails: bool) -> None:
        store = self.stores[handle]
        with suppress(Failure), store.batch():
            for change in inside:
                store.write(change)
            if fails:
                raise Failure
        if not fails:
            self.model.commit(*inside)

    @rule(handle=handles, outer=changes(), inner=changes(), last=changes())
    def write_in_a_batch_whose_inner_one_fails(
        self, handle: int, outer: Changes, inner: Changes, last: Changes
    ) -> None:
        store = self.stores[handle]
        with store.batch():
            store.write(outer)
            with suppress(Failure), store.batch():
                store.write(inner)
                raise Failure
            store.write(last)
        self.model.commit(outer, last)

    @rule(handle=handles, nugget=st.sampled_from(NUGGETS))
    def remove_nugget(self, handle: int, nugget: str) -> None:
        gone = tuple(n.id for n in self.model.state.notes.values() if n.nugget_name == nugget)
        self.write(handle, Changes(drop=gone, drop_nuggets=(nugget,), action="remove"))

    @rule(handle=handles, number=numbers, session=sessions)
    def touch(self, handle: int, number: int, session: str) -> None:
        shown = Touch(note(number).id, session, NOW)
        self.stores[handle].touch([shown])
        self.model.recall(shown)

    @rule(handle=handles, change=changes())
    def change_a_copy(self, handle: int, change: Changes) -> None:
        after = load_state(self.model.state)
        after.apply(change)
        copy = self.stores[handle].private_copy()
        copy.write(change)
        with copy.reading():
            assert dict(copy.state.notes) == after.notes

    @rule(handle=handles)
    def reopen(self, handle: int) -> None:
        self.stores[handle].close()
        self.stores[handle] = self.opened()

    @rule(handle=handles)
    def refresh_exports(self, handle: int) -> None:
        store = self.stores[handle]
        store.refresh_exports()
        if store.is_remote:
            return  # there are no files
        if self.model.past and not self.model.state.notes.keys() - self.facts_in_files():
            assert exports_agree(self.directory)

    def facts_in_files(self) -> set[str]:
        """Only notes of nuggets that are there have a place in the documented files."""
        state = self.model.state
        return {n.id for n in state.notes.values() if n.nugget_name.casefold() in state.nuggets}

    @invariant()
    def every_handle_sees_what_the_model_says(self) -> None:
        if not hasattr(self, "stores"):
            return
        expected = self.model.state
        for store in (*self.stores, self.witness):
            found = state_of(store)

            assert found.notes == expected.notes
            assert found.nuggets == expected.nuggets
            assert found.marks == expected.marks

    def the_indexes_are_as_if_made_anew(self) -> None:
        with self.witness.reading():
            names = [kind.name for kind in KINDS if not kind.optional]
            assert [name for name in names if self.witness.indexes[name].check()] == []

    def the_history_leads_back(self) -> None:
        store = self.witness
        state = state_of(store)
        with store.reading():
            assert store.position[0] == len(self.model.past)
            for commit in store.history.commits(newest_first=True):
                state.apply(commit.before)
                expected = self.model.past[commit.revision - 1]

                assert state.notes.keys() == expected.notes.keys()
                assert texts(state) == texts(expected)
                assert (state.nuggets, state.marks) == (expected.nuggets, expected.marks)


def texts(state: MemoryState) -> dict[str, object]:
    """All but recalls, which are counted and never taken back."""
    return {n.id: (n.title, n.content, n.hidden, n.links, n.extra) for n in state.notes.values()}


TestTwoHandles = TwoHandles.TestCase
TestTwoHandles.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)


class TwoConnections(TwoHandles):
    """The same on a shelf in a database."""

    server: Server

    def opened(self) -> Store:
        return PostgresqlStore(DatabaseUrl(self.server.url(self.directory)), KINDS)


def test_two_connections_to_a_database(postgresql_server: Server) -> None:
    TwoConnections.server = postgresql_server
    run_state_machine_as_test(
        TwoConnections,
        settings=settings(max_examples=8, stateful_step_count=15, deadline=None),
    )
