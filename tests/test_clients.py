"""What a client may write is decided behind the shelf, so it holds at every door alike."""

from collections.abc import Callable, Iterator

import pytest

from nuggets import NuggetShelf
from nuggets.errors import Conflict, RefusedText
from nuggets.operations.permissions import AGENT, COMMAND, HOOK, PAGE, Client
from secret_samples import drawn

HERE = "/src/shop/.git"
SECRET = f"ghp_{drawn(36)}"
PROGRAM = Client("python")


@pytest.fixture
def shelf() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project=HERE) as shelf:
        yield shelf


# --- what a write replaced


def test_remember_returns_what_it_replaced(shelf: NuggetShelf) -> None:
    new = shelf.remember("n", "port", "80")
    same = shelf.remember("n", "port", "80")
    changed = shelf.remember("n", "PORT", "8080")

    assert (new.is_new, new.replaced, new.replaced_content) == (True, None, None)
    assert (same.is_new, same.replaced_content) == (False, None)
    assert (changed.is_new, changed.replaced_content) == (False, "80")
    assert changed.replaced is not None
    assert changed.replaced.id == changed.id == new.id


def test_what_remember_returns_is_the_note_itself(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "port", "80")

    assert fact == shelf.get_note(fact.id, session=None)


def test_other_metadata_replace_no_content(shelf: NuggetShelf) -> None:
    shelf.remember("n", "port", "80")
    moved = shelf.remember("n", "port", "80", stability="temporary")

    assert moved.replaced is not None
    assert moved.replaced.stability == "durable"
    assert moved.replaced_content is None


def test_the_value_of_an_archived_fact_is_replaced_too(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "port", "80")
    shelf.delete_note(fact.id)

    assert shelf.remember("n", "port", "8080").replaced_content == "80"


def test_an_edit_returns_what_it_replaced(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Plan", "one")

    assert shelf.edit_note(note.id, content="two").replaced_content == "one"
    assert shelf.edit_note(note.id, content="two").replaced is None


def test_in_a_batch_and_unsaved_it_is_what_was_there_before(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("n", "port", "80")
        assert shelf.remember("n", "port", "8080").replaced_content == "80"
    with NuggetShelf("memory:", auto_save=False) as waiting:
        waiting.remember("n", "port", "80")
        assert waiting.remember("n", "port", "8080").replaced_content == "80"


# --- credentials, and what memory showed


@pytest.mark.parametrize("client", [AGENT, HOOK, COMMAND, PAGE], ids=lambda client: client.name)
def test_no_door_keeps_a_credential(shelf: NuggetShelf, client: Client) -> None:
    door = shelf.for_client(client)
    note, other = (shelf.create_note("n", title, "short") for title in ("Plan", "Log"))

    writes: list[Callable[[], object]] = [
        lambda: door.remember("n", "key", SECRET),
        lambda: door.create_note("n", "Title", SECRET),
        lambda: door.create_note("n", "Title", "text", [SECRET]),
        lambda: door.edit_note(note.id, content=SECRET),
        lambda: door.edit_note(note.id, title=SECRET),
        lambda: door.add_link(note.id, other.id, SECRET),
    ]
    for write in writes:
        with pytest.raises(RefusedText, match="credential"):
            write()
    assert list(shelf.list_notes()) == [note, other]


INSISTING = COMMAND._replace(refuses_credentials=False)


@pytest.mark.parametrize("client", [INSISTING, PROGRAM], ids=lambda client: client.name)
def test_a_person_may_insist(shelf: NuggetShelf, client: Client) -> None:
    assert shelf.for_client(client).remember("n", "key", SECRET).content == SECRET


def test_what_memory_showed_is_not_learnt_again(shelf: NuggetShelf) -> None:
    shown = "<nuggets-memory>\nold news\n</nuggets-memory>"

    with pytest.raises(RefusedText, match="shown by memory"):
        shelf.for_client(AGENT).create_note("n", "News", shown)
    assert shelf.for_client(COMMAND).create_note("n", "News", shown).is_new


# --- whose word it is


def test_what_an_agent_says_is_its_own_word_unless_it_says_otherwise(shelf: NuggetShelf) -> None:
    agent = shelf.for_client(AGENT)
    own = agent.remember("n", "port", "80")
    users = agent.remember("n", "host", "db", source="explicit_user")

    assert (own.source, own.confidence) == ("agent_reflection", 0.75)
    assert (users.source, users.confidence) == ("explicit_user", 0.9)


def test_a_text_that_stays_the_same_stays_the_word_of_who_said_it(shelf: NuggetShelf) -> None:
    shelf.remember("n", "port", "80", source="explicit_user")
    agent = shelf.for_client(AGENT)

    assert agent.remember("n", "port", "80").source == "explicit_user"
    assert agent.remember("n", "port", "8080").source == "agent_reflection"


# --- one copy


@pytest.mark.parametrize("client", [COMMAND, PAGE, AGENT], ids=lambda client: client.name)
def test_a_note_that_says_just_the_same_is_not_made_again(
    shelf: NuggetShelf, client: Client
) -> None:
    door = shelf.for_client(client)
    first = door.create_note("n", "Why Redis", "For sessions.")
    again = door.create_note("N", "why redis", " For sessions.\n")
    other = door.create_note("n", "Why Redis", "For queues.")

    assert (first.is_new, again.is_new, other.is_new) == (True, False, True)
    assert again.id == first.id


def test_a_copy_in_another_project_or_archived_does_not_count(shelf: NuggetShelf) -> None:
    door = shelf.for_client(AGENT)
    theirs = shelf.create_note("n", "Why Redis", "For sessions.", project="/src/blog/.git")
    ours = door.create_note("n", "Why Redis", "For sessions.")
    shelf.delete_note(ours.id)

    assert ours.is_new
    assert theirs.id != ours.id
    assert door.create_note("n", "Why Redis", "For sessions.").is_new


def test_a_program_makes_as_many_copies_as_it_likes(shelf: NuggetShelf) -> None:
    made = {shelf.create_note("n", "Why Redis", "For sessions.").id for _ in range(2)}

    assert len(made) == 2


# --- reading before editing


def test_each_conversation_of_an_agent_reads_before_it_replaces(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Plan", "step, " * 100)
    one, other = (shelf.for_client(AGENT._replace(session=name)) for name in ("one", "other"))
    one.record_reading(note)

    with pytest.raises(Conflict, match="you know the first 160 at most"):
        other.edit_note(note.id, content="mine")
    assert one.edit_note(note.id, content="mine").content == "mine"
    assert one.edit_note(note.id, content="mine again").content == "mine again"


def test_what_changed_since_it_was_read_is_read_again(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Plan", "step, " * 100)
    agent = shelf.for_client(AGENT)
    agent.record_reading(note)
    shelf.edit_note(note.id, content="other, " * 100)

    with pytest.raises(Conflict, match="after you read it"):
        agent.edit_note(note.id, content="mine")


def test_a_person_replaces_what_they_like(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Plan", "step, " * 100)

    assert shelf.for_client(COMMAND).edit_note(note.id, content="mine").content == "mine"
