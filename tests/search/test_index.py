import os
import subprocess
import sys
from itertools import product

import pytest

from nuggets.domain.records import MemoryNote, NoteFilterOptions
from nuggets.errors import NotFound
from searchable import found, index_of, linked, note

AUTH = note(
    1, "Auth middleware", "Handled in src/auth/middleware.ts:47. Uses JWT.", "auth", "files"
)
JWT = note(2, "JWT token format", "RS256 signing. Public key at src/auth/keys/public.pem.", "auth")
LUNCH = note(3, "Lunch", "The canteen serves soup on Mondays.", "food")
CATS = note(4, "Cats", "Two cats live here, both grey.")


def test_the_note_that_has_the_words_comes_first() -> None:
    index = index_of(AUTH, JWT, LUNCH, CATS)

    assert found(index, "which soup does the canteen have")[0] == "Lunch"


def test_an_abbreviation_is_found_by_the_long_word_and_the_other_way_round() -> None:
    long = note(5, "Login", "Authentication happens at the gateway.")

    assert set(found(index_of(AUTH, JWT, LUNCH), "authentication")) == {AUTH.title, JWT.title}
    assert found(index_of(long, LUNCH), "auth") == ["Login"]


def test_results_share_one_softmax_and_come_best_first() -> None:
    results = index_of(AUTH, JWT, LUNCH, CATS).search("auth public key", limit=10)

    assert results[0].note == JWT
    assert sum(result.score for result in results) == pytest.approx(1)
    assert [r.relevance for r in results] == sorted((r.relevance for r in results), reverse=True)


def test_relevance_is_the_documented_sum() -> None:
    (result,) = index_of(CATS, LUNCH).search("grey cats")

    boost = 0.05 + 0.03 + 0.05 * 0.9
    combined = 0.42 * result.vector_score + 0.48 * result.text_score + boost

    assert result.relevance == pytest.approx(combined, abs=1e-6)


@pytest.mark.parametrize("query", ["quantum chromodynamics", "zzzz", "xylophone tuning fork"])
def test_a_question_about_something_else_finds_nothing(query: str) -> None:
    assert found(index_of(AUTH, JWT, LUNCH, CATS), query) == []


def test_no_more_than_limit_results_come_back() -> None:
    many = [note(i, f"Note {i}", "the same words again") for i in range(40)]

    assert len(index_of(*many).search("same words", limit=3)) == 3
    assert len(index_of(*many).search("same words", limit=30)) == 30


def test_as_many_as_are_wanted_come_back_though_others_state_more() -> None:
    both = [note(i, f"Row {i}", "copper cable in the cellar") for i in range(30)]
    one = [note(100 + i, f"Line {i}", "a cable under the road") for i in range(30)]

    results = index_of(*both, *one).search("copper cable", limit=60)

    assert [result.note.title.split()[0] for result in results] == ["Row"] * 30 + ["Line"] * 30


def test_a_score_is_explained_as_it_is_among_many_results() -> None:
    both = [note(i, f"Row {i}", "copper cable in the cellar", f"t{i % 5}") for i in range(30)]
    one = [note(100 + i, f"Line {i}", "a cable by the road", f"t{i % 7}") for i in range(30)]
    index = index_of(*both, *one)

    for result in index.search("copper cable", limit=60):
        explained = index.explain("copper cable", result.note.id)
        assert explained.relevance == pytest.approx(result.relevance)


def test_of_equals_the_newer_comes_first_and_then_the_smaller_id() -> None:
    old = note(1, "T", "same words", created_at="2025-01-01T00:00:00.000Z")
    first, second = note(2, "T", "same words"), note(3, "T", "same words")

    results = index_of(second, old, first).search("same words")

    assert [result.note for result in results] == [first, second, old]


def test_a_dropped_note_is_no_longer_found() -> None:
    index = index_of(CATS, LUNCH)
    assert found(index, "cats") == ["Cats"]

    index.drop(CATS.id)

    assert found(index, "cats") == []


def test_an_edited_note_is_found_by_its_new_words_only() -> None:
    index = index_of(CATS, LUNCH)
    index.search("cats")

    index.put(CATS._replace(title="Dogs", content="One dog barks."))

    assert found(index, "grey") == []
    assert found(index, "barking dogs") == ["Dogs"]


def test_a_result_carries_the_note_as_it_is_now() -> None:
    index = index_of(CATS)
    index.search("cats")

    index.put(CATS._replace(hits=7))

    assert index.search("cats")[0].note.hits == 7


def test_hidden_notes_are_found_only_when_asked_for() -> None:
    index = index_of(CATS._replace(hidden=True), LUNCH)

    assert found(index, "grey cats") == []
    assert found(index, "grey cats", filters=NoteFilterOptions(include_hidden=True)) == ["Cats"]

    index.put(CATS)

    assert found(index, "grey cats") == ["Cats"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (NoteFilterOptions(scope="project"), "A"),
        (NoteFilterOptions(type="preference"), "B"),
        (NoteFilterOptions(tag="red-tag"), "C"),
        (NoteFilterOptions(kind="fact"), "D"),
        (NoteFilterOptions(subject="assistant:self"), "E"),
        (NoteFilterOptions(nugget="OTHER"), "F"),
        (NoteFilterOptions(nugget="nowhere"), None),
        (NoteFilterOptions(scope="project", type="preference"), None),
    ],
)
def test_filters_are_exact_and_all_must_hold(
    filters: NoteFilterOptions, expected: str | None
) -> None:
    text = "the same words"
    crowd = [note(100 + i, f"Z{i}", text) for i in range(30)]
    index = index_of(
        *crowd,
        note(1, "A", text, scope="project"),
        note(2, "B", text, type="preference"),
        note(3, "C", text, "red-tag"),
        note(4, "D", text, kind="fact"),
        note(5, "E", text, subject="assistant:self"),
        note(6, "F", text, nugget_name="other"),
    )

    assert found(index, "same words", limit=1, filters=filters) == ([expected] if expected else [])


def test_a_linked_note_lends_its_words() -> None:
    asked = note(1, "Ann", "Which instrument did you buy?")
    answer = note(2, "Bob", "A second-hand one, it sounds lovely.")
    other = note(3, "Bob", "A second one, it looks fine.")
    index = index_of(*linked(asked, answer), other, LUNCH)

    results = found(index, "instrument")

    assert results[0] in ("Ann", "Bob")
    assert len(results) == 2


def test_a_question_that_names_a_title_prefers_its_notes() -> None:
    rows = [note(i, "Ann" if i % 2 else "Bob", f"We went hiking on trail {i}.") for i in range(20)]

    results = index_of(*rows).search("Where did Ann go hiking?", limit=8)

    assert {result.note.title for result in results} == {"Ann"}


def test_a_date_in_the_question_prefers_notes_of_that_day() -> None:
    rows = [
        note(i, "Diary", "Went for a swim.", created_at=f"2025-0{i}-15T08:00:00.000Z")
        for i in range(1, 9)
    ]

    best = index_of(*rows).search("Who went for a swim on May 15, 2025?")[0]

    assert best.note.created_at.startswith("2025-05-15")


def test_a_word_for_word_match_beats_the_same_words_in_another_order() -> None:
    rows = [
        note(1, "X", "test the retry budget, then run"),
        note(2, "Y", "run the test budget retry"),
    ]

    assert found(index_of(*rows, LUNCH), "the retry budget")[0] == "X"


def test_explain_takes_the_score_apart() -> None:
    index = index_of(AUTH, JWT, LUNCH)
    (result,) = [r for r in index.search("autentication middleware") if r.note == AUTH]

    why = index.explain("autentication middleware", AUTH.id)

    assert why.found
    assert why.relevance == pytest.approx(result.relevance, abs=1e-6)
    assert {word.word for word in why.words} == {"autentication", "middleware"}
    middleware = next(word for word in why.words if word.word == "middleware")
    assert middleware.fields == ("title", "content")
    assert middleware.share > 0


def test_explain_says_that_a_word_was_corrected_or_lent_by_a_neighbour() -> None:
    first, second = linked(note(1, "A", "Handles parsing"), note(2, "B", "Nothing else here"))
    index = index_of(first, second, LUNCH)

    (corrected,) = index.explain("parsinng", first.id).words
    (lent,) = index.explain("parsing", second.id).words

    assert corrected.matched == ("parsinng → parsing (corrected)",)
    assert corrected.fields == ("content",)
    assert lent.fields == ("linked",)


def test_explaining_a_note_that_does_not_match_says_so() -> None:
    why = index_of(AUTH, LUNCH).explain("soup", AUTH.id)

    assert not why.found
    assert why.text == 0


def test_explaining_an_unknown_note_is_an_error() -> None:
    with pytest.raises(NotFound):
        index_of(AUTH).explain("auth", "note-n-ffffffff")


def test_an_empty_index_finds_nothing() -> None:
    assert index_of().search("anything") == []


def test_neither_writing_nor_asking_loads_numpy() -> None:
    code = (
        "import sys\n"
        "from searchable import Shelf, note\n"
        "shelf = Shelf(note(1, 'Cats', 'Two cats live here'))\n"
        "assert shelf.search('grey cats')\n"
        "print({'numpy'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.stdout.strip() == "set()"


def test_a_rare_word_is_found_even_in_a_note_much_longer_than_the_others() -> None:
    long = note(5, "Log", "needle " + " ".join(f"line{i} said nothing" for i in range(800)))

    assert found(index_of(long, AUTH, JWT, LUNCH, CATS), "needle") == ["Log"]


def test_a_question_of_which_only_one_word_is_known_finds_nothing() -> None:
    crowd = [note(100 + i, f"Entry {i}", f"The house number {i} has a garden.") for i in range(30)]

    assert found(index_of(*crowd), "quantum chromodynamics lattice simulation house") == []


def test_a_tag_that_repeats_the_text_adds_nothing() -> None:
    plain = note(1, "commits", "never force a push to main")
    tagged = note(1, "commits", "never force a push to main", "never", "push")
    other = note(2, "lunch", "soup")

    def relevance(one: MemoryNote) -> float:
        return index_of(one, other).search("never said so")[0].relevance

    assert relevance(tagged) == relevance(plain)
    assert index_of(note(1, "commits", "no force", "deploy"), other).search("deploy")


def test_a_question_word_for_word_is_found_among_many_that_have_its_words() -> None:
    many = [note(n, f"Number {n}", f"column for the secret {n}") for n in range(40)]
    said = note(99, "Rule", "the secret column must never be logged " + "anywhere at all " * 20)

    assert index_of(*many, said).search("secret column")[0].note.id == said.id


def test_a_commit_is_found_by_the_beginning_of_its_name() -> None:
    commit = note(1, "Release", "broken by 9fceb02d0ae598e95dc970b74767f19372d61af8 it seems")

    assert index_of(commit, note(2, "Other", "all is well")).search("9fceb02")[0].note == commit


def test_a_page_of_unknown_words_costs_no_more_than_a_question() -> None:
    known = note(1, "Garden", "roses and a hedge")
    unknown = " ".join(map("".join, product("bdfgk", "aeiou", "lmnpr", "aeiou", "stvz")))
    words = index_of(known).explain(f"{unknown} hedge", known.id).words

    assert len(words) == 64
    assert words[0].word == "hedge"
