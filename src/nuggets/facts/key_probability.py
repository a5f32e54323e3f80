"""How probable it is that a question means a key. Knows no value and no table.

Each key that shares a word with the question gets a score: a weighted sum of features that say how
far the words of question and key cover each other. The probability of a key is then
e^score / (1 + Σ e^score) over all these keys. So keys that fit equally well share it, and the 1
stands for "none of them".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import exp

from nuggets.facts.key_words import (
    NEGATION,
    SHORTEST_MISSPELT,
    TELLING,
    digits,
    scope_length,
    shared_start,
    slip_share,
    telling_places,
    word_kinds,
)
from nuggets.language.word_lists import abbreviations, contrasts
from nuggets.named_tuple import NamedTuple

EXACT = 0.99  # that the key itself was meant, where the question is the key: measured 1.00
LEFT_OUT = 0.5  # what a key's scope and its idle words weigh: people leave them out
MOST_EVIDENCE = 3  # covered words: more make no difference
MOST_MISSING = 4.0  # words for each covered one: the same
LONGEST_INITIALS = 4  # "pk" for "primary key"
SWAPPED = 2  # words that change places, around a third one
ARTICLES = {"a", "an", "the"}
SPELT_OUT = 3  # letters, at least, of initials in a key: two stand for too much

# Fitted on questions that people wrote to keys of their own: `python -m benchmarks.recall --fit`.
WEIGHTS = {
    "any": 3.19,
    "covered": 0.22,  # words of the key
    "missing": -1.39,  # words of the question that the key lacks, for each word that it has
    "unasked": -1.49,  # share of the key's words that the question lacks
    "replaced": -2.17,  # there are both: "cache service port" is not the "auth service port"
    "bare": -2.39,  # words are missing, and no idle word shows that it is a sentence
    "slips": -0.37,  # share of the key's letters
}


class KeyFit(NamedTuple):
    """How a question fits a key."""

    features: tuple[float, ...]  # in the order of the weights
    missing: tuple[str, ...]  # words of the question that the key lacks
    negation: str = ""  # that only the key has
    swapped: tuple[str, ...] = ()  # two words of the question that change places in the key
    unasked: tuple[str, ...] = ()  # words of the key that the question lacks
    # words of the question, misspelt or other ones than the words of the key that they stand for
    read_as: tuple[tuple[str, str], ...] = ()
    has_only_slips: bool = False  # nothing but misspelt words shows which key is meant

    @property
    def score(self) -> float:
        return sum(map(float.__mul__, WEIGHTS.values(), self.features))

    @property
    def has_all(self) -> bool:
        """Does the key have all that the question asks for, and nothing against it?"""
        return not (self.missing or self.negation or self.swapped)

    def doubt(self, *, is_part: bool) -> str:
        """Why the key may not be what was meant; "" if nothing speaks against it.

        `is_part`: one of both is part of the other, so a part of the key was asked for.
        """
        reasons = []
        if self.missing:
            names = ", ".join(map(repr, self.missing))
            reasons.append(f"{names} {'are' if self.missing[1:] else 'is'} not in the key")
        alone = () if is_part else self.unasked
        alone += (self.negation,) if self.negation else ()
        if alone:
            names = ", ".join(map(repr, alone))
            reasons.append(f"{names} {'are' if alone[1:] else 'is'} in the key only")
        reasons += [f"{typed!r} is read as {meant!r}" for typed, meant in self.read_as]
        if self.swapped:
            reasons.append(f"{' and '.join(map(repr, self.swapped))} change places in the key")
        return ", ".join(reasons)


def probabilities(scores: Sequence[float]) -> list[float]:
    """Of each key that it is meant, among these and none."""
    highest = max(0.0, *scores) if scores else 0.0
    powers = [exp(score - highest) for score in scores]
    total = exp(-highest) + sum(powers)
    return [power / total for power in powers]


class QuestionWords:
    """The words of a question, and the words of keys that they stand for."""

    def __init__(
        self,
        words: Sequence[str],
        language: str,
        kinds: Mapping[int, str],
        wrong_letters: Mapping[tuple[str, str], float],
        other_words: Collection[tuple[str, str]] = (),
    ) -> None:
        """`wrong_letters`: the share of wrong letters for pairs of a word and one of a key;
        `other_words`: pairs of a word and another one of a key for which it stands."""
        self.words = words
        self.language = language
        self.kinds = kinds
        self.telling = telling_places(kinds)
        self.idle = set(range(len(words))).difference(self.telling)
        self.joined = "".join(words)
        self.known = {typed for typed, meant in wrong_letters if typed == meant}
        self.other_words = other_words
        self.of_keys = list({meant for _, meant in (*wrong_letters, *other_words)})
        self._standing_for: dict[str, list[tuple[float, int]]] = {}
        for i in self.idle:
            self._standing_for.setdefault(words[i], []).append((0.0, i))
        for (typed, meant), share in (
            *wrong_letters.items(),
            *((pair, 0.0) for pair in other_words),
        ):
            places = ((share, i) for i, word in enumerate(words) if word == typed)
            self._standing_for.setdefault(meant, []).extend(places)

    def pair(self, key_words: Sequence[str], most: float) -> dict[int, tuple[int, float]]:
        """The words of a key, each with a word of the question and its share of wrong letters, the
        best pairs first."""
        alike = [
            ((self.words[i], meant) in self.other_words, share, i, j)
            for j, meant in enumerate(key_words)
            for share, i in self._standing_for.get(meant, ())
            if share <= most
        ]
        pairs: dict[int, tuple[int, float]] = {}
        used: set[int] = set()
        for _, share, i, j in sorted(alike):
            if j not in pairs and i not in used:
                pairs[j] = i, share
                used.add(i)
        return pairs


def fit_key(
    question: QuestionWords,
    key: str,
    key_words: Sequence[str],
    threshold: float,
    nugget_words: Collection[str] = (),
) -> KeyFit | None:
    """How a question fits a key; None if they have no word in common.

    `threshold`: so large a share of a word's letters must be right. `nugget_words`: of the name of
    the nugget, which a question may say too.
    """
    pairs = question.pair(key_words, 1 - threshold)
    meant, typed = set(pairs), {i for i, _ in pairs.values()}
    typed.update(i for i in question.telling if question.words[i] in nugget_words)
    slips = sum([share for _, share in pairs.values()])
    scope = scope_length(key)
    kinds = word_kinds(key_words, question.language)
    telling = [j for j in telling_places(kinds) if j >= scope]
    missing = {i for i in question.telling if i not in typed}
    if missing and len(meant) < len(key_words):
        left = [j for j in telling if j not in meant]
        _cover_joined(question.words, sorted(missing), typed, key_words, meant)
        _cover_joined(key_words, left, meant, question.words, typed, SPELT_OUT)
        whole = _slip_anywhere(question, key_words[scope:], threshold)
        if whole is not None:
            typed, meant = set(range(len(question.words))), set(range(len(key_words)))
            slips = whole
    if meant.isdisjoint(telling or range(scope, len(key_words))):
        return None
    asked = {i: kind for i, kind in question.kinds.items() if i not in typed}
    known = {j: kind for j, kind in kinds.items() if j not in meant and j >= scope}
    if _has_number(question.words, asked) and _has_number(key_words, known):
        return None  # another number is another thing, wherever it stands
    if _shared_numbers(question.words, key_words) != _shared_numbers(key_words, question.words):
        return None  # 3.11 is not 11.3
    only_asked, only_known = _compare_negations(asked, typed, known, meant)
    swapped = _find_swapped(question, key_words, telling, pairs)
    is_opposite = only_asked is not None or only_known is not None or bool(swapped)
    covered = {question.words[i] for i in typed}
    missing = {i for i in question.telling if question.words[i] not in covered}  # asked twice: no
    weighty = set(telling)
    if asked and known:
        is_bare = question.idle.issubset(typed.union(asked))
        for i, j in _find_replaced(asked, known, pairs, is_bare):
            missing.add(i)
            weighty.add(j)
    left = [j for j in range(len(key_words)) if j not in meant]
    left_out = sum([1.0 if j in weighty else LEFT_OUT for j in left])
    lacking = len(missing) or len(swapped) or int(is_opposite)
    weight = len(meant) + left_out
    features = (
        1.0,
        float(min(len(meant) - max(len(swapped), is_opposite), MOST_EVIDENCE)),
        min(lacking / len(typed), MOST_MISSING),
        left_out / weight,
        1.0 if is_opposite else float(min(lacking, left_out, 1)),
        float(bool(lacking) and question.idle.issubset(typed.union(missing))),
        slips / weight,
    )
    lacked = dict.fromkeys([question.words[i] for i in sorted(missing)])  # each once
    unasked = tuple(key_words[j] for j in telling if j not in meant and j != only_known)
    stood_for = [((question.words[i], key_words[j]), share) for j, (i, share) in pairs.items()]
    return KeyFit(
        features,
        tuple(word for word in lacked if word not in covered),
        "" if only_known is None else key_words[only_known],
        tuple(question.words[i] for i in swapped),
        unasked,
        tuple(pair for pair, share in stood_for if share or pair in question.other_words),
        bool(pairs) and all(share for _, share in pairs.values()),
    )


def _has_number(words: Sequence[str], places: Iterable[int]) -> bool:
    return any(digits(words[place]) for place in places)


def _shared_numbers(words: Sequence[str], others: Collection[str]) -> list[str]:
    """The numbers that the other words have too, in order."""
    return [word for word in words if digits(word) and word in others]


def _compare_negations(
    asked: dict[int, str], typed: set[int], known: dict[int, str], meant: set[int]
) -> tuple[int | None, int | None]:
    """The places of a negation that only the question has, and of one that only the key has. One
    covers another: "never", "not"."""
    i = next((i for i, kind in asked.items() if kind == NEGATION), None)
    j = next((j for j, kind in known.items() if kind == NEGATION), None)
    if i is not None and j is not None:
        typed.add(i)
        meant.add(j)
        del asked[i], known[j]
        return None, None
    return i, j


def _find_swapped(
    question: QuestionWords,
    key_words: Sequence[str],
    telling: Sequence[int],
    pairs: Mapping[int, tuple[int, float]],
) -> tuple[int, ...]:
    """The places in the question of two words that have each other's place in the key.

    They follow the same preposition, and one stands between them ("postgres to mysql", `mysql to
    postgres`); or they stand right before and after the same word ("server calls client", `client
    calls server`; but the "script that deploys staging" is the `staging deploy script`).
    """
    if len(pairs) <= SWAPPED or (order := [pairs[j][0] for j in sorted(pairs)]) == sorted(order):
        return ()
    in_key = {j: pairs[j][0] for j in telling if j in pairs}
    in_question = {i: j for j, i in sorted(in_key.items(), key=lambda pair: pair[1])}
    prepositions = {j: i for j, (i, _) in pairs.items() if _is_preposition(key_words[j])}
    for j, i in prepositions.items():
        follows = next((at for at in in_question if at > i), None)
        known = next((at for at in in_key if at > j), None)
        if (
            follows is not None
            and known is not None
            and _have_between(in_question[follows], known, prepositions)
            and _have_between(follows, in_key[known], prepositions.values())
        ):
            return tuple(sorted((follows, in_key[known])))
    for j, i in in_key.items():
        left, right = _places_around(key_words, j)
        around = _places_around(question.words, i)
        if (in_key.get(right), in_key.get(left)) == around:
            return around
    return ()


def _is_preposition(word: str) -> bool:
    return contrasts().get(word) in ("direction", "place")


def _have_between(a: int, b: int, places: Iterable[int]) -> bool:
    return any(min(a, b) < place < max(a, b) for place in places)


def _places_around(words: Sequence[str], place: int) -> tuple[int, int]:
    """The places before and after one, articles aside."""
    left, right = place - 1, place + 1
    while left > 0 and words[left] in ARTICLES:
        left -= 1
    while right < len(words) and words[right] in ARTICLES:
        right += 1
    return left, right


def _find_replaced(
    asked: Mapping[int, str],
    known: Mapping[int, str],
    pairs: Mapping[int, tuple[int, float]],
    is_bare: bool,
) -> list[tuple[int, int]]:
    """Places of a word of the question and of another one of the key that stand before or after
    the same covered word. `asked`, `known`: the kinds of words that are not covered.

    Words that only ask replace none, and none replaces them.
    """
    in_question = {i: j for j, (i, _) in pairs.items()}
    in_key = {j: j for j in pairs}
    around = {j: _neighbours(j, in_key) for j in known}
    replaced = []
    for i, kind in asked.items():
        left, right = _neighbours(i, in_question)
        for j, other in known.items():
            other_left, other_right = around[j]
            is_before = right is not None and right == other_right
            is_after = left is not None and left == other_left
            if (is_before or is_after) and _is_contrast(kind, other, is_before, is_bare and i == 0):
                replaced.append((i, j))
    return replaced


def _is_contrast(kind: str, other: str, is_before: bool, is_bare: bool) -> bool:
    """Whether a word of a question and another one in its place of a key ask for two things."""
    if kind in (TELLING, NEGATION):
        return True
    if other in (TELLING, NEGATION):  # "after deploy", `prod deploy`
        return is_before and (kind == "direction" or (kind == "place" and is_bare))
    return {kind, other} == {"direction", "place"} or kind == other != "place"


def _neighbours(place: int, covered: Mapping[int, int]) -> tuple[int | None, int | None]:
    """The places in the key of the nearest covered words before and after a place."""
    before = [at for at in covered if at < place]
    after = [at for at in covered if at > place]
    return covered[max(before)] if before else None, covered[min(after)] if after else None


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
        word = words[i]
        if i in covered or word.isdigit():  # 3.5 is not 35
            continue
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
    """The share of wrong letters in a word, if the whole texts differ by one slip in it, blanks
    aside; None if they differ by more, or if the slip makes a word that some key has."""
    words, typed, meant = question.words, question.joined, "".join(key_words)
    if [*filter(digits, words)] != [*filter(digits, key_words)]:
        return None  # 1.12 is not 11.2
    if typed == meant:
        return 0.0
    if abs(len(typed) - len(meant)) > 1:
        return None
    changed = [word for word in words if word not in key_words]
    is_in_one_word = len(words) == len(key_words) and len(changed) == 1
    if is_in_one_word or digits(typed) != digits(meant) or question.known.intersection(changed):
        return None
    share = slip_share(typed, meant, 1)
    words_by_letter = [word for word in key_words for _ in word]
    misspelt = words_by_letter[min(shared_start(typed, meant), len(meant) - 1)]
    if share is None or len(misspelt) < SHORTEST_MISSPELT:
        return None
    share *= max(len(typed), len(meant)) / len(misspelt)
    return share if share <= 1 - threshold else None
