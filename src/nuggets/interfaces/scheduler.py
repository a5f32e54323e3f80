"""The daily clean-up in a process that lives on: look now and then, run when it is due."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from nuggets.interfaces.words import cleaned
from nuggets.records import DailyRun
from nuggets.shelf import NuggetShelf
from nuggets.traces import log

LONGEST_PAUSE = 60.0  # seconds: a laptop that wakes up looks at its clock within a minute


class Heartbeat:
    """A thread that runs what is due at every heartbeat until it is stopped.

    Used by the servers, so that people who install no timer still get the daily pass. What it has
    to say goes to the log beside the shelf, unless someone wants to hear it.
    """

    def __init__(
        self,
        shelf: NuggetShelf,
        *,
        now: Callable[[], datetime] = datetime.now,
        report: Callable[[DailyRun | Exception], None] | None = None,
    ) -> None:
        self._shelf = shelf
        self._now = now
        self._report = report or (lambda done: log(shelf.settings["dir"], told(done)))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self.run, name="nuggets-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; a pass under way is finished first."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=LONGEST_PAUSE)

    def run(self) -> None:
        """Look at every heartbeat until stopped, by the clock on the wall: sleep is time, too."""
        last = again = datetime.min
        while not self._stopped.is_set():
            now = self._now()
            if not last <= now < again:  # the clock may have been set back
                last, again = now, self._beat(now)
            self._stopped.wait(min((again - now).total_seconds(), LONGEST_PAUSE))

    def _beat(self, now: datetime) -> datetime:
        """When to look again: the run's own minute may be the last before quiet hours.

        Whatever goes wrong is reported and does not end the heartbeat.
        """
        again = now + timedelta(milliseconds=self._shelf.settings["heartbeat_interval_ms"])
        try:
            done = self._shelf.run_daily(now)
            coming = self._shelf.next_run(now)
        except Exception as problem:
            self._report(problem)
            return again
        if done is not None:
            self._report(done)
        return coming if now < coming < again else again


def told(done: DailyRun | Exception) -> str:
    """What a run came to, in one line; it may have gone wrong only in part."""
    if isinstance(done, Exception):
        return f"the daily run went wrong: {str(done) or type(done).__name__}"
    return summary(done)


def summary(run: DailyRun) -> str:
    """One line for a log."""
    result = run.result
    done = f"inspected {result.inspected}, {cleaned(result)}, promoted {run.promoted}"
    return f"{run.date}: {done}"
