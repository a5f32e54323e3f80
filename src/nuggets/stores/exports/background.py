"""A refresh that a living process does a little later, in a thread that lets others go first."""

import atexit
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from nuggets.errors import StoreError

LAG_SECONDS = 0.8  # how far the files of a large shelf lag behind; users are told about a second
_REST_SECONDS = 0.001  # a few times as long as the work between two rests
_MOST_RESTS = 50  # in a row, however busy the store is


class Later:
    """At most one refresh at a time, some time after it was asked for."""

    def __init__(self, refresh: Callable[[], None], is_busy: Callable[[], bool]) -> None:
        self._refresh = refresh
        self._is_busy = is_busy
        self._timer: threading.Timer | None = None
        self._stopped = False
        _waiting.add(self)

    def ask(self) -> None:
        if self._timer is not None:
            return
        self._timer = timer = threading.Timer(LAG_SECONDS, self._run)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # no thread to be had, as at the end of a process
            self._timer = None

    def _run(self) -> None:
        try:
            with suppress(OSError, StoreError):  # whoever writes next tries again
                self._refresh()
        finally:
            self._timer = None

    def stop(self) -> None:
        """Wait for a refresh that runs; one that has not begun is left to the caller."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            if timer is not threading.current_thread():
                self._stopped = True
                timer.join()
                self._stopped = False

    def rest(self) -> None:
        """Let threads that use the store go first: Python runs one at a time. Not while someone
        waits for this one to end."""
        for _ in range(_MOST_RESTS):
            if self._stopped:
                return
            time.sleep(_REST_SECONDS)
            if not self._is_busy():
                return

    def finish(self) -> None:
        """What was asked for is done before the process ends."""
        if self._timer is not None:
            self.stop()
            with suppress(OSError, StoreError):
                self._refresh()


_waiting: WeakSet[Later] = WeakSet()


@atexit.register
def _finish_all() -> None:
    for later in list(_waiting):
        later.finish()
