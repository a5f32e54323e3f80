"""One number for the two histories that a member sees: their own shelf's and the team's.

A commit of the team keeps its number; that of a private shelf is multiplied by 10⁹. The position in
both is the sum of the two, and can be split again.
"""

from collections.abc import Iterable

from nuggets.domain.records import Commit, CommitSummary

_PRIVATE = 1_000_000_000
_UNDO = "undo "  # and the number of the commit that was taken back


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
