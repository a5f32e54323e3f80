"""Keyword arguments of the public API, for editors and type checkers: the fields of three records,
all optional. Never used at run time; values are checked elsewhere."""

from typing import TypedDict

from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryScope,
    MemorySource,
    MemoryStability,
    MemoryType,
    NoteKind,
)


class NoteMeta(TypedDict, total=False):
    """As in `GraphNoteMetaInput`, or one of these as `meta`."""

    meta: GraphNoteMetaInput | None
    subject: str | None
    scope: MemoryScope | None
    type: MemoryType | None
    source: MemorySource | None
    confidence: float | None
    stability: MemoryStability | None
    project: str | None
    valid_from: str | None
    valid_until: str | None
    supersedes: str | None


class NoteFilters(TypedDict, total=False):
    """As in `NoteFilterOptions`."""

    include_hidden: bool
    subject: str | None
    scope: MemoryScope | None
    type: MemoryType | None
    nugget: str | None
    tag: str | None
    kind: NoteKind | None


class NuggetOptions(TypedDict, total=False):
    """As in `NuggetConfig`, and as `Nugget` takes them."""

    dims: int
    banks: int
    ensembles: int
    max_facts: int
    sharpen_p: float
    corvacs_a: float
    temperature: float
    ortho_iters: int
    fuzzy_threshold: float
