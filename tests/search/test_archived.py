"""What is archived weighs on no question, and can still be asked for."""

from nuggets.domain.records import NoteFilterOptions
from searchable import Shelf, index_of, linked, note

WITH_ARCHIVED = NoteFilterOptions(include_hidden=True)
AUTH = note(1, "Token format", "the token is signed with our key")
GARDEN = note(2, "Garden", "roses and a hedge")


def answers(index: Shelf, query: str, filters: NoteFilterOptions) -> list[tuple[str, float]]:
    return [(result.note.id, result.relevance) for result in index.search(query, 5, filters)]


def test_a_word_that_only_an_archived_note_has_is_still_corrected() -> None:
    index = index_of(AUTH, GARDEN, note(3, "Scratchpad", "tokne", hidden=True))

    assert [result.note for result in index.search("tokne")] == [AUTH]


def test_archived_notes_change_no_score() -> None:
    plain = index_of(AUTH, GARDEN)
    many = (note(10 + n, "Old", f"token token signed {n}", hidden=True) for n in range(20))
    beside = index_of(AUTH, GARDEN, *many)

    for query in ("token", "signed key", "roses token"):
        assert answers(beside, query, NoteFilterOptions()) == answers(
            plain, query, NoteFilterOptions()
        )


def test_archived_notes_come_and_go_with_the_question() -> None:
    old = note(3, "Old token", "the token before", hidden=True)
    index = index_of(AUTH, GARDEN, old)

    assert {found.note.id for found in index.search("token", 5, WITH_ARCHIVED)} == {AUTH.id, old.id}
    assert {found.note.id for found in index.search("token")} == {AUTH.id}

    restored, hidden = old._replace(hidden=False), AUTH._replace(hidden=True)
    index.put(restored, hidden)

    assert {found.note.id for found in index.search("token")} == {restored.id}
    assert {found.note.id for found in index.search("token", 5, WITH_ARCHIVED)} == {
        restored.id,
        hidden.id,
    }

    index.drop(hidden.id)

    assert {found.note.id for found in index.search("token", 5, WITH_ARCHIVED)} == {restored.id}


def test_an_explanation_is_of_the_question_as_it_was_asked() -> None:
    shown, old = linked(
        note(1, "Zed", "the quokka manual, see also"),
        note(2, "Quok", "quokka handbook chapter", hidden=True),
    )
    index = index_of(shown, old)

    for include_hidden in (False, True):
        filters = NoteFilterOptions(include_hidden=include_hidden)
        found = {result.note.id: result for result in index.search("quokka handbook", 5, filters)}
        why = index.explain("quokka handbook", shown.id, include_hidden)

        assert abs(why.relevance - found[shown.id].relevance) < 1e-6
