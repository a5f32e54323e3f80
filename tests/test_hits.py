"""What counts as a hit: a memory that answered, not one that was merely listed."""

from pathlib import Path

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf

CERTIFICATE = ("TLS certificate renewal", "certbot renews it every 60 days, see infra/tls.")
PASSWORDS = ("Password policy", "At least 14 characters, changed after an incident only.")
OTHERS = (
    ("Passage planning", "Harbour times are in the pilot book."),
    ("Renewal of licences", "The vendor sends an offer in March."),
)


@pytest.fixture
def filled(shelf: NuggetShelf) -> NuggetShelf:
    with shelf.batch():
        for title, content in (CERTIFICATE, PASSWORDS, *OTHERS):
            shelf.create_note("ops", title, content)
    return shelf


def hits(shelf: NuggetShelf) -> dict[str, int]:
    return {note.title: note.hits for note in shelf.list_notes() if note.hits}


def test_the_nearest_notes_of_a_miss_are_never_promoted(shelf: NuggetShelf, tmp_path: Path) -> None:
    for title, content in (CERTIFICATE, PASSWORDS):
        shelf.create_note("ops", title, content)
    for session in ENOUGH_SESSIONS:
        result, nearest = shelf.recall_or_search("passport renewal", session=session)

        assert not result.found
        assert CERTIFICATE[0] in [near.note.title for near in nearest]
        assert not any(near.clear_answer for near in nearest)

    assert hits(shelf) == {}
    assert shelf.promote(tmp_path / "MEMORY.md") == 0


def test_of_a_search_only_the_clear_answer_is_promoted(filled: NuggetShelf, tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    for session in ENOUGH_SESSIONS:
        results = filled.search_notes("renewal of the TLS certificate", session=session)

        assert len(results) > 1
        assert [one.note.title for one in results if one.clear_answer] == [CERTIFICATE[0]]

    assert hits(filled) == {CERTIFICATE[0]: len(ENOUGH_SESSIONS)}
    assert filled.promote(path) == 1
    assert OTHERS[1][0] not in path.read_text()


def test_a_note_that_answers_a_recall_counts(filled: NuggetShelf) -> None:
    _, [answer, *_] = filled.recall_or_search("what is our password policy", session="s")

    assert answer.clear_answer
    assert answer.note.hits == 1
    assert hits(filled) == {PASSWORDS[0]: 1}


def test_a_fact_whose_key_is_another_does_not_answer_a_recall(shelf: NuggetShelf) -> None:
    shelf.remember("ops", "staging database host", "db.staging.internal")

    result, [near, *_] = shelf.recall_or_search("production database password", session="s")

    assert not result.found
    assert near.note.title == "staging database host"
    assert not near.clear_answer
    assert hits(shelf) == {}


def test_of_facts_that_fit_a_recall_alike_none_counts(shelf: NuggetShelf) -> None:
    for key in ("mail host", "cache host", "build host"):
        shelf.remember("hosts", key, f"{key}.internal")

    guess = shelf.recall("host", session="s1")
    meant = shelf.recall("host for mail", session="s2")

    assert guess.found
    assert guess.also
    assert meant.key == "mail host"
    assert hits(shelf) == {"mail host": 1}


def test_an_answer_counts_if_its_key_has_all_that_was_asked_for(shelf: NuggetShelf) -> None:
    shelf.remember("ops", "deploy host", "a.internal")
    shelf.remember("ops", "test cmd", "make test")

    part = shelf.recall("deploy", session="s1")
    other = shelf.recall("what is the test cmd for staging?", session="s1")

    assert part.found
    assert other.missing == ("staging",)
    assert hits(shelf) == {"deploy host": 1}


def test_a_note_on_a_sibling_is_no_answer(shelf: NuggetShelf) -> None:
    shelf.create_note("ops", "Status page url", "https://status.shop.example")

    results = shelf.search_notes("status page owner", session="s")

    assert results
    assert hits(shelf) == {}


def test_the_title_that_was_asked_for_answers_beside_similar_ones(shelf: NuggetShelf) -> None:
    for title in ("Deploy command", "Deploy command of the shop", "The old deploy command"):
        shelf.create_note("ops", title, "The deploy command is make deploy.")

    results = shelf.search_notes("deploy command", session="s")

    assert results[0].note.title == "Deploy command" and results[0].clear_answer
    assert hits(shelf) == {"Deploy command": 1}


def test_what_is_merely_listed_moves_its_time_of_access(filled: NuggetShelf) -> None:
    before = {note.id: note.last_accessed_at for note in filled.list_notes()}

    results = filled.search_notes("renewal", session="s")

    after = {note.id: note.last_accessed_at for note in filled.list_notes()}
    assert results
    assert all(after[one.note.id] > before[one.note.id] for one in results)
    assert all(one.note.last_accessed_at == after[one.note.id] for one in results)


def test_of_two_notes_that_answer_alike_neither_counts(filled: NuggetShelf) -> None:
    for title in ("Backup of mail", "Backup of the shop"):
        filled.create_note("ops", title, "The backup runs at night.")

    results = filled.search_notes("when does the backup run", session="s")

    assert len(results) == 2
    assert hits(filled) == {}


@pytest.mark.parametrize("limit", [1, 5])
def test_the_limit_does_not_decide_what_counts(filled: NuggetShelf, limit: int) -> None:
    for title in ("Backup of mail", "Backup of the shop"):
        filled.create_note("ops", title, "The backup runs at night.")

    filled.search_notes("when does the backup run", limit, session="s")
    filled.search_notes("password policy", limit, session="s")

    assert hits(filled) == {PASSWORDS[0]: 1}


def test_another_projects_note_does_not_compete(shelf: NuggetShelf) -> None:
    own, other = (
        shelf.create_note("ops", f"Release steps of {name}", "Tag it.", project=f"/{name}/.git")
        for name in ("shop", "blog")
    )
    shelf.project = "/shop/.git"

    shelf.search_notes("release steps", session="s")

    assert shelf.get_note(own.id, session=None).hits == 1
    assert shelf.get_note(other.id, session=None).hits == 0


@pytest.mark.parametrize("query", ["what is 60", "how many", "do that again please"])
def test_numbers_and_conversation_ask_for_nothing(filled: NuggetShelf, query: str) -> None:
    filled.recall_or_search(query, session="s")
    filled.search_notes(query, session="s")

    assert hits(filled) == {}


def test_a_title_is_an_answer_to_itself_whatever_its_words(filled: NuggetShelf) -> None:
    note = filled.create_note("ops", "Next steps", "Ask for the budget.")

    [first, *_] = filled.search_notes("next steps?", session="s")

    assert first.note.id == note.id
    assert first.clear_answer


def counted(shelf: NuggetShelf, title: str) -> list[tuple[str, str]]:
    [why] = [why for why in shelf.promotion().explanations if why.title == title]
    return [(hit.session, hit.kind) for hit in why.sessions]


def test_each_hit_says_which_session_and_why(tmp_path: Path) -> None:
    title = PASSWORDS[0]
    with NuggetShelf(tmp_path, project="") as shelf:
        fact = shelf.remember("ops", "test cmd", "make test")
        note = shelf.create_note("ops", *PASSWORDS)
        shelf.recall("test cmd", session="s1")
        shelf.get_note(note.id, session="s1")
        shelf.search_notes("password policy", session="s1")
        shelf.search_notes("password policy", session="s2")
        shelf.count_hit(note.id, "s3", "injected")
        shelf.count_hit(note.id, "s4", "cited")

    with NuggetShelf(tmp_path, project="") as shelf:  # no memory file is known here
        assert counted(shelf, fact.title) == [("s1", "recalled")]
        assert counted(shelf, title) == [
            ("s1", "opened"),
            ("s2", "answered"),
            ("s3", "injected"),
            ("s4", "cited"),
        ]


def test_a_session_whose_record_is_gone_still_counts(shelf: NuggetShelf) -> None:
    kept, merged = (shelf.create_note("ops", *each) for each in (CERTIFICATE, PASSWORDS))
    shelf.get_note(merged.id, session="s1")

    shelf.merge_notes(kept.id, merged.id, "the same")

    assert counted(shelf, kept.title) == [("s1", "")]


def test_of_one_key_in_two_nuggets_none_counts_unless_the_question_names_the_nugget(
    shelf: NuggetShelf,
) -> None:
    for nugget in ("staging", "production"):
        shelf.remember(nugget, "db host", f"{nugget}.internal")
    for session in ENOUGH_SESSIONS:
        assert shelf.recall("db host", session=session).found
    assert hits(shelf) == {}

    asked = shelf.recall("production db host", session="s")
    assert (asked.answer, asked.nugget, asked.doubt) == ("production.internal", "production", "")
    assert hits(shelf) == {"db host": 1}


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Budget 2025", "what is the budget for 2026?"),
        ("Offsite March", "where is the offsite in April?"),
        ("Dentist 5 October", "dentist on 6 October"),
    ],
)
def test_a_note_on_another_number_or_date_is_no_answer(
    shelf: NuggetShelf, title: str, question: str
) -> None:
    shelf.create_note("home", title, "It is settled and written down here.")
    result, near = shelf.recall_or_search(question, session="s")

    assert not result.found
    assert not any(one.clear_answer for one in near)
    assert hits(shelf) == {}
