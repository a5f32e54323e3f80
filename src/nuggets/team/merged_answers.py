"""How the answers of a member's two shelves become one. Pure; the private shelf's comes first."""

from collections.abc import Iterable, Sequence
from heapq import merge

from nuggets.domain.records import (
    Commit,
    CommitSummary,
    MemoryNote,
    NuggetStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
)
from nuggets.domain.visibility import is_foreign
from nuggets.search.clear_answer import mark_clear_answer

OTHER_FACTS = 5  # that a recall names


def commit_time(commit: Commit | CommitSummary) -> str:
    return commit.at


def oldest_first(found: Iterable[Sequence[MemoryNote]]) -> "list[MemoryNote]":
    notes = [note for some in found for note in some]
    return sorted(notes, key=lambda note: note.created_at)


def best_recall(answers: Sequence[RecallResult]) -> RecallResult:
    """The most probable one; the member's own, which comes first, if both are as probable."""
    best = max(answers, key=lambda answer: (answer.found, answer.probability))
    others = [answer for answer in answers if answer.found and answer is not best]
    if not best.found or not others:
        return best
    also = (*best.also, *(i for other in others for i in (other.note_id, *other.also)))
    return best._replace(also=also[:OTHER_FACTS])


def add_status(known: NuggetStatus | None, status: NuggetStatus) -> NuggetStatus:
    """One status of a nugget that both shelves have; each of them has its own capacity."""
    if known is None:
        return status
    fuller = max(known, status, key=lambda one: one.capacity_used_pct)
    return fuller._replace(
        fact_count=known.fact_count + status.fact_count,
        note_count=known.note_count + status.note_count,
    )


def add_reflections(results: Sequence[ReflectionResult]) -> ReflectionResult:
    counts = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
    return results[0]._replace(
        **{name: sum(getattr(result, name) for result in results) for name in counts},
        changes=tuple(change for result in results for change in result.changes),
    )


def merge_results(
    found: Sequence[Sequence[SearchNotesResult]], limit: int, project: str
) -> list[SearchNotesResult]:
    """Relevance can be compared between searches; the share cannot, and is shared anew."""

    def rank(result: SearchNotesResult) -> tuple[bool, float]:
        return is_foreign(result.note, project), -result.relevance

    merged = [
        result._replace(clear_answer=False, score=result.score / len(found))
        for result in merge(*found, key=rank)
    ]
    return mark_clear_answer(merged, project)[:limit]
