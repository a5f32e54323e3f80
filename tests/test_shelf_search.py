"""Searching through the shelf: what comes back, in which order, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from nuggets import NuggetShelf
from nuggets.errors import InvalidInput


@pytest.fixture
def filled(shelf: NuggetShelf) -> NuggetShelf:
    with shelf.batch():
        shelf.create_note("project", "Auth middleware", "Uses JWT with RS256.", ["auth", "files"])
        shelf.create_note("project", "JWT token format", "RS256 signing, public key.", ["auth"])
        shelf.create_note("kitchen", "Pancakes", "Flour, eggs and milk.")
        shelf.remember("prefs", "indentation", "two spaces")
    return shelf


def test_a_word_need_not_stand_in_the_note_letter_by_letter(filled: NuggetShelf) -> None:
    titles = [found.note.title for found in filled.search_notes("authentication")]

    assert set(titles) == {"Auth middleware", "JWT token format"}


def test_facts_are_found_as_the_notes_they_are(filled: NuggetShelf) -> None:
    [best, *_] = filled.search_notes("indentation")

    assert (best.note.kind, best.note.title) == ("fact", "indentation")


def test_scores_are_shares_and_the_best_comes_first(filled: NuggetShelf) -> None:
    found = filled.search_notes("jwt signing key")

    assert found[0].note.title == "JWT token format"
    assert [one.relevance for one in found] == sorted(
        (one.relevance for one in found), reverse=True
    )
    for one in found:
        assert 0 < one.score <= 1
        assert 0 <= one.vector_score <= 1
        assert 0 <= one.text_score <= 1


def test_all_nuggets_are_one_pool(filled: NuggetShelf) -> None:
    found = filled.search_notes("jwt pancakes", limit=20)

    assert {one.note.nugget_name for one in found} == {"project", "kitchen"}
    assert sum(one.score for one in found) == pytest.approx(1)


def test_the_limit_holds(filled: NuggetShelf) -> None:
    assert len(filled.search_notes("jwt", limit=1)) == 1


def test_filters_hold_in_a_search(filled: NuggetShelf) -> None:
    in_kitchen = filled.search_notes("eggs", nugget="KITCHEN")
    assert {one.note.nugget_name for one in in_kitchen} == {"kitchen"}
    assert list(filled.search_notes("eggs", nugget="project")) == []
    assert list(filled.search_notes("jwt", tag="nothing")) == []
    assert list(filled.search_notes("jwt", kind="fact")) == []


def test_hidden_notes_are_found_only_when_asked_for(filled: NuggetShelf) -> None:
    filled.delete_note("Pancakes")

    assert list(filled.search_notes("pancakes")) == []
    assert len(filled.search_notes("pancakes", include_hidden=True)) == 1


def test_a_search_follows_edits_and_deletions(filled: NuggetShelf) -> None:
    filled.search_notes("warm up")
    note = filled.get_note("Pancakes")

    filled.edit_note(note.id, title="Waffles")

    assert [one.note.id for one in filled.search_notes("waffles")] == [note.id]
    assert list(filled.search_notes("pancakes")) == []


def test_what_is_about_nothing_here_finds_nothing(filled: NuggetShelf) -> None:
    assert list(filled.search_notes("quantum chromodynamics")) == []


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_refused(filled: NuggetShelf, query: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        filled.search_notes(query)


@pytest.mark.parametrize("limit", [0, -1, -(10**9)])
def test_a_limit_below_one_is_refused(filled: NuggetShelf, limit: int) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        filled.search_notes("jwt", limit=limit)


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "ü",
        "1",
        "😀",
        "👩‍👩‍👧 👍🏽",
        ".*",
        "(((",
        "[a-z]+",
        "a{1,99999}",
        '"unbalanced',
        "jwt AND NOT (",
        "NEAR/2 *",
        "the and of",
        "設定",
        "مرحبا",
        "שלום",
        "नमस्ते",
        "\u202e\u200b",
        "a\0b",
        "\x1b[31m",
        "%s %d {} {0}",
        "-" * 1000,
        "x" * 100_000,
        " ".join(f"word{number}" for number in range(10_000)),
    ],
)
def test_no_query_breaks_the_search(filled: NuggetShelf, query: str) -> None:
    found = filled.search_notes(query)

    assert all(0 <= one.score <= 1 for one in found)


def test_a_question_of_stop_words_alone_has_no_clear_answer(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Release", "You can do it from the main branch only.")
    shelf.create_note("project", "People", "Alice is the manager of Bob.")

    for question in ("do it", "is the of", "can you do it"):
        assert not any(result.clear_answer for result in shelf.search_notes(question))


def test_a_note_of_only_stop_words_is_found_by_them(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "to be or not to be", "that is the")

    assert [one.note.id for one in shelf.search_notes("to be or not to be")] == [note.id]


@pytest.mark.parametrize(
    ("title", "content", "query"),
    [
        ("設定ファイル", "環境変数を読み込む", "環境変数"),
        ("Ордеры", "Заказы хранятся в базе", "заказы"),
        ("Café", "Crème brûlée", "creme brulee"),
        ("मौसम", "बारिश होगी", "बारिश"),
    ],
)
def test_other_languages_are_found(
    shelf: NuggetShelf, title: str, content: str, query: str
) -> None:
    note = shelf.create_note("n", title, content)
    shelf.create_note("n", "Other", "Something else.")

    assert [one.note.id for one in shelf.search_notes(query)][:1] == [note.id]


def test_a_megabyte_and_binary_looking_text_can_be_searched(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.create_note("n", "big", "needle " + "hay " * 200_000)
        shelf.create_note("n", "binary", "".join(map(chr, range(1, 256))) + " pin")

    assert shelf.search_notes("needle")[0].note.title == "big"
    assert shelf.search_notes("pin")[0].note.title == "binary"


# --- projects -----------------------------------------------------------------------------------


def test_this_projects_notes_come_before_those_of_others(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Deploy steps deploy", "deploy deploy", project="/elsewhere/.git")
    here = shelf.create_note("n", "Notes", "how we deploy")

    found = shelf.search_notes("deploy")

    assert found[0].note.id == here.id
    assert [shelf.is_foreign(one.note) for one in found] == [False, True]


def test_this_projects_notes_come_first_however_many_others_there_are(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(450):
            shelf.create_note("n", f"Deploy guide {number}", "how to deploy", project="/elsewhere")
        here = shelf.create_note("n", "Releases", "what we do before a deploy, in some detail")

    found = shelf.search_notes("deploy", limit=3)

    assert [one.note.id == here.id for one in found] == [True, False, False]


def test_a_project_memory_belongs_to_the_current_project() -> None:
    shelf = NuggetShelf("memory:", project="/repo/.git")

    assert shelf.remember("n", "project: build", "make").project == "/repo/.git"
    assert shelf.remember("n", "user: name", "Ada").project == ""


@pytest.mark.parametrize("name", ["tag", "subject"])
def test_a_filter_that_is_no_text_is_refused(shelf: NuggetShelf, name: str) -> None:
    odd: dict[str, Any] = {name: 3}

    with pytest.raises(InvalidInput, match=name):
        shelf.search_notes("anything", **odd)
    with pytest.raises(InvalidInput, match=name):
        shelf.list_notes(**odd)


# --- an index for the next process ---------------------------------------------------------------


def fill(directory: Path, count: int) -> None:
    with NuggetShelf(directory) as shelf, shelf.batch():
        for number in range(count):
            shelf.create_note("n", f"matter {number}", f"walrus number{number} tusks")


def test_whoever_has_not_heard_of_a_purge_keeps_nothing_of_it(tmp_path: Path) -> None:
    fill(tmp_path, 300)
    shelf, unaware = NuggetShelf(tmp_path), NuggetShelf(tmp_path)
    secret = shelf.create_note("n", "the vault", "sesame")
    assert unaware.search_notes("sesame")
    shelf.purge(secret.id)

    unaware.close()

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if b"sesame" in path.read_bytes()] == []


def test_a_fact_that_recall_doubts_is_no_clear_answer(shelf: NuggetShelf) -> None:
    shelf.remember("people", "landlord phone number", "030 111")

    doubted = shelf.search_notes("what is my phone number")
    clear = shelf.search_notes("the phone number of the landlord")

    assert [result.clear_answer for result in doubted] == [False]
    assert [result.clear_answer for result in clear] == [True]


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("/srv/data/photoarchive/2023", "photo archive"),
        ("the openwireguard config", "wireguard"),
        ("Setup stops with 0x80070005.", "80070005"),
        ("Die Lagerbestandsliste ist da.", "Bestandsliste"),
        ("since commit 9f3c2ab7d1", "2ab7d1"),
    ],
)
def test_what_stands_verbatim_inside_a_longer_word_is_found(
    shelf: NuggetShelf, content: str, question: str
) -> None:
    note = shelf.create_note("notes", "Found", content)
    shelf.create_note("notes", "Other", "Tests run with pytest.")

    assert [result.note.id for result in shelf.search_notes(question)] == [note.id]


def test_a_title_word_for_word_comes_before_titles_of_the_same_letters(shelf: NuggetShelf) -> None:
    for title in ("C#", "C++"):
        shelf.create_note("langs", title, "x")

    assert shelf.search_notes("C#")[0].note.title == "C#"
    assert shelf.search_notes("C++")[0].note.title == "C++"


def test_a_long_question_is_not_looked_for_inside_of_words(shelf: NuggetShelf) -> None:
    shelf.create_note("notes", "Found", "the openwireguard config")

    assert shelf.search_notes("wireguard")
    assert not shelf.search_notes("wireguard alpaca zeppelin bagpipes kumquat")
