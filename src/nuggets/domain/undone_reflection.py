"""Changes of the clean-up that people undid, so that it does not repeat them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from nuggets.domain.records import MemoryNote
from nuggets.domain.state import State, merged_into
from nuggets.named_tuple import NamedTuple

MARK = "refused"  # note -> other note, or "" for itself -> steps


class RejectedChange(NamedTuple):
    """A change that the clean-up must not make: to one note, or to a pair."""

    step: str  # hide, rewrite, tag, merge, link
    note: str
    other: str = ""  # the later one in order, where there are two

    @classmethod
    def of_pair(cls, step: str, a: str, b: str) -> "RejectedChange":
        return cls(step, min(a, b), max(a, b))


def read_rejected(state: State) -> frozenset[RejectedChange]:
    """Every change that people rejected."""
    mark: Mapping[str, Mapping[str, list[str]]] = state.marks.get(MARK, {})
    return frozenset(
        RejectedChange(step, note, other)
        for note, others in mark.items()
        for other, steps in others.items()
        for step in steps
    )


def rejection_marks(
    state: State, changed: Iterable[tuple[MemoryNote, MemoryNote]]
) -> Mapping[str, Any]:
    """The new mark after someone changed notes (before, after); {} if the mark stays the same.

    A change that a person makes after undoing it is no longer rejected.
    """
    before = read_rejected(state)
    after = set(before)
    separated: dict[str, list[str]] = {}  # by the note that they had been merged into
    for was, is_now in changed:
        after.difference_update(_undone_steps(is_now, was))
        after.update(_undone_steps(was, is_now))
        if was.hidden and not is_now.hidden:
            for survivor in merged_into(was):
                separated.setdefault(survivor, []).append(was.id)
    for together in separated.values():
        after.update(RejectedChange.of_pair("merge", *pair) for pair in combinations(together, 2))
    if after == before:
        return {}
    named = {note_id for change in after for note_id in change[1:]}
    existing = {"", *state.notes.many(named)}
    shape: dict[str, dict[str, list[str]]] = {}
    for step, note, other in sorted(after):
        if note in existing and other in existing:
            shape.setdefault(note, {}).setdefault(other, []).append(step)
    return {MARK: shape or None}


def _undone_steps(was: MemoryNote, is_now: MemoryNote) -> Iterator[RejectedChange]:
    """The changes of the clean-up that someone undid by turning `was` into `is_now`."""
    id_ = was.id
    if was.hidden and not is_now.hidden and was.content == is_now.content:
        # A rewritten note is a new statement, and the clean-up may archive it again.
        yield RejectedChange("hide", id_)
        yield from (RejectedChange.of_pair("merge", id_, link.to) for link in was.links)
    elif not was.hidden and not is_now.hidden:
        gone = {link.to for link in was.links} - {link.to for link in is_now.links}
        yield from (RejectedChange.of_pair("link", id_, other) for other in gone)
    if (was.last_rewritten_at or "") > (is_now.last_rewritten_at or ""):
        yield RejectedChange("rewrite", id_)
    elif was.last_rewritten_at and was.content != is_now.content:
        yield RejectedChange("rewrite", id_)  # a person rewrote what the clean-up had rewritten
    inspected = (was.last_inspected_at or "") > (is_now.last_inspected_at or "")
    if inspected and set(was.tags) - set(is_now.tags):
        yield RejectedChange("tag", id_)
