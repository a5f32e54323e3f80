import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.search.query import MOST_WORDS
from searchable import found, index_of, note

OTHERS = [note(100 + i, f"Other {i}", f"Nothing of interest, number {i}.") for i in range(10)]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Handled in src/auth/middleware.ts:47 for now", "src/auth/middleware.ts:47"),
        ("Handled in src/auth/middleware.ts:47 for now", "middleware.ts"),
        ("call createNote(title) first", "createNote"),
        ("call createNote(title) first", "create note"),
        ("set MAX_RETRY_COUNT to five", "max_retry_count"),
        ("set MAX_RETRY_COUNT to five", "retry"),
        ("the HTTPServerError was raised", "server error"),
        ("python 3.11.2 is pinned", "3.11.2"),
        ("Das Café an der Straße", "cafe strasse"),
        ("設定を変更しました", "設定"),
        ("設定を変更しました", "変"),
        ("Мы купили новые книги", "книга"),
        ("हिन्दी भाषा सीखें", "हिन्दी"),
        ("ภาษาไทยง่าย", "ภาษาไทย"),
        ("مرحبا بالعالم", "مرحبا"),
        ("party 🎉 tonight", "🎉"),
        ("to be or not to be, that is the question", "to be or not to be"),
        ("use a => b in the map", "=>"),
        ("she went to the shelter with her children", "go child"),
        ("vitamin c helps", "c"),
        ("match .* and (a|b)+ literally", "(a|b)+"),
        ("' odd __ ' _ signs \u2019", "odd signs"),
        ("' odd __ ' _ signs", "__"),
    ],
)
def test_a_note_is_found_whole_and_in_parts_in_any_script(content: str, query: str) -> None:
    assert found(index_of(note(1, "This", content), *OTHERS), query)[:1] == ["This"]


@pytest.mark.parametrize(
    ("query", "word"),
    [("recieve", "receive"), ("midleware", "middleware"), ("databsae", "database")],
)
def test_a_typo_finds_the_word_that_was_meant(query: str, word: str) -> None:
    assert found(index_of(note(1, "This", f"about the {word} here"), *OTHERS), query) == ["This"]


def test_a_known_word_is_not_corrected() -> None:
    index = index_of(
        note(1, "Form", "fill in the form"), note(2, "From", "greetings farm"), *OTHERS
    )

    assert found(index, "farm") == ["From"]


def test_a_scope_or_type_can_be_named() -> None:
    index = index_of(note(1, "This", "tea rather than coffee", type="preference"), *OTHERS)

    assert found(index, "preference") == ["This"]


def test_the_nugget_can_be_named_and_yields_to_notes_that_have_its_name() -> None:
    index = index_of(
        note(1, "Carrier", "DHL picks up at four", nugget_name="shipping_rules"),
        note(2, "Costs", "shipping is free above 50", nugget_name="shop"),
        *OTHERS,
    )

    assert found(index, "shipping_rules")[:1] == ["Carrier"]
    assert found(index, "shipping") == ["Costs", "Carrier"]
    assert found(index, "picks")[:1] == ["Carrier"]
    assert found(index, "the rule for the ships")[:1] == ["Carrier"]


@pytest.mark.parametrize(
    "query", ['"', "* OR 1=1", "a AND NOT b", "NEAR(x)", "\\", "%_", "\0", "[", "^$"]
)
def test_metacharacters_are_only_characters(query: str) -> None:
    index_of(*OTHERS).search(query)


@pytest.mark.parametrize("symbol", ["≠", "＝", "⩵", "≮", "→"])
def test_a_symbol_is_found_as_it_is(symbol: str) -> None:
    index = index_of(note(1, "This", f"a {symbol} b"), *OTHERS)

    assert found(index, symbol) == ["This"]
    assert found(index, "=") == []


@settings(max_examples=example_count(80), deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
@example("≠", "≠", "")
def test_no_text_breaks_the_search(query: str, title: str, content: str) -> None:
    results = index_of(note(1, title, content), *OTHERS[:2]).search(query)

    for result in results:
        assert 0 <= result.text_score <= 1
        assert 0 <= result.vector_score <= 1
        assert 0 <= result.relevance <= 1
        assert 0 < result.score <= 1


def test_a_query_of_ten_thousand_words_is_answered_by_its_rarest() -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnop", k=7)) for _ in range(10_000)]
    index = index_of(note(1, "This", " ".join(words[:200])), *OTHERS)
    query = " ".join(words)

    assert found(index, query) == ["This"]
    assert len(index.explain(query, "note-n-00000001").words) == MOST_WORDS


def test_a_note_of_a_megabyte_is_found_by_a_word_inside() -> None:
    big = note(1, "Big", "lorem ipsum dolor " * 60_000 + " needle")

    assert found(index_of(big, *OTHERS), "needle") == ["Big"]
