import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from example_counts import example_count
from graph_samples import LATER, NOW, by_id, links_are_sound, sample
from nuggets.domain.records import MemoryNote, NoteLink
from nuggets.errors import InvalidInput
from nuggets.operations.note_merging import merge_notes
from nuggets.operations.notes_and_links import (
    add_link,
    remove_link,
    repair_links,
    without_links_to,
)


def link(to: MemoryNote, reason: str = "uses", at: str = NOW) -> NoteLink:
    return NoteLink(to.id, reason, at)


def with_links(note: MemoryNote, *links: NoteLink) -> MemoryNote:
    return note._replace(links=links)


def test_a_link_is_made_at_both_ends_with_the_same_reason_and_time() -> None:
    a, b = sample(1), sample(2, nugget="elsewhere")

    assert add_link(a, b, " uses ", NOW) == (with_links(a, link(b)), with_links(b, link(a)))


def test_the_same_link_is_not_made_twice_whatever_its_case_or_direction() -> None:
    a, b = add_link(sample(1), sample(2), "Uses Café", NOW) or pytest.fail()

    assert add_link(a, b, "uses cafe\u0301", LATER) is None
    assert add_link(b, a, "USES CAFÉ ", LATER) is None


def test_another_reason_is_another_link() -> None:
    a, b = add_link(sample(1), sample(2), "uses", NOW) or pytest.fail()
    a, b = add_link(a, b, "tests", LATER) or pytest.fail()

    assert a.links == (link(b), link(b, "tests", LATER))


def test_a_link_without_a_reason_says_related() -> None:
    a, b = add_link(sample(1), sample(2), "", NOW) or pytest.fail()

    assert a.links == (link(b, "related"),)


def test_a_note_is_not_linked_to_itself() -> None:
    with pytest.raises(InvalidInput, match="itself"):
        add_link(sample(1), sample(1), "x", NOW)


def test_a_link_missing_at_one_end_is_completed_as_it_was() -> None:
    a, b = sample(1), sample(2)
    half = with_links(b, link(a, "Uses"))

    assert add_link(a, half, "uses", LATER) == (with_links(a, link(b, "Uses")), half)


def test_linking_leaves_the_time_of_change_alone() -> None:
    a, b = add_link(sample(1), sample(2), "uses", LATER) or pytest.fail()

    assert (a.updated_at, b.updated_at) == (NOW, NOW)


def test_a_note_takes_a_thousand_links_and_no_more() -> None:
    hub, last = sample(1), sample(2)
    full = hub._replace(links=tuple(NoteLink(f"note-x-{n:08x}", "r", NOW) for n in range(1000)))

    with pytest.raises(InvalidInput, match="at most 1000 links"):
        add_link(full, last, "r", NOW)
    with pytest.raises(InvalidInput, match="at most 1000 links"):
        add_link(last, full, "r", NOW)
    assert add_link(full._replace(links=full.links[1:]), last, "r", NOW)


def test_unlinking_takes_the_link_from_both_ends() -> None:
    a, b = sample(1), sample(2)
    linked_a, linked_b = add_link(a, b, "uses", NOW) or pytest.fail()

    assert remove_link(linked_a, linked_b) == (a, b)
    assert remove_link(linked_b, linked_a, "USES") == (b, a)
    assert remove_link(linked_a, linked_b, "tests") is None
    assert remove_link(a, b) is None


def test_unlinking_one_reason_leaves_the_others() -> None:
    a, b = add_link(sample(1), sample(2), "uses", NOW) or pytest.fail()
    a, b = add_link(a, b, "tests", NOW) or pytest.fail()

    after, _ = remove_link(a, b, "uses") or pytest.fail()

    assert after.links == (link(b, "tests"),)


def test_links_to_what_is_gone_are_taken_away_and_only_changed_notes_given() -> None:
    a, b, c = sample(1), sample(2), sample(3)
    notes = [with_links(a, link(b), link(c)), with_links(c, link(a)), b]

    assert without_links_to(notes, {b.id}) == (with_links(a, link(c)),)


def test_every_kind_of_broken_link_is_repaired() -> None:
    a, b, c = sample(1), sample(2), sample(3)
    lost = NoteLink("note-x-00000009", "uses", NOW)
    notes = by_id(with_links(a, link(b), link(b, "USES"), link(a), lost), with_links(b, link(a)), c)

    [repaired] = repair_links(notes)
    assert (repaired.id, [one.to for one in repaired.links]) == (a.id, [b.id])
    assert repair_links(by_id(a, with_links(b, link(a)))) == (with_links(a, link(b)),)


IDS = st.integers(0, 5)
REASONS = st.sampled_from(["uses", "Uses", "tests"])
TIMES = st.sampled_from([NOW, LATER])


@settings(max_examples=example_count(100))
@examples(st.lists(st.tuples(IDS, IDS, REASONS, TIMES), max_size=15))
def test_after_a_repair_nothing_is_broken_and_no_sound_link_is_lost(
    scribbles: list[tuple[int, int, str, str]],
) -> None:
    notes = by_id(*(sample(n) for n in range(5)))  # the sixth id dangles
    for start, end, reason, at in scribbles:
        note = notes.get(sample(start).id)
        if note:
            notes[note.id] = with_links(note, *note.links, link(sample(end), reason, at))

    after = notes | by_id(*repair_links(notes))

    assert links_are_sound(after)
    assert repair_links(after) == ()
    assert {(a, b) for a, b, _, _ in scribbles if a != b and 5 not in (a, b)} <= {
        (int(note.id[-8:], 16), int(one.to[-8:], 16))
        for note in after.values()
        for one in note.links
    }


STEPS = st.tuples(st.sampled_from(["link", "unlink", "drop", "merge"]), IDS, IDS, REASONS, TIMES)


def step(
    notes: dict[str, MemoryNote], verb: str, a: MemoryNote, b: MemoryNote, reason: str, at: str
) -> None:
    if verb == "link":
        notes |= by_id(*(add_link(a, b, reason, at) or ()))
    elif verb == "unlink":
        notes |= by_id(*(remove_link(a, b, reason) or ()))
    elif verb == "merge":
        notes |= by_id(*(merge_notes(a, b, reason, at, notes) if not a.hidden else ()))
    else:
        del notes[b.id]
        notes |= by_id(*without_links_to(notes.values(), {b.id}))


@settings(max_examples=example_count(200))
@examples(st.lists(STEPS, max_size=40))
def test_links_stay_whole_whatever_is_done(
    script: list[tuple[str, int, int, str, str]],
) -> None:
    notes = by_id(*(sample(n) for n in range(6)))
    for verb, first, second, reason, at in script:
        a, b = notes.get(sample(first).id), notes.get(sample(second).id)
        if a and b and a.id != b.id:
            step(notes, verb, a, b, reason, at)

    assert links_are_sound(notes)
    for note in notes.values():
        for one in note.links:
            assert one._replace(to=note.id) in notes[one.to].links
