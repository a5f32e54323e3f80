"""Promotion of often recalled notes to MEMORY.md, a file that people edit too."""

from nuggets.promotion.eligibility import Explanation
from nuggets.promotion.entry_hashes import WrittenEntries
from nuggets.promotion.entry_lookup import has_entry, mentions_notes
from nuggets.promotion.memory_file_update import Budget, Promotion, merged_text

__all__ = [
    "Budget",
    "Explanation",
    "Promotion",
    "WrittenEntries",
    "has_entry",
    "mentions_notes",
    "merged_text",
]
