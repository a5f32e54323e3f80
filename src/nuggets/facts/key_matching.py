"""Whether a question means a key: as a substring or misspelt (fuzzy). Knows no value.

A memory that answers whatever it is asked is worse than none. A part of a key counts if it is whole
words, or the beginning of a word and long enough. A key within a question counts if the words
around it do not make it another thing: "product owner" is not the "product owner email". A similar
key counts if the question can be a misspelling of it.
"""

from collections.abc import Callable, Mapping

from nuggets.domain.records import MatchKind
from nuggets.facts.key_tokenizer import Form, is_dense, significant, strip_insignificant
from nuggets.facts.misspelling import WORD_START, misspelling_cost
from nuggets.named_tuple import NamedTuple


class Match(NamedTuple):
    """A key that the question may mean."""

    kind: MatchKind
    ratio: float
    whole: bool  # in whole words
    place: int  # of the fact
    rivals: tuple[int, ...] = ()  # places of others that fit in the same way, best first
    complete: bool = True  # the key covers every significant word of the question
    cost: int = 0  # of the misspelling


class _Overlap(NamedTuple):
    """How a key and a question contain each other; they sort from best to worst."""

    is_inside_word: bool
    difference: int  # in letters
    place: int
    shared: int  # letters
    complete: bool


def significant_part(query: Form) -> str:
    """The part of a question that a key could contain; "" if it is too short."""
    part = strip_insignificant(query.spaced)
    return part if len(part) > 1 or is_dense(part) else ""


def substring(query: Form, keys: Mapping[int, Form]) -> Match | None:
    """Of the keys that contain the question or are contained in it, the closest in length."""
    question, part = query.spaced, significant_part(query)
    if not part:
        return None
    overlaps: list[_Overlap] = []
    for place, key in keys.items():
        text = key.spaced
        if key.scoped and text not in question and part not in text:
            text = key.without_scope
        is_part = part in text
        whole = _part_of_key(part, text) if is_part else _part_of_question(text, question)
        if whole is not None:
            complete = is_part or _significant_count(text) >= _significant_count(question)
            shared = min(len(part), len(text))
            difference = abs(len(text) - len(part))
            overlaps.append(_Overlap(not whole, difference, place, shared, complete))
    if not overlaps:
        return None
    best, *rest = sorted(overlaps)
    ratio = 2 * best.shared / (len(keys[best.place].spaced) + len(question))
    whole = not best.is_inside_word
    rivals = tuple(rival.place for rival in rest if rival.is_inside_word == best.is_inside_word)
    return Match("substring", ratio, whole, best.place, rivals, best.complete)


def _significant_count(spaced: str) -> int:
    return len(significant(spaced.split(" ")))


def _part_of_key(part: str, key: str) -> bool | None:
    """True: in whole words; False: as the beginning of a word; None: by accident."""
    whole = f" {part} " in f" {key} "
    return whole if whole or _is_word_start(part, key) else None


def _part_of_question(key: str, question: str) -> bool | None:
    """The same for a key within a question.

    A significant word right before or after the key makes it another thing: whoever asks for the
    "type checker version" does not mean the "type checker". A key of one word must be the only
    significant word: a question about "the port of the mail server" does not mean the "port".
    """
    if key not in question:
        return None
    whole = f" {key} " in f" {question} "
    key_words, words = significant(key.split(" ")), significant(question.split(" "))
    if not key_words or not (whole or _is_word_start(key, question)):
        return None
    if len(key_words) == 1:
        is_alone = len(words) == 1 and (whole or 2 * len(key) >= len(words[0]))
        return whole if is_alone else None
    before, _, after = f" {question} ".partition(f" {key} " if whole else f" {key}")
    following = after.split(" ")[0 if whole else 1 :]
    neighbours = [*before.split()[-1:], *" ".join(following).split()[:1]]
    return None if significant(neighbours) else whole


def _is_word_start(inner: str, outer: str) -> bool:
    """Whether the inner text is long enough and stands at the beginning of a word."""
    if is_dense(inner.replace(" ", "")):
        return len(inner) > 1
    return len(inner) >= WORD_START and f" {inner}" in f" {outer}"


def fuzzy(
    query: Form,
    keys: Mapping[int, Form],
    threshold: float,
    is_known: Callable[[str], bool] = lambda word: False,
) -> Match | None:
    """The plausible key with the best Ratcliff–Obershelp ratio, if that reaches the threshold.

    `is_known` tells whether some key has a word: such a word was not mistyped.
    """
    matches: list[Match] = []
    for place, key in keys.items():
        cost = misspelling_cost(query, key, threshold)
        if cost is None:
            continue
        from difflib import SequenceMatcher

        ratio = SequenceMatcher(None, key.text, query.text, autojunk=False).ratio()
        if ratio >= threshold and not _has_other_word(query, key, is_known):
            matches.append(Match("fuzzy", ratio, True, place, cost=cost))
    if not matches:
        return None
    best, *rest = sorted(matches, key=lambda match: (-match.ratio, match.place))
    return best._replace(rivals=tuple(match.place for match in rest))


def _has_other_word(query: Form, key: Form, is_known: Callable[[str], bool]) -> bool:
    """Whether a known word of the question is neither in this key, nor a beginning or long form of
    a word there: "test cmd" is not the "text cmd" where tests are known."""
    meant = key.spaced.split(" ")
    others = (
        word
        for word in query.spaced.split(" ")
        if not any(one.startswith(word) or word.startswith(one) for one in meant)
    )
    return any(map(is_known, others))


def key_lengths(query: Form, threshold: float) -> tuple[float, float]:
    """Letters of the shortest and the longest key: a ratio is at most 2·min/(sum of lengths)."""
    size = len(query.text)
    longest = (2 - threshold) * size / threshold if threshold > 0 else float("inf")
    slack = 1e-9  # (2 - 0.8) * 8 / 0.8 is a little less than 12
    return threshold * size / (2 - threshold) - slack, longest + slack
