import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_oracle
from fact_oracle import fact_note
from nuggets.facts.capacity import page_size
from nuggets.facts.index import BUILT_NUGGETS, FactIndex
from nuggets.records import Changes, MemoryNote, NuggetConfig, RecallResult, Touch
from nuggets.state import State

SMALL = NuggetConfig("project", dims=1024)  # pages of four facts


def index_of(*notes: MemoryNote, config: NuggetConfig | None = SMALL) -> FactIndex:
    index = FactIndex()
    index.apply(Changes(put=notes, put_nuggets=(config,) if config else ()))
    return index


def facts(count: int, nugget: str = "project") -> list[MemoryNote]:
    return [fact_note(f"key number {i}", f"val{i}", nugget) for i in range(count)]


def test_a_fact_is_recalled_with_all_that_is_known_of_it() -> None:
    index = index_of(*facts(5))

    result = index.recall("KEY number 3", "Project")

    assert result.found
    assert (result.answer, result.key, result.nugget) == ("val3", "key number 3", "project")
    assert (result.match, result.ratio) == ("exact", 1.0)
    assert result.note_id == facts(5)[3].id
    assert result.confidence == pytest.approx(1.0, abs=1e-6)
    assert result.margin == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("query", ["", "  ", "?!", "→ …", "no such thing"])
def test_a_miss_is_an_empty_answer(query: str) -> None:
    assert index_of(*facts(5)).recall(query, "project") == RecallResult()


def test_an_unknown_nugget_knows_nothing() -> None:
    index = index_of(*facts(2))

    assert not index.recall("key number 1", "elsewhere").found
    assert index.find("elsewhere", "key number 1") == []
    assert index.facts("elsewhere") == []
    assert index.count("elsewhere") == 0


def test_every_fact_of_many_pages_is_recalled_rightly() -> None:
    notes = facts(50)
    index = index_of(*notes)

    for note in notes:
        result = index.recall(note.title, "project")
        assert (result.answer, result.note_id) == (note.content, note.id)


def test_facts_that_share_values_are_recalled_rightly() -> None:
    notes = [fact_note(f"key number {i}", f"val{i * i % 7}") for i in range(50)]
    index = index_of(*notes)

    assert [index.recall(note.title).answer for note in notes] == [n.content for n in notes]


def test_confidence_is_that_of_the_documented_algorithm_on_the_page() -> None:
    config = NuggetConfig("project", dims=64, ensembles=2, sharpen_p=1.5)
    notes = [fact_note(f"key number {i}", f"val{i % 3}") for i in range(6)]
    index = index_of(*notes, config=config)
    size = page_size(64)

    expected = [
        *fact_oracle.decoded([note.content for note in notes[:size]], config),
        *fact_oracle.decoded([note.content for note in notes[size:]], config),
    ]
    for note, (_, confidence, margin) in zip(notes, expected, strict=True):
        result = index.recall(note.title)
        assert (result.confidence, result.margin) == pytest.approx((confidence, margin), abs=1e-4)


def test_a_substring_and_a_misspelling_say_how_well_they_fit() -> None:
    index = index_of(fact_note("auth handler", "src/auth.ts"), fact_note("db port", "5432"))

    part, typo = index.recall("handler"), index.recall("db prot")

    assert (part.answer, part.match) == ("src/auth.ts", "substring")
    assert part.ratio == pytest.approx(14 / 19)
    assert (typo.answer, typo.match) == ("5432", "fuzzy")
    assert typo.ratio == pytest.approx(12 / 14)


def test_the_threshold_of_the_nugget_decides() -> None:
    strict = NuggetConfig("project", dims=1024, fuzzy_threshold=0.95)

    assert index_of(fact_note("db port", "5432")).recall("db prot").found
    assert not index_of(fact_note("db port", "5432"), config=strict).recall("db prot").found


def test_nuggets_and_keys_compare_without_case_and_composition() -> None:
    index = index_of(fact_note("E\u0301cole", "rue", nugget="Straße"), config=None)

    assert index.find("STRASSE", "ÉCOLE") == index.facts("strasse")[:1]
    assert index.recall("école", "straße").answer == "rue"
    assert index.recall("école", "straße").nugget == "Straße"


def test_the_name_is_written_as_the_configuration_has_it() -> None:
    index = index_of(*facts(1), config=NuggetConfig("Project", dims=1024))

    assert index.recall("key number 0", "project").nugget == "Project"


def test_storing_a_key_again_changes_the_value_in_place() -> None:
    first, second = facts(2)
    index = index_of(first, second)
    index.recall(first.title)

    index.apply(Changes(put=(first._replace(content="new"),)))

    assert index.recall(first.title).answer == "new"
    assert index.facts("project") == [first.id, second.id]


def test_a_dropped_fact_is_forgotten() -> None:
    first, second = facts(2)
    index = index_of(first, second)

    index.apply(Changes(drop=(first.id, "never there")))

    assert not index.recall(first.title).found
    assert index.find("project", first.title) == []
    assert index.recall(second.title).answer == second.content
    assert index.count("project") == 1


def test_a_hidden_fact_is_out_of_recall_and_comes_back_to_its_place() -> None:
    notes = facts(3)
    index = index_of(*notes)

    index.apply(Changes(put=(notes[0]._replace(hidden=True),)))
    assert not index.recall(notes[0].title).found
    index.apply(Changes(put=(notes[0],)))

    assert index.recall(notes[0].title).answer == "val0"
    assert index.facts("project") == [note.id for note in notes]


def test_a_renamed_fact_answers_to_its_new_key_only() -> None:
    note = fact_note("auth handler", "src/auth.ts")
    index = index_of(note)
    assert index.recall("auth hadler").found

    index.apply(Changes(put=(note._replace(title="session cache"),)))

    assert not index.recall("auth handler").found
    assert index.recall("session cache").answer == "src/auth.ts"
    assert index.recall("sesion cache").answer == "src/auth.ts"


def test_a_fact_can_move_to_another_nugget() -> None:
    note = facts(1)[0]
    index = index_of(note)

    index.apply(Changes(put=(note._replace(nugget_name="other"),)))

    assert index.count("project") == 0
    assert index.recall(note.title, "other").nugget == "other"


def test_free_form_notes_are_no_facts() -> None:
    note = facts(1)[0]._replace(kind="note")
    index = index_of(note)

    assert not index.recall(note.title).found
    index.apply(Changes(put=(note._replace(kind="fact"),)))
    assert index.recall(note.title).found


def test_touches_and_marks_change_nothing() -> None:
    index = index_of(*facts(2))
    before = index.recall("key number 1")

    index.apply(Changes(touches=(Touch(facts(2)[1].id, "s", "t"),), marks={"x": 1}))

    assert index.recall("key number 1") == before


def test_another_configuration_means_other_vectors() -> None:
    index = index_of(*facts(9))
    before = index.recall("key number 5")
    narrower = SMALL._replace(dims=300, banks=2)

    index.apply(Changes(put_nuggets=(narrower,)))

    after = index.recall("key number 5")
    assert after == index_of(*facts(9), config=narrower).recall("key number 5")
    assert after.confidence != before.confidence


def test_a_nugget_taken_away_is_gone() -> None:
    notes = facts(2)
    index = index_of(*notes)
    index.recall(notes[0].title)

    index.apply(Changes(drop=tuple(n.id for n in notes), drop_nuggets=("PROJECT",)))

    assert not index.recall(notes[0].title).found
    assert index.count("project") == 0


def test_a_broadcast_prefers_the_stricter_match_then_the_ratio() -> None:
    index = index_of(
        fact_note("db port", "exactly", "c"),
        fact_note("db port number", "nearer", "b"),
        fact_note("the db port number of staging", "farther", "a"),
        fact_note("cache port", "misspelt", "d"),
        config=None,
    )

    assert index.recall("db port").answer == "exactly"
    assert index.recall("db port", "b").answer == "nearer"
    assert index.recall("port number").answer == "nearer"
    assert index.recall("cahe port").answer == "misspelt"


def test_a_broadcast_breaks_ties_by_confidence() -> None:
    crowded = NuggetConfig("crowded", dims=16, banks=1)
    roomy = NuggetConfig("roomy", dims=4096)
    index = FactIndex()
    others = [fact_note(f"other {i}", f"o{i}", "crowded") for i in range(3)]
    index.apply(
        Changes(
            put_nuggets=(crowded, roomy),
            put=(
                *others,
                fact_note("db port", "unsure", "crowded"),
                fact_note("db port", "sure", "roomy"),
                fact_note("something else", "x", "roomy"),
            ),
        )
    )

    result = index.recall("db port")

    assert (result.answer, result.nugget) == ("sure", "roomy")


def test_a_shelf_of_many_nuggets_recalls_from_each() -> None:
    names = [f"nugget {i}" for i in range(BUILT_NUGGETS + 3)]
    index = FactIndex()
    for name in names:
        config = NuggetConfig(name, dims=1024)
        notes = [fact_note(f"key {i}", f"{name} {i}", name) for i in range(3)]
        index.apply(Changes(put=tuple(notes), put_nuggets=(config,)))

    for i in (0, 1, 0):
        assert [index.recall(f"key {i}", n).answer for n in names] == [f"{n} {i}" for n in names]


def test_of_two_notes_with_one_key_the_older_answers() -> None:
    old, new = fact_note("port", "1", note_id="z"), fact_note("PORT", "2", note_id="a")
    index = index_of(old, new)

    assert index.find("project", "port") == ["z", "a"]
    assert index.recall("port").answer == "1"
    index.apply(Changes(drop=("z",)))
    assert index.find("project", "port") == ["a"]


KEYS = st.sampled_from(["a1", "b2", "c3", "d4", "e5", "f6"])
NOTES = st.builds(
    fact_note,
    key=KEYS,
    value=st.sampled_from("xyz"),
    nugget=st.sampled_from(["one", "Two"]),
    note_id=st.sampled_from([f"id{i}" for i in range(9)]),
    hidden=st.booleans(),
)
CHANGES = st.builds(
    lambda put, drop, dims, gone: Changes(
        put=tuple(put),
        drop=tuple(drop),
        put_nuggets=tuple(NuggetConfig("one", dims=d) for d in dims),
        drop_nuggets=tuple(gone),
    ),
    st.lists(NOTES, max_size=5),
    st.lists(st.sampled_from([f"id{i}" for i in range(9)]), max_size=2),
    st.lists(st.sampled_from([256, 300]), max_size=1),
    st.lists(st.just("one"), max_size=1),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGES, max_size=6))
def test_an_index_that_followed_every_change_equals_one_made_afresh(many: list[Changes]) -> None:
    state, followed, fresh = State(), FactIndex(), FactIndex()
    for changes in many:
        state.apply(changes)
        followed.apply(changes)
        followed.recall("c3")
        followed.recall("cc3")
    fresh.apply(state.everything())

    for nugget in ("one", "two"):
        assert followed.facts(nugget) == fresh.facts(nugget)
        for key in ("a1", "b2", "c3", "d4", "e5", "f6"):
            ours, theirs = followed.recall(key, nugget), fresh.recall(key, nugget)
            assert ours._replace(confidence=0, margin=0) == theirs._replace(confidence=0, margin=0)
            assert ours.confidence == pytest.approx(theirs.confidence, abs=1e-5)
            assert followed.find(nugget, key) == fresh.find(nugget, key)


def test_resolving_a_key_loads_neither_numpy_nor_difflib() -> None:
    program = """
import sys
from nuggets.facts.index import FactIndex
from nuggets.records import Changes, MemoryNote
note = MemoryNote("id", "n", "db port", "5432", "fact", "", "user", "fact", "system", 1.0,
                  "durable", "", "", "")
index = FactIndex()
index.apply(Changes(put=(note,)))
assert index.find("n", "DB port") == ["id"]
assert not index.recall("holiday in the mountains").found
print({"numpy", "difflib"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "set()\n", done.stderr
