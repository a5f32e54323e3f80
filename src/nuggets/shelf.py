"""`NuggetShelf`, the one door that every interface uses.

Every operation is a transaction (`transactions.py`); what it changes is decided purely
(`decisions.py`).
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets import times
from nuggets.decisions import Decisions
from nuggets.errors import InvalidInput, NotFound
from nuggets.graph import naming
from nuggets.graph.limits import (
    FILES_SEEN,
    check_count,
    check_flag,
    check_most,
    check_whole,
    checked_tags,
    storable,
)
from nuggets.graph.metadata import stated
from nuggets.indexes import KINDS
from nuggets.project import current_project, meant_by
from nuggets.records import (
    Changes,
    Commit,
    DailyRun,
    ExportsStatus,
    Intake,
    MemoryNote,
    NoteFilterOptions,
    NuggetStatus,
    OutsideEdit,
    ProjectMove,
    ProjectStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
    Touch,
)
from nuggets.settings import Settings, load
from nuggets.state import State, touched
from nuggets.stores import open_store
from nuggets.text import folded
from nuggets.transactions import Decision, Transactions

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from nuggets.audit import Finding
    from nuggets.exporting import Exported
    from nuggets.keywords import NoteFilters, NoteMeta, NuggetOptions
    from nuggets.nugget import Nugget
    from nuggets.promotion import Promotion
    from nuggets.purging import Purged
    from nuggets.search.explanation import Explanation
    from nuggets.stores.base import Store
    from nuggets.stores.defects import Defect
    from nuggets.stores.sqlite.backup import Backup
    from nuggets.stores.sqlite.restore import Restored
    from nuggets.upkeep import Upkeep

NO_FILTERS = NoteFilterOptions()
SESSION_CHARACTERS = 256
LEADING = 200  # notes of each kind that a session may begin with; it is told some dozens

StrPath = str | os.PathLike[str]
T = TypeVar("T")


def random_hex() -> str:
    """Eight digits for an id."""
    return os.urandom(4).hex()


class NuggetShelf:
    """All nuggets of one place."""

    def __init__(
        self,
        save_dir: StrPath | None = None,
        auto_save: bool = True,
        *,
        store: "Store | None" = None,
        settings: Settings | None = None,
        short_lived: bool = False,
        project: str | None = None,
        at_work: bool = False,
        client: str = "python",
        clock: Callable[[], str] = times.now,
        draw: Callable[[], str] = random_hex,
    ) -> None:
        """`save_dir`: a directory, or ``memory:``; by default NUGGETS_DIR, or else ~/.nuggets.

        `auto_save=False` gathers all changes until `save_all`.
        `settings`: by default those of the environment and of the directory's config.toml.
        `project`: the repository that new memories belong to; by default the one we are in.
        `at_work`: whoever writes is at work in it, so what they learn is the project's, unless it
        is about a person; otherwise a memory's words decide.
        `short_lived`: nothing is left for later, because there will be none.
        `client`: the door, for the history.
        """
        url = _written(save_dir)
        self.settings = settings or load(os.environ, {"dir": url})
        if project is None:
            project = self.settings["project"] or current_project()
        self.project: str = project
        self._at_work = at_work
        self._client = client
        self._clock = clock
        self._draw = draw
        if store is None:
            place = self.settings["dir"] if url is None else url
            store = open_store(place, KINDS, self._adopted, short_lived=short_lived)
        self._transactions = Transactions(store, draw=draw, auto_save=auto_save)

    @classmethod
    def open(cls, url: StrPath, **options: Any) -> Self:
        """By URL: a directory, or ``memory:``."""
        return cls(url, **options)

    def beside(self, *, client: str, at_work: bool = False) -> Self:
        """The same shelf for another door of this process: one store and one picture of it."""
        other = type(self).__new__(type(self))
        vars(other).update(vars(self), _client=client, _at_work=at_work)
        return other

    def close(self) -> None:
        """Save what was gathered and leave the files in order. Using the shelf again reopens it.

        What cannot be saved any more is told as by `save_all`, once the rest is saved.
        """
        self._transactions.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        """A new nugget; `Conflict` if there is one of that name."""
        return self._view(self._update("create", lambda d: d.create(name, dict(config))))

    def get(self, name: str) -> "Nugget":
        """The nugget of this name, in whatever case; `NotFound` says which there are."""
        with self._transactions.reading() as view:
            return self._view(naming.known_nugget(view.state.nuggets, name).name)

    def get_or_create(self, name: str, **config: "Unpack[NuggetOptions]") -> "Nugget":
        """The nugget of this name, made if need be; what an existing one was made with wins."""
        return self._view(self._update("create", lambda d: d.get_or_create(name, dict(config))))

    def __getitem__(self, name: str) -> "Nugget":
        return self.get_or_create(name)

    def has(self, name: str) -> bool:
        """Is there a nugget of this name, in whatever case?"""
        with self._transactions.reading() as view:
            return naming.nugget_called(view.state.nuggets, name) is not None

    def __contains__(self, name: str) -> bool:
        return self.has(name)

    def remove(self, name: str) -> int:
        """Take a nugget away with all its facts and notes; how many those were."""
        return self._update("remove", lambda d: d.remove(name))

    def list(self) -> tuple[NuggetStatus, ...]:
        """Every nugget with how full it is, by name."""
        from nuggets.facts.capacity import statuses

        with self._transactions.reading() as view:
            configs = sorted(view.state.nuggets.values(), key=lambda config: config.name)
            return statuses(configs, view.state.notes.counts())

    def status(self, nugget: str) -> NuggetStatus:
        """How full one nugget is; beyond its capacity it goes on in pages and stays exact."""
        from nuggets.facts.capacity import statuses

        with self._transactions.reading() as view:
            config = naming.known_nugget(view.state.nuggets, nugget)
            return statuses([config], view.state.notes.counts())[0]

    @property
    def size(self) -> int:
        """How many nuggets there are."""
        with self._transactions.reading() as view:
            return len(view.state.nuggets)

    def load_all(self) -> None:
        """Read what is there now. Every call does so by itself; this is for those who like to."""
        with self._transactions.reading():
            pass

    def save_all(self) -> None:
        """Write what was gathered, as one change: all of it or nothing.

        If someone else wrote meanwhile, each operation is decided again on what is there now. An
        error names those that cannot be done any more; they are let go, and the next `save_all`
        writes the rest.
        """
        self._transactions.save()

    def batch(self) -> AbstractContextManager[None]:
        """Gather all changes inside into one write at the end; an error inside leaves nothing of
        them, in an outer batch or for `save_all` neither.

        It belongs to the thread, or asyncio task, that opened it. Others read on; their writes wait
        for its end, and are `StoreBusy` if that takes too long or cannot be waited for. So wait for
        no worker inside that writes, and `await` nothing.
        """
        return self._transactions.batch()

    # --- facts ------------------------------------------------------------------------------

    def remember(self, nugget: str, key: str, value: str, **meta: "Unpack[NoteMeta]") -> MemoryNote:
        """Store a fact, in a nugget that is made if need be; a known key gets the new value."""
        given = stated(meta)
        return self._update("remember", lambda d: d.remember(nugget, key, value, given))

    def recall(
        self, query: str, nugget: str | None = None, session: str | None = ""
    ) -> RecallResult:
        """The fact that a query means, decoded; a miss is ``found=False``.

        Without a nugget all of them are asked and the best match answers. A session that has not
        recalled this fact before adds a hit.
        """
        query = _asked(query)
        with self._transactions.reading_indexes() as view:
            if nugget is not None:
                nugget = naming.known_nugget(view.state.nuggets, nugget).name
            result = view.facts.recall(query, nugget, self.project)
            if result.found and session is not None:
                self._count([result.note_id], session)
            return result

    def recall_or_search(
        self, query: str, nugget: str | None = None, session: str | None = "", limit: int = 5
    ) -> tuple[RecallResult, Sequence[SearchNotesResult]]:
        """Recall first; when no fact answers, what the graph has on it.

        Of that only notes with a word of the query: whoever asks for a fact by its key is better
        off with nothing than with what resembles it. Files that were seen come after all else.
        """
        check_count(limit, "how many results to give")
        result = self.recall(query, nugget, session)
        if result.found:
            return result, ()

        def was_seen(one: SearchNotesResult) -> bool:
            return one.note.source == "tool_observation" and one.note.stability == "temporary"

        with self._transactions.reading_indexes() as view:
            asked = _narrowed(NO_FILTERS, {"nugget": nugget}, view.state)
            found = view.search.search(query, limit, asked, self.project)
            if any(map(was_seen, found)):  # all of them may be called alike
                found = view.search.search(query, limit + FILES_SEEN, asked, self.project)
            explain = view.search.explain
            told = (
                one
                for one in sorted(found, key=was_seen)
                if explain(query, one.note.id).says_a_word
            )
            return result, self._shown(list(islice(told, limit)), session)

    def forget(self, nugget: str, key: str) -> bool:
        """Take a fact and its note away; False if there was none.

        Only what this project knows, its own or everybody's; another's is named by its note's id.
        """
        return self._update("forget", lambda d: d.forget(nugget, key))

    def facts(self, nugget: str) -> Sequence[MemoryNote]:
        """The facts of a nugget, oldest first."""
        with self._transactions.reading() as view:
            known = naming.known_nugget(view.state.nuggets, nugget)
            notes = view.state.notes
            return _oldest_first(notes.find(nugget=known.name, kind="fact", hidden=False))

    def clear(self, nugget: str) -> int:
        """Forget all facts of a nugget; how many those were. Its notes stay."""
        return self._update("clear", lambda d: d.clear(nugget))

    # --- notes ------------------------------------------------------------------------------

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: str | None = None,
        **meta: "Unpack[NoteMeta]",
    ) -> MemoryNote:
        """Store a note, in a nugget that is made if need be. `created_at` is for imports."""
        given, tags = stated(meta), checked_tags(tags)
        return self._update(
            "create_note",
            lambda d: d.create_note(nugget, title, content, tags, created_at, given),
        )

    def get_note(
        self,
        name: str,
        nugget: str | None = None,
        session: str | None = "",
        *,
        archived: bool = False,
    ) -> MemoryNote:
        """By id, exact title, or unambiguous beginning of an id. Counts as a recall.

        `archived`: of notes with that title one that is archived is meant.
        """
        with self._transactions.reading() as view:
            note = naming.resolve(
                view.state.notes, name, nugget, project=self.project, archived=archived
            )
            return self._touch([note], session)[0]

    def get_notes(self, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
        """Those of the ids that are there, archived or not; a look that leaves no trace."""
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
        expected: str | None = None,
        **meta: "Unpack[NoteMeta]",
    ) -> MemoryNote:
        """Change what is given. Editing a fact's title or content changes the fact.

        `expected`: the `updated_at` that the editor saw; `Conflict` if someone changed the note
        since.
        """
        if hidden is not None:
            check_flag(hidden, "hidden")
        given, own = stated(meta), None if tags is None else checked_tags(tags)
        return self._update(
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
            ),
        )

    def delete_note(self, name: str, hard: bool = False, nugget: str | None = None) -> MemoryNote:
        """Archive a note, or with `hard` take it and all links to it away."""
        check_flag(hard, "hard")
        return self._update("delete_note", lambda d: d.delete_note(name, nugget, hard))

    def restore_note(self, name: str, nugget: str | None = None) -> MemoryNote:
        """Bring an archived note, or fact, back."""
        return self._update("restore_note", lambda d: d.restore_note(name, nugget))

    def add_link(self, a: str, b: str, reason: str = "", nugget: str | None = None) -> bool:
        """Link two notes, at both ends; False if they were linked so already."""
        return self._update("add_link", lambda d: d.add_link(a, b, reason, nugget))

    def remove_link(
        self, a: str, b: str, reason: str | None = None, nugget: str | None = None
    ) -> bool:
        """Take the link of this reason away, or all between the two; False if there was none."""
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
        """Unite two notes in the target; the source is archived with a link to it."""
        return self._update(
            "merge_notes",
            lambda d: d.merge_notes(target, source, reason, nugget),
            dry_run=dry_run,
        )

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: "Unpack[NoteFilters]"
    ) -> Sequence[MemoryNote]:
        """The notes that the filters let through, oldest first. Facts are notes of kind fact."""
        from nuggets.graph.filters import matches

        with self._transactions.reading() as view:
            asked = _narrowed(filters, wanted, view.state)
            listed = view.state.notes.find(
                nugget=asked.nugget,
                kind=asked.kind,
                hidden=None if asked.include_hidden else False,
            )
            return _oldest_first(note for note in listed if matches(note, asked))

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

        Too weak is no result. Notes shown in a session that has not seen them before gain a hit.
        """
        check_count(limit, "how many results to give")
        query = _asked(query)
        with self._transactions.reading_indexes() as view:
            asked = _narrowed(filters, wanted, view.state)
            found = view.search.search(query, limit, asked, self.project)
            return self._shown(found, session)

    def _shown(
        self, found: Sequence[SearchNotesResult], session: str | None
    ) -> Sequence[SearchNotesResult]:
        """The results, with their notes as they are once they have been shown."""
        notes = self._touch([result.note for result in found], session)
        return [result._replace(note=note) for result, note in zip(found, notes, strict=True)]

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """What made a note's score for a query, asked with or without what is archived."""
        query, note_id = _asked(query), storable(note_id, "the id of a note")
        check_flag(include_hidden, "include_hidden")
        with self._transactions.reading_indexes() as view:
            return view.search.explain(query, note_id, include_hidden)

    def namesakes(self, note: MemoryNote) -> Sequence[MemoryNote]:
        """The others in sight that its title may mean here, oldest first; not those of another
        project, which come after all of them."""
        return [one for one in self.titled(note.title) if one.id != note.id]

    def titled(self, title: str, nugget: str | None = None) -> Sequence[MemoryNote]:
        """The visible notes of exactly this title, without other projects' ones; oldest first."""
        wanted = folded(storable(title, "a title"))
        with self._transactions.reading() as view:
            alike = _oldest_first(view.state.notes.find(nugget=nugget, title=title, hidden=False))
        return [one for one in alike if folded(one.title) == wanted and not self.is_foreign(one)]

    def leading_notes(self) -> Sequence[MemoryNote]:
        """What a new session may want to know: of this project's notes and everybody's the
        preferences, those recalled most and the newest; some hundred of each."""
        with self._transactions.reading() as view:
            return view.state.notes.leading({"", self.project}, LEADING)

    def is_foreign(self, note: MemoryNote | RecallResult) -> bool:
        """Does it belong to another project than the current one?"""
        return note.project not in ("", self.project)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """How many steps the shelf has gone, whoever made them; cheap to ask again and again."""
        with self._transactions.reading() as view:
            return view.revision

    def commits(self, since: int = 0) -> Sequence[Commit]:
        """Every step after a revision as far as it is kept, oldest first, counted recalls too."""
        check_whole(since, "a revision")
        with self._transactions.reading():
            return list(self._transactions.store.commits(since))

    def history(self, note: str | None = None, limit: int = 20) -> Sequence[Commit]:
        """What was done, newest first: everything, or what changed one note."""
        return self._upkeep.history(note, limit)

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread, to undo exactly that; 0 without one.

        It stays the same when an operation finds nothing to change.
        """
        return self._transactions.own_revision

    def undo(self, revision: int | None = None) -> Commit:
        """Take a commit back, by default the last that was not; what it was. Undo an undo to redo.

        `Conflict` says which later change would be lost, or that the last one is gathered only.
        """
        if revision is not None:
            check_whole(revision, "a revision")
        return self._upkeep.undo(revision)

    def purge(self, name: str, nugget: str | None = None) -> "Purged":
        """Erase a memory from the shelf, its history and the memory files; where it was.

        The diaries of agents' conversations go with it. A note that was forgotten before can still
        be named by its whole id. There is no undo.
        """
        return self._upkeep.purge(name, nugget)

    def purge_fact(self, nugget: str, key: str) -> "Purged":
        """The same for what this project ever knew by exactly this key, forgotten or not."""
        nugget, key = storable(nugget, "a nugget's name"), storable(key, "a key")
        return self._upkeep.purge_fact(
            nugget, key, lambda: self._decisions().doomed_fact(nugget, key).id
        )

    # --- other memories ---------------------------------------------------------------------

    def take_in(
        self, source: "NuggetShelf | Iterable[Mapping[str, Any]]", *, dry_run: bool = False
    ) -> Intake:
        """Unite this shelf with another, or with notes in the JSON that graph.json has.

        What people did last to a memory counts, here or there; what was deleted here since then
        stays deleted, what was deleted there stays here. Once more changes nothing.
        """
        from nuggets.graph.uniting import Other

        if isinstance(source, NuggetShelf):
            other = source._upkeep.as_other()
        else:
            other = Other(_read(source, self._clock()))
        return self._update(
            "take_in", lambda d: d.take_in(other, self._upkeep.past()), dry_run=dry_run
        )

    # --- projects ---------------------------------------------------------------------------

    def projects(self) -> Sequence[ProjectStatus]:
        """Every repository that memories belong to, by its path."""
        with self._transactions.reading() as view:
            counts = view.state.notes.projects()
            known = sorted(set(counts) - {""})
            return [ProjectStatus(p, counts[p]["fact"], counts[p]["note"]) for p in known]

    def move_project(
        self, old: StrPath, new: StrPath | None = None, *, dry_run: bool = False
    ) -> ProjectMove:
        """Give all that belongs to one repository to another: it was moved, renamed, cloned anew.

        `old` is named by its folder or the folder's name; `new` is a folder, by default the
        repository we are in. Facts by keys that the other one has facts for stay as they are.
        """
        check_flag(dry_run, "dry_run")
        told = storable(_written(old), "a folder")
        after = self._destination(None if new is None else storable(_written(new), "a folder"))
        before = meant_by(told, [status.project for status in self.projects()], after)
        if before == after:
            raise InvalidInput(f"{before} is where these memories belong already")

        def decide(d: Decisions) -> Decision[ProjectMove]:
            changes, done = d.move_project(before, after)
            return changes._replace(marks=self._upkeep.memory_files.moved(before, after)), done

        return self._update("move_project", decide, dry_run=dry_run)

    def _destination(self, folder: str | None) -> str:
        if folder is not None and not os.path.isdir(folder):
            raise NotFound(f"there is no folder {folder}; name the one that the repository is in")
        project = self.project if folder is None else current_project(folder)
        if not project:
            where = "here" if folder is None else f"at {folder}"
            raise NotFound(f"there is no git repository {where}; name the folder of one")
        return project

    # --- looking after it -------------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        """One clean-up pass over the notes that need it most; `dry_run` only says what it would do.

        Writes that land meanwhile are kept.
        """
        check_flag(dry_run, "dry_run")
        if nugget is not None:
            nugget = self.get(nugget).name
        return self._upkeep.reflect(nugget, limit, dry_run)

    def promote(self, path: StrPath | None = None, dry_run: bool = False) -> int:
        """Write what was recalled in three sessions to MEMORY.md; how many entries are new.

        What was gathered is saved first, so inside a batch it is a `Conflict`.
        """
        return self.promotion(path, dry_run).new_count

    def promotion(self, path: StrPath | None = None, dry_run: bool = True) -> "Promotion":
        """What promotion makes of the file, and for each note why or why not."""
        check_flag(dry_run, "dry_run")
        return self._upkeep.promotion(self.memory_path(path), dry_run)

    def memory_path(self, path: StrPath | None = None) -> str:
        """The memory file of this place; `NotFound` says how to name one."""
        from nuggets import memory_file

        told = "" if path is None else storable(_written(path), "the path of a memory file")
        return memory_file.located(told or self.settings["memory_file"], self.project)

    def memory_text(self) -> str:
        """What stands in it; "" if it is not written yet."""
        from nuggets import memory_file

        return memory_file.read(self.memory_path())

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        return self._upkeep.run_daily(_moment(now))

    def last_run(self) -> DailyRun | None:
        """The last daily clean-up."""
        return self._upkeep.last_run()

    def next_run(self, now: "datetime") -> "datetime":
        """When the next one is due, in local time."""
        return self._upkeep.next_run(_moment(now))

    def audit(self) -> "Sequence[Finding]":
        """What is worth a look: duplicates, contradictions, secrets, stale and unused memories."""
        return self._upkeep.audit()

    def checkup(self, fix: bool = False) -> "Sequence[Defect]":
        """What is not in order with the files and the links; `fix` mends what can be."""
        check_flag(fix, "fix")
        return self._upkeep.checkup(fix)

    def export(
        self,
        form: str,
        path: StrPath | None = None,
        *,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "Exported":
        """Write all notes as `json` (the documented files), `jsonl` or `markdown` to a new place.

        Without a path, `json` brings the shelf's own documented files up to date. `report` is told
        how far it is.
        """
        from nuggets.exporting import FORMS, Exported, export

        check_flag(dry_run, "dry_run")
        if form not in FORMS:
            raise InvalidInput(f"an export is one of {', '.join(FORMS)}; not {form!r:.80}")
        if path is None:
            if form != "json":
                raise InvalidInput(f"name a new place for the export as {form}")
            if not dry_run:
                self._transactions.store.refresh_exports()
        with self._transactions.reading() as view:
            if path is None:
                directory = self._transactions.store.directory
                return Exported(form, directory, len(view.state.notes), len(view.state.nuggets) + 1)
            told = os.path.expanduser(storable(_written(path), "the path of an export"))
            return export(
                view.state,
                self._transactions.store.position,
                form,
                os.path.abspath(told),
                dry_run=dry_run,
                report=report,
            )

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        """Every note in its documented shape, as a line of JSON."""
        from nuggets.exporting import note_lines

        with self._transactions.reading() as view:
            for line in note_lines(view.state.notes.values()):
                write(line)

    def backup(self, path: StrPath | None = None) -> "Backup":
        """A copy of everything that is written, in one file, while others go on writing.

        `path`: a new file, or a directory to put it in; by default `backups` of the shelf.
        """
        told = None if path is None else storable(_written(path), "the path of a backup")
        return self._upkeep.backup(self._backup_path(told))

    def restore(self, path: StrPath, *, dry_run: bool = False) -> "Restored":
        """Put a backup in the place of all that is here; that is kept in `replaced-<n>`.

        `dry_run` only checks the backup and says what would change.
        """
        check_flag(dry_run, "dry_run")
        told = storable(_written(path), "the path of a backup")
        return self._upkeep.restore(os.path.abspath(os.path.expanduser(told)), dry_run)

    def _backup_path(self, told: str | None) -> str:
        directory = self._transactions.store.directory
        if told is None and not directory:
            raise InvalidInput("a shelf in memory has no directory; name a file for the backup")
        path = os.path.join(directory, "backups", "") if told is None else told
        path = os.path.abspath(os.path.expanduser(path)) + ("/" if path.endswith("/") else "")
        if path.endswith("/") or os.path.isdir(path):
            moment = self._clock()[:19].replace(":", "").replace("T", "-")
            stem, number = os.path.join(path, f"nuggets-{moment}"), 2
            path = f"{stem}.db"
            while os.path.lexists(path):
                path, number = f"{stem}-{number}.db", number + 1
        return path

    def exports_status(self) -> ExportsStatus | None:
        """How far the documented files are; None for a shelf in memory."""
        return self._transactions.store.exports_status()

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should see to, though memory goes on: files that cannot be read."""
        store = self._transactions.store
        return (*store.warnings, *filter(None, [store.unfinished_erasure]))

    @property
    def _upkeep(self) -> "Upkeep":
        from nuggets.upkeep import Upkeep

        return Upkeep(
            self._transactions,
            self.settings,
            self.project,
            self.memory_path,
            self._clock,
            self._client,
        )

    # --- what an operation is made of -------------------------------------------------------

    def _update(
        self, action: str, decide: Callable[[Decisions], Decision[T]], *, dry_run: bool = False
    ) -> T:
        check_flag(dry_run, "dry_run")
        if dry_run:
            with self._transactions.reading():
                return decide(self._decisions())[1]
        now = cache(self._clock)  # asked when it is first decided, and the same ever after
        return self._transactions.update(action, self._client, lambda: decide(self._decisions(now)))

    def _decisions(self, now: Callable[[], str] | None = None) -> Decisions:
        return Decisions(
            self._transactions.state,
            project=self.project,
            at_work=self._at_work,
            now=(now or self._clock)(),
            draw=self._transactions.draw,
        )

    def _view(self, name: str) -> "Nugget":
        from nuggets.nugget import Nugget

        return Nugget.of(self, name)

    def _touch(self, notes: Sequence[MemoryNote], session: str | None) -> Sequence[MemoryNote]:
        """The notes as they are once they have been shown; None is a look that leaves no trace:
        a person browsing, or the system itself."""
        if session is None:
            return notes
        touches = self._count([note.id for note in notes], session)
        return [touched(note, touch) for note, touch in zip(notes, touches, strict=True)]

    def _count(self, note_ids: Iterable[str], session: str) -> tuple[Touch, ...]:
        now, session = self._clock(), _session(session)
        touches = tuple(Touch(note_id, session, now) for note_id in note_ids)
        self._transactions.touch(touches)
        return touches

    def _adopted(self, state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
        from nuggets.graph.external_edits import adopted

        return adopted(self._draw, state, base, edit, now)


def _read(shapes: Iterable[Mapping[str, Any]], now: str) -> tuple[MemoryNote, ...]:
    """Notes in their documented JSON; what it leaves out is inferred as for any new note."""
    from nuggets.graph.external_note_edits import completed
    from nuggets.stores.shapes import checked_note

    notes = []
    for number, shape in enumerate(shapes, 1):
        checked = checked_note(shape, f"note {number}")
        try:
            notes.append(completed(checked, now))
        except InvalidInput as problem:
            raise InvalidInput(f"note {number} ({checked['title']!r:.80}): {problem}") from None
    return tuple(notes)


NuggetGraph = NuggetShelf  # the note operations of a shelf, under their documented name


def reflect_and_clean_memory(
    shelf: NuggetShelf, nugget: str | None = None, limit: int | None = None
) -> ReflectionResult:
    """`NuggetShelf.reflect` under its documented name."""
    return shelf.reflect(nugget, limit)


def promote_facts(shelf: NuggetShelf, path: StrPath | None = None) -> int:
    """`NuggetShelf.promote` under its documented name."""
    return shelf.promote(path)


def _written(path: StrPath | None) -> str | None:
    """A path as text; whether it is one at all is checked where it is used."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def _moment(now: "datetime") -> "datetime":
    from datetime import datetime

    if not isinstance(now, datetime):
        raise InvalidInput(f"the time is a datetime, in local time; not {now!r:.80}")
    return now


def _oldest_first(notes: Iterable[MemoryNote]) -> list[MemoryNote]:
    """By age: what was imported, or brought back by undo, is older than its place tells."""
    return sorted(notes, key=lambda note: note.created_at)


def _asked(query: str) -> str:
    asked = storable(query.replace("\0", " ") if isinstance(query, str) else query, "a query")
    if not asked.strip():
        raise InvalidInput("ask for something: the query is empty")
    return asked


def _narrowed(
    filters: NoteFilterOptions, wanted: Mapping[str, Any], state: State
) -> NoteFilterOptions:
    """What may be shown; a nugget that is not there is a mistake, not an empty answer."""
    from nuggets.graph.filters import narrowed

    asked = narrowed(filters, wanted)
    if asked.nugget is not None:
        naming.known_nugget(state.nuggets, asked.nugget)
    return asked


def _session(session: str) -> str:
    """Who asks, as anyone may call themselves; "" counts nothing."""
    session = storable(session, "a session").strip()
    check_most(len(session), SESSION_CHARACTERS, "a session", "characters")
    return session
