"""Promotion of often recalled notes to MEMORY.md, a file that people edit too."""

from nuggets.promotion.eligibility import Explanation
from nuggets.promotion.memory_file_update import Budget, Promotion, merged_text
from nuggets.promotion.written_entries import WrittenEntries, has_entry, mentions_notes

__all__ = [
    "Budget",
    "Explanation",
    "Promotion",
    "WrittenEntries",
    "has_entry",
    "mentions_notes",
    "merged_text",
]
