"""The words of keys and questions, and how one word stands for another. Knows no key and no value.

A word of a question stands for a word of a key if it is the same, another form of it, its listed
abbreviation, or a slip of the fingers.
"""

from nuggets.domain.records import SCOPES
from nuggets.language.stemming import stems
from nuggets.language.text import (
    edits_between,
    fold_case,
    is_unspaced,
    pairs,
    parts,
    plain,
    split_scripts,
    tokens,
)
from nuggets.language.word_lists import abbreviations, idle_words

MOST_WORDS = 24  # of a question: more say no more about which key is meant
LONGEST_WORD = 40  # letters: what is longer (a hash, a URL) is compared by its beginning
STEM_AKIN = 5  # letters, at least, that stems share which are not the same: "expiri", "expir"
STEM_ENDING = 2  # letters, at most, that may differ at their ends
SPELT_LETTERS = 7  # of a word: its further letters would make spellings many and hardly rarer
JOINED_LETTERS = 12  # of a key's words written together: fewer would only be its first word
SHORTEST_MISSPELT = 3  # letters of a word that is ever taken for a misspelt one
SHORTEST_TWICE_MISSPELT = 4  # letters; with two slips a shorter word is another one
MOST_EDITS = 2  # in one word: with three most words of six letters turn into others


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text, folded; identifiers in parts, unspaced scripts in pairs of letters."""
    found: list[str] = []
    for token in tokens(text[: MOST_WORDS * LONGEST_WORD]):
        for run in split_scripts(token.replace("’", "'").removesuffix("'s")):
            for part in parts(run):
                word = fold_case(part)[:LONGEST_WORD]
                found += pairs(word) if is_unspaced(word) else [word]
    return tuple(found[:MOST_WORDS])


def scope_length(key: str) -> int:
    """1 if the first word of the key is its scope ("user: editor"), else 0."""
    scope, colon, rest = key.partition(":")
    return int(bool(colon) and fold_case(scope) in SCOPES and bool(rest.strip()))


def is_idle(word: str) -> bool:
    """Whether the word says nothing about which key is meant: "what", "the", "please"."""
    return word in idle_words()


def forms(word: str, letters: int = SPELT_LETTERS) -> set[str]:
    """The beginnings of the word and of its stem: forms of one word share them. A word with digits
    is taken whole: another number means another thing."""
    letters = LONGEST_WORD if digits(word) else letters
    return {word[:letters], stems((plain(word),))[0][:letters]}


def spellings(word: str, edits: int = MOST_EDITS, letters: int = SPELT_LETTERS) -> set[str]:
    """Its forms, with up to so many letters left out.

    A slip leaves two words with a spelling in common: both without the wrong letters. Words with
    digits, and of two letters, are never misspelt.
    """
    found = forms(word, letters)
    if len(word) < SHORTEST_MISSPELT or digits(word) or is_unspaced(word):
        return found
    cut = {word[:letters]}
    for _ in range(edits if len(word) > SHORTEST_TWICE_MISSPELT else min(edits, 1)):
        cut |= {form[:i] + form[i + 1 :] for form in cut for i in range(len(form))}
    return found | cut


def joined_spellings(joined: str) -> set[str]:
    """Spellings of words that are written together, with one letter left out."""
    return spellings(joined, 1, JOINED_LETTERS)


def wrong_letters(typed: str, meant: str, is_known: bool) -> float | None:
    """The share of wrong letters in a word that may stand for another; None if it cannot.

    `is_known`: some key has the typed word, so it was not mistyped. Another number always means
    another thing.
    """
    if typed == meant or plain(typed) == plain(meant):
        return 0.0
    if digits(typed) != digits(meant):
        return None
    if meant in abbreviations().get(typed, ()) or _are_forms_of_one_word(typed, meant):
        return 0.0
    return None if is_known else slip_share(typed, meant)


def _are_forms_of_one_word(a: str, b: str) -> bool:
    if a[:2] != b[:2]:
        return False
    stem, other = stems((a, b))
    shared = _shared_start(stem, other)
    longest = max(len(stem), len(other))
    return stem == other or (shared >= STEM_AKIN and longest - shared <= STEM_ENDING)


def _shared_start(a: str, b: str) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def slip_share(typed: str, meant: str, most: int = MOST_EDITS) -> float | None:
    """The slips that turn what was meant into what was typed, as a share of the letters.

    A wrong first letter counts twice: it is hardly ever mistyped. None: more than `most`.
    """
    edits = edits_between(typed, meant, most)
    begin_alike = typed[:1] == meant[:1] or typed[:2] == meant[1::-1]
    share = (edits + (not begin_alike)) / max(len(typed), len(meant))
    return share if edits <= most else None


def digits(text: str) -> str:
    """All digits, in order."""
    return "" if text.isalpha() else "".join(filter(str.isdigit, text))
