"""`NuggetShelf`, the one door that every interface uses: nuggets, facts, notes and sessions.

How it is opened and saved: `engine/shelf_base.py`; what keeps it in order over time:
`maintenance/maintained_shelf.py`; what it knows of a repository: `maintenance/project_shelf.py`;
what an operation changes: `operations/decisions.py`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from nuggets.domain.limits import (
    FILES_SEEN,
    check_count,
    check_flag,
    checked_tags,
    storable,
)
from nuggets.domain.records import (
    CopyIndex,
    HitKind,
    Intake,
    MemoryNote,
    NoteFilterOptions,
    NuggetStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
    Touch,
    WrittenNote,
)
from nuggets.domain.state import apply_touch
from nuggets.domain.validity import invalidity, version_at
from nuggets.domain.visibility import is_foreign, visible_projects
from nuggets.engine.argument_checks import (
    StrPath,
    checked_filters,
    checked_metadata,
    checked_note,
    checked_nugget,
    checked_query,
    checked_session,
    notes_from_json,
    path_text,
    valid_records,
)
from nuggets.errors import Ambiguous, NotFound
from nuggets.filesystem.shelf_location import default_location, is_server
from nuggets.graph import name_resolution
from nuggets.graph.links import CONTRADICTS
from nuggets.language.text import fold_case
from nuggets.maintenance.project_shelf import ProjectShelf
from nuggets.search.clear_answer import RESULTS_COMPARED, mark_clear_answer
from nuggets.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from nuggets.domain.typed_kwargs import NoteFilters, NoteMeta, NuggetOptions
    from nuggets.engine.transactions import View
    from nuggets.nugget import Nugget
    from nuggets.operations.lookups_before_write import WritingContext
    from nuggets.operations.session_notes import SessionRecord
    from nuggets.search.explanation import Explanation

NO_FILTERS = NoteFilterOptions()
_EXACTLY = RecallResult(  # a fact that was forgotten since
    found=True, match="exact", ratio=1.0, confidence=1.0, margin=1.0, probability=1.0
)
SESSIONS_SEARCHED = 20  # results beside those asked for: notes of no project rank among them
RULE_CHARACTERS = 400  # of a text by which those that it may contradict are searched
RIVALS = 12  # notes that it is compared with
COPIED_COMMITS = 2000  # beyond these a copy is made anew
LEADING = 200  # notes of each kind that a session may begin with; it is told some dozens


class NuggetShelf(ProjectShelf):
    """All nuggets of one directory: the API that every front door uses."""

    def __new__(cls, save_dir: StrPath | None = None, *_: Any, **options: Any) -> Self:
        """A shelf at https://… is a `RemoteShelf`."""
        if cls is NuggetShelf and is_server(_location(save_dir, options.get("settings"))):
            from nuggets.remote.remote_shelf import RemoteShelf

            return object.__new__(RemoteShelf)  # type: ignore[return-value]
        return object.__new__(cls)

    @property
    def server(self) -> str:
        """The address of the server that keeps it; "" if it is kept here."""
        return ""

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        """A new nugget; `Conflict` if there is one of that name."""
        return self._view(self._update("create", lambda d: d.create(name, dict(config))))

    def get(self, name: str) -> "Nugget":
        """The nugget of this name, ignoring case; `NotFound` lists the existing ones."""
        with self._transactions.reading() as view:
            return self._view(name_resolution.require_nugget(view.state.nuggets, name).name)

    def get_or_create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        """The nugget of this name, created if needed; an existing one keeps its options."""
        return self._view(self._update("create", lambda d: d.get_or_create(name, dict(config))))

    def __getitem__(self, name: str) -> "Nugget":
        """The same as `get`: a misspelt name makes no new nugget."""
        return self.get(name)

    def __iter__(self) -> "Iterator[Nugget]":
        """Every nugget, by name."""
        return map(self._view, [status.name for status in self.list()])

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        """A shelf without nuggets is still a shelf: `shelf or other` means this one."""
        return True

    def has(self, name: str) -> bool:
        """Is there a nugget of this name, ignoring case?"""
        with self._transactions.reading() as view:
            return name_resolution.find_nugget(view.state.nuggets, name) is not None

    def __contains__(self, nugget: "str | Nugget") -> bool:
        """Whether a name, or a nugget that iteration gave, is that of a nugget here."""
        from nuggets.nugget import Nugget

        return self.has(nugget.name if isinstance(nugget, Nugget) else nugget)

    def remove(self, name: str) -> int:
        """Delete a nugget with all its facts and notes; returns how many."""
        return self._update("remove", lambda d: d.remove(name))

    def list(self) -> tuple[NuggetStatus, ...]:
        """The status of every nugget, by name."""
        from nuggets.facts.capacity import statuses

        with self._transactions.reading() as view:
            configs = sorted(view.state.nuggets.values(), key=lambda config: config.name)
            return statuses(configs, view.state.notes.counts())

    def status(self, nugget: str) -> NuggetStatus:
        """How full one nugget is; beyond its capacity it goes on in pages and stays exact."""
        from nuggets.facts.capacity import statuses

        with self._transactions.reading() as view:
            config = name_resolution.require_nugget(view.state.nuggets, nugget)
            return statuses([config], view.state.notes.counts())[0]

    @property
    def size(self) -> int:
        """How many nuggets there are."""
        with self._transactions.reading() as view:
            return len(view.state.nuggets)

    # --- facts ------------------------------------------------------------------------------

    def remember(
        self, nugget: str, key: str, value: str, **meta: "Unpack[NoteMeta]"
    ) -> WrittenNote:
        """Store a fact, in a nugget that is made if need be; a known key gets the new value, and
        `replaced` is the fact as it was before."""
        metadata, context = checked_metadata(meta), self._writing_context(value, key)
        _infer_beforehand(value)
        fact = self._update("remember", lambda d: d.remember(nugget, key, value, metadata, context))
        self.record_reading(fact)
        return fact

    def recall(
        self,
        query: str,
        nugget: str | None = None,
        session: str | None = "",
        *,
        as_of: "str | datetime | None" = None,
    ) -> RecallResult:
        """The fact that a query means, decoded; a miss is ``found=False``.

        Without a nugget all of them are asked and the best match answers. A session that has not
        recalled this fact before adds a hit, unless others fit as well. `as_of`: what was valid at
        that moment, or at the end of that day, as far as the history reaches; this counts no hit.
        """
        query = checked_query(query)
        if as_of is not None:
            return self._recall_version(query, nugget, as_of)
        with self._transactions.reading_indexes() as view:
            return self._recall(view, query, nugget, session)

    def _recall_version(
        self, query: str, nugget: str | None, as_of: "str | datetime"
    ) -> RecallResult:
        from nuggets.domain.times import day_boundary

        moment = day_boundary(as_of, end=True, field="as_of")
        with self._transactions.reading_indexes() as view:
            result = self._recall(view, query, nugget, None)
            try:
                versions = self.versions(result.note_id or query, nugget)
            except (NotFound, Ambiguous):  # neither a fact now nor one that was forgotten
                return RecallResult()
            version = version_at(versions, moment)
            if version is None or version.note.kind != "fact":
                return RecallResult()
            return (result if result.found else _EXACTLY)._replace(
                answer=version.note.content,
                key=version.note.title,
                nugget=version.note.nugget_name,
                note_id=version.note.id,
                project=version.note.project,
                valid_from=version.valid_from,
                valid_until=version.valid_until,
            )

    def _recall(
        self, view: "View", query: str, nugget: str | None, session: str | None
    ) -> RecallResult:
        if nugget is not None:
            nugget = name_resolution.require_nugget(view.state.nuggets, nugget).name
        least = self.settings["recall_min_probability"]
        result = view.facts.recall(query, nugget, self.project, least)
        if result.is_clear and session is not None:
            self._count(result.note_id, session, "recalled")
        return result

    def recall_or_search(
        self, query: str, nugget: str | None = None, session: str | None = "", limit: int = 5
    ) -> tuple[RecallResult, Sequence[SearchNotesResult]]:
        """Recall a fact; if none answers, search notes.

        Only a result that is marked as a clear answer counts as found; the others are merely the
        nearest. Each has a word of the query, because whoever asks for a key wants nothing that
        only resembles it. Notes on files that hooks saw come last.
        """
        check_count(limit, "how many results to give")
        query = checked_query(query)

        def was_seen(result: SearchNotesResult) -> bool:
            return result.note.source == "tool_observation" and result.note.stability == "temporary"

        with self._transactions.reading_indexes() as view:
            recall = self._recall(view, query, nugget, session)
            if recall.found:
                return recall, ()
            filters = checked_filters(NO_FILTERS, {"nugget": nugget}, view.state)
            most = max(limit, RESULTS_COMPARED)
            results = view.search.search(query, most, filters, self.project)
            if any(map(was_seen, results)):  # all of them may be called alike
                results = view.search.search(query, most + FILES_SEEN, filters, self.project)
            explain = view.search.explain
            marked = mark_clear_answer(sorted(results, key=was_seen), self.project)
            if marked and marked[0].note.kind == "fact":  # recall refused it: the key is another
                marked[0] = marked[0]._replace(clear_answer=False)
            with_a_word = (
                result for result in marked if explain(query, result.note.id).says_a_word
            )
            return recall, self._count_answer(list(islice(with_a_word, limit)), session)

    def forget(self, nugget: str, key: str) -> bool:
        """Delete a fact; False if there was none.

        Only a fact of this project or of no project; name another project's fact by its note's id.
        """
        return self._update("forget", lambda d: d.forget(nugget, key))

    def facts(self, nugget: str) -> Sequence[MemoryNote]:
        """The facts of a nugget, oldest first."""
        with self._transactions.reading() as view:
            config = name_resolution.require_nugget(view.state.nuggets, nugget)
            notes = view.state.notes
            return _oldest_first(notes.find(nugget=config.name, kind="fact", hidden=False))

    def clear(self, nugget: str) -> int:
        """Delete all facts of a nugget; returns how many. Its notes stay."""
        return self._update("clear", lambda d: d.clear(nugget))

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
        """Store a note, in a nugget that is made if need be.

        `created_at`, for imports: a datetime, or the time as text.
        """
        metadata, tags = checked_metadata(meta), checked_tags(tags)
        _infer_beforehand(content)
        context = self._writing_context(content, title)
        note = self._update(
            "create_note",
            lambda d: d.create_note(nugget, title, content, tags, created_at, metadata, context),
        )
        self.record_reading(note)
        return note

    def get_note(
        self,
        name: str,
        nugget: str | None = None,
        session: str | None = "",
        *,
        archived: bool = False,
    ) -> MemoryNote:
        """A note by id, exact title, or unambiguous beginning of an id. Counts as a recall.

        The title of a note that was merged away means the note it went into. `archived`: of notes
        with that title, prefer an archived one.
        """
        with self._transactions.reading() as view:
            note = name_resolution.resolve(
                view.state.notes,
                name,
                nugget,
                project=self.project,
                archived=archived,
                follow_merges=not archived,
            )
            return note if session is None else self._touch(note, session, "opened")

    def count_hit(self, note_id: str, session: str, kind: HitKind) -> None:
        """Count a note that answered outside of an operation of this shelf: a hook injected it on
        plain evidence, or an agent cited it."""
        with self._transactions.reading():
            self._count(note_id, session, kind)

    def get_notes(self, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
        """The notes with these ids that exist, archived or not. Counts no recall."""
        with self._transactions.reading() as view:
            return view.state.notes.many(ids)

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
        """Change what is given. Editing a fact's title or content changes the fact.

        `expected`: the `updated_at` that the editor saw; `Conflict` if someone changed the note
        since.
        """
        if hidden is not None:
            check_flag(hidden, "hidden")
        given, own = checked_metadata(meta), None if tags is None else checked_tags(tags)
        context = self._writing_context(content, title or "")
        note = self._update(
            "edit_note",
            lambda d: d.edit_note(
                name,
                nugget,
                expected,
                given,
                content=content,
                title=title,
                tags=own,
                hidden=hidden,
                context=context,
            ),
        )
        if content is not None:
            self.record_reading(note)
        elif note.replaced is not None and self._readings is not None:
            self._readings.carry_over(self._client.session, note.replaced, note)
        return note

    def _writing_context(self, text: str | None, title: str) -> "WritingContext":
        """What is looked up for a text before it is written; None: no text is."""
        from nuggets.operations.lookups_before_write import NO_CONTEXT, WritingContext

        if text is None:
            return NO_CONTEXT
        return WritingContext(self._rivals(text, title), self._anchors(text, title))

    def _rivals(self, text: str, title: str) -> Sequence[str]:
        """Ids of notes that a text may contradict: those on the same words, if it may be a rule.

        Not in a batch, which may write thousands; `audit` compares them all.
        """
        from nuggets.operations.lookups_before_write import may_state_rule

        plain = not self._client.compares_all
        if self._transactions.defers_writes or not may_state_rule(text, title, plain=plain):
            return ()
        with self._transactions.reading_indexes() as view:
            query = f"{title}\n{text}"[:RULE_CHARACTERS]
            results = view.search.search(query, RIVALS, NO_FILTERS, self.project)
            return [result.note.id for result in results]

    def caveats(self, note: MemoryNote, *, ask_git: bool = False) -> Sequence[str]:
        """Reasons not to rely on a memory, in a few words each: it is not valid now, contradicts
        another one, or names files and lines that have changed since.

        `ask_git`: find out now where a missing file went; otherwise the daily pass does.
        """
        invalid = self.invalidity(note)
        caveats = [invalid] if invalid else []
        rivals = [link.to for link in note.links if link.reason == CONTRADICTS]
        if rivals:
            others = self.get_notes(rivals).values()
            caveats += [f"contradicts {other.id}" for other in others if not other.hidden]
        return [*caveats, *self._stale_reasons(note, ask_git=ask_git)]

    def record_reading(self, note: MemoryNote, start: int = 0, end: int | None = None) -> None:
        """Record that the client was shown this part of the note's text, by default all of it: some
        clients must read a text before they replace it."""
        if self._readings is not None and self._client.reads_first:
            end = len(note.content) if end is None else end
            self._readings.add(self._client.session, note, start, end)

    def delete_note(self, name: str, hard: bool = False, nugget: str | None = None) -> MemoryNote:
        """Archive a note, or with `hard` delete it with all links to it; `undo` reverts either."""
        check_flag(hard, "hard")
        return self._update("delete_note", lambda d: d.delete_note(name, nugget, hard))

    def restore_note(self, name: str, nugget: str | None = None) -> MemoryNote:
        """Restore an archived note or fact."""
        return self._update("restore_note", lambda d: d.restore_note(name, nugget))

    def add_link(self, a: str, b: str, reason: str = "", nugget: str | None = None) -> bool:
        """Link two notes, at both ends; False if they have this link already."""
        return self._update("add_link", lambda d: d.add_link(a, b, reason, nugget))

    def remove_link(
        self, a: str, b: str, reason: str | None = None, nugget: str | None = None
    ) -> bool:
        """Remove the link with this reason, or all links between two notes; False if there was
        none."""
        if reason is not None:
            reason = storable(reason, "a reason")
        return self._update("remove_link", lambda d: d.remove_link(a, b, reason, nugget))

    def merge_notes(
        self,
        target: str,
        source: str,
        reason: str = "",
        nugget: str | None = None,
        *,
        dry_run: bool = False,
    ) -> MemoryNote:
        """Merge the source into the target; the source is archived with a link to it."""
        return self._update(
            "merge_notes",
            lambda d: d.merge_notes(target, source, reason, nugget),
            dry_run=dry_run,
        )

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: "Unpack[NoteFilters]"
    ) -> Sequence[MemoryNote]:
        """The notes that match the filters, oldest first. Facts are notes of kind fact."""
        from nuggets.domain.filters import matches

        with self._transactions.reading() as view:
            combined = checked_filters(filters, wanted, view.state)
            listed = view.state.notes.find(
                nugget=combined.nugget,
                kind=combined.kind,
                hidden=None if combined.include_hidden else False,
            )
            return _oldest_first(note for note in listed if matches(note, combined))

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str | None = "",
        **wanted: "Unpack[NoteFilters]",
    ) -> Sequence[SearchNotesResult]:
        """The notes that a query is about, best first; this project's before those of others.

        Notes that match too weakly are no results. A result that clearly answers the query is
        marked, and gains a hit in a session that has not recalled it before; being listed counts
        nothing.
        """
        check_count(limit, "how many results to give")
        query = checked_query(query)
        with self._transactions.reading_indexes() as view:
            combined = checked_filters(filters, wanted, view.state)
            most = max(limit, RESULTS_COMPARED)
            results = view.search.search(query, most, combined, self.project, self._meaning(view))
            marked = mark_clear_answer(results, self.project)[:limit]
            return self._count_answer(marked, session)

    def _count_answer(
        self, results: Sequence[SearchNotesResult], session: str | None
    ) -> Sequence[SearchNotesResult]:
        """The results, with their notes as they are once they have been shown. Only the clear
        answer counts as recalled."""
        if session is None:
            return results
        session, now = checked_session(session), self._clock()
        touches = [
            Touch(result.note.id, session if result.clear_answer else "", now, "answered")
            for result in results
        ]
        self._transactions.touch(tuple(touches))
        return [
            result._replace(note=apply_touch(result.note, touch))
            for result, touch in zip(results, touches, strict=True)
        ]

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has its score for a query. `include_hidden`: as in that search."""
        query, note_id = checked_query(query), storable(note_id, "the id of a note")
        check_flag(include_hidden, "include_hidden")
        with self._transactions.reading_indexes() as view:
            return view.search.explain(query, note_id, include_hidden)

    def namesakes(self, note: MemoryNote) -> Sequence[MemoryNote]:
        """Other visible notes that its title may mean here, oldest first; not those of another
        project, which come after all of them."""
        return [namesake for namesake in self.notes_titled(note.title) if namesake.id != note.id]

    def notes_titled(self, title: str, nugget: str | None = None) -> Sequence[MemoryNote]:
        """The visible notes of exactly this title, without other projects' ones; oldest first."""
        wanted = fold_case(storable(title, "a title"))
        with self._transactions.reading() as view:
            alike = _oldest_first(view.state.notes.find(nugget=nugget, title=title, hidden=False))
        return [
            note for note in alike if fold_case(note.title) == wanted and not self.is_foreign(note)
        ]

    def leading_notes(self) -> Sequence[MemoryNote]:
        """What a new session may want to know, of this project's notes and those of no project: the
        preferences, the most recalled and the newest, some hundred of each. Only what is valid now.
        """
        with self._transactions.reading() as view:
            leading = view.state.notes.leading(visible_projects(self.project), LEADING)
            return [note for note in leading if not self.invalidity(note)]

    def invalidity(self, memory: MemoryNote | RecallResult) -> str:
        """Why a memory is not valid now: "no longer valid" or "not yet valid"; "" if it is."""
        return invalidity(memory, self._clock())

    def is_foreign(self, note: MemoryNote | RecallResult) -> bool:
        """Does it belong to another project than the current one?"""
        return is_foreign(note, self.project)

    # --- sessions ---------------------------------------------------------------------------

    def keep_session(self, record: "SessionRecord") -> str:
        """Write or update the note of a session with an agent; returns its id.

        Notes of sessions that ended more than `session_days` ago are dropped.
        """
        from nuggets.domain.times import iso, parse

        days = self.settings["session_days"]
        oldest = ""
        if days:
            from datetime import timedelta

            oldest = iso(parse(self._clock()) - timedelta(days=days))
        return self._update("keep_session", lambda d: d.keep_session(record, oldest))

    def sessions(self, *, all_projects: bool = False) -> Sequence[MemoryNote]:
        """The notes of this project's sessions with agents, or of all; the last one first."""
        from nuggets.operations.session_notes import session_notes

        with self._transactions.reading() as view:
            return session_notes(view.state, None if all_projects else self.project)

    def get_session(self, name: str | None = None) -> MemoryNote:
        """The note of a session by its id; without one the last of this project. Counts no hit."""
        from nuggets.operations.session_notes import find_session

        with self._transactions.reading() as view:
            return find_session(view.state, name, self.project)

    def search_sessions(
        self, query: str, limit: int = 5, *, all_projects: bool = False
    ) -> Sequence[SearchNotesResult]:
        """The notes of sessions that a query is about, best first. Counts no hit.

        Each has a word of the query: sessions are linked to their neighbours in time, which search
        would find with them.
        """
        from nuggets.operations.session_notes import NUGGET, is_session_note

        if not self.has(NUGGET):
            return []
        check_count(limit, "how many results to give")
        results = self.search_notes(
            query, limit + SESSIONS_SEARCHED, session=None, nugget=NUGGET, include_hidden=True
        )
        found = (
            result
            for result in results
            if is_session_note(result.note)
            and (all_projects or result.note.project == self.project)
            and self.explain(query, result.note.id, include_hidden=True).says_a_word
        )
        return list(islice(found, limit))

    # --- copies on other machines -----------------------------------------------------------

    def copy_index(self, most: int, since: int = 0) -> CopyIndex:
        """What a local copy of this shelf should hold: at most so many visible notes, the most
        recently used; and which of them changed after a revision."""
        check_count(most, "how many notes a copy holds")
        with self._transactions.reading() as view:
            ids = view.state.notes.recent_ids(most)
            commits = self.new_commits(since, COPIED_COMMITS) if since else None
            listed = tuple(ids)
            if commits is not None:
                changed = {note.id for commit in commits for note in commit.changes.put}
                listed = tuple(note_id for note_id in ids if note_id in changed)
            nuggets = tuple(view.state.nuggets.values())
            return CopyIndex(self.revision, tuple(ids), listed, nuggets)

    # --- other memories ---------------------------------------------------------------------

    def import_memories(
        self, source: "NuggetShelf | Iterable[Mapping[str, Any]]", *, dry_run: bool = False
    ) -> Intake:
        """Merge another shelf into this one, or notes in the JSON of graph.json.

        Of two versions, the one that a person changed last wins. What was deleted here after that
        stays deleted; what was deleted there stays here. Importing twice changes nothing the second
        time. Notes and nuggets that could not have been made here are left out and named
        (`Intake.refused`).
        """
        from nuggets.graph.shelf_import import OtherShelf

        refused: tuple[str, ...] = ()
        if isinstance(source, NuggetShelf):
            stored = source._maintenance.as_other()
            notes, invalid_notes = valid_records(stored.notes, checked_note)
            nuggets, invalid_nuggets = valid_records(stored.nuggets, checked_nugget)
            other_shelf = OtherShelf(notes, nuggets, stored.past)
            refused = invalid_nuggets + invalid_notes
        else:
            other_shelf = OtherShelf(notes_from_json(source, self._clock(), self._draw))
        if self.is_team:
            from nuggets.operations.membership import without_private

            visible, private = without_private(other_shelf.notes)
            other_shelf = other_shelf._replace(notes=visible)
            refused += private
        intake = self._update(
            "import_memories",
            lambda d: d.import_memories(other_shelf, self._maintenance.recorded_past()),
            dry_run=dry_run,
        )
        return intake._replace(refused=refused)

    def _view(self, name: str) -> "Nugget":
        from nuggets.nugget import Nugget

        return Nugget.from_shelf(self, name)

    def _touch(self, note: MemoryNote, session: str, kind: HitKind) -> MemoryNote:
        """The note after it was shown."""
        return apply_touch(note, self._count(note.id, session, kind))

    def _count(self, note_id: str, session: str, kind: HitKind) -> Touch:
        touch = Touch(note_id, checked_session(session), self._clock(), kind)
        self._transactions.touch((touch,))
        return touch


def _location(save_dir: StrPath | None, settings: Settings | None) -> str:
    if save_dir is not None:
        return path_text(save_dir) or ""
    return settings["dir"] if settings is not None else default_location(os.environ)


NuggetGraph = NuggetShelf  # the note operations of a shelf, under their documented name


def reflect_and_clean_memory(
    shelf: NuggetShelf, nugget: str | None = None, limit: int | None = None
) -> ReflectionResult:
    """`NuggetShelf.reflect` under its documented name."""
    return shelf.reflect(nugget, limit)


def promote_facts(shelf: NuggetShelf, path: StrPath | None = None) -> int:
    """`NuggetShelf.promote` under its documented name."""
    return shelf.promote(path)


def _oldest_first(notes: Iterable[MemoryNote]) -> list[MemoryNote]:
    """Notes by age; imported and undone notes are older than their place in the table."""
    return sorted(notes, key=lambda note: note.created_at)


def _infer_beforehand(content: str) -> None:
    """Analyze a long text before the lock is taken; the result is cached."""
    from nuggets.graph.metadata_inference import content_tags

    if isinstance(content, str):  # else deciding refuses it
        content_tags(content)
