"""What is done to a shelf over time. All of it works in a `ShelfContext`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.operations.lookups_before_write import FindAnchors
    from nuggets.operations.transactions import Transactions
    from nuggets.settings import Settings


class ShelfContext(NamedTuple):
    """On which shelf something is done, in whose name, for which project and at what time."""

    transactions: "Transactions"
    settings: "Settings"
    client: str  # for the history
    project: str
    now: Callable[[], str]
    draw: Callable[[], str]  # digits of new ids
    find_anchors: "FindAnchors"
