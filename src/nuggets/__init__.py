"""Local memory for AI agents: facts, linked notes, and a MEMORY.md that grows by itself.

>>> from nuggets import NuggetShelf
>>> shelf = NuggetShelf("memory:")
>>> _ = shelf.remember("locations", "auth handler", "src/auth/middleware.ts:47")
>>> shelf.recall("auth handlr", session="s1").answer
'src/auth/middleware.ts:47'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuggets import errors
    from nuggets.domain.records import (
        PROMOTE_THRESHOLD,
        Changes,
        Commit,
        DailyRun,
        Defect,
        GraphNoteMetaInput,
        Intake,
        LeftNote,
        MemoryNote,
        MemoryScope,
        MemorySource,
        MemoryStability,
        MemoryType,
        MemoryVersion,
        NoteFilterOptions,
        NoteKind,
        NoteLink,
        NoteMetadata,
        NoteVectorSpec,
        NuggetStatus,
        ProjectMove,
        ProjectStatus,
        RecallResult,
        ReflectionChange,
        ReflectionResult,
        SearchNotesResult,
        WrittenNote,
    )
    from nuggets.errors import (
        Ambiguous,
        Conflict,
        InvalidInput,
        MissingExtra,
        NotAllowed,
        NotFound,
        NuggetsError,
        RefusedText,
        SettingsError,
        StaleWrite,
        StoreBusy,
        StoreCorrupt,
        StoreError,
    )
    from nuggets.maintenance.audit_and_daily_run import Finding
    from nuggets.maintenance.promotion.sections import Promotion
    from nuggets.operations.permissions import Client
    from nuggets.settings import Settings
    from nuggets.shelf import NuggetGraph, NuggetShelf, promote_facts, reflect_and_clean_memory
    from nuggets.shelf.nugget import Nugget

__version__ = "0.1.0"

__all__ = [
    "PROMOTE_THRESHOLD",
    "Ambiguous",
    "Changes",
    "Client",
    "Commit",
    "Conflict",
    "DailyRun",
    "Defect",
    "Finding",
    "GraphNoteMetaInput",
    "Intake",
    "InvalidInput",
    "LeftNote",
    "MemoryNote",
    "MemoryScope",
    "MemorySource",
    "MemoryStability",
    "MemoryType",
    "MemoryVersion",
    "MissingExtra",
    "NotAllowed",
    "NotFound",
    "NoteFilterOptions",
    "NoteKind",
    "NoteLink",
    "NoteMetadata",
    "NoteVectorSpec",
    "Nugget",
    "NuggetGraph",
    "NuggetShelf",
    "NuggetStatus",
    "NuggetsError",
    "ProjectMove",
    "ProjectStatus",
    "Promotion",
    "RecallResult",
    "ReflectionChange",
    "ReflectionResult",
    "RefusedText",
    "SearchNotesResult",
    "Settings",
    "SettingsError",
    "StaleWrite",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "WrittenNote",
    "errors",
    "promote_facts",
    "reflect_and_clean_memory",
]

# Where the public names live; the light ones first.
_ROOMS = (
    *("errors", "domain.records", "operations.permissions", "settings", "shelf"),
    *("shelf.nugget", "maintenance.audit_and_daily_run", "maintenance.promotion.sections"),
)

if not TYPE_CHECKING:  # a type checker that saw it would believe in any name

    def __getattr__(name: str) -> Any:
        """Names are fetched when they are first used: most commands need few of them."""
        from importlib import import_module

        if name == "errors":
            return import_module("nuggets.errors")
        if name in __all__:
            for room in _ROOMS:
                module = import_module(f"nuggets.{room}")
                if hasattr(module, name):
                    globals()[name] = getattr(module, name)
                    return globals()[name]
        raise AttributeError(f"module 'nuggets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
