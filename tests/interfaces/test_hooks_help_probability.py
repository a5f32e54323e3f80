"""How probable it is that a memory helps with a prompt."""

import pytest
from benchmarks.everyday import Example, fit

from nuggets.domain.records import MemoryNote
from nuggets.interfaces.hooks.help_probability import (
    LEAST,
    MOST_SHOWN,
    RECALLED,
    WEIGHTS,
    judge,
    read_prompt,
    says,
)
from nuggets.language.languages import is_commonest, is_everyday
from nuggets.shelf import NuggetShelf


def notes(*texts: tuple[str, ...]) -> list[MemoryNote]:
    with NuggetShelf("memory:") as shelf:
        return [shelf.create_note("project", title, content) for title, content in texts]


def probability(prompt: str, title: str, content: str) -> float:
    return judge(read_prompt(prompt), notes((title, content)))[0].probability


@pytest.mark.parametrize(
    ("prompt", "title", "content"),
    [
        ("does postmark have a sandbox", "mail provider", "Postmark, sender tickets"),
        ("the coverage gate, how high is it", "coverage gate", "78 percent"),
        ("j'ai Solange au téléphone dans une minute", "présidente", "Solange Abadie, le lundi"),
        ("森川さんに送るメール", "森川さん", "大阪側の窓口"),
    ],
)
def test_a_name_or_the_words_of_a_title_make_a_memory_probable(
    prompt: str, title: str, content: str
) -> None:
    assert probability(prompt, title, content) >= LEAST


@pytest.mark.parametrize(
    ("prompt", "title", "content"),
    [
        ("the window on the left is too narrow, make it wider", "deploy window", "on Mondays"),
        ("the sailmaker page says halyardlocks are sold out", "Halyard", "texts reminders"),
        ("go back, I never said that", "rollback", "never go back by hand"),
    ],
)
def test_an_everyday_word_or_part_of_a_word_does_not(prompt: str, title: str, content: str) -> None:
    assert probability(prompt, title, content) < LEAST


def test_a_word_that_more_memories_have_than_are_shown_names_none_of_them() -> None:
    prompt = read_prompt("is halyard down again, or is it my machine that is slow")
    one = notes(("alerts", "Halyard sends them"))
    many = notes(*((f"page {n}", "Halyard sends them") for n in range(MOST_SHOWN + 1)))

    [alone] = judge(prompt, one)
    assert alone.probability > max(other.probability for other in judge(prompt, many))


def test_what_helps_is_an_answer_only_if_the_prompt_has_its_whole_title() -> None:
    def is_recalled(prompt: str, *memory: str) -> bool:
        [found] = judge(read_prompt(prompt), notes(memory))
        assert found.probability >= RECALLED
        return found.is_recalled

    assert is_recalled("staging Postgres host?", "staging Postgres host", "stg.db")
    assert not is_recalled("production Postgres host?", "staging Postgres host", "stg.db")
    assert not is_recalled("telephone of room 207?", "room 101 telephone", "ext 1")
    assert not is_recalled("what is the mail server port?", "main server port", "8080")


def test_a_value_is_said_in_any_form_and_a_small_number_counts_as_one() -> None:
    [note] = notes(("load test", "k6 with 80 users, on Tuesdays"))

    assert says(note, "80") and says(note, "Tuesday")
    assert not says(note, "120")


def test_everyday_words_are_those_of_the_language() -> None:
    assert is_everyday("window") and is_everyday("fenster") and is_commonest("que")
    assert is_everyday("solange", ["german"]) and not is_everyday("solange", ["french"])
    assert not is_everyday("halyard") and not is_everyday("postmark")


def test_fitting_gives_weight_to_what_tells() -> None:
    weights = dict.fromkeys(WEIGHTS, 0.0)
    tells, says_nothing = (1.0, 1.0, 0, 0, 0, 0, 0), (1.0, 0, 0, 1.0, 0, 0, 0)

    fit(weights, [Example("x", tells, True, 1.0), Example("x", says_nothing, False, 1.0)] * 20)

    assert weights["best"] > 1 > -1 > weights["share"]
