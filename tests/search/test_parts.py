from hypothesis import given
from hypothesis import strategies as st

from nuggets.language.languages import stems
from nuggets.language.text import edits_between, pieces
from nuggets.search.term_expansion import letters

LETTERS = st.text("abc", max_size=7)


@given(LETTERS, LETTERS)
def test_each_edit_changes_at_most_two_letters_of_a_signature(a: str, b: str) -> None:
    apart = edits_between(a, b, 2)

    if apart <= 2:
        assert (letters(f"x{a}") ^ letters(f"x{b}")).bit_count() <= 2 * apart


def test_an_identifier_is_read_whole_and_in_parts() -> None:
    assert pieces("createNotes") == ["createnotes", "create", "notes"]
    assert pieces("MAX_RETRY") == ["maxretry", "max", "retry"]
    assert pieces("don't") == ["do"]


def test_forms_of_a_word_share_a_term() -> None:
    assert len(set(stems(["go", "went", "gone", "goes"]))) == 1
    assert len(set(stems(["книга", "книги"]))) == 1
    assert stems(["café"]) == stems(["cafe"])
