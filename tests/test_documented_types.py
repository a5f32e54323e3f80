"""The record types as documented, on disk and in Python: what no other test shows."""

import json
import pickle
import re
from collections.abc import Callable
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import pytest

from nuggets import MemoryNote, MemoryScope, NoteMetadata, NuggetShelf
from nuggets.domain.records import NO_EXTRA, SCOPES, SOURCES, STABILITIES, TYPES
from nuggets.errors import InvalidInput
from nuggets.operations.session_notes import SessionRecord

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

DOCUMENTED = {
    *("id", "nuggetName", "title", "content", "tags", "links", "vector", "hidden", "kind"),
    *("sourceKey", "hits", "lastHitSession", "createdAt", "updatedAt", "lastAccessedAt"),
    *("lastRewrittenAt", "archivedAt"),
    *("subject", "scope", "type", "source", "confidence", "stability"),
}
ONLY_WHEN_SET = {"sourceKey", "lastRewrittenAt", "archivedAt"}


def on_disk(directory: Path) -> dict[str, dict[str, Any]]:
    shape = json.loads((directory / "graph" / "graph.json").read_text())
    return {note["title"]: note for note in shape["notes"]}


@pytest.fixture
def written(directory: Path) -> dict[str, dict[str, Any]]:
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("n", "port", "80")
        shelf.create_note("n", "Auth", "JWT", ["security"])
        shelf.create_note("n", "Old", "gone")
        shelf.add_link("port", "Auth", "serves it")
        shelf.delete_note("Old")
        shelf.recall("port", session="s1")
    return on_disk(directory)


def test_every_note_on_disk_has_the_documented_fields(written: dict[str, dict[str, Any]]) -> None:
    for note in written.values():
        assert note.keys() >= DOCUMENTED - ONLY_WHEN_SET

    assert DOCUMENTED - {"lastRewrittenAt"} <= written["port"].keys() | written["Old"].keys()


def test_fields_have_the_documented_types(written: dict[str, dict[str, Any]]) -> None:
    types = {
        **dict.fromkeys(("id", "nuggetName", "title", "content", "kind", "lastHitSession"), str),
        **dict.fromkeys(("subject", "scope", "type", "source", "stability"), str),
        **dict.fromkeys(("tags", "links"), list),
        **{"vector": dict, "hidden": bool, "hits": int},
    }

    for note in written.values():
        assert {name: type(note[name]) for name in types} == types
        assert 0 <= note["confidence"] <= 1


def test_facts_and_notes_are_both_memory_notes(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")
    note = shelf.create_note("n", "t", "c")

    assert isinstance(fact, MemoryNote)
    assert isinstance(note, MemoryNote)
    assert (fact.kind, note.kind) == ("fact", "note")


def test_ids_say_kind_and_nugget_and_end_in_eight_hex_digits(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        fact, note = shelf.remember("places", "k", "v"), shelf.create_note("places", "t", "c")
        other = shelf.create_note("places", "t", "c")

    assert re.fullmatch(r"fact-places-[0-9a-f]{8}", fact.id)
    assert re.fullmatch(r"note-places-[0-9a-f]{8}", note.id)
    assert len({fact.id, note.id, other.id}) == 3


def test_the_note_of_a_session_has_an_id_made_of_the_session(shelf: NuggetShelf) -> None:
    times = ("2026-01-30T09:00:00Z", "2026-01-30T10:00:00Z")
    for session in ("one", "two", "one"):
        shelf.keep_session(SessionRecord(session, "codex", "", "Title", "Goal\n- ship it", *times))
    ids = [note.id for note in shelf.sessions()]

    assert len(ids) == 2
    assert all(re.fullmatch(r"note-sessions-[0-9a-f]{16}", note_id) for note_id in ids)


def test_unknown_fields_of_one_note_do_not_become_those_of_all(shelf: NuggetShelf) -> None:
    extra: Any = shelf.create_note("n", "t", "c").extra
    changing: list[Callable[[], object]] = [
        lambda: extra.__setitem__("foo", "bar"),
        lambda: extra.update(foo="bar"),
        lambda: extra.setdefault("foo", "bar"),
        lambda: extra.__ior__({"foo": "bar"}),
    ]

    for change in changing:
        with pytest.raises(TypeError, match="frozen"):
            change()

    assert shelf.create_note("n", "u", "c").extra == NO_EXTRA == {}


def test_a_note_can_be_copied_and_sent_to_another_process(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "c")

    copies = [copy(note), deepcopy(note), pickle.loads(pickle.dumps(note))]

    assert copies == [note] * 3
    assert all(one.extra is NO_EXTRA for one in copies)


def test_the_nugget_of_a_note_cannot_be_changed(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "c")

    with pytest.raises(InvalidInput):
        shelf.edit_note(note.id, nugget_name="other")  # type: ignore[call-arg]

    assert shelf.get_note(note.id).nugget_name == "n"


def test_a_fact_is_titled_by_its_key_and_keeps_it_as_its_source(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "Test cmd", "make test")
    note = shelf.create_note("n", "t", "c")

    assert (fact.title, fact.content, fact.source_key) == ("Test cmd", "make test", "Test cmd")
    assert note.source_key is None


def test_blanks_are_normalised_on_write(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "  one  \r\n\r\n\r\n\r\ntwo\t\n\n")

    assert note.content == "  one\n\ntwo"


def test_a_note_never_recalled_has_no_session_and_no_hits(shelf: NuggetShelf) -> None:
    note = shelf.create_note("n", "t", "c")

    assert (note.hits, note.last_hit_session) == (0, "")


def test_the_last_session_that_recalled_it_is_kept(written: dict[str, dict[str, Any]]) -> None:
    assert (written["port"]["hits"], written["port"]["lastHitSession"]) == (1, "s1")


def test_times_are_iso_8601_in_utc(written: dict[str, dict[str, Any]]) -> None:
    moments = [
        *(note[name] for note in written.values() for name in ("createdAt", "updatedAt")),
        *(note["lastAccessedAt"] for note in written.values()),
        *(link["createdAt"] for note in written.values() for link in note["links"]),
        written["Old"]["archivedAt"],
    ]

    assert [moment for moment in moments if not ISO.fullmatch(moment)] == []


def test_only_an_archived_note_has_a_time_of_archiving(written: dict[str, dict[str, Any]]) -> None:
    assert [title for title, note in written.items() if "archivedAt" in note] == ["Old"]
    assert written["Old"]["hidden"] is True


def test_a_link_on_disk_names_target_reason_and_time_at_both_ends(
    written: dict[str, dict[str, Any]],
) -> None:
    [there], [back] = written["port"]["links"], written["Auth"]["links"]

    assert there.keys() == back.keys() == {"to", "reason", "createdAt"}
    assert (there["to"], back["to"]) == (written["Auth"]["id"], written["port"]["id"])
    assert there["reason"] == back["reason"] == "serves it"


def test_every_note_carries_all_metadata(shelf: NuggetShelf) -> None:
    metadata = shelf.create_note("n", "t", "c").metadata

    assert isinstance(metadata, NoteMetadata)
    assert NoteMetadata._fields == (
        *("subject", "scope", "type", "source", "confidence", "stability"),
    )
    assert metadata == ("user:primary", "user", "note", "explicit_user", 0.9, "durable")


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        ("user", "user:primary"),
        ("self", "assistant:self"),
        ("shared", "shared:project"),
        ("project", "shared:project"),
        ("session", "session:current"),
    ],
)
def test_the_common_subjects_follow_the_scope(
    shelf: NuggetShelf, scope: MemoryScope, subject: str
) -> None:
    assert shelf.create_note("n", "t", "c", scope=scope).subject == subject


def test_the_enumerations_hold_the_documented_values() -> None:
    assert set(SCOPES) == {"self", "user", "shared", "project", "session"}
    assert set(TYPES) == {
        *("fact", "note", "preference", "reflection"),
        *("self_model", "project", "relationship", "style"),
    }
    assert set(SOURCES) == {
        *("explicit_user", "agent_reflection", "tool_observation", "inferred", "system"),
    }
    assert set(STABILITIES) == {"temporary", "durable"}


@pytest.mark.parametrize(
    ("field", "values"),
    [("scope", SCOPES), ("type", TYPES), ("source", SOURCES), ("stability", STABILITIES)],
)
def test_every_documented_value_can_be_given_and_survives_the_disk(
    directory: Path, field: str, values: tuple[Any, ...]
) -> None:
    with NuggetShelf(directory) as shelf:
        for value in values:
            shelf.create_note("n", value, "c", **{field: value})

    kept = {note.title: getattr(note, field) for note in NuggetShelf(directory).list_notes()}

    assert kept == {value: value for value in values}


@pytest.mark.parametrize(("given", "kept"), [(1.7, 1.0), (-3, 0.0), (0.25, 0.25)])
def test_confidence_is_clamped_on_creating_and_on_editing(
    shelf: NuggetShelf, given: float, kept: float
) -> None:
    note = shelf.create_note("n", "t", "c", confidence=given)
    other = shelf.edit_note(shelf.create_note("n", "u", "c").id, confidence=given)

    assert (note.confidence, other.confidence) == (kept, kept)


@pytest.mark.parametrize(
    ("key", "stability"),
    [
        ("_cursor", "temporary"),
        ("tmp branch", "temporary"),
        ("tmp_branch", "temporary"),
        ("scratch pad", "temporary"),
        ("session: open file", "temporary"),
        ("user: _cursor", "temporary"),
        ("tmpfile", "temporary"),
        ("scratchpad", "temporary"),
        ("branch", "durable"),
        ("template", "durable"),
    ],
)
def test_what_is_temporary_is_seen_by_its_key(shelf: NuggetShelf, key: str, stability: str) -> None:
    assert shelf.remember("n", key, "v").stability == stability


def test_a_recipe_names_title_content_tags_links_and_metadata(shelf: NuggetShelf) -> None:
    one = shelf.create_note("n", "Auth", "Token", ["security"])
    other = shelf.create_note("n", "Keys", "Public")
    shelf.add_link(one.id, other.id, "uses")

    basis = shelf.get_note(one.id).vector.basis

    assert basis == (
        *("title:auth", "tag:security", "tag:n", "kind:note", "scope:user", "type:note"),
        *(f"link:{other.id}", "content:token"),
    )


@pytest.mark.parametrize(
    "given",
    [
        {"subject": "team:a"},
        {"scope": "session"},
        {"type": "relationship"},
        {"source": "system"},
        {"confidence": 0.1},
        {"stability": "temporary"},
    ],
)
def test_one_given_field_overrides_and_the_rest_is_inferred(
    shelf: NuggetShelf, given: dict[str, Any]
) -> None:
    note = shelf.create_note("n", "t", "c", **given)

    [(field, value)] = given.items()
    assert getattr(note, field) == value
    assert None not in note.metadata


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        ({}, ["mine", "ours"]),
        ({"include_hidden": True}, ["mine", "ours", "gone"]),
        ({"subject": "team:a"}, ["ours"]),
        ({"subject": "team"}, []),
        ({"scope": "shared"}, ["ours"]),
        ({"type": "style"}, ["mine"]),
    ],
)
def test_listing_and_searching_take_the_documented_filters(
    shelf: NuggetShelf, wanted: dict[str, Any], titles: list[str]
) -> None:
    shelf.create_note("n", "mine", "kite", type="style")
    shelf.create_note("n", "ours", "kite", subject="team:a", scope="shared", type="note")
    shelf.create_note("n", "gone", "kite", type="note", scope="user")
    shelf.delete_note("gone")

    listed = [note.title for note in shelf.list_notes(**wanted)]
    found = [result.note.title for result in shelf.search_notes("kite", **wanted)]

    assert sorted(listed) == sorted(found) == sorted(titles)


def test_results_are_sorted_by_score_and_all_parts_lie_between_0_and_1(shelf: NuggetShelf) -> None:
    for title in ("red kite", "red barn", "blue kite"):
        shelf.create_note("n", title, f"about the {title}")

    results = shelf.search_notes("red kite")

    assert len(results) == 3
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
    parts = [(r.score, r.vector_score, r.text_score, r.relevance, r.stated) for r in results]
    assert all(0 <= part <= 1 for told in parts for part in told)
    assert results[0].note.title == "red kite"
