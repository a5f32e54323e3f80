"""How many examples a property is tried with: here some, in `make faults` many."""

import os

SHARE = float(os.environ.get("NUGGETS_EXAMPLES", "0.2"))  # of the number that a test names
FEWEST = 10


def example_count(number: int) -> int:
    """That share of the number, and not fewer than a few."""
    return max(min(number, FEWEST), round(number * SHARE))
