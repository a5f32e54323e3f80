"""Refresh exports a little later, in a background thread that lets other threads go first."""

import atexit
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from nuggets.errors import StoreError

LAG_SECONDS = 0.8  # how far the files of a large shelf lag behind; the docs say about a second
_PAUSE_SECONDS = 0.001  # a few times as long as the work between two pauses
_MOST_PAUSES = 50  # in a row, however busy the store is


class RefreshStopped(Exception):
    """A refresh that ended early, and is requested again."""


class BackgroundRefresh:
    """At most one refresh at a time, some time after it was requested."""

    def __init__(
        self,
        refresh: Callable[[], None],
        is_busy: Callable[[], bool],
        must_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """`must_stop`: is it better to begin again later?"""
        self._refresh = refresh
        self._is_busy = is_busy
        self._must_stop = must_stop
        self._timer: threading.Timer | None = None
        self._is_awaited = False
        _instances.add(self)

    @property
    def is_requested(self) -> bool:
        return self._timer is not None

    def request(self) -> None:
        if self._timer is not None:
            return
        self._timer = timer = threading.Timer(LAG_SECONDS, self._run)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # no thread can start, as at the end of a process
            self._timer = None

    def _run(self) -> None:
        is_stopped = False
        try:
            with suppress(OSError, StoreError):  # the next writer tries again
                self._refresh()
        except RefreshStopped:
            is_stopped = True
        finally:
            self._timer = None
        if is_stopped and not self._is_awaited:
            self.request()

    def pause(self) -> None:
        """Let threads that use the store go first: Python runs one at a time. Does not pause
        while someone waits for the refresh to end."""
        if not self._is_awaited and self._must_stop():
            raise RefreshStopped
        for _ in range(_MOST_PAUSES):
            if self._is_awaited:
                return
            time.sleep(_PAUSE_SECONDS)
            if not self._is_busy():
                return

    def finish(self) -> None:
        """Do what was requested before the process ends."""
        if self._timer is not None:
            self._is_awaited = True
            try:
                self._stop()
                with suppress(OSError, StoreError):
                    self._refresh()
            finally:
                self._is_awaited = False

    def _stop(self) -> None:
        """Wait for a refresh that runs, and cancel one that has not begun."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            if timer is not threading.current_thread():
                timer.join()


_instances: WeakSet[BackgroundRefresh] = WeakSet()


@atexit.register
def _finish_all() -> None:
    for refresh in list(_instances):
        refresh.finish()
