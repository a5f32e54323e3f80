"""Recall through the shelf: hits, sessions, times, and who answers when everyone is asked."""

from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.domain.type_check import NoteMeta
from nuggets.errors import NotFound


def test_a_session_counts_once_however_often_it_asks(shelf: NuggetShelf) -> None:
    shelf.remember("n", "k", "v")

    for session in ("s1", "s1", "s2", "s1"):
        shelf.recall("k", session=session)

    [fact] = shelf.facts("n")
    assert fact.hits == 2
    assert fact.hit_sessions == ("s1", "s2")
    assert fact.last_hit_session == "s2"


@pytest.mark.parametrize("key", ["🚀", "/", "->"])
def test_a_key_without_letters_is_recalled_by_itself_alone(shelf: NuggetShelf, key: str) -> None:
    shelf.remember("n", key, "v")

    assert shelf.recall(key).answer == "v"
    assert not shelf.recall("!?").found


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("GitHub org", "github"),
        ("JavaScript style", "javascript"),
        ("userService port", "USERSERVICE"),
    ],
)
def test_a_capital_inside_a_word_of_a_key_makes_no_difference(
    shelf: NuggetShelf, key: str, asked: str
) -> None:
    shelf.remember("n", key, "v")

    assert shelf.recall(asked).answer == "v"


def test_without_a_session_nothing_is_counted(shelf: NuggetShelf) -> None:
    shelf.remember("n", "k", "v")

    shelf.recall("k")

    assert shelf.facts("n")[0].hits == 0


def test_a_miss_never_counts(shelf: NuggetShelf) -> None:
    shelf.remember("n", "deployment region", "eu")

    missed = shelf.recall("favourite colour", session="s1")

    assert not missed.found
    assert (missed.answer, missed.confidence, missed.key, missed.match) == ("", 0.0, "", None)
    assert shelf.facts("n")[0].hits == 0


def test_every_recall_moves_the_time_of_last_access_and_not_of_change(shelf: NuggetShelf) -> None:
    before = shelf.remember("n", "k", "v")

    shelf.recall("k", session="s1")
    once = shelf.facts("n")[0]
    shelf.recall("k", session="s1")
    twice = shelf.facts("n")[0]

    assert before.last_accessed_at < once.last_accessed_at < twice.last_accessed_at
    assert twice.updated_at == before.updated_at


def test_the_last_64_sessions_are_kept() -> None:
    """In memory: elsewhere a count that finds the lock taken comes later, after others."""
    with NuggetShelf("memory:") as shelf:
        shelf.remember("n", "k", "v")
        for number in range(70):
            shelf.recall("k", session=f"s{number}")
        [fact] = shelf.facts("n")

    assert fact.hits == 70
    assert fact.hit_sessions == tuple(f"s{number}" for number in range(6, 70))


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("auth handler", "exact"),
        ("AUTH Handler", "exact"),
        ("auth", "substring"),
        ("where is the auth handler", "substring"),
        ("auth handlr", "fuzzy"),
    ],
)
def test_a_query_says_how_it_fits_the_key(shelf: NuggetShelf, query: str, match: str) -> None:
    shelf.remember("n", "auth handler", "here")

    found = shelf.recall(query)

    assert (found.answer, found.match) == ("here", match)
    assert (found.ratio == 1) is (match == "exact")


@pytest.mark.parametrize("query", ["", "   ", "\n", "!!!", "...", "😀", "()[]*+", "\u200b"])
def test_a_query_without_letters_or_digits_is_not_found(shelf: NuggetShelf, query: str) -> None:
    shelf.remember("n", "k", "v")

    assert not shelf.recall(query).found
    assert not shelf.recall(query, as_of="2031-01-01").found
    result, notes = shelf.recall_or_search(query)
    assert (result.found, len(notes)) == (False, 0)


def test_asking_an_unknown_nugget_is_an_error_not_a_miss(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match="there is no nugget 'nope'"):
        shelf.recall("k", nugget="nope")


def test_asking_one_nugget_asks_no_other(shelf: NuggetShelf) -> None:
    shelf.remember("a", "port", "80")
    shelf.remember("b", "colour", "red")

    assert not shelf.recall("port", nugget="b").found
    assert shelf.recall("PORT", nugget="A").answer == "80"


# --- broadcast ----------------------------------------------------------------------------------


def test_exact_beats_substring_beats_fuzzy(shelf: NuggetShelf) -> None:
    shelf.remember("fuzzy", "test comand", "fuzzy")
    shelf.remember("part", "test command line", "part")
    shelf.remember("exact", "test command", "exact")

    first = shelf.recall("test command").nugget
    shelf.remove("exact")
    second = shelf.recall("test command").nugget
    shelf.remove("part")
    third = shelf.recall("test command").nugget

    assert [first, second, third] == ["exact", "part", "fuzzy"]


def test_of_two_substrings_the_closer_one_answers(shelf: NuggetShelf) -> None:
    shelf.remember("far", "the test command of the whole project", "far")
    shelf.remember("near", "test command line", "near")

    assert shelf.recall("test command").nugget == "near"


def test_a_small_nugget_does_not_win_by_its_confidence(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(64):
            shelf.remember("full", f"entry {number}", f"value {number}")
        shelf.remember("full", "release date", "friday")
    shelf.remember("lonely", "release dates of old versions", "never")

    assert shelf.recall("release date").answer == "friday"


def test_only_the_winner_gains_the_hit(shelf: NuggetShelf) -> None:
    shelf.remember("a", "test command", "exact")
    shelf.remember("b", "test command line", "part")

    shelf.recall("test command", session="s1")

    assert [shelf.facts(name)[0].hits for name in ("a", "b")] == [1, 0]


def test_values_that_other_facts_share_are_still_right(shelf: NuggetShelf) -> None:
    shelf.remember("n", "staging", "same")
    shelf.remember("n", "production", "same")
    shelf.remember("n", "local", "different")

    answers = [shelf.recall(key).answer for key in ("staging", "production", "local")]

    assert answers == ["same", "same", "different"]


# --- recall, else search ------------------------------------------------------------------------


def test_what_no_fact_answers_the_graph_is_asked(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth middleware", "Verifies JWT tokens before every request.")

    result, notes = shelf.recall_or_search("who verifies tokens", session="s1")

    assert not result.found
    assert [found.note.id for found in notes] == [note.id]
    assert notes[0].note.hits == 1


def test_a_fact_that_answers_leaves_the_graph_alone(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Auth handler", "About the auth handler.")
    shelf.remember("n", "auth handler", "here")

    result, notes = shelf.recall_or_search("auth handler")

    assert result.answer == "here"
    assert notes == ()


def test_files_that_were_seen_come_after_what_is_known(shelf: NuggetShelf) -> None:
    seen: NoteMeta = {"source": "tool_observation", "stability": "temporary"}
    with shelf.batch():
        for number in range(30):
            path = f"part{number}/webhook.py"
            shelf.create_note("files", f"file: {path}", f"{path} was read", **seen)
        shelf.create_note("n", "Payment flow of the shop", "Signed by the webhook, then queued.")

    _, notes = shelf.recall_or_search("webhook")

    assert len(notes) == 5
    assert notes[0].note.title == "Payment flow of the shop"


def test_nothing_anywhere_is_a_miss_without_notes(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Auth middleware", "Verifies JWT tokens.")

    result, notes = shelf.recall_or_search("zebra crossing")

    assert not result.found
    assert list(notes) == []


@pytest.mark.parametrize("query", ["what is love", "moon phase", "recipe for bread"])
def test_what_merely_resembles_is_no_answer(shelf: NuggetShelf, query: str) -> None:
    shelf.create_note("n", "Stripe", "the live key, read from the mood board")

    result, notes = shelf.recall_or_search(query, session="s1")

    assert not result.found
    assert list(notes) == []


# --- capacity -----------------------------------------------------------------------------------


def test_status_says_how_full_a_nugget_is(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", dims=64, banks=2, ensembles=3, max_facts=40)
    nugget.remember("k", "v")
    nugget.create_note("t", "c")

    assert nugget.status()._asdict() == {
        "name": "n",
        "fact_count": 1,
        "note_count": 1,
        "dimension": 64,
        "banks": 2,
        "ensembles": 3,
        "capacity": 16,
        "capacity_used_pct": 6.2,
        "capacity_warning": "",
        "max_facts": 40,
    }


def test_the_documented_capacity_is_512(shelf: NuggetShelf) -> None:
    assert shelf.create("n").status().capacity == 512


@pytest.mark.parametrize(
    ("facts", "warning"),
    [
        (7, ""),
        (8, "WARNING: approaching capacity"),
        (9, "CRITICAL: nearly full"),
        (10, "CRITICAL: nearly full"),
    ],
)
def test_the_warning_follows_the_fill(shelf: NuggetShelf, facts: int, warning: str) -> None:
    nugget = shelf.create("n", dims=100, banks=1)
    for number in range(facts):
        nugget.remember(f"key {number}", "v")

    assert nugget.status().capacity_warning == warning


def test_beyond_capacity_the_status_says_that_it_goes_on_exactly(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", dims=1024, banks=1)
    with shelf.batch():
        for number in range(70):
            nugget.remember(f"key {number}", f"value {number}")

    answers = [nugget.recall(f"key {number}").answer for number in range(70)]

    assert "pages" in nugget.status().capacity_warning
    assert "exact" in nugget.status().capacity_warning
    assert answers == [f"value {number}" for number in range(70)]


# --- what else may have been meant --------------------------------------------------------------


def also(shelf: NuggetShelf, query: str, nugget: str | None = None) -> list[str]:
    result = shelf.recall(query, nugget)
    return [f"{note.nugget_name}: {note.title}" for note in map(shelf.get_note, result.also)]


def test_other_keys_with_the_words_are_told(shelf: NuggetShelf) -> None:
    for key in ("test cmd", "deploy cmd", "the list of all test and deploy cmd aliases"):
        shelf.remember("project", key, f"the {key}")

    assert shelf.recall("cmd").key == "test cmd"
    assert also(shelf, "cmd")[0] == "project: deploy cmd"
    assert also(shelf, "test cmd") == []


def test_the_same_key_in_another_nugget_is_told(shelf: NuggetShelf) -> None:
    shelf.remember("a", "port", "1")
    shelf.remember("b", "port", "2")

    assert also(shelf, "port") == ["b: port"]
    assert also(shelf, "port", "b") == []


def test_outside_all_projects_those_that_know_a_key_are_told(tmp_path: Path) -> None:
    for project in ("shop", "blog"):
        with NuggetShelf(tmp_path, project=project) as shelf:
            shelf.remember("n", "project: test cmd", f"make {project}")
    outside = NuggetShelf(tmp_path, project="")
    inside = NuggetShelf(tmp_path, project="blog")

    assert len(outside.recall("project: test cmd").also) == 1
    assert inside.recall("project: test cmd").answer == "make blog"
    assert inside.recall("project: test cmd").also == ()


def test_a_miss_is_falsy_and_an_answer_is_not(shelf: NuggetShelf) -> None:
    shelf.remember("n", "port", "0")

    assert shelf.recall("port")
    assert not shelf.recall("colour of the sky")


def test_a_form_of_a_word_counts_beside_a_key_with_that_very_word(shelf: NuggetShelf) -> None:
    shelf.remember("project", "error handling", "uses Result")
    shelf.remember("project", "auth handler", "src/auth.ts")

    assert shelf.recall("error handler").answer == "uses Result"


def test_synonyms_and_beginnings_are_told_and_count_nothing(shelf: NuggetShelf) -> None:
    shelf.remember("project", "feature flag provider", "LaunchDarkly")
    shelf.remember("home", "cat vaccine interval", "a year")

    for question, doubt in (
        ("feature flag vendors", "'vendors' is read as 'provider'"),
        ("cat vacc interval", "'vacc' is read as 'vaccine'"),
    ):
        result = shelf.recall(question, session="one")
        assert (result.found, result.doubt, result.is_clear) == (True, doubt, False)
    assert all(note.hits == 0 for note in shelf.list_notes())


def test_nothing_is_surer_than_the_key_itself(shelf: NuggetShelf) -> None:
    shelf.remember("project", "main server port", "8080")

    exact = shelf.recall("main server port").probability
    assert shelf.recall("the main server's port please").probability <= exact


def test_a_name_that_only_looks_alike_is_told_and_counts_nothing(shelf: NuggetShelf) -> None:
    for key in ("Daniel phone", "employee discount code", "link speed megabit"):
        shelf.remember("people", key, f"the {key}")

    for question in ("Daniela phone", "employer discount code", "link speed megabyte"):
        result = shelf.recall(question, session="one")
        assert not result.found or result.doubt
    assert all(note.hits == 0 for note in shelf.list_notes())
