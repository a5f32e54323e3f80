"""Promotion: what sticks goes to MEMORY.md, a file that people edit. Text in, text out."""

from nuggets.promotion.eligibility import Explanation
from nuggets.promotion.ownership import stands_in, tells_of
from nuggets.promotion.run import Budget, Promotion, merged_text
from nuggets.promotion.written import Written

__all__ = [
    "Budget",
    "Explanation",
    "Promotion",
    "Written",
    "merged_text",
    "stands_in",
    "tells_of",
]
