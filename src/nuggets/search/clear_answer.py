"""Decides whether the best result of a search answers the question, or is merely near it.

The one home of that rule: what counts as recalled, and whether `recall` found anything, follow it.
"""

from collections.abc import Sequence

from nuggets.domain.records import SearchNotesResult
from nuggets.domain.visibility import is_foreign
from nuggets.language.dates import date_labels, query_labels, written_dates
from nuggets.language.text import tokens, words
from nuggets.search.weights import WEIGHTS

RESULTS_COMPARED = 5  # results, the best, that are compared with each other and the question
MOST_QUOTED = 8  # words of a question that are told to be known, and not to be known


def mark_clear_answer(
    results: Sequence[SearchNotesResult], project: str
) -> list[SearchNotesResult]:
    """The results, the first one marked if it clearly answers. Give at least `RESULTS_COMPARED`
    results, if there are as many. Notes of other projects do not compete with visible ones."""
    if not results:
        return []
    first, *others = results
    foreign = is_foreign(first.note, project)
    rivals = [
        other
        for other in others
        if other.stated >= WEIGHTS.stated_share and is_foreign(other.note, project) == foreign
    ]
    clear = first.stated >= WEIGHTS.stated_share and all(
        first.relevance >= rival.relevance + WEIGHTS.lead for rival in rivals
    )
    return [first._replace(clear_answer=clear), *others]


def names_another_time(question: str, text: str) -> bool:
    """Does the question name a number, or a day or month, that the text has not? "The budget for
    2026" is not stated by what says "Budget 2025", however much else they share."""
    numbers = set(filter(_has_digit, tokens(question.lower())))
    if numbers and not numbers.issubset(tokens(text.lower())):
        return True
    dates = written_dates(question, words(question))
    labels = date_labels(text, words(text)) if dates else set()
    return any(date.month and labels.isdisjoint(query_labels(date)) for date in dates)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def describe_gaps(results: Sequence[SearchNotesResult]) -> str:
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


def _quote(words: Sequence[str]) -> str:
    """The first words, as they follow each other in the question."""
    more = " …" if len(words) > MOST_QUOTED else ""
    return f"'{' '.join(words[:MOST_QUOTED])}{more}'" if words else ""
