"""Changes that wait for `save` (`auto_save=False`), in a private copy of the store.

Each remembers what it changed as it was before. What is still so at `save` is written; what someone
else has changed meanwhile is a conflict. Recalls never are.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain.names_and_tags import identity_of
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig, Touch
from nuggets.domain.state import (
    State,
    apply_touch,
    facts_with_key,
    merge_changes,
    with_recalls_of,
)
from nuggets.errors import Conflict, NotFound
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.stores.sql.store import Store


_MOST_NAMED = 3  # of many conflicts: more would not be read

Key = tuple[str, str]  # "note", "nugget" or "mark", and its id, folded name or name


class UnsavedChange(NamedTuple):
    """What one operation changes, and how that was before."""

    changes: Changes
    before: dict[Key, Any]  # None for what did not exist


class UnsavedChanges:
    """All of them, in order. Used inside `reading` or `exclusive` of the store."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._changes: list[UnsavedChange] = []
        self._since = (0, "")  # where the store was when the first one was decided
        self._copy: Store | None = None
        self._copied_at = (0, "")  # where the store was then
        self._copied = 0  # how many of the changes are in the copy

    def __iter__(self) -> Iterator[UnsavedChange]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def are_only_recalls(self) -> bool:
        return not any(change.changes.action for change in self._changes)

    def current(self) -> "Store":
        """The store, or a private copy of it with the changes written into it; copied again only if
        someone else has written."""
        if self.are_only_recalls:
            return self._store
        if self._copy is None or self._copied_at != self._store.position:
            self._copy, self._copied = self._store.private_copy(), 0
            self._copied_at = self._store.position
        if self._copied < len(self._changes):
            self._copy.write(_unite_changes(self._changes[self._copied :]))
            self._copied = len(self._changes)
        return self._copy

    def add(self, changes: Changes, state: State) -> None:
        """Changes that were decided on this state, that of `current`."""
        if not self._changes:
            self._since = self._store.position
        self._changes.append(UnsavedChange(changes, _values(state, _keys(changes))))

    def keep(self, kept: Iterable[UnsavedChange]) -> None:
        """Drop all others."""
        ids = set(map(id, kept))
        self._changes = [change for change in self._changes if id(change) in ids]
        self._copy = None

    def discard(self, name: str | None) -> None:
        """Drop all, or those of a note, nugget or mark and what builds on them."""
        kept: list[UnsavedChange] = []
        if name is not None:
            names = (("note", name), ("nugget", fold_case(name)), ("mark", name))
            kept = _drop(self._changes, names)
            if len(kept) == len(self._changes):
                raise NotFound(f"no unsaved change is of {name!r:.80}; name a memory by its id")
        self.keep(kept)

    def save(self, write: Callable[[Changes], None], *, partly: bool) -> None:
        """Write all as one change, or none if `Conflict` names what others have changed as well;
        `partly`: all but those that change it, or build on one that does. What is not written
        stays."""
        saved = self._changes
        conflicts = found = self._find_conflicts(saved)
        if conflicts and not partly:
            raise _conflict_error(conflicts, "Nothing was written")
        while found:
            saved = _drop(saved, found)
            found = self._find_conflicts(saved)
        if saved:
            write(_fit_changes(saved, self._store.state))
            written = set(map(id, saved))
            self.keep([change for change in self._changes if id(change) not in written])
        if conflicts:
            raise _conflict_error(conflicts, "The rest was saved")

    def _find_conflicts(self, changes: Sequence[UnsavedChange]) -> dict[Key, str]:
        has_moved = self._store.position != self._since
        return _find_conflicts(changes, self._store.state) if has_moved else {}


def _unite_changes(unsaved: Sequence[UnsavedChange]) -> Changes:
    """All of them as one change; its action is "save" if they have different ones."""
    actions = {change.changes.action or "recall" for change in unsaved}
    clients = [change.changes.client for change in unsaved if change.changes.client]
    return merge_changes(change.changes for change in unsaved)._replace(
        action=actions.pop() if len(actions) == 1 else "save",
        client=clients[-1] if clients else "",
    )


def _fit_changes(unsaved: Sequence[UnsavedChange], state: State) -> Changes:
    """The same for a state that others may have written to."""
    changes, before = _unite_changes(unsaved), _first_values(unsaved)
    now = _values(state, before)
    return changes._replace(
        put=tuple(_add_recalls(n, before["note", n.id], now["note", n.id]) for n in changes.put),
        put_nuggets=tuple(  # one that others made keeps the settings that they gave it
            config
            for config in changes.put_nuggets
            if before["nugget", fold_case(config.name)] == now["nugget", fold_case(config.name)]
        ),
    )


def _conflict_error(conflicts: Mapping[Key, str], outcome: str) -> Conflict:
    """The error that names them."""
    named = "; ".join(list(conflicts.values())[:_MOST_NAMED])
    more = f"; and {len(conflicts) - _MOST_NAMED} more" if len(conflicts) > _MOST_NAMED else ""
    return Conflict(
        f"others have changed the same meanwhile ({named}{more}). {outcome}, and these changes are "
        "still here, unsaved: discard_unsaved(id) drops those of one memory"
    )


def _find_conflicts(unsaved: Sequence[UnsavedChange], state: State) -> dict[Key, str]:
    changes, before = _unite_changes(unsaved), _first_values(unsaved)
    now = _values(state, before)
    put = {note.id: note for note in changes.put}
    made = {fold_case(config.name): config for config in changes.put_nuggets}
    nuggets, dropped = {*made, *state.nuggets}, set(changes.drop)
    found = [
        key
        for key, old in before.items()
        if not _is_same(old, now[key])
        and not (key[0] == "nugget" and old is None and _has_no_settings(made.get(key[1])))
    ]
    found += [
        ("note", note.id)
        for note in put.values()
        if fold_case(note.nugget_name) not in nuggets or _is_known_by_now(note, before, state)
    ]
    found += [
        ("nugget", fold_case(nugget))
        for nugget in changes.drop_nuggets
        if any(note.id not in dropped for note in state.notes.find(nugget=nugget))
    ]
    conflicts = {}
    for kind, name in found:
        action = next(c.changes.action for c in unsaved if (kind, name) in c.before)
        note = put.get(name) or before[kind, name]
        title = f"{note.title!r:.80} " if kind == "note" else ""
        conflicts[kind, name] = f"{action} {title}({name})"
    return conflicts


def _drop(unsaved: Iterable[UnsavedChange], keys: Collection[Key]) -> list[UnsavedChange]:
    """Without those that change any of this, or build on one that does."""
    dropped, kept = set(keys), list[UnsavedChange]()
    for change in unsaved:
        if dropped.isdisjoint(change.before):
            kept.append(change)
        else:
            dropped.update(change.before)
    return kept


def _keys(changes: Changes) -> list[Key]:
    return [
        *(("note", note.id) for note in changes.put),
        *(("note", note_id) for note_id in changes.drop),
        *(("nugget", fold_case(config.name)) for config in changes.put_nuggets),
        *(("nugget", fold_case(name)) for name in changes.drop_nuggets),
        *(("mark", mark) for mark in changes.marks),
    ]


def _values(state: State, keys: Iterable[Key]) -> dict[Key, Any]:
    names: dict[str, list[str]] = {"note": [], "nugget": [], "mark": []}
    for kind, name in keys:
        names[kind].append(name)
    values = {
        "note": state.notes.many(names["note"]),
        "nugget": state.nuggets if names["nugget"] else {},
        "mark": state.marks,
    }
    return {(kind, name): values[kind].get(name) for kind in names for name in names[kind]}


def _first_values(unsaved: Iterable[UnsavedChange]) -> dict[Key, Any]:
    """How everything was before the first change of it."""
    values: dict[Key, Any] = {}
    for change in unsaved:
        for key, value in change.before.items():
            values.setdefault(key, value)
    return values


def _is_same(old: Any, new: Any) -> bool:
    """Recalls of a note aside."""
    if isinstance(old, MemoryNote) and isinstance(new, MemoryNote):
        new = with_recalls_of(new, old)
    return bool(old == new)


def _has_no_settings(nugget: NuggetConfig | None) -> bool:
    """Was the nugget only made because a memory of it was?"""
    return nugget is not None and nugget == NuggetConfig(nugget.name)


def _is_known_by_now(note: MemoryNote, before: Mapping[Key, Any], state: State) -> bool:
    """Is it a fact whose key someone else has used meanwhile?"""
    old = before["note", note.id]
    if note.kind != "fact" or (old is not None and identity_of(old) == identity_of(note)):
        return False
    return any(
        identity_of(fact) == identity_of(note) and ("note", fact.id) not in before
        for fact in facts_with_key(state.notes, note.nugget_name, note.title)
    )


def _add_recalls(note: MemoryNote, old: MemoryNote | None, new: MemoryNote | None) -> MemoryNote:
    """The note with the recalls by others that came between its two stored versions."""
    if old is not None and new is not None:
        for session in new.hit_sessions:
            if session not in old.hit_sessions:
                note = apply_touch(note, Touch(note.id, session, new.last_accessed_at))
    return note
