from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from example_counts import example_count
from graph_samples import LATER, NOW, sample
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote, NoteLink
from nuggets.errors import InvalidInput
from nuggets.operations.notes_and_links import (
    archive_note,
    edit_note,
    normal_content,
    note_id,
    restore_note,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\r\nb", "a\nb"),
        ("a  \nb\t", "a\nb"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\n \n\t\n \nb", "a\n\nb"),
        ("\n\n  a  \n\n", "a"),
        ("    if x:\n        y\n", "    if x:\n        y"),
        ("a\n\nb", "a\n\nb"),
        ("a  b", "a  b"),
        ("a\rb", "a\rb"),
        ("a\u2028b", "a\u2028b"),
        (" \n ", ""),
        ("", ""),
    ],
)
def test_content_has_a_written_form(text: str, written: str) -> None:
    assert normal_content(text) == written


@settings(max_examples=example_count(300))
@examples(st.text(alphabet=" \t\r\n\x0b\x1c\u2028\xa0ab", max_size=12))
def test_writing_twice_changes_nothing(text: str) -> None:
    once = normal_content(text)

    assert normal_content(once) == once


def test_an_id_is_drawn_again_while_it_is_taken() -> None:
    draws = iter(["00000001", "00000002", "00000003"])

    drawn = note_id("fact", "my nugget", lambda: next(draws), {"fact-my nugget-00000001"})

    assert drawn == "fact-my nugget-00000002"


def test_a_new_note_has_everything_that_can_be_known_of_it() -> None:
    note = sample(
        7, title=" Auth ", content="JWT \r\n", tags=["Auth"], nugget="project", project="p"
    )

    assert note == MemoryNote(
        id="note-project-00000007",
        nugget_name="project",
        title="Auth",
        content="JWT",
        kind="note",
        subject="shared:project",
        scope="project",
        type="project",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=NOW,
        updated_at=NOW,
        last_accessed_at=NOW,
        tags=("auth", "project", "scope:project", "type:project"),
        project="p",
    )


def test_a_fact_is_a_note_that_remembers_its_key() -> None:
    fact = sample(kind="fact", title=" Test cmd ", content="  pytest -q\n")

    assert (fact.title, fact.source_key, fact.content) == ("Test cmd", "Test cmd", "pytest -q")


@pytest.mark.parametrize(("title", "content"), [(" ", "x"), ("x", " \n")])
def test_a_fact_without_key_or_value_is_refused(title: str, content: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        sample(kind="fact", title=title, content=content)


def test_a_note_may_be_only_a_title_but_not_only_content() -> None:
    assert sample(content=" ").content == ""
    with pytest.raises(InvalidInput, match="title"):
        sample(title=" ")


def test_an_imported_note_keeps_its_age() -> None:
    note = sample(created_at="2024-05-01T12:00:00+02:00")

    assert note.created_at == note.updated_at == "2024-05-01T10:00:00.000Z"
    assert note.last_accessed_at == NOW


def test_a_person_belongs_to_every_project_and_a_given_project_wins() -> None:
    here = GraphNoteMetaInput(project="other")

    assert sample(title="user: editor", project="p").project == ""
    assert sample(title="server", project="p").project == "p"
    assert sample(title="user: editor", project="p", given=here).project == "other"
    assert sample(title="server", project="p", given=GraphNoteMetaInput(project="")).project == ""


@pytest.mark.parametrize("nugget", ["prefs", "Preferences"])
def test_the_nugget_of_preferences_makes_preferences(nugget: str) -> None:
    note = sample(nugget=nugget, kind="fact", title="style", content="2 spaces")

    assert note.type == "preference"
    assert {"preferences", nugget.lower(), "type:preference"} <= set(note.tags)


def test_more_than_64_own_tags_are_refused_and_those_of_the_system_do_not_count() -> None:
    many = [f"t{n}" for n in range(64)]
    full = sample(tags=many)

    assert len(full.tags) == 67
    assert edit_note(full, now=LATER, tags=full.tags) is full
    with pytest.raises(InvalidInput, match="at most 64 tags; this has 65"):
        sample(tags=[*many, "one-more"])


def test_an_edit_changes_what_is_given_and_the_time() -> None:
    note = sample(tags=["a"])

    after = edit_note(note, now=LATER, content=" New \n", title=" Renamed ", tags=["B"])

    assert after == note._replace(
        content="New",
        title="Renamed",
        tags=("b", "learnings", "scope:user", "type:note"),
        updated_at=LATER,
    )


@pytest.mark.parametrize("now", [NOW, "2020-01-01T00:00:00.000Z"])
def test_an_edit_is_later_than_the_one_before_whatever_the_clock_says(now: str) -> None:
    note = sample()

    assert edit_note(note, now=now, content="New").updated_at == "2026-01-31T09:00:00.001Z"


def test_tags_follow_the_metadata_and_a_persons_tags_stay() -> None:
    note = sample(tags=["a"])

    after = edit_note(note, now=LATER, given=GraphNoteMetaInput(scope="self", type="style"))

    assert after.tags == ("a", "learnings", "scope:self", "type:style")
    assert after.updated_at == LATER


def test_current_metadata_survive_words_that_would_mean_others() -> None:
    note = sample(title="editor")

    after = edit_note(note, now=LATER, title="project file", tags=["preferences"])

    assert after.metadata == note.metadata


@pytest.mark.parametrize(
    "change",
    [
        {"content": "other"},
        {"title": "other"},
        {"tags": ["other"]},
        {"given": GraphNoteMetaInput(confidence=0.1)},
        {"given": GraphNoteMetaInput(project="other")},
        {"given": GraphNoteMetaInput(subject="other")},
    ],
)
def test_what_a_reader_would_call_a_change_moves_the_time(change: dict[str, Any]) -> None:
    assert edit_note(sample(), now=LATER, **change).updated_at == LATER


def test_renaming_a_fact_renames_its_key() -> None:
    fact = sample(kind="fact", title="port", content="80")

    after = edit_note(fact, now=LATER, title="http port")

    assert (after.title, after.source_key) == ("http port", "http port")
    assert edit_note(sample(), now=LATER, title="x").source_key is None


def test_an_edit_meets_the_limits_of_a_new_note() -> None:
    with pytest.raises(InvalidInput, match="a value must not be empty"):
        edit_note(sample(kind="fact"), now=LATER, content=" ")
    with pytest.raises(InvalidInput, match="scope"):
        edit_note(sample(), now=LATER, given=GraphNoteMetaInput(scope="x"))  # type: ignore[arg-type]


@settings(max_examples=example_count(100))
@examples(
    title=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
    .map(str.strip)
    .filter(bool),
    content=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40),
    tags=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)),
)
def test_an_edit_with_nothing_new_gives_the_same_note(
    title: str, content: str, tags: list[str]
) -> None:
    given = GraphNoteMetaInput(stability="durable")
    note = sample(title=title, content=content, tags=tags, given=given)

    assert edit_note(note, now=LATER) is note
    assert edit_note(note, now=LATER, title=title, content=content, tags=tags) is note
    assert (
        edit_note(note, now=LATER, hidden=False, given=GraphNoteMetaInput(*note.metadata)) is note
    )


def test_a_note_from_elsewhere_is_not_tidied_by_an_edit_with_nothing() -> None:
    foreign = sample()._replace(tags=("Untidy Tag",), content="a  \n\n\n\nb")

    assert edit_note(foreign, now=LATER) is foreign
    assert edit_note(foreign, now=LATER, title=foreign.title) is foreign


def test_hiding_sets_the_time_of_archiving_and_showing_clears_it() -> None:
    note = sample()

    hidden = edit_note(note, now=LATER, hidden=True)

    assert hidden == note._replace(hidden=True, archived_at=LATER)
    assert edit_note(hidden, now=LATER, hidden=False) == note._replace(last_accessed_at=LATER)


def test_archiving_twice_keeps_the_first_time_and_restoring_twice_changes_nothing() -> None:
    note = sample()
    hidden = archive_note(note, NOW)

    assert archive_note(hidden, LATER) is hidden
    assert restore_note(note, LATER) is note


def test_an_edit_touches_neither_links_nor_hits() -> None:
    link = NoteLink("note-x-00000001", "why", NOW)
    note = sample()._replace(links=(link,), hits=3, hit_sessions=("a", "b", "c"))

    after = edit_note(note, now=LATER, content="other", hidden=True)

    assert (after.links, after.hits, after.hit_sessions) == ((link,), 3, ("a", "b", "c"))
    assert after.last_accessed_at == NOW
