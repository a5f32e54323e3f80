"""Promotion of often recalled notes to MEMORY.md, a file that people edit too."""

from nuggets.promotion.eligibility import Explanation
from nuggets.promotion.entry_ownership import has_entry, mentions_notes
from nuggets.promotion.update_entries import Budget, Promotion, merged_text
from nuggets.promotion.written_entries import WrittenEntries

__all__ = [
    "Budget",
    "Explanation",
    "Promotion",
    "WrittenEntries",
    "has_entry",
    "mentions_notes",
    "merged_text",
]
