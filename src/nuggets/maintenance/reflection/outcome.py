"""The policy of a pass and its result. Knows no note."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from nuggets.domain.records import ReflectionChange, ReflectionResult
from nuggets.domain.rejected_changes import RejectedChange


class Policy(NamedTuple):
    """How far one pass goes."""

    max_notes: int = 10  # few enough to read the result
    temporary_days: int = 7  # that a temporary note is kept after its last recall or edit
    merge_at: float = 0.90  # Jaccard similarity of two notes that say the same
    tag_words: int = 4  # at most so many tags from a note's own text
    wanted_links: int = 2  # a note with so many neighbours gets no further links
    hub_links: int = 16  # a note with so many links is not proposed as a partner
    rejected: frozenset[RejectedChange] = frozenset()  # changes that people undid


def result_of(ran_at: str, inspected: int, changes: Iterable[ReflectionChange]) -> ReflectionResult:
    """The result with its counts, computed from the changes."""
    listed = tuple(changes)
    count = Counter(change.type for change in listed)
    return ReflectionResult(
        ran_at,
        inspected,
        rewritten=count["rewrite"],
        merged=count["merge"],
        hidden=count["hide"],
        tagged=count["tag"],
        linked=count["link"],
        changes=listed,
    )
