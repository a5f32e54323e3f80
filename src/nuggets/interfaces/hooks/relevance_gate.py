"""Decides whether a prompt is about a note, word by word. Knows no shelf and no ranking.

A search shows weak matches too. A hook is not a search, so one shared word is not enough.
Whether a note that is shown also counts as recalled: `search/clear_answer.py`.
"""

from functools import cache
from typing import Any

from nuggets.language.text import tokens
from nuggets.language.word_lists import conversation_words, stop_words

# Share of a prompt's content words, weighted by rarity:
NAMES_IT = 0.35  # needed of a single word, which must be in the title


def is_about(prompt: str, title: str, words: tuple[Any, ...]) -> bool:
    """Whether a prompt is about a note; `words`: what `explain` says of each word of the prompt."""
    if names_title(prompt, title, len(words)):
        return True
    telling = [word for word in words if _tells(word.word)]
    matched = [word for word in telling if word.itself]
    titled = any("title" in word.fields for word in matched)
    part = sum(word.rarity for word in matched) / (sum(word.rarity for word in telling) or 1.0)
    if len(matched) > 1:
        return True
    alone = len(words) == 1 or (titled and part >= NAMES_IT)
    supported = any(word.alike for word in telling if word not in matched)
    return bool(matched) and (alone or supported)


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
