"""Whether a question is answered: nothing is known of it, little, an answer is found, or a clear
one. What counts as recalled, and whether `recall` found anything, follow the last.
"""

from math import exp, log
from typing import TYPE_CHECKING, Literal

from nuggets.domain.visibility import is_foreign
from nuggets.language.dates import date_labels, query_labels, written_dates
from nuggets.language.languages import is_stop
from nuggets.language.text import fold_case, tokens, words
from nuggets.language.word_lists import conversation_words
from nuggets.search.weights import WEIGHTS, rarity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nuggets.domain.records import SearchNotesResult
    from nuggets.search.query import Query
    from nuggets.search.ranking import Signal

RESULTS_COMPARED = 5  # with each other and the question: the best, as many as a search shows
MOST_QUOTED = 8  # words of a question that are told to be known, and not to be: ours, a line
DIGITS = 9  # of shares and relevances; smaller differences are rounding errors

Degree = Literal["nothing", "little", "found"]  # how much is known


def is_near(signal: "Signal") -> bool:
    """Whether the note may be a result. Evidence is compared without the boost, which says how far
    to trust a note and not what it is about. A note that has nothing to do with the question has
    0.21, half the weight of the vector."""
    return signal.evidence > WEIGHTS.threshold


def degree(
    best: "Sequence[Signal]", query: "Query", topical: "Mapping[int, float]", notes: int
) -> Degree:
    """How much is known about the question, given the best notes, the best of all first. What one
    note states, as for a clear answer, is found, however late it stands in the note."""
    if any(map(is_complete, best)) or any(
        stated_share(topical, signal) >= WEIGHTS.stated_share for signal in best[:RESULTS_COMPARED]
    ):
        return "found"
    if not best:
        return "nothing"
    probability = _probability(best[:RESULTS_COMPARED], query, notes)
    if probability < WEIGHTS.least_little:
        return "nothing"
    return "found" if probability >= WEIGHTS.least_found else "little"


def is_complete(signal: "Signal") -> bool:
    """Whether the note itself has every word of the question, corrected or not."""
    return signal.own > 0 and signal.own == (1 << len(signal.amounts)) - 1


def _probability(best: "Sequence[Signal]", query: "Query", notes: int) -> float:
    named = WEIGHTS.named * max((title.strength for title in query.titles), default=0.0)
    stated = max(signal.certain.bit_count() for signal in best)
    logit = (
        WEIGHTS.constant
        + WEIGHTS.words * (max(signal.words for signal in best) + named)
        + WEIGHTS.stated * min(stated, WEIGHTS.most_stated)
        + WEIGHTS.notes * log(1 + notes)
    )
    return 1 / (1 + exp(-logit))


# --- how much of a question a note states in its own words ----------------------------------------


def topical_weights(query: "Query", notes: int) -> dict[int, float]:
    """By place, what the words that say what a question is about weigh, by rarity: none of a
    question of conversation ("happens", "stop"), stop words and numbers only.

    A word that no note has counts as if a single one of the notes had it: a question of two words
    is half stated by the only note that has one of them.
    """
    idle, rarest = conversation_words(), rarity(1, notes)
    topical = {
        place: slot
        for place, slot in enumerate(query.slots)
        if slot.word not in idle and not is_stop(slot.word)
    }
    if all(slot.word.isdigit() for slot in topical.values()):
        return {}
    return {place: min(slot.mass, rarest) for place, slot in topical.items()}


def stated_share(weights: "Mapping[int, float]", signal: "Signal") -> float:
    """The share of these words that the note itself has."""
    if not weights:
        return 0.0
    stated = sum(weight for place, weight in weights.items() if signal.certain >> place & 1)
    return round(stated / sum(weights.values()), DIGITS)


# --- a clear answer -------------------------------------------------------------------------------


def mark_clear_answer(
    question: str, results: "Sequence[SearchNotesResult]", project: str
) -> "list[SearchNotesResult]":
    """The results, the first one marked if it clearly answers. Give at least `RESULTS_COMPARED`
    results, if there are as many. Notes of other projects do not compete with visible ones, nor
    does another title with the one that was asked for."""
    if not results:
        return []
    first, *others = results
    asked = fold_case(question.strip())
    titled = [result for result in others if fold_case(result.note.title) == asked]
    foreign = is_foreign(first.note, project)
    rivals = [
        other
        for other in (titled if fold_case(first.note.title) == asked else others)
        if other.stated >= WEIGHTS.stated_share and is_foreign(other.note, project) == foreign
    ]
    clear = first.stated >= WEIGHTS.stated_share and all(
        first.relevance >= rival.relevance + WEIGHTS.lead for rival in rivals
    )
    return [first._replace(clear_answer=clear), *others]


def names_another_time(question: str, text: str) -> bool:
    """Does the question name a number, or a day or month, that the text has not? "The budget for
    2026" is not stated by what says "Budget 2025", however much else they share."""
    numbers = {word for word in tokens(question.lower()) if any(map(str.isdigit, word))}
    if numbers and not numbers.issubset(tokens(text.lower())):
        return True
    dates = written_dates(question, words(question))
    labels = date_labels(text, words(text)) if dates else set()
    return any(date.month and labels.isdisjoint(query_labels(date)) for date in dates)


def describe_gaps(results: "Sequence[SearchNotesResult]") -> str:
    """A sentence on what no note knows of the question, and whether that leaves little; "" if all
    is known."""
    if not results:
        return ""
    known = _quote(results[0].known_words)
    unknown = _quote(results[0].unknown_words)
    if not all(result.little_found for result in results):
        return f"Nothing on {unknown}." if unknown else ""
    if known and unknown:
        return f"Little found: only {known} is known, nothing on {unknown}."
    return "Little found: no note has most of these words."


def _quote(words: "Sequence[str]") -> str:
    """The first words, as they follow each other in the question."""
    more = " …" if len(words) > MOST_QUOTED else ""
    return f"'{' '.join(words[:MOST_QUOTED])}{more}'" if words else ""
