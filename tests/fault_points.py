"""Run with the shim loaded: every store operation, failed at every system call in every way.

Prints one line per operation and kind of fault, and exits with 1 if anything was not as it must be.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from fault_processes import age_leftovers, is_intact, leftovers
from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf
from nuggets.state import MemoryState
from store_samples import exports_agree, note, open_directory, put, revision_of, state_of

KINDS = {
    1: "killed",
    2: "killed amid",
    3: "EIO",
    4: "EIO sticky",
    5: "ENOSPC",
    6: "short write",
    7: "EIO of a read",
}
ACKNOWLEDGED, REFUSED, NOT_REACHED = 0, 3, 9


def link_two(shelf: NuggetShelf) -> None:
    made = shelf.create_note("plans", "Third", "new")
    shelf.add_link(made.id, "First", "because")


def write_a_batch(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("facts", "new", "value")
        shelf.forget("facts", "a")
        shelf.create_note("plans", "Second", "two")


OPERATIONS: dict[str, Callable[[NuggetShelf], Any]] = {
    "remember": lambda shelf: shelf.remember("facts", "new", "value"),
    "remember first": lambda shelf: shelf.remember("other", "new", "value"),
    "create_note + add_link": link_two,
    "batch": write_a_batch,
    "clear": lambda shelf: shelf.clear("facts"),
    "recall": lambda shelf: shelf.recall("b", session="s1"),
    "purge": lambda shelf: shelf.purge_fact("facts", "b"),
    "begin": lambda shelf: shelf.remember("facts", "a", "value a"),
}
EMPTY = ("begin",)  # in a directory that is not there yet


def open_shelf(directory: str) -> NuggetShelf:
    return NuggetShelf(directory, short_lived=True, project="")


def prepare(directory: str) -> None:
    with open_shelf(directory) as shelf:
        for key in "abc":
            shelf.remember("facts", key, f"value {key}")
        shelf.create_note("plans", "First", "one")


def copy(original: str, directory: str) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    if os.path.isdir(original):
        shutil.copytree(original, directory, copy_function=shutil.copy2)


def told(state: MemoryState) -> object:
    """All that is there, ids, times and recalls aside."""
    titles = {n.id: n.title for n in state.notes.values()}
    return sorted(
        (n.nugget_name, n.title, n.content, sorted(titles[link.to] for link in n.links))
        for n in state.notes.values()
    )


def steps(directory: str, operation: Callable[[NuggetShelf], Any]) -> list[object]:
    """What may be found: before, between the writes of an operation of several, and after."""
    store = open_directory(directory)
    before, begin = told(state_of(store)), revision_of(store)
    with open_shelf(directory) as shelf:
        operation(shelf)
    state = state_of(store)
    seen = [told(state)]
    with store.reading():
        for commit in store.commits(begin, newest_first=True):
            state.apply(commit.before)
            seen.append(told(state))
    store.close()
    return [before, *seen[::-1]]


def in_child(directory: str, operation: Callable[[NuggetShelf], Any], k: int, kind: int) -> int:
    """Its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        shim = ctypes.CDLL(None)
        shim.shim_arm(directory.encode(), k, kind)
        try:
            with open_shelf(directory) as shelf:
                operation(shelf)
            code = ACKNOWLEDGED if shim.shim_count() >= k else NOT_REACHED
        except NuggetsError:
            code = REFUSED if shim.shim_count() >= k else 1
    except BaseException as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
    finally:
        os._exit(code)


def problems_at(directory: str, code: int, allowed: list[object]) -> list[str]:
    found = []
    if code not in (ACKNOWLEDGED, REFUSED, -9):
        found.append(f"ended with {code}")
    age_leftovers(directory)
    store = open_directory(directory)
    now = told(state_of(store))
    if now not in allowed or (code == ACKNOWLEDGED and now != allowed[-1]):
        found.append(f"neither old nor new, or not what was acknowledged: {now}")
    put(store, note(0xFFFF, title="after"))
    store.close()
    if not is_intact(directory):
        found.append("the database is damaged")
    if not store.warnings and not exports_agree(directory):  # else a file is left alone, and told
        found.append("files disagree")
    if leftovers(directory):
        found.append(f"left behind {leftovers(directory)}")
    return found


def main(work: str, every: str = "1", *names: str) -> int:
    """`every`: one of so many system calls is failed, others for each kind of fault."""
    original, directory = os.path.join(work, "original"), os.path.join(work, "store")
    for name in names or OPERATIONS:
        operation = OPERATIONS[name]
        shutil.rmtree(original, ignore_errors=True)
        if name not in EMPTY:
            prepare(original)
        copy(original, directory)
        allowed = steps(directory, operation)
        for kind, label in KINDS.items():
            tried = 0
            for k in count(1 + (5 * kind + 3 * len(name)) % int(every), int(every)):
                copy(original, directory)
                code = in_child(directory, operation, k, kind)
                if code == NOT_REACHED:
                    break
                tried += 1
                problems = problems_at(directory, code, allowed)
                if problems:
                    print(f"{name}, {label} at call {k}: {problems}")
                    return 1
            print(f"{name}, {label}: {tried} points")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
