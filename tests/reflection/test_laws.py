import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from graph_samples import LATER, NOW, by_id, links_are_sound, sample
from nuggets.domain.records import (
    Changes,
    Commit,
    GraphNoteMetaInput,
    MemoryNote,
    NoteKind,
    Touch,
)
from nuggets.domain.state import MemoryNotes, MemoryState, apply_touch
from nuggets.errors import Conflict
from nuggets.maintenance.reflection import Policy, ReflectionResult, part_that_holds, reflect
from nuggets.maintenance.undo import changes_memory, revert
from nuggets.operations.notes_and_links import add_link

ALL = Policy(max_notes=1000)
AFTER = "2026-02-01T10:31:00.000Z"
TITLES = ("tmp x", "Auth", "JWT keys", "user: scratch 2", "Deploy", "設定 の キー", "Template")
SPELLING = """
alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa
quebec romeo sierra tango uniform victor whiskey xray yankee zulu
"""
ALPHABET = SPELLING.split()  # parts of it are near duplicates of others
PIECES = (
    "jwt rotation keys vault", "jwt", "deploy pushes the image to the registry and restarts it",
    "deploy pushes the image to the registry and restarts them", "src/auth/keys.pem", "", "  ",
    "ok", "```\n}\n}\n```", "port 80", "A:", "  indented", "I prefer tabs", "鍵は金庫にある",
    "x" * 60,
)  # fmt: skip


def graph(seed: int, count: int = 14) -> dict[str, MemoryNote]:
    chance = random.Random(seed)
    notes: dict[str, MemoryNote] = {}
    for number in range(count):
        content = "\n".join(chance.choices(PIECES, k=chance.randint(1, 5)))
        alike = chance.random() < 0.5
        if alike:
            content = " ".join(ALPHABET[chance.randrange(3) : chance.randrange(23, 26)])
            content += chance.choice(("", "", ".", " not", " 80"))
        kind: NoteKind = "fact" if chance.random() < 0.25 else "note"
        note = sample(
            number,
            kind=kind,
            title="Deploy" if alike and kind == "note" else f"{chance.choice(TITLES)} {number}",
            content=content if kind == "note" else content.strip() or "value",
            nugget="learnings" if alike else chance.choice(("learnings", "project")),
            created_at=f"2026-01-01T{number // 60:02}:{number % 60:02}:00.000Z",
            given=GraphNoteMetaInput(
                scope=None if alike else chance.choice((None, "user", "shared", "self")),
                stability=None if alike else chance.choice((None, "temporary")),
            ),
        )
        notes[note.id] = note._replace(
            content=content if kind == "note" else note.content,
            hits=chance.randrange(3),
            hidden=chance.random() < 0.1,
            last_accessed_at=chance.choice((NOW, "2026-01-01T00:00:00.000Z")),
            updated_at=chance.choice((NOW, "2026-01-01T00:00:00.000Z")),
        )
    for _ in range(chance.randrange(8)):
        a, b = chance.sample(sorted(notes), 2)
        notes |= by_id(*(add_link(notes[a], notes[b], chance.choice("xyz"), NOW) or ()))
    return notes


def applied(
    notes: dict[str, MemoryNote], now: str = LATER
) -> tuple[dict[str, MemoryNote], ReflectionResult]:
    changes, result = reflect(notes, now, ALL)
    return notes | by_id(*changes.put), result


@settings(max_examples=example_count(150), deadline=None)
@given(st.integers(0, 10**9))
def test_a_second_pass_finds_nothing_to_do(seed: int) -> None:
    once, _ = applied(graph(seed))
    twice, result = applied(once, AFTER)

    assert result == ReflectionResult(AFTER, inspected=result.inspected)
    assert all(
        twice[i]._replace(last_inspected_at=None) == once[i]._replace(last_inspected_at=None)
        for i in once
    )


@settings(max_examples=example_count(100), deadline=None)
@given(st.integers(0, 10**9))
def test_a_pass_loses_nothing_and_keeps_links_two_way(seed: int) -> None:
    before = graph(seed)
    after, result = applied(before)

    assert before.keys() == after.keys()
    assert links_are_sound(after)
    for note_id, note in before.items():
        own = {tag for tag in note.tags if ":" not in tag}
        assert own <= set(after[note_id].tags)
        if note.hidden:
            assert after[note_id]._replace(links=()) == note._replace(links=())
        if note.kind == "fact":
            assert after[note_id].content == note.content
        survivors = [c.note_id for c in result.changes if c.type == "merge"]
        kept = {
            line.strip() for s in [note_id, *survivors] for line in after[s].content.split("\n")
        }
        assert {line.strip() for line in note.content.split("\n")} <= kept | {""}


@settings(max_examples=example_count(60), deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 14))
def test_the_order_of_the_notes_makes_no_difference(seed: int, limit: int) -> None:
    notes = graph(seed)
    shuffled = dict(random.Random(seed + 1).sample(sorted(notes.items()), len(notes)))

    plan = reflect(notes, LATER, Policy(max_notes=limit))
    assert reflect(shuffled, LATER, Policy(max_notes=limit)) == plan
    assert plan[1].inspected <= limit


@settings(max_examples=example_count(150), deadline=None)
@given(st.integers(0, 10**9))
def test_what_others_write_meanwhile_stays_and_links_stay_two_way(seed: int) -> None:
    notes = graph(seed)
    changes, result = reflect(notes, LATER, ALL)
    chance, state = random.Random(seed), MemoryState()
    state.notes = MemoryNotes(notes)
    assert part_that_holds(notes, notes, changes, result) == (changes, result)
    gone, edited, recalled = chance.sample(sorted(notes), 3)
    state.notes[edited] = state.notes[edited]._replace(content="written meanwhile")
    state.notes[recalled] = apply_touch(notes[recalled], Touch(recalled, "meanwhile", AFTER))
    for link in state.notes.pop(gone).links:
        other = state.notes[link.to]
        state.notes[link.to] = other._replace(
            links=tuple(back for back in other.links if back.to != gone)
        )
    current = dict(state.notes)
    part, done = part_that_holds(notes, current, changes, result)
    state.apply(part)

    assert links_are_sound(state.notes)
    assert gone not in state.notes
    assert all(state.notes[i] == current[i] for i in (edited, recalled))
    assert set(done.changes) <= set(result.changes)
    assert done.linked == sum(change.type == "link" for change in done.changes)
    assert 0 <= done.inspected <= result.inspected


@settings(max_examples=example_count(150), deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 3))
def test_undo_takes_back_what_did_not_change_since_and_keeps_links_two_way(
    seed: int, edits: int
) -> None:
    notes = graph(seed)
    changes, _ = reflect(notes, LATER, ALL)
    was = Changes(put=tuple(notes[note.id] for note in changes.put))
    commit = Commit(1, LATER, changes, was)
    state = MemoryState()
    state.notes = MemoryNotes(notes | by_id(*changes.put))
    edited = random.Random(seed).sample(sorted(notes), edits)
    for i in edited:
        state.notes[i] = state.notes[i]._replace(content="written since")
    current = dict(state.notes)
    if not changes_memory(commit):
        return
    try:
        back, undone = revert(state, commit)
    except Conflict:
        assert edits
        return
    state.apply(back)

    assert links_are_sound(state.notes)
    assert edits or state.notes == notes
    left = {note.note_id for note in undone.left}
    taken_back = {note.id for note in undone.changes.put}
    assert left.isdisjoint(taken_back)
    for i in (*edited, *left):
        assert state.notes[i] == current[i]
    for i in taken_back:
        assert state.notes[i]._replace(links=()) == notes[i]._replace(links=())
    again, _ = revert(
        state, Commit(2, AFTER, back, Changes(put=tuple(current[n.id] for n in back.put)))
    )
    state.apply(again)
    assert state.notes == current


@pytest.mark.parametrize("limit", [10, 300])
def test_only_the_inspected_and_their_partners_are_written(limit: int) -> None:
    notes = graph(3, 300)
    changes, result = reflect(notes, LATER, Policy(max_notes=limit))
    partners = {i for c in result.changes for i in (c.note_id, *c.partners)}
    inspected = {note.id for note in changes.put if note.last_inspected_at == LATER}

    assert {note.id for note in changes.put} <= inspected | partners
    assert len(inspected) == min(limit, result.inspected)
    assert changes.action == "reflect"


@settings(max_examples=example_count(60), deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 14))
def test_ids_which_are_drawn_by_chance_decide_nothing(seed: int, limit: int) -> None:
    notes = graph(seed)
    drawn = random.Random(seed + 1).sample(range(16**8), len(notes))
    names = {old: f"{old[:-8]}{new:08x}" for old, new in zip(notes, drawn, strict=True)}
    renamed = {names[i]: in_other_names(note, names) for i, note in notes.items()}

    changes, result = reflect(notes, LATER, Policy(max_notes=limit))
    others, other_result = reflect(renamed, LATER, Policy(max_notes=limit))

    assert by_id(*in_other_names(changes.put, names)) == by_id(*others.put)
    assert in_other_names(result, names) == other_result


def in_other_names(record: Any, names: dict[str, str]) -> Any:
    """The same record with every id in it replaced."""
    if isinstance(record, str):
        return re.sub("|".join(names), lambda found: names[found[0]], record)
    if isinstance(record, tuple):
        parts = [in_other_names(part, names) for part in record]
        return type(record)._make(parts) if hasattr(record, "_make") else tuple(parts)
    return record
