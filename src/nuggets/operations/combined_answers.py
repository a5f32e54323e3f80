"""How the answers and the histories of a member's two shelves become one. The private shelf's
answer comes first.

A commit of the team keeps its number; that of a private shelf is multiplied by 10⁹. The position in
both histories is the sum of the two, and can be split again.
"""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import chain
from typing import Any, TypeVar

from nuggets.domain.records import (
    Commit,
    CommitSummary,
    MemoryNote,
    NuggetStatus,
    ProjectStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
)
from nuggets.domain.visibility import is_foreign
from nuggets.language.text import fold_case
from nuggets.search.clear_answer import mark_clear_answer

OTHER_FACTS = 5  # that a recall names: more say only that the question was too short
_PRIVATE = 1_000_000_000  # more commits than a team makes, and the product fits into 64 bits
_UNDO = "undo "  # and the number of the commit that was taken back

AnyCommit = TypeVar("AnyCommit", Commit, CommitSummary)


def nothing(answers: Sequence[None]) -> None:
    """Of what is done on both and has no answer."""


def first_there(answers: Sequence[Any]) -> Any:
    """The first that is not None."""
    return next((answer for answer in answers if answer is not None), None)


def all_in_turn(answers: Sequence[Sequence[Any]]) -> list[Any]:
    return [part for answer in answers for part in answer]


def oldest_first(answers: Sequence[Sequence[MemoryNote]]) -> list[MemoryNote]:
    return sorted(all_in_turn(answers), key=lambda note: note.created_at)


def best_recall(answers: Sequence[RecallResult]) -> RecallResult:
    """The most probable one; the member's own, which comes first, if both are as probable."""
    best = max(answers, key=lambda answer: (answer.found, answer.probability))
    others = [answer for answer in answers if answer.found and answer is not best]
    if not best.found or not others:
        return best
    also = (*best.also, *(i for other in others for i in (other.note_id, *other.also)))
    return best._replace(also=also[:OTHER_FACTS])


def add_status(statuses: Sequence[NuggetStatus]) -> NuggetStatus:
    """One status of a nugget that both shelves have; each of them has its own capacity."""
    fuller = max(statuses, key=lambda status: status.capacity_used_pct)
    return fuller._replace(
        fact_count=sum(status.fact_count for status in statuses),
        note_count=sum(status.note_count for status in statuses),
    )


def add_statuses(answers: Sequence[Sequence[NuggetStatus]]) -> tuple[NuggetStatus, ...]:
    by_name: dict[str, list[NuggetStatus]] = {}
    for status in all_in_turn(answers):
        by_name.setdefault(fold_case(status.name), []).append(status)
    return tuple(sorted(map(add_status, by_name.values()), key=lambda status: status.name))


def add_projects(answers: Sequence[Sequence[ProjectStatus]]) -> list[ProjectStatus]:
    """Without the places, which are on the machines of members."""
    by_id: dict[str, ProjectStatus] = {}
    for status in all_in_turn(answers):
        known = by_id.get(status.project, ProjectStatus(status.project, 0, 0))
        by_id[status.project] = known._replace(
            fact_count=known.fact_count + status.fact_count,
            note_count=known.note_count + status.note_count,
        )
    return [by_id[project] for project in sorted(by_id)]


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


def number_commits(commits: Iterable[AnyCommit]) -> list[AnyCommit]:
    """Commits of the private shelf, as the member calls them."""
    return [_number_commit(commit) for commit in commits]


def hide_marks(commits: Iterable[Commit]) -> list[Commit]:
    """Commits without marks: hashes of tokens and the calls of others are nobody's history."""
    return [
        commit._replace(
            changes=commit.changes._replace(marks={}), before=commit.before._replace(marks={})
        )
        for commit in commits
    ]


def by_time(private: Iterable[AnyCommit], team: Iterable[AnyCommit]) -> list[AnyCommit]:
    """The commits of both, oldest first, as the member calls them."""
    commits = [number_commits(private), team]
    return sorted(chain.from_iterable(commits), key=lambda commit: commit.at)


def _number_commit(commit: AnyCommit) -> AnyCommit:
    commit = commit._replace(revision=number_private(commit.revision))
    if isinstance(commit, CommitSummary):
        return commit._replace(action=_number_action(commit.action))
    action = _number_action(commit.changes.action)
    return commit._replace(changes=commit.changes._replace(action=action))


def _number_action(action: str) -> str:
    number = action.removeprefix(_UNDO)
    if number == action or not number.isdigit():
        return action
    return f"{_UNDO}{number_private(int(number))}"
