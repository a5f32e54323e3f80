"""Local memory for AI agents: facts, linked notes, and a MEMORY.md that grows by itself.

>>> from nuggets import NuggetShelf
>>> shelf = NuggetShelf("memory:")
>>> _ = shelf.remember("locations", "auth handler", "src/auth/middleware.ts:47")
>>> shelf.recall("auth handlr", session="s1").answer
'src/auth/middleware.ts:47'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuggets.errors import NuggetsError
    from nuggets.nugget import Nugget
    from nuggets.records import (
        PROMOTE_THRESHOLD,
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
        ReflectionChange,
        ReflectionResult,
        SearchNotesResult,
    )
    from nuggets.shelf import NuggetGraph, NuggetShelf, promote_facts, reflect_and_clean_memory

__all__ = [
    "PROMOTE_THRESHOLD",
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
    "ReflectionChange",
    "ReflectionResult",
    "SearchNotesResult",
    "promote_facts",
    "reflect_and_clean_memory",
]

_ROOMS = ("shelf", "nugget", "records", "errors")  # where the public names live


def __getattr__(name: str) -> Any:
    """Names are fetched when they are first used: most commands need few of them."""
    if name in __all__:
        for room in _ROOMS:
            module = import_module(f"nuggets.{room}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module 'nuggets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
