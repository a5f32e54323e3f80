"""Whether two texts of nearly the same words say the same, or contradict each other.

Knows no note.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import accumulate, chain, islice, pairwise
from unicodedata import normalize

from nuggets.language.languages import detect_language, stems
from nuggets.language.text import LETTER, fold_case, tokens
from nuggets.language.word_lists import (
    ENGLISH,
    equivalent_words,
    filler_words,
    opposites,
    stances,
    stop_words,
)
from nuggets.named_tuple import NamedTuple

# --- the same ---------------------------------------------------------------------------------

# The key words of two texts that say the same follow each other in the same order, so that "tabs
# over spaces" is not "spaces over tabs" and "thirty seconds" not "sixty seconds". They are the same
# only if they are written so: `-d` is not `-D`, nor "US" "us". What prose puts around words says
# nothing, nor the capital that a sentence begins with.
_VARIANTS = str.maketrans("‘’“”„–−", '\'\'"""--', "`")
_BOLD = re.compile(r"(?<![\w*/.])\*\*(\w[^*\n]*)\*\*(?![\w*/])")
_PROSE_MARKS = re.compile(
    r"""
    ^[("'«]++(?=\w)
    | (?<=[^.)"'»,;:!…])[)"'»]*+(?:(?<!/)\.|[,;:!…])?[)"'»]*+$
    | ^-$ | (?<=\w)-(?=\w\w) | [—。，、：；！（）「」『』【】《》]
    """,
    re.VERBOSE,
)
_LETTERS = re.compile(rf"(?:{LETTER}|_)+(?:'{LETTER}+)*")
_LONE_LETTER = re.compile("[b-hj-z]", re.IGNORECASE)  # "a" and "i" are English words
_NEGATED = re.compile(r"n['’]t\b", re.IGNORECASE)
SHORTEST_PLURAL = 4  # letters: "pods" is a plural, "gas" is not
_PLAIN_WORD = re.compile(r"\w+")


class Phrase(NamedTuple):
    """A key word, and the fillers before it."""

    word: str
    fillers: frozenset[str]
    is_capitalised: bool | None  # None: as the first word of a sentence may be


def key_words(text: str) -> tuple[str, ...]:
    """The words that carry the meaning of a text, in order, in the singular."""
    return tuple(_key_word(word) for word in _words(text) if word not in filler_words())


def _words(text: str) -> list[str]:
    plain = _NEGATED.sub(" not", fold_case(text)).replace("'", "").replace("’", "")
    return _PLAIN_WORD.findall(plain)


def _key_word(word: str) -> str:
    """One word for those that say the same, without the s of an English plural."""
    word = equivalent_words().get(word, word)
    is_plural = len(word) >= SHORTEST_PLURAL and word[-1] == "s" and word[-2] not in "isu"
    return word[:-1] if is_plural else word


# A word more can turn a sentence ("rarely", "refuses to"), and no list has all that do. So what one
# text says more must be whole sentences, which leave the others as they are; or words at its very
# end, if it is English and none of them is known to limit or to turn a statement. A line ends one,
# and the mark of a list item or a heading begins the next.
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')]*\s+|\n+(?:[ \t]*(?:[-*+•]|#{1,6})(?=[ \t]))?|(?<=[。！？])"
)
# fillers that may stand in the place of any other
_WEIGHTLESS = {"a", "an", "are", "be", "been", "get", "gets", "is", "the"}
_DIRECTIONS = {"above", "after", "before", "below", "by", "from", "into", "over", "to", "under"}
LIMITING = """
allegedly almost barely earlier eventually formerly generally hardly later maybe mainly
mostly nearly normally occasionally often partly perhaps possibly previously probably rarely
scarcely seldom sometimes supposedly unlikely usually
contrary fail failed false instead obsolete opposite untrue wrong yet
"""


def says_all(text: str, other: str) -> bool:
    """Whether a text says all that the other one says, and nothing else of it."""
    rest = [phrase for sentence in _sentences(other) for phrase in sentence]
    ends = {0, *accumulate(map(len, _sentences(other)))}
    sentences = _sentences(text)
    at = 0
    for number, sentence in enumerate(sentences, 1):
        part = rest[at : at + len(sentence)]
        is_whole = len(part) == len(sentence)
        may_go_on = bool(part) and number == len(sentences)
        if (is_whole or may_go_on) and all(map(_are_alike, part, sentence)):
            if not is_whole and not _only_adds(text, sentence[len(part) :]):
                return False
            at += len(part)
        elif at not in ends:
            return False
    return at == len(rest)


def _are_alike(a: Phrase, b: Phrase) -> bool:
    """Fillers come and go, but "in" is not "on", nor "our" "your"."""
    capitals = {a.is_capitalised, b.is_capitalised}
    has_same_case = None in capitals or len(capitals) == 1
    return a.word == b.word and has_same_case and (a.fillers <= b.fillers or b.fillers <= a.fillers)


def _only_adds(text: str, phrases: tuple[Phrase, ...]) -> bool:
    added = {phrase.word.lower() for phrase in phrases}
    is_english = detect_language(tokens(fold_case(text))) == ENGLISH
    weak = stop_words() | stances()["for"] | stances()["neither"]
    return is_english and not _details(phrases) and added.isdisjoint(_turning_words() | weak)


def _details(phrases: Iterable[Phrase]) -> list[str]:
    """Numbers, paths, signs, single letters and negations, in order."""
    return [word for word, *_ in phrases if _is_detail(word)]


def _is_detail(word: str) -> bool:
    is_plain = _LETTERS.fullmatch(word) and not _LONE_LETTER.fullmatch(word)
    return not is_plain or word in stances()["negations"]


@cache
def _turning_words() -> frozenset[str]:
    return _rejecting_words().union(LIMITING.split(), opposites(), opposites().values())


@lru_cache(maxsize=1024)  # of many notes that are alike each is compared with all others
def _sentences(text: str) -> tuple[tuple[Phrase, ...], ...]:
    plain = _BOLD.sub(r"\1", normalize("NFC", text).translate(_VARIANTS))
    if plain.isupper():
        plain = plain.lower()  # where all letters are capitals, they say nothing
    read = map(_read_phrases, _SENTENCE_END.split(f"\n{_NEGATED.sub(' not', plain)}"))
    return tuple(phrases for phrases in read if phrases)


def _read_phrases(sentence: str) -> tuple[Phrase, ...]:
    fillers: set[str] = set()
    phrases: list[Phrase] = []
    bare = " ".join(_PROSE_MARKS.sub(" ", written) for written in sentence.split())
    for number, written in enumerate(bare.split()):
        is_plain = bool(_LETTERS.fullmatch(written))
        word = written.replace("'", "") if is_plain else written
        is_name = is_plain and word[0].isupper() and word[1:] == word[1:].lower()
        word = word.lower() if is_name else word
        if word in filler_words() and not (is_name and number):
            fillers.add(word)
        else:
            key = _key_word(word) if is_plain else word
            is_capitalised = is_name if number else None
            phrases.append(Phrase(key, frozenset(fillers - _WEIGHTLESS), is_capitalised))
            fillers = set()
    return tuple(phrases)


def may_name_the_same(title: str, other: str, text: str) -> bool:
    """Whether one of two titles of a text has all words of the other, in any form ("backups", "time
    zones"), and the same numbers, signs, single letters and negations.

    Their order is free unless one of them gives it a meaning: "tabs over spaces". A word right
    before another limits it, so the text must have it too: "winter tyres" may be "tyres", but "bad
    ideas" are not "ideas"; nor is "deploy wrong" how to deploy.
    """
    phrases, others = (chain(*_sentences(fold_case(name))) for name in (title, other))
    if _details(phrases) != _details(others):
        return False
    longer, shorter = sorted((key_words(title), key_words(other)), key=len, reverse=True)
    if "".join(longer) == "".join(shorter):
        return bool(longer) or fold_case(title) == fold_case(other)
    if not shorter or not _turning_words().isdisjoint(set(longer).difference(shorter)):
        return False
    all_words, words = stems(longer), stems(shorter)
    said = {*words, *stems(key_words(text))}
    if any(not said.issuperset(_qualifiers(name)) for name in (title, other)):
        return False
    if _DIRECTIONS.isdisjoint(longer):
        return set(words) <= set(all_words)
    remaining = iter(all_words)
    return all(word in remaining for word in words)


def _qualifiers(title: str) -> list[str]:
    """The stems of the words that stand right before another one, no filler between them."""
    pairs = pairwise(_words(title))
    before = (word for word, *after in pairs if filler_words().isdisjoint((word, *after)))
    return stems(tuple(map(_key_word, before)))


# --- contradictions ---------------------------------------------------------------------------

# A statement is read as claims, each about some words and for or against them: "do not log request
# bodies" is against {log, request, body}, "use pnpm, not npm" for {pnpm} and against {npm}. Two
# statements contradict each other if one is for exactly what the other is against, or if they
# prefer or order two things the other way round.
READ_CHARACTERS = 8000  # of a text, which bounds the time: 30 statements of 240 characters
LONGEST_STATEMENT = 240  # characters of a statement: what is longer is an account, not a rule
MOST_STATEMENTS = 30  # of one text: each is compared with each of another
MOST_WORDS = 12  # that a claim is about: no two people state a longer one in the same words

Words = frozenset[str]

_SENTENCE = re.compile(r"[.!?;:]\s+|\n+|,\s+(?=(?:always|avoid|do|don['’]t|never|prefer|use)\s)")
_WORD = re.compile(r"\w+(?:[./+#-]\w+)*")
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|anstatt|statt|anstelle von|au lieu de|plutôt que"
    r"|en lugar de|en vez de)\b|,\s*(?:and |but )?not\b|,\s*nicht\b"
)
_OVER = re.compile(r"\bover\b|\bto\b")  # only after a word of preference
_PREFERS = re.compile(r"\b(?:prefer|favou?r|choose)\w*\b")
_BEFORE = re.compile(r"\b(?:before|above|ahead of|vor|antes de|avant)\b")
_AFTER = re.compile(r"\b(?:after|below|nach|después de|après)\b")


class Claim(NamedTuple):
    """What a statement is for, or against."""

    words: Words  # stems
    wanted: bool


class Statement(NamedTuple):
    """One sentence, as far as it states a rule."""

    claims: tuple[Claim, ...]
    pair: tuple[str, Words, Words] | None = None  # "prefer" or "order", the first, the second

    @property
    def topics(self) -> tuple[Words, ...]:
        """Sets of words of which two contradictory statements share one."""
        own = [claim.words for claim in self.claims]
        return (*own, self.pair[1] | self.pair[2]) if self.pair else tuple(own)


def deny_each_other(text: str, other: str) -> bool:
    """Whether a statement of one text contradicts one of the other."""
    return any(contradict(a, b) for a in statements(text) for b in statements(other))


def contradict(a: Statement, b: Statement) -> bool:
    """Whether both cannot hold."""
    if a.pair and b.pair and a.pair[0] == b.pair[0] and _are_reversed(a.pair[1:], b.pair[1:]):
        return True
    denied = {claim._replace(wanted=not claim.wanted) for claim in a.claims}
    return not denied.isdisjoint(b.claims)


def _are_reversed(a: tuple[Words, Words], b: tuple[Words, Words]) -> bool:
    """Whether what comes first in one comes second in the other; what they share aside."""
    first, second = a[0] - b[0], a[1] - b[1]
    return bool(first and second) and first == b[1] - a[1] and second == b[0] - a[0]


@lru_cache(maxsize=1024)
def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text, as far as they can be read as rules."""
    parts = _SENTENCE.split(fold_case(text[:READ_CHARACTERS]))
    sentences = (part for part in parts if part.strip())
    read = (
        _read(part) for part in islice(sentences, MOST_STATEMENTS) if len(part) <= LONGEST_STATEMENT
    )
    return tuple(statement for statement in read if statement.claims or statement.pair)


def _read(sentence: str) -> Statement:
    sentence = _NEGATED.sub(" not", sentence).replace("cannot", "can not")
    instead = _INSTEAD.search(sentence)
    if instead is None and (preferring := _PREFERS.search(sentence)):
        instead = _OVER.search(sentence, preferring.end())
    if instead is not None:
        chosen, wanted = _content(sentence[: instead.start()], paired=True)
        rejected, _ = _content(sentence[instead.end() :], paired=True)
        if not wanted:
            chosen, rejected = rejected, chosen
        claims = (*_claims(chosen, wanted=True), *_claims(rejected, wanted=False))
        return Statement(claims, ("prefer", chosen, rejected))
    about, wanted = _content(sentence)
    claims = _claims(about, wanted=wanted)
    order = _BEFORE.search(sentence) or _AFTER.search(sentence)
    if order is None:
        return Statement(claims)
    first = _content(sentence[: order.start()], paired=True)[0]
    second = _content(sentence[order.end() :], paired=True)[0]
    if _AFTER.fullmatch(order[0]):
        first, second = second, first
    return Statement(claims, ("order", first, second))


def _claims(words: Words, *, wanted: bool) -> tuple[Claim, ...]:
    return (Claim(words, wanted),) if 0 < len(words) <= MOST_WORDS else ()


def _content(text: str, *, paired: bool = False) -> tuple[Words, bool]:
    """The stems of what a text is about, and whether it is for that: each negation turns it.

    `paired`: it is one of two things, which opposites tell apart.
    """
    fillers, rejecting = _filler_words(), _rejecting_words()
    opposite = {} if paired else opposites()
    about: list[str] = []
    wanted = True
    for word in _WORD.findall(text):
        if word in rejecting:
            wanted = not wanted
        elif word in opposite:
            wanted = not wanted
            about.append(opposite[word])
        elif word not in fillers:
            about.append(word)
    return frozenset(stems(about)), wanted


@cache
def _rejecting_words() -> frozenset[str]:
    return stances()["against"] | stances()["negations"]


@cache
def _filler_words() -> frozenset[str]:
    return stances()["for"] | stances()["neither"] | filler_words()
