"""How far a long command is: told beside the output, to a person, once it takes over a second."""

import sys
import time
from contextlib import suppress

_PATIENCE = 1.0  # seconds before anything is said
_PAUSE = 0.2  # between two lines


class Progress:
    """Called with what is being done; the line is taken away at the end."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PATIENCE
        self._width = 0
        self._shows = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if self._shows and now >= self._next:
            self._next = now + _PAUSE
            self._print(text[:79])

    def end(self) -> None:
        if self._width:
            self._print("")
            self._width = 0

    def _print(self, text: str) -> None:
        with suppress(OSError):
            print(f"\r{text:<{self._width}}\r{text}", end="", file=sys.stderr, flush=True)
        self._width = len(text)
