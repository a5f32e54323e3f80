"""`NuggetShelf`, the one door that every interface uses: all that can be done with a shelf.

Every operation is a transaction (`operations/transactions.py`): it reads, decides and writes. What
it changes is decided purely (`operations/operation_changes.py`); what looks after a shelf over time
is in `maintenance/` and `promotion/`, which are loaded when they are called. A new operation needs
a row in `operations/operation_table.py`.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets.domain import times
from nuggets.domain.limits import (
    FILES_SEEN,
    check_count,
    check_flag,
    check_whole,
    checked_tags,
    storable,
)
from nuggets.domain.marks import (
    BLOCK_FILES,
    checksum,
    is_block_file,
    memory_file_records,
)
from nuggets.domain.records import (
    CONTRADICTS,
    Changes,
    Commit,
    CommitSummary,
    CopyIndex,
    DailyRun,
    ExportsStatus,
    ExternalEdit,
    HitKind,
    Intake,
    Member,
    MemberStatus,
    MemoryNote,
    MemoryVersion,
    NoteFilterOptions,
    NuggetStatus,
    ProjectMove,
    ProjectStatus,
    RecallResult,
    ReflectionResult,
    Role,
    SearchNotesResult,
    Touch,
    WrittenNote,
)
from nuggets.domain.state import State, apply_touch
from nuggets.domain.times import invalidity, note_at, version_at
from nuggets.domain.visibility import (
    combine_filters,
    is_foreign,
    is_of_conversation,
    is_seen_file,
    matches,
    visible_projects,
)
from nuggets.errors import Ambiguous, InvalidInput, NotFound, NuggetsError, StoreError
from nuggets.facts.capacity import nugget_status
from nuggets.filesystem.atomic_files import read_if_plain
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    distinct_id,
    find_project,
    has_shared_files,
    is_repository,
    require_folder,
    root_of,
)
from nuggets.filesystem.shelf_location import (
    ENCODER_FILE,
    default_location,
    is_server,
)
from nuggets.language.text import fold_case
from nuggets.operations import argument_checks, permissions
from nuggets.operations.argument_checks import (
    StrPath,
    checked_metadata,
    checked_moment,
    checked_query,
    checked_question,
    checked_session,
    path_text,
)
from nuggets.operations.permissions import Client, checked_member_name
from nuggets.operations.project_identity import (
    Location,
    Recognition,
    is_recorded,
    needs_recording,
    recognize_place,
    recognize_project,
    recorded_locations,
    with_evidence,
)
from nuggets.operations.transactions import KINDS, Decision, Transactions
from nuggets.settings import Settings, load
from nuggets.stores import open_store

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from nuggets.domain.records import Anchor, Defect
    from nuggets.domain.type_check import NoteFilters, NoteMeta, NuggetOptions
    from nuggets.encoder.vector_index import TextEncoder
    from nuggets.maintenance import ShelfContext
    from nuggets.maintenance.audit_and_daily_run import CleanUp, Finding
    from nuggets.maintenance.export_and_backup import Exported
    from nuggets.maintenance.history import History
    from nuggets.maintenance.paired_machines import PairResult
    from nuggets.maintenance.promotion import MemoryFiles, MemoryFileText
    from nuggets.maintenance.promotion.hand_edits import FileEdits
    from nuggets.maintenance.promotion.sections import Promotion
    from nuggets.maintenance.purge import Purge, Purged
    from nuggets.maintenance.trusted_repositories import ProjectSharing
    from nuggets.maintenance.vault import VaultResult
    from nuggets.operations.idempotent_calls import Caller
    from nuggets.operations.lookups_before_write import WritingContext
    from nuggets.operations.operation_changes import OperationChanges
    from nuggets.operations.session_notes import SessionRecord
    from nuggets.operations.shared_memories import SyncResult
    from nuggets.operations.shelf_encoder import ShelfEncoder
    from nuggets.search.explanation import Explanation
    from nuggets.shelf.nugget import Nugget
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored
    from nuggets.stores.sql.shelf_copy import Copied
    from nuggets.stores.sql.store import Store

T = TypeVar("T")

NO_FILTERS = NoteFilterOptions()
_EXACTLY = RecallResult(  # a fact that was forgotten since
    found=True, match="exact", ratio=1.0, confidence=1.0, margin=1.0, probability=1.0
)
SESSIONS_SEARCHED = 20  # results beside those asked for: notes of no project rank among them
RULE_CHARACTERS = 400  # of a text by which those that it may contradict are searched
RIVALS = 12  # notes that it is compared with
LEADING = 200  # notes of each kind that a session may begin with; it is told some dozens


def random_hex() -> str:
    """Eight digits for an id."""
    return os.urandom(4).hex()


class NuggetShelf:
    """All nuggets of one directory: the API that every front door uses."""

    _caller: "Caller | None" = None  # who calls over the network, for whom this is a view

    def __new__(cls, save_dir: StrPath | None = None, *_: Any, **options: Any) -> Self:
        """A shelf at https://… is a `RemoteShelf`."""
        if cls is NuggetShelf and is_server(_location(save_dir, options.get("settings"))):
            from nuggets.remote.remote_shelf import RemoteShelf

            return object.__new__(RemoteShelf)  # type: ignore[return-value]
        return object.__new__(cls)

    def __init__(
        self,
        save_dir: StrPath | None = None,
        auto_save: bool = True,
        *,
        store: "Store | None" = None,
        settings: Settings | None = None,
        short_lived: bool = False,
        project: str | None = None,
        folder: str | None = None,
        at_work: bool = False,
        client: str | Client = "python",
        encoder: "TextEncoder | Callable[[Sequence[str]], Any] | None" = None,
        uses_encoder: bool = True,
        clock: Callable[[], str] = times.now,
        draw: Callable[[], str] = random_hex,
    ) -> None:
        """`save_dir`: a directory, or ``memory:``; by default NUGGETS_DIR, or else ~/.nuggets.

        `auto_save=False` keeps all changes unsaved until `save_all`.
        `settings`: by default those of the environment and of the directory's config.toml.
        `project`: the id of the project that new memories belong to; by default it is recognized
        by `folder`, the directory someone works in (by default the current one).
        `at_work`: whoever writes is at work in it, so what they learn is the project's, unless it
        is about a person; otherwise a memory's words decide.
        `short_lived`: nothing is left for later, because there will be none.
        `client`: who writes, by name for the history, or with rules of its own.
        `encoder`: turns texts into vectors, in place of an installed one (`encoder.install`).
        `uses_encoder`: False if searches should not load an encoder, which takes a tenth of a
        second.
        """
        url = path_text(save_dir)
        self.settings = settings or load(os.environ, {"dir": url})
        self._named_project = (self.settings["project"] or None) if project is None else project
        self._project = self._named_project  # None until it is recognized
        self._folder = folder
        self._needs_recording = True  # as far as is known, of where the project lies
        self._recognition: Recognition | None = None
        self._client = client if isinstance(client, Client) else Client(client, at_work=at_work)
        self._readings = permissions.ReadingRecord() if self._client.reads_first else None
        self._clock = clock
        self._draw = draw
        self._url: str = self.settings["dir"] if url is None else url
        self._given_encoder = encoder
        self._uses_encoder = uses_encoder
        self._open(store, auto_save=auto_save, short_lived=short_lived)

    def _open(self, store: "Store | None", *, auto_save: bool, short_lived: bool) -> None:
        if store is None:
            store = open_store(self._url, KINDS, self._import_edit, short_lived=short_lived)
        self._encoder_path = store.directory and os.path.join(store.directory, ENCODER_FILE)
        self._transactions = Transactions(
            store, auto_save=auto_save, finish_purge=lambda: self._purge.finish()
        )

    @classmethod
    def open(cls, url: StrPath, **options: Any) -> Self:
        """Open the shelf at a URL: a directory, or ``memory:``."""
        return cls(url, **options)

    # --- opening and saving ---------------------------------------------------------------

    def close(self) -> None:
        """Save unsaved changes and close the files. Using the shelf again reopens it.

        `Conflict` names changes that do not fit what others wrote meanwhile; only these are left
        unsaved.
        """
        self._transactions.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside comes from one revision, and a repeated query is parsed once.
        Write nothing inside."""
        with self._transactions.reading(flush=False):
            yield

    def needs_migration(self) -> bool:
        """Will the first operation migrate tables or index all notes, which may take long?"""
        return self._transactions.store.needs_migration()

    def load_all(self) -> None:
        """Read the current state. Every call does so anyway."""
        with self._transactions.reading():
            pass

    def save_all(self) -> None:
        """Write all unsaved changes as one commit, or none.

        If someone else meanwhile changed the same memory, `Conflict` names it, nothing is written,
        and everything stays unsaved: `discard_unsaved` drops what should not be saved. The
        documented files of a small shelf are current after it.
        """
        self._transactions.save()
        self._transactions.store.follow_exports()

    def discard_unsaved(self, name: str | None = None) -> None:
        """Drop all changes that `save_all` would write, or only those of what a `Conflict` names
        (the id of a note, a nugget) and those that build on them."""
        self._transactions.discard(name)

    def batch(self) -> AbstractContextManager[None]:
        """Write all changes inside as one commit at the end; after an error inside, none of them.

        A batch belongs to the thread, or asyncio task, that opened it. Others can read meanwhile;
        their writes wait for its end, and fail with `StoreBusy` if that takes too long. So inside a
        batch, `await` nothing, and wait for no other thread that writes.
        """
        return self._transactions.batch()

    @property
    def warnings(self) -> Sequence[str]:
        """Problems that a person should solve, such as files that cannot be read."""
        store = self._transactions.store
        return (*store.warnings, *store.notices, *filter(None, [store.unfinished_erasure]))

    # --- who works with it ----------------------------------------------------------------

    @property
    def server(self) -> str:
        """The address of the server that keeps it; "" if it is kept here."""
        return ""

    @property
    def client_name(self) -> str:
        """The name of this client in the history."""
        return self._client.name

    def for_client(self, client: Client) -> Self:
        """The same shelf for another client of this process, on the same store."""
        if client.reads_first and self._readings is None:
            self._readings = permissions.ReadingRecord()
        return self._view_with(_client=client)

    def _view_with(self, **changed: Any) -> Self:
        """The same shelf, on the same store, with this changed."""
        view = object.__new__(type(self))
        vars(view).update(vars(self), **changed)
        return view

    def for_caller(self, caller: "Caller") -> Self:
        """The same shelf for a client on another machine. No file is read at its word."""
        return self.for_client(caller.client)._view_with(
            _caller=caller,
            _project=caller.project,
            _named_project=caller.project,
            _recognition=None,
            _folder=None,
            _needs_recording=True,
        )

    def for_project(self, name: str) -> Self:
        """The same shelf for someone who works in another project: its folder, its id, the name of
        its folder, or "" for none."""
        view = self._view_with()
        view.project = ""
        if os.path.isabs(name) and os.path.isdir(name):
            view._folder = name
            view._project = view._named_project = None
        elif name:
            known = [status.project for status in self.projects()]
            view.project = name if name in known else find_project(name, known)
        return view

    # --- nuggets --------------------------------------------------------------------------

    def create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        """A new nugget; `Conflict` if there is one of that name."""
        return self._view(self._update("create", lambda d: d.create(name, dict(config))))

    def get(self, name: str) -> "Nugget":
        """The nugget of this name, ignoring case; `NotFound` lists the existing ones."""
        with self._transactions.reading() as view:
            return self._view(argument_checks.require_nugget(view.state.nuggets, name).name)

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
            return argument_checks.find_nugget(view.state.nuggets, name) is not None

    def __contains__(self, nugget: "str | Nugget") -> bool:
        """Whether a name, or a nugget that iteration gave, is that of a nugget here."""
        from nuggets.shelf.nugget import Nugget

        return self.has(nugget.name if isinstance(nugget, Nugget) else nugget)

    def remove(self, name: str) -> int:
        """Delete a nugget with all its facts and notes; returns how many."""
        return self._update("remove", lambda d: d.remove(name))

    def list(self) -> tuple[NuggetStatus, ...]:
        """The status of every nugget, by name."""
        with self._transactions.reading() as view:
            configs = sorted(view.state.nuggets.values(), key=lambda config: config.name)
            counts = view.state.notes.counts()
            return tuple(nugget_status(config, counts) for config in configs)

    def status(self, nugget: str) -> NuggetStatus:
        """How full one nugget is; beyond its capacity it goes on in pages and stays exact."""
        with self._transactions.reading() as view:
            config = argument_checks.require_nugget(view.state.nuggets, nugget)
            return nugget_status(config, view.state.notes.counts())

    @property
    def size(self) -> int:
        """How many nuggets there are."""
        with self._transactions.reading() as view:
            return len(view.state.nuggets)

    # --- facts ----------------------------------------------------------------------------

    def remember(
        self, nugget: str, key: str, value: str, **meta: "Unpack[NoteMeta]"
    ) -> WrittenNote:
        """Store a fact, in a nugget that is made if need be; a known key gets the new value, and
        `replaced` is the fact as it was before."""
        metadata, context = checked_metadata(meta), self._writing_context(value, key)
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
        query = checked_question(query)
        if not query.strip():
            return RecallResult()
        if as_of is not None:
            return self._recall_version(query, nugget, as_of)
        with self.snapshot():
            result = self._find_fact(query, nugget)
            if result.is_clear and session is not None:
                self._count(result.note_id, session, "recalled")
            return result

    def _recall_version(
        self, query: str, nugget: str | None, as_of: "str | datetime"
    ) -> RecallResult:
        moment = times.day_boundary(as_of, end=True, field="as_of")
        with self.snapshot():
            result = self._find_fact(query, nugget)
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

    def _find_fact(self, query: str, nugget: str | None) -> RecallResult:
        with self._transactions.reading(flush=False) as view:
            if nugget is not None:
                nugget = argument_checks.require_nugget(view.state.nuggets, nugget).name
            least = self.settings["recall_min_probability"]
            return view.facts.recall(query, nugget, self.project, least)

    def recall_or_search(
        self, query: str, nugget: str | None = None, session: str | None = "", limit: int = 5
    ) -> tuple[RecallResult, Sequence[SearchNotesResult]]:
        """Recall a fact; if none answers, search notes.

        Only a result that is marked as a clear answer counts as found; the others are merely the
        nearest. Each has a word of the query, because whoever asks for a key wants nothing that
        only resembles it. Notes on files that hooks saw come last.
        """
        check_count(limit, "how many results to give")
        query = checked_question(query)
        if not query.strip():
            return RecallResult(), ()

        with self.snapshot():
            recall = self.recall(query, nugget, session)
            if recall.found:
                return recall, ()
            from nuggets.search.answer_degree import RESULTS_COMPARED, mark_clear_answer

            filters = NoteFilterOptions(nugget=nugget)
            most = max(limit, RESULTS_COMPARED)
            results = self._find_notes(query, most, filters)
            if any(is_seen_file(result.note) for result in results):  # maybe called alike
                results = self._find_notes(query, most + FILES_SEEN, filters)
            seen_last = sorted(results, key=lambda result: is_seen_file(result.note))
            marked = mark_clear_answer(query, seen_last, self.project)
            if marked and marked[0].note.kind == "fact":  # recall refused it: the key is another
                marked[0] = marked[0]._replace(clear_answer=False)
            with_a_word = (
                result for result in marked if self.explain(query, result.note.id).says_a_word
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
            config = argument_checks.require_nugget(view.state.nuggets, nugget)
            notes = view.state.notes
            return _oldest_first(notes.find(nugget=config.name, kind="fact", hidden=False))

    def clear(self, nugget: str) -> int:
        """Delete all facts of a nugget; returns how many. Its notes stay."""
        return self._update("clear", lambda d: d.clear(nugget))

    # --- notes ----------------------------------------------------------------------------

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
    ) -> MemoryNote:
        """A note by id, exact title, or unambiguous beginning of an id. Counts as a recall.

        The title of a note that was merged away means the note it went into.
        """
        with self._transactions.reading() as view:
            note = argument_checks.resolve(
                view.state.notes,
                name,
                nugget,
                project=self.project,
                follow_merges=True,
            )
            return note if session is None else self._touch(note, session, "opened")

    def get_notes(self, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
        """The notes with these ids that exist, archived or not. Counts no recall."""
        with self._transactions.reading() as view:
            return view.state.notes.many(ids)

    def count_hit(self, note_id: str, session: str, kind: HitKind) -> None:
        """Count a note that answered outside of an operation of this shelf: a hook injected it on
        plain evidence, or an agent cited it."""
        with self.snapshot():
            self._count(note_id, session, kind)

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
        from nuggets.operations.notes_and_links import NoteEdit

        given, own = checked_metadata(meta), None if tags is None else checked_tags(tags)
        edit = NoteEdit(content, title, own, hidden)
        context = self._writing_context(content, title or "")
        note = self._update(
            "edit_note", lambda d: d.edit_note(name, nugget, expected, edit, given, context)
        )
        if content is not None:
            self.record_reading(note)
        return note

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
        combined = combine_filters(filters, wanted)
        with self._transactions.reading() as view:
            if combined.nugget is not None:
                argument_checks.require_nugget(view.state.nuggets, combined.nugget)
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
        from nuggets.search.answer_degree import RESULTS_COMPARED, mark_clear_answer

        check_count(limit, "how many results to give")
        query, combined = checked_query(query), combine_filters(filters, wanted)
        with self.snapshot():
            most = max(limit, RESULTS_COMPARED)
            results = self._find_notes(query, most, combined, by_meaning=True)
            marked = mark_clear_answer(query, results, self.project)[:limit]
            first = marked[0] if marked else None
            if first is not None and first.clear_answer and first.note.kind == "fact":
                fact = self._find_fact(query, combined.nugget)  # what it doubts is not clear here
                is_doubted = fact.note_id == first.note.id and not fact.is_clear
                marked[0] = first._replace(clear_answer=not is_doubted)
            return self._count_answer(marked, session)

    def _find_notes(
        self, query: str, most: int, filters: NoteFilterOptions, *, by_meaning: bool = False
    ) -> Sequence[SearchNotesResult]:
        with self._transactions.reading(flush=False) as view:
            if filters.nugget is not None:
                argument_checks.require_nugget(view.state.nuggets, filters.nugget)
            compares = by_meaning and self._uses_encoder and self.has_encoder
            meaning = self.encoder.compare_with(view) if compares else None
            return view.search.search(query, most, filters, self.project, meaning)

    def _count_answer(
        self, results: Sequence[SearchNotesResult], session: str | None
    ) -> Sequence[SearchNotesResult]:
        """The results, with their notes as they are once they have been shown. Only the clear
        answer counts as recalled."""
        if session is None:
            return results
        session = checked_session(session)
        return [
            result._replace(
                note=self._touch(result.note, session if result.clear_answer else "", "answered")
            )
            for result in results
        ]

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has its score for a query. `include_hidden`: as in that search."""
        query, note_id = checked_query(query), storable(note_id, "the id of a note")
        with self._transactions.reading(flush=False) as view:
            return view.search.explain(query, note_id, include_hidden)

    def notes_titled(self, title: str) -> Sequence[MemoryNote]:
        """The visible notes of exactly this title, without other projects' ones; oldest first."""
        wanted = fold_case(storable(title, "a title"))
        with self._transactions.reading() as view:
            alike = _oldest_first(view.state.notes.find(title=title, hidden=False))
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

    def caveats(self, note: MemoryNote, *, git_seconds: float | None = None) -> Sequence[str]:
        """Reasons not to rely on a memory, in a few words each: it is not valid now, was said for
        one session, contradicts another one, or names files and lines that have changed since.

        Which session that was is not kept, so the same one is told it too.

        `git_seconds`: how long git may take to say where a missing file went.
        """
        invalid = self.invalidity(note)
        caveats = [invalid] if invalid else []
        if note.scope == "session" and not is_of_conversation(note):
            caveats.append(f"said for one session, {times.ago(note.updated_at, self._clock())}")
        rivals = [link.to for link in note.links if link.reason == CONTRADICTS]
        if rivals:
            others = self.get_notes(rivals).values()
            caveats += [f"contradicts {other.id}" for other in others if not other.hidden]
        return [*caveats, *self._stale_reasons(note, git_seconds=git_seconds)]

    # --- sessions -------------------------------------------------------------------------

    def keep_session(self, record: "SessionRecord") -> str:
        """Write or update the note of a session with an agent; returns its id.

        Notes of sessions that ended more than `session_days` ago are dropped.
        """
        days = self.settings["session_days"]
        oldest = ""
        if days:
            from datetime import timedelta

            oldest = times.iso(times.parse(self._clock()) - timedelta(days=days))
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

    # --- history --------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The number of the last commit, whoever made it; cheap to ask for often."""
        with self._transactions.reading():
            return self._transactions.store.position[0]

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread, to undo exactly that; 0 without one.

        It stays the same when an operation finds nothing to change.
        """
        return self._transactions.own_revision

    def commits(self, since: int = 0, most: int | None = None) -> Sequence[Commit]:
        """The commits after a revision that are still kept, oldest first, with counted recalls.

        `most`: only the first so many.
        """
        check_whole(since, "a revision")
        with self._transactions.reading():
            return list(islice(self._transactions.store.history.commits(since), most))

    def commit_summaries(self, since: int = 0, most: int | None = None) -> Sequence[CommitSummary]:
        """The commits after a revision without their notes, which is far less work.

        `most`: only the last so many.
        """
        check_whole(since, "a revision")
        with self._transactions.reading():
            first = since if most is None else max(since, self.revision - most)
            return list(self._transactions.store.history.summaries(first))

    def history(self, note: str | None = None, limit: int = 20, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision, newest first: all that changed something, or one note."""
        check_whole(since, "a revision")
        check_count(limit, "how many entries to show")
        if note is not None:
            note = storable(note, "the name of a memory")
        return self._history.list_commits(note, limit, since)

    def versions(self, name: str, nugget: str | None = None) -> "Sequence[MemoryVersion]":
        """What a fact or note said and when, oldest first, including what it superseded.

        A deleted one can be named as long as the history has it (`history_days`). Of an existing
        one, the last 100 texts are kept even longer.
        """
        name = storable(name, "the name of a memory")
        return self._history.find_versions(name, nugget)

    def note_at(self, note_id: str, moment: str) -> MemoryNote | None:
        """A note as it was at a time, as far as the history reaches; None if there was none."""
        with self._transactions.reading() as view:
            images = self._transactions.store.history.earlier_images(note_id)
            return note_at(images, view.state.notes.get(note_id), moment)

    def commit(self, revision: int) -> Commit:
        """One commit of the history."""
        check_whole(revision, "a revision")
        with self._transactions.reading():
            return self._history.find_commit(revision)

    def changes_in_effect(self, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision that are neither undone nor an undo, newest first."""
        from nuggets.maintenance.undo import changes_in_effect

        check_whole(since, "a revision")
        with self._transactions.reading():
            commits = self._transactions.store.history.commits(since, newest_first=True)
            return list(changes_in_effect(commits))

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        """Those of the commits that `undo` would revert now."""
        return self._history.find_undoable(revisions)

    def undo(self, revision: int | None = None, dry_run: bool = False) -> Commit:
        """Revert a commit, by default this client's last change in this project that is not
        reverted yet; returns that commit. Undo an undo to redo. `dry_run` changes nothing.

        Of a reflection, notes that changed since are left as they are: `left` of the commit names
        them. `Conflict` says which later change would be lost, or that the last change is not
        saved yet.
        """
        if revision is not None:
            check_whole(revision, "a revision")
        return self._history.undo_commit(self._memory_files, revision, dry_run=dry_run)

    def purge(self, name: str, nugget: str | None = None, *, dry_run: bool = False) -> "Purged":
        """Erase a memory from the shelf, its history and the memory files; returns where it was.

        The diaries of agents' conversations are erased with it, and the notes of those that were
        not over before it was made. A deleted note can still be named by its whole id. This cannot
        be undone; `dry_run` changes nothing and says what would go.
        """
        return self._purge.erase_memory(name, nugget, dry_run=dry_run)

    def purge_fact(self, nugget: str, key: str) -> "Purged":
        """Erase every fact that this project ever had under exactly this key, deleted or not."""
        nugget, key = storable(nugget, "a nugget's name"), storable(key, "a key")
        return self._purge.erase_key(
            nugget, key, lambda: self._decisions().fact_to_purge(nugget, key).id
        )

    @property
    def _history(self) -> "History":
        from nuggets.maintenance.history import History

        return History(self._context)

    def copy_index(self, most: int) -> CopyIndex:
        """What a local copy of this shelf should hold: at most so many visible notes, the most
        recently used."""
        from nuggets.domain.codec import note_digest

        check_count(most, "how many notes a copy holds")
        with self._transactions.reading() as view:
            notes = view.state.notes.many(view.state.notes.recent_ids(most))
            digests = {note_id: note_digest(note) for note_id, note in notes.items()}
            return CopyIndex(digests, tuple(view.state.nuggets.values()))

    # --- looking after it -----------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        """One clean-up pass over the notes that need it most; `dry_run` only returns the plan.

        Writes of others meanwhile are kept.
        """
        if nugget is not None:
            with self._transactions.reading() as view:
                nugget = argument_checks.require_nugget(view.state.nuggets, nugget).name
        return self._clean_up.reflect(nugget, limit, dry_run=dry_run)

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        run = self._clean_up.run_daily(checked_moment(now))
        if run is not None and self.has_encoder:
            from nuggets.operations.shelf_encoder import SECONDS_PER_DAY

            self.encoder.update_waiting(SECONDS_PER_DAY)
        return run

    def last_run(self) -> DailyRun | None:
        """The last daily clean-up."""
        return self._clean_up.last_run()

    def next_run(self, now: "datetime") -> "datetime":
        """When the next one is due, in local time."""
        return self._clean_up.next_run(checked_moment(now))

    def audit(self) -> "Sequence[Finding]":
        """What is worth a look: duplicates, contradictions, secrets, stale and unused memories, and
        memories of this project that name files or lines which have changed since."""
        from nuggets.maintenance.audit_and_daily_run import Finding

        with self._transactions.reading() as view:
            notes = view.state.notes.find(project=self.project, hidden=False)
        outdated = [
            Finding("outdated", (note.id,), f"{note.title!r:.80}: {reason}")
            for note in notes
            if note.anchors
            for reason in self._stale_reasons(note)
        ]
        return [*self._clean_up.audit(), *outdated]

    def checkup(self, fix: bool = False) -> "Sequence[Defect]":
        """Defects of the files and the links; `fix` repairs what can be repaired."""
        return self._clean_up.checkup(fix=fix)

    @property
    def _clean_up(self) -> "CleanUp":
        from nuggets.maintenance.audit_and_daily_run import CleanUp

        return CleanUp(self._context, self._memory_files)

    @property
    def _context(self) -> "ShelfContext":
        from nuggets.maintenance import ShelfContext

        client, project = self._client.name, self.project
        return ShelfContext(
            self._transactions,
            self.settings,
            client,
            project,
            self._clock,
            self._draw,
            self._find_anchors,
        )

    @property
    def _purge(self) -> "Purge":
        from nuggets.maintenance.purge import Purge

        return Purge(self._context, self._memory_files)

    # --- other memories, exports and backups ----------------------------------------------

    def import_memories(
        self, source: "NuggetShelf | Iterable[Mapping[str, Any]]", *, dry_run: bool = False
    ) -> Intake:
        """Merge another shelf into this one, or notes in the JSON of graph.json.

        Of two versions, the one that a person changed last wins. What was deleted here after that
        stays deleted; what was deleted there stays here. Importing twice changes nothing the second
        time. Notes and nuggets that could not have been made here are left out and named
        (`Intake.refused`).
        """
        from nuggets.operations import note_completion as records
        from nuggets.operations.shelf_import import OtherShelf

        refused: tuple[str, ...] = ()
        if isinstance(source, NuggetShelf):
            stored = source._history.as_other()
            notes, invalid_notes = records.valid_records(stored.notes, records.checked_note)
            nuggets, invalid_nuggets = records.valid_records(stored.nuggets, records.checked_nugget)
            other_shelf = OtherShelf(notes, nuggets, stored.past)
            refused = invalid_nuggets + invalid_notes
        else:
            notes, refused = records.notes_from_json(source, self._clock(), self._draw)
            other_shelf = OtherShelf(notes)
        if self.is_team:
            visible, private = permissions.without_private(other_shelf.notes)
            other_shelf = other_shelf._replace(notes=visible)
            refused += private
        intake = self._update(
            "import_memories",
            lambda d: d.import_memories(other_shelf, self._history.recorded_past()),
            dry_run=dry_run,
        )
        return intake._replace(refused=refused)

    def copy_from(
        self,
        other: "NuggetShelf",
        *,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "Copied":
        """Copy another shelf with its history into this one, which must be empty: whole, or after
        an interruption not at all."""
        for shelf in (self, other):
            shelf._transactions.settle()
        store = self._transactions.store
        return store.copy_from(other._transactions.store, report, dry_run=dry_run)

    def export(
        self,
        form: str,
        path: StrPath | None = None,
        *,
        ids: Collection[str] | None = None,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "Exported":
        """Write notes as `json` (the documented files), `jsonl`, `markdown`, `csv`, `graphml` or
        `dot` to a new place.

        `ids`: only these notes. Without a path, `json` brings the shelf's own documented files up
        to date. `report` is told how far it is.
        """
        from nuggets.maintenance.export_and_backup import export_notes

        target = None if path is None else storable(path_text(path), "the path of an export")
        return export_notes(
            self._transactions, form, target, ids=ids, dry_run=dry_run, report=report
        )

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        """Every note in its documented shape, as a line of JSON."""
        from nuggets.maintenance.export_and_backup import note_lines

        with self._transactions.reading() as view:
            for line in note_lines(view.state.notes.values()):
                write(line)

    def exports_status(self) -> ExportsStatus | None:
        """Which revision the documented files show; None for a shelf in memory."""
        return self._transactions.store.exports_status()

    def backup(self, path: StrPath | None = None) -> "Backup":
        """Copy everything into one file, while others may write.

        `path`: a new file, or a directory to put it in; by default `backups` of the shelf.
        """
        from nuggets.maintenance.export_and_backup import make_backup

        target = None if path is None else storable(path_text(path), "the path of a backup")
        return make_backup(self._transactions, target, self._clock())

    def restore(self, path: StrPath, *, dry_run: bool = False) -> "Restored":
        """Replace the shelf by a backup; the replaced one is kept in `replaced-<n>`. `dry_run` only
        checks the backup and returns what would change."""
        from nuggets.maintenance.export_and_backup import restore_backup

        source = storable(path_text(path), "the path of a backup")
        return restore_backup(self._transactions, source, self._clock(), dry_run=dry_run)

    # --- memory files ---------------------------------------------------------------------

    def promote(self, path: StrPath | None = None, dry_run: bool = False) -> int:
        """Write what `promote_after` sessions recalled to MEMORY.md; returns the number of new
        entries.

        Pending changes are saved first, so inside a batch this is a `Conflict`.
        """
        return self.promotion(path, dry_run).new_count

    def promotion(self, path: StrPath | None = None, dry_run: bool = True) -> "Promotion":
        """What promotion does to the memory file, and the reason for every note. If no memory file
        is known, a dry run is for a new file."""
        try:
            file = self.memory_path(path)
        except NotFound:
            if not dry_run:
                raise
            file = ""
        if dry_run:
            return self._memory_files.explain(file, self.project)
        self._transactions.settle()
        self._transactions.store.count_waiting_recalls()
        done = self._memory_files.promote(file, self.project)
        if path is None:  # a host that began its own file leaves the shelf's behind
            self._memory_files.promote_to(self._memory_files.other_files(file, self.project))
        return done

    def pin(self, note_id: str) -> None:
        """Promote a memory however often it was recalled; the next `promote` writes it.

        `InvalidInput` if it must not be in that file, such as a credential.
        """
        file = self.memory_path()

        def decide(d: "OperationChanges") -> "Decision[None]":
            note = argument_checks.resolve(
                self._transactions.state.notes, note_id, project=self.project
            )
            return self._memory_files.pin(file, note), None

        self._update("pin", decide)

    def edited_memory_files(self) -> Sequence[str]:
        """The memory files of this project that someone edited since they were last seen."""
        with self._transactions.reading() as view:
            records = memory_file_records(view.state.marks)
        return [
            path
            for path, record in records.items()
            if record["project"] in visible_projects(self.project)
            and checksum(path, read_if_plain(path)) != record.get("checksum")
        ]

    def import_file_edits(self) -> "Sequence[FileEdits]":
        """Import people's edits of our lines in this project's memory files: a changed line changes
        its memory, a deleted one archives it. `undo` reverts that."""
        edited = self.edited_memory_files()
        if edited:
            self._transactions.settle()
        return [self._memory_files.import_edits(path) for path in edited]

    def memory_file_problems(self) -> Mapping[str, str]:
        """By path, why edits of a memory file were not imported."""
        return self._memory_files.problems()

    def promoted_blocks(self) -> Sequence[str]:
        """The instruction files (AGENTS.md, GEMINI.md) that hold a block of ours."""
        with self._transactions.reading() as view:
            return list(filter(is_block_file, memory_file_records(view.state.marks)))

    def withdraw_promotion(self, path: StrPath) -> bool:
        """Remove our block from AGENTS.md or GEMINI.md, and stop promoting there; False if it has
        none. `promote` with that path puts it back."""
        file = self.memory_path(path)
        if not is_block_file(file):
            raise InvalidInput(f"{file} has no block of its own; only {', '.join(BLOCK_FILES)} do")
        self._transactions.settle()
        return self._memory_files.withdraw(file)

    def is_promoted(self, note_id: str) -> bool:
        """Is an entry of this memory in the memory file now?"""
        return self._memory_files.has_entry(self.memory_path(), note_id)

    def memory_path(self, path: StrPath | None = None) -> str:
        """The memory file of this project: `path`, the setting `memory_file`, the agent's own, or
        one in the shelf's directory. `NotFound` for a shelf in memory that has none of these."""
        from nuggets.maintenance.promotion.file_access import locate, shelf_path

        checked_path = (
            "" if path is None else storable(path_text(path), "the path of a memory file")
        )
        configured = checked_path or self.settings["memory_file"]
        own = shelf_path(self._transactions.store.directory, self.project)
        return locate(configured, self.location, own)

    def read_memory_file(self, path: StrPath | None = None) -> "MemoryFileText":
        """The text of the memory file, the lines that are left out of it, and which of it are ours.

        "" if there is none; of AGENTS.md and GEMINI.md, that of our block. People's edits are
        imported first. Left out is what the next promotion takes out: lines of memories that are
        gone, out of their time or say something else since.
        """
        self.import_file_edits()

        with self._transactions.reading():
            return self._memory_files.text_that_holds(self.memory_path(path), self._stale_reasons)

    @property
    def _memory_files(self) -> "MemoryFiles":
        from nuggets.maintenance.promotion import MemoryFiles

        return MemoryFiles(
            self._context,
            self.memory_path,
            lambda note: self._stale_reasons(note, of_any_project=True),
        )

    # --- the project someone works in -----------------------------------------------------

    @property
    def project(self) -> str:
        """The id of the project that new memories belong to; "" for none."""
        if self._project is None:
            try:
                self._project = self._find_project()
            except StoreError:  # the operation itself reports it
                if self._caller is not None:
                    raise
                return current_project(self._folder)
        return self._project

    @project.setter
    def project(self, project: str) -> None:
        self._project = self._named_project = project
        self._recognition = None

    def _find_project(self) -> str:
        self._recognition = self._recognize(self._folder)
        return self._recognition.location.project if self._recognition else ""

    @property
    def location(self) -> str:
        """Where that project lies: its git directory, or a plain folder; "" if it has no place."""
        project = self.project
        return self._recognition.location.path if self._recognition else project

    @property
    def checkout(self) -> str:
        """The folder of the repository's files that someone works in; "" outside of any."""
        project = self.project
        if not project or self._recognition is None or not is_repository(self.location):
            return ""
        return checkout_root(self.working_folder)

    @property
    def working_folder(self) -> str:
        """The directory that someone works in; "/" if it was removed."""
        try:
            return self._folder or ("/" if self._caller else os.getcwd())
        except OSError:
            return "/"

    def project_of(self, folder: str) -> str:
        """The id of the project around a folder; "" if there is none."""
        if self.settings["project"]:
            return str(self.settings["project"])
        recognition = self._recognize(folder)
        return recognition.location.project if recognition else ""

    @property
    def recognition(self) -> "Recognition | None":
        """How the project was recognized, if a person should hear of it."""
        known = self._recognition
        return known if known and (known.moved_from or known.question) else None

    def record_location(self) -> None:
        """Record where the project lies now, so that the person is told and asked only once."""
        if self._recognition is not None:
            here = self._recognition.location._replace(is_asked=True)
            self._recognition = Recognition(here)
            self._write_marks("recognize_project", {here.mark: here.to_json()})

    def _known_location(self) -> "Location | None":
        """What is known of the place that the project was recognized by."""
        if not self.project or self._recognition is None:
            return None
        if self._caller is not None:
            return self._recognition.location
        return with_evidence(self._recognition.location, self._url)

    def _forget_recognition(self) -> None:
        """Recognize the project again when it is next asked for, because its record has changed."""
        self._project, self._recognition = self._named_project, None

    def _recognize(self, folder: str | None) -> "Recognition | None":
        with self._transactions.reading() as view:
            notes = view.state.notes
            if self._caller is not None:
                place = self._caller.place
                found = place and recognize_place(place, view.state.marks, notes.projects)
                return found and Recognition(found.location)  # both places are still there
            return recognize_project(folder, view.state.marks, notes.projects, self._url)

    def _unrecorded_location(self) -> "Location | None":
        """Where the project lies, if that has to be written down with its next memory."""
        is_known = self._recognition is not None and self._recognition.is_recorded
        if is_known or not self._needs_recording or self._project == "":
            return None
        with self._transactions.reading() as view:  # also what recognizes the project
            if not self.project or self._recognition is None:
                return None
            here = self._recognition.location
            if self._caller is not None:
                return None if is_recorded(here, view.state.marks) else here
            self._needs_recording = needs_recording(here, view.state.marks)
        return with_evidence(here, self._url) if self._needs_recording else None

    def projects(self) -> Sequence[ProjectStatus]:
        """Every project that memories belong to, by its id."""
        with self._transactions.reading() as view:
            counts = view.state.notes.projects()
            places = recorded_locations(view.state.marks)
        return [
            ProjectStatus(
                project,
                counts[project]["fact"],
                counts[project]["note"],
                tuple(place.path for place in places if place.project == project),
            )
            for project in sorted(set(counts) - {""})
        ]

    def move_project(
        self, old: StrPath, new: StrPath | None = None, *, dry_run: bool = False
    ) -> ProjectMove:
        """Give all that belongs to one repository to another: it was moved, renamed, cloned anew.

        `old` is named by its folder or the folder's name; `new` is a folder, by default the
        repository we are in. Facts by keys that the other one has facts for stay as they are.
        What people changed in the lines of its MEMORY.md is taken over first.
        """
        name = storable(path_text(old), "a folder")
        after = self.project
        if new is not None:
            after = self.project_of(require_folder(storable(path_text(new), "a folder")))
        if not after:
            raise NotFound("there is no project here: this folder holds everything; name another")
        before = find_project(name, [status.project for status in self.projects()], after)
        if before == after:
            raise InvalidInput(f"{before} is where these memories belong already")

        def decide(d: "OperationChanges") -> "Decision[ProjectMove]":
            changes, done = d.move_project(before, after)
            return changes._replace(marks=self._memory_files.marks_after_move(done)), done

        if not dry_run:
            self._memory_files.import_all_edits(before)
        return self._update("move_project", decide, dry_run=dry_run)

    def join_project(self, name: StrPath, *, dry_run: bool = False) -> ProjectMove:
        """Use the memories of another project here too: this is another clone of it, or a fork.

        What belongs to the project here becomes the other's, as by `move_project`.
        """
        here, own = self._require_location(), self.project
        others = [status for status in self.projects() if status.project != own]
        places = {path: status.project for status in others for path in status.locations}
        wanted = storable(path_text(name), "a project")
        try:
            target = find_project(wanted, [status.project for status in others])
        except NotFound:
            target = places[find_project(wanted, places)]

        def decide(d: "OperationChanges") -> "Decision[ProjectMove]":
            changes, done = d.move_project(own, target)
            joined = here._replace(project=target, resembles="")
            return changes._replace(marks={here.mark: joined.to_json()}), done

        move = self._update("join_project", decide, dry_run=dry_run)
        if not dry_run:
            self._forget_recognition()
        return move

    def leave_project(self) -> str:
        """Let this place be a project of its own from now on, although it was recognized as, or
        has joined, another one. The memories stay with that; the id of the new project."""
        here = self._require_location()
        taken = {status.project for status in self.projects()} | {here.project}
        own = here.path if here.path not in taken else distinct_id(here.path, self._draw())
        left = here._replace(project=own, resembles="")
        self._write_marks("leave_project", {here.mark: left.to_json()})
        self._forget_recognition()
        return own

    def _require_location(self) -> "Location":
        here = self._known_location()
        if here is None:
            raise NotFound("there is no project here: this folder holds everything; name another")
        return here

    # --- memories that the repository carries ---------------------------------------------

    @property
    def sharing(self) -> "ProjectSharing":
        """The memories that this checkout carries in `.nuggets`: what the person allows with them,
        and how both sides are brought together."""
        from nuggets.filesystem.git_repository import gather_evidence
        from nuggets.maintenance.trusted_repositories import ProjectSharing

        root = self.checkout
        if not root:
            raise NotFound("there is no git repository here; memories are shared through one")
        return ProjectSharing(self._context, root, gather_evidence(self.location, self._url))

    def sync_shared(self, *, has_written: bool = False) -> "SyncResult | None":
        """Bring both sides together, as far as the person allowed; None if there is no checkout.

        `has_written`: memories may have changed here. Never an error: whoever works here did not
        ask for it.
        """
        try:
            return self.sharing.sync(has_written=has_written) if self._carries_memories() else None
        except NuggetsError as problem:
            from nuggets.operations.shared_memories import SyncResult

            return SyncResult(problems=(str(problem),))

    def needs_trust(self) -> bool:
        """Does this checkout carry memories that nobody was asked about yet?"""
        return self._carries_memories() and self.sharing.needs_trust()

    def _carries_memories(self) -> bool:
        """One look at the file system, before the database is read: most carry none."""
        return has_shared_files(self.working_folder) and bool(self.checkout)

    # --- other machines and editors -------------------------------------------------------

    def pair(
        self,
        folder: StrPath | None = None,
        *,
        dry_run: bool = False,
        passphrase: str | None = None,
    ) -> "Sequence[PairResult]":
        """Bring this shelf and those of other machines together through a folder that they share:
        each writes its own changes there and takes in those of the others. Without a folder,
        through every folder that was named before.

        `passphrase`: encrypts what is written there, from now on; each machine is told it once.
        """
        from nuggets.maintenance.paired_machines import Pairing

        folders = self.paired_folders() if folder is None else [_absolute(folder)]
        return [Pairing(self._context, path, passphrase).sync(dry_run=dry_run) for path in folders]

    def paired_folders(self) -> Sequence[str]:
        """The folders through which this shelf is paired."""
        from nuggets.maintenance.paired_machines import MARK

        with self._transactions.reading() as view:
            marks = [name for name in view.state.marks if name.startswith(MARK)]
        return [name.removeprefix(MARK) for name in marks]

    def unpair(self, folder: StrPath) -> None:
        """Pair no longer through a folder. Its files stay, and so does what came from there."""
        from nuggets.maintenance.paired_machines import MARK

        path = _absolute(folder)
        if path not in self.paired_folders():
            raise NotFound(f"this shelf is not paired through {path}; see: nuggets pair")
        self._write_marks("unpair", {MARK + path: None})

    def vault(
        self,
        folder: StrPath,
        *,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "VaultResult":
        """Bring this shelf and a folder of Markdown together, both ways: a file for each visible
        note, as Obsidian opens it. `report` is told how far it is."""
        from nuggets.maintenance.vault import Vault

        return Vault(self._context, _absolute(folder), report).sync(dry_run=dry_run)

    # --- files that memories name ---------------------------------------------------------

    def _anchors(self, text: str, title: str) -> "tuple[Anchor, ...]":
        """What a text names of the checkout that someone works in; most texts name nothing."""
        from nuggets.operations.lookups_before_write import may_name_place

        if self._caller is not None:
            return self._caller.anchors
        if not self._client.at_work or not isinstance(text, str) or not may_name_place(text):
            return ()
        if self._client.is_unattended and self._defers_writes:
            return ()  # files that hooks observed, many at once
        root = self._folder_of_files()
        if not root:
            return ()
        from nuggets.filesystem.anchors import make_anchors

        return make_anchors(root, f"{title} {text}")

    def _find_anchors(self, state: State, note: MemoryNote, text: str) -> "tuple[Anchor, ...]":
        """What a text names of the files of a note's project, as far as they are at hand. Asked
        inside a transaction."""
        root = "" if self._has_no_files else self._root_of(note.project, state)
        if not note.project or not root:
            return ()
        from nuggets.filesystem.anchors import make_anchors

        return make_anchors(root, text)

    def _folder_of_files(self, project: str | None = None) -> str:
        """Where the files lie that memories of a project name, by default of this one: in the
        checkout someone works in, else in that of the project; "" if there is none, or if they
        are elsewhere."""
        if self._has_no_files:
            return ""
        if project in (None, self.project):
            return self._root_at([self.location]) if self.location else ""
        with self._transactions.reading() as view:
            return self._root_of(project, view.state)

    @property
    def _has_no_files(self) -> bool:
        """Are the files that memories name on another machine?"""
        return self._client.is_remote or self._caller is not None

    def _root_of(self, project: str, state: State) -> str:
        """The same of the places where a project was seen, or else of the one that is its id."""
        recorded = recorded_locations(state.marks)
        places = [place.path for place in recorded if place.project == project]
        return self._root_at(places or [project])

    def _root_at(self, locations: Sequence[str]) -> str:
        """The folder of a project's files, in the checkout someone works in if that is one of its
        locations, else in the first; "" if it is not there."""
        folder = self.working_folder
        is_here = current_project(folder) in locations
        root = checkout_root(folder) if is_here else root_of(locations[0])
        return root if os.path.isdir(root) else ""

    def find_moved_files(self, note: MemoryNote) -> Mapping[str, str]:
        """Where files of this project went that a memory names: new paths by old ones. Asks git."""
        root = self._folder_of_files() if note.anchors and note.project == self.project else ""
        if not root:
            return {}
        from nuggets.filesystem.git_repository import find_moved

        return find_moved(root, note.anchors)

    def _stale_reasons(
        self,
        note: MemoryNote,
        *,
        git_seconds: float | None = None,
        of_any_project: bool = False,
    ) -> Sequence[str]:
        """What has changed of what a note names in its project, by default this one, since it was
        kept."""
        is_asked = bool(note.anchors) and (of_any_project or note.project == self.project)
        root = self._folder_of_files(note.project) if is_asked else ""
        if not root:
            return ()
        from nuggets.filesystem.anchors import is_gone, stale_reasons

        moved: Mapping[str, str] = {}
        if any(is_gone(root, anchor) for anchor in note.anchors):
            from nuggets.filesystem.git_repository import find_moved

            moved = find_moved(root, note.anchors, git_seconds)
        return stale_reasons(root, note.anchors, moved)

    # --- members of a team ----------------------------------------------------------------

    @property
    def is_team(self) -> bool:
        """Does the shelf belong to a team? Then it has members, and nothing on it is private."""
        with self._transactions.reading() as view:
            return permissions.is_team(view.state.marks)

    def add_member(self, name: str, role: Role = "writer", *, again: bool = False) -> str:
        """Make someone a member of the team whose shelf this is; their token, which is not kept.

        `again`: a member, revoked or not, gets a new token and role; the old token ends.
        """
        token = f"{checked_member_name(name)}.{permissions.new_secret()}"

        def decide(d: "OperationChanges") -> "Decision[str]":
            state = self._transactions.state
            if not permissions.is_team(state.marks):
                commits = self._transactions.store.history.commits()
                past = (n for commit in commits for n in (*commit.before.put, *commit.changes.put))
                permissions.refuse_private_past(chain(state.notes.values(), past))
            changes = permissions.add_member(
                state.marks, name, role, token, self._clock(), again=again
            )
            return changes, token

        return self._update("add_member", decide)

    def members(self) -> Sequence[MemberStatus]:
        """All present and former members, by name."""
        with self._transactions.reading() as view:
            return permissions.list_members(view.state.marks)

    def revoke_member(self, name: str) -> None:
        """End a member's token, at once and at every server. What they wrote stays."""
        name = storable(name, "the name of a member")

        def decide(d: "OperationChanges") -> "Decision[None]":
            marks = self._transactions.state.marks
            return permissions.revoke_member(marks, name, self._clock()), None

        self._update("revoke_member", decide)

    def find_member(self, token: str) -> Member | None:
        """The member with this token; None if there is none, or it was revoked."""
        with self._transactions.reading(flush=False) as view:  # every request of a member asks
            return permissions.find_member(view.state.marks, token)

    # --- encoder --------------------------------------------------------------------------

    @property
    def has_encoder(self) -> bool:
        """Is there a sentence encoder, installed or given?"""
        return self._given_encoder is not None or os.path.exists(self._encoder_path)

    @property
    def encoder(self) -> "ShelfEncoder":
        """The sentence encoder, by which searches compare meaning as well: how it is installed,
        and the vectors of notes."""
        return self._encoder

    @cached_property
    def _encoder(self) -> "ShelfEncoder":
        from nuggets.operations.shelf_encoder import ShelfEncoder

        return ShelfEncoder(self._transactions, self._encoder_path, self._given_encoder)

    # --- the transaction of an operation --------------------------------------------------

    def _update(
        self,
        action: str,
        decide: "Callable[[OperationChanges], Decision[T]]",
        *,
        dry_run: bool = False,
    ) -> T:
        if dry_run:
            with self._transactions.reading():
                return decide(self._decisions())[1]
        here = self._unrecorded_location()  # git may be asked, so not while others wait
        call = self._caller and self._caller.call

        def decide_now() -> "Decision[T]":  # quoted: it would be computed at every update
            if call:
                from nuggets.operations.idempotent_calls import check_call, record_call

                check_call(call, self._transactions.state.marks)
            now = self._clock()
            changes, result = decide(self._decisions(now))
            if call:
                changes = record_call(call, changes, self._transactions.state, now)
            if here and any(note.project == here.project for note in changes.put):
                changes = changes._replace(marks={**changes.marks, here.mark: here.to_json()})
            return changes, result

        return self._transactions.update(action, self._client.name, decide_now)

    def _write_marks(self, action: str, marks: Mapping[str, Any]) -> None:
        self._transactions.update(action, self._client.name, lambda: (Changes(marks=marks), None))

    def _decisions(self, now: str | None = None) -> "OperationChanges":
        from nuggets.operations.operation_changes import OperationChanges  # reading needs none

        # digits of new ids: first those that a client on another machine promised
        promised = iter(self._caller.digits if self._caller else ())
        return OperationChanges(
            self._transactions.state,
            project=self.project,
            client=self._client,
            readings=self._readings,
            now=now or self._clock(),
            draw=lambda: next(promised, "") or self._draw(),
        )

    @property
    def _defers_writes(self) -> bool:
        """Is this a batch, or are operations written later?"""
        return self._transactions.defers_writes

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
        with self._transactions.reading(flush=False) as view:
            query = f"{title}\n{text}"[:RULE_CHARACTERS]
            results = view.search.search(query, RIVALS, NO_FILTERS, self.project)
            return [result.note.id for result in results]

    def _touch(self, note: MemoryNote, session: str, kind: HitKind) -> MemoryNote:
        """The note after it was shown."""
        return apply_touch(note, self._count(note.id, session, kind))

    def _count(self, note_id: str, session: str, kind: HitKind) -> Touch:
        touch = Touch(note_id, checked_session(session), self._clock(), kind)
        self._transactions.touch((touch,))
        return touch

    def _view(self, name: str) -> "Nugget":
        from nuggets.shelf.nugget import Nugget

        return Nugget.from_shelf(self, name)

    def _import_edit(
        self, state: State, base: State | None, edit: ExternalEdit, now: str
    ) -> tuple[Changes, int]:
        from nuggets.operations.external_edits import import_edit

        return import_edit(self._draw, state, base, edit, now, self._find_anchors)


def _absolute(folder: StrPath) -> str:
    path = storable(path_text(folder), "the path of a folder")
    return os.path.realpath(os.path.expanduser(path))


def _location(save_dir: StrPath | None, settings: Settings | None) -> str:
    if save_dir is not None:
        return path_text(save_dir) or ""
    return settings["dir"] if settings is not None else default_location(os.environ)


NuggetGraph = NuggetShelf  # the note operations of a shelf, under their documented name


def reflect_and_clean_memory(
    shelf: NuggetShelf, nugget_name: str | None = None, limit: int | None = None
) -> ReflectionResult:
    """`NuggetShelf.reflect` under its documented names."""
    return shelf.reflect(nugget_name, limit)


def promote_facts(shelf: NuggetShelf, path: StrPath | None = None) -> int:
    """`NuggetShelf.promote` under its documented name."""
    return shelf.promote(path)


def _oldest_first(notes: Iterable[MemoryNote]) -> list[MemoryNote]:
    """Notes by age; imported and undone notes are older than their place in the table."""
    return sorted(notes, key=lambda note: note.created_at)
