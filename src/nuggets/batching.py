"""Operations that wait to be written, so that they can be decided again if someone else writes
meanwhile; and whose batch they are in."""

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from nuggets.errors import NuggetsError, StoreError
from nuggets.records import Changes
from nuggets.state import merged

_TOLD = 3  # of many that cannot be done any more


class PendingOperation(NamedTuple):
    """An operation that is not written yet: what it decided, and how to decide it again."""

    decide: Callable[[], tuple[Changes, Any]]
    drawn: tuple[str, ...]  # random digits of the ids it gave away
    changes: Changes
    guest: bool = False  # a recall by another than the one whose batch this is

    @property
    def action(self) -> str:
        return self.changes.action or "recall"


Stuck = tuple[PendingOperation, NuggetsError]


class Batch(NamedTuple):
    """Whose batch it is, and what was pending before it."""

    thread: int
    task: object  # None outside of any: then all that runs in the thread belongs to it
    before: Sequence[PendingOperation] | None

    @classmethod
    def begun(cls, before: Sequence[PendingOperation] | None) -> "Batch":
        return cls(threading.get_ident(), _current_task(), before)

    def is_of_this_thread(self) -> bool:
        return self.thread == threading.get_ident()

    def is_ours(self) -> bool:
        return self.is_of_this_thread() and self.task in (None, _current_task())


def _current_task() -> object:
    """None where nothing is asynchronous; asyncio is not loaded to find that out."""
    current = getattr(sys.modules.get("asyncio"), "current_task", None)
    with suppress(RuntimeError):  # no loop runs in this thread
        return current and current()
    return None


def united(operations: Sequence[PendingOperation]) -> Changes:
    """All of them as one change, under the name that all of it has."""
    actions = {operation.action for operation in operations}
    clients = [operation.changes.client for operation in operations if operation.changes.client]
    return merged(operation.changes for operation in operations)._replace(
        action=actions.pop() if len(actions) == 1 else "save",
        client=clients[-1] if clients else "",
    )


def decided_again(
    operations: Sequence[PendingOperation], again: Callable[[PendingOperation], PendingOperation]
) -> tuple[list[PendingOperation], list[Stuck]]:
    """Decides the operations on the current state; returns those that no longer apply apart."""
    done: list[PendingOperation] = []
    stuck: list[Stuck] = []
    for operation in operations:
        try:
            done.append(again(operation))
        except StoreError:
            raise  # no fault of the operation
        except NuggetsError as problem:
            stuck.append((operation, problem))
    return done, stuck


def no_longer_possible(stuck: Sequence[Stuck], outcome: str) -> NuggetsError:
    """The error that names operations which no longer apply; of the first one's kind."""
    told = "; ".join(f"{operation.action}: {problem}" for operation, problem in stuck[:_TOLD])
    more = f"; and {len(stuck) - _TOLD} more" if len(stuck) > _TOLD else ""
    count = "1 gathered change" if len(stuck) == 1 else f"{len(stuck)} gathered changes"
    kind = type(stuck[0][1])
    return kind(f"{count} cannot be made any more ({told}{more}). Nothing was written{outcome}")
