"""What an edit of the graph's file changes: notes whose fields, links or places were edited."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from nuggets.domain.codec import note_from_json, note_to_json
from nuggets.domain.fact_identity import identity_of
from nuggets.domain.nugget_names import checked_nugget_name
from nuggets.domain.records import (
    Changes,
    ExternalEdit,
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
)
from nuggets.domain.state import State
from nuggets.domain.times import moment_after, normalize_time
from nuggets.errors import InvalidInput
from nuggets.graph.external_fact_edits import is_unchanged_since
from nuggets.graph.links import DEFAULT_REASON, remove_link, repair_links
from nuggets.graph.metadata_inference import check_metadata, normal_tags
from nuggets.graph.name_resolution import DEFAULT_NUGGET, title_from_text
from nuggets.graph.notes import archive_note, new_note, note_id
from nuggets.language.text import fold_case

Json = dict[str, Any]
_META_FIELDS = ("subject", "scope", "type", "source", "confidence", "stability", "project")
# a change of these is a newer version
_WORDS = ("title", "content", "tags", *_META_FIELDS, "validFrom", "validUntil")
_OURS = ("vector",)  # grows from the note: what the file says of it is derived from it
_RECALLS = ("hits", "lastHitSession", "hitSessions")  # change together


def import_note_edits(
    draw: Callable[[], str], state: State, base: State | None, edit: ExternalEdit, now: str
) -> Changes:
    """What its author changed in the graph's file."""
    seen = base.notes if base else {}
    shapes = _shapes_by_id(draw, state, seen, edit.notes)
    gone = [
        i
        for i, old in seen.items()
        if i not in shapes and is_unchanged_since(state.notes.get(i), old)
    ]
    put: dict[str, MemoryNote] = {}
    if not edit.revision:
        put.update(
            (i, archive_note(state.notes[i], now)) for i in gone if not state.notes[i].hidden
        )
        gone = []
    names = NuggetSpellings(state)
    for id_, shape in shapes.items():
        note = _import_note(state.notes.get(id_), seen.get(id_), shape, now)
        if note is not None:
            put[id_] = names.apply(note)
    archive_second_keys(state, put, set(gone), now)
    after = {**dict(state.notes.items()), **put}
    for dropped in gone:
        del after[dropped]
    _remove_cut_links(seen, put, after)
    put.update((note.id, note) for note in repair_links(after))
    return Changes(
        put=tuple(note for note in put.values() if state.notes.get(note.id) != note),
        drop=tuple(gone),
        put_nuggets=tuple(map(NuggetConfig, names.new)),
    )


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


def archive_second_keys(state: State, put: dict[str, MemoryNote], gone: set[str], now: str) -> None:
    """Two facts cannot answer to one key."""
    others = (note for i, note in state.notes.items() if i not in put and i not in gone)
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
        left = {(link.to, fold_case(link.reason)) for link in note.links}
        for link in old.links if old else ():
            other = after.get(link.to)
            if other is not None and (link.to, fold_case(link.reason)) not in left:
                cut = remove_link(note, other, link.reason)
                if cut is not None:
                    put[other.id] = after[other.id] = cut[1]


def _import_note(
    current: MemoryNote | None, old: MemoryNote | None, shape: Json, now: str
) -> MemoryNote | None:
    """The note with what its author changed; None if that is nothing."""
    shape = {**shape, "links": [_complete_link(link, now) for link in shape.get("links", ())]}
    if current is None and old is None:
        return complete_note(shape, now)
    if old is None and current is not None and shape.get("updatedAt", now) < current.updated_at:
        return None  # not seen by its author, and ours is the newer one
    before = note_to_json(old, vector=False) if old else {}
    changed = {
        field: value
        for field, value in shape.items()
        if field not in (*_OURS, "lastAccessedAt")  # every look moves that, and none is a commit
        and (field not in before or before[field] != value)
    }
    if "hits" not in changed:
        changed = {field: value for field, value in changed.items() if field not in _RECALLS}
    if old is not None and not changed:
        return None
    merged = {**note_to_json(current or old, vector=False), **changed}  # type: ignore[arg-type]
    if "updatedAt" not in changed and any(field in changed for field in _WORDS):
        merged["updatedAt"] = moment_after(merged["updatedAt"], now)
    return normalize_note(note_from_json(merged))


def _complete_link(link: Json, now: str) -> Json:
    return {
        **link,
        "reason": link.get("reason") or DEFAULT_REASON,
        "createdAt": link.get("createdAt") or now,
    }


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
            shape = {**shape, "id": same or _draw_id(draw, state, named, shape)}
        named[shape["id"]] = shape
    return named


def _find_same_text(state: State, shape: Json, taken: Collection[str]) -> str:
    titled = state.notes.find(nugget=shape["nuggetName"], title=shape["title"])
    return next((n.id for n in titled if n.content == shape["content"] and n.id not in taken), "")


def _draw_id(draw: Callable[[], str], state: State, named: Mapping[str, Json], shape: Json) -> str:
    while True:
        kind, nugget = shape.get("kind", "note"), checked_nugget_name(shape["nuggetName"])
        drawn = note_id(kind, nugget, state.notes, draw)
        if drawn not in named:
            return drawn


def name_note(shape: Json, where: str) -> Json:
    """A new note with a nugget, a title and a content, of which its author may leave out some.

    The nugget is read from the id; of title and content each can be made from the other. A fact
    without a key or a value means nothing.
    """
    _, dash, rest = shape.get("id", "").partition("-")
    nugget = shape.get("nuggetName") or (rest.rpartition("-")[0] if dash else "")
    title = (shape.get("title") or shape.get("sourceKey") or "").strip()
    content = shape.get("content", "")
    is_fact = shape.get("kind") == "fact"
    if not (title or content.strip()) or (is_fact and not (title and content.strip())):
        problem = "a fact needs a title and a content" if is_fact else "no title and no content"
        raise InvalidInput(f"{where}: {problem}")
    return {
        **shape,
        "nuggetName": nugget or DEFAULT_NUGGET,
        "title": title or title_from_text(content),
        "content": content or title,
    }


def complete_note(shape: Json, now: str) -> MemoryNote:
    """A note that is new to us: what its author left out is inferred as for any new note."""
    fields = {field: value for field, value in shape.items() if field in _KNOWN}
    unknown = {field: value for field, value in shape.items() if field not in _KNOWN}
    note = new_note(
        nugget=checked_nugget_name(fields["nuggetName"]),
        kind=fields.get("kind", "note"),
        title=fields["title"],
        content=fields["content"],
        tags=fields.get("tags", ()),
        given=GraphNoteMetaInput(**{name: fields.get(name) for name in _META_FIELDS}),
        now=now,
        note_id=fields["id"],
        project=fields.get("project", ""),
        created_at=fields.get("createdAt"),
    )
    rest = {field: value for field, value in fields.items() if field not in _GIVEN}
    return normalize_note(note_from_json({**note_to_json(note), **rest, **unknown}))


_GIVEN = ("id", "nuggetName", "kind", "title", "tags", *_META_FIELDS, *_OURS, "createdAt")
_KNOWN = (
    *_GIVEN,
    *("content", "links", "hidden", "sourceKey", "hits", "lastHitSession", "hitSessions"),
    *("updatedAt", "lastAccessedAt", "lastRewrittenAt", "archivedAt", "lastInspectedAt"),
    *("validFrom", "validUntil", "supersedes", "anchors"),
)


def normalize_note(note: MemoryNote) -> MemoryNote:
    """Check and normalize the note as a whole, after each field was checked."""
    checked_nugget_name(note.nugget_name)
    given = check_metadata(GraphNoteMetaInput(confidence=note.confidence))
    sessions = note.hit_sessions
    if not sessions and note.last_hit_session:
        sessions = (note.last_hit_session,)
    return note._replace(
        created_at=normalize_time(note.created_at),
        updated_at=normalize_time(note.updated_at),
        last_accessed_at=normalize_time(note.last_accessed_at),
        last_rewritten_at=_normalize_optional_time(note.last_rewritten_at),
        archived_at=_normalize_optional_time(note.archived_at) if note.hidden else None,
        last_inspected_at=_normalize_optional_time(note.last_inspected_at),
        tags=normal_tags(note.tags, note.nugget_name, note.scope, note.type),
        confidence=note.confidence if given.confidence is None else given.confidence,
        source_key=note.title if note.kind == "fact" else note.source_key,
        hit_sessions=sessions,
        valid_from=_normalize_optional_time(note.valid_from),
        valid_until=_normalize_optional_time(note.valid_until),
    )


def _normalize_optional_time(moment: str | None) -> str | None:
    return normalize_time(moment) if moment else None
