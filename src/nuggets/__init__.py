"""Local memory for AI agents: facts, linked notes, and a MEMORY.md that grows by itself.

>>> from nuggets import NuggetShelf
>>> shelf = NuggetShelf("memory:")
>>> _ = shelf.remember("locations", "auth handler", "src/auth/middleware.ts:47")
>>> shelf.recall("auth handlr", session="s1").answer
'src/auth/middleware.ts:47'
"""

from nuggets.errors import NuggetsError
from nuggets.records import (
    GraphNoteMetaInput,
    MemoryNote,
    MemoryScope,
    MemorySource,
    MemoryStability,
    MemoryType,
    NoteFilterOptions,
    NoteLink,
    NoteMetadata,
    NoteVectorSpec,
    NuggetStatus,
    RecallResult,
    SearchNotesResult,
)
from nuggets.shelf import Nugget, NuggetShelf

NuggetGraph = NuggetShelf  # the note operations of a shelf, under their documented name

__all__ = [
    "GraphNoteMetaInput",
    "MemoryNote",
    "MemoryScope",
    "MemorySource",
    "MemoryStability",
    "MemoryType",
    "NoteFilterOptions",
    "NoteLink",
    "NoteMetadata",
    "NoteVectorSpec",
    "Nugget",
    "NuggetGraph",
    "NuggetShelf",
    "NuggetStatus",
    "NuggetsError",
    "RecallResult",
    "SearchNotesResult",
]
