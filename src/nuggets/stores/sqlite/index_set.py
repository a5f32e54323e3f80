"""The indexes of a store: made when they are asked for, and kept in step with its changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nuggets.state import State
from nuggets.stores.base import Index, IndexKind, Replaced
from nuggets.stores.sqlite.database import Database

INDEXED_TOGETHER = 8000  # notes of a batch: bounds its memory


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
        """What they remember may be of another database, or of what was never committed."""
        # Changes of this transaction, by id and place: a place may be given away again.
        self._pending: dict[tuple[str, int], Replaced] = {}
        makers = {kind.name: kind.make for kind in self._kinds}
        self._made = _Made(lambda name: makers[name](self._database(), self._state))

    def ask(self) -> Mapping[str, Any]:
        """By name, with all changes taken over; each is made when it is first asked for."""
        self.update()
        return self._made

    def all(self) -> list[Index]:
        return [self._made[kind.name] for kind in self._kinds]

    def add(self, replaced: Iterable[Replaced]) -> None:
        """Changes of a transaction, to be taken over before it ends."""
        for place, before, after in replaced:
            name = (after or before).id, place  # type: ignore[union-attr]
            known = self._pending.get(name)
            self._pending[name] = Replaced(place, known.before if known else before, after)
        if len(self._pending) >= INDEXED_TOGETHER:
            self.update()

    def update(self) -> None:
        """Take the changes over: many at once cost much less than one by one."""
        replaced, self._pending = list(self._pending.values()), {}
        if replaced:
            for index in self.all():
                index.update(replaced)

    @property
    def has_unsaved(self) -> bool:
        return any(index.has_unsaved for index in self._made.values())

    def save(self) -> None:
        """What was worked out while reading, inside a transaction."""
        for index in self._made.values():
            if index.has_unsaved:
                index.save()


class _Made(dict[str, Any]):
    """Indexes by name, each made when it is first asked for."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __missing__(self, name: str) -> Any:
        self[name] = made = self._make(name)
        return made
