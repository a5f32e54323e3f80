"""Three-way merge of records that someone edited in a copy: what its author changed, and where that
meets what others changed since. Pure.

`base` is what the author saw, `theirs` what they made of it, `ours` what is stored now. A record is
a mapping of fields; the copy may be a JSON file or a folder of notes. (Of the lines of MEMORY.md
only hashes are stored, which a purge may leave: `maintenance/promotion/hand_edits.py` compares
those.)
"""

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from nuggets.named_tuple import NamedTuple

Record = Mapping[str, Any]
K = TypeVar("K")
R = TypeVar("R")


class Merge(NamedTuple):
    """What happened to one record."""

    changed: dict[str, Any]  # fields that the author changed or added
    conflicts: tuple[str, ...]  # those of them that someone else has changed otherwise


def merge_record(base: Record, theirs: Record, ours: Record) -> Merge:
    """Compare a record with what its author saw. A field that is left out is no change: a program
    drops those that it does not know."""
    changed = {
        field: value for field, value in theirs.items() if field not in base or base[field] != value
    }
    conflicts = tuple(
        field
        for field, value in changed.items()
        if field in ours and ours[field] not in (base.get(field), value)
    )
    return Merge(changed, conflicts)


def merge_items(
    base: Iterable[R], theirs: Iterable[R], ours: Iterable[R], key: Callable[[R], Hashable]
) -> list[R]:
    """Ours with what the author added to a list, and without what they removed from it; `key`: by
    what two items are the same."""
    left, seen = {key(item) for item in theirs}, {key(item) for item in base}
    merged = {key(item): item for item in ours if key(item) in left or key(item) not in seen}
    for item in theirs:
        if key(item) not in seen:
            merged.setdefault(key(item), item)
    return list(merged.values())


# One in five of what one person writes may be taken away at once, and always one. More than that
# was lost with another version of a file or a switch of branches, and nobody meant it.
PART_AT_ONCE = 5


def are_too_many(gone: int, total: int) -> bool:
    """Whether so many are gone at once that nobody has deleted them."""
    return gone > max(1, total // PART_AT_ONCE)


LEAST_SIMILARITY = 0.6  # of two texts, by `difflib`: the same one, changed


def are_alike(text: str, other: str) -> bool:
    """Whether one is probably the other after someone changed it."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, text, other, autojunk=False)
    return matcher.quick_ratio() >= LEAST_SIMILARITY and matcher.ratio() >= LEAST_SIMILARITY


def find_removed(
    base: Mapping[K, R],
    theirs: Container[K],
    ours: Mapping[K, R],
    is_unchanged: Callable[[R, R], bool],
) -> list[K]:
    """The records that the author removed and nobody has changed since."""
    return [
        key
        for key, old in base.items()
        if key not in theirs and key in ours and is_unchanged(ours[key], old)
    ]
