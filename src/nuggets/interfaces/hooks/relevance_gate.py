"""Decides whether a prompt is about a note, by its words and by meaning. Knows no shelf.

A search shows weak matches too. A hook is not a search, so one shared word is not enough.
If an encoder is at hand, a note far from the prompt in meaning is not shown for its words, and one
plainly near to it is shown without them: nearer than what people ask of any assistant.
Whether a note that is shown also counts as recalled: `search/clear_answer.py`.
"""

from functools import cache
from math import log10
from typing import Any

from nuggets.language.languages import detect_language
from nuggets.language.text import tokens, words
from nuggets.language.word_lists import ENGLISH, conversation_words, stop_words

# Share of a prompt's content words, weighted by rarity:
NAMES_IT = 0.35  # needed of a single word, which must be in the title

# Cosines, measured by benchmarks/paraphrases.py:
CONTRADICTS = 0.2  # less speaks against a note that has words of the prompt
MEANT = 0.096  # enough to show a note without them, if it is the nearest of
FEW_NOTES = 50  # or fewer; the nearest of more notes is nearer by chance:
MEANT_MORE = 0.12  # this much for every tenfold number. Also more is needed:
COMMON = 0.55  # of the cosine of a prompt that asks for no memory: it speaks for no note
SAID = 0.5  # of the share of the prompt's words: they make a note nearer, and were not enough
AS_NEAR = 0.1  # below the nearest: also shown


def is_about(prompt: str, title: str, words: tuple[Any, ...]) -> bool:
    """Whether a prompt is about a note; `words`: what `explain` says of each word of the prompt."""
    if names_title(prompt, title, len(words)):
        return True
    telling = [word for word in words if _tells(word.word)]
    matched = [word for word in telling if word.itself]
    titled = any("title" in word.fields for word in matched)
    if len(matched) > 1:
        return True
    alone = len(words) == 1 or (titled and part_said(words) >= NAMES_IT)
    supported = any(word.alike for word in telling if word not in matched)
    return bool(matched) and (alone or supported)


def has_topic(prompt: str) -> bool:
    """Does the prompt say in English what it is about? Others the encoder cannot judge."""
    said = words(prompt)
    if not any(map(_tells, said)) or detect_language(said) != ENGLISH:
        return False
    letters = [letter for letter in prompt if letter.isalpha()]
    return sum(map(str.isascii, letters)) > len(letters) / 2


def meant_cosine(notes: float, common: float) -> float:
    """The cosine that the nearest of so many notes needs to be shown for its meaning alone.
    `common`: that of the nearest prompt which asks for no memory."""
    return MEANT + MEANT_MORE * log10(max(1.0, notes / FEW_NOTES)) + COMMON * max(0.0, common)


def part_said(words: tuple[Any, ...]) -> float:
    """The share of a prompt's telling words that a note has; `words`: as of `is_about`."""
    telling = [word for word in words if _tells(word.word)]
    said: float = sum(word.rarity for word in telling if word.itself)
    return said / (sum(word.rarity for word in telling) or 1.0)


def names_title(prompt: str, title: str, words: int = 0) -> bool:
    """Does the prompt contain the title? A title of one word must be the whole prompt."""
    prompt_text, name = (f" {' '.join(tokens(text)).casefold()} " for text in (prompt, title))
    named = name.split()
    meant = any(map(_tells, named)) if len(named) > 1 else bool(named) and words == 1
    return meant and name in prompt_text


def _tells(word: str) -> bool:
    return word not in _idle_words() and not word.isdigit()


@cache
def _idle_words() -> frozenset[str]:
    """Words that no prompt is about."""
    return stop_words() | conversation_words()
