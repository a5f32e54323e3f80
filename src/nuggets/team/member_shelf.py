"""One member's view of a team's memory: the team's shelf, and a private one of their own.

Scope decides where a memory is kept (`domain/visibility.py`): `user`, `self` and `session` on the
private shelf, which nobody else's requests ever open; `project` and `shared` on the team's. Reads
ask both; a name means the member's own memory first. Nothing links the two.

Where both shelves are locked, the private one comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets.domain.records import (
    Commit,
    CommitSummary,
    CopyIndex,
    HitKind,
    MemoryNote,
    MemoryVersion,
    NoteFilterOptions,
    NuggetStatus,
    ProjectStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
    WrittenNote,
)
from nuggets.domain.roles import Member, Role, allows
from nuggets.domain.visibility import PRIVATE_SCOPES, is_private
from nuggets.errors import Conflict, InvalidInput, NotAllowed, NotFound
from nuggets.filesystem.current_project import find_project
from nuggets.graph.metadata_inference import metadata_from_kwargs
from nuggets.language.text import fold_case
from nuggets.operations.client_permissions import Client, name_member
from nuggets.operations.idempotent_calls import Caller
from nuggets.remote.shelf_without_files import ShelfWithoutFiles
from nuggets.search.clear_answer import RESULTS_COMPARED
from nuggets.shelf import NO_FILTERS, NuggetShelf
from nuggets.team.merged_answers import (
    add_reflections,
    add_status,
    best_recall,
    commit_time,
    join_revisions,
    merge_results,
    number_commits,
    number_private,
    number_summaries,
    oldest_first,
    private_number,
    split_revision,
)
from nuggets.team.required_roles import NEEDED_FOR_OTHERS, guard_operations, may_undo

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Unpack

    from nuggets.domain.typed_kwargs import NoteFilters, NoteMeta, NuggetOptions
    from nuggets.engine.argument_checks import StrPath
    from nuggets.maintenance.audit import Finding
    from nuggets.maintenance.purge import Purged
    from nuggets.nugget import Nugget
    from nuggets.operations.decisions import Decisions
    from nuggets.operations.session_notes import SessionRecord
    from nuggets.search.explanation import Explanation

T = TypeVar("T")


@guard_operations
class MemberShelf(ShelfWithoutFiles):
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

    def for_client(self, client: str | Client, *, at_work: bool = False) -> Self:
        if not isinstance(client, Client):
            client = Client(client, at_work=at_work)
        named = name_member(client, self.member.name)
        return self._view_of(self._team.for_client(named), self._private.for_client(named))

    def for_caller(self, caller: Caller) -> Self:
        """The project is recognized by what the team's shelf knows."""
        named = caller._replace(client=name_member(caller.client, self.member.name))
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

    def require(self, role: Role, what: str) -> None:
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
        try:
            self._private.get_note(name, nugget, None, archived=archived)
        except NotFound:
            return self._team
        return self._private

    def _common_side(self, a: str, b: str, nugget: str | None) -> NuggetShelf:
        side = self._side_of(a, nugget)
        if side is not self._side_of(b, nugget):
            raise InvalidInput(
                "one of the two is private to you and the other one the team's; they cannot be "
                "linked or merged. Store the private one anew with scope project or shared first"
            )
        return side

    def _side_of_id(self, note_id: str) -> NuggetShelf:
        return self._private if self._private.get_notes([note_id]) else self._team

    def _ask_either(self, ask: Callable[[NuggetShelf], T]) -> T:
        try:
            return ask(self._private)
        except NotFound:
            return ask(self._team)

    def _ask_both(self, ask: Callable[[NuggetShelf], T]) -> list[T]:
        """The answers of the shelves that know what is asked for; `NotFound` if none does."""
        answers: list[T] = []
        for side in self._sides:
            try:
                answers.append(ask(side))
            except NotFound:
                if side is self._team and not answers:
                    raise
        return answers

    def _write(self, side: NuggetShelf, change: Callable[[NuggetShelf], T]) -> T:
        before = side.own_revision
        result = change(side)
        after = side.own_revision
        if after != before:
            is_own = side is self._private
            self._own_revisions[0] = number_private(after) if is_own else after
        return result

    def _home(
        self, decide: "Callable[[Decisions], tuple[Any, WrittenNote]]", scope: str | None
    ) -> NuggetShelf:
        """Where a text is kept: by its scope if that is given, else where it is known, else by the
        scope that its words say."""
        if scope is not None:
            return self._private if scope in PRIVATE_SCOPES else self._team
        draft = self._private._update("", decide, dry_run=True)
        if not draft.is_new:
            return self._private
        if not self._team._update("", decide, dry_run=True).is_new:
            return self._team
        return self._private if is_private(draft) else self._team

    def _folder_of_files(self, project: str | None = None) -> str:
        return ""  # the files that memories name are on the member's machine

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        if self._private.has(name):
            raise Conflict(f"the nugget {name!r} already exists; use get or get_or_create")
        return self._view(self._write(self._team, lambda side: side.create(name, **config)).name)

    def get(self, name: str) -> "Nugget":
        return self._view(self._ask_either(lambda side: side.get(name)).name)

    def get_or_create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        if self.has(name):
            return self.get(name)
        made = self._write(self._team, lambda side: side.get_or_create(name, **config))
        return self._view(made.name)

    def has(self, name: str) -> bool:
        return any(side.has(name) for side in self._sides)

    def remove(self, name: str) -> int:
        return sum(self._ask_both(lambda s: self._write(s, lambda side: side.remove(name))))

    def list(self) -> tuple[NuggetStatus, ...]:
        by_name: dict[str, NuggetStatus] = {}
        for side in self._sides:
            for status in side.list():
                known = by_name.get(fold_case(status.name))
                by_name[fold_case(status.name)] = add_status(known, status)
        return tuple(sorted(by_name.values(), key=lambda status: status.name))

    def status(self, nugget: str) -> NuggetStatus:
        first, *rest = self._ask_both(lambda side: side.status(nugget))
        return add_status(first, rest[0]) if rest else first

    @property
    def size(self) -> int:
        return len(self.list())

    # --- facts ------------------------------------------------------------------------------

    def remember(
        self, nugget: str, key: str, value: str, **meta: "Unpack[NoteMeta]"
    ) -> WrittenNote:
        given = metadata_from_kwargs(meta)
        home = self._home(lambda d: d.remember(nugget, key, value, given), given.scope)
        fact = self._write(home, lambda side: side.remember(nugget, key, value, **meta))
        if home is self._team:  # else the member's own fact would go on answering
            with suppress(NotFound):
                self._private.forget(nugget, key)
        return fact

    def recall(
        self,
        query: str,
        nugget: str | None = None,
        session: str | None = "",
        *,
        as_of: "str | datetime | None" = None,
    ) -> RecallResult:
        with self.snapshot():
            answers = self._ask_both(lambda side: side.recall(query, nugget, None, as_of=as_of))
            result = best_recall(answers)
            if result.is_clear and as_of is None:
                self._count_shown(result.note_id, session, "recalled")
            return result

    def recall_or_search(
        self, query: str, nugget: str | None = None, session: str | None = "", limit: int = 5
    ) -> tuple[RecallResult, Sequence[SearchNotesResult]]:
        with self.snapshot():
            most = max(limit, RESULTS_COMPARED)
            answers = self._ask_both(lambda side: side.recall_or_search(query, nugget, None, most))
            recall = best_recall([answer for answer, _ in answers])
            if recall.found:
                if recall.is_clear:
                    self._count_shown(recall.note_id, session, "recalled")
                return recall, ()
            results = merge_results([found for _, found in answers], limit, self.project)
            if results and results[0].note.kind == "fact":  # recall refused it
                results[0] = results[0]._replace(clear_answer=False)
            return recall, self._count_results(results, session)

    def forget(self, nugget: str, key: str) -> bool:
        for side in self._sides:
            if side.has(nugget) and self._write(side, lambda s: s.forget(nugget, key)):
                return True
        return False if self.has(nugget) else self._team.forget(nugget, key)

    def facts(self, nugget: str) -> Sequence[MemoryNote]:
        return oldest_first(self._ask_both(lambda side: side.facts(nugget)))

    def clear(self, nugget: str) -> int:
        return sum(self._ask_both(lambda s: self._write(s, lambda side: side.clear(nugget))))

    # --- notes ------------------------------------------------------------------------------

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        given, own_tags = metadata_from_kwargs(meta), tuple(tags)
        home = self._home(
            lambda d: d.create_note(nugget, title, content, own_tags, created_at, given),
            given.scope,
        )
        return self._write(
            home,
            lambda side: side.create_note(nugget, title, content, own_tags, created_at, **meta),
        )

    def get_note(
        self,
        name: str,
        nugget: str | None = None,
        session: str | None = "",
        *,
        archived: bool = False,
    ) -> MemoryNote:
        counted = self._countable(session)
        return self._ask_either(
            lambda side: side.get_note(name, nugget, counted, archived=archived)
        )

    def count_hit(self, note_id: str, session: str, kind: HitKind) -> None:
        self._count_shown(note_id, session, kind)

    def _countable(self, session: str | None) -> str | None:
        """A reader changes nothing, so no recall of theirs is counted."""
        return session if allows(self.member.role, "writer") else None

    def _count_shown(self, note_id: str, session: str | None, kind: HitKind) -> None:
        counted = self._countable(session)
        if counted is not None:
            self._side_of_id(note_id).count_hit(note_id, counted, kind)

    def _count_results(
        self, results: Sequence[SearchNotesResult], session: str | None
    ) -> Sequence[SearchNotesResult]:
        for result in results if session is not None else ():
            self._count_shown(result.note.id, session if result.clear_answer else "", "answered")
        return results

    def get_notes(self, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
        wanted = list(ids)
        return {**self._team.get_notes(wanted), **self._private.get_notes(wanted)}

    def edit_note(
        self,
        name: str,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        hidden: bool | None = None,
        *,
        nugget: str | None = None,
        expected: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        side, scope = self._side_of(name, nugget), metadata_from_kwargs(meta).scope
        if scope is not None and (scope in PRIVATE_SCOPES) != (side is self._private):
            raise InvalidInput(
                "a memory does not change between your private shelf and the team's; store it "
                f"anew with scope {scope}, and delete this one"
            )
        return self._write(
            side,
            lambda s: s.edit_note(
                name, content, title, tags, hidden, nugget=nugget, expected=expected, **meta
            ),
        )

    def record_reading(self, note: MemoryNote, start: int = 0, end: int | None = None) -> None:
        self._side_of_id(note.id).record_reading(note, start, end)

    def delete_note(self, name: str, hard: bool = False, nugget: str | None = None) -> MemoryNote:
        return self._write(
            self._side_of(name, nugget), lambda side: side.delete_note(name, hard, nugget)
        )

    def restore_note(self, name: str, nugget: str | None = None) -> MemoryNote:
        side = self._side_of(name, nugget, archived=True)
        return self._write(side, lambda s: s.restore_note(name, nugget))

    def add_link(self, a: str, b: str, reason: str = "", nugget: str | None = None) -> bool:
        side = self._common_side(a, b, nugget)
        return self._write(side, lambda s: s.add_link(a, b, reason, nugget))

    def remove_link(
        self, a: str, b: str, reason: str | None = None, nugget: str | None = None
    ) -> bool:
        side = self._common_side(a, b, nugget)
        return self._write(side, lambda s: s.remove_link(a, b, reason, nugget))

    def merge_notes(
        self,
        target: str,
        source: str,
        reason: str = "",
        nugget: str | None = None,
        *,
        dry_run: bool = False,
    ) -> MemoryNote:
        side = self._common_side(target, source, nugget)
        return self._write(
            side, lambda s: s.merge_notes(target, source, reason, nugget, dry_run=dry_run)
        )

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: "Unpack[NoteFilters]"
    ) -> Sequence[MemoryNote]:
        return oldest_first(self._ask_both(lambda side: side.list_notes(filters, **wanted)))

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str | None = "",
        **wanted: "Unpack[NoteFilters]",
    ) -> Sequence[SearchNotesResult]:
        most = max(limit, RESULTS_COMPARED)
        with self.snapshot():
            found = self._ask_both(
                lambda side: side.search_notes(query, most, filters, session=None, **wanted)
            )
            return self._count_results(merge_results(found, limit, self.project), session)

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        return self._side_of_id(note_id).explain(query, note_id, include_hidden)

    def notes_titled(self, title: str, nugget: str | None = None) -> Sequence[MemoryNote]:
        return oldest_first(side.notes_titled(title, nugget) for side in self._sides)

    def leading_notes(self) -> Sequence[MemoryNote]:
        return [note for side in self._sides for note in side.leading_notes()]

    # --- sessions ---------------------------------------------------------------------------

    def keep_session(self, record: "SessionRecord") -> str:
        return self._write(self._private, lambda side: side.keep_session(record))

    def sessions(self, *, all_projects: bool = False) -> Sequence[MemoryNote]:
        return self._private.sessions(all_projects=all_projects)

    def get_session(self, name: str | None = None) -> MemoryNote:
        return self._private.get_session(name)

    def search_sessions(
        self, query: str, limit: int = 5, *, all_projects: bool = False
    ) -> Sequence[SearchNotesResult]:
        return self._private.search_sessions(query, limit, all_projects=all_projects)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        return join_revisions(self._private.revision, self._team.revision)

    @property
    def own_revision(self) -> int:
        return self._own_revisions[0]

    def change_counter(self) -> int:
        return hash((self._private.change_counter(), self._team.change_counter()))

    def commits(self, since: int = 0) -> Sequence[Commit]:
        private, team = split_revision(since)
        own = number_commits(self._private.commits(private))
        return sorted([*own, *self._team.commits(team)], key=commit_time)

    def new_commits(self, since: int, most: int) -> Sequence[Commit] | None:
        private, team = split_revision(since)
        own, others = self._private.new_commits(private, most), self._team.new_commits(team, most)
        if own is None or others is None:
            return None
        return sorted([*number_commits(own), *others], key=commit_time)

    def commit_summaries(self, since: int = 0, most: int | None = None) -> Sequence[CommitSummary]:
        private, team = split_revision(since)
        own = number_summaries(self._private.commit_summaries(private, most))
        return sorted([*own, *self._team.commit_summaries(team, most)], key=commit_time)

    def history(self, note: str | None = None, limit: int = 20, since: int = 0) -> Sequence[Commit]:
        private, team = split_revision(since)

        def ask_private() -> Sequence[Commit]:
            return number_commits(self._private.history(note, limit, private))

        if note is not None:
            try:
                return ask_private()
            except NotFound:
                return self._team.history(note, limit, team)
        newest_first = merge(
            ask_private(), self._team.history(None, limit, team), key=commit_time, reverse=True
        )
        return list(islice(newest_first, limit))

    def versions(self, name: str, nugget: str | None = None) -> Sequence[MemoryVersion]:
        return self._ask_either(lambda side: side.versions(name, nugget))

    def note_at(self, note_id: str, moment: str) -> MemoryNote | None:
        return self._private.note_at(note_id, moment) or self._team.note_at(note_id, moment)

    def commit(self, revision: int) -> Commit:
        own = private_number(revision)
        if not own:
            return self._team.commit(revision)
        return number_commits([self._private.commit(own)])[0]

    def changes_in_effect(self, since: int = 0) -> Sequence[Commit]:
        own = private_number(since)
        if not own:
            return self._team.changes_in_effect(since)
        return number_commits(self._private.changes_in_effect(own))

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        wanted = set(revisions)
        own = {private_number(revision) for revision in wanted} - {0}
        others = {revision for revision in wanted if not private_number(revision)}
        undoable = set(map(number_private, self._private.undoable(own)))
        return undoable | {
            revision for revision in self._team.undoable(others) if self._may_undo(revision)
        }

    def _may_undo(self, revision: int) -> bool:
        return may_undo(self.member, lambda: self._team.commit(revision).changes.client)

    def last_own_change(self) -> Commit:
        found = self._ask_both(
            lambda side: (
                number_commits([side.last_own_change()])[0]
                if side is self._private
                else side.last_own_change()
            )
        )
        return max(found, key=commit_time)

    def undo(self, revision: int | None = None, dry_run: bool = False) -> Commit:
        if revision is None:
            revision = self.last_own_change().revision
        own = private_number(revision)
        if own:
            undone = self._write(self._private, lambda side: side.undo(own, dry_run))
            return number_commits([undone])[0]
        if not self._may_undo(revision):
            self.require(*NEEDED_FOR_OTHERS["undo"])
        return self._write(self._team, lambda side: side.undo(revision, dry_run))

    def purge(self, name: str, nugget: str | None = None) -> "Purged":
        try:
            return self._private.purge(name, nugget)
        except NotFound:
            self.require(*NEEDED_FOR_OTHERS["purge"])
            return self._team.purge(name, nugget)

    def purge_fact(self, nugget: str, key: str) -> "Purged":
        try:
            return self._private.purge_fact(nugget, key)
        except NotFound:
            self.require(*NEEDED_FOR_OTHERS["purge_fact"])
            return self._team.purge_fact(nugget, key)

    # --- looking after it -------------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        results = self._ask_both(
            lambda s: self._write(s, lambda side: side.reflect(nugget, limit, dry_run))
        )
        return add_reflections(results)

    def audit(self) -> "Sequence[Finding]":
        return [finding for side in self._sides for finding in side.audit()]

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        for side in self._sides:
            side.export_lines(write)

    def copy_index(self, most: int, since: int = 0) -> CopyIndex:
        own, team = split_revision(since)
        private = self._private.copy_index(most, own)
        shared = self._team.copy_index(most, team)
        ids = (*private.ids, *shared.ids)[:most]
        changed = set((*private.changed, *shared.changed))
        nuggets = {fold_case(n.name): n for n in (*private.nuggets, *shared.nuggets)}
        return CopyIndex(
            join_revisions(private.revision, shared.revision),
            ids,
            tuple(note_id for note_id in ids if note_id in changed),
            tuple(nuggets.values()),
        )

    def projects(self) -> Sequence[ProjectStatus]:
        by_id: dict[str, ProjectStatus] = {}
        for side in self._sides:
            for status in side.projects():
                known = by_id.get(status.project, ProjectStatus(status.project, 0, 0))
                by_id[status.project] = known._replace(
                    fact_count=known.fact_count + status.fact_count,
                    note_count=known.note_count + status.note_count,
                )
        return [by_id[project] for project in sorted(by_id)]

    # --- the store, and files of the server ---------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._private.snapshot(), self._team.snapshot():
            yield

    @contextmanager
    def _batch(self) -> Iterator[None]:
        with self._private.batch(), self._team.batch():
            yield

    def batch(self) -> "AbstractContextManager[None]":
        return self._batch()

    def load_all(self) -> None:
        for side in self._sides:
            side.load_all()

    def save_all(self) -> None:
        for side in self._sides:
            side.save_all()

    def discard_unsaved(self, name: str | None = None) -> None:
        for side in self._sides:
            side.discard_unsaved(name)

    def close(self) -> None:
        """The shelves belong to the server, which closes them."""

    @property
    def warnings(self) -> Sequence[str]:
        """They name files of the server."""
        return self._team.warnings if allows(self.member.role, "owner") else ()

    def memory_path(self, path: "StrPath | None" = None) -> str:
        raise NotFound("a server has no MEMORY.md; it is written where an agent works")
