"""Two memories become one: nothing is lost, and of two versions of a memory the later one counts.

Whatever happened to a memory on either side tells which version is meant: the time of its last
change, and for one that is gone here, the time when it went. So uniting twice is uniting once.
"""

from collections.abc import Container, Iterable, Mapping

from nuggets.graph.limits import check_config
from nuggets.graph.links import repaired
from nuggets.graph.naming import checked_name
from nuggets.graph.outside_facts import fact_name
from nuggets.graph.outside_notes import Names, archive_second_keys
from nuggets.records import Changes, Intake, MemoryNote, NoteLink, NuggetConfig, Touch
from nuggets.refusals import Refusal, of
from nuggets.state import State, touched
from nuggets.text import folded

_VERSION = (  # what a memory says; all of it comes from one side
    *("title", "content", "tags", "subject", "scope", "type", "source", "confidence", "stability"),
    *("project", "hidden", "archived_at", "source_key", "updated_at", "last_rewritten_at", "extra"),
)
_TIMES = ("updated_at", "archived_at", "last_rewritten_at")


def united(
    state: State,
    theirs: Iterable[MemoryNote],
    nuggets: Iterable[NuggetConfig],
    gone: Mapping[str, str],
    now: str,
) -> tuple[Changes, Intake]:
    """The changes that take another memory in; `gone`: when ids were dropped here."""
    new_nuggets = [
        config._replace(name=checked_name(config.name))
        for config in nuggets
        if folded(config.name) not in state.nuggets
    ]
    for config in new_nuggets:
        check_config(config._asdict())
    names = Names(state, new_nuggets)
    arrived = [names.settled(note) for note in theirs]
    known = _Known(state, {note.id for note in arrived})
    here = {note.id: found.id for note in arrived if (found := known.by_any_name(note))}
    left_out = {n.id for n in arrived if n.id not in here and gone.get(n.id, "") >= n.updated_at}
    refused = of(state)
    put: dict[str, MemoryNote] = {}
    added, updated, older = [], [], 0
    for note in arrived:
        if note.id in left_out:
            continue
        ours = put.get(here.get(note.id, note.id)) or state.notes.get(here.get(note.id, ""))
        after = note._replace(links=()) if ours is None else _later(ours, note)
        put[after.id] = after._replace(
            links=(*after.links, *_welcome(note.links, after.id, here, refused))
        )
        if ours is None:
            added.append(after.id)
        elif after.updated_at != ours.updated_at:
            updated.append(after.id)
        else:
            older += _says_else(ours, note)
    archive_second_keys(state, put, set(), now)
    whole = {**state.notes, **put}
    put.update((note.id, note) for note in repaired(whole))
    changes = Changes(
        put=tuple(note for note in put.values() if state.notes.get(note.id) != note),
        put_nuggets=(*new_nuggets, *map(NuggetConfig, names.new)),
    )
    counted = len(added) + len(updated) + older + len(left_out)
    return changes, Intake(
        added=tuple(put[note_id] for note_id in added),
        updated=tuple(put[note_id] for note_id in updated),
        same=len(arrived) - counted,
        older=older,
        deleted=len(left_out),
    )


class _Known:
    """What is here, by all that another memory may know it by."""

    def __init__(self, state: State, arriving: Container[str]) -> None:
        """`arriving`: ids that are known on both sides, and so nothing else is meant by them."""
        self._notes = state.notes
        self._facts: dict[tuple[str, ...], MemoryNote] = {}
        self._texts: dict[tuple[str, ...], MemoryNote] = {}
        for note in state.notes.values():
            if note.id in arriving:
                continue
            if note.kind == "fact":
                same = self._facts.get(_key(note))
                if same is None or same.hidden:
                    self._facts[_key(note)] = note
            self._texts.setdefault(_text(note), note)

    def by_any_name(self, note: MemoryNote) -> MemoryNote | None:
        """By its id, its key if it is a fact, or else its very words."""
        same = self._notes.get(note.id)
        if same is None and note.kind == "fact":
            same = self._facts.get(_key(note))
        return same or self._texts.get(_text(note))


def _key(fact: MemoryNote) -> tuple[str, ...]:
    return (folded(fact.nugget_name), *fact_name(fact))


def _text(note: MemoryNote) -> tuple[str, ...]:
    return folded(note.nugget_name), note.kind, note.title, note.content, note.project


def _later(ours: MemoryNote, theirs: MemoryNote) -> MemoryNote:
    """The version that was changed last, with the recalls of both."""
    after = ours
    for session in theirs.hit_sessions or ("",):
        after = touched(after, Touch(ours.id, session, theirs.last_accessed_at))
    if theirs.updated_at <= ours.updated_at or not _says_else(ours, theirs):
        return after
    return after._replace(**{field: getattr(theirs, field) for field in _VERSION})


def _says_else(ours: MemoryNote, theirs: MemoryNote) -> bool:
    said = (field for field in _VERSION if field not in _TIMES)
    return any(getattr(ours, field) != getattr(theirs, field) for field in said)


def _welcome(
    links: Iterable[NoteLink], owner: str, here: Mapping[str, str], refused: Iterable[Refusal]
) -> Iterable[NoteLink]:
    """Their links, to what the other notes are called here, but for those people cut."""
    for link in links:
        to = here.get(link.to, link.to)
        if Refusal.between("link", owner, to) not in refused:
            yield link._replace(to=to)
