"""Decides whether two texts of nearly the same words say the same. Knows no note.

Their key words must follow each other in the same order, so that "tabs over spaces" is not "spaces
over tabs" and "thirty seconds" not "sixty seconds". Their details must be the same, too: numbers,
versions, paths, negations, signs and single letters. Whether two texts deny each other:
`contradictions.py`.
"""

import re
from functools import cache, lru_cache

from nuggets.language.text import fold_case
from nuggets.language.word_lists import equivalent_words, filler_words

SHORTEST_PLURAL = 4  # letters: "pods" is a plural, "gas" is not
NEGATIONS = """
cannot except neither never no none nor not unless without
kein keine keinem keinen keiner keines nicht nie niemals ohne
aucun aucune jamais ne pas sans
jamás ni ningún ninguna ninguno nunca sin
mai nessun nessuna nessuno non senza
nem nenhum nenhuma não sem
geen niet nooit zonder
aldrig aldri ej ikke ingen inget inte intet uden utan uten
eikä eivät ei ilman
bez nie не нет без
"""
# Numbers with their separators; names with dots or slashes; negations; single letters (except the
# English words "a" and "i") and letters after a hyphen; signs. Plain words and dashes between
# words are skipped.
_PARTICULAR = r"""
    (   (?=\w*\d)\w+(?:[.,:/]\w*\d\w*)*
    |   \w+(?:[./]\w+)+
    |   (?:{negations})\b
    |   (?<=-)\w\b  |  (?<!['’])[b-hj-z]\b
    |   (?<![\w)\]])(?:--?(?=[\w.(])|[−–](?=\d))
    |   !(?=[\w=(])
    |   [<>=~^%±≤≥≠←→+$€£¥]+
    |   (?<=\w)\#+  |  \#(?=\d)
    ) | \w+
"""
_UNSPACED_NEGATION = "[不没沒未无無勿]|ない|ません|않"

_NEGATED = re.compile(r"n['’]t\b")
_WORD = re.compile(r"\w+")

Particulars = tuple[str, ...]


@cache
def _particular() -> re.Pattern[str]:
    negations = "|".join(NEGATIONS.split())
    return re.compile(_PARTICULAR.format(negations=negations), re.VERBOSE)


@lru_cache(maxsize=1024)  # of many notes that are alike each is compared with all others
def particulars(text: str) -> Particulars:
    """The details of a text, in order: "from 14 to 15" is not "from 15 to 14"."""
    plain = _NEGATED.sub(" not", fold_case(text))
    matches = filter(None, _particular().findall(plain))
    return (*matches, *(() if plain.isascii() else re.findall(_UNSPACED_NEGATION, plain)))


def singular(word: str) -> str:
    """The word without the s of an English plural."""
    is_plural = len(word) >= SHORTEST_PLURAL and word[-1] == "s" and word[-2] not in "isu"
    return word[:-1] if is_plural else word


def key_words(text: str) -> tuple[str, ...]:
    """The words that carry the meaning of a text, in order, in the singular."""
    plain = _NEGATED.sub(" not", fold_case(text)).replace("'", "").replace("’", "")
    fillers, equivalents = filler_words(), equivalent_words()
    words = (word for word in _WORD.findall(plain) if word not in fillers)
    return tuple(singular(equivalents.get(word, word)) for word in words)
