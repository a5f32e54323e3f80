"""Run with the shim loaded: every store operation, failed at every system call in every way.

Prints one line per operation and kind of fault, and exits with 1 if anything was not as it must be.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf
from store_samples import note, open_json, pictures_agree, put, state_of

KINDS = {1: "killed", 2: "killed amid", 3: "EIO", 4: "EIO sticky", 5: "ENOSPC", 6: "short write"}
ACKNOWLEDGED, REFUSED, NOT_REACHED = 0, 3, 9


def link_two(shelf: NuggetShelf) -> None:
    made = shelf.create_note("plans", "Third", "new")
    shelf.add_link(made.id, "First", "because")


OPERATIONS: dict[str, Callable[[NuggetShelf], Any]] = {
    "remember": lambda shelf: shelf.remember("facts", "new", "value"),
    "remember first": lambda shelf: shelf.remember("other", "new", "value"),
    "forget": lambda shelf: shelf.forget("facts", "a"),
    "create_note + add_link": link_two,
    "clear": lambda shelf: shelf.clear("facts"),
}


def open_shelf(directory: str) -> NuggetShelf:
    return NuggetShelf(directory, short_lived=True, project="")


def prepare(directory: str) -> None:
    with open_shelf(directory) as shelf:
        for key in "abc":
            shelf.remember("facts", key, f"value {key}")
        shelf.create_note("plans", "First", "one")


def picture(directory: str) -> object:
    """All that a new process finds, ids and times aside."""
    state = state_of(open_json(directory))
    titles = {n.id: n.title for n in state.notes.values()}
    return sorted(
        (n.nugget_name, n.title, n.content, sorted(titles[link.to] for link in n.links))
        for n in state.notes.values()
    )


def steps(directory: str, operation: Callable[[NuggetShelf], Any]) -> list[object]:
    """What may be found: before, after, and between the writes of an operation of several."""
    seen = [picture(directory)]
    with open_shelf(directory) as shelf:
        begin = shelf._rhythm.store.read(0)[1]
        operation(shelf)
        commits = len(list(shelf._rhythm.store.commits(begin)))
    last = picture(directory)
    if commits > 1:
        undone = open_json(directory)
        state = state_of(undone)
        state.apply(list(undone.commits(begin))[-1].before)
        titles = {n.id: n.title for n in state.notes.values()}
        seen.append(
            sorted(
                (n.nugget_name, n.title, n.content, sorted(titles[link.to] for link in n.links))
                for n in state.notes.values()
            )
        )
    return [*seen, last]


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
            code = REFUSED
    except BaseException as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
    finally:
        os._exit(code)


def problems_at(directory: str, code: int, allowed: list[object]) -> list[str]:
    found = []
    if code not in (ACKNOWLEDGED, REFUSED, -9):
        found.append(f"ended with {code}")
    now = picture(directory)
    if now not in allowed or (code == ACKNOWLEDGED and now != allowed[-1]):
        found.append(f"neither old nor new, or not what was acknowledged: {now}")
    store = open_json(directory)
    put(store, note(0xFFFF, title="after"))
    store.close()
    if not pictures_agree(directory):
        found.append("files disagree")
    litter = [n for _, _, names in os.walk(directory) for n in names if n.endswith(".tmp")]
    if litter:
        found.append(f"left behind {litter}")
    return found


def main(work: str, *names: str) -> int:
    for name in names or OPERATIONS:
        operation = OPERATIONS[name]
        original = os.path.join(work, "original")
        shutil.rmtree(original, ignore_errors=True)
        prepare(original)
        for kind, label in KINDS.items():
            k = 0
            while True:
                k += 1
                directory = os.path.join(work, "store")
                shutil.rmtree(directory, ignore_errors=True)
                shutil.copytree(original, directory, copy_function=shutil.copy2)
                after = os.path.join(work, "after")
                if k == 1:
                    shutil.rmtree(after, ignore_errors=True)
                    shutil.copytree(original, after, copy_function=shutil.copy2)
                    allowed = steps(after, operation)
                code = in_child(directory, operation, k, kind)
                if code == NOT_REACHED:
                    break
                problems = problems_at(directory, code, allowed)
                if problems:
                    print(f"{name}, {label} at call {k}: {problems}")
                    return 1
            print(f"{name}, {label}: {k - 1} points")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
