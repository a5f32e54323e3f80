import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_oracle
from example_counts import example_count
from fact_oracle import fact_note
from fact_shelf import FactShelf
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig, RecallResult, Touch
from nuggets.facts.capacity import page_size
from nuggets.facts.memory_banks import NUGGETS_KEPT

SMALL = NuggetConfig("project", dims=1024)  # pages of four facts


def shelf_of(*notes: MemoryNote, config: NuggetConfig | None = SMALL) -> FactShelf:
    shelf = FactShelf()
    shelf.apply(Changes(put=notes, put_nuggets=(config,) if config else ()))
    return shelf


def facts(count: int, nugget: str = "project") -> list[MemoryNote]:
    return [fact_note(f"key number {i}", f"val{i}", nugget) for i in range(count)]


def test_a_fact_is_recalled_with_all_that_is_known_of_it() -> None:
    shelf = shelf_of(*facts(5))

    result = shelf.recall("KEY number 3", "Project")

    assert result.found
    assert (result.answer, result.key, result.nugget) == ("val3", "key number 3", "project")
    assert (result.match, result.ratio) == ("exact", 1.0)
    assert result.note_id == facts(5)[3].id
    assert result.confidence == pytest.approx(1.0, abs=1e-6)
    assert result.margin == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("query", ["", "  ", "?!", "→ …", "no such thing"])
def test_a_miss_is_an_empty_answer(query: str) -> None:
    assert shelf_of(*facts(5)).recall(query, "project") == RecallResult()


def test_an_unknown_nugget_knows_nothing() -> None:
    shelf = shelf_of(*facts(2))

    assert not shelf.recall("key number 1", "elsewhere").found


def test_every_fact_of_many_pages_is_recalled_rightly() -> None:
    notes = facts(50)
    shelf = shelf_of(*notes)

    for note in notes:
        result = shelf.recall(note.title, "project")
        assert (result.answer, result.note_id) == (note.content, note.id)


def test_facts_that_share_values_are_recalled_rightly() -> None:
    notes = [fact_note(f"key number {i}", f"val{i * i % 7}") for i in range(50)]
    shelf = shelf_of(*notes)

    assert [shelf.recall(note.title).answer for note in notes] == [n.content for n in notes]


def test_confidence_is_that_of_the_documented_algorithm_on_the_page() -> None:
    config = NuggetConfig("project", dims=64, ensembles=2, sharpen_p=1.5)
    notes = [fact_note(f"key number {i}", f"val{i % 3}") for i in range(6)]
    shelf = shelf_of(*notes, config=config)
    size = page_size(64)

    expected = [
        *fact_oracle.decoded([note.content for note in notes[:size]], config),
        *fact_oracle.decoded([note.content for note in notes[size:]], config),
    ]
    for note, (_, confidence, margin) in zip(notes, expected, strict=True):
        result = shelf.recall(note.title)
        assert (result.confidence, result.margin) == pytest.approx((confidence, margin), abs=1e-4)


def test_a_substring_and_a_misspelling_say_how_well_they_fit() -> None:
    shelf = shelf_of(fact_note("auth handler", "src/auth.ts"), fact_note("db port", "5432"))

    part, typo = shelf.recall("handler"), shelf.recall("db prot")

    assert (part.answer, part.match) == ("src/auth.ts", "substring")
    assert part.ratio == pytest.approx(14 / 19)
    assert (typo.answer, typo.match) == ("5432", "fuzzy")
    assert typo.ratio == pytest.approx(12 / 14)


def test_the_probability_falls_with_every_fact_that_fits_as_well() -> None:
    shelf = shelf_of(*(fact_note(f"redis {word}", word) for word in ("host", "port", "user")))

    exact, unique, guess = map(shelf.recall, ("redis host", "host", "redis"))

    assert exact.probability == pytest.approx(0.99, abs=1e-4)
    assert exact.probability > unique.probability > 0.8
    assert 0.2 < guess.probability < 1 / 3
    assert shelf.recall("mongo").probability == 0


def test_the_threshold_of_the_nugget_decides() -> None:
    strict = NuggetConfig("project", dims=1024, fuzzy_threshold=0.95)

    assert shelf_of(fact_note("db port", "5432")).recall("db prot").found
    assert not shelf_of(fact_note("db port", "5432"), config=strict).recall("db prot").found


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("evnt store rate limit", "event store rate limit"),
        ("the rate limit of the evnt store", "rate limit of the event store"),
    ],
)
def test_a_key_within_a_question_never_beats_a_misspelt_key_that_fits_all_of_it(
    query: str, key: str
) -> None:
    assert (
        shelf_of(fact_note("rate limit", "10"), fact_note(key, "99")).recall(query).answer == "99"
    )


@pytest.mark.parametrize("other", ["test runner", "page: end to end test", "Test"])
def test_a_word_that_another_key_has_is_no_misspelling(other: str) -> None:
    text = fact_note("text cmd", "cat")

    assert shelf_of(text).recall("test cmd").answer == "cat"
    assert (
        shelf_of(text, fact_note(other, "pytest", "elsewhere")).recall("test cmd").key != "text cmd"
    )
    assert shelf_of(text, fact_note(other, "pytest")).recall("txet cmd").answer == "cat"


@pytest.mark.parametrize("other", ["auth service", "handlers of events"])
def test_a_beginning_or_a_plural_is_the_same_word_though_another_key_has_it(other: str) -> None:
    shelf = shelf_of(fact_note("authentication handler", "47"), fact_note(other, "no"))

    assert shelf.recall("auth handlers").answer == "47"


def test_nuggets_and_keys_compare_without_case_and_composition() -> None:
    shelf = shelf_of(fact_note("E\u0301cole", "rue", nugget="Straße"), config=None)

    assert shelf.recall("ÉCOLE", "STRASSE").match == "exact"
    assert shelf.recall("école", "straße").answer == "rue"
    assert shelf.recall("école", "straße").nugget == "Straße"


def test_the_name_is_written_as_the_configuration_has_it() -> None:
    shelf = shelf_of(*facts(1), config=NuggetConfig("Project", dims=1024))

    assert shelf.recall("key number 0", "project").nugget == "Project"


def test_storing_a_key_again_changes_the_value_in_place() -> None:
    first, second = facts(2)
    shelf = shelf_of(first, second)
    shelf.recall(first.title)

    shelf.apply(Changes(put=(first._replace(content="new"),)))

    assert shelf.recall(first.title).answer == "new"
    assert shelf.recall(second.title).answer == second.content


def test_a_dropped_fact_is_forgotten() -> None:
    first, second = facts(2)
    shelf = shelf_of(first, second)

    shelf.apply(Changes(drop=(first.id, "never there")))

    assert not shelf.recall(first.title).found
    assert shelf.recall(second.title).answer == second.content


def test_a_hidden_fact_is_out_of_recall_and_comes_back_to_its_place() -> None:
    notes = facts(3)
    shelf, before = shelf_of(*notes), shelf_of(*notes)

    shelf.apply(Changes(put=(notes[0]._replace(hidden=True),)))
    assert not shelf.recall(notes[0].title).found
    shelf.apply(Changes(put=(notes[0],)))

    assert [shelf.recall(note.title) for note in notes] == [before.recall(n.title) for n in notes]


def test_a_renamed_fact_answers_to_its_new_key_only() -> None:
    note = fact_note("auth handler", "src/auth.ts")
    shelf = shelf_of(note)
    assert shelf.recall("auth hadler").found

    shelf.apply(Changes(put=(note._replace(title="session cache"),)))

    assert not shelf.recall("auth handler").found
    assert shelf.recall("session cache").answer == "src/auth.ts"
    assert shelf.recall("sesion cache").answer == "src/auth.ts"


def test_a_fact_can_move_to_another_nugget() -> None:
    note = facts(1)[0]
    shelf = shelf_of(note)

    shelf.apply(Changes(put=(note._replace(nugget_name="other"),)))

    assert not shelf.recall(note.title, "project").found
    assert shelf.recall(note.title, "other").nugget == "other"


def test_free_form_notes_are_no_facts() -> None:
    note = facts(1)[0]._replace(kind="note")
    shelf = shelf_of(note)

    assert not shelf.recall(note.title).found
    shelf.apply(Changes(put=(note._replace(kind="fact"),)))
    assert shelf.recall(note.title).found


def test_touches_and_marks_change_nothing() -> None:
    shelf = shelf_of(*facts(2))
    before = shelf.recall("key number 1")

    shelf.apply(Changes(touches=(Touch(facts(2)[1].id, "s", "t"),), marks={"x": 1}))

    assert shelf.recall("key number 1") == before


def test_another_configuration_means_other_vectors() -> None:
    shelf = shelf_of(*facts(9))
    before = shelf.recall("key number 5")
    narrower = SMALL._replace(dims=300, banks=2)

    shelf.apply(Changes(put_nuggets=(narrower,)))

    after = shelf.recall("key number 5")
    assert after == shelf_of(*facts(9), config=narrower).recall("key number 5")
    assert after.confidence != before.confidence


def test_a_nugget_taken_away_is_gone() -> None:
    notes = facts(2)
    shelf = shelf_of(*notes)
    shelf.recall(notes[0].title)

    shelf.apply(Changes(drop=tuple(n.id for n in notes), drop_nuggets=("PROJECT",)))

    assert not shelf.recall(notes[0].title).found
    assert not shelf.recall("key number", "project").found


def test_a_broadcast_prefers_the_stricter_match_then_the_ratio() -> None:
    shelf = shelf_of(
        fact_note("db port", "exactly", "c"),
        fact_note("db port number", "nearer", "b"),
        fact_note("the db port number of staging", "farther", "a"),
        fact_note("cache port", "misspelt", "d"),
        config=None,
    )

    assert shelf.recall("db port").answer == "exactly"
    assert shelf.recall("db port", "b").answer == "nearer"
    assert shelf.recall("port number").answer == "nearer"
    assert shelf.recall("cahe port").answer == "misspelt"


def test_a_broadcast_breaks_ties_by_confidence() -> None:
    crowded = NuggetConfig("crowded", dims=24, banks=1)
    roomy = NuggetConfig("roomy", dims=4096)
    shelf = FactShelf()
    others = [fact_note(f"other {i}", f"o{i}", "crowded") for i in range(3)]
    shelf.apply(
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

    result = shelf.recall("db port")

    assert (result.answer, result.nugget) == ("sure", "roomy")


def test_a_shelf_of_many_nuggets_recalls_from_each() -> None:
    names = [f"nugget {i}" for i in range(NUGGETS_KEPT + 3)]
    shelf = FactShelf()
    for name in names:
        config = NuggetConfig(name, dims=1024)
        notes = [fact_note(f"key {i}", f"{name} {i}", name) for i in range(3)]
        shelf.apply(Changes(put=tuple(notes), put_nuggets=(config,)))

    for i in (0, 1, 0):
        assert [shelf.recall(f"key {i}", n).answer for n in names] == [f"{n} {i}" for n in names]


def test_of_two_notes_with_one_key_the_older_answers() -> None:
    old, new = fact_note("port", "1", note_id="z"), fact_note("PORT", "2", note_id="a")
    shelf = shelf_of(old, new)

    assert shelf.recall("port").answer == "1"
    shelf.apply(Changes(drop=("z",)))
    assert shelf.recall("port").note_id == "a"


KEYS = st.sampled_from(["a1", "b2", "c3", "d4", "e5", "f6"])
PROJECTS = st.sampled_from(["", "p", "q"])
NOTES = st.builds(
    lambda project, **note: fact_note(**note)._replace(project=project),
    project=PROJECTS,
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


ASKED = ("a1", "b2", "c3", "d4", "e5", "f6", "cc3")


@settings(max_examples=example_count(40), deadline=None)
@given(st.lists(st.tuples(CHANGES, st.booleans()), max_size=6))
def test_an_index_that_followed_every_change_equals_one_made_afresh(
    many: list[tuple[Changes, bool]],
) -> None:
    followed, fresh = FactShelf(), FactShelf()
    for changes, kept in many:
        followed.apply(changes)
        fresh.apply(changes)
        followed.recall("c3")
        followed.recall("cc3")
        if kept:
            followed.index.save()
    fresh.rebuild()

    another = followed.another_process()
    assert another.check() == []
    for nugget in ("one", "two", None):
        for project in ("", "p"):
            for key in ASKED:
                expected = fresh.recall(key, nugget, project)
                assert_alike(followed.recall(key, nugget, project), expected)
                assert_alike(another.recall(key, nugget, project), expected)


def assert_alike(ours: RecallResult, theirs: RecallResult) -> None:
    ours_rest, theirs_rest = (
        result._replace(confidence=0, margin=0, probability=0) for result in (ours, theirs)
    )
    assert ours_rest == theirs_rest
    for name in ("confidence", "margin", "probability"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-5)


def test_a_note_that_changes_twice_at_once_is_what_it_became() -> None:
    first, second = facts(2)
    shelf = FactShelf()

    shelf.apply(Changes(put=(first, second, first._replace(title="another key"), second)))
    shelf.apply(Changes(put=(second._replace(title="gone"),), drop=(second.id,)))

    assert shelf.recall("another key").note_id == first.id
    assert not shelf.recall(first.title).found
    assert not shelf.recall("gone").found


def test_a_place_far_from_the_others_is_found_in_its_page() -> None:
    shelf = FactShelf()
    for i in range(12):
        shelf.last_place = 700 * i
        shelf.apply(Changes(put=(fact_note(f"key number {i}", f"val{i}"),), put_nuggets=(SMALL,)))

    assert [shelf.recall(f"key number {i}").answer for i in range(12)] == [
        f"val{i}" for i in range(12)
    ]
    shelf.apply(Changes(drop=(list(shelf.notes)[3],)))
    assert shelf.recall("key number 11").answer == "val11"
    assert shelf.index.check() == []


@pytest.mark.parametrize("nugget", ["project", None])
def test_an_exact_recall_asks_as_little_of_a_large_nugget_as_of_a_small_one(
    nugget: str | None,
) -> None:
    small, large = shelf_of(*facts(1_500)), shelf_of(*facts(12_000))

    assert database_steps(large, nugget) < 2 * database_steps(small, nugget)


def database_steps(shelf: FactShelf, nugget: str | None) -> int:
    """In tens of instructions of its virtual machine, for the last fact of a recalled nugget."""
    last = list(shelf.notes.values())[-1]
    shelf.recall(last.title, nugget)
    steps = []
    shelf.database.set_progress_handler(lambda: steps.append(1), 10)
    assert shelf.recall(last.title, nugget).match == "exact"
    return len(steps)


def test_a_check_finds_counts_that_lost_touch() -> None:
    shelf = shelf_of(*facts(3))

    shelf.database.execute("UPDATE fact_counts SET facts = 2")

    assert shelf.index.check() == ["nugget project: its facts are miscounted"]
    shelf.rebuild()
    assert shelf.index.check() == []


def test_a_broken_query_is_a_miss_and_no_error() -> None:
    shelf = shelf_of(*facts(3))

    assert not shelf.recall("no\udc80thing", "pro\udc80ject", "pa\udc80th").found
    assert shelf.recall("\udc80 key number 2").answer == "val2"


def test_this_project_comes_before_everywhere_and_others_come_last() -> None:
    shelf = shelf_of(
        fact_note("db port", "other", note_id="o")._replace(project="other"),
        fact_note("db port", "everywhere", note_id="e"),
        fact_note("db port", "ours", note_id="p")._replace(project="p"),
        fact_note("cache size", "another", note_id="c")._replace(project="other"),
    )

    assert shelf.recall("db port", project="p").answer == "ours"
    assert shelf.recall("db port", project="p").also == ()
    assert shelf.recall("db port", project="q").answer == "everywhere"
    assert shelf.recall("db prot", project="other").answer == "other"
    assert shelf.recall("db port", project="").answer == "everywhere"
    assert shelf.recall("cache size", project="p").project == "other"
    assert shelf.recall("cahce size", project="p").project == "other"


PROGRAM = """
import sqlite3, sys
from nuggets.facts import TABLES
from nuggets.facts.fact_index import FactIndex
from nuggets.domain.records import MemoryNote
note = MemoryNote("id", "n", "db port", "5432", "fact", "", "user", "fact", "system", 1.0,
                  "durable", "", "", "")
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for table in TABLES:
    database.execute(table)
index = FactIndex(database, lambda ids: {"id": note}, dict)
"""


def run(program: str, database: Path) -> str:
    command = [sys.executable, "-c", PROGRAM + program, str(database)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def test_resolving_a_key_loads_neither_numpy_nor_difflib(tmp_path: Path) -> None:
    program = """
index.update([(1, None, note)])
assert not index.recall("holiday in the mountains").found
print({"numpy", "difflib"} & set(sys.modules))
"""
    assert run(program, tmp_path / "facts.db") == "set()\n"


def test_a_page_that_another_process_decoded_is_recalled_without_numpy(tmp_path: Path) -> None:
    decode = """
index.update([(1, None, note)])
print(index.recall("db port"), index.has_unsaved)
index.save()
"""
    read = """
print(index.recall("db port"), "numpy" in sys.modules or index.has_unsaved)
"""
    decoded = run(decode, tmp_path / "facts.db")

    assert "answer='5432'" in decoded
    assert run(read, tmp_path / "facts.db") == decoded.replace("True\n", "False\n")
