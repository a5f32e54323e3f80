"""Two memories become one: nothing is lost, and of two versions the later one counts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph_samples import LATER, NOW, links_are_sound, sample
from nuggets.domain.marks import REJECTED
from nuggets.domain.records import KINDS, Changes, Intake, MemoryNote, NoteLink, NuggetConfig
from nuggets.domain.state import MemoryState, load_state
from nuggets.operations.shelf_import import NO_PAST, OtherShelf, ShelfPast, merge_shelves

MUCH_LATER = "2026-03-01T00:00:00.000Z"


def state_of(*notes: MemoryNote, **marks: Any) -> MemoryState:
    state = MemoryState()
    names = dict.fromkeys(note.nugget_name for note in notes)
    state.apply(Changes(put=notes, put_nuggets=tuple(map(NuggetConfig, names)), marks=marks))
    return state


def fact(number: int, key: str, value: str, **fields: Any) -> MemoryNote:
    return sample(number, kind="fact", title=key, content=value, **fields)


def linked(note: MemoryNote, *others: MemoryNote) -> MemoryNote:
    return note._replace(links=tuple(NoteLink(other.id, "why", NOW) for other in others))


def take(
    ours: MemoryState, theirs: MemoryState, past: ShelfPast = NO_PAST
) -> tuple[MemoryState, Intake]:
    other = OtherShelf(tuple(theirs.notes.values()), tuple(theirs.nuggets.values()))
    changes, intake = merge_shelves(ours, other, past, MUCH_LATER)
    after = load_state(ours)
    after.apply(changes)
    return after, intake


def test_what_is_new_comes_in_with_its_links_and_nuggets() -> None:
    a, b = sample(1, title="a"), sample(2, title="b", nugget="other")
    theirs = state_of(linked(a, b), linked(b, a))
    after, intake = take(state_of(), theirs)

    assert after.notes == theirs.notes
    assert after.nuggets == theirs.nuggets
    assert intake == Intake(tuple(theirs.notes.values()), (), 0, 0, 0, 0)


def test_the_later_version_counts_on_whichever_side_it_is() -> None:
    old = sample(1, content="old")
    new = old._replace(content="new", updated_at=LATER)

    after, intake = take(state_of(old), state_of(new))
    assert (after.notes[old.id].content, intake.updated) == ("new", (new,))

    after, intake = take(state_of(new), state_of(old))
    assert (after.notes[old.id].content, intake.older) == ("new", 1)


def test_archived_there_later_is_archived_here() -> None:
    old = sample(1)
    hidden = old._replace(hidden=True, archived_at=LATER, updated_at=LATER)
    after, _ = take(state_of(old), state_of(hidden))

    assert after.notes[old.id] == hidden


def test_what_people_did_counts_though_the_note_does_not_tell_when() -> None:
    shown, hidden = sample(1), sample(1)._replace(hidden=True, archived_at=NOW)
    ours, there = state_of(shown), OtherShelf((hidden,), past=ShelfPast(changed={shown.id: LATER}))
    changes, intake = merge_shelves(ours, there, NO_PAST, MUCH_LATER)

    assert [(note.hidden, note.updated_at) for note in changes.put] == [(True, LATER)]
    assert len(intake.updated) == 1
    done_since = ShelfPast(changed={shown.id: MUCH_LATER})
    assert merge_shelves(ours, there, done_since, MUCH_LATER)[1].older == 1


def test_what_was_heard_before_is_no_news_whatever_its_time() -> None:
    heard, mine = sample(1, content="theirs"), sample(1, content="mine", now=LATER)
    again = heard._replace(updated_at=MUCH_LATER)
    past = ShelfPast(brought={heard.id: heard})

    assert take(state_of(mine), state_of(again), past)[1].older == 1
    assert take(state_of(), state_of(again), past._replace(gone={heard.id: LATER}))[1].deleted == 1
    assert take(state_of(), state_of(again), past)[1].added == (again,)  # its import was undone


def test_a_repository_may_lie_elsewhere_here() -> None:
    known = sample(1)._replace(project="/there")
    new = sample(2, title="New")._replace(project="/there")
    changed = known._replace(content="newer", updated_at=LATER)
    after, _ = take(state_of(known._replace(project="/here")), state_of(changed, new))

    assert {note.project for note in after.notes.values()} == {"/here"}
    assert after.notes[known.id].content == "newer"


def test_it_may_become_everybodys_there() -> None:
    ours = sample(1)._replace(project="/here")
    after, _ = take(state_of(ours), state_of(ours._replace(project="", updated_at=LATER)))

    assert after.notes[ours.id].project == ""


def test_links_alone_are_news_as_well() -> None:
    a, b = sample(1, title="a"), sample(2, title="b")
    _, intake = take(state_of(a, b), state_of(linked(a, b), linked(b, a)))

    assert (intake.linked, intake.same) == (2, 2)


def test_a_fact_is_known_by_its_key_and_keeps_its_id_and_links_here() -> None:
    note = sample(3)
    ours = linked(fact(1, "Port", "80"), note)
    theirs = fact(2, "port", "8080", now=LATER)
    about = linked(sample(4, title="Ports"), theirs)
    after, intake = take(state_of(ours, linked(note, ours)), state_of(theirs, about))

    assert after.notes[ours.id].content == "8080"
    assert theirs.id not in after.notes
    assert {link.to for link in after.notes[ours.id].links} == {note.id, about.id}
    assert [one.id for one in intake.added] == [about.id]
    assert links_are_sound(after.notes)


def test_two_projects_may_know_different_things_by_one_key() -> None:
    ours = fact(1, "port", "80")._replace(project="/a")
    theirs = fact(2, "port", "81")._replace(project="/b")
    after, _ = take(state_of(ours), state_of(theirs))

    assert {note.content for note in after.notes.values()} == {"80", "81"}


def test_no_two_facts_answer_to_one_key_even_if_one_was_renamed_there() -> None:
    shared = fact(1, "port", "80")
    mine = fact(2, "http port", "8080")
    renamed = shared._replace(title="http port", source_key="http port", updated_at=LATER)
    after, _ = take(state_of(shared, mine), state_of(renamed))

    keys = [n.title for n in after.notes.values() if n.kind == "fact" and not n.hidden]
    assert keys == ["http port"]


def test_the_same_words_are_the_same_note() -> None:
    after, intake = take(state_of(sample(1)), state_of(sample(2)))

    assert list(after.notes) == [sample(1).id]
    assert (intake.same, intake.added) == (1, ())


def test_a_name_is_spelt_as_it_is_here() -> None:
    after, _ = take(state_of(sample(1)), state_of(sample(2, title="b", nugget="Learnings")))

    assert {note.nugget_name for note in after.notes.values()} == {"learnings"}
    assert list(after.nuggets) == ["learnings"]


def test_recalls_of_both_count_once() -> None:
    ours = sample(1)._replace(hits=2, hit_sessions=("s1", "s2"))
    theirs = sample(1)._replace(hits=2, hit_sessions=("s2", "s3"), last_accessed_at=LATER)
    after, intake = take(state_of(ours), state_of(theirs))

    assert after.notes[ours.id].hit_sessions == ("s2", "s3", "s1")
    assert after.notes[ours.id].hits == 3
    many = ours._replace(hits=40, hit_sessions=tuple(f"a{n}" for n in range(40)))
    others = theirs._replace(hits=40, hit_sessions=tuple(f"b{n}" for n in range(40)))
    once, _ = take(state_of(many), state_of(others))
    twice, _ = take(once, state_of(others))
    assert once.notes[ours.id].hits == twice.notes[ours.id].hits == 80
    assert after.notes[ours.id].last_accessed_at == LATER
    assert intake.same == 1


def test_what_went_here_since_stays_away() -> None:
    note = sample(1)
    past = ShelfPast(gone={note.id: LATER})

    assert take(state_of(), state_of(note), past)[1].deleted == 1
    changed = note._replace(content="again", updated_at=MUCH_LATER)
    after, _ = take(state_of(), state_of(changed), past)
    assert after.notes[note.id].content == "again"


def test_so_does_a_fact_that_the_other_side_knows_by_another_id() -> None:
    theirs = fact(2, "Port", "80")
    past = ShelfPast(gone={("learnings", "port", ""): LATER})
    after, intake = take(state_of(), state_of(theirs), past)

    assert (intake.deleted, after.notes, after.nuggets) == (1, {}, {})


def test_a_link_that_people_cut_is_not_tied_again() -> None:
    a, b, c = (sample(n, title=title) for n, title in enumerate("abc", 1))
    theirs = state_of(linked(a, b, c), linked(b, a), linked(c, a))
    ours = state_of(a, b, c, **{REJECTED: {a.id: {b.id: ["link"]}}})
    after, _ = take(ours, theirs)

    assert [link.to for link in after.notes[a.id].links] == [c.id]
    assert not after.notes[b.id].links


def test_a_link_to_what_stays_away_goes_with_it() -> None:
    a, b = sample(1, title="a"), sample(2, title="b")
    theirs = state_of(linked(a, b), linked(b, a))
    after, _ = take(state_of(), theirs, ShelfPast(gone={b.id: LATER}))

    assert after.notes[a.id].links == ()


MOMENTS = st.sampled_from([NOW, LATER, MUCH_LATER])


@st.composite
def memories(draw: st.DrawFn) -> MemoryState:
    """A few of the same few notes and facts, at one time or another."""
    notes = {}
    for number in draw(st.sets(st.integers(1, 6))):
        note = sample(
            number,
            kind=draw(st.sampled_from(KINDS)),
            title=draw(st.sampled_from("abc")),
            content=draw(st.sampled_from("xy")),
            now=draw(MOMENTS),
        )
        sessions = tuple(draw(st.sets(st.sampled_from("st"))))
        notes[note.id] = note._replace(hits=len(sessions), hit_sessions=sessions)
    keys = {}  # a shelf never has two facts by one key
    for note in notes.values():
        keys[note.title if note.kind == "fact" else note.id] = note
    chosen = {note.id: note for note in keys.values()}
    ends = draw(st.lists(st.tuples(*[st.sampled_from(sorted(chosen))] * 2))) if chosen else []
    for one, other in ends:
        if one != other:
            for a, b in ((one, other), (other, one)):
                links = {*chosen[a].links, NoteLink(b, "why", NOW)}
                chosen[a] = chosen[a]._replace(links=tuple(sorted(links)))
    return state_of(*chosen.values())


@given(memories(), memories())
def test_once_is_as_good_as_twice_and_the_graph_stays_sound(
    ours: MemoryState, theirs: MemoryState
) -> None:
    after, intake = take(ours, theirs)
    again, second = take(after, theirs)

    assert again.notes == after.notes
    assert not (second.added or second.updated)
    assert links_are_sound(after.notes)
    keys = [n.title for n in after.notes.values() if n.kind == "fact" and not n.hidden]
    assert len(keys) == len(set(keys))
    said = {(note.kind, note.title, note.content) for note in after.notes.values()}
    unsaid = [n for n in theirs.notes.values() if (n.kind, n.title, n.content) not in said]
    assert len(unsaid) <= intake.older
    assert set(ours.notes) <= set(after.notes)
    counts = len(intake.added) + len(intake.updated) + intake.same + intake.older + intake.deleted
    assert counts == len(theirs.notes)
