"""Notes through the shelf: operations, names and filters."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from nuggets import NoteFilterOptions, NuggetShelf
from nuggets.errors import Ambiguous, Conflict, InvalidInput, NotFound


def test_a_note_has_the_documented_fields(shelf: NuggetShelf) -> None:
    note = shelf.create_note("learnings", "JWT format", "RS256.", ["Auth", "key files"])

    assert note.id == "note-learnings-00000001"
    assert (note.nugget_name, note.title, note.content) == ("learnings", "JWT format", "RS256.")
    assert (note.kind, note.hidden, note.hits, note.links) == ("note", False, 0, ())
    assert {"auth", "key-files", "learnings", f"scope:{note.scope}", f"type:{note.type}"} == set(
        note.tags
    )
    assert note.created_at == note.updated_at == "2026-01-31T09:00:00.000Z"
    assert note.archived_at is None


def test_an_imported_note_keeps_its_age(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "c", created_at="2020-05-06T07:08:09+02:00")

    assert note.created_at == "2020-05-06T05:08:09.000Z"


@pytest.mark.parametrize("when", ["yesterday", "", "2020-13-01", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_is_none_is_refused(shelf: NuggetShelf, when: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.create_note("n", "t", "c", created_at=when)


def test_an_id_that_is_taken_is_drawn_again(clock: Callable[[], str]) -> None:
    drawn = iter(["0000000a", "0000000a", "0000000a", "0000000b"])
    shelf = NuggetShelf("memory:", project="", clock=clock, draw=lambda: next(drawn))
    shelf.create_note("n", "one", "c")

    assert shelf.create_note("n", "two", "c").id == "note-n-0000000b"


def test_editing_changes_what_is_given_and_nothing_else(shelf: NuggetShelf) -> None:
    before = shelf.create_note("n", "t", "c", ["one"])

    after = shelf.edit_note(before.id, title="u")

    assert (after.title, after.content, after.tags) == ("u", "c", before.tags)
    assert after.updated_at > before.updated_at
    assert after.created_at == before.created_at


def test_an_edit_that_changes_nothing_moves_no_time(shelf: NuggetShelf) -> None:
    before = shelf.create_note("n", "t", "c")

    assert shelf.edit_note(before.id, content="c", title="t") == before


def test_system_tags_follow_an_edit(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "c", ["mine"])

    after = shelf.edit_note(note.id, scope="shared", type="reflection", tags=["other"])

    assert set(after.tags) == {"other", "n", "scope:shared", "type:reflection"}


def test_a_stale_edit_is_a_conflict_and_nothing_is_lost(shelf: NuggetShelf) -> None:
    seen = shelf.create_note("n", "t", "first")
    shelf.edit_note(seen.id, content="someone else's")

    with pytest.raises(Conflict, match="read it again"):
        shelf.edit_note(seen.id, content="mine", expected=seen.updated_at)

    assert shelf.get_note(seen.id).content == "someone else's"


@pytest.mark.parametrize("change", ["edit", "merge", "remember"])
def test_a_change_within_the_same_millisecond_is_a_conflict_too(change: str) -> None:
    shelf = NuggetShelf("memory:", project="", clock=lambda: "2026-01-31T09:00:00.000Z")
    seen = shelf.remember("n", "t", "first")
    other = shelf.create_note("n", "u", "more")
    changes: dict[str, Callable[[], object]] = {
        "edit": lambda: shelf.edit_note(seen.id, content="someone else's"),
        "merge": lambda: shelf.merge_notes(seen.id, other.id),
        "remember": lambda: shelf.remember("n", "t", "someone else's"),
    }
    changes[change]()

    with pytest.raises(Conflict):
        shelf.edit_note(seen.id, content="mine", expected=seen.updated_at)


def test_an_edit_of_what_was_seen_is_made(shelf: NuggetShelf) -> None:
    seen = shelf.create_note("n", "t", "first")

    after = shelf.edit_note(seen.id, content="mine", expected=seen.updated_at)

    assert after.content == "mine"


def test_a_stale_edit_from_another_process_is_a_conflict_too(directory: Path) -> None:
    one, other = NuggetShelf(directory), NuggetShelf(directory)
    seen = one.create_note("n", "t", "first")
    other.edit_note(seen.id, content="other")

    with pytest.raises(Conflict):
        one.edit_note(seen.id, content="mine", expected=seen.updated_at)


def test_a_soft_delete_hides_and_a_restore_brings_back(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "JWT tokens")

    gone = shelf.delete_note(note.id)
    found_meanwhile = shelf.search_notes("jwt")
    back = shelf.restore_note(note.id)

    assert gone.hidden
    assert gone.archived_at is not None
    assert list(found_meanwhile) == []
    assert (back.hidden, back.archived_at) == (False, None)
    assert len(shelf.search_notes("jwt")) == 1


def test_of_equal_titles_the_archived_one_is_restored(shelf: NuggetShelf) -> None:
    old = shelf.create_note("n", "Old plan", "first")
    shelf.delete_note(old.id)
    new = shelf.create_note("n", "Old plan", "second")

    assert shelf.restore_note("Old plan").id == old.id
    with pytest.raises(InvalidInput, match="is not archived"):
        shelf.restore_note(new.id)


def test_a_title_is_known_however_its_blanks_are_written(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Spaces   in\ntitle", "x")

    assert shelf.get_note("spaces in title").id == note.id


def test_a_merge_can_be_seen_before_it_is_made(shelf: NuggetShelf) -> None:
    target, source = shelf.create_note("n", "A", "one"), shelf.create_note("n", "B", "two")

    assert shelf.merge_notes(target.id, source.id, dry_run=True).content == "one\ntwo"
    assert shelf.get_note(target.id).content == "one"


def test_a_hard_delete_removes_links_to_the_note_in_every_nugget(shelf: NuggetShelf) -> None:
    gone = shelf.create_note("a", "gone", "c")
    rest = [shelf.create_note(nugget, "rest", "c") for nugget in ("a", "b", "c")]
    for note in rest:
        shelf.add_link(gone.id, note.id, "near")

    shelf.delete_note(gone.id, hard=True)

    assert [shelf.get_note(note.id).links for note in rest] == [(), (), ()]
    with pytest.raises(NotFound):
        shelf.get_note(gone.id)


def test_a_note_that_is_opened_or_answers_gains_a_hit_once_per_session(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "JWT tokens")

    shelf.get_note(note.id, session="s1")
    shelf.search_notes("jwt", session="s1")
    shelf.search_notes("jwt", session="s2")

    assert shelf.get_note(note.id).hits == 2


def test_listing_never_counts(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "JWT tokens")

    shelf.list_notes()

    [listed] = shelf.list_notes()
    assert listed == note


def test_notes_are_listed_by_age_wherever_they_came_from(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "new", "c")
    shelf.create_note("n", "imported", "c", created_at="2020-01-01")
    shelf.remember("n", "newer", "c")

    assert [note.title for note in shelf.list_notes()] == ["imported", "new", "newer"]


def test_what_is_shown_was_accessed_now(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "JWT tokens")

    shown = shelf.get_note(note.id)
    [found] = shelf.search_notes("jwt")

    assert note.last_accessed_at < shown.last_accessed_at < found.note.last_accessed_at
    assert found.note.updated_at == note.updated_at


def test_what_several_searches_have_shown_is_seen_by_every_read(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "JWT tokens")

    for _ in range(5):
        [found] = shelf.search_notes("jwt")

    assert shelf.get_note(note.id, session=None) == found.note
    assert list(shelf.list_notes()) == [found.note]


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "note-n-00000001",
        "NOTE-N-00000001",
        "Auth middleware",
        "auth MIDDLEWARE ",
        "note-n-0000",
        "00000001",
    ],
)
def test_a_note_is_named_by_id_title_or_beginning_of_its_id(shelf: NuggetShelf, name: str) -> None:
    note = shelf.create_note("n", "Auth middleware", "c")

    assert shelf.get_note(name).id == note.id


def test_an_ambiguous_name_lists_the_candidates(shelf: NuggetShelf) -> None:
    one = shelf.create_note("a", "Auth", "c")
    two = shelf.create_note("b", "auth", "c")

    with pytest.raises(Ambiguous) as problem:
        shelf.get_note("Auth")

    assert one.id in str(problem.value)
    assert two.id in str(problem.value)


def test_an_ambiguous_name_is_plain_within_its_nugget(shelf: NuggetShelf) -> None:
    shelf.create_note("a", "Auth", "c")
    two = shelf.create_note("b", "auth", "c")

    assert shelf.get_note("Auth", nugget="B").id == two.id


def test_an_ambiguous_name_changes_nothing(shelf: NuggetShelf) -> None:
    shelf.create_note("a", "Auth", "c")
    shelf.create_note("b", "Auth", "c")

    with pytest.raises(Ambiguous):
        shelf.delete_note("Auth", hard=True)

    assert len(shelf.list_notes()) == 2


@pytest.mark.parametrize("name", ["note-", "nope", "note-n-0000000f", "fact-n-00000001"])
def test_an_unknown_name_is_not_found(shelf: NuggetShelf, name: str) -> None:
    shelf.create_note("n", "Auth", "c")

    for operation in (shelf.get_note, shelf.delete_note, shelf.restore_note):
        with pytest.raises(NotFound, match="search or list"):
            operation(name)
    with pytest.raises(NotFound):
        shelf.edit_note(name, content="x")


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "\udcff"])
def test_a_name_that_can_be_none_is_refused(shelf: NuggetShelf, name: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.get_note(name)


def test_a_hidden_note_can_still_be_named(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "Auth", "c")
    shelf.delete_note(note.id)

    assert shelf.get_note("Auth").hidden


# --- links --------------------------------------------------------------------------------------


def test_a_link_stands_at_both_ends_with_the_same_reason_and_time(shelf: NuggetShelf) -> None:
    a, b = shelf.create_note("n", "a", "c"), shelf.create_note("other", "b", "c")

    added = shelf.add_link(a.id, b.id, "uses")

    [there], [back] = shelf.get_note(a.id).links, shelf.get_note(b.id).links
    assert added is True
    assert (there.to, back.to) == (b.id, a.id)
    assert there.reason == back.reason == "uses"
    assert there.created_at == back.created_at


@pytest.mark.parametrize("again", ["uses", "USES", " Uses "])
def test_the_same_link_again_adds_nothing(shelf: NuggetShelf, again: str) -> None:
    a, b = shelf.create_note("n", "a", "c"), shelf.create_note("n", "b", "c")
    shelf.add_link(a.id, b.id, "uses")

    assert shelf.add_link(b.id, a.id, again) is False
    assert len(shelf.get_note(a.id).links) == 1


def test_two_notes_may_be_linked_for_two_reasons(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "a", "c")
    shelf.create_note("n", "b", "c")

    assert shelf.add_link("a", "b", "uses")
    assert shelf.add_link("a", "b", "explains")
    assert shelf.remove_link("a", "b", "USES")
    assert [link.reason for link in shelf.get_note("a").links] == ["explains"]


def test_a_link_that_is_not_there_cannot_be_removed(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "a", "c")
    shelf.create_note("n", "b", "c")

    assert shelf.remove_link("a", "b") is False


def test_a_note_is_not_linked_to_itself(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "a", "c")

    with pytest.raises(InvalidInput, match="itself"):
        shelf.add_link(note.id, "a", "loop")

    assert shelf.get_note(note.id).links == ()


@pytest.mark.parametrize(("a", "b"), [("a", "nothing"), ("nothing", "a")])
def test_a_link_to_nothing_is_refused(shelf: NuggetShelf, a: str, b: str) -> None:
    note = shelf.create_note("n", "a", "c")

    with pytest.raises(NotFound):
        shelf.add_link(a, b, "reason")

    assert shelf.get_note(note.id).links == ()


def test_a_fact_can_be_linked_too(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")
    note = shelf.create_note("n", "t", "c")

    assert shelf.add_link("k", "t", "about")
    assert shelf.get_note(fact.id).links[0].to == note.id


# --- merging ------------------------------------------------------------------------------------


def test_a_merge_unites_lines_tags_links_and_sessions(shelf: NuggetShelf) -> None:
    target = shelf.create_note("n", "target", "one\nshared", ["x"])
    source = shelf.create_note("n", "source", "shared\ntwo", ["y"])
    third = shelf.create_note("n", "third", "c")
    shelf.add_link(source.id, third.id, "near")
    shelf.add_link(target.id, source.id, "twins")
    shelf.get_note(target.id, session="s1")
    shelf.get_note(source.id, session="s1")
    shelf.get_note(source.id, session="s2")

    merged = shelf.merge_notes(target.id, source.id, "same topic")

    assert merged.content == "one\nshared\ntwo"
    assert {"x", "y"} <= set(merged.tags)
    assert merged.hits == 2
    assert {link.to for link in merged.links} == {third.id, source.id}
    assert [link.to for link in shelf.get_note(third.id).links] == [target.id]


def test_a_merged_source_is_hidden_and_points_to_the_survivor(shelf: NuggetShelf) -> None:
    target = shelf.create_note("n", "target", "one")
    source = shelf.create_note("n", "source", "two")

    shelf.merge_notes(target.id, source.id, "same topic")

    gone = shelf.get_note(source.id)
    assert gone.hidden
    assert [(link.to, link.reason) for link in gone.links] == [(target.id, "same topic")]


def test_a_note_is_not_merged_with_itself(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "a", "c")

    with pytest.raises(InvalidInput, match="itself"):
        shelf.merge_notes(note.id, "a")

    assert not shelf.get_note(note.id).hidden


# --- filters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        ({}, ["plain", "tagged", "k"]),
        ({"include_hidden": True}, ["plain", "tagged", "hidden", "k"]),
        ({"nugget": "B"}, ["tagged", "k"]),
        ({"tag": "Special Tag"}, ["tagged"]),
        ({"scope": "self"}, ["tagged"]),
        ({"type": "reflection"}, ["plain"]),
        ({"kind": "fact"}, ["k"]),
        ({"subject": "team:a"}, ["plain"]),
        ({"nugget": "a", "kind": "fact"}, []),
        ({"tag": "nothing"}, []),
    ],
)
def test_all_filters_must_hold(
    shelf: NuggetShelf, wanted: dict[str, Any], titles: list[str]
) -> None:
    shelf.create_note("a", "plain", "c", type="reflection", subject="team:a")
    shelf.create_note("b", "tagged", "c", ["special tag"], scope="self")
    shelf.create_note("a", "hidden", "c")
    shelf.delete_note("hidden")
    shelf.remember("b", "k", "v")

    by_name = [note.title for note in shelf.list_notes(**wanted)]
    by_record = [note.title for note in shelf.list_notes(NoteFilterOptions(**wanted))]

    assert by_name == by_record == titles


def test_a_nugget_that_is_not_there_is_an_error_everywhere(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "title", "content")
    asking: list[Callable[[], object]] = [
        lambda: shelf.list_notes(nugget="projcet"),
        lambda: shelf.search_notes("title", nugget="projcet"),
        lambda: shelf.recall("title", "projcet"),
        lambda: shelf.recall_or_search("title", "projcet"),
        lambda: shelf.facts("projcet"),
        lambda: shelf.status("projcet"),
        lambda: shelf.reflect("projcet"),
        lambda: shelf.forget("projcet", "key"),
    ]

    for ask in asking:
        with pytest.raises(NotFound, match="no nugget 'projcet'; did you mean 'project'"):
            ask()


@pytest.mark.parametrize("wanted", [{"scope": "world"}, {"type": "x"}, {"kind": "x"}, {"bad": "x"}])
def test_a_filter_that_can_match_nothing_is_refused(
    shelf: NuggetShelf, wanted: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        shelf.list_notes(**wanted)
    with pytest.raises(InvalidInput):
        shelf.search_notes("x", **wanted)


# --- sizes and signs ----------------------------------------------------------------------------

MEBIBYTE = 1024 * 1024


def test_a_mebibyte_is_kept_whole(directory: Path) -> None:
    value = "x" * MEBIBYTE
    shelf = NuggetShelf(directory)

    shelf.remember("n", "big", value)
    shelf.create_note("n", "also big", value)

    again = NuggetShelf(directory)
    assert again.recall("big", nugget="n").answer == value
    assert again.get_note("also big").content == value


@pytest.mark.parametrize("text", ["x" * (MEBIBYTE + 1), "ü" * (MEBIBYTE // 2 + 1)])
def test_a_byte_more_is_refused_with_the_limit_named_and_nothing_is_lost(
    shelf: NuggetShelf, text: str
) -> None:
    shelf.remember("n", "k", "v")
    note = shelf.create_note("n", "t", "c")

    with pytest.raises(InvalidInput, match=str(MEBIBYTE)):
        shelf.remember("n", "k", text)
    with pytest.raises(InvalidInput, match=str(MEBIBYTE)):
        shelf.edit_note(note.id, content=text)

    assert shelf.recall("k").answer == "v"
    assert shelf.get_note(note.id).content == "c"


@pytest.mark.parametrize("key", ["x" * 513, "a\0b", "half \ud800"])
def test_a_key_that_cannot_be_kept_is_refused(shelf: NuggetShelf, key: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.remember("n", key, "v")
    with pytest.raises(InvalidInput):
        shelf.create_note("n", key, "c")


@pytest.mark.parametrize("value", ["a\0b", "half \ud800", 5, None, b"bytes", ["list"]])
def test_a_value_that_is_no_text_is_refused(shelf: NuggetShelf, value: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.remember("n", "k", value)
    with pytest.raises(InvalidInput):
        shelf.create_note("n", "t", value)


@pytest.mark.parametrize(
    "value",
    [
        "\x1b[31mred\x1b[0m",
        "bell\x07",
        "back\x08space",
        "\u202eoverride",
        "tags \U000e0041",
        "line\u2028separator",
        "\x9bC1",
        '{"json": "\\u0000"}',
        "emoji 👩‍👩‍👧",
    ],
)
def test_strange_signs_are_data_and_come_back_as_they_were(directory: Path, value: str) -> None:
    NuggetShelf(directory).remember("n", "k", value)

    assert NuggetShelf(directory).recall("k").answer == value


def test_a_datetime_is_taken_wherever_a_time_is(shelf: NuggetShelf) -> None:
    moment = datetime(2024, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    note = shelf.create_note("n", "Old", "c", created_at=moment)
    seen = datetime.fromisoformat(note.updated_at)
    edited = shelf.edit_note("Old", "d", expected=seen)
    naive = moment.astimezone().replace(tzinfo=None)
    local = shelf.create_note("n", "Local", "c", created_at=naive)

    assert note.created_at == local.created_at == "2024-05-01T10:30:00.000Z"
    assert edited.content == "d"
    with pytest.raises(Conflict):
        shelf.edit_note("Old", "e", expected=seen)
