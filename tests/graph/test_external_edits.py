"""What an edited file means, decided purely; how it gets there is the stores' matter."""

from typing import Any

import pytest

from graph_samples import LATER, NOW, sample
from nuggets.domain.codec import note_to_json, nugget_to_json
from nuggets.domain.records import Anchor, Changes, ExternalEdit, MemoryNote, NuggetConfig
from nuggets.domain.state import MemoryState, load_state
from nuggets.errors import StoreCorrupt
from nuggets.operations.external_edits import import_edit
from nuggets.operations.notes_and_links import add_link

MUCH_LATER = "2026-03-01T00:00:00.000Z"


def state_of(*notes: MemoryNote) -> MemoryState:
    state = MemoryState()
    names = dict.fromkeys(note.nugget_name for note in notes)
    state.apply(Changes(put=notes, put_nuggets=tuple(map(NuggetConfig, names))))
    return state


def fact(number: int, key: str, value: str, **fields: Any) -> MemoryNote:
    return sample(number, kind="fact", title=key, content=value, **fields)


def graph_edit(*shapes: dict[str, Any], revision: int = 1) -> ExternalEdit:
    return ExternalEdit(revision, notes=shapes)


def nugget_edit(*facts: dict[str, Any], revision: int = 1, **config: Any) -> ExternalEdit:
    return ExternalEdit(revision, nugget=NuggetConfig("learnings", **config), facts=facts)


def take(state: MemoryState, base: MemoryState | None, edit: ExternalEdit) -> MemoryState:
    after = load_state(state)
    after.apply(import_edit(lambda: "0000beef", state, base, edit, MUCH_LATER).changes)
    return after


def test_nothing_changed_is_nothing() -> None:
    state = state_of(sample(1), fact(2, "k", "v"))
    shapes = [note_to_json(note) for note in state.notes.values()]
    facts = nugget_to_json(NuggetConfig("learnings"), [fact(2, "k", "v")])["facts"]

    for edit in (graph_edit(*shapes), nugget_edit(*facts)):
        found = import_edit(str, state, state, edit, MUCH_LATER)

        assert found == (Changes(action="external edit", client="file"), 0)


def test_an_edit_brings_its_own_anchors_or_keeps_those_that_it_still_names() -> None:
    paths = ("lib/x.py", "lib/y.py")
    note = sample(1, content="lib/x.py and lib/y.py")._replace(anchors=tuple(map(Anchor, paths)))
    state = state_of(note)
    shape = note_to_json(note) | {"content": "lib/y.py and lib/z.py"}
    brought = shape | {"anchors": [{"path": "lib/z.py"}]}

    for edited, anchors in ((shape, ("lib/y.py",)), (brought, ("lib/z.py",))):
        after = take(state, state, graph_edit(edited)).notes[note.id]
        assert tuple(anchor.path for anchor in after.anchors) == anchors


@pytest.mark.parametrize("other", [{"nuggetName": "other"}, {"kind": "fact"}])
def test_the_owning_nugget_and_the_kind_never_change(other: dict[str, str]) -> None:
    note = sample(1, content="one")
    state = state_of(note)
    shape = note_to_json(note) | other | {"content": "two"}

    with pytest.raises(StoreCorrupt, match=f"{next(iter(other))} cannot be changed"):
        take(state, state, graph_edit(shape))


def test_only_the_changed_fields_are_taken() -> None:
    old = sample(1, content="old")
    ours = old._replace(tags=(*old.tags, "ours"), updated_at=LATER)
    shape = {**note_to_json(old), "content": "theirs"}
    after = take(state_of(ours), state_of(old), graph_edit(shape)).notes[old.id]

    assert after.content == "theirs"
    assert "ours" in after.tags
    assert after.updated_at == MUCH_LATER


def test_hits_counted_since_the_author_read_the_file_stay() -> None:
    old = fact(1, "k", "v")
    ours = old._replace(hits=2, hit_sessions=("a", "b"), last_hit_session="b")
    after = take(
        state_of(ours), state_of(old), graph_edit({**note_to_json(old), "content": "theirs"})
    )

    assert (after.notes[old.id].content, after.notes[old.id].hits) == ("theirs", 2)


def test_hits_that_a_person_sets_back_are_set_back() -> None:
    old = fact(1, "k", "v")._replace(hits=5, hit_sessions=("a",))
    after = take(state_of(old), state_of(old), nugget_edit({"key": "k", "value": "v", "hits": 0}))

    assert after.notes[old.id].hits == 0


def test_an_edited_note_that_we_dropped_meanwhile_comes_back() -> None:
    old = sample(1, content="old")
    after = take(
        MemoryState(), state_of(old), graph_edit({**note_to_json(old), "content": "theirs"})
    )

    assert after.notes[old.id].content == "theirs"


def test_an_untouched_note_that_we_dropped_meanwhile_stays_gone() -> None:
    old = sample(1)
    gone_fact = fact(2, "k", "v")
    base = state_of(old, gone_fact)

    assert take(MemoryState(), base, graph_edit(note_to_json(old))).notes == {}
    assert take(MemoryState(), base, nugget_edit({"key": "k", "value": "v"})).notes == {}


def test_without_a_base_the_newer_version_of_a_note_wins_and_nothing_goes() -> None:
    ours = sample(1, content="ours", now=LATER)
    other = sample(2, title="Other")
    older = {**note_to_json(sample(1, content="older", now=NOW))}
    newer = {**note_to_json(sample(1, content="newer", now=MUCH_LATER))}
    state = state_of(ours, other)

    assert take(state, None, graph_edit(older)).notes[ours.id].content == "ours"
    assert take(state, None, graph_edit(newer)).notes[ours.id].content == "newer"
    assert other.id in take(state, None, graph_edit(newer)).notes


def test_a_file_of_unknown_origin_never_takes_facts_away() -> None:
    state = state_of(fact(1, "k", "v"))
    after = take(state, None, nugget_edit({"key": "other", "value": "w"}))

    assert {note.title: note.hidden for note in after.notes.values()} == {
        "k": False,
        "other": False,
    }


def test_two_facts_cannot_answer_to_one_key() -> None:
    state = state_of(fact(1, "k", "v"))
    second = note_to_json(fact(2, "K", "w"))
    first = note_to_json(fact(1, "k", "v"))

    with pytest.raises(StoreCorrupt, match="two facts have the key 'K'"):
        take(state, state, graph_edit(first, second))


def test_facts_added_since_an_empty_nugget_was_seen_stay_in_sight() -> None:
    base = MemoryState()
    base.apply(Changes(put_nuggets=(NuggetConfig("learnings"),)))
    state = state_of(fact(1, "ours", "v"))
    after = take(state, base, nugget_edit({"key": "theirs", "value": "w"}))

    assert not any(note.hidden for note in after.notes.values())
    assert len(after.notes) == 2


def test_only_the_settings_that_were_changed_are_taken() -> None:
    base, state = MemoryState(), MemoryState()
    base.apply(Changes(put_nuggets=(NuggetConfig("learnings"),)))
    state.apply(Changes(put_nuggets=(NuggetConfig("Learnings", max_facts=9),)))
    after = take(state, base, nugget_edit(dims=64))

    assert after.nuggets["learnings"] == NuggetConfig("Learnings", max_facts=9, dims=64)


@pytest.mark.parametrize(
    "edit",
    [
        nugget_edit({"key": " ", "value": "v"}),
        nugget_edit({"key": "k", "value": ""}),
        nugget_edit(dims=1),
        nugget_edit(sharpen_p=1e300),
        nugget_edit(ortho_iters=1.5),
        nugget_edit(banks=0),
        nugget_edit(ortho_iters=99),
        ExternalEdit(1, nugget=NuggetConfig("../x")),
        graph_edit({"id": "n", "nuggetName": "../x", "title": "t", "content": "c"}),
        graph_edit(
            {"id": "n", "nuggetName": "x", "title": "t", "content": "c", "createdAt": "soon"}
        ),
        graph_edit(
            {"id": "n", "nuggetName": "x", "title": "t", "content": "c", "updatedAt": "soon"}
        ),
    ],
)
def test_what_cannot_be_taken_in_is_refused_with_the_files_name(edit: ExternalEdit) -> None:
    with pytest.raises(StoreCorrupt, match=r"\.json was edited and cannot be imported"):
        import_edit(lambda: "0000beef", MemoryState(), MemoryState(), edit, MUCH_LATER)


@pytest.mark.parametrize("field", ["archivedAt", "lastRewrittenAt", "lastInspectedAt"])
def test_a_time_that_is_none_is_refused_and_others_get_the_one_form(field: str) -> None:
    old = sample(1)._replace(hidden=True, archived_at=NOW)
    shape = {**note_to_json(old), field: "2026-02-01T10:00:00+01:00"}
    after = take(state_of(old), state_of(old), graph_edit(shape)).notes[old.id]

    assert note_to_json(after)[field] == "2026-02-01T09:00:00.000Z"
    with pytest.raises(StoreCorrupt, match="yesterday"):
        take(state_of(old), state_of(old), graph_edit({**shape, field: "yesterday"}))


def test_no_session_in_a_file_is_no_session() -> None:
    given = {"key": "k", "value": "v", "hits": 1, "last_hit_session": None}
    after = take(state_of(sample(1)), None, nugget_edit(given))
    taken = next(note for note in after.notes.values() if note.title == "k")

    assert (taken.hits, taken.last_hit_session, taken.hit_sessions) == (1, "", ())


NOTE, FACT = sample(1, content="old"), fact(1, "k", "old")


@pytest.mark.parametrize(
    ("old", "edit"),
    [
        (NOTE, graph_edit({**note_to_json(NOTE), "content": "theirs"})),
        (FACT, nugget_edit({"key": "k", "value": "theirs", "project": FACT.project})),
    ],
)
def test_words_that_both_changed_are_kept_side_by_side(old: MemoryNote, edit: ExternalEdit) -> None:
    ours = old._replace(content="ours", updated_at=LATER)
    after = take(state_of(ours), state_of(old), edit)
    again = take(after, state_of(old), edit)

    [copy] = [note for note in after.notes.values() if note.id != old.id]
    assert (after.notes[old.id].content, copy.content) == ("theirs", "ours")
    assert "conflict" in copy.tags
    assert [link.to for link in copy.links] == [old.id]
    assert [link.to for link in after.notes[old.id].links] == [copy.id]
    assert dict(again.notes.items()) == dict(after.notes.items())


def test_an_edit_of_some_notes_says_nothing_of_the_others() -> None:
    state = state_of(*(sample(number) for number in range(1, 4)))
    first, second, third = state.notes.values()
    edit = ExternalEdit(1, ({**note_to_json(first), "title": "New"},), removed=(second.id,))

    after = take(state, state, edit)

    assert {note.id: note.title for note in after.notes.values()} == {
        first.id: "New",
        third.id: third.title,
    }


def test_a_link_that_someone_added_since_is_kept_beside_the_authors() -> None:
    old, ours, theirs = (sample(number) for number in (1, 2, 3))
    linked, other = add_link(old, ours, "ours", LATER) or (old, ours)
    shape = {**note_to_json(old), "links": [{"to": theirs.id, "reason": "theirs"}]}

    after = take(state_of(linked, other, theirs), state_of(old, ours, theirs), graph_edit(shape))

    assert {link.reason for link in after.notes[old.id].links} == {"ours", "theirs"}
