"""A fork waits until no thread is inside SQLite, and no thread imports anything.

SQLite has locks for the whole process, for its memory among others, and Python has one for each
module while it is imported. A child that is forked while another thread holds one has the lock, but
not the thread that would release it: the child would wait for ever. So a thread holds a guard while
it is inside SQLite, which never takes longer than a statement, and a fork holds all guards.
"""

import os
import threading
from weakref import WeakSet

IMPORT_SECONDS = 5.0  # a program that runs inside an import never ends it

_guards: "WeakSet[threading.RLock]" = WeakSet()
_registry = threading.Lock()  # of the guards
_held: "list[threading.RLock]" = []  # while this process forks
_endless_imports: set[str] = set()


def new_guard() -> "threading.RLock":
    """Hold it inside SQLite, and at no other time: a fork waits for it."""
    guard = threading.RLock()
    with _registry:
        _guards.add(guard)
    return guard


def _hold_all() -> None:
    _registry.acquire()
    for guard in list(_guards):
        guard.acquire()
        _held.append(guard)
    _hold_imports()


def _hold_imports() -> None:
    """Hold Python's import lock, which every import needs to begin, while none is under way."""
    import _frozen_importlib
    import _imp
    import time

    locks = getattr(_frozen_importlib, "_module_locks", {})
    deadline = time.monotonic() + IMPORT_SECONDS
    while True:
        _imp.acquire_lock()
        here = (None, threading.get_ident())
        running = {name for name, lock in list(locks.items()) if _owner(lock()) not in here}
        if running <= _endless_imports:
            return
        if time.monotonic() > deadline:
            _endless_imports.update(running)
            return
        _imp.release_lock()
        time.sleep(0.001)


def _owner(lock: object) -> int | None:
    """The thread that imports the module."""
    return getattr(lock, "owner", None)


def _release_all() -> None:
    """In the parent, and in the child, where the thread that forked is the only one."""
    import _imp

    _imp.release_lock()
    for guard in _held:
        guard.release()
    _held.clear()
    _registry.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_release_all)
