"""`Nugget`: one named topic of a shelf. A view: everything it does, its shelf does."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from nuggets.domain.limits import storable
from nuggets.domain.records import (
    MemoryNote,
    MemoryVersion,
    NoteFilterOptions,
    NuggetStatus,
    RecallResult,
    SearchNotesResult,
    WrittenNote,
)
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case
from nuggets.operations.argument_checks import StrPath
from nuggets.shelf import NO_FILTERS, NuggetShelf

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from nuggets.domain.type_check import NoteFilters, NoteMeta


class Nugget:
    """One nugget of a shelf, with the operations of the shelf."""

    name: str
    shelf: NuggetShelf
    _is_guest = False  # on a shelf that someone else opened, and closes

    def __init__(
        self,
        name: str,
        dims: int = 16384,
        banks: int = 4,
        ensembles: int = 1,
        auto_save: bool = True,
        save_dir: StrPath | None = None,
        max_facts: int = 0,
        sharpen_p: float = 1.0,
        corvacs_a: float = 0.0,
        temperature: float = 0.9,
        ortho_iters: int = 1,
        fuzzy_threshold: float = 0.55,
    ) -> None:
        """On a shelf of its own in `save_dir` (by default NUGGETS_DIR, or else ~/.nuggets).

        An existing nugget stays as it was made.
        """
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
    def from_shelf(cls, shelf: NuggetShelf, name: str) -> Self:
        """The view of a nugget that is on this shelf."""
        view = cls.__new__(cls)
        view.shelf, view.name, view._is_guest = shelf, name, True
        return view

    def __repr__(self) -> str:
        return f"Nugget({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        """Close the shelf, unless someone else opened it."""
        if not self._is_guest:
            self.shelf.close()

    def remember(self, key: str, value: str, **meta: "Unpack[NoteMeta]") -> WrittenNote:
        """Store a fact; a known key, in whatever case, gets the new value and keeps its hits."""
        return self.shelf.remember(self.name, key, value, **meta)

    def recall(
        self,
        query: str,
        session: str | None = "",
        *,
        as_of: "str | datetime | None" = None,
    ) -> RecallResult:
        """The fact that a query means, decoded; a miss is ``found=False``, not an error.

        `as_of`: what was valid at that moment, or at the end of that day.
        """
        return self.shelf.recall(query, self.name, session, as_of=as_of)

    def versions(self, name: str) -> "Sequence[MemoryVersion]":
        """What a fact or note said and when, oldest first."""
        return self.shelf.versions(name, self.name)

    def forget(self, key: str) -> bool:
        """Delete the fact with exactly this key; False if there was none."""
        return self.shelf.forget(self.name, key)

    def facts(self) -> Sequence[MemoryNote]:
        """All facts that are not archived, oldest first; title is the key, content the value."""
        return self.shelf.facts(self.name)

    def clear(self) -> int:
        """Delete all facts, archived ones too; returns how many. Notes stay."""
        return self.shelf.clear(self.name)

    def status(self) -> NuggetStatus:
        """How many facts and notes there are, and how full that makes it."""
        return self.shelf.status(self.name)

    def save(self) -> None:
        """Write all unsaved changes of the shelf (``auto_save=False``)."""
        self.shelf.save_all()

    def create_note(
        self,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        """Store a note; its metadata are inferred from its words unless given."""
        return self.shelf.create_note(self.name, title, content, tags, created_at, **meta)

    def get_note(self, name: str, session: str | None = "") -> MemoryNote:
        """The note with this title or beginning of an id in this nugget, or with this id anywhere.
        Counts as a recall."""
        return self.shelf.get_note(name, self.name, session)

    def edit_note(
        self,
        name: str,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        hidden: bool | None = None,
        *,
        expected: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        """Change what is given; `expected`, the `updated_at` you saw, guards others' changes."""
        return self.shelf.edit_note(
            name, content, title, tags, hidden, nugget=self.name, expected=expected, **meta
        )

    def delete_note(self, name: str, hard: bool = False) -> MemoryNote:
        """Archive a note, or with `hard` delete it."""
        return self.shelf.delete_note(name, hard, self.name)

    def restore_note(self, name: str) -> MemoryNote:
        """Restore an archived note or fact; of equal titles the archived one is meant."""
        return self.shelf.restore_note(name, self.name)

    def add_link(self, a: str, b: str, reason: str = "") -> bool:
        """Link two notes, at both ends; name one of another nugget by its id. False if they have
        this link already."""
        return self.shelf.add_link(a, b, reason, self.name)

    def remove_link(self, a: str, b: str, reason: str | None = None) -> bool:
        """Remove the link with this reason, or all links between two notes; False if there was
        none."""
        return self.shelf.remove_link(a, b, reason, self.name)

    def merge_notes(self, target: str, source: str, reason: str = "") -> MemoryNote:
        """Merge the source into the target; the source is archived with a link to it."""
        return self.shelf.merge_notes(target, source, reason, self.name)

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: "Unpack[NoteFilters]"
    ) -> Sequence[MemoryNote]:
        """The notes and facts that match the filters, oldest first; counts no recall."""
        wanted["nugget"] = self._own_name(filters, wanted.get("nugget"))
        return self.shelf.list_notes(filters, **wanted)

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str | None = "",
        **wanted: "Unpack[NoteFilters]",
    ) -> Sequence[SearchNotesResult]:
        """The notes that a query is about, best first; there may be none."""
        wanted["nugget"] = self._own_name(filters, wanted.get("nugget"))
        return self.shelf.search_notes(query, limit, filters, session=session, **wanted)

    def _own_name(self, filters: NoteFilterOptions, wanted: str | None) -> str:
        """The name of this nugget, for a filter; refuses a filter for another one."""
        for name in (wanted, getattr(filters, "nugget", None)):
            if name is not None and fold_case(storable(name, "nugget")) != fold_case(self.name):
                raise InvalidInput(
                    f"this is the nugget {self.name!r}; ask its shelf for notes of {name!r}"
                )
        return self.name
