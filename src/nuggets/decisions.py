"""What each operation changes, decided purely: what is there and the time go in, changes come out.

Knows no store and no door; whoever asks writes what was decided (`transactions.py`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nuggets import refusals, times
from nuggets.errors import Conflict, InvalidInput, NotFound
from nuggets.graph import links, naming, notes
from nuggets.graph.limits import check_config, checked_value, storable
from nuggets.graph.metadata import PREFERENCE_NUGGETS, default_project
from nuggets.records import (
    Changes,
    GraphNoteMetaInput,
    Intake,
    MemoryNote,
    NoteKind,
    NuggetConfig,
    ProjectMove,
)
from nuggets.state import State
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.graph.uniting import Other, Past

Pairing = Callable[[MemoryNote, MemoryNote], links.Pair | None]

# What is about a person is so in every project, whoever writes it down where.
_PERSONAL_NUGGETS = (*PREFERENCE_NUGGETS, "user", "self")
_PERSONAL_KEYS = ("user:", "self:", "pref:")


class Decisions:
    """What operations change, on one state at one moment."""

    def __init__(
        self,
        state: State,
        *,
        project: str,
        at_work: bool,
        now: str,
        draw: Callable[[], str],
    ) -> None:
        self._state = state
        self._project = project
        self._at_work = at_work
        self._now = now
        self._draw = draw

    # --- nuggets ----------------------------------------------------------------------------

    def create(self, name: str, config: dict[str, Any]) -> tuple[Changes, str]:
        if naming.nugget_called(self._state.nuggets, name) is not None:
            raise Conflict(f"the nugget {name!r} is there already; use get or get_or_create")
        return self.get_or_create(name, config)

    def get_or_create(self, name: str, config: dict[str, Any]) -> tuple[Changes, str]:
        nugget, new = self._home(name, config)
        return Changes(put_nuggets=new), nugget.name

    def remove(self, name: str) -> tuple[Changes, int]:
        known = self._known(name)
        gone = [note.id for note in self._state.notes.find(nugget=known.name)]
        return self._dropping(gone)._replace(drop_nuggets=(known.name,)), len(gone)

    # --- facts ------------------------------------------------------------------------------

    def remember(
        self, nugget: str, key: str, value: str, given: GraphNoteMetaInput
    ) -> tuple[Changes, MemoryNote]:
        """A known key gets the new value where it is known; a new one makes a fact."""
        home, new = self._home(nugget, {})
        known = self._fact_of(home.name, key, given.project)
        made = None
        if known is not None and known.hidden:
            # Someone put it away; it comes back only where a new one would belong.
            made = self._made("fact", home.name, key, value, (), given)
            known = self._fact_of(home.name, key, made.project)
        if known is not None:
            given = self._moved(known, given)
            written = notes.restored(
                notes.edited(known, now=self._now, content=checked_value(value), given=given),
                self._now,
            )
            return self._replacing(known, written), written
        written = made or self._made("fact", home.name, key, value, (), given)
        changes = self._dropping(self._evicted(home))
        return changes._replace(put=(*changes.put, written), put_nuggets=new), written

    def forget(self, nugget: str, key: str) -> tuple[Changes, bool]:
        name = self._known(nugget).name
        fact = self._own_fact(name, key)
        return (self._dropping([fact.id]), True) if fact else (Changes(), False)

    def clear(self, nugget: str) -> tuple[Changes, int]:
        facts = self._state.notes.find(nugget=self._known(nugget).name, kind="fact")
        return self._dropping([fact.id for fact in facts]), len(facts)

    def doomed_fact(self, nugget: str, key: str) -> MemoryNote:
        """The one to purge: of exactly this key, and nothing that is merely called alike."""
        fact = self._own_fact(self._known(nugget).name, key)
        if fact is None:
            raise NotFound(f"there is and was no fact {key!r:.80} in {nugget!r}")
        return fact

    # --- notes ------------------------------------------------------------------------------

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str],
        created_at: str | None,
        given: GraphNoteMetaInput,
    ) -> tuple[Changes, MemoryNote]:
        home, new = self._home(nugget, {})
        note = self._made("note", home.name, title, content, tags, given, created_at)
        return Changes(put=(note,), put_nuggets=new), note

    def edit_note(
        self,
        name: str,
        nugget: str | None,
        expected: str | None,
        given: GraphNoteMetaInput,
        *,
        content: str | None,
        title: str | None,
        tags: Iterable[str] | None,
        hidden: bool | None,
    ) -> tuple[Changes, MemoryNote]:
        note = self._named(name, nugget, archived=hidden is False)
        if expected is not None and note.updated_at != times.normal(expected):
            raise Conflict(
                f"{note.id} was changed at {note.updated_at}, after you read it; "
                "read it again and repeat your edit"
            )
        after = notes.edited(
            note,
            now=self._now,
            content=content,
            title=title,
            tags=tags,
            hidden=hidden,
            given=self._moved(note, given),
        )
        return self._replacing(note, after), after

    def delete_note(self, name: str, nugget: str | None, hard: bool) -> tuple[Changes, MemoryNote]:
        note = self._named(name, nugget)
        if hard:
            return self._dropping([note.id]), note
        after = notes.archived(note, self._now)
        return self._replacing(note, after), after

    def restore_note(self, name: str, nugget: str | None) -> tuple[Changes, MemoryNote]:
        note = self._named(name, nugget, archived=True)
        if not note.hidden:
            raise InvalidInput(f"{note.title!r:.80} ({note.id}) is not archived")
        after = notes.restored(note, self._now)
        return self._replacing(note, after), after

    def add_link(self, a: str, b: str, reason: str, nugget: str | None) -> tuple[Changes, bool]:
        return self._paired(a, b, nugget, lambda x, y: links.linked(x, y, reason, self._now))

    def remove_link(
        self, a: str, b: str, reason: str | None, nugget: str | None
    ) -> tuple[Changes, bool]:
        return self._paired(a, b, nugget, lambda x, y: links.unlinked(x, y, reason))

    def merge_notes(
        self, target: str, source: str, reason: str, nugget: str | None
    ) -> tuple[Changes, MemoryNote]:
        one, other = self._named(target, nugget), self._named(source, nugget)
        changed = notes.merged(one, other, reason, self._now, self._state.notes)
        return Changes(put=changed), changed[0]

    # --- other memories ---------------------------------------------------------------------

    def take_in(self, other: "Other", past: "Past") -> tuple[Changes, Intake]:
        from nuggets.graph.uniting import united

        return united(self._state, other, past, self._now)

    # --- projects ---------------------------------------------------------------------------

    def move_project(self, old: str, new: str) -> tuple[Changes, ProjectMove]:
        """All that belongs to one project, but for facts that would hide those of the other."""
        notes = self._state.notes
        taken = {_fact_name(note) for note in notes.find(project=new, kind="fact")}
        moved, left = [], []
        for note in notes.find(project=old):
            if note.kind == "fact" and _fact_name(note) in taken:
                left.append(note)
            else:
                moved.append(note._replace(project=new))
        return Changes(put=tuple(moved)), ProjectMove(old, new, tuple(moved), tuple(left))

    # --- what is there ----------------------------------------------------------------------

    def _known(self, nugget: str) -> NuggetConfig:
        return naming.known_nugget(self._state.nuggets, nugget)

    def _home(
        self, nugget: str, config: dict[str, Any]
    ) -> tuple[NuggetConfig, tuple[NuggetConfig, ...]]:
        """The nugget that something goes into, and as new if it has to be made."""
        known = naming.nugget_called(self._state.nuggets, nugget)
        if known is not None:
            return known, ()
        made = _checked_config(nugget, config)
        return made, (made,)

    def _named(self, name: str, nugget: str | None, archived: bool = False) -> MemoryNote:
        return naming.resolve(
            self._state.notes, name, nugget, project=self._project, archived=archived
        )

    def _facts_by(self, nugget: str, key: str) -> list[MemoryNote]:
        """The facts of exactly this key, hidden ones too, oldest first."""
        alike = self._state.notes.find(nugget=nugget, title=key, kind="fact")
        return [fact for fact in alike if folded(fact.title) == folded(key)]

    def _fact_of(self, nugget: str, key: str, project: str | None = None) -> MemoryNote | None:
        """The fact of exactly this key as this project knows it, even if it is out of sight.

        Two projects may know different things by one key. `project`: the one whose fact is meant,
        and no other.
        """
        storable(key, "a key")
        same = self._facts_by(nugget, key)
        homes = (self._project, "") if project is None else (project,)
        ours = [note for note in same if note.project in homes]
        ours.sort(key=lambda note: (note.hidden, note.project == ""))  # its own before everybody's
        return ours[0] if ours else None

    def _own_fact(self, nugget: str, key: str) -> MemoryNote | None:
        """The same, to take it away: what only another project knows is refused."""
        fact = self._fact_of(nugget, key)
        if fact is None:
            for other in self._facts_by(nugget, key):
                if not other.hidden:
                    raise Conflict(
                        f"only another project ({other.project}) knows {key!r}; "
                        f"to take that away, delete its note {other.id}"
                    )
        return fact

    # --- deciding, in small -----------------------------------------------------------------

    def _made(
        self,
        kind: NoteKind,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str],
        given: GraphNoteMetaInput,
        created_at: str | None = None,
    ) -> MemoryNote:
        return notes.new_note(
            nugget=nugget,
            kind=kind,
            title=title,
            content=content,
            tags=tags,
            given=self._placed(nugget, title, given),
            now=self._now,
            note_id=notes.note_id(kind, nugget, self._state.notes, self._draw),
            project=self._project,
            created_at=created_at,
        )

    def _placed(self, nugget: str, title: str, given: GraphNoteMetaInput) -> GraphNoteMetaInput:
        """What is learnt at work belongs to the project, unless it is about a person.

        Left to inference, "auth handler" would be the user's and show up in every other project.
        """
        told = given.scope is not None or given.project is not None
        if told or not self._at_work or not isinstance(title, str):
            return given
        personal = folded(nugget) in _PERSONAL_NUGGETS or folded(title).startswith(_PERSONAL_KEYS)
        return given if personal else given._replace(project=self._project)

    def _moved(self, known: MemoryNote, given: GraphNoteMetaInput) -> GraphNoteMetaInput:
        """A memory that is said to be about a person is so everywhere, and the other way round."""
        if given.scope is None or given.project is not None:
            return given
        home = default_project(given.scope, self._project)
        return given if bool(home) == bool(known.project) else given._replace(project=home)

    def _dropping(self, gone: Iterable[str]) -> Changes:
        return links.dropping(self._state.notes, gone)

    def _evicted(self, config: NuggetConfig) -> Sequence[str]:
        """The oldest facts that have to go so that one more fits."""
        if config.max_facts <= 0:
            return ()
        facts = self._state.notes.find(nugget=config.name, kind="fact", hidden=False)
        facts.sort(key=lambda fact: fact.created_at)
        return [fact.id for fact in facts[: max(0, len(facts) + 1 - config.max_facts)]]

    def _replacing(self, before: MemoryNote, after: MemoryNote) -> Changes:
        """A note in the place of its earlier version, and what that means for a nugget's facts."""
        if after == before:
            return Changes()
        if after.kind != "fact":
            return self._heeding(Changes(put=(after,)))
        if (before.title, before.project) != (after.title, after.project) or before.hidden:
            self._refuse_second_key(after)
        evicted: Sequence[str] = ()
        if before.hidden and not after.hidden:
            evicted = self._evicted(self._known(after.nugget_name))
        changes = self._dropping(evicted)
        others = tuple(note for note in changes.put if note.id != after.id)
        (after,) = links.without_links_to([after], set(evicted)) or (after,)
        return self._heeding(changes._replace(put=(*others, after)))

    def _heeding(self, changes: Changes) -> Changes:
        """What people take back by hand, the clean-up does not do again."""
        known = self._state.notes.many(note.id for note in changes.put)
        changed = ((known[note.id], note) for note in changes.put if note.id in known)
        return changes._replace(marks=refusals.marks(self._state, changed))

    def _refuse_second_key(self, fact: MemoryNote) -> None:
        for other in self._facts_by(fact.nugget_name, fact.title):
            if other.project == fact.project and other.id != fact.id:
                state = "an archived" if other.hidden else "a"
                raise Conflict(
                    f"{fact.nugget_name} has {state} fact {other.title!r} already ({other.id}); "
                    "forget that one first, or choose another key"
                )

    def _paired(self, a: str, b: str, nugget: str | None, pairing: Pairing) -> tuple[Changes, bool]:
        changed = pairing(self._named(a, nugget), self._named(b, nugget))
        if changed is None:
            return Changes(), False
        return self._heeding(Changes(put=changed)), True


def _fact_name(fact: MemoryNote) -> tuple[str, str]:
    return folded(fact.nugget_name), folded(fact.title)


def _checked_config(name: str, config: dict[str, Any]) -> NuggetConfig:
    unknown = config.keys() - (set(NuggetConfig._fields) - {"name", "extra"})
    if unknown:
        raise InvalidInput(f"a nugget has no setting called {', '.join(sorted(unknown))}")
    check_config(config)
    return NuggetConfig(naming.checked_name(name), **config)
