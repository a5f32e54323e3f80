"""Logs of changes, one per machine, and the memory that all of them together describe. Pure.

Every machine appends what was changed on it to its own log, and reads the logs of the others. The
memory is a function of the set of changes: they are replayed in the order of their times, whoever
reads them, so that machines with the same logs have the same memory, whatever came in first.

A change says what its author had seen of the note (`seen`: the last change of each machine), and
its time is later than all of that. So a change that has not seen what it replaces is told apart:
the later one holds, and other words are kept beside it (`note_merging`). What deletes or archives
a note without having seen an edit does not. A purge holds against everything.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import ID_CHARACTERS, LINKS, TAGS, Limit, Moment, checked_reason
from nuggets.domain.names_and_tags import identity, normal_tags, own_tags
from nuggets.domain.records import (
    CONTRADICTS,
    DEFAULT_REASON,
    INTERNAL,
    NO_EXTRA,
    SPARSE,
    ExternalEdit,
    MemoryNote,
    NoteLink,
)
from nuggets.domain.state import MemoryState
from nuggets.domain.times import moment_after, normalize_time
from nuggets.domain.type_check import DOCUMENTED, read
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.note_completion import note_from_whole_json
from nuggets.operations.note_merging import WORDS, other_version

Json = dict[str, Any]
LinkKey = tuple[str, str, str]  # the smaller id, the other id, the reason in small letters
_COUNTED_HERE = {  # every machine counts its own recalls
    "hits": 0,
    "lastHitSession": "",
    "hitSessions": [],
    "lastAccessedAt": "",
}
_NOT_LOGGED = (*_COUNTED_HERE, "links", "lastInspectedAt", "vector")
_EMPTY = codec.empty_fields(MemoryNote)


class Change(NamedTuple):
    """One change of one note by one machine, as it stands in a log."""

    number: Annotated[int, Limit(1, 2**53)]  # in the log of the machine
    note_id: Annotated[str, Limit(1, ID_CHARACTERS)]
    at: Moment
    # the time of the last change of each machine, of this note
    seen: Annotated[Mapping[str, Moment], SPARSE] = NO_EXTRA
    # as a whole, without links; None: it is gone
    note: Annotated[Mapping[str, Any] | None, SPARSE] = None
    changed: Annotated[tuple[str, ...], SPARSE] = ()  # fields of it
    linked: Annotated[tuple[NoteLink, ...], SPARSE] = ()
    unlinked: Annotated[tuple[NoteLink, ...], SPARSE] = ()
    purged: Annotated[bool, SPARSE] = False
    machine: Annotated[str, INTERNAL] = ""  # each has a log of its own

    @property
    def order(self) -> tuple[str, str, int]:
        return self.at, self.machine, self.number

    @property
    def links(self) -> dict[LinkKey, NoteLink | None]:
        """Its links by what they are known by everywhere; None: removed."""
        links = dict[LinkKey, NoteLink | None].fromkeys(map(self._link_key, self.unlinked))
        return {**links, **{self._link_key(link): link for link in self.linked}}

    def _link_key(self, link: NoteLink) -> LinkKey:
        return _link_key(self.note_id, link.to, link.reason)


class Replica:
    """The memory that some changes describe."""

    def __init__(self, changes: Iterable[Change]) -> None:
        in_order = sorted(changes, key=lambda change: change.order)
        self.notes: dict[str, Json] = {}
        self.seen: dict[str, dict[str, str]] = {}
        self.purged = {change.note_id for change in in_order if change.purged}
        self.conflicts: dict[str, str] = {}  # the note of a version that was kept -> its note
        self._links: dict[LinkKey, NoteLink | None] = {}
        self._stamps: dict[str, dict[str, tuple[str, str]]] = {}  # machine and time of each field
        self._second_keys: dict[str, Json] = {}  # facts as they are without being archived
        for change in in_order:
            self._replay(change)
        self._archive_second_keys()
        self.links: dict[str, list[Json]] = {}
        for (a, b, _), link in sorted(self._links.items()):
            ends = (self.links.setdefault(a, []), self.links.setdefault(b, []))
            is_there = a in self.notes and b in self.notes
            if link is not None and is_there and max(map(len, ends)) < LINKS:
                ends[0].append(codec.to_json(link._replace(to=b)))
                ends[1].append(codec.to_json(link._replace(to=a)))

    def _replay(self, change: Change) -> None:
        note_id, known = change.note_id, self.notes.get(change.note_id)
        if note_id not in self.purged:
            if change.note is None:
                if known is not None and self._has_seen_all(change):
                    del self.notes[note_id]
            elif known is not None:
                self._update(change, change.note, known)
            elif change.changed:
                self.notes[note_id] = dict(change.note)
                self._stamp(change)
            self._links.update(change.links)
        self.seen.setdefault(note_id, {})[change.machine] = change.at

    def _has_seen_all(self, change: Change) -> bool:
        stamps = self._stamps[change.note_id].values()
        return all(change.seen.get(machine, "") >= at for machine, at in stamps)

    def _stamp(self, change: Change) -> None:
        stamp = change.machine, change.at
        stamps = self._stamps.setdefault(change.note_id, {})
        stamps.update(dict.fromkeys(change.changed, stamp))

    def _update(self, change: Change, given: Mapping[str, Any], known: Json) -> None:
        stamps = self._stamps[change.note_id]
        unread = {  # by the author of the change
            field for field, (machine, at) in stamps.items() if change.seen.get(machine, "") < at
        }
        unseen = [
            field
            for field in change.changed
            if given.get(field) != known.get(field) and field in unread
        ]
        if any(field in WORDS for field in unseen):
            self._keep_beside(change, known, [stamps[field] for field in unseen])
        after = {**known, **{field: given.get(field) for field in change.changed}}
        if "tags" in unseen:
            after["tags"] = _join_tags(known, after)
        if unread:  # what was put together of two versions is a version of its own
            latest = max(known["updatedAt"], after["updatedAt"])
            after["updatedAt"] = moment_after(latest, "")
        if after["hidden"] and _archives_unseen(change, unread):
            after |= {"hidden": False, "archivedAt": None}
        self.notes[change.note_id] = {
            field: value for field, value in after.items() if value is not None
        }
        self._stamp(change)

    def _keep_beside(
        self, change: Change, known: Json, replaced: Iterable[tuple[str, str]]
    ) -> None:
        """The version that a change replaces without having seen it, as a note of its own."""
        copy = other_version(known)
        copy_id = copy["id"]
        if copy_id in self.seen or copy_id in self.purged:
            return
        self.notes[copy_id] = copy
        self._stamps[copy_id] = {}
        seen = self.seen.setdefault(copy_id, {})
        for machine, at in (*replaced, (change.machine, change.at)):
            seen[machine] = max(seen.get(machine, ""), at)
        self.conflicts[copy_id] = change.note_id
        link = NoteLink(change.note_id, CONTRADICTS, known["updatedAt"])
        self._links.setdefault(_link_key(copy_id, link.to, link.reason), link)

    def _archive_second_keys(self) -> None:
        """Of two facts that answer to one key, the one that was changed last does. Whoever takes
        that in tells of it (`logged_note`), so that the others stay archived."""
        by_key: dict[tuple[str, ...], list[Json]] = {}
        for note in self.notes.values():
            if note["kind"] == "fact" and not note["hidden"]:
                key = identity(note["nuggetName"], note["title"], note["project"])
                by_key.setdefault(key, []).append(note)
        for facts in by_key.values():
            *others, last = sorted(facts, key=lambda fact: (fact["updatedAt"], fact["id"]))
            for fact in others:
                archived = {"hidden": True, "archivedAt": last["updatedAt"]}
                self._second_keys[fact["id"]] = fact
                self.notes[fact["id"]] = {**fact, **archived}

    def logged_note(self, note_id: str) -> Json:
        """A note as the changes say; {} if there is none."""
        return self._second_keys.get(note_id) or self.notes.get(note_id, {})


def _join_tags(known: Json, after: Json) -> list[str]:
    nugget, scope, type_ = after["nuggetName"], after["scope"], after["type"]
    own = own_tags((*known["tags"], *after["tags"]), nugget)
    return list(normal_tags(own[:TAGS], nugget, scope, type_))


def _archives_unseen(change: Change, unread: Container[str]) -> bool:
    """Did one archive the note while the other changed its words?"""
    if "hidden" in change.changed:
        return any(field in unread for field in WORDS)
    return "hidden" in unread and any(field in change.changed for field in WORDS)


def _link_key(a: str, b: str, reason: str) -> LinkKey:
    return min(a, b), max(a, b), fold_case(reason)


# --- what was changed here ------------------------------------------------------------------------


def find_changes(
    notes: Mapping[str, MemoryNote],
    known: Replica,
    everything: Replica,
    is_purged: Callable[[str], bool],
    now: str,
) -> list[Change]:
    """What the notes here say beyond what all machines that were read say, not numbered yet.

    `known`: what was taken in here; `everything`: with what is new of others, which need not be
    said again.
    """
    links = _new_links(notes, known)
    found = []
    for note_id, note in notes.items():
        before, said = known.logged_note(note_id), everything.logged_note(note_id)
        fields = _spell_alike(_logged_fields(note), before or said)
        changed = tuple(
            field
            for field in {**fields, **before}
            if fields.get(field) != before.get(field)
            and (note_id not in known.notes or field != "createdAt")
        )
        if fields == said:
            changed = ()
        if not changed and note_id not in links:
            continue
        seen = known.seen.get(note_id, {})
        time = min(note.updated_at, now) if "updatedAt" in changed else now
        at = moment_after(max(seen.values(), default=""), time)
        found.append(
            Change(0, note_id, at, dict(seen), fields, changed, *links.get(note_id, ((), ())))
        )
    for note_id in known.notes.keys() - notes.keys():
        seen, purged = known.seen[note_id], is_purged(note_id)
        if purged or note_id in everything.notes:
            at = moment_after(max(seen.values(), default=""), now)
            found.append(Change(0, note_id, at, dict(seen), purged=purged))
    return found


def _logged_fields(note: MemoryNote) -> Json:
    shape = codec.note_to_json(note, vector=False)
    return {name: value for name, value in shape.items() if name not in _NOT_LOGGED}


def _spell_alike(fields: Json, before: Json) -> Json:
    """Each machine has its own spelling of a nugget's name, if only its case differs."""
    name = before.get("nuggetName", "")
    is_same = fold_case(fields["nuggetName"]) == fold_case(name)
    return {**fields, "nuggetName": name} if is_same else fields


def _new_links(
    notes: Mapping[str, MemoryNote], known: Replica
) -> dict[str, tuple[tuple[NoteLink, ...], tuple[NoteLink, ...]]]:
    """Links that were added and removed here, by the note that tells of them."""
    found = {}
    for note_id, note in notes.items():
        here = {
            _link_key(note_id, link.to, link.reason): link
            for link in note.links
            if note_id < link.to
        }
        before = {
            _link_key(note_id, link["to"], link["reason"]): NoteLink(link["to"], link["reason"])
            for link in known.links.get(note_id, ())
            if note_id < link["to"] and link["to"] in notes
        }
        linked = tuple(link for key, link in here.items() if key not in before)
        unlinked = tuple(link for key, link in before.items() if key not in here)
        if linked or unlinked:
            found[note_id] = linked, unlinked
    return found


# --- what is new for this machine -----------------------------------------------------------------


def find_edit(
    known: Replica, everything: Replica, notes: Mapping[str, MemoryNote]
) -> tuple[MemoryState, ExternalEdit]:
    """What others changed, as an edit of a copy; and the copy as it was. `notes`: what is here, of
    which all that others do not say is known."""
    base = MemoryState()
    shapes = []
    for note_id, shape in everything.notes.items():
        before, links_before = known.notes.get(note_id), known.links.get(note_id, [])
        links = everything.links.get(note_id, [])
        if before == shape and _by_end(links) == _by_end(links_before):
            continue
        if before is not None:
            base.notes[note_id] = _to_note(before, links_before)
            gone = (field for field in before if field not in shape)
            shape = {**shape, **{field: _EMPTY.get(field) for field in gone}}
        elif note_id in notes:  # others say the same
            base.notes[note_id] = notes[note_id]
        given = shape.get("stabilityGiven", False)
        shapes.append({**shape, "stabilityGiven": given, "links": links})
    removed = tuple(known.notes.keys() - everything.notes.keys())
    for note_id in removed:
        base.notes[note_id] = _to_note(known.notes[note_id], known.links.get(note_id, []))
    return base, ExternalEdit(1, notes=tuple(shapes), removed=removed)


def _by_end(links: Iterable[Json]) -> set[tuple[str, str]]:
    return {(link["to"], fold_case(link["reason"])) for link in links}


def _to_note(shape: Json, links: Sequence[Json]) -> MemoryNote:
    times = {"lastAccessedAt": shape["updatedAt"]}
    return codec.note_from_json({**_COUNTED_HERE, **shape, **times, "links": links})


# --- lines of a log -------------------------------------------------------------------------------


def to_line(change: Change) -> str:
    """One line of JSON; what is empty is left out."""
    return codec.dumps(codec.to_json(change))


def read_line(line: bytes, machine: str) -> Change:
    """The change of a line that `to_line` wrote."""
    change: Change = codec.from_json(Change, codec.loads(line, "a log"))
    return change._replace(machine=machine)


def check_line(line: bytes, machine: str, where: str) -> Change:
    """The change of a line that anyone may have written; `InvalidInput` says what is wrong."""
    given: Change = read(codec.loads(line, where), Change, where, DOCUMENTED)
    at = normalize_time(given.at, where)
    seen = {name: normalize_time(moment, where) for name, moment in given.seen.items()}
    if max(seen.values(), default="") >= at:
        raise InvalidInput(f"{where}: it is older than what its author has seen")
    note = None
    if given.note is not None:
        own = {"id": given.note_id, "links": [], "lastAccessedAt": at}
        whole = {**_COUNTED_HERE, **given.note, **own}
        note = _logged_fields(note_from_whole_json(whole, where))
    linked = (
        link._replace(
            reason=checked_reason(link.reason, DEFAULT_REASON),
            created_at=normalize_time(link.created_at or at, where),
        )
        for link in given.linked
    )
    return given._replace(
        machine=machine,
        at=at,
        seen=seen,
        note=note,
        changed=tuple(name for name in given.changed if note and name not in _NOT_LOGGED),
        linked=tuple(linked),
    )


def without_superseded(changes: Iterable[Change], purged: Container[str]) -> list[Change]:
    """The changes of one machine that still matter: not those of which a later one of the same
    machine changes as much, nor anything of a purged note but the purge."""
    kept: list[Change] = []
    later: dict[str, list[Change]] = {}
    for change in sorted(changes, key=lambda change: -change.number):
        if change.note_id in purged and not change.purged:
            continue
        if not any(_replaces(newer, change) for newer in later.get(change.note_id, ())):
            kept.append(change)
            later.setdefault(change.note_id, []).append(change)
    return kept[::-1]


def _replaces(newer: Change, older: Change) -> bool:
    if older.note is None or newer.note is None:
        return False
    return set(older.changed) <= set(newer.changed) and older.links.keys() <= newer.links.keys()
