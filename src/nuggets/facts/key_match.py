"""Which fact a question means. Knows no value and no page.

By default the most probable key answers. With `recall_min_probability` 0 the documented order alone
decides: exact, then substring, then the best ratio.
"""

from collections.abc import Callable, Sequence

from nuggets.domain.records import MatchKind
from nuggets.domain.visibility import first_in_precedence, is_foreign
from nuggets.facts.key_probability import (
    EXACT,
    KeyFit,
    QuestionWords,
    fit_key,
    probabilities,
)
from nuggets.facts.key_table import Candidate, KeyTable
from nuggets.facts.key_words import (
    are_forms,
    is_cut,
    is_inflected,
    may_be_cut,
    split_words,
    synonyms_of,
    telling_places,
    word_kinds,
    wrong_letters,
)
from nuggets.language.languages import detect_language
from nuggets.language.text import fold_case
from nuggets.language.word_lists import abbreviations
from nuggets.named_tuple import NamedTuple

MOST_RATIOS = 3  # computed to decide between equals: one takes 5 µs on keys of benchmarks/facts.py


class KeyMatch(NamedTuple):
    """A key that a question may mean."""

    fact: Candidate
    kind: MatchKind
    ratio: float
    probability: float  # that it is meant
    fit: KeyFit = KeyFit((), ())


class Question(NamedTuple):
    """What is asked, of whom, and how sure an answer must be."""

    text: str
    nugget: str | None  # folded; None: all
    project: str
    min_probability: float
    threshold: Callable[[str], float]  # the `fuzzy_threshold` of a nugget


def find_matches(table: KeyTable, question: Question) -> list[KeyMatch]:
    """The keys that the question may mean, best first; none if they are too improbable.

    Facts of other projects answer only if this project has none that does.
    """
    exact = table.equal(fold_case(question.text), question.nugget)
    own = [fact for fact in exact if not is_foreign(fact, question.project)]
    if own or not any(map(str.isalnum, question.text)):
        return _equal(own or exact, question)
    find = _match_as_documented if question.min_probability <= 0 else _match_by_probability
    words = question_words(table, question.text)
    return (
        find(table, question, words, foreign=False)
        or _equal(exact, question)
        or find(table, question, words, foreign=True)
    )


def _equal(facts: Sequence[Candidate], question: Question) -> list[KeyMatch]:
    """The facts with that very key: the project's own before those of none, then the oldest."""
    first = first_in_precedence(facts, question.project)
    if not first:
        return []
    is_own = first[0].project == question.project
    rest = [fact for fact in facts if fact not in first and not is_own]
    share = EXACT / len(first)
    return [
        *(KeyMatch(fact, "exact", 1.0, share) for fact in first),
        *(KeyMatch(fact, "exact", 1.0, 0.0) for fact in rest),
    ]


def question_words(table: KeyTable, text: str) -> QuestionWords:
    """The words of a question, and the words of keys that they stand for."""
    typed = split_words(text)
    language = detect_language(typed)
    kinds = word_kinds(typed, language)
    telling = list(dict.fromkeys(typed[i] for i in telling_places(kinds))) or list(typed)
    pairs = table.similar_words(telling)
    pairs |= {(word, other) for word in telling for other in abbreviations().get(word, ())}
    shares = ((pair, wrong_letters(*pair, (pair[0], pair[0]) in pairs)) for pair in pairs)
    alike = {pair: share for pair, share in shares if share is not None}
    same = {pair for pair, share in alike.items() if not share}
    others = _read_as(table, telling, {word for word, _ in same})
    others |= {pair for pair in pairs if are_forms(*pair)}
    plain_forms = {pair for pair in same if is_inflected(*pair) or not are_forms(*pair)}
    return QuestionWords(typed, language, kinds, alike, others - plain_forms)


def _read_as(table: KeyTable, words: Sequence[str], known: set[str]) -> set[tuple[str, str]]:
    """Each word with the words of keys that are forms of its synonyms; and with those that it
    begins, if it is not `known` as a word of keys, or a form of one."""
    listed = {word: synonyms_of(word) for word in words}
    forms = table.forms_of({other for others in listed.values() for other in others})
    meant: dict[str, list[str]] = {}
    for other, key_word in forms:
        if are_forms(other, key_word):
            meant.setdefault(other, []).append(key_word)
    cut = table.beginning_with(word for word in words if word not in known and may_be_cut(word))
    return {
        *(
            (word, key_word)
            for word in words
            for o in listed[word]
            for key_word in meant.get(o, ())
        ),
        *((word, key_word) for word, key_word in cut if is_cut(word, key_word)),
    }


def compare_keys(
    table: KeyTable, question: Question, words: QuestionWords, *, foreign: bool = False
) -> list[tuple[Candidate, KeyFit]]:
    """The keys that share a word with the question, and how they fit: those that the project sees,
    or the foreign ones."""
    facts = table.with_words(words.of_keys, question.nugget, question.project, foreign=foreign)
    nuggets = {fact.nugget for fact in facts}
    settings = {name: (question.threshold(name), split_words(name)) for name in nuggets}
    by_key: dict[str, list[Candidate]] = {}
    for fact in facts:
        by_key.setdefault(fact.key, []).append(fact)
    fits = (
        (fact, fit_key(words, fact.key, fact.words.split(), *settings[fact.nugget]))
        for alike in by_key.values()
        for fact in (first_in_precedence(alike, question.project) if len(alike) > 1 else alike)
    )
    asked = fold_case(question.text)
    return [
        (fact, fit)
        for fact, fit in fits
        # As documented for misspelt texts: one misspelt word is no evidence for a long key.
        if fit
        and not (
            fit.has_only_slips
            and fit.unasked
            and ratio(fact.key, asked) < question.threshold(fact.nugget)
        )
    ]


def _match_by_probability(
    table: KeyTable, question: Question, words: QuestionWords, *, foreign: bool
) -> list[KeyMatch]:
    """The most probable keys, if one of them is probable enough, or if it is that some key is meant
    of those which have all that was asked for."""
    fits = compare_keys(table, question, words, foreign=foreign)
    chances = probabilities([fit.score for _, fit in fits])
    alike = sum(chance for (_, fit), chance in zip(fits, chances, strict=True) if fit.has_all)
    if not fits or max(alike, *chances) < question.min_probability:
        return []
    asked = fold_case(question.text)
    matches = [
        KeyMatch(fact, *_kind(fact.key, asked), min(chance, EXACT), fit)  # nothing is surer
        for (fact, fit), chance in zip(fits, chances, strict=True)
    ]
    return sorted(_with_ratios(matches, asked), key=_rank)


def _with_ratios(matches: Sequence[KeyMatch], asked: str) -> list[KeyMatch]:
    """Those of the most probable matches that are nearest in length with their ratios, which
    decide between equals."""
    best = max(round(match.probability, 6) for match in matches)
    equals = [m for m in matches if m.kind == "fuzzy" and round(m.probability, 6) == best]
    equals.sort(key=lambda match: abs(len(match.fact.key) - len(asked)))
    nearest = {
        m.fact.place: m._replace(ratio=ratio(m.fact.key, asked)) for m in equals[:MOST_RATIOS]
    }
    return [nearest.get(match.fact.place, match) for match in matches]


def _rank(match: KeyMatch) -> tuple[float, int, bool, float, int]:
    """By probability; of equals those with the words as typed, then in the documented order."""
    read_as = len(match.fit.read_as)
    is_fuzzy, place = match.kind == "fuzzy", match.fact.place
    return -round(match.probability, 6), read_as, is_fuzzy, -match.ratio, place


def _kind(key: str, asked: str) -> tuple[MatchKind, float]:
    """The documented kind of a match, and its ratio."""
    short, long = sorted((key, asked), key=len)
    if short in long:
        return "substring", 2 * len(short) / (len(short) + len(long))
    return "fuzzy", 0.0


def ratio(key: str, asked: str) -> float:
    """The documented measure of similarity (Ratcliff and Obershelp), as `difflib` computes it: the
    letters of the longest run that both have, and of those before and after it."""
    pairs, same = [(key, asked)], 0
    while pairs:
        a, b = pairs.pop()
        start = size = 0
        for i in range(len(a)):
            while i + size < len(a) and a[i : i + size + 1] in b:
                start, size = i, size + 1
        if size:
            at = b.find(a[start : start + size])
            same += size
            pairs += (a[:start], b[:at]), (a[start + size :], b[at + size :])
    return 2 * same / (len(key) + len(asked))


def _match_as_documented(
    table: KeyTable, question: Question, words: QuestionWords, *, foreign: bool
) -> list[KeyMatch]:
    """Substring either way, whole words first, then closest in length; else the best ratio."""
    asked = fold_case(question.text)
    every = table.every(question.nugget)
    facts = [fact for fact in every if is_foreign(fact, question.project) is foreign]
    kinds = [(fact, *_kind(fact.key, asked)) for fact in facts]
    parts = [KeyMatch(fact, kind, close, 0.0) for fact, kind, close in kinds if kind != "fuzzy"]
    matches = sorted(parts, key=lambda match: (not _is_whole(match, asked), *_rank(match)))
    if not parts:
        similar = [KeyMatch(fact, "fuzzy", ratio(fact.key, asked), 0.0) for fact in facts]
        near = [m for m in similar if m.ratio >= question.threshold(m.fact.nugget)]
        matches = sorted(near, key=_rank)
    chances = _match_by_probability(table, question, words, foreign=foreign)
    probable = {match.fact.place: match for match in chances}
    return [
        match._replace(probability=known.probability, fit=known.fit)
        if (known := probable.get(match.fact.place))
        else match
        for match in matches
    ]


def _is_whole(match: KeyMatch, asked: str) -> bool:
    """Whether one contains the other in whole words."""
    words, others = f" {match.fact.words} ", f" {' '.join(split_words(asked))} "
    return words in others or others in words
