"""What makes two texts of nearly the same words say different things. Knows no note.

A number, a version, a path, a negation, a sign or a single letter is one word of many, and the
one that counts: "allowed" and "not allowed", 10 and 8 years, server B and server C.
"""

import re
from functools import cache

from nuggets.text import folded

_NEGATIONS = """
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
# Numbers, joined as they stand there; names with dots or strokes in them; what says no; letters
# that stand alone (two of which are English words) or behind a hyphen; signs. A plain word is
# read over, a dash between two words too.
_PARTICULAR = r"""
    (   (?=\w*\d)\w+(?:[.,:/]\w*\d\w*)*
    |   \w+(?:[./]\w+)+
    |   (?:{negations})\b  |  \w+n['’]t\b
    |   (?<=-)\w\b  |  (?<!['’])[b-hj-z]\b
    |   (?<![\w)\]])(?:--?(?=[\w.(])|[−–](?=\d))
    |   !(?=[\w=(])
    |   [<>=~^%±≤≥≠←→+$€£¥]+
    |   (?<=\w)\#+  |  \#(?=\d)
    ) | \w+
"""
_UNSPACED_NEGATION = "[不没沒未无無勿]|ない|ません|않"

Particulars = tuple[str, ...]


@cache
def _particular() -> re.Pattern[str]:
    negations = "|".join(_NEGATIONS.split())
    return re.compile(_PARTICULAR.format(negations=negations), re.VERBOSE)


def particulars(text: str) -> Particulars:
    """In their order: "from 14 to 15" is not "from 15 to 14"."""
    plain = folded(text)
    found = filter(None, _particular().findall(plain))
    return (*found, *(() if plain.isascii() else re.findall(_UNSPACED_NEGATION, plain)))


def contradict(one: Particulars, other: Particulars) -> bool:
    """Whether what they were taken from may not be taken for the same.

    It may if one of them says more: another number, another path. Where one says "not", has a
    sign or a letter, and the other has none there, they differ.
    """
    if one == other:
        return False
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    left, extra = iter(longer), []
    for wanted in shorter:
        for particular in left:
            if particular == wanted:
                break
            extra.append(particular)
        else:
            return True
    return not all(map(_adds, (*extra, *left)))


def _adds(particular: str) -> bool:
    """A number or a name, that a text may have and the other not: it turns nothing round."""
    return any(map(str.isdigit, particular)) or not {".", "/"}.isdisjoint(particular)
