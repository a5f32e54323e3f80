"""How long a memory file may be: hosts load only its beginning."""

from collections.abc import Sequence

from nuggets.named_tuple import NamedTuple
from nuggets.promotion.markdown_structure import Line, size_of


class Budget(NamedTuple):
    """How much of a memory file hosts load; the file must stay below both limits."""

    lines: int = 200
    bytes: int = 25_000

    def has_room_for(self, lines: Sequence[Line]) -> bool:
        """Whether hosts load all of these lines."""
        return len(lines) < self.lines and size_of(lines) < self.bytes
