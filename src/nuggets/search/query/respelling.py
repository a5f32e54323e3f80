"""Corrects slips in question words, months and short names of a question. Knows no note."""

from typing import TYPE_CHECKING

from nuggets.language.dates import MONTHS
from nuggets.language.stemming import is_stop
from nuggets.language.text import edits_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Shorter ones resemble too many other words: "who", "two"; "jan", "van".
QUESTION_WORDS = ("what", "when", "where", "which", "whose")
MONTH_NAMES = tuple(name for name in MONTHS if len(name) > 3)
SHORTEST = 3  # letters of a word that is corrected
MOST_RESPELT = 40  # words of a question, the first


def respell_question(text: str, is_known: "Callable[[str], bool]") -> str:
    """The question, slips corrected in the word that it begins with ("Wehn did") and in months
    beside a number ("16 Agust"), unless `is_known` says that notes have the word."""
    words = text.split(" ", MOST_RESPELT)
    for place, word in enumerate(words[:MOST_RESPELT]):
        beside = words[max(place - 1, 0) : place + 2]
        if place == 0 and _is_question(text, words):
            meant = _closest_word(word, QUESTION_WORDS)
        elif any(other[:1].isdigit() for other in beside):
            meant = _closest_word(word, MONTH_NAMES)
        else:
            continue
        if meant and not is_known(word.rstrip(",").lower()):
            words[place] = meant
    return " ".join(words)


def _is_question(text: str, words: list[str]) -> bool:
    """Whether the first word may be a question word: "wheat allergy" is no question."""
    return len(words) > 1 and ("?" in text or is_stop(words[1].lower()))


def _closest_word(word: str, known: "Iterable[str]") -> str:
    """The one of the known words that is an edit away and begins alike; "" if there is none."""
    word = word.rstrip(",").lower()
    if len(word) < SHORTEST or word in known:
        return ""
    near = (other for other in known if other[0] == word[0] and edits_between(word, other, 1) == 1)
    return next(near, "")
