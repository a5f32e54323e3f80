"""How the answers and the histories of a member's two shelves become one. Pure; the private shelf's
comes first.

A commit of the team keeps its number; that of a private shelf is multiplied by 10⁹. The position in
both histories is the sum of the two, and can be split again.
"""

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
_PRIVATE = 1_000_000_000
_UNDO = "undo "  # and the number of the commit that was taken back


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


def join_revisions(private: int, team: int) -> int:
    return private * _PRIVATE + team


def split_revision(revision: int) -> tuple[int, int]:
    """The revisions of the private shelf and of the team's."""
    return divmod(revision, _PRIVATE)


def number_private(revision: int) -> int:
    """How a commit of the private shelf is called."""
    return revision * _PRIVATE


def private_number(revision: int) -> int:
    """Which commit of the private shelf is meant; 0: it is one of the team's."""
    return revision // _PRIVATE


def number_commits(commits: Iterable[Commit]) -> list[Commit]:
    """Commits of the private shelf, as the member calls them."""
    return [
        commit._replace(
            revision=number_private(commit.revision),
            changes=commit.changes._replace(action=_number_action(commit.changes.action)),
        )
        for commit in commits
    ]


def number_summaries(summaries: Iterable[CommitSummary]) -> list[CommitSummary]:
    return [
        summary._replace(
            revision=number_private(summary.revision), action=_number_action(summary.action)
        )
        for summary in summaries
    ]


def _number_action(action: str) -> str:
    number = action.removeprefix(_UNDO)
    if number == action or not number.isdigit():
        return action
    return f"{_UNDO}{number_private(int(number))}"
