"""The indexes of a store: created when first used, and updated with its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql.schema import existing_kinds, read_meta

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote
    from nuggets.domain.state import State
    from nuggets.stores.base import Index
    from nuggets.stores.sql.database_interface import Database
    from nuggets.stores.sql.schema import IndexKind

INDEXED_TOGETHER = 8000  # notes of a batch: bounds its memory


class Replaced(NamedTuple):
    """A note before and after a change; None where there is none."""

    place: int  # the number of its row, which grows with every new note
    before: MemoryNote | None
    after: MemoryNote | None


class IndexSet:
    """All indexes over the state of one database."""

    def __init__(
        self, kinds: Sequence[IndexKind], database: Callable[[], Database], state: State
    ) -> None:
        self._kinds = kinds
        self._database = database
        self._state = state
        self.forget()

    def forget(self) -> None:
        """Drop all indexes: they may hold data of another database, or of a rolled back commit."""
        # Changes of this transaction, by id and place: a place may be used again.
        self._pending: dict[tuple[str, int], Replaced] = {}
        self._existing: list[IndexKind] | None = None  # None: not looked for yet
        makers = {kind.name: kind.make for kind in self._kinds}
        self._by_name = _LazyIndexes(lambda name: makers[name](self._database(), self._state))

    def ask(self) -> Mapping[str, Any]:
        """The indexes by name, updated with all changes so far."""
        self.update()
        return self._by_name

    def all(self) -> list[Index]:
        """The indexes that the shelf has."""
        return [self._by_name[kind.name] for kind in self._find_existing()]

    def _find_existing(self) -> list[IndexKind]:
        if self._existing is None:
            self._existing = existing_kinds(read_meta(self._database()), self._kinds)
        return self._existing

    def set_existing(self, kinds: list[IndexKind] | None) -> None:
        """These are there now: another process may have made or dropped an optional one. None: look
        when they are next needed."""
        self._existing = kinds

    def kind(self, name: str) -> IndexKind | None:
        return next((kind for kind in self._kinds if kind.name == name), None)

    def add(self, replaced: Iterable[Replaced]) -> None:
        """Queue changes of a transaction for the next `update`."""
        for place, before, after in replaced:
            name = (after or before).id, place  # type: ignore[union-attr]
            earlier = self._pending.get(name)
            self._pending[name] = Replaced(place, earlier.before if earlier else before, after)
        if len(self._pending) >= INDEXED_TOGETHER:
            self.update()

    def update(self) -> None:
        """Update the indexes with all queued changes at once: that is much cheaper than singly."""
        replaced, self._pending = list(self._pending.values()), {}
        if replaced:
            for index in self.all():
                index.update(replaced)

    @property
    def has_unsaved(self) -> bool:
        return any(index.has_unsaved for index in self._by_name.values())

    def save(self) -> None:
        """Save what the indexes computed while reading, inside a transaction."""
        if self.has_unsaved:
            for index in self.all():
                if index.has_unsaved:
                    index.save()


class _LazyIndexes(dict[str, Any]):
    """Indexes by name, each created when it is first used."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __missing__(self, name: str) -> Any:
        self[name] = index = self._make(name)
        return index
