"""Runs the daily reflection from a long-lived process, when it is due."""

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from nuggets.domain.records import DailyRun
from nuggets.filesystem.hook_files import log
from nuggets.interfaces.display_text import summarize_clean_up
from nuggets.interfaces.encoder_socket import EncoderSocket
from nuggets.maintenance.encoder_update import SECONDS_PER_MINUTE
from nuggets.shelf import NuggetShelf

LONGEST_PAUSE = 60.0  # seconds: after a suspend, a due run starts within a minute


class Heartbeat:
    """A thread that runs the daily reflection when it is due, until it is stopped. Every minute it
    also encodes notes that have no vector, if a sentence encoder is installed, and hooks may ask
    what is near a prompt in meaning (`encoder_socket`).

    The servers use it, so that the daily pass runs without a system timer. Reports go to the log
    beside the shelf, unless `report` is given.
    """

    def __init__(
        self,
        shelf: NuggetShelf,
        *,
        now: Callable[[], datetime] = datetime.now,
        others: Callable[[], Iterable[AbstractContextManager[NuggetShelf]]] = tuple,
        report: Callable[[DailyRun | Exception], None] | None = None,
    ) -> None:
        """`others`: shelves that are cleaned up as well, such as those of a team's members."""
        self._shelf = shelf
        self._others = others
        self._now = now
        self._report = report or (lambda done: log(shelf.settings["dir"], describe_run(done)))
        self._stopped = threading.Event()
        self._encoder_socket = EncoderSocket(shelf)
        self._thread = threading.Thread(target=self.run, name="nuggets-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a running pass is finished first."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=LONGEST_PAUSE)
        self._encoder_socket.close()

    def run(self) -> None:
        """Check at every heartbeat until stopped, by wall-clock time, so that suspends count."""
        last = again = datetime.min
        while not self._stopped.is_set():
            self._encoder_socket.open()
            now = self._now()
            if not last <= now < again:  # the clock may have been set back
                last, again = now, self._beat(now)
            self._shelf.encode_waiting(SECONDS_PER_MINUTE)
            self._stopped.wait(min((again - now).total_seconds(), LONGEST_PAUSE))

    def _beat(self, now: datetime) -> datetime:
        """Run if due; the time of the next check, which is not after the next due time.

        Errors are reported and do not end the thread.
        """
        again = now + timedelta(milliseconds=self._shelf.settings["heartbeat_interval_ms"])
        try:
            done = self._shelf.run_daily(now)
            for opened in self._others():
                with opened as shelf:
                    shelf.run_daily(now)
            coming = self._shelf.next_run(now)
        except Exception as problem:
            self._report(problem)
            return again
        if done is not None:
            self._report(done)
        return coming if now < coming < again else again


def describe_run(done: DailyRun | Exception) -> str:
    """The result of a run, or its error, in one line."""
    if isinstance(done, Exception):
        return f"the daily run went wrong: {str(done) or type(done).__name__}"
    return summary(done)


def summary(run: DailyRun) -> str:
    """The counts of a run in one line."""
    result = run.result
    done = f"inspected {result.inspected}, {summarize_clean_up(result)}, promoted {run.promoted}"
    return f"{run.date}: {done}"
