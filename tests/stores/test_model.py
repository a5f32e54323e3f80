"""Whatever is done to it, by whichever of two handles: the JSON store equals the one in memory."""

import shutil
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nuggets.records import Changes, MemoryNote, NuggetConfig, Touch
from nuggets.state import State
from nuggets.stores import journal
from nuggets.stores.in_memory import InMemoryStore
from nuggets.stores.json_files import JsonFileStore
from store_samples import NOW, note, open_json, pictures_agree, state_of

NUGGETS = ("learnings", "Prefs")
numbers = st.integers(1, 5)
handles = st.integers(0, 1)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


class TwoHandles(RuleBasedStateMachine):
    """Snapshots come every few writes; history is kept short.

    Recalls are told to each handle once, so whoever follows one is its only reader; the witness
    has a handle of its own.
    """

    @initialize(small=st.sampled_from([200, 2000]), paint=st.sampled_from([0.0, 60.0]))
    def open(self, small: int, paint: float) -> None:
        self.directory = tempfile.mkdtemp()
        self.sizes = (journal.SNAPSHOT_BYTES, journal.HISTORY_BYTES)
        journal.SNAPSHOT_BYTES, journal.HISTORY_BYTES = small, 3 * small
        self.paint = paint
        self.model = InMemoryStore()
        self.stores = [self.opened(), self.opened()]
        self.witness = self.opened()
        self.followers = [(State(), 0), (State(), 0)]

    def opened(self) -> JsonFileStore:
        return open_json(self.directory, self.paint)

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            for store in (*self.stores, self.witness):
                store.close()
            journal.SNAPSHOT_BYTES, journal.HISTORY_BYTES = self.sizes
            shutil.rmtree(self.directory)

    def write(self, handle: int, changes: Changes) -> None:
        for store in (self.stores[handle], self.model):
            with store.exclusive():
                _, revision = store.read(0)
                store.write(changes, revision)

    @rule(handle=handles, number=numbers, nugget=st.sampled_from(NUGGETS), content=words)
    def put(self, handle: int, number: int, nugget: str, content: str) -> None:
        made = note(number, nugget_name=nugget, content=content)
        self.write(handle, Changes(put=(made,), put_nuggets=(NuggetConfig(nugget),)))

    @rule(handle=handles, number=numbers, content=words)
    def put_free_note(self, handle: int, number: int, content: str) -> None:
        made = note(number, kind="note", content=content)
        self.write(handle, Changes(put=(made,), put_nuggets=(NuggetConfig("learnings"),)))

    @rule(handle=handles, number=numbers, nugget=st.sampled_from(NUGGETS))
    def drop(self, handle: int, number: int, nugget: str) -> None:
        self.write(handle, Changes(drop=(note(number, nugget_name=nugget).id,)))

    @rule(handle=handles, nugget=st.sampled_from(NUGGETS))
    def remove_nugget(self, handle: int, nugget: str) -> None:
        gone = tuple(n.id for n in self.notes() if n.nugget_name == nugget)
        self.write(handle, Changes(drop=gone, drop_nuggets=(nugget,)))
        # its file goes at once: when history has forgotten it, it looks like one that was restored
        self.stores[handle].close()

    @rule(handle=handles, number=numbers, session=st.sampled_from(["", "s1", "s2"]))
    def touch(self, handle: int, number: int, session: str) -> None:
        self.follow(handle)
        state, _ = self.followers[handle]
        if note(number).id in state.notes:  # what is not there is never shown
            shown = Touch(note(number).id, session, NOW)
            for store in (self.stores[handle], self.model):
                store.touch([shown])
            state.apply(Changes(touches=(shown,)))  # whoever shows it is not told so again

    @rule(handle=handles)
    def reopen(self, handle: int) -> None:
        self.stores[handle].close()
        self.stores[handle] = self.opened()
        self.followers[handle] = (State(), 0)

    @rule(handle=handles)
    def follow(self, handle: int) -> None:
        from nuggets.errors import StaleWrite

        state, revision = self.followers[handle]
        try:
            changes, revision = self.stores[handle].read(revision)
        except StaleWrite:
            state = State()
            changes, revision = self.stores[handle].read(0)
        state.apply(changes)
        self.followers[handle] = (state, revision)

        assert state.notes == state_of(self.model).notes

    @rule(handle=handles)
    def paint_all(self, handle: int) -> None:
        self.follow(handle)
        self.stores[handle].close()
        if self.followers[handle][1]:
            assert pictures_agree(self.directory)

    def notes(self) -> list[MemoryNote]:
        return list(state_of(self.model).notes.values())

    @invariant()
    def a_witness_sees_what_the_model_says(self) -> None:
        if hasattr(self, "stores"):
            found, expected = state_of(self.witness), state_of(self.model)

            assert (found.notes, found.nuggets) == (expected.notes, expected.nuggets)


TestTwoHandles = TwoHandles.TestCase
TestTwoHandles.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
