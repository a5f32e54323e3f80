"""One member's view of a team's memory: the team's shelf, and a private one of their own.

Scope decides where a memory is kept (`domain/visibility.py`): `user`, `self` and `session` on the
private shelf, which nobody else's requests ever open; `project` and `shared` on the team's. Reads
ask both; a name means the member's own memory first. Nothing links the two.

How each operation's answer is made of the two, and which role it needs, says
`operations/operation_table.py`; what does not fit a row is written out here. Where both shelves are
locked, the private one comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from heapq import merge
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets.domain.records import (
    Commit,
    CommitSummary,
    HitKind,
    Member,
    MemoryNote,
    NoteFilterOptions,
    RecallResult,
    Role,
    SearchNotesResult,
    Touch,
    WrittenNote,
)
from nuggets.domain.visibility import PRIVATE_SCOPES, is_private
from nuggets.errors import Conflict, InvalidInput, NotAllowed, NotFound
from nuggets.filesystem.current_project import find_project
from nuggets.operations.argument_checks import resolve
from nuggets.operations.idempotent_calls import Caller, call_of_member
from nuggets.operations.metadata_inference import metadata_from_kwargs
from nuggets.operations.operation_table import (
    OPERATIONS,
    AnyCommit,
    Both,
    ByNotes,
    Fixed,
    Operation,
    Refused,
    Request,
    best_recall,
    hide_marks,
    join_revisions,
    merge_results,
    method_of,
    number_commit,
    split_revision,
)
from nuggets.operations.permissions import Client, allows, is_of_member, name_member
from nuggets.shelf import NuggetShelf
from nuggets.shelf.nugget import Nugget

if TYPE_CHECKING:
    from typing import Unpack

    from nuggets.domain.type_check import NuggetOptions
    from nuggets.operations.argument_checks import StrPath
    from nuggets.operations.operation_changes import OperationChanges


T = TypeVar("T")


class MemberShelf(NuggetShelf):
    """The team's shelf and a member's private one, as one shelf."""

    def __init__(self, team: NuggetShelf, private: NuggetShelf, member: Member) -> None:
        vars(self).update(vars(team))  # its settings, clock, client and project
        self._team = team
        self._private = private
        self.member = member
        self._own_revisions = [0]  # shared by all views of this shelf

    # --- which shelf, and for whom ----------------------------------------------------------

    @property
    def _sides(self) -> tuple[NuggetShelf, NuggetShelf]:
        return self._private, self._team

    def _view_of(self, team: NuggetShelf, private: NuggetShelf) -> Self:
        view = type(self)(team, private, self.member)
        view._own_revisions = self._own_revisions
        return view

    def for_client(self, client: Client) -> Self:
        named = name_member(client, self.member.name)
        return self._view_of(self._team.for_client(named), self._private.for_client(named))

    def for_caller(self, caller: Caller) -> Self:
        """The project is recognized by what the team's shelf knows."""
        named = caller._replace(client=name_member(caller.client, self.member.name))
        if named.call is not None:
            named = named._replace(call=call_of_member(named.call, self.member.name))
        team = self._team.for_caller(named)
        return self._view_of(team, self._private.for_caller(named._replace(project=team.project)))

    def for_project(self, name: str) -> Self:
        """For someone who works in a project: its id, or the name of its folder. Folders are on
        the member's machine, so none is looked at."""
        known = [status.project for status in self.projects()]
        is_id = not name or name in known or name.startswith("/")
        view = self._view_of(self._team.for_project(""), self._private.for_project(""))
        view.project = name if is_id else find_project(name, known)
        return view

    @property
    def project(self) -> str:
        return self._team.project

    @project.setter
    def project(self, project: str) -> None:
        for side in self._sides:
            side.project = project

    def _require(self, role: Role, what: str) -> None:
        """Raise `NotAllowed` unless the member has the role."""
        if not allows(self.member.role, role):
            raise NotAllowed(
                f"{what} needs the role {role}; {self.member.name} is a {self.member.role}. An "
                "owner can change that"
            )

    def _side_of(
        self, name: str, nugget: str | None = None, *, archived: bool = False
    ) -> NuggetShelf:
        """The shelf of a note that is there; the team's if there is none."""
        if self._team.get_notes([name]):
            return self._team
        try:
            with self._private._transactions.reading() as view:
                resolve(
                    *(view.state.notes, name, nugget),
                    project=self.project,
                    archived=archived,
                    follow_merges=not archived,
                )
        except NotFound:
            return self._team
        return self._private

    def _ask_both(self, ask: Callable[[NuggetShelf], T]) -> tuple[T, ...]:
        """The answers of the shelves that know what is asked for; `NotFound` if none does."""
        answers: list[T] = []
        for side in self._sides:
            try:
                answers.append(self._run(side, ask))
            except NotFound:
                if side is self._team and not answers:
                    raise
        return tuple(answers)

    def _run(self, side: NuggetShelf, ask: Callable[[NuggetShelf], T]) -> T:
        """Ask one shelf; what it wrote is the member's last change."""
        before = side.own_revision
        result = ask(side)
        after = side.own_revision
        if after != before:
            is_own = side is self._private
            self._own_revisions[0] = join_revisions(after) if is_own else after
        return result

    def _answer(self, request: Request) -> Any:
        """The answer to an operation, made of the shelves' answers as its row says."""
        row, how = request.row, request.row.team
        if isinstance(how, Refused):
            raise NotAllowed(f"{row.name} is not served to members: {how.reason}")
        self._require_role(request)
        if "session" in request.names and not self._may_count:
            request = request.with_arguments(session=None)
        ask = request.run_on
        if isinstance(how, Fixed):
            return how.answer
        if isinstance(how, Both):
            return how.combine(self._ask_both(ask))
        if how == "first_found":
            result = self._ask_in_turn(row, ask)
        elif how == "by_scope":
            result = self._write_text(request)
        elif isinstance(how, ByNotes):
            result = self._run(self._side_of_notes(request, how), ask)
        else:
            result = self._run(self._private if how == "private" else self._team, ask)
        return self._view(result.name) if isinstance(result, Nugget) else result

    def _require_role(self, request: Request) -> None:
        if not request.is_preview:
            self._require(request.row.role, request.row.name)

    def _ask_in_turn(self, row: Operation, ask: Callable[[NuggetShelf], T]) -> T:
        try:
            return self._run(self._private, ask)
        except NotFound:
            self._require(row.role_for_others, row.for_others)
            return self._run(self._team, ask)

    def _side_of_notes(self, request: Request, how: ByNotes) -> NuggetShelf:
        """The shelf of all notes that are named."""
        nugget = request.argument("nugget")
        named = map(request.argument, how.names)
        ids = (note.id if isinstance(note, MemoryNote) else note for note in named)
        side, *others = (self._side_of(name, nugget, archived=how.archived) for name in ids)
        scope = metadata_from_kwargs(request.metadata()).scope
        if scope is not None and (scope in PRIVATE_SCOPES) != (side is self._private):
            raise InvalidInput(
                "a memory does not change between your private shelf and the team's; store it "
                f"anew with scope {scope}, and delete this one"
            )
        if any(other is not side for other in others):
            raise InvalidInput(
                "one of the two is private to you and the other one the team's; they cannot be "
                "linked or merged. Store the private one anew with scope project or shared first"
            )
        return side

    def _write_text(self, request: Request) -> Any:
        """Where a text is kept: by its scope if that is given, else where it is known, else by the
        scope that its words say."""
        home = self._home(request)
        written = self._run(home, request.run_on)
        if request.row.name == "remember" and home is self._team:
            with suppress(NotFound):  # else the member's own fact would go on answering
                self._private.forget(request.argument("nugget"), request.argument("key"))
        return written

    def _home(self, request: Request) -> NuggetShelf:
        given = metadata_from_kwargs(request.metadata())
        if given.scope is not None:
            return self._private if given.scope in PRIVATE_SCOPES else self._team
        named = {name: request.argument(name) for name in request.names}

        def decide(d: "OperationChanges") -> tuple[Any, WrittenNote]:
            return getattr(d, request.row.name)(**named, given=given)  # type: ignore[no-any-return]

        draft = self._private._update("", decide, dry_run=True)
        if not draft.is_new:
            return self._private
        if not self._team._update("", decide, dry_run=True).is_new:
            return self._team
        return self._private if is_private(draft) else self._team

    def _folder_of_files(self, project: str | None = None) -> str:
        return ""  # the files that memories name are on the member's machine

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, **config: "Unpack[NuggetOptions]") -> Nugget:
        if self._private.has(name):
            raise Conflict(f"the nugget {name!r} already exists; use get or get_or_create")
        return self._view(self._run(self._team, lambda side: side.create(name, **config)).name)

    def get_or_create(self, name: str, **config: "Unpack[NuggetOptions]") -> Nugget:
        if self.has(name):
            return self.get(name)
        made = self._run(self._team, lambda side: side.get_or_create(name, **config))
        return self._view(made.name)

    @property
    def size(self) -> int:
        return len(self.list())

    # --- facts ------------------------------------------------------------------------------

    def _find_fact(self, query: str, nugget: str | None) -> RecallResult:
        return best_recall(self._ask_both(lambda side: side._find_fact(query, nugget)))

    def forget(self, nugget: str, key: str) -> bool:
        for side in self._sides:
            if side.has(nugget) and self._run(side, lambda s: s.forget(nugget, key)):
                return True
        return False if self.has(nugget) else self._team.forget(nugget, key)

    # --- notes ------------------------------------------------------------------------------

    def get_notes(self, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
        wanted = list(ids)
        return {**self._team.get_notes(wanted), **self._private.get_notes(wanted)}

    @property
    def _may_count(self) -> bool:
        """A reader changes nothing, so no recall of theirs is counted."""
        return allows(self.member.role, "writer")

    def _count(self, note_id: str, session: str, kind: HitKind) -> Touch:
        if not self._may_count:
            return Touch(note_id, "", "", kind)
        return self._side_of(note_id)._count(note_id, session, kind)

    def _find_notes(
        self, query: str, most: int, filters: NoteFilterOptions, *, by_meaning: bool = False
    ) -> Sequence[SearchNotesResult]:
        found = self._ask_both(
            lambda side: side._find_notes(query, most, filters, by_meaning=by_meaning)
        )
        return merge_results(found, most, self.project)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        return join_revisions(self._private.revision, self._team.revision)

    @property
    def own_revision(self) -> int:
        return self._own_revisions[0]

    def commits(self, since: int = 0, most: int | None = None) -> Sequence[Commit]:
        return self._merge_histories(since, lambda side, start: side.commits(start, most))

    def commit_summaries(self, since: int = 0, most: int | None = None) -> Sequence[CommitSummary]:
        return self._merge_histories(since, lambda side, start: side.commit_summaries(start, most))

    def history(self, note: str | None = None, limit: int = 20, since: int = 0) -> Sequence[Commit]:
        return self._merge_histories(
            since, lambda side, start: side.history(note, limit, start), newest_first=True
        )[:limit]

    def _merge_histories(
        self,
        since: int,
        ask: Callable[[NuggetShelf, int], Sequence[AnyCommit]],
        *,
        newest_first: bool = False,
    ) -> list[AnyCommit]:
        """The commits of both shelves after a revision, each from where it was then."""
        private, team = split_revision(since)
        found = self._ask_both(
            lambda side: self._show(side, ask(side, private if side is self._private else team))
        )
        return list(merge(*found, key=lambda commit: commit.at, reverse=newest_first))

    def commit(self, revision: int) -> Commit:
        side, number = self._side_of_revision(revision)
        return self._show(side, [side.commit(number)])[0]

    def changes_in_effect(self, since: int = 0) -> Sequence[Commit]:
        side, number = self._side_of_revision(since)
        return self._show(side, side.changes_in_effect(number))

    def _side_of_revision(self, revision: int) -> tuple[NuggetShelf, int]:
        """The shelf of a commit, and what it is called there."""
        own, team = split_revision(revision)
        return (self._private, own) if own else (self._team, team)

    def _show(self, side: NuggetShelf, commits: Iterable[AnyCommit]) -> list[AnyCommit]:
        """Commits of one shelf, as the member may see and call them."""
        return list(map(number_commit if side is self._private else hide_marks, commits))

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        wanted = set(map(split_revision, revisions))
        private = self._private.undoable(own for own, _ in wanted if own)
        others = self._team.undoable(team for own, team in wanted if not own)
        return {*map(join_revisions, private), *filter(self._may_undo, others)}

    def _may_undo(self, revision: int) -> bool:
        """Everyone may undo what they did in the team's memory, an owner whatever anyone did."""
        role = OPERATIONS["undo"].role_for_others
        author = self._team.commit(revision).changes.client
        return allows(self.member.role, role) or is_of_member(author, self.member.name)

    def undo(self, revision: int | None = None, dry_run: bool = False) -> Commit:
        row = OPERATIONS["undo"]
        if revision is None:
            with self.snapshot():
                own = self._ask_both(lambda s: self._show(s, [s._history.last_to_undo()])[0])
            revision = max(own, key=lambda commit: commit.at).revision
        side, number = self._side_of_revision(revision)
        if side is self._team and not self._may_undo(number):
            self._require(row.role_for_others, row.for_others)
        return self._show(side, [self._run(side, lambda s: s.undo(number, dry_run))])[0]

    # --- the store, and files of the server ---------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._private.snapshot(), self._team.snapshot():
            yield

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._private.batch(), self._team.batch():
            yield

    def close(self) -> None:
        """The shelves belong to the server, which closes them."""

    @property
    def warnings(self) -> Sequence[str]:
        """They name files of the server."""
        return self._team.warnings if allows(self.member.role, "owner") else ()

    def memory_path(self, path: "StrPath | None" = None) -> str:
        raise NotFound("a server has no MEMORY.md; it is written where an agent works")


def _with_role(row: Operation, written: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is written out here, for those with the role that its row asks for."""

    @wraps(written)
    def run(self: MemberShelf, *args: Any, **options: Any) -> Any:
        self._require_role(Request(row, args, options))
        return written(self, *args, **options)

    return run


for _row in OPERATIONS.values():
    if _row.team != "own":
        setattr(MemberShelf, _row.name, method_of(_row, getattr(NuggetShelf, _row.name)))
    elif _row.role != "reader":
        setattr(MemberShelf, _row.name, _with_role(_row, getattr(MemberShelf, _row.name)))
