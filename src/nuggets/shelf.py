"""`NuggetShelf`, the one door that every interface uses, and `Nugget`, its view of one nugget.

Every operation has one rhythm (`rhythm.py`); what is decided here is decided purely, in the rooms
below.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets import times
from nuggets.errors import Conflict, InvalidInput, NotFound
from nuggets.facts.capacity import fill
from nuggets.graph import links, metadata, naming, notes
from nuggets.graph.limits import check_config, check_most, checked_value, storable
from nuggets.project import current_project
from nuggets.records import (
    Changes,
    Commit,
    DailyRun,
    GraphNoteMetaInput,
    MemoryNote,
    NoteFilterOptions,
    NoteKind,
    NuggetConfig,
    NuggetStatus,
    OutsideEdit,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
    Touch,
)
from nuggets.rhythm import Decision, Rhythm
from nuggets.settings import DEFAULT_DIRECTORY, Settings, load
from nuggets.state import State
from nuggets.stores import open_store
from nuggets.stores.base import Store
from nuggets.text import folded

if TYPE_CHECKING:
    from datetime import datetime

    from nuggets.audit import Finding
    from nuggets.promotion import Promotion
    from nuggets.stores.checkup import Finding as Defect
    from nuggets.upkeep import Upkeep

NO_FILTERS = NoteFilterOptions()
SESSION_CHARACTERS = 256
SHARING = 20  # results that share one softmax
SEARCHED = 400  # results among which ours are looked for when others come before them

T = TypeVar("T")


def random_hex() -> str:
    """Eight digits for an id."""
    return os.urandom(4).hex()


class NuggetShelf:
    """All nuggets of one directory or database."""

    def __init__(
        self,
        save_dir: str | os.PathLike[str] = DEFAULT_DIRECTORY,
        auto_save: bool = True,
        *,
        store: Store | None = None,
        settings: Settings | None = None,
        short_lived: bool = False,
        project: str | None = None,
        client: str = "python",
        clock: Callable[[], str] = times.now,
        draw: Callable[[], str] = random_hex,
    ) -> None:
        """`auto_save=False` gathers all changes until `save_all`.

        `settings`: by default those of the environment and of the directory's config.toml.
        `project`: the repository that new memories belong to; by default the one we are in.
        `short_lived`: nothing is left for later, because there will be none.
        """
        self.settings = settings or load(os.environ, {"dir": os.fspath(save_dir)})
        if project is None:
            project = self.settings["project"] or current_project()
        self.project: str = project
        self.auto_save = auto_save
        self._clock = clock
        self._draw = draw
        store = store or open_store(os.fspath(save_dir), self._adopted, short_lived=short_lived)
        self._rhythm = Rhythm(store, client=client, draw=draw, auto_save=auto_save)

    @classmethod
    def open(cls, url: str, **options: Any) -> Self:
        """By URL: a directory, or ``memory:``."""
        return cls(url, **options)

    def close(self) -> None:
        """Save what was gathered and leave the files in order. Using the shelf again reopens it."""
        self._rhythm.close()

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

    def create(self, name: str, **config: Any) -> "Nugget":
        """A new nugget; `Conflict` if there is one of that name."""

        def decide() -> Decision[None]:
            if self._config(name) is not None:
                raise Conflict(f"the nugget {name!r} is there already; use get or get_or_create")
            return Changes(put_nuggets=(_checked_config(name, config),)), None

        self._update("create", decide)
        return Nugget._of(self, self._known(name).name)

    def get(self, name: str) -> "Nugget":
        with self._rhythm.lock:
            self._current()
            return Nugget._of(self, self._known(name).name)

    def get_or_create(self, name: str, **config: Any) -> "Nugget":
        """What an existing nugget was made with wins."""

        def decide() -> Decision[str]:
            known = self._config(name)
            if known is not None:
                return Changes(), known.name
            made = _checked_config(name, config)
            return Changes(put_nuggets=(made,)), made.name

        return Nugget._of(self, self._update("create", decide))

    def __getitem__(self, name: str) -> "Nugget":
        return self.get_or_create(name)

    def has(self, name: str) -> bool:
        with self._rhythm.lock:
            self._current()
            return self._config(name) is not None

    def __contains__(self, name: str) -> bool:
        return self.has(name)

    def remove(self, name: str) -> int:
        """Take a nugget away with all its facts and notes; how many those were."""

        def decide() -> Decision[int]:
            known = self._known(name)
            gone = [note.id for note in self._notes_of(known.name)]
            return self._dropping(gone)._replace(drop_nuggets=(known.name,)), len(gone)

        return self._update("remove", decide)

    def list(self) -> tuple[NuggetStatus, ...]:
        """Every nugget with how full it is, by name."""
        with self._rhythm.lock:
            self._current()
            configs = self._state.nuggets.values()
            counts = self._note_counts()
            return tuple(
                self._status(config, counts) for config in sorted(configs, key=lambda c: c.name)
            )

    def status(self, nugget: str) -> NuggetStatus:
        with self._rhythm.lock:
            self._current()
            return self._status(self._known(nugget), self._note_counts())

    @property
    def size(self) -> int:
        """How many nuggets there are."""
        with self._rhythm.lock:
            self._current()
            return len(self._state.nuggets)

    def load_all(self) -> None:
        """Read what is there now. Every call does so by itself; this is for those who like to."""
        with self._rhythm.lock:
            self._current()

    def save_all(self) -> None:
        """Write what was gathered, as one change: all of it or nothing.

        If someone else wrote meanwhile, each operation is decided again on what is there now.
        """
        self._rhythm.save()

    def batch(self) -> AbstractContextManager[None]:
        """Gather all changes inside into one write at the end; an error inside writes nothing."""
        return self._rhythm.batch()

    # --- facts ------------------------------------------------------------------------------

    def remember(self, nugget: str, key: str, value: str, **meta: Any) -> MemoryNote:
        """Store a fact, in a nugget that is made if need be; a known key gets the new value."""
        given = _given(meta)

        def decide() -> Decision[MemoryNote]:
            config = self._config(nugget) or _checked_config(nugget, {})
            fact = self._fact_for(config.name, key, given.project)
            now = self._clock()
            if fact is not None:
                content = checked_value(value)
                written = notes.restored(
                    notes.edited(fact, now=now, content=content, given=given), now
                )
                return self._replacing(fact, written), written
            written = notes.new_note(
                nugget=config.name,
                kind="fact",
                title=key,
                content=value,
                tags=(),
                given=given,
                now=now,
                note_id=self._new_id("fact", config.name),
                project=self.project,
            )
            evicted = self._evicted(config)
            changes = self._dropping(evicted)
            new = () if self._config(nugget) else (config,)
            return changes._replace(put=(*changes.put, written), put_nuggets=new), written

        return self._update("remember", decide)

    def recall(
        self, query: str, nugget: str | None = None, session: str | None = ""
    ) -> RecallResult:
        """The fact that a query means, decoded; a miss is ``found=False``.

        Without a nugget all of them are asked and the best match answers. A session that has not
        recalled this fact before adds a hit.
        """
        query = _asked(query)
        with self._rhythm.lock:
            self._current()
            if nugget is not None:
                nugget = self._known(nugget).name
            result = self._rhythm.picture.facts.recall(query, nugget, self.project)
            if result.found:
                self._touch([result.note_id], session)
            return result

    def recall_or_search(
        self, query: str, nugget: str | None = None, session: str | None = "", limit: int = 5
    ) -> tuple[RecallResult, Sequence[SearchNotesResult]]:
        """Recall first; when no fact answers, what the graph has on it."""
        result = self.recall(query, nugget, session)
        if result.found:
            return result, ()
        return result, self.search_notes(query, limit, session=session, nugget=nugget)

    def forget(self, nugget: str, key: str) -> bool:
        """Take a fact and its note away; False if there was none.

        Only what this project knows, its own or everybody's; another's is named by its note's id.
        """

        def decide() -> Decision[bool]:
            name = self._known(nugget).name
            fact = self._fact_for(name, key)
            if fact is None:
                self._refuse_foreign(name, key)
                return Changes(), False
            return self._dropping([fact.id]), True

        return self._update("forget", decide)

    def facts(self, nugget: str) -> Sequence[MemoryNote]:
        """The facts of a nugget, oldest first."""
        with self._rhythm.lock:
            self._current()
            ids = self._rhythm.picture.facts.facts(self._known(nugget).name)
            return [self._state.notes[i] for i in ids]

    def clear(self, nugget: str) -> int:
        """Forget all facts of a nugget; how many those were. Its notes stay."""

        def decide() -> Decision[int]:
            facts = [n.id for n in self._notes_of(self._known(nugget).name) if n.kind == "fact"]
            return self._dropping(facts), len(facts)

        return self._update("clear", decide)

    # --- notes ------------------------------------------------------------------------------

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: str | None = None,
        **meta: Any,
    ) -> MemoryNote:
        """Store a note, in a nugget that is made if need be. `created_at` is for imports."""
        given = _given(meta)

        def decide() -> Decision[MemoryNote]:
            config = self._config(nugget) or _checked_config(nugget, {})
            note = notes.new_note(
                nugget=config.name,
                kind="note",
                title=title,
                content=content,
                tags=tags,
                given=given,
                now=self._clock(),
                note_id=self._new_id("note", config.name),
                project=self.project,
                created_at=created_at,
            )
            new = () if self._config(nugget) else (config,)
            return Changes(put=(note,), put_nuggets=new), note

        return self._update("create_note", decide)

    def get_note(
        self, name: str, nugget: str | None = None, session: str | None = ""
    ) -> MemoryNote:
        """By id, exact title, or unambiguous beginning of an id. Counts as a recall."""
        with self._rhythm.lock:
            self._current()
            note = self._named(name, nugget)
            self._touch([note.id], session)
            return self._state.notes[note.id]

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
        **meta: Any,
    ) -> MemoryNote:
        """Change what is given. Editing a fact's title or content changes the fact.

        `expected`: the `updated_at` that the editor saw; `Conflict` if someone changed the note
        since.
        """
        given = _given(meta)

        def decide() -> Decision[MemoryNote]:
            note = self._named(name, nugget)
            if expected is not None and note.updated_at != times.normal(expected):
                raise Conflict(
                    f"{note.id} was changed at {note.updated_at}, after you read it; "
                    "read it again and repeat your edit"
                )
            now = self._clock()
            after = notes.edited(
                note, now=now, content=content, title=title, tags=tags, hidden=hidden, given=given
            )
            return self._replacing(note, after), after

        return self._update("edit_note", decide)

    def delete_note(self, name: str, hard: bool = False, nugget: str | None = None) -> MemoryNote:
        """Archive a note, or with `hard` take it and all links to it away."""

        def decide() -> Decision[MemoryNote]:
            note = self._named(name, nugget)
            if hard:
                return self._dropping([note.id]), note
            after = notes.archived(note, self._clock())
            return self._replacing(note, after), after

        return self._update("delete_note", decide)

    def restore_note(self, name: str, nugget: str | None = None) -> MemoryNote:
        """Bring an archived note, or fact, back."""

        def decide() -> Decision[MemoryNote]:
            note = self._named(name, nugget)
            after = notes.restored(note, self._clock())
            return self._replacing(note, after), after

        return self._update("restore_note", decide)

    def add_link(self, a: str, b: str, reason: str = "", nugget: str | None = None) -> bool:
        """Link two notes, at both ends; False if they were linked so already."""
        return self._relink(
            "add_link", a, b, nugget, lambda x, y: links.linked(x, y, reason, self._clock())
        )

    def remove_link(
        self, a: str, b: str, reason: str | None = None, nugget: str | None = None
    ) -> bool:
        """Take the link of this reason away, or all between the two; False if there was none."""
        return self._relink("remove_link", a, b, nugget, lambda x, y: links.unlinked(x, y, reason))

    def merge_notes(
        self, target: str, source: str, reason: str = "", nugget: str | None = None
    ) -> MemoryNote:
        """Unite two notes in the target; the source is archived with a link to it."""

        def decide() -> Decision[MemoryNote]:
            one, other = self._named(target, nugget), self._named(source, nugget)
            changed = notes.merged(one, other, reason, self._clock(), self._state.notes)
            return Changes(put=changed), changed[0]

        return self._update("merge_notes", decide)

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: Any
    ) -> Sequence[MemoryNote]:
        """The notes that the filters let through, oldest first. Facts are notes of kind fact."""
        filters = _filters(filters, wanted)
        with self._rhythm.lock:
            self._current()
            from nuggets.graph.filters import matches

            return [n for n in self._state.notes.values() if matches(n, filters)]

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str | None = "",
        **wanted: Any,
    ) -> Sequence[SearchNotesResult]:
        """The notes that a query is about, best first; this project's before those of others.

        Too weak is no result. Notes shown in a session that has not seen them before gain a hit.
        """
        filters = _filters(filters, wanted)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit is how many results to give, at least 1; not {limit!r}")
        with self._rhythm.lock:
            self._current()
            shown = self._ours_first(_asked(query), limit, filters)
            self._touch([result.note.id for result in shown], session)
            return [r._replace(note=self._state.notes[r.note.id]) for r in shown]

    def _ours_first(
        self, query: str, limit: int, filters: NoteFilterOptions
    ) -> Sequence[SearchNotesResult]:
        """This project's and everybody's results before those of others, however many those are."""
        search = self._rhythm.picture.search.search
        found = search(query, limit, filters)
        if not any(self.is_foreign(result.note) for result in found):
            return found
        many = sorted(search(query, SEARCHED, filters), key=lambda r: self.is_foreign(r.note))
        whole = sum(result.score for result in many[: max(limit, SHARING)])
        return [result._replace(score=result.score / whole) for result in many[:limit]]

    def explain(self, query: str, note_id: str) -> Any:
        """What made a note's score for a query."""
        with self._rhythm.lock:
            self._current()
            return self._rhythm.picture.search.explain(query, note_id)

    def is_foreign(self, note: MemoryNote) -> bool:
        """Does it belong to another project than the current one?"""
        return note.project not in ("", self.project)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """How many steps the shelf has gone, whoever made them; cheap to ask again and again."""
        with self._rhythm.lock:
            self._current()
            return self._rhythm.picture.revision

    def commits(self, since: int = 0) -> Sequence[Commit]:
        """Every step after a revision as far as it is kept, oldest first, counted recalls too."""
        with self._rhythm.lock:
            self._current()
            return list(self._rhythm.store.commits(since))

    def history(self, note: str | None = None, limit: int = 20) -> Sequence[Commit]:
        """What was done, newest first: everything, or what changed one note."""
        return self._upkeep.history(note, limit)

    def undo(self, revision: int | None = None) -> Commit:
        """Take a commit back, by default the last that was not; what it was. Undo an undo to redo.

        `Conflict` says which later change would be lost.
        """
        return self._upkeep.undo(revision)

    def purge(self, name: str, nugget: str | None = None) -> Sequence[str]:
        """Erase a memory from the shelf, its history and the memory files; where it was.

        A note that was forgotten before can still be named by its whole id. There is no undo.
        """
        return self._upkeep.purge(name, nugget)

    def purge_fact(self, nugget: str, key: str) -> Sequence[str]:
        """The same for the fact of exactly this key: nothing that is merely called alike."""
        with self._rhythm.lock:
            self._current()
            name = self._known(nugget).name
            fact = self._fact_for(name, key)
            if fact is None:
                self._refuse_foreign(name, key)
        if fact is None:
            raise NotFound(
                f"there is no fact {key!r:.80} in {nugget!r}; one that was forgotten before has "
                "its id in the history: purge it by that"
            )
        return self.purge(fact.id)

    # --- looking after it -------------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        """One clean-up pass over the notes that need it most; `dry_run` only says what it would do.

        Writes that land meanwhile are kept.
        """
        if nugget is not None:
            nugget = self.get(nugget).name
        return self._upkeep.reflect(nugget, limit, dry_run)

    def promote(self, path: str | None = None, dry_run: bool = False) -> int:
        """Write what was recalled in three sessions to MEMORY.md; how many entries are new."""
        return self._upkeep.promotion(path, dry_run).new_count

    def promotion(self, path: str | None = None, dry_run: bool = True) -> "Promotion":
        """What promotion makes of the file, and for each note why or why not."""
        return self._upkeep.promotion(path, dry_run)

    def memory_path(self, path: str | None = None) -> str:
        """The memory file of this place; `NotFound` says how to name one."""
        return self._upkeep.memory_path(path)

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        return self._upkeep.run_daily(now)

    def last_run(self) -> DailyRun | None:
        """The last daily clean-up."""
        return self._upkeep.last_run()

    def next_run(self, now: "datetime") -> "datetime":
        """When the next one is due, in local time."""
        return self._upkeep.next_run(now)

    def audit(self) -> "Sequence[Finding]":
        """What is worth a look: duplicates, contradictions, secrets, stale and unused memories."""
        return self._upkeep.audit()

    def checkup(self, fix: bool = False) -> "Sequence[Defect]":
        """What is not in order with the files and the links; `fix` mends what can be."""
        return self._upkeep.checkup(self._adopted, fix)

    @property
    def _upkeep(self) -> "Upkeep":
        from nuggets.upkeep import Upkeep

        return Upkeep(self._rhythm, self.settings, self.project, self._clock)

    # --- what an operation is made of -------------------------------------------------------

    def _update(self, action: str, decide: Callable[[], Decision[T]]) -> T:
        return self._rhythm.update(action, decide)

    def _current(self) -> State:
        """What is there now; for whoever holds the rhythm's lock."""
        return self._rhythm.catch_up()

    @property
    def _state(self) -> State:
        return self._rhythm.state

    def _touch(self, note_ids: Iterable[str], session: str | None) -> None:
        """None is a look that leaves no trace: a person browsing, or the system itself."""
        if session is not None:
            now, session = self._clock(), _session(session)
            self._rhythm.touch(tuple(Touch(note_id, session, now) for note_id in note_ids))

    def _config(self, name: str) -> NuggetConfig | None:
        if not isinstance(name, str):
            raise InvalidInput(f"a nugget's name is a text, not {name!r}")
        return self._state.nuggets.get(folded(name))

    def _known(self, name: str) -> NuggetConfig:
        config = self._config(name)
        if config is None:
            there = ", ".join(sorted(c.name for c in self._state.nuggets.values())[:10])
            hint = f"there are: {there}" if there else "there is none yet"
            raise NotFound(f"there is no nugget {name!r}; {hint}")
        return config

    def _named(self, name: str, nugget: str | None) -> MemoryNote:
        return naming.resolve(self._state.notes, name, nugget)

    def _notes_of(self, nugget: str) -> Iterator[MemoryNote]:
        return (n for n in self._state.notes.values() if n.nugget_name == nugget)

    def _fact_for(self, nugget: str, key: str, project: str | None = None) -> MemoryNote | None:
        """The fact of exactly this key as this project knows it, even if it is out of sight.

        Two projects may know different things by one key. `project`: the one whose fact is meant,
        and no other.
        """
        if not isinstance(key, str):
            raise InvalidInput(f"a key is a text, not {key!r}")
        same = [self._state.notes[i] for i in self._rhythm.picture.facts.find(nugget, key)]
        same += [
            note
            for note in self._notes_of(nugget)
            if note.hidden and note.kind == "fact" and folded(note.title) == folded(key)
        ]
        homes = (self.project, "") if project is None else (project,)
        ours = [note for note in same if note.project in homes]
        ours.sort(key=lambda note: (note.hidden, note.project == ""))  # its own before everybody's
        return ours[0] if ours else None

    def _refuse_foreign(self, nugget: str, key: str) -> None:
        for note_id in self._rhythm.picture.facts.find(nugget, key):
            raise Conflict(
                f"only another project ({self._state.notes[note_id].project}) knows {key!r}; "
                f"to take that away, delete its note {note_id}"
            )

    def _new_id(self, kind: NoteKind, nugget: str) -> str:
        return notes.note_id(kind, nugget, self._state.notes, self._rhythm.draw)

    # --- deciding, in small -----------------------------------------------------------------

    def _dropping(self, gone: Iterable[str]) -> Changes:
        """Drop notes, and with them every link that leads to them."""
        return links.dropping(self._state.notes, gone)

    def _evicted(self, config: NuggetConfig) -> Sequence[str]:
        """The oldest facts that have to go so that one more fits."""
        if config.max_facts <= 0:
            return ()
        ids = self._rhythm.picture.facts.facts(config.name)
        return ids[: max(0, len(ids) + 1 - config.max_facts)]

    def _replacing(self, before: MemoryNote, after: MemoryNote) -> Changes:
        """A note in the place of its earlier version, and what that means for a nugget's facts."""
        if after == before:
            return Changes()
        if after.kind != "fact":
            return Changes(put=(after,))
        if (before.title, before.project) != (after.title, after.project) or before.hidden:
            self._refuse_second_key(after)
        evicted: Sequence[str] = ()
        if before.hidden and not after.hidden:
            evicted = self._evicted(self._known(after.nugget_name))
        changes = self._dropping(evicted)
        others = tuple(note for note in changes.put if note.id != after.id)
        (after,) = links.without_links_to([after], set(evicted)) or (after,)
        return changes._replace(put=(*others, after))

    def _refuse_second_key(self, fact: MemoryNote) -> None:
        wanted = folded(fact.title)
        for other in self._notes_of(fact.nugget_name):
            same = other.kind == "fact" and other.project == fact.project and other.id != fact.id
            if same and folded(other.title) == wanted:
                state = "an archived" if other.hidden else "a"
                raise Conflict(
                    f"{fact.nugget_name} has {state} fact {other.title!r} already ({other.id}); "
                    "forget that one first, or choose another key"
                )

    def _relink(
        self,
        action: str,
        a: str,
        b: str,
        nugget: str | None,
        pair: Callable[[MemoryNote, MemoryNote], links.Pair | None],
    ) -> bool:
        def decide() -> Decision[bool]:
            changed = pair(self._named(a, nugget), self._named(b, nugget))
            return (Changes(), False) if changed is None else (Changes(put=changed), True)

        return self._update(action, decide)

    def _note_counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for note in self._state.notes.values():
            if note.kind == "note" and not note.hidden:
                counts[note.nugget_name] = counts.get(note.nugget_name, 0) + 1
        return counts

    def _status(self, config: NuggetConfig, note_counts: dict[str, int]) -> NuggetStatus:
        facts = self._rhythm.picture.facts.count(config.name)
        return NuggetStatus(
            config.name,
            facts,
            note_counts.get(config.name, 0),
            config.dims,
            config.banks,
            config.ensembles,
            *fill(config, facts),
            config.max_facts,
        )

    def _adopted(self, state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
        from nuggets.graph.outside import adopted

        return adopted(self._draw, state, base, edit, now)


class Nugget:
    """One named topic. A view: everything it does, its shelf does."""

    name: str
    shelf: NuggetShelf

    def __init__(
        self,
        name: str,
        dims: int = 16384,
        banks: int = 4,
        ensembles: int = 1,
        auto_save: bool = True,
        save_dir: str | os.PathLike[str] = DEFAULT_DIRECTORY,
        max_facts: int = 0,
        sharpen_p: float = 1.0,
        corvacs_a: float = 0.0,
        temperature: float = 0.9,
        ortho_iters: int = 1,
        fuzzy_threshold: float = 0.55,
    ) -> None:
        """On a shelf of its own in `save_dir`; an existing nugget stays as it was made."""
        self.shelf = NuggetShelf(save_dir, auto_save)
        self.name = self.shelf.get_or_create(
            name,
            dims=dims,
            banks=banks,
            ensembles=ensembles,
            max_facts=max_facts,
            sharpen_p=sharpen_p,
            corvacs_a=corvacs_a,
            temperature=temperature,
            ortho_iters=ortho_iters,
            fuzzy_threshold=fuzzy_threshold,
        ).name

    @classmethod
    def _of(cls, shelf: NuggetShelf, name: str) -> Self:
        view = cls.__new__(cls)
        view.shelf, view.name = shelf, name
        return view

    def __repr__(self) -> str:
        return f"Nugget({self.name!r})"

    def remember(self, key: str, value: str, **meta: Any) -> MemoryNote:
        return self.shelf.remember(self.name, key, value, **meta)

    def recall(self, query: str, session: str = "") -> RecallResult:
        return self.shelf.recall(query, self.name, session)

    def forget(self, key: str) -> bool:
        return self.shelf.forget(self.name, key)

    def facts(self) -> Sequence[MemoryNote]:
        return self.shelf.facts(self.name)

    def clear(self) -> int:
        return self.shelf.clear(self.name)

    def status(self) -> NuggetStatus:
        return self.shelf.status(self.name)

    def save(self) -> None:
        self.shelf.save_all()

    def create_note(
        self,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: str | None = None,
        **meta: Any,
    ) -> MemoryNote:
        return self.shelf.create_note(self.name, title, content, tags, created_at, **meta)

    def get_note(self, name: str, session: str = "") -> MemoryNote:
        return self.shelf.get_note(name, self.name, session)

    def edit_note(
        self,
        name: str,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        hidden: bool | None = None,
        *,
        expected: str | None = None,
        **meta: Any,
    ) -> MemoryNote:
        return self.shelf.edit_note(
            name, content, title, tags, hidden, nugget=self.name, expected=expected, **meta
        )

    def delete_note(self, name: str, hard: bool = False) -> MemoryNote:
        return self.shelf.delete_note(name, hard, self.name)

    def restore_note(self, name: str) -> MemoryNote:
        return self.shelf.restore_note(name, self.name)

    def add_link(self, a: str, b: str, reason: str = "") -> bool:
        return self.shelf.add_link(a, b, reason, self.name)

    def remove_link(self, a: str, b: str, reason: str | None = None) -> bool:
        return self.shelf.remove_link(a, b, reason, self.name)

    def merge_notes(self, target: str, source: str, reason: str = "") -> MemoryNote:
        return self.shelf.merge_notes(target, source, reason, self.name)

    def list_notes(
        self, filters: NoteFilterOptions = NO_FILTERS, **wanted: Any
    ) -> Sequence[MemoryNote]:
        return self.shelf.list_notes(filters, **{**wanted, "nugget": self.name})

    def search_notes(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = NO_FILTERS,
        *,
        session: str = "",
        **wanted: Any,
    ) -> Sequence[SearchNotesResult]:
        wanted["nugget"] = self.name
        return self.shelf.search_notes(query, limit, filters, session=session, **wanted)


NuggetGraph = NuggetShelf  # the note operations of a shelf, under their documented name


def reflect_and_clean_memory(
    shelf: NuggetShelf, nugget: str | None = None, limit: int | None = None
) -> ReflectionResult:
    """`NuggetShelf.reflect` under its documented name."""
    return shelf.reflect(nugget, limit)


def promote_facts(shelf: NuggetShelf, path: str | None = None) -> int:
    """`NuggetShelf.promote` under its documented name."""
    return shelf.promote(path)


def _asked(query: str) -> str:
    asked = storable(query.replace("\0", " ") if isinstance(query, str) else query, "a query")
    if not asked.strip():
        raise InvalidInput("ask for something: the query is empty")
    return asked


def _session(session: str) -> str:
    """Who asks, as anyone may call themselves; "" counts nothing."""
    session = storable(session, "a session").strip()
    check_most(len(session), SESSION_CHARACTERS, "a session", "characters")
    return session


def _given(meta: dict[str, Any]) -> GraphNoteMetaInput:
    unknown = meta.keys() - set(GraphNoteMetaInput._fields)
    if unknown:
        raise InvalidInput(
            f"there is no metadata called {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(GraphNoteMetaInput._fields)}"
        )
    return metadata.checked(GraphNoteMetaInput(**meta))


def _filters(filters: NoteFilterOptions, wanted: dict[str, Any]) -> NoteFilterOptions:
    unknown = wanted.keys() - set(NoteFilterOptions._fields)
    if unknown:
        raise InvalidInput(
            f"there is no filter called {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(NoteFilterOptions._fields)}"
        )
    from nuggets.graph.filters import checked_filters

    return checked_filters(filters._replace(**wanted))


def _checked_config(name: str, config: dict[str, Any]) -> NuggetConfig:
    unknown = config.keys() - (set(NuggetConfig._fields) - {"name", "extra"})
    if unknown:
        raise InvalidInput(f"a nugget has no setting called {', '.join(sorted(unknown))}")
    check_config(config)
    return NuggetConfig(naming.checked_name(name), **config)
