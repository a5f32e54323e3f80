"""Compares a prompt with notes by meaning, within what is left of a hook's time.

A living process on the same shelf is asked first (`interfaces/meaning_socket.py`). Without one the
encoder is loaded, if there is time for it; else the prompt is judged by its words alone.
"""

import signal
import time
from typing import TYPE_CHECKING

from nuggets.interfaces.hooks.relevance_gate import has_topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from nuggets.meaning.nearest import NearestNotes
    from nuggets.shelf import NuggetShelf

ASKING_SHARE = 0.3  # of the time that is left, for an answer of a living process
LOADING_SECONDS = 0.5  # that must be left to load the encoder, which takes some 0.15


class PromptMeaning:
    """What the encoder says of one prompt."""

    def __init__(
        self, shelf: "NuggetShelf", location: str, explain: "Callable[[str], None]"
    ) -> None:
        """`explain`: told what was done."""
        self._shelf = shelf
        self._location = location
        self._explain = explain

    def compare(self, prompt: str) -> "NearestNotes | None":
        """The notes nearest to the prompt; None if it is judged by its words alone."""
        if not self._shelf.has_encoder:
            return None
        if not has_topic(prompt):
            self._explain("meaning: not compared: the prompt names no topic in English")
            return None
        from nuggets.interfaces.meaning_socket import NEAREST_NOTES, ask_living_process

        start = time.monotonic()
        nearest = ask_living_process(self._location, prompt, ASKING_SHARE * _seconds_left())
        how = "asked a living process"
        if nearest is None:
            if _seconds_left() < LOADING_SECONDS:
                self._explain("meaning: not compared: no process to ask, and no time to load")
                return None
            nearest = self._shelf.nearest_by_meaning(prompt, NEAREST_NOTES)
            how = "loaded the encoder"
        if nearest is None:
            self._explain("meaning: not compared: no note has a vector (`nuggets meaning status`)")
            return None
        took = 1000 * (time.monotonic() - start)
        self._explain(f"meaning: {how}, {nearest.compared} notes compared in {took:.0f} ms")
        return nearest


def _seconds_left() -> float:
    """Until the hook's deadline; plenty if none is set."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    return left or 60.0
