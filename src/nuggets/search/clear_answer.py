"""Decides whether the best result of a search answers the question, or is merely near it.

The one home of that rule: what counts as recalled, and whether `recall` found anything, follow it.
"""

from collections.abc import Sequence

from nuggets.domain.records import SearchNotesResult
from nuggets.domain.visibility import is_foreign

# Measured with benchmarks/answers.py: with 0.6 one in ten questions for a sibling ("status page
# owner" where only "status page url" is known) would be answered, with 0.75 one in thirty.
LEAST_STATED_SHARE = 0.75  # share of the question that the note must state in its own words
LEAST_LEAD = 0.1  # relevance ahead of others that state as much; 0.05: 4 of 100 more are wrong
RESULTS_COMPARED = 5  # results, the best, that are compared at least
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
        if other.stated >= LEAST_STATED_SHARE and is_foreign(other.note, project) == foreign
    ]
    clear = first.stated >= LEAST_STATED_SHARE and all(
        first.relevance >= rival.relevance + LEAST_LEAD for rival in rivals
    )
    return [first._replace(clear_answer=clear), *others]


def describe_little_found(results: Sequence[SearchNotesResult]) -> str:
    """A sentence on what is known of the question if that is little; else ""."""
    if not results or not all(result.little_found for result in results):
        return ""
    known = _quote(results[0].known_words)
    unknown = _quote(results[0].unknown_words)
    if known and unknown:
        return f"Little found: only {known} is known, nothing on {unknown}."
    return "Little found: no note has most of these words."


def _quote(words: Sequence[str]) -> str:
    """The first words, as they follow each other in the question."""
    more = " …" if len(words) > MOST_QUOTED else ""
    return f"'{' '.join(words[:MOST_QUOTED])}{more}'" if words else ""
