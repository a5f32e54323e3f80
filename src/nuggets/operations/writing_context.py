"""What was looked up about a text outside of the transaction, before the write is decided."""

from collections.abc import Sequence
from typing import NamedTuple

from nuggets.domain.records import Anchor


class WritingContext(NamedTuple):
    """What a shelf looked up for a text that is about to be written."""

    rivals: Sequence[str] = ()  # ids of notes that it may contradict
    anchors: tuple[Anchor, ...] = ()  # what it names of the repository someone works in


NO_CONTEXT = WritingContext()
_PLACE = Anchor._fields.index("size")  # the fields before it say what is named


def same_places(anchors: Sequence[Anchor], others: Sequence[Anchor]) -> bool:
    """Whether they name the same; when, and at which commit, aside."""
    return [anchor[:_PLACE] for anchor in anchors] == [anchor[:_PLACE] for anchor in others]
