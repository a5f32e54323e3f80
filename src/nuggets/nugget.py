"""`Nugget`: one named topic of a shelf. A view: everything it does, its shelf does."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

from nuggets.records import (
    MemoryNote,
    NoteFilterOptions,
    NuggetStatus,
    RecallResult,
    SearchNotesResult,
)
from nuggets.settings import DEFAULT_DIRECTORY
from nuggets.shelf import NO_FILTERS, NuggetShelf


class Nugget:
    """All that a shelf does, for one of its nuggets."""

    name: str
    shelf: NuggetShelf

    def __init__(
        self,
        name: str,
        dims: int = 16384,
        banks: int = 4,
        ensembles: int = 1,
        auto_save: bool = True,
        save_dir: str | os.PathLike[str] = DEFAULT_DIRECTORY,
        max_facts: int = 0,
        sharpen_p: float = 1.0,
        corvacs_a: float = 0.0,
        temperature: float = 0.9,
        ortho_iters: int = 1,
        fuzzy_threshold: float = 0.55,
    ) -> None:
        """On a shelf of its own in `save_dir`; an existing nugget stays as it was made."""
        self.shelf = NuggetShelf(save_dir, auto_save)
        self.name = self.shelf.get_or_create(
            name,
            dims=dims,
            banks=banks,
            ensembles=ensembles,
            max_facts=max_facts,
            sharpen_p=sharpen_p,
            corvacs_a=corvacs_a,
            temperature=temperature,
            ortho_iters=ortho_iters,
            fuzzy_threshold=fuzzy_threshold,
        ).name

    @classmethod
    def of(cls, shelf: NuggetShelf, name: str) -> Self:
        """The view of a nugget that is on this shelf."""
        view = cls.__new__(cls)
        view.shelf, view.name = shelf, name
        return view

    def __repr__(self) -> str:
        return f"Nugget({self.name!r})"

    def remember(self, key: str, value: str, **meta: Any) -> MemoryNote:
        return self.shelf.remember(self.name, key, value, **meta)

    def recall(self, query: str, session: str = "") -> RecallResult:
        return self.shelf.recall(query, self.name, session)

    def forget(self, key: str) -> bool:
        return self.shelf.forget(self.name, key)

    def facts(self) -> Sequence[MemoryNote]:
        return self.shelf.facts(self.name)

    def clear(self) -> int:
        return self.shelf.clear(self.name)

    def status(self) -> NuggetStatus:
        return self.shelf.status(self.name)

    def save(self) -> None:
        self.shelf.save_all()

    def create_note(
        self,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: str | None = None,
        **meta: Any,
    ) -> MemoryNote:
        return self.shelf.create_note(self.name, title, content, tags, created_at, **meta)

    def get_note(self, name: str, session: str = "") -> MemoryNote:
        return self.shelf.get_note(name, self.name, session)

    def edit_note(
        self,
        name: str,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        hidden: bool | None = None,
        *,
        expected: str | None = None,
        **meta: Any,
    ) -> MemoryNote:
        return self.shelf.edit_note(
            name, content, title, tags, hidden, nugget=self.name, expected=expected, **meta
        )

    def delete_note(self, name: str, hard: bool = False) -> MemoryNote:
        return self.shelf.delete_note(name, hard, self.name)

    def restore_note(self, name: str) -> MemoryNote:
        return self.shelf.restore_note(name, self.name)

    def add_link(self, a: str, b: str, reason: str = "") -> bool:
        return self.shelf.add_link(a, b, reason, self.name)

    def remove_link(self, a: str, b: str, reason: str | None = None) -> bool:
        return self.shelf.remove_link(a, b, reason, self.name)

    def merge_notes(self, target: str, source: str, reason: str = "") -> MemoryNote:
        return self.shelf.merge_notes(target, source, reason, self.name)

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: Any
    ) -> Sequence[MemoryNote]:
        return self.shelf.list_notes(filters, **{**wanted, "nugget": self.name})

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str = "",
        **wanted: Any,
    ) -> Sequence[SearchNotesResult]:
        wanted["nugget"] = self.name
        return self.shelf.search_notes(query, limit, filters, session=session, **wanted)
