"""What an external edit of a documented file, graph.json or a nugget's, changes.

The author saw the file as it was (`base`) and changed a part of it. Only that part is imported, so
what we wrote meanwhile stays. What the author removed is dropped; `undo` can restore it. What is
gone in too large a part at once was lost by accident, and stays.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from nuggets.domain.codec import note_from_json, note_to_json
from nuggets.domain.limits import TAGS
from nuggets.domain.marks import rejection_marks, without_purged
from nuggets.domain.names_and_tags import (
    FactIdentity,
    checked_nugget_name,
    identity,
    identity_of,
    own_tags,
)
from nuggets.domain.records import (
    Changes,
    ExternalEdit,
    MemoryNote,
    NuggetConfig,
)
from nuggets.domain.state import MemoryState, State
from nuggets.domain.three_way_merge import (
    are_alike,
    are_too_many,
    find_removed,
    merge_items,
    merge_record,
)
from nuggets.domain.times import moment_after
from nuggets.domain.type_check import check_fields
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.lookups_before_write import FindAnchors, anchor_edit, find_no_anchors
from nuggets.operations.note_completion import (
    META_FIELDS,
    OURS,
    complete_links,
    complete_note,
    name_note,
    normalize_note,
)
from nuggets.operations.note_merging import keep_beside
from nuggets.operations.notes_and_links import (
    archive_note,
    check_note_limits,
    link_identity,
    normal_value,
    note_id,
    remove_link,
    repair_links,
    restore_note,
    without_links_to,
)

Json = dict[str, Any]
R = TypeVar("R")
# A change of these is a newer version.
_WORDS = ("title", "content", "tags", *META_FIELDS, "validFrom", "validUntil")
_OWNER = ("nuggetName", "kind")  # never change: its key would answer elsewhere, or no more
_FIXED = (*_OWNER, "sourceKey")  # the key of a fact is its title
_RECALLS = ("hits", "lastHitSession", "hitSessions")  # change together
# Lists to which others may have added meanwhile, and by what two of their items are the same.
_LISTS: dict[str, Callable[[Any], Any]] = {
    "tags": fold_case,
    "links": lambda link: (link["to"], fold_case(link["reason"])),
}
_FACT_FIELDS = ("key", "value", "hits", "last_hit_session", "project")


class ImportedEdit(NamedTuple):
    """What an edit changes."""

    changes: Changes
    kept: int  # memories that are missing in the file, too many at once to be believed


def import_edit(
    draw: Callable[[], str],
    state: State,
    base: State | None,
    edit: ExternalEdit,
    now: str,
    find_anchors: FindAnchors = find_no_anchors,
) -> ImportedEdit:
    """The changes that import one edited file.

    `base`: what its author saw; None for a file that was never ours, which can only add. A program
    that rewrote a whole file may not have seen all of it: what is missing there is archived.
    """
    edit = without_purged(state.marks, edit)
    try:
        if edit.nugget is None:
            taken, kept = _import_note_edits(draw, state, base, edit, now)
        else:
            taken, kept = _import_fact_edits(draw, state, base, edit, edit.nugget, now)
        taken = _anchor_edits(find_anchors, state, taken)
        for note in taken.put:
            check_note_limits(note)
    except InvalidInput as problem:
        where = "graph.json" if edit.nugget is None else f"{edit.nugget.name}.nugget.json"
        raise StoreCorrupt(
            f"{where} was edited and cannot be imported: {problem}. It is left as it is. Correct "
            "it there, or run `nuggets doctor --fix`: that sets it aside"
        ) from problem
    changed = ((state.notes[note.id], note) for note in taken.put if note.id in state.notes)
    refused = rejection_marks(state, changed)
    marks = {**taken.marks, **refused}
    return ImportedEdit(taken._replace(marks=marks, action="external edit", client="file"), kept)


def _anchor_edits(find_anchors: FindAnchors, state: State, taken: Changes) -> Changes:
    """The changes with the anchors of what each note says now; an edit may bring its own."""
    before = state.notes.many(note.id for note in taken.put)
    put = (
        anchor_edit(find_anchors, state, before[note.id], note)
        if note.id in before and before[note.id].anchors == note.anchors
        else note
        for note in taken.put
    )
    return taken._replace(put=tuple(put))


def _trust_removals(gone: list[R], seen: int) -> tuple[list[R], int]:
    """What is taken for removed, and how much is kept instead."""
    return ([], len(gone)) if are_too_many(len(gone), seen) else (gone, 0)


# --- graph.json: notes whose fields, links or places were edited --------------------------------


def _import_note_edits(
    draw: Callable[[], str], state: State, base: State | None, edit: ExternalEdit, now: str
) -> ImportedEdit:
    """What its author changed in the graph's file."""
    seen = base.notes if base else {}
    shapes = _shapes_by_id(draw, state, seen, edit.notes)
    if edit.removed is None:
        removed = find_removed(seen, shapes, state.notes, _has_same_version)
        gone, kept = _trust_removals(removed, len(seen))
    else:
        listed = seen.keys() - set(edit.removed)
        gone, kept = find_removed(seen, listed, state.notes, _has_same_version), 0
    put: dict[str, MemoryNote] = {}
    if not edit.revision:
        put.update(
            (i, archive_note(state.notes[i], now)) for i in gone if not state.notes[i].hidden
        )
        gone = []
    names = NuggetSpellings(state)
    for id_, shape in shapes.items():
        current, old = state.notes.get(id_), seen.get(id_)
        if old is not None and edit.removed is None:
            _refuse_fixed_fields(old, shape)
        note = _import_note(current, old, shape, now)
        if note is not None:
            dated = edit.removed is not None and "updatedAt" in shape
            note = note._replace(updated_at=shape["updatedAt"]) if dated else note
            put[id_] = names.apply(note)
        if note is not None and current is not None and old is not None:
            put.update(keep_beside(old, note, current, state.notes))
    left = {id_: note for id_, note in state.notes.items() if id_ not in gone}
    if edit.removed is None:
        _refuse_taken_keys(seen, left, put)
    archive_second_keys(left, put, now)
    after = {**left, **put}
    _remove_cut_links(seen, put, after)
    put.update((note.id, note) for note in repair_links(after))
    changes = Changes(
        put=tuple(note for note in put.values() if state.notes.get(note.id) != note),
        drop=tuple(gone),
        put_nuggets=tuple(map(NuggetConfig, names.new)),
    )
    return ImportedEdit(changes, kept)


class NuggetSpellings:
    """The one spelling of every nugget's name: that of its configuration, or the first one met."""

    def __init__(self, state: State, more: Iterable[NuggetConfig] = ()) -> None:
        known = (*more, *state.nuggets.values())
        self._spelling = {fold_case(config.name): config.name for config in known}
        self.new: list[str] = []

    def apply(self, note: MemoryNote) -> MemoryNote:
        fold = fold_case(note.nugget_name)
        if fold not in self._spelling:
            self._spelling[fold] = checked_nugget_name(note.nugget_name)
            self.new.append(self._spelling[fold])
        return note._replace(nugget_name=self._spelling[fold])


def _refuse_fixed_fields(old: MemoryNote, shape: Json) -> None:
    """What an edit cannot change is not dropped in silence."""
    written = note_to_json(old, vector=False)
    fixed = _OWNER if fold_case(shape.get("title", old.title)) != fold_case(old.title) else _FIXED
    for field in fixed:
        if field in shape and fold_case(str(shape[field])) != fold_case(str(written.get(field))):
            hint = "change its title" if field == "sourceKey" else "make a new note there"
            raise InvalidInput(f"{old.id}: {field} cannot be changed; {hint}")


def _refuse_taken_keys(
    seen: Mapping[str, MemoryNote], left: Mapping[str, MemoryNote], put: Mapping[str, MemoryNote]
) -> None:
    """No edit adds a fact with a key that another one has, or renames one to it."""
    after = {**left, **put}.values()
    keys = Counter(identity_of(fact) for fact in after if fact.kind == "fact" and not fact.hidden)
    for note in put.values():
        was = seen.get(note.id)
        if was:
            has_new_key = fold_case(was.title) != fold_case(note.title)
        else:
            has_new_key = bool(seen) and note.kind == "fact" and not note.hidden
        if has_new_key and keys[identity_of(note)] > 1:
            raise _second_key(note.title)


def _refuse_second_keys(
    entries: Sequence[tuple[FactIdentity, Json]], seen: Mapping[FactIdentity, MemoryNote]
) -> None:
    """Nor does it add one, wherever the other is valid."""
    identities = Counter(fact for fact, _ in entries)
    keys = Counter(fact.key for fact, _ in entries)
    for fact, entry in entries:
        is_new = fact not in seen and "project" not in entry
        if identities[fact] > 1 or (is_new and keys[fact.key] > 1):
            raise _second_key(entry["key"])


def _second_key(key: str) -> InvalidInput:
    return InvalidInput(f"two facts have the key {key!r:.80}; rename or delete one of them")


def archive_second_keys(
    here: Mapping[str, MemoryNote], put: dict[str, MemoryNote], now: str
) -> None:
    """Two facts cannot answer to one key."""
    others = (note for i, note in here.items() if i not in put)
    keys = {identity_of(note) for note in others if note.kind == "fact" and not note.hidden}
    for note in list(put.values()):
        if note.kind == "fact" and not note.hidden:
            if identity_of(note) in keys:
                put[note.id] = archive_note(note, now)
            keys.add(identity_of(note))


def _remove_cut_links(
    seen: Mapping[str, MemoryNote], put: dict[str, MemoryNote], after: dict[str, MemoryNote]
) -> None:
    """Remove links that the author deleted at one end; they must not be completed again."""
    for note in list(put.values()):
        old = seen.get(note.id)
        left = {link_identity(link) for link in note.links}
        for link in old.links if old else ():
            other = after.get(link.to)
            if other is not None and link_identity(link) not in left:
                cut = remove_link(note, other, link.reason)
                if cut is not None:
                    put[other.id] = after[other.id] = cut[1]


def _import_note(
    current: MemoryNote | None, old: MemoryNote | None, shape: Json, now: str
) -> MemoryNote | None:
    """The note with what its author changed; None if that is nothing."""
    if current is None and old is None:
        return complete_note(shape, now)
    shape = _with_whole_links(shape, now)
    if old is None and current is not None and shape.get("updatedAt", now) < current.updated_at:
        return None  # not seen by its author, and ours is the newer one
    before, ours = (note_to_json(note, vector=False) if note else {} for note in (old, current))
    changed = merge_record(before, shape, ours).changed
    # Every look moves the last one, and none is a commit.
    for field in (*OURS, *_OWNER, "lastAccessedAt"):
        changed.pop(field, None)
    for field, key in _LISTS.items():
        base, theirs, current_list = (r.get(field, []) for r in (before, shape, ours))
        if field in changed and current_list != base:
            changed[field] = merge_items(base, theirs, current_list, key)
            if field == "tags":  # each side may have had as many as there may be
                nugget = (ours or before)["nuggetName"]
                changed[field] = list(own_tags(changed[field], nugget)[:TAGS])
    if "hits" not in changed:
        changed = {field: value for field, value in changed.items() if field not in _RECALLS}
    if old is not None and all(
        field in ours and ours[field] == changed[field] for field in changed
    ):
        return None
    merged = {**(ours or before), **changed}
    if changed.get("hidden"):
        merged.setdefault("archivedAt", now)
    if "stability" in changed and "stabilityGiven" not in shape:
        merged["stabilityGiven"] = True
    if "updatedAt" not in changed and any(field in changed for field in _WORDS):
        merged["updatedAt"] = moment_after(merged["updatedAt"], now)
    return normalize_note(note_from_json(merged))


def _with_whole_links(shape: Json, now: str) -> Json:
    """A nugget's file has no links, which says nothing about those of its facts."""
    return {**shape, "links": complete_links(shape, now)} if "links" in shape else shape


def _shapes_by_id(
    draw: Callable[[], str],
    state: State,
    seen: Mapping[str, MemoryNote],
    shapes: Sequence[Json],
) -> dict[str, Json]:
    """The notes of the file by id; what new ones need to have a name is filled in."""
    ids = {shape["id"] for shape in shapes if "id" in shape}
    named: dict[str, Json] = {}
    for number, shape in enumerate(shapes, 1):
        if shape.get("id") not in state.notes and shape.get("id") not in seen:
            shape = name_note(shape, f"note {number}")
        if "id" not in shape:
            # The same text may have come in before, when the file was not written anew since.
            same = _find_same_text(state, shape, ids)
            kind, nugget = shape.get("kind", "note"), shape["nuggetName"]
            drawn = same or note_id(kind, checked_nugget_name(nugget), draw, named, state.notes)
            shape = {**shape, "id": drawn}
        named[shape["id"]] = shape
    return named


def _find_same_text(state: State, shape: Json, taken: Collection[str]) -> str:
    titled = state.notes.find(nugget=shape["nuggetName"], title=shape["title"])
    return next((n.id for n in titled if n.content == shape["content"] and n.id not in taken), "")


# --- the file of a nugget: facts that were added, changed or removed ----------------------------


def _import_fact_edits(
    draw: Callable[[], str],
    state: State,
    base: State | None,
    edit: ExternalEdit,
    config_in_file: NuggetConfig,
    now: str,
) -> ImportedEdit:
    """What its author changed in the file of the nugget that is `given` there."""
    fold = fold_case(config_in_file.name)
    current_config = state.nuggets.get(fold)
    config = _merge_config(current_config, base.nuggets.get(fold) if base else None, config_in_file)
    current_facts, archive = _facts(state, fold)
    seen, _ = _facts(base or MemoryState(), fold)
    entries = _pair_entries(fold, edit.facts, seen)
    if seen:
        _refuse_second_keys(entries, seen)
    renamed = _find_renamed(entries, seen, current_facts)
    put: dict[str, MemoryNote] = {}
    for key, fact in entries:
        was = renamed.get(key, key)
        current, old = current_facts.get(was) or archive.get(was), seen.get(was)
        shape = _shape_of_fact(config.name, current, old, fact)
        if shape is None:
            continue
        if current is None:
            shape = name_note(shape, repr(fact["key"]))
            shape["id"] = note_id("fact", config.name, draw, put, state.notes)
            note = _import_note(None, None, shape, now)
        else:
            current = restore_note(current, now)
            note = _import_note(current, old or current, shape, now)
        if note is not None:
            put[note.id] = note
            if current is not None and old is not None:
                put.update(keep_beside(old, note, current, state.notes))
            current_facts[key] = put[note.id]
    listed = {key for key, _ in entries}.union(renamed.values())
    removed = find_removed(seen, listed, current_facts, _has_same_version)
    removed, kept = _trust_removals(removed, len(seen))
    gone = {current_facts[key].id: current_facts[key] for key in removed}
    if base is not None and not base.notes and fold not in base.nuggets:
        # Files that were never ours: a fact's note without its fact is put away, not dropped.
        orphans = {
            n.id: n for key, n in current_facts.items() if key not in listed and n.id not in put
        }
        put.update((i, archive_note(note, now)) for i, note in orphans.items())
    if not edit.revision:
        put.update((i, archive_note(note, now)) for i, note in gone.items())
        gone = {}
    linking = {note.id: note for note in state.notes.linking_to(gone)} if gone else {}
    left = {**linking, **put}.values() if gone else ()
    put.update((note.id, note) for note in without_links_to(left, gone) if note.id not in gone)
    changes = Changes(
        put=tuple(put.values()),
        drop=tuple(gone),
        put_nuggets=() if current_config == config else (config,),
    )
    return ImportedEdit(changes, kept)


def _merge_config(
    known: NuggetConfig | None, old: NuggetConfig | None, given: NuggetConfig
) -> NuggetConfig:
    """What the file says, as far as its author changed it; the spelling of a known name stays."""
    check_fields(given._asdict(), NuggetConfig)
    if known is None:
        return given._replace(name=checked_nugget_name(given.name))
    if old is None:
        return given._replace(name=known.name)
    changed = merge_record(old._asdict(), given._asdict(), known._asdict()).changed
    return known._replace(**{**changed, "name": known.name})


def _shape_of_fact(
    nugget: str, current: MemoryNote | None, old: MemoryNote | None, fact: Json
) -> Json | None:
    """An entry as a note in its documented JSON; None if what it says is forgotten or archived here
    since its author read it."""
    value = fact["value"]
    is_untouched = old is not None and old.content == value
    shape: Json = {} if is_untouched else {"content": normal_value(value)}
    if current is None:
        if is_untouched:
            return None
        named = {"nuggetName": nugget, "kind": "fact", "title": fact["key"]}
        shape |= {**named, "project": fact.get("project", "")}
    elif current.hidden and is_untouched:
        return None
    elif old is not None and fact["key"] != old.title:
        shape["title"] = fact["key"]
    seen = old or current
    counted = seen.hits if seen is not None else 0
    hits = fact.get("hits", counted)
    if hits > counted or (old is not None and hits < counted):
        session = str(fact.get("last_hit_session") or "")
        sessions = dict.fromkeys(current.hit_sessions if current is not None else ())
        sessions |= {session: None} if session else {}
        shape |= {"hits": hits, "lastHitSession": session, "hitSessions": list(sessions)}
    unknown = {k: v for k, v in fact.items() if k not in _FACT_FIELDS}
    return {**shape, "fact": unknown} if unknown else shape


def _pair_entries(
    nugget: str, entries: Sequence[Json], seen: Mapping[FactIdentity, MemoryNote]
) -> list[tuple[FactIdentity, Json]]:
    """Each entry of the file with the fact that it is about, of those that its author saw.

    A program that does not know projects drops them. Its entries of one key are paired by value
    first, then in their order, so that no project's fact gets another one's value.
    """
    identities: list[FactIdentity | None] = [
        identity(nugget, entry["key"], entry["project"]) if "project" in entry else None
        for entry in entries
    ]
    unpaired: dict[str, list[FactIdentity]] = {}
    for fact in seen.keys() - set(identities) if None in identities else ():
        unpaired.setdefault(fact.key, []).append(fact)
    places = {fact: place for place, fact in enumerate(seen)}
    for by_value in (True, False):
        for place, entry in enumerate(entries):
            if identities[place] is None:
                candidates = [
                    fact
                    for fact in unpaired.get(fold_case(entry["key"]), ())
                    if not by_value or seen[fact].content == entry["value"]
                ]
                if candidates:
                    identities[place] = fact = min(candidates, key=places.__getitem__)
                    unpaired[fact.key].remove(fact)
    return [
        (identity(nugget, entry["key"], "") if fact_identity is None else fact_identity, entry)
        for fact_identity, entry in zip(identities, entries, strict=True)
    ]


def _find_renamed(
    entries: Sequence[tuple[FactIdentity, Json]],
    seen: Mapping[FactIdentity, MemoryNote],
    current: Mapping[FactIdentity, MemoryNote],
) -> dict[FactIdentity, FactIdentity]:
    """The old key of each new one that stands for a missing one: with its value, or with a key and
    a value that are nearly the same."""
    listed = {key for key, _ in entries}
    missing = [key for key in seen if key not in listed and key in current]
    renamed: dict[FactIdentity, FactIdentity] = {}
    for is_same in (_has_value, _is_alike):
        for key, fact in entries:
            if key not in seen and key not in current and key not in renamed:
                same = (o for o in missing if o.project == key.project and is_same(seen[o], fact))
                old = next(same, None)
                if old is not None:
                    renamed[key] = old
                    missing.remove(old)
    return renamed


def _has_value(note: MemoryNote, fact: Json) -> bool:
    return bool(note.content == fact["value"])


def _is_alike(note: MemoryNote, fact: Json) -> bool:
    return are_alike(f"{note.title}: {note.content}", f"{fact['key']}: {fact['value']}")


def _facts(
    state: State, nugget: str
) -> tuple[dict[FactIdentity, MemoryNote], dict[FactIdentity, MemoryNote]]:
    """The visible facts of a nugget, and the archived ones."""
    by_identity: tuple[dict[FactIdentity, MemoryNote], dict[FactIdentity, MemoryNote]] = {}, {}
    for note in state.notes.find(nugget=nugget, kind="fact"):
        by_identity[note.hidden][identity_of(note)] = note
    return by_identity


def _has_same_version(note: MemoryNote, old: MemoryNote) -> bool:
    """Recalls make no new version."""
    return note.updated_at == old.updated_at
