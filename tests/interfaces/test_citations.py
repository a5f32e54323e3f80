"""Which of the notes that were shown a reply cites."""

import pytest

from nuggets.domain.records import MemoryNote
from nuggets.interfaces.hooks.session_note_update import cited_notes
from nuggets.shelf import NuggetShelf


@pytest.fixture
def note(shelf: NuggetShelf) -> MemoryNote:
    return shelf.create_note("ops", "Mail relay", "relay.shop.example, port 587")


@pytest.mark.parametrize(
    "reply",
    [
        'According to "mail relay" the port is 587.',
        "See [[Mail relay]].",
        "As noted in **Mail relay**: 587.",
        "The mail relay listens on 587 (‘Mail relay’).",
    ],
)
def test_a_title_in_quotation_marks_or_emphasis_is_cited(note: MemoryNote, reply: str) -> None:
    assert cited_notes([note], ["Done.", reply]) == [note]


def test_an_id_is_cited_in_any_case(note: MemoryNote) -> None:
    assert cited_notes([note], [f"Port 587 ({note.id.upper()})."]) == [note]


@pytest.mark.parametrize(
    "reply",
    [
        "The mail relay is down.",
        "mail relay",
        '"the mail relay" is down',
        'The "mail relays" are down.',
        "<nuggets-memory>\n- **Mail relay**: relay.shop.example\n</nuggets-memory>",
        "",
    ],
)
def test_the_topic_or_a_repeated_block_is_no_citation(note: MemoryNote, reply: str) -> None:
    assert cited_notes([note], [reply]) == []


def test_a_single_quoted_word_may_be_code(shelf: NuggetShelf) -> None:
    note = shelf.create_note("ops", "port", "587")

    assert cited_notes([note], ["I set `port` in the file."]) == []
