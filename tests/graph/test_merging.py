import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from example_counts import example_count
from graph_samples import LATER, NOW, by_id, links_are_sound, sample
from nuggets.domain.records import MemoryNote, NoteKind, NoteLink
from nuggets.errors import InvalidInput
from nuggets.operations.note_merging import merge_notes
from nuggets.operations.notes_and_links import add_link


def merge(target: MemoryNote, source: MemoryNote, *others: MemoryNote) -> dict[str, MemoryNote]:
    """All notes after the merge."""
    notes = by_id(target, source, *others)
    changed = merge_notes(target, source, "same thing", LATER, notes)
    return notes | by_id(*changed)


def contents(target: str, source: str) -> str:
    one, two = sample(1, content=target), sample(2, content=source)
    return merge(one, two)[one.id].content


@pytest.mark.parametrize(
    ("target", "source", "union"),
    [
        ("a\nb", "b\nc", "a\nb\nc"),
        ("a", "a", "a"),
        ("a", "", "a"),
        ("", "a", "a"),
        ("a\n\nb", "c\n\nb\n\nd", "a\n\nb\nc\n\nd"),
        ("a", "  a\nb\nb", "a\nb"),
        ("a", "A", "a\nA"),
        ("```\n}\n```", "```\nx\n}\n}\n```", "```\n}\n```\n```\nx\n}\n}\n```"),
        ("}\n```", "````\n```\n}\n````\nb\n}", "}\n```\n````\n```\n}\n````\nb"),
        ("a", "```x```\na\nb", "a\n```x```\nb"),
        ("}", "~~~ c\n}\n~~~\n}", "}\n~~~ c\n}\n~~~"),
        ("```\nx\n```\nb", "```\nx\n```\nc", "```\nx\n```\nb\nc"),
    ],
)
def test_the_target_keeps_the_union_of_unique_lines(target: str, source: str, union: str) -> None:
    assert contents(target, source) == union


@settings(max_examples=example_count(200))
@examples(*[st.lists(st.sampled_from(["a", "  b", "c", "", "```", "~~~", "}"]), max_size=8)] * 2)
def test_a_merge_never_loses_a_line(target: list[str], source: list[str]) -> None:
    union = contents("\n".join(target), "\n".join(source))

    assert {line.strip() for line in target + source if line} <= set(
        map(str.strip, union.split("\n"))
    )


def test_the_target_keeps_the_tags_of_both_and_only_its_own_of_the_system() -> None:
    target = sample(1, tags=["a", "b"])
    source = sample(2, tags=["b", "c"], nugget="project")

    after = merge(target, source)[target.id]

    assert after.tags == ("a", "b", "c", "learnings", "scope:user", "type:note")
    assert after.updated_at == LATER


def test_a_merge_that_adds_no_words_leaves_the_time_of_the_target() -> None:
    target, source = sample(1), sample(2)

    assert merge(target, source)[target.id].updated_at == NOW


def test_the_source_is_hidden_with_a_link_to_the_survivor() -> None:
    target, source = sample(1), sample(2, content="other")

    after = merge(target, source)

    assert after[source.id] == source._replace(
        hidden=True, archived_at=LATER, links=(NoteLink(target.id, "same thing", LATER),)
    )
    assert after[target.id].links == (NoteLink(source.id, "same thing", LATER),)


def test_third_notes_are_linked_with_the_survivor_instead() -> None:
    target, source, third = sample(1), sample(2), sample(3)
    source, third = add_link(source, third, "uses", NOW) or pytest.fail()

    after = merge(target, source, third)

    assert after[third.id].links == (NoteLink(target.id, "uses", NOW),)
    assert NoteLink(third.id, "uses", NOW) in after[target.id].links
    assert links_are_sound(after)


def test_of_two_equal_links_one_is_left_and_the_same_at_both_ends() -> None:
    target, source, third = sample(1), sample(2), sample(3)
    target, third = add_link(target, third, "Uses", LATER) or pytest.fail()
    third, source = add_link(third, source, "uses", NOW) or pytest.fail()

    after = merge(target, source, third)

    assert after[third.id].links == (NoteLink(target.id, "uses", NOW),)
    assert after[target.id].links[0] == NoteLink(third.id, "uses", NOW)


def test_earlier_links_between_the_two_do_not_become_self_links() -> None:
    target, source = add_link(sample(1), sample(2), "alike", NOW) or pytest.fail()

    after = merge(target, source)

    assert [link.reason for link in after[target.id].links] == ["same thing"]
    assert links_are_sound(after)


def test_a_link_to_a_note_that_is_gone_does_not_stop_a_merge() -> None:
    target, source = sample(1), sample(2)
    source = source._replace(links=(NoteLink("note-x-00000009", "lost", NOW),))

    assert set(merge(target, source)) == {target.id, source.id}


def test_a_link_of_the_source_to_itself_does_not_survive() -> None:
    target, source = sample(1), sample(2)
    source = source._replace(links=(NoteLink(source.id, "odd", NOW),))

    after = merge(target, source)

    assert links_are_sound(after)


def test_sessions_that_recalled_both_count_once() -> None:
    target = sample(1)._replace(
        hits=3, hit_sessions=("a", "b", "c"), last_hit_session="c", last_accessed_at=NOW
    )
    source = sample(2)._replace(
        hits=2, hit_sessions=("b", "d"), last_hit_session="d", last_accessed_at=LATER
    )

    after = merge(target, source)[target.id]

    assert (after.hits, after.hit_sessions) == (4, ("a", "c", "b", "d"))
    assert (after.last_hit_session, after.last_accessed_at) == ("d", LATER)


def test_the_sessions_kept_are_the_last_64() -> None:
    target = sample(1)._replace(hits=64, hit_sessions=tuple(f"t{n}" for n in range(64)))
    source = sample(2)._replace(hits=64, hit_sessions=tuple(f"s{n}" for n in range(64)))

    after = merge(target, source)[target.id]

    assert (after.hits, after.hit_sessions) == (128, target.hit_sessions)


def test_a_note_is_not_merged_with_itself_or_into_an_archived_one() -> None:
    note, other = sample(1), sample(2)

    with pytest.raises(InvalidInput, match="itself"):
        merge_notes(note, note, "", NOW, by_id(note))
    with pytest.raises(InvalidInput, match="restore"):
        merge_notes(note._replace(hidden=True), other, "", NOW, by_id(note, other))


def test_a_merge_without_a_reason_says_that_it_was_one() -> None:
    target, source = sample(1), sample(2)

    _, gone = merge_notes(target, source, " ", NOW, by_id(target, source))

    assert gone.links == (NoteLink(target.id, "merged", NOW),)


@pytest.mark.parametrize("kind", ["fact", "note"])
def test_a_fact_is_not_merged_away_because_its_key_keeps_answering(kind: NoteKind) -> None:
    target, source = sample(1, kind=kind), sample(2, kind="fact", title="commits")

    with pytest.raises(InvalidInput, match=r"'commits'.*Link the two, or .* note and then forget"):
        merge_notes(target, source, "", NOW, by_id(target, source))


def test_a_note_may_go_into_a_fact() -> None:
    target, source = sample(1, kind="fact", content="a"), sample(2, content="b")

    assert merge(target, source)[target.id].content == "a\nb"


@pytest.mark.parametrize(
    ("target", "source", "united"),
    [
        ("Run fly deploy after the CI is green.", "run fly deploy, after CI is green", "target"),
        ("- Ask Ada first", "Ask Ada first!", "target"),
        ("Ada asks Ben", "Ben asks Ada", "both"),
        ("a = b", "a == b", "both"),
        ("never on Fridays", "on Fridays", "both"),
        ("if (!ready) wait();", "if (ready) wait();", "both"),
        ("if !(ready) wait", "if (ready) wait", "both"),
        ("-5 degrees", "5 degrees", "both"),
        ("It costs 1.500 a year", "It costs 1,500 a year", "both"),
        ("Mix it 1:10", "Mix it 1.10", "both"),
        ("Half is .5", "Half is 5", "both"),
        ("It costs 1.500 a year.", "* it costs 1.500 a year", "target"),
    ],
)
def test_a_sentence_that_is_said_already_is_not_said_again(
    target: str, source: str, united: str
) -> None:
    assert contents(target, source) == (target if united == "target" else f"{target}\n{source}")


def test_a_merge_keeps_to_the_limits_of_a_note() -> None:
    one = sample(1, tags=[f"one-{n}" for n in range(60)])
    other = sample(2, tags=[f"two-{n}" for n in range(60)])

    assert len(merge(one, other)[one.id].tags) == 64 + 3

    many = tuple(NoteLink(f"note-{n}", "near", NOW) for n in range(600))
    more = tuple(NoteLink(f"note-{n}", "near", NOW) for n in range(600, 1200))
    with pytest.raises(InvalidInput, match="at most 1000 links"):
        merge(one._replace(links=many), other._replace(links=more))
