"""What the sentence encoder adds to the words of a prompt, within what is left of the time.

A note far from the prompt in meaning is not shown for its words, and one plainly near to it is
shown without them: nearer than what people ask of any assistant.
"""

import signal
import time
from collections.abc import Callable, Sequence
from math import log10
from typing import TYPE_CHECKING

from nuggets.domain.records import MemoryNote
from nuggets.interfaces import pluralize
from nuggets.interfaces.hooks.help_probability import (
    RECALLED,
    Helpful,
    shares_said,
    telling_words,
)
from nuggets.interfaces.hooks.shown_memories import is_shown
from nuggets.language.languages import detect_language
from nuggets.language.text import words
from nuggets.language.word_lists import ENGLISH

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import NearestNotes
    from nuggets.shelf import NuggetShelf

LOADING_SECONDS = 0.5  # that must be left to load the encoder, which takes some 0.1
NEAREST_NOTES = 200  # of which the cosine is known; of others it is at most the least of these
NEAR_SHOWN = 5  # at most; the words say nothing about which of them is meant
NEAR_LOOKED_AT = 60  # nearest notes, also of other projects and files: each is read

# Cosines, measured by benchmarks/paraphrases.py:
CONTRADICTS = 0.3  # less speaks against a note that has words of the prompt
MEANT = 0.096  # enough to show a note without them, if it is the nearest of
FEW_NOTES = 50  # or fewer; the nearest of more notes is nearer by chance:
MEANT_MORE = 0.12  # this much for every tenfold number. Also more is needed:
COMMON = 0.55  # of the cosine of a prompt that asks for no memory: it speaks for no note
SAID = 0.5  # of the share of the prompt's words: they make a note nearer, and were not enough
AS_NEAR = 0.1  # below the nearest: also shown


def with_meaning(
    shelf: "NuggetShelf", query: str, helpful: "Sequence[Helpful]", nearest: "NearestNotes"
) -> list[MemoryNote]:
    """The helpful memories that meaning does not speak against; if there are none, those that the
    prompt plainly means in other words."""
    agreed = [
        one.note
        for one in helpful
        if one.probability >= RECALLED or nearest.cosine(one.note.id) >= CONTRADICTS
    ]
    return agreed or _notes_meant(shelf, query, nearest)


def has_topic(prompt: str) -> bool:
    """Does the prompt say in English what it is about? Others the encoder cannot judge."""
    if not telling_words(prompt) or detect_language(words(prompt)) != ENGLISH:
        return False
    letters = [letter for letter in prompt if letter.isalpha()]
    return sum(map(str.isascii, letters)) > len(letters) / 2


def meant_cosine(notes: float, common: float) -> float:
    """The cosine that the nearest of so many notes needs to be shown for its meaning alone.
    `common`: that of the nearest prompt which asks for no memory."""
    return MEANT + MEANT_MORE * log10(max(1.0, notes / FEW_NOTES)) + COMMON * max(0.0, common)


def _notes_meant(shelf: "NuggetShelf", query: str, nearest: "NearestNotes") -> list[MemoryNote]:
    """The notes that a prompt plainly means in other words, nearest first."""
    ids = list(nearest.cosines)[:NEAR_LOOKED_AT]
    notes = shelf.get_notes(ids)
    in_sight = [note for note in map(notes.get, ids) if note and not shelf.is_foreign(note)]
    shown = [note for note in in_sight if is_shown(shelf, note)][:NEAR_SHOWN]
    least = meant_cosine(nearest.compared * len(in_sight) / max(1, len(ids)), nearest.common)
    if not shown or nearest.cosine(shown[0].id) < least:
        return []
    nearness = {
        note.id: nearest.cosine(note.id) - SAID * share
        for note, share in zip(shown, shares_said(query, shown), strict=True)
    }
    least = max(least, max(nearness.values()) - AS_NEAR)
    near = [note for note in shown if nearness[note.id] >= least]
    return sorted(near, key=lambda note: -nearness[note.id])


def compare_meaning(
    shelf: "NuggetShelf", explain: Callable[[str], None], prompt: str
) -> "NearestNotes | None":
    """The notes nearest to a prompt; None if it is judged by its words alone. `explain`: told what
    was done."""
    nearest, start = None, time.monotonic()
    if not has_topic(prompt):
        done = "not compared: the prompt names no topic in English"
    elif _seconds_left() < LOADING_SECONDS:
        done = "not compared: no time was left to load it"
    elif (nearest := shelf.encoder.find_nearest(prompt, NEAREST_NOTES)) is None:
        done = "not compared: no note has a vector (`nuggets encoder status`)"
    else:
        took = 1000 * (time.monotonic() - start)
        done = f"loaded, and {pluralize(nearest.compared, 'note')} compared, in {took:.0f} ms"
    explain(f"encoder: {done}")
    return nearest


def _seconds_left() -> float:
    """Until the hook's deadline; plenty if none is set."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    return left or 60.0
