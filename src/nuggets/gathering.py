"""Changes that are gathered before they are written: operations, not results, so that they can be
decided again if someone else writes meanwhile."""

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from nuggets.errors import NuggetsError, StoreError
from nuggets.records import Changes
from nuggets.state import merged

_TOLD = 3  # of many that cannot be done any more


class Step(NamedTuple):
    """An operation that is gathered: what it decided, and how to decide it again."""

    decide: Callable[[], tuple[Changes, Any]]
    drawn: tuple[str, ...]  # random digits of the ids it gave away
    changes: Changes
    guest: bool = False  # a recall by another than the one whose batch this is

    @property
    def action(self) -> str:
        return self.changes.action or "recall"


Stuck = tuple[Step, NuggetsError]


class Batch(NamedTuple):
    """Who gathers until the end of a `with`, and what was gathered before it."""

    thread: int
    task: object  # None outside of any: then all that runs in the thread belongs to it
    before: Sequence[Step] | None

    @classmethod
    def begun(cls, before: Sequence[Step] | None) -> "Batch":
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


def as_one(steps: Sequence[Step]) -> Changes:
    """All that was gathered as one change, under the name that all of it has."""
    actions = {step.action for step in steps}
    clients = [step.changes.client for step in steps if step.changes.client]
    return merged(step.changes for step in steps)._replace(
        action=actions.pop() if len(actions) == 1 else "save",
        client=clients[-1] if clients else "",
    )


def decided_again(
    steps: Sequence[Step], again: Callable[[Step], Step]
) -> tuple[list[Step], list[Stuck]]:
    """The steps on what is there by now, and those that it leaves no room for."""
    done: list[Step] = []
    stuck: list[Stuck] = []
    for step in steps:
        try:
            done.append(again(step))
        except StoreError:
            raise  # no fault of the step
        except NuggetsError as problem:
            stuck.append((step, problem))
    return done, stuck


def not_any_more(stuck: Sequence[Stuck], outcome: str) -> NuggetsError:
    """What to tell of steps that cannot be done any more; an error of the first one's kind."""
    told = "; ".join(f"{step.action}: {problem}" for step, problem in stuck[:_TOLD])
    more = f"; and {len(stuck) - _TOLD} more" if len(stuck) > _TOLD else ""
    count = "1 gathered change" if len(stuck) == 1 else f"{len(stuck)} gathered changes"
    kind = type(stuck[0][1])
    return kind(f"{count} cannot be made any more ({told}{more}). Nothing was written{outcome}")
