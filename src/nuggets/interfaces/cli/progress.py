"""Progress of a long command: one line on a terminal's stderr, once it takes over a second."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

_DELAY = 1.0  # seconds before the first line
_INTERVAL = 0.2  # seconds between two lines


class Progress:
    """Call it with what is being done; `end` clears the line."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _DELAY
        self._width = 0
        self.is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if self.is_terminal and now >= self._next:
            self._next = now + _INTERVAL
            self._print(text[:79])

    def end(self) -> None:
        if self._width:
            self._print("")
            self._width = 0

    def _print(self, text: str) -> None:
        with suppress(OSError):
            print(f"\r{text:<{self._width}}\r{text}", end="", file=sys.stderr, flush=True)
        self._width = len(text)


@contextmanager
def announce(text: str) -> Iterator[None]:
    """Say at a terminal what is being done, and for how long, for work that does not report how far
    it is."""
    progress, start, is_done = Progress(), time.monotonic(), Event()

    def report() -> None:
        while not is_done.wait(_DELAY):
            progress(f"{text} {time.monotonic() - start:.0f} s so far")

    reporter = Thread(target=report, daemon=True)
    if progress.is_terminal:
        reporter.start()
    try:
        yield
    finally:
        is_done.set()
        if progress.is_terminal:
            reporter.join()
        progress.end()
