"""What people took back from the clean-up, so that it does not do it again. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from nuggets.records import MemoryNote
from nuggets.state import State, merged_into

MARK = "refused"  # note -> other note, or "" for itself -> steps


class Refusal(NamedTuple):
    """One step of a clean-up that is not to be taken: on a note, or between two."""

    step: str  # hide, rewrite, tag, merge, link
    note: str
    other: str = ""  # the later one in order, where there are two

    @classmethod
    def between(cls, step: str, a: str, b: str) -> "Refusal":
        return cls(step, min(a, b), max(a, b))


def of(state: State) -> frozenset[Refusal]:
    """All that is refused."""
    known: Mapping[str, Mapping[str, list[str]]] = state.marks.get(MARK, {})
    return frozenset(
        Refusal(step, note, other)
        for note, others in known.items()
        for other, steps in others.items()
        for step in steps
    )


def marks(state: State, changed: Iterable[tuple[MemoryNote, MemoryNote]]) -> Mapping[str, Any]:
    """The mark after someone changed notes, each given as it was and as it is; none if it stays.

    What is done again after it was taken back is welcome from then on.
    """
    known = of(state)
    now = set(known)
    parted: dict[str, list[str]] = {}  # by the note that they had been merged into
    for was, is_now in changed:
        now.difference_update(_taken_back(is_now, was))
        now.update(_taken_back(was, is_now))
        if was.hidden and not is_now.hidden:
            for survivor in merged_into(was):
                parted.setdefault(survivor, []).append(was.id)
    for together in parted.values():
        now.update(Refusal.between("merge", *pair) for pair in combinations(together, 2))
    if now == known:
        return {}
    named = {note_id for refusal in now for note_id in refusal[1:]}
    there = {"", *state.notes.many(named)}
    shape: dict[str, dict[str, list[str]]] = {}
    for step, note, other in sorted(now):
        if note in there and other in there:
            shape.setdefault(note, {}).setdefault(other, []).append(step)
    return {MARK: shape or None}


def _taken_back(was: MemoryNote, is_now: MemoryNote) -> Iterator[Refusal]:
    """The steps of a clean-up that lead from what is now to what was."""
    id_ = was.id
    if was.hidden and not is_now.hidden and was.content == is_now.content:
        # With other words it is news, which may grow old in its turn.
        yield Refusal("hide", id_)
        yield from (Refusal.between("merge", id_, link.to) for link in was.links)
    elif not was.hidden and not is_now.hidden:
        gone = {link.to for link in was.links} - {link.to for link in is_now.links}
        yield from (Refusal.between("link", id_, other) for other in gone)
    if (was.last_rewritten_at or "") > (is_now.last_rewritten_at or ""):
        yield Refusal("rewrite", id_)
    elif was.last_rewritten_at and was.content != is_now.content:
        yield Refusal("rewrite", id_)  # they saw what became of it, and wrote it otherwise
    inspected = (was.last_inspected_at or "") > (is_now.last_inspected_at or "")
    if inspected and set(was.tags) - set(is_now.tags):
        yield Refusal("tag", id_)
