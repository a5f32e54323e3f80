"""What a pass may do and what it did. Knows no note."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from nuggets.records import ReflectionChange, ReflectionResult
from nuggets.refusals import Refusal


class Policy(NamedTuple):
    """How far one pass goes."""

    max_notes: int = 10  # a pass that people can still read through
    temporary_days: int = 7  # that a temporary memory outlives its last recall or edit
    merge_at: float = 0.90  # Jaccard similarity of two notes that say the same
    tag_words: int = 4  # words of its own text that a note is tagged with
    wanted_links: int = 2  # neighbours a note should have; with so many it is left alone
    hub_links: int = 16  # neighbours from which on a note is nobody's special match
    refused: frozenset[Refusal] = frozenset()  # what people took back


def result_of(ran_at: str, inspected: int, changes: Iterable[ReflectionChange]) -> ReflectionResult:
    """The counts follow from the changes, so they cannot say anything else."""
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
