"""Remembering, forgetting and evicting, through the shelf."""

import pytest

from nuggets import NuggetShelf
from nuggets.errors import InvalidInput, NotFound
from nuggets.facts.key_table import STRETCH


def test_a_remembered_fact_is_recalled_by_its_key(shelf: NuggetShelf) -> None:
    shelf.remember("locations", "auth handler", "src/auth/middleware.ts:47")

    found = shelf.recall("auth handler")

    assert found.found
    assert found.answer == "src/auth/middleware.ts:47"
    assert (found.key, found.nugget, found.match) == ("auth handler", "locations", "exact")
    assert 0.95 < found.confidence <= 1
    assert 0.95 < found.margin <= 1


def test_remembering_makes_the_nugget(shelf: NuggetShelf) -> None:
    shelf.remember("locations", "auth", "here")

    assert shelf.has("locations")


def test_key_and_value_are_trimmed(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "  test cmd \n", "\t make test  ")

    assert (fact.title, fact.content) == ("test cmd", "make test")


@pytest.mark.parametrize("again", ["Test Cmd", "TEST CMD", " test cmd "])
def test_a_known_key_gets_the_new_value(shelf: NuggetShelf, again: str) -> None:
    shelf.remember("n", "test cmd", "make test")

    shelf.remember("n", again, "pytest")

    assert [fact.content for fact in shelf.facts("n")] == ["pytest"]


def test_keys_in_two_unicode_forms_are_one_key(shelf: NuggetShelf) -> None:
    shelf.remember("n", "caf\u00e9", "composed")

    shelf.remember("n", "CAFE\u0301", "decomposed")

    assert [fact.content for fact in shelf.facts("n")] == ["decomposed"]
    assert shelf.recall("cafe\u0301").match == "exact"


def test_a_key_keeps_the_letters_it_was_first_written_with(shelf: NuggetShelf) -> None:
    shelf.remember("n", "Test Cmd", "make test")

    assert shelf.remember("n", "test cmd", "pytest").title == "Test Cmd"


def test_an_update_keeps_hits_and_id(shelf: NuggetShelf) -> None:
    before = shelf.remember("n", "k", "one")
    shelf.recall("k", session="s1")

    after = shelf.remember("n", "k", "two")

    assert (after.id, after.hits, after.created_at) == (before.id, 1, before.created_at)
    assert after.updated_at > before.updated_at


def test_the_same_value_again_changes_nothing(shelf: NuggetShelf) -> None:
    before = shelf.remember("n", "k", "one")

    assert shelf.remember("n", "k", "one") == before


@pytest.mark.parametrize("key", ["", "   ", "\n\t"])
def test_an_empty_key_is_refused_and_makes_no_nugget(shelf: NuggetShelf, key: str) -> None:
    with pytest.raises(InvalidInput, match="key must not be empty"):
        shelf.remember("n", key, "value")

    assert shelf.size == 0


@pytest.mark.parametrize("value", ["", "   ", "\n\t"])
def test_an_empty_value_is_refused_and_the_old_one_stays(shelf: NuggetShelf, value: str) -> None:
    shelf.remember("n", "k", "old")

    with pytest.raises(InvalidInput, match="value must not be empty"):
        shelf.remember("n", "k", value)

    assert shelf.recall("k").answer == "old"


@pytest.mark.parametrize("scope", ["user", "self", "shared", "project", "session"])
def test_a_key_may_begin_with_a_scope_and_is_not_rewritten(shelf: NuggetShelf, scope: str) -> None:
    fact = shelf.remember("n", f"{scope}: the key", "value")

    assert fact.scope == scope
    assert fact.title == f"{scope}: the key"
    assert shelf.recall(f"{scope}: the key").match == "exact"


@pytest.mark.parametrize("nugget", ["prefs", "preferences", "Prefs"])
def test_the_preference_nuggets_make_preferences(shelf: NuggetShelf, nugget: str) -> None:
    fact = shelf.remember(nugget, "style", "2-space indent")

    assert fact.type == "preference"
    assert "preferences" in fact.tags


def test_a_nugget_named_like_a_scope_gives_its_scope(shelf: NuggetShelf) -> None:
    assert shelf.remember("project", "test cmd", "make test").scope == "project"


def test_metadata_that_is_given_beats_what_would_be_inferred(shelf: NuggetShelf) -> None:
    fact = shelf.remember(
        "n", "k", "v", scope="self", type="style", stability="temporary", confidence=0.25
    )

    assert (fact.scope, fact.type, fact.stability, fact.confidence) == (
        "self",
        "style",
        "temporary",
        0.25,
    )
    assert {"scope:self", "type:style"} <= set(fact.tags)


def test_unknown_metadata_is_refused_by_name(shelf: NuggetShelf) -> None:
    with pytest.raises(InvalidInput, match="colour"):
        shelf.remember("n", "k", "v", colour="red")  # type: ignore[call-arg]


def test_a_fact_is_a_note_of_kind_fact(shelf: NuggetShelf) -> None:
    fact = shelf.remember("locations", "auth", "src/auth")

    [note] = shelf.list_notes(kind="fact")

    assert note == fact
    assert note.id == "fact-locations-00000001"
    assert note.source_key == "auth"


def test_facts_have_key_value_and_hits(shelf: NuggetShelf) -> None:
    shelf.remember("locations", "auth", "src/auth")
    shelf.recall("auth", session="s1")

    [fact] = shelf["locations"].facts()

    assert (fact.key, fact.value, fact.hits) == ("auth", "src/auth", 1)


def test_facts_are_listed_oldest_first(shelf: NuggetShelf) -> None:
    for key in ("c", "a", "b"):
        shelf.remember("n", key, key)

    shelf.remember("n", "c", "changed")

    assert [fact.title for fact in shelf.facts("n")] == ["c", "a", "b"]


def test_a_forgotten_fact_is_gone_with_its_note(shelf: NuggetShelf) -> None:
    shelf.remember("n", "k", "v")

    assert shelf.forget("n", "K") is True
    assert not shelf.recall("k").found
    assert shelf.list_notes(include_hidden=True) == []


def test_forgetting_what_is_not_there_says_so(shelf: NuggetShelf) -> None:
    shelf.remember("n", "k", "v")

    assert shelf.forget("n", "other") is False
    assert len(shelf.facts("n")) == 1


def test_forgetting_takes_only_the_exact_key(shelf: NuggetShelf) -> None:
    shelf.remember("n", "test cmd", "v")

    assert shelf.forget("n", "test") is False


def test_forgetting_in_an_unknown_nugget_names_those_there_are(shelf: NuggetShelf) -> None:
    shelf.remember("places", "k", "v")

    with pytest.raises(NotFound, match="places"):
        shelf.forget("nope", "k")


def test_forgetting_a_fact_removes_the_links_to_it(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")
    note = shelf.create_note("other", "t", "c")
    shelf.add_link(fact.id, note.id, "about")

    shelf.forget("n", "k")

    assert shelf.get_note(note.id).links == ()


def test_clearing_forgets_all_facts_and_keeps_the_notes(shelf: NuggetShelf) -> None:
    shelf.remember("n", "a", "1")
    shelf.remember("n", "b", "2")
    shelf.remember("m", "c", "3")
    note = shelf.create_note("n", "t", "c")

    assert shelf.clear("n") == 2
    assert shelf.facts("n") == []
    assert [one.id for one in shelf.list_notes(nugget="n")] == [note.id]
    assert len(shelf.facts("m")) == 1


# --- max_facts ----------------------------------------------------------------------------------


def test_the_oldest_facts_go_when_there_are_too_many(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", max_facts=2)
    for key in ("a", "b", "c"):
        nugget.remember(key, key)

    assert [fact.title for fact in nugget.facts()] == ["b", "c"]
    assert [note.title for note in shelf.list_notes(include_hidden=True)] == ["b", "c"]


def test_an_evicted_fact_takes_the_links_to_it_along(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", max_facts=1)
    old = nugget.remember("a", "1")
    note = shelf.create_note("elsewhere", "t", "c")
    shelf.add_link(old.id, note.id, "about")

    nugget.remember("b", "2")

    assert shelf.get_note(note.id).links == ()


def test_an_update_evicts_nothing(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", max_facts=2)
    nugget.remember("a", "1")
    nugget.remember("b", "2")

    nugget.remember("a", "3")

    assert [fact.content for fact in nugget.facts()] == ["3", "2"]


def test_notes_do_not_count_as_facts_for_eviction(shelf: NuggetShelf) -> None:
    nugget = shelf.create("n", max_facts=1)
    nugget.create_note("t", "c")
    nugget.create_note("u", "d")

    nugget.remember("a", "1")

    assert len(shelf.list_notes(nugget="n")) == 3


def test_without_a_limit_nothing_is_evicted(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(100):
            shelf.remember("n", f"key {number}", "v")

    assert len(shelf.facts("n")) == 100


# --- a fact edited as the note it is ------------------------------------------------------------


def test_editing_a_fact_notes_content_changes_the_fact(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "old")

    shelf.edit_note(fact.id, content="new")

    assert shelf.recall("k").answer == "new"


def test_editing_a_fact_notes_title_changes_its_key(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "first name", "v")

    after = shelf.edit_note(fact.id, title="surname")

    assert after.source_key == "surname"
    assert shelf.recall("surname").answer == "v"
    assert not shelf.recall("first name").found


def test_a_key_may_change_its_case(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "test cmd", "v")

    assert shelf.edit_note(fact.id, title="Test Cmd").title == "Test Cmd"


def test_a_fact_note_cannot_be_emptied(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")

    with pytest.raises(InvalidInput, match="empty"):
        shelf.edit_note(fact.id, content="  ")

    assert shelf.recall("k").answer == "v"


def test_a_hidden_fact_is_out_of_recall_and_restoring_brings_it_back(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")

    shelf.edit_note(fact.id, hidden=True)
    while_hidden = shelf.recall("k")
    shelf.restore_note(fact.id)

    assert not while_hidden.found
    assert shelf.recall("k").answer == "v"


def test_a_hidden_fact_is_not_counted_nor_listed(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")

    shelf.delete_note(fact.id)

    assert shelf.facts("n") == []
    assert shelf.status("n").fact_count == 0


def test_remembering_a_hidden_key_brings_its_note_back(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "old")
    shelf.delete_note(fact.id)

    after = shelf.remember("n", "K", "new")

    assert (after.id, after.hidden, after.archived_at) == (fact.id, False, None)
    assert shelf.recall("k").answer == "new"


def test_a_hidden_fact_can_be_forgotten(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")
    shelf.delete_note(fact.id)

    assert shelf.forget("n", "k") is True
    assert shelf.list_notes(include_hidden=True) == []


def test_deleting_a_fact_note_for_good_forgets_the_fact(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")

    shelf.delete_note(fact.id, hard=True)

    assert not shelf.recall("k").found


@pytest.mark.parametrize("nothing", [None, "", " \n"])
def test_a_known_key_does_not_take_nothing_for_a_value(shelf: NuggetShelf, nothing: str) -> None:
    shelf.remember("n", "port", "80")

    with pytest.raises(InvalidInput):
        shelf.remember("n", "port", nothing)


def test_what_is_remembered_for_a_project_changes_no_other_ones_fact(shelf: NuggetShelf) -> None:
    shelf.remember("n", "test cmd", "make", project="/a/.git")
    shelf.remember("n", "test cmd", "tox", project="/b/.git")
    shelf.remember("n", "test cmd", "pytest", project="/a/.git")

    known = {fact.project: fact.content for fact in shelf.facts("n")}
    assert known == {"/a/.git": "pytest", "/b/.git": "tox"}


def test_what_a_project_knows_itself_goes_before_what_everybody_knows() -> None:
    with NuggetShelf("memory:", project="/a/.git") as shelf:
        shelf.remember("n", "test cmd", "make", project="")
        shelf.remember("n", "test cmd", "tox", project="/a/.git")
        assert shelf.recall("test cmd").answer == "tox"

        shelf.remember("n", "test cmd", "pytest")
        assert [fact.content for fact in shelf.facts("n")] == ["make", "pytest"]
        shelf.forget("n", "test cmd")
        assert shelf.recall("test cmd").answer == "make"


def test_the_oldest_fact_makes_room_also_after_an_undo(shelf: NuggetShelf) -> None:
    shelf.create("n", max_facts=3)
    for key in "abc":
        shelf.remember("n", key, "v")
    shelf.forget("n", "a")
    shelf.undo()

    shelf.remember("n", "d", "v")

    assert [fact.title for fact in shelf.facts("n")] == ["b", "c", "d"]


def test_more_facts_than_one_stretch_of_places_are_found_and_forgotten(shelf: NuggetShelf) -> None:
    """Their postings lie in several rows; the last facts are appended to one of them."""
    with shelf.batch():
        for number in range(2 * STRETCH):
            shelf.remember("ports", f"port of service {number}", f"{number}")
    for number in range(2 * STRETCH, 2 * STRETCH + 3):
        shelf.remember("ports", f"port of service {number}", f"{number}")
    for number in (0, STRETCH, 2 * STRETCH + 1):
        shelf.forget("ports", f"port of service {number}")

    asked = (1, STRETCH + 1, 2 * STRETCH, 2 * STRETCH + 2)
    assert [shelf.recall(f"service {number} port").answer for number in asked] == list(
        map(str, asked)
    )
    assert not shelf.checkup()
