"""Decides what each operation changes: the state and the time go in, `Changes` come out. Pure.

Knows no store and no interface; `operations/transactions.py` writes what was decided.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain.limits import storable
from nuggets.domain.marks import rejection_marks
from nuggets.domain.names_and_tags import checked_nugget_name, identity_of
from nuggets.domain.records import (
    CONTRADICTS,
    Changes,
    GraphNoteMetaInput,
    Intake,
    MemoryNote,
    NoteKind,
    NuggetConfig,
    ProjectMove,
    WrittenNote,
)
from nuggets.domain.state import State, fact_in_the_way, facts_with_key
from nuggets.domain.visibility import is_foreign, precedence, visible_projects
from nuggets.errors import Conflict, InvalidInput, NotFound
from nuggets.operations import argument_checks, notes_and_links
from nuggets.operations.lookups_before_write import (
    NO_CONTEXT,
    WritingContext,
    mark_contradictions,
    same_places,
)
from nuggets.operations.permissions import (
    Client,
    ReadingRecord,
    attribute_text,
    move_with_scope,
    refuse_credentials,
    refuse_if_changed,
    refuse_unfit,
)

if TYPE_CHECKING:
    from datetime import datetime

    from nuggets.operations.session_notes import SessionRecord
    from nuggets.operations.shelf_import import OtherShelf, ShelfPast

Pairing = Callable[[MemoryNote, MemoryNote], notes_and_links.Pair | None]


class OperationChanges:
    """What operations change, on one state at one moment."""

    def __init__(
        self,
        state: State,
        *,
        project: str,
        client: Client,
        readings: ReadingRecord | None,
        now: str,
        draw: Callable[[], str],
    ) -> None:
        """`readings`: what clients that must read first have read."""
        self._state = state
        self._project = project
        self._client = client
        self._readings = readings
        self._now = now
        self._draw = draw

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, config: dict[str, Any]) -> tuple[Changes, str]:
        if argument_checks.find_nugget(self._state.nuggets, name) is not None:
            raise Conflict(f"the nugget {name!r} already exists; use get or get_or_create")
        return self.get_or_create(name, config)

    def get_or_create(self, name: str, config: dict[str, Any]) -> tuple[Changes, str]:
        nugget, new = self._find_or_make_nugget(name, config)
        return Changes(put_nuggets=new), nugget.name

    def remove(self, name: str) -> tuple[Changes, int]:
        config = self._require_nugget(name)
        gone = [note.id for note in self._state.notes.find(nugget=config.name)]
        return self._drop(gone)._replace(drop_nuggets=(config.name,)), len(gone)

    # --- facts ------------------------------------------------------------------------------

    def remember(
        self,
        nugget: str,
        key: str,
        value: str,
        given: GraphNoteMetaInput,
        context: WritingContext = NO_CONTEXT,
    ) -> tuple[Changes, WrittenNote]:
        """A known key gets the new value where it is known; a new one makes a fact.

        `context`: what is known about the text, as for `create_note` and `edit_note`.
        """
        self._refuse_unfit(nugget, f"{key}: {value}")
        home, new = self._find_or_make_nugget(nugget, {})
        current = self._fact_of(home.name, key, given.project)
        new_fact = None
        if current is not None and current.hidden:
            # Someone put it away; it comes back only where a new one would belong.
            new_fact = self._new_note("fact", home.name, key, value, (), given)
            current = self._fact_of(home.name, key, new_fact.project)
        if current is not None:
            content = notes_and_links.normal_value(value)
            is_new = current.hidden or content != current.content
            after = notes_and_links.restore_note(
                notes_and_links.edit_note(
                    current,
                    now=self._now,
                    content=content,
                    given=self._attribute_change(current, given, is_new=is_new),
                ),
                self._now,
            )
            changes = self._replace_note(current, after)
            return self._finish(changes, after, given, context, replaced=current)
        new_fact = new_fact or self._new_note("fact", home.name, key, value, (), given)
        changes = self._drop(self._facts_to_evict(home))
        changes = changes._replace(put=(*changes.put, new_fact), put_nuggets=new)
        return self._finish(changes, new_fact, given, context)

    def forget(self, nugget: str, key: str) -> tuple[Changes, bool]:
        name = self._require_nugget(nugget).name
        fact = self._own_fact(name, key)
        return (self._drop([fact.id]), True) if fact else (Changes(), False)

    def clear(self, nugget: str) -> tuple[Changes, int]:
        facts = self._state.notes.find(nugget=self._require_nugget(nugget).name, kind="fact")
        return self._drop([fact.id for fact in facts]), len(facts)

    def fact_to_purge(self, nugget: str, key: str) -> MemoryNote:
        """The one to purge: of exactly this key, and nothing that is merely called alike."""
        fact = self._own_fact(self._require_nugget(nugget).name, key)
        if fact is None:
            raise NotFound(f"{nugget!r} has no fact {key!r:.80}, and never had one")
        return fact

    # --- notes ------------------------------------------------------------------------------

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str] | None,
        created_at: "str | datetime | None",
        given: GraphNoteMetaInput,
        context: WritingContext = NO_CONTEXT,
    ) -> tuple[Changes, WrittenNote]:
        tags = tags or ()
        self._refuse_unfit(nugget, f"{title}: {content}", *tags)
        home, new = self._find_or_make_nugget(nugget, {})
        note = self._new_note("note", home.name, title, content, tags, given, created_at)
        same = self._copy_of(note) if self._client.keeps_one_copy else None
        if same is not None:
            after = notes_and_links.edit_note(
                same,
                now=self._now,
                tags=(*same.tags, *note.tags) if set(note.tags) - set(same.tags) else None,
                given=self._attribute_change(same, given, is_new=False),
            )
            return self._finish(
                self._replace_note(same, after), after, given, NO_CONTEXT, replaced=same
            )
        return self._finish(Changes(put=(note,), put_nuggets=new), note, given, context)

    def edit_note(
        self,
        name: str,
        nugget: str | None,
        expected: "str | datetime | None",
        edit: notes_and_links.NoteEdit,
        given: GraphNoteMetaInput,
        context: WritingContext = NO_CONTEXT,
    ) -> tuple[Changes, WrittenNote]:
        content, title, tags, hidden = edit
        note = self._resolve_note(name, nugget, hidden is False, follow_merges=hidden is None)
        if expected is not None:
            refuse_if_changed(note, expected)
        if content is not None and self._readings is not None and self._client.reads_first:
            self._readings.check(self._client.session, note)
        self._refuse_unfit_edit(note, title, content, tags or ())
        is_new = title not in (None, note.title) or content not in (None, note.content)
        given_now = self._attribute_change(note, given, is_new=is_new)
        after = notes_and_links.edit_note(note, now=self._now, given=given_now, **edit._asdict())
        return self._finish(self._replace_note(note, after), after, given, context, replaced=note)

    def delete_note(self, name: str, nugget: str | None, hard: bool) -> tuple[Changes, MemoryNote]:
        note = self._resolve_note(name, nugget)
        if hard:
            return self._drop([note.id]), note
        after = notes_and_links.archive_note(note, self._now)
        return self._replace_note(note, after), after

    def restore_note(self, name: str, nugget: str | None) -> tuple[Changes, MemoryNote]:
        note = self._resolve_note(name, nugget, archived=True)
        if not note.hidden:
            raise InvalidInput(f"{note.title!r:.80} ({note.id}) is not archived")
        after = notes_and_links.restore_note(note, self._now)
        return self._replace_note(note, after), after

    def add_link(self, a: str, b: str, reason: str, nugget: str | None) -> tuple[Changes, bool]:
        self._refuse_unfit(reason)
        return self._change_link(
            a, b, nugget, lambda x, y: notes_and_links.add_link(x, y, reason, self._now)
        )

    def remove_link(
        self, a: str, b: str, reason: str | None, nugget: str | None
    ) -> tuple[Changes, bool]:
        return self._change_link(
            a, b, nugget, lambda x, y: notes_and_links.remove_link(x, y, reason)
        )

    def merge_notes(
        self, target: str, source: str, reason: str, nugget: str | None
    ) -> tuple[Changes, MemoryNote]:
        from nuggets.operations.note_merging import merge_notes  # few commands merge notes

        self._refuse_unfit(reason)
        target_note, source_note = (
            self._resolve_note(target, nugget),
            self._resolve_note(source, nugget),
        )
        changed = merge_notes(target_note, source_note, reason, self._now, self._state.notes)
        return Changes(put=changed), changed[0]

    # --- sessions ---------------------------------------------------------------------------

    def keep_session(self, record: "SessionRecord", oldest: str) -> tuple[Changes, str]:
        """`oldest`: notes of sessions that ended before are dropped; "" drops none."""
        from nuggets.operations.session_notes import NUGGET, keep_session

        self._refuse_unfit(f"{record.title}: {record.text}")
        _, new = self._find_or_make_nugget(NUGGET, {})
        changes, note_id = keep_session(self._state, record, self._now, oldest)
        return changes._replace(put_nuggets=new if changes.put else ()), note_id

    # --- other memories ---------------------------------------------------------------------

    def import_memories(self, other: "OtherShelf", past: "ShelfPast") -> tuple[Changes, Intake]:
        from nuggets.operations.shelf_import import merge_shelves

        return merge_shelves(self._state, other, past, self._now)

    # --- projects ---------------------------------------------------------------------------

    def move_project(self, old: str, new: str) -> tuple[Changes, ProjectMove]:
        """All that belongs to one project, but for facts that would hide those of the other."""
        notes = self._state.notes
        taken = {identity_of(fact) for fact in notes.find(project=new, kind="fact")}
        moved, left = [], []
        for note in notes.find(project=old):
            after = note._replace(project=new)
            if note.kind == "fact" and identity_of(after) in taken:
                left.append(note)
            else:
                moved.append(after)
        return Changes(put=tuple(moved)), ProjectMove(old, new, tuple(moved), tuple(left))

    # --- what is there ----------------------------------------------------------------------

    def _require_nugget(self, nugget: str) -> NuggetConfig:
        return argument_checks.require_nugget(self._state.nuggets, nugget)

    def _find_or_make_nugget(
        self, nugget: str, config: dict[str, Any]
    ) -> tuple[NuggetConfig, tuple[NuggetConfig, ...]]:
        """The nugget that something goes into, and as new if it has to be made."""
        existing = argument_checks.find_nugget(self._state.nuggets, nugget)
        if existing is not None:
            return existing, ()
        new_config = _checked_config(nugget, config)
        return new_config, (new_config,)

    def _resolve_note(
        self, name: str, nugget: str | None, archived: bool = False, follow_merges: bool = False
    ) -> MemoryNote:
        return argument_checks.resolve(
            self._state.notes,
            name,
            nugget,
            project=self._project,
            archived=archived,
            follow_merges=follow_merges,
            changes=True,
        )

    def _fact_of(self, nugget: str, key: str, project: str | None = None) -> MemoryNote | None:
        """The fact of exactly this key as this project knows it, even if it is archived.

        Two projects may know different things by one key. `project`: the one whose fact is meant,
        and no other.
        """
        storable(key, "a key")
        projects = visible_projects(self._project) if project is None else (project,)
        facts = [
            fact
            for fact in facts_with_key(self._state.notes, nugget, key)
            if fact.project in projects
        ]
        return min(
            facts, key=lambda fact: (fact.hidden, precedence(fact, self._project)), default=None
        )

    def _own_fact(self, nugget: str, key: str) -> MemoryNote | None:
        """The same, to take it away: what only another project knows is refused."""
        fact = self._fact_of(nugget, key)
        if fact is None:
            for other in facts_with_key(self._state.notes, nugget, key):
                if not other.hidden:
                    raise Conflict(
                        f"only another project ({other.project}) knows {key!r}; "
                        f"to take that away, delete its note {other.id}"
                    )
        return fact

    # --- deciding, in small -----------------------------------------------------------------

    def _new_note(
        self,
        kind: NoteKind,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str],
        given: GraphNoteMetaInput,
        created_at: "str | datetime | None" = None,
    ) -> MemoryNote:
        return notes_and_links.new_note(
            nugget=nugget,
            kind=kind,
            title=title,
            content=content,
            tags=tags,
            given=attribute_text(self._client, given, is_new=True),
            now=self._now,
            note_id=notes_and_links.note_id(kind, nugget, self._draw, self._state.notes),
            project=self._project,
            created_at=created_at,
            at_work=self._client.at_work,
        )

    def _attribute_change(
        self, note: MemoryNote, given: GraphNoteMetaInput, *, is_new: bool
    ) -> GraphNoteMetaInput:
        """The metadata of a change; `is_new`: whether the note says something else now."""
        attributed = attribute_text(self._client, given, is_new=is_new)
        return move_with_scope(note, attributed, self._project)

    def _copy_of(self, note: MemoryNote) -> MemoryNote | None:
        """A visible note that says just this, as after a call that was repeated."""
        titled = self._state.notes.find(
            nugget=note.nugget_name, title=note.title, kind="note", hidden=False
        )
        return next(
            (
                other
                for other in titled
                if other.content == note.content and not is_foreign(other, self._project)
            ),
            None,
        )

    def _refuse_unfit(self, *texts: str) -> None:
        refuse_unfit(self._client, *texts)

    def _refuse_unfit_edit(
        self, note: MemoryNote, title: str | None, content: str | None, tags: Iterable[str]
    ) -> None:
        stated = [text for text in (title, content) if text is not None]
        self._refuse_unfit(*stated, *tags)
        if stated:  # a new title may say what the old text is, and the other way round
            whole = note.title if title is None else title
            refuse_credentials(
                self._client, f"{whole}: {note.content if content is None else content}"
            )

    def _drop(self, gone: Iterable[str]) -> Changes:
        return notes_and_links.drop_notes(self._state.notes, gone)

    def _facts_to_evict(self, config: NuggetConfig) -> Sequence[str]:
        """The oldest facts that have to go so that one more fits."""
        if config.max_facts <= 0:
            return ()
        facts = self._state.notes.find(nugget=config.name, kind="fact", hidden=False)
        facts.sort(key=lambda fact: fact.created_at)
        return [fact.id for fact in facts[: max(0, len(facts) + 1 - config.max_facts)]]

    def _replace_note(self, before: MemoryNote, after: MemoryNote) -> Changes:
        """A note in the place of its earlier version, and what that means for a nugget's facts."""
        if after == before:
            return Changes()
        if after.kind != "fact":
            return self._with_refusals(Changes(put=(after,)))
        if identity_of(before) != identity_of(after) or before.hidden:
            self._refuse_second_key(before, after)
        evicted: Sequence[str] = ()
        if before.hidden and not after.hidden:
            evicted = self._facts_to_evict(self._require_nugget(after.nugget_name))
        (after,) = notes_and_links.without_links_to([after], set(evicted)) or (after,)
        return self._with_refusals(_put_instead(self._drop(evicted), after))

    def _finish(
        self,
        changes: Changes,
        note: MemoryNote,
        given: GraphNoteMetaInput,
        context: WritingContext,
        replaced: MemoryNote | None = None,
    ) -> tuple[Changes, WrittenNote]:
        """The changes that put a note, with what follows for the note whose place it takes, and
        with its anchors and its links to what it contradicts; both replace those of its earlier
        text, `replaced`."""
        if given.supersedes:
            old = self._resolve_note(given.supersedes, None)
            note, old = notes_and_links.supersede_note(note, old, self._now)
            changes = _put_instead(changes, note, old)
        if context is not NO_CONTEXT:
            anchors = context.anchors if note.project == self._project else ()
            if not same_places(anchors, note.anchors):
                note = note._replace(anchors=anchors)
                changes = _put_instead(changes, note)
        was_marked = any(link.reason == CONTRADICTS for link in note.links)
        candidates = self._state.notes.many(context.rivals) if context.rivals else {}
        opposed: Sequence[MemoryNote] = ()
        if candidates or was_marked:
            marked, opposed = mark_contradictions(
                self._state, changes.put, note, candidates, self._now
            )
            changes, note = changes._replace(put=tuple(marked.values())), marked.get(note.id, note)
        written = WrittenNote.from_note(note, is_new=replaced is None, replaced=replaced)
        written.contradicts = tuple(opposed)
        return changes, written

    def _with_refusals(self, changes: Changes) -> Changes:
        """What people take back by hand, the clean-up does not do again."""
        before = self._state.notes.many(note.id for note in changes.put)
        changed = ((before[note.id], note) for note in changes.put if note.id in before)
        return changes._replace(marks=rejection_marks(self._state, changed))

    def _refuse_second_key(self, before: MemoryNote, fact: MemoryNote) -> None:
        other = fact_in_the_way(self._state.notes, before, fact)
        if other is not None:
            raise Conflict(
                f"{fact.nugget_name} has {'an archived' if other.hidden else 'a'} fact "
                f"{other.title!r} already ({other.id}); forget that one first, or choose another "
                "key"
            )

    def _change_link(
        self, a: str, b: str, nugget: str | None, pairing: Pairing
    ) -> tuple[Changes, bool]:
        before = self._resolve_note(a, nugget), self._resolve_note(b, nugget)
        after = pairing(*before)
        if after is None:
            return Changes(), False
        marks = rejection_marks(self._state, zip(before, after, strict=True))
        return Changes(put=after, marks=marks), True


def _put_instead(changes: Changes, *notes: MemoryNote) -> Changes:
    """The changes with these versions of notes, in the place of earlier ones."""
    put = {note.id: note for note in (*changes.put, *notes)}
    return changes._replace(put=tuple(put.values()))


def _checked_config(name: str, config: dict[str, Any]) -> NuggetConfig:
    unknown = config.keys() - (set(NuggetConfig._fields) - {"name", "extra"})
    if unknown:
        raise InvalidInput(f"a nugget has no setting called {', '.join(sorted(unknown))}")
    if config:
        from nuggets.domain.type_check import check_fields  # hardly anyone sets any of it

        check_fields(config, NuggetConfig)
    return NuggetConfig(checked_nugget_name(name), **config)
