"""How probable it is that a question means a key. Knows no value and no table.

A word of a question stands for a word of a key if it is the same, another form of it, its listed
abbreviation, or a slip of the fingers. Each key that shares a word with the question gets a score:
a weighted sum of features that say how far the words of question and key cover each other. The
probability of a key is then e^score / (1 + Σ e^score) over all these keys. So keys that fit equally
well share it, and the 1 stands for "none of them".
"""

from collections.abc import Mapping, Sequence
from math import exp

from nuggets.domain.records import SCOPES
from nuggets.language.languages import stems
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
from nuggets.named_tuple import NamedTuple

# --- words ----------------------------------------------------------------------------------------

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


# --- probability ----------------------------------------------------------------------------------

EXACT = 0.99  # that the key itself was meant, where the question is the key: measured 1.00
LEFT_OUT = 0.5  # what a key's scope and its idle words weigh: people leave them out
MOST_EVIDENCE = 3  # covered words: more make no difference
MOST_MISSING = 4.0  # words for each covered one: the same
LONGEST_INITIALS = 4  # "pk" for "primary key"
SPELT_OUT = 3  # letters, at least, of initials in a key: two stand for too much

# Fitted on questions that people wrote to keys of their own: `python -m benchmarks.recall --fit`.
WEIGHTS = {
    "any": 2.54,
    "covered": 0.7,  # words of the key
    "missing": -0.78,  # words of the question that the key lacks, for each word that it has
    "unasked": -2.36,  # share of the key's words that the question lacks
    "replaced": -2.63,  # there are both: "cache service port" is not the "auth service port"
    "bare": -2.32,  # words are missing, and no idle word shows that it is a sentence
    "slips": -1.73,  # share of the key's letters
}


class KeyFit(NamedTuple):
    """How a question fits a key."""

    features: tuple[float, ...]  # in the order of the weights
    missing: tuple[str, ...]  # words of the question that the key lacks

    @property
    def score(self) -> float:
        return sum(map(float.__mul__, WEIGHTS.values(), self.features))


def probabilities(scores: Sequence[float]) -> list[float]:
    """Of each key that it is meant, among these and none."""
    highest = max(0.0, *scores) if scores else 0.0
    powers = [exp(score - highest) for score in scores]
    total = exp(-highest) + sum(powers)
    return [power / total for power in powers]


class QuestionWords:
    """The words of a question, and the words of keys that they stand for."""

    def __init__(
        self, words: Sequence[str], wrong_letters: Mapping[tuple[str, str], float]
    ) -> None:
        """`wrong_letters`: the share of wrong letters for pairs of a word and one of a key."""
        self.words = words
        self.telling = [i for i, word in enumerate(words) if not is_idle(word)]
        self.idle = [i for i, word in enumerate(words) if is_idle(word)]
        self.joined = "".join(words)
        self.known = {typed for typed, meant in wrong_letters if typed == meant}
        self.of_keys = list({meant for _, meant in wrong_letters})
        self._standing_for: dict[str, list[tuple[float, int]]] = {}
        for i in self.idle:
            self._standing_for.setdefault(words[i], []).append((0.0, i))
        for (typed, meant), share in wrong_letters.items():
            places = ((share, i) for i, word in enumerate(words) if word == typed)
            self._standing_for.setdefault(meant, []).extend(places)

    def pair(self, key_words: Sequence[str], most: float) -> dict[int, tuple[int, float]]:
        """The words of a key, each with a word of the question and its share of wrong letters, the
        best pairs first."""
        alike = [
            (share, i, j)
            for j, meant in enumerate(key_words)
            for share, i in self._standing_for.get(meant, ())
            if share <= most
        ]
        pairs: dict[int, tuple[int, float]] = {}
        used: set[int] = set()
        for share, i, j in sorted(alike):
            if j not in pairs and i not in used:
                pairs[j] = i, share
                used.add(i)
        return pairs


def fit_key(
    question: QuestionWords, key: str, key_words: Sequence[str], threshold: float
) -> KeyFit | None:
    """How a question fits a key; None if they have no word in common.

    `threshold`: so large a share of a word's letters must be right.
    """
    pairs = question.pair(key_words, 1 - threshold)
    meant, typed = set(pairs), {i for i, _ in pairs.values()}
    slips = sum(share for _, share in pairs.values())
    scope = scope_length(key)
    missing = [i for i in question.telling if i not in typed]
    if missing and len(meant) < len(key_words):
        unasked = [j for j, word in enumerate(key_words) if j not in meant and not is_idle(word)]
        _cover_joined(question.words, missing, typed, key_words, meant)
        _cover_joined(key_words, unasked, meant, question.words, typed, SPELT_OUT)
        whole = _slip_anywhere(question, key_words[scope:], threshold)
        if whole is not None:
            typed, meant = set(range(len(question.words))), set(range(len(key_words)))
            slips = whole * len(key_words)
        missing = [i for i in missing if i not in typed]
    telling = [j for j in range(scope, len(key_words)) if not is_idle(key_words[j])]
    if meant.isdisjoint(telling or range(scope, len(key_words))):
        return None
    left_out = sum(
        1.0 if j in telling else LEFT_OUT for j in range(len(key_words)) if j not in meant
    )
    is_sentence = not typed.issuperset(question.idle)
    weight = len(meant) + left_out
    features = (
        1.0,
        float(min(len(meant), MOST_EVIDENCE)),
        min(len(missing) / len(typed), MOST_MISSING),
        left_out / weight,
        float(min(len(missing), left_out, 1)),
        float(bool(missing) and not is_sentence),
        slips / weight,
    )
    return KeyFit(features, tuple(question.words[i] for i in missing))


def _cover_joined(
    words: Sequence[str],
    places: Sequence[int],
    covered: set[int],
    others: Sequence[str],
    others_covered: set[int],
    shortest: int = 2,
) -> None:
    """Cover the words at the places that are others written together, or their initials:
    "codeowners", "pk"."""
    for i in places:
        if i in covered:
            continue
        word = words[i]
        spelt_out = shortest <= len(word) <= LONGEST_INITIALS and word not in abbreviations()
        for first, other in enumerate(others):
            if other[0] == word[0]:
                run = _joined_run(word, others, first, spelt_out)
                if run:
                    covered.add(i)
                    others_covered.update(run)


def _joined_run(word: str, others: Sequence[str], first: int, spelt_out: bool) -> range | None:
    """The places of the words from the first on that the word is made of, two or more."""
    joined = initials = ""
    for end in range(first, min(first + LONGEST_INITIALS, len(others))):
        joined += others[end]
        initials += others[end][0]
        if end > first and (joined == word or (spelt_out and initials == word)):
            return range(first, end + 1)
    return None


def _slip_anywhere(
    question: QuestionWords, key_words: Sequence[str], threshold: float
) -> float | None:
    """The share of letters in which the whole texts differ by one slip, blanks aside.

    None if they differ by more, or if the slip makes a word that some key has.
    """
    typed, meant = question.joined, "".join(key_words)
    if typed == meant:
        return 0.0
    share = slip_share(typed, meant, 1) if abs(len(typed) - len(meant)) <= 1 else None
    if share is None or share > 1 - threshold or digits(typed) != digits(meant):
        return None
    if any(word in question.known for word in question.words if word not in key_words):
        return None
    return share
