"""Operations that are pending, and the batch that they belong to.

A pending operation can be decided again if someone else writes before it is saved.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from nuggets.domain.records import Changes
from nuggets.domain.state import merge_changes
from nuggets.errors import NuggetsError, StoreError
from nuggets.named_tuple import NamedTuple

_MOST_NAMED = 3  # of many operations that no longer apply


class PendingOperation(NamedTuple):
    """An operation that is not written yet: what it decided, and how to decide it again."""

    decide: Callable[[], tuple[Changes, Any]]
    drawn: tuple[str, ...]  # random digits of the ids that it created
    changes: Changes
    guest: bool = False  # a recall by another task than the owner of the batch

    @property
    def action(self) -> str:
        return self.changes.action or "recall"


Stuck = tuple[PendingOperation, NuggetsError]


class Batch(NamedTuple):
    """The owner of a batch, and the operations that were pending when it began."""

    thread: int
    task: object  # None outside of asyncio: then everything in the thread belongs to the batch
    before: Sequence[PendingOperation] | None

    @classmethod
    def begin(cls, before: Sequence[PendingOperation] | None) -> "Batch":
        return cls(threading.get_ident(), _current_task(), before)

    def is_of_this_thread(self) -> bool:
        return self.thread == threading.get_ident()

    def is_ours(self) -> bool:
        return self.is_of_this_thread() and self.task in (None, _current_task())


def _current_task() -> object:
    """The current asyncio task, or None. Does not import asyncio, which is slow to load."""
    current = getattr(sys.modules.get("asyncio"), "current_task", None)
    if current is not None:
        with suppress(RuntimeError):  # no loop runs in this thread
            return current()
    return None


def unite_operations(operations: Sequence[PendingOperation]) -> Changes:
    """All operations as one change; its action is "save" if they have different ones."""
    actions = {operation.action for operation in operations}
    clients = [operation.changes.client for operation in operations if operation.changes.client]
    return merge_changes(operation.changes for operation in operations)._replace(
        action=actions.pop() if len(actions) == 1 else "save",
        client=clients[-1] if clients else "",
    )


def redecide_operations(
    operations: Sequence[PendingOperation], again: Callable[[PendingOperation], PendingOperation]
) -> tuple[list[PendingOperation], list[Stuck]]:
    """Decide the operations again on the current state: those that still apply, and the others."""
    done: list[PendingOperation] = []
    stuck: list[Stuck] = []
    for operation in operations:
        try:
            done.append(again(operation))
        except StoreError:
            raise  # the store failed, not the operation
        except NuggetsError as problem:
            stuck.append((operation, problem))
    return done, stuck


def inapplicable_error(stuck: Sequence[Stuck], outcome: str) -> NuggetsError:
    """The error that names operations which no longer apply; its type is that of the first."""
    complaints = "; ".join(
        f"{operation.action}: {problem}" for operation, problem in stuck[:_MOST_NAMED]
    )
    more = f"; and {len(stuck) - _MOST_NAMED} more" if len(stuck) > _MOST_NAMED else ""
    count = "1 pending change" if len(stuck) == 1 else f"{len(stuck)} pending changes"
    kind = type(stuck[0][1])
    return kind(
        f"{count} cannot be made any more ({complaints}{more}). Nothing was written{outcome}"
    )
