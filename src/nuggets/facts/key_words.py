"""The words of questions and keys, and which word may stand for which. Knows no key.

A word stands for another if it is the same, another form of it, its listed abbreviation, a listed
synonym, its beginning, or a slip of the fingers.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from nuggets.domain.records import SCOPES
from nuggets.language.languages import ALSO_ENGLISH, stems
from nuggets.language.text import (
    edits_between,
    fold_case,
    folded_parts,
    is_unspaced,
    plain,
    tokens,
    without_contraction,
)
from nuggets.language.word_lists import (
    ENGLISH,
    abbreviations,
    contrasts,
    idle_words,
    stances,
    stop_words,
    synonyms,
)

MOST_WORDS = 24  # of a question: more say no more about which key is meant
LONGEST_WORD = 40  # letters: what is longer (a hash, a URL) is compared by its beginning
STEM_AKIN = 5  # letters, at least, that stems share which are not the same: "expiri", "expir"
STEM_ENDING = 2  # letters, at most, that may differ at their ends
SPELT_LETTERS = 7  # of a word: its further letters would make spellings many and hardly rarer
JOINED_LETTERS = 12  # of a key's words written together: fewer would only be its first word
SHORTEST_MISSPELT = 3  # letters of a word that is ever taken for a misspelt one
SHORTEST_TWICE_MISSPELT = 4  # letters; with two slips a shorter word is another one
SHORTEST_BEGINNING = 3  # letters of a word that is cut short: "ins" for insurance
LEAST_CUT = 2  # letters: one less is another form or a slip
# Endings of regular plurals, cases and tenses, in English and German; "policy", "policies".
_INFLECTIONS = {"", "s", "es", "d", "ed", "ing", "y", "ies", "ied", "n", "en", "er", "ern"}
MOST_EDITS = 2  # in one word: with three most words of six letters turn into others


TELLING, NEGATION = "telling", "negation"  # kinds of words that are no stop words here
# Stop words of some language that are rather names in a text that is not in it, and the pronoun
# that is a region more often. Without the last three no figure of benchmarks/recall.py changes, but
# "us region" is answered by `eu region`.
NAMES = ALSO_ENGLISH | {"eu", "os", "us"}

# A name that would be another one without its signs: C++, C#, .NET.
_NAME_WITH_SIGN = r"(?<!\w)([a-z](?:\+\+|#(?!\w))|\.net(?!\w))"


@lru_cache(maxsize=16)  # a key is split when it is looked for and when it is written
def split_words(text: str) -> tuple[str, ...]:
    """The words of a text, folded; identifiers in parts, unspaced scripts in pairs of letters."""
    text = text[: MOST_WORDS * LONGEST_WORD]
    # Names are every second one, those between others included.
    has_sign = any(map(text.__contains__, "+#."))
    pieces = re.split(_NAME_WITH_SIGN, text, flags=re.IGNORECASE) if has_sign else [text]
    found: list[str] = []
    for number, piece in enumerate(pieces):
        if number % 2:
            found.append(fold_case(piece))
        else:
            for token in tokens(piece):
                for bare in _part_contraction(token):
                    found += [word[:LONGEST_WORD] for word in folded_parts(bare)]
    return tuple(found[:MOST_WORDS])


def _part_contraction(token: str) -> list[str]:
    """``cannot`` and ``can't`` are can and not, ``d'équipe`` is équipe."""
    token = token.replace("’", "'")
    if "'" not in token:
        return ["can", "not"] if token.lower() == "cannot" else [token]
    bare = without_contraction(token)
    if token[-3:].lower() == "n't":
        return [*bare, "not"]
    return bare[1:] if len(bare) > 1 and bare[0].lower() in stop_words("french") else bare


def scope_length(key: str) -> int:
    """1 if the first word of the key is its scope ("user: editor"), else 0."""
    scope, colon, rest = key.partition(":")
    return int(bool(colon) and fold_case(scope) in SCOPES and bool(rest.strip()))


def word_kinds(words: Sequence[str], language: str) -> dict[int, str]:
    """Of each word that says which key is meant its place and kind: telling, a negation, or that
    of a stop word which tells one thing from another. "What", "the" and "please" have none.

    What ends a text is no article ("port a"), and negates nothing ("or not", "passport no").
    """
    idle, spoken, last = idle_words(), stop_words(language), len(words) - 1
    negations, kinds = stances()["negations"], {}
    for i, word in enumerate(words):
        is_foreign = language == ENGLISH or word not in spoken
        if word in negations and i < last:
            kinds[i] = NEGATION
        elif (
            word not in idle
            or (is_foreign and (word in NAMES or word in abbreviations()))
            or (len(word) == 1 and (i == last or word not in spoken))
        ):
            kinds[i] = TELLING
        elif word in contrasts():
            kinds[i] = contrasts()[word]
    return kinds


def telling_places(kinds: Mapping[int, str]) -> list[int]:
    """The places of words that are no stop words."""
    return [i for i, kind in kinds.items() if kind in (TELLING, NEGATION)]


def forms(word: str, letters: int = SPELT_LETTERS) -> set[str]:
    """The beginnings of the word and of its stem: forms of one word share them. A word with digits
    is taken whole: another number means another thing."""
    letters = LONGEST_WORD if digits(word) else letters
    return {word[:letters], stems((plain(word),))[0][:letters]}


def akin_forms(word: str) -> set[str]:
    """Its forms, and those beginnings of its stem that akin stems have too: "handl" of handler is
    a spelling of handling."""
    found = forms(word)
    if not digits(word):
        stem = stems((plain(word),))[0]
        found |= {stem[:end] for end in range(max(STEM_AKIN, len(stem) - STEM_ENDING), len(stem))}
    return found


@lru_cache(maxsize=256)  # keys that are written one after another share words
def spellings(word: str, edits: int = MOST_EDITS, letters: int = SPELT_LETTERS) -> frozenset[str]:
    """Its forms, with up to so many letters left out.

    A slip leaves two words with a spelling in common: both without the wrong letters. Words with
    digits or signs, and of two letters, are never misspelt.
    """
    found = frozenset(forms(word, letters))
    if len(word) < SHORTEST_MISSPELT or not word[-1].isalpha() or digits(word) or is_unspaced(word):
        return found
    cut = {word[:letters]}
    for _ in range(edits if len(word) > SHORTEST_TWICE_MISSPELT else min(edits, 1)):
        cut |= {form[:i] + form[i + 1 :] for form in cut for i in range(len(form))}
    return found | cut


def joined_spellings(joined: str) -> frozenset[str]:
    """Spellings of words that are written together, with one letter left out."""
    return spellings(joined, 1, JOINED_LETTERS)


def wrong_letters(typed: str, meant: str, is_known: bool) -> float | None:
    """The share of wrong letters in a word that may stand for another; None if it cannot.

    `is_known`: some key has the typed word, so it was not mistyped; nor was a stop word, or one
    of two listed ones.
    Another number always means another thing.
    """
    if typed == meant or plain(typed) == plain(meant):
        return 0.0
    if digits(typed) != digits(meant):
        return None
    if meant in abbreviations().get(typed, ()) or _have_one_stem(typed, meant):
        return 0.0
    are_listed = typed in abbreviations() and meant in abbreviations()  # "minimum", "maximum"
    is_known = is_known or are_listed or typed in idle_words()
    return None if is_known else slip_share(typed, meant)


def synonyms_of(word: str) -> tuple[str, ...]:
    """Words that name the same thing, whatever form the word has."""
    return synonyms().get(word) or _synonyms_by_stem().get(stems((word,))[0], ())


@cache
def _synonyms_by_stem() -> dict[str, tuple[str, ...]]:
    return dict(zip(stems(synonyms()), synonyms().values(), strict=True))


def may_be_cut(word: str) -> bool:
    """Whether a word may be the beginning of a longer one."""
    return len(word) >= SHORTEST_BEGINNING and word.isalpha() and not is_unspaced(word)


def is_cut(word: str, whole: str) -> bool:
    """Whether a word is the beginning of the whole one."""
    return whole.startswith(word) and whole.isalpha() and len(whole) - len(word) >= LEAST_CUT


def are_forms(a: str, b: str) -> bool:
    """Whether they are one word in two forms, or the stems differ in their ends only. That may also
    be another word: "Daniela" and Daniel."""
    if a[:2] != b[:2]:
        return False
    stem, other = stems((a, b))
    shared = shared_start(stem, other)
    longest = max(len(stem), len(other))
    return stem == other or (shared >= STEM_AKIN and longest - shared <= STEM_ENDING)


def _have_one_stem(a: str, b: str) -> bool:
    stem, other = stems((a, b)) if a[:2] == b[:2] else (a, b)
    return stem == other


def is_inflected(a: str, b: str) -> bool:
    """Whether words of one stem differ in an ending of grammar alone. Others may be other words: a
    product is no production, nor is Anne Ann."""
    start = shared_start(a, b)
    return _INFLECTIONS.issuperset((a[start:], b[start:]))


def shared_start(a: str, b: str) -> int:
    for i, (letter, other) in enumerate(zip(a, b, strict=False)):
        if letter != other:
            return i
    return min(len(a), len(b))


def slip_share(typed: str, meant: str, most: int = MOST_EDITS) -> float | None:
    """The slips that turn what was meant into what was typed, as a share of the letters; None if
    they are more than `most`.

    A wrong first letter counts twice: it is hardly ever mistyped, and with another slip it makes
    another word ("external" for "internal").
    """
    begin_alike = typed[:1] == meant[:1] or typed[:2] == meant[1::-1]
    most = most if begin_alike else 1
    edits = edits_between(typed, meant, most)
    return (edits + (not begin_alike)) / max(len(typed), len(meant)) if edits <= most else None


def digits(text: str) -> str:
    """All digits, in order."""
    return "" if text.isalpha() else "".join(filter(str.isdigit, text))
