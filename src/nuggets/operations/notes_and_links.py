"""Makes and changes notes and the links between them. Knows no other note than those given."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain.limits import (
    LINKS,
    TAGS,
    check_most,
    checked_content,
    checked_name,
    checked_reason,
    checked_tags,
    checked_value,
)
from nuggets.domain.names_and_tags import normal_tags, own_tags, tagged_values
from nuggets.domain.records import (
    CONTRADICTS,
    DEFAULT_REASON,
    SUPERSEDES,
    Changes,
    GraphNoteMetaInput,
    MemoryNote,
    MemoryScope,
    NoteKind,
    NoteLink,
    NoteMetadata,
)
from nuggets.domain.state import Notes
from nuggets.domain.times import moment_after, normalize_time
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.metadata_inference import (
    PREFERENCE_NUGGETS,
    check_metadata,
    default_project,
    infer_metadata,
)

if TYPE_CHECKING:
    from datetime import datetime


# --- links: always at both ends, never dangling, never twice --------------------------------------


Pair = tuple[MemoryNote, MemoryNote]


def add_link(a: MemoryNote, b: MemoryNote, reason: str, now: str) -> Pair | None:
    """Both notes with the link; None if they have it. A link that is missing at one end is
    completed."""
    if a.id == b.id:
        raise InvalidInput(f"{a.id} cannot be linked to itself; name two notes")
    reason = checked_reason(reason, DEFAULT_REASON)
    forward, back = _find_link(a, b.id, reason), _find_link(b, a.id, reason)
    if forward and back:
        return None
    link = forward or back or NoteLink("", reason, now)
    return (
        a if forward else _with_link(a, link._replace(to=b.id)),
        b if back else _with_link(b, link._replace(to=a.id)),
    )


def remove_link(a: MemoryNote, b: MemoryNote, reason: str | None = None) -> Pair | None:
    """Both notes without their link of this reason, or without any; None when there is none."""
    after = _without_link(a, b.id, reason), _without_link(b, a.id, reason)
    return None if after == (a, b) else after


def without_links_to(notes: Iterable[MemoryNote], gone: Container[str]) -> tuple[MemoryNote, ...]:
    """Those notes that lose a link when the ids in `gone` go, without it."""
    return tuple(
        note._replace(links=tuple(link for link in note.links if link.to not in gone))
        for note in notes
        if any(link.to in gone for link in note.links)
    )


def drop_notes(notes: Notes, gone: Iterable[str]) -> Changes:
    """Drop notes, and with them every link that leads to them."""
    ids = tuple(gone)
    if not ids:
        return Changes()
    dropped = set(ids)
    rest = (note for note in notes.linking_to(dropped) if note.id not in dropped)
    return Changes(put=without_links_to(rest, dropped), drop=ids)


def redirect_links(
    links: Iterable[NoteLink], old: str, new: str, owner: str
) -> tuple[NoteLink, ...]:
    """The owner's links with those to `old` leading to `new`: none to itself, none twice."""
    return _valid_links(
        (link._replace(to=new) if link.to == old else link for link in links), owner
    )


def repair_links(notes: Mapping[str, MemoryNote]) -> tuple[MemoryNote, ...]:
    """The notes to write so that no link is broken: dangling links are removed, half links
    completed, or removed where the other note has as many as there may be."""
    valid = {
        note.id: [link for link in _valid_links(note.links, note.id) if link.to in notes]
        for note in notes.values()
    }
    after = {
        note_id: {link_identity(link): link for link in links} for note_id, links in valid.items()
    }
    for note_id, links in valid.items():
        for link in links:
            back, others = link._replace(to=note_id), after[link.to]
            if link_identity(back) not in others and len(others) >= LINKS:
                del after[note_id][link_identity(link)]
            else:
                others.setdefault(link_identity(back), back)
    whole = (note._replace(links=tuple(after[note.id].values())) for note in notes.values())
    return tuple(note for note in whole if note != notes[note.id])


def _valid_links(links: Iterable[NoteLink], owner: str) -> tuple[NoteLink, ...]:
    """None to its owner, none twice; of two the earlier stays, which both ends decide alike."""
    by_identity: dict[tuple[str, str], NoteLink] = {}
    for link in links:
        if link.to != owner:
            same = by_identity.get(link_identity(link), link)
            by_identity[link_identity(link)] = min(
                same, link, key=lambda one: (one.created_at, one.reason)
            )
    return tuple(by_identity.values())


def link_identity(link: NoteLink) -> tuple[str, str]:
    """By what two links of a note are the same: target and reason, in any case."""
    return link.to, fold_case(link.reason)


def _find_link(note: MemoryNote, to: str, reason: str) -> NoteLink | None:
    wanted = (to, fold_case(reason))
    return next((link for link in note.links if link_identity(link) == wanted), None)


def _with_link(note: MemoryNote, link: NoteLink) -> MemoryNote:
    check_most(len(note.links) + 1, LINKS, note.id, "links")
    return note._replace(links=(*note.links, link))


def _without_link(note: MemoryNote, to: str, reason: str | None) -> MemoryNote:
    wanted = None if reason is None else fold_case(reason)
    rest = tuple(
        link
        for link in note.links
        if link.to != to or (wanted is not None and fold_case(link.reason) != wanted)
    )
    return note if len(rest) == len(note.links) else note._replace(links=rest)


# --- notes ----------------------------------------------------------------------------------------


NOTHING_GIVEN = GraphNoteMetaInput()


class NoteEdit(NamedTuple):
    """What someone changes of a note, besides its metadata; None stays as it is."""

    content: str | None = None
    title: str | None = None
    tags: Sequence[str] | None = None
    hidden: bool | None = None


def normal_value(value: str) -> str:
    """The written form of a fact's value, which has no indentation."""
    return normal_content(checked_value(value).strip())


def normal_content(text: str) -> str:
    """The written form: no trailing blanks, no empty stretches, nothing around it.

    The first of several lines keeps its indentation, it may be code; a single line has none.
    """
    if "\n" not in text:
        return text.strip()
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    written = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return written if "\n" in written else written.strip()


def note_id(kind: NoteKind, nugget: str, draw: Callable[[], str], *taken: Container[str]) -> str:
    """A new id; `draw` gives 8 hex digits and is asked again while its answer is taken."""
    while True:
        drawn = f"{kind}-{nugget}-{draw()}"
        if not any(drawn in ids for ids in taken):
            return drawn


def new_note(
    *,
    nugget: str,
    kind: NoteKind,
    title: str,
    content: str,
    tags: Iterable[str],
    given: GraphNoteMetaInput,
    now: str,
    note_id: str,
    project: str,
    created_at: "str | datetime | None" = None,
    at_work: bool = False,
) -> MemoryNote:
    """A note with all its metadata; `project` is the current one, taken where it applies.

    `at_work`: whoever writes works in that project, so it is about the project unless its key,
    tags or nugget say otherwise; so is what is given a project by name. A note from elsewhere
    keeps its age: its words have not changed since `created_at`.
    """
    given = check_metadata(given)
    title = _checked_name(kind, title)
    content = _normalize_body(kind, content)
    tags = checked_tags(tags)
    tagged: dict[str, Any] = {
        field: value for field, value in tagged_values(tags).items() if not getattr(given, field)
    }
    given = check_metadata(given._replace(**tagged)) if tagged else given
    owner = given.project if given.project is not None else project if at_work else ""
    default_scope: MemoryScope = "project" if owner else "user"
    metadata = infer_metadata(title, content, tags, nugget, kind, given, None, default_scope)
    if fold_case(nugget) in PREFERENCE_NUGGETS:
        tags = (*tags, "preferences")
    born = now if created_at is None else normalize_time(created_at, "created_at")
    home = default_project(metadata.scope, project)
    return MemoryNote(
        note_id,
        nugget,
        title,
        content,
        kind,
        *metadata,
        created_at=born,
        updated_at=born,
        last_accessed_at=now,
        tags=_checked_own_tags(tags, nugget, metadata),
        source_key=title if kind == "fact" else None,
        project=home if given.project is None else given.project,
        valid_from=given.valid_from or None,
        valid_until=given.valid_until or None,
        stability_given=given.stability is not None,
    )


def check_note_limits(note: MemoryNote) -> None:
    """Refuse a note that could not have been made here; its fields have the right types."""
    _checked_name(note.kind, note.title)
    _normalize_body(note.kind, note.content)
    tags = own_tags(note.tags, note.nugget_name)
    check_most(len(checked_tags(tags)), TAGS, "a note", "tags")
    check_most(len(note.links), LINKS, "a note", "links")
    for link in note.links:
        checked_reason(link.reason, DEFAULT_REASON)
        normalize_time(link.created_at)
    check_metadata(GraphNoteMetaInput(subject=note.subject, project=note.project))


def edit_note(
    note: MemoryNote,
    *,
    now: str,
    content: str | None = None,
    title: str | None = None,
    tags: Iterable[str] | None = None,
    hidden: bool | None = None,
    given: GraphNoteMetaInput = NOTHING_GIVEN,
) -> MemoryNote:
    """The note with what was given; the same object when that changes nothing.

    `updated_at` moves when its words or their meaning change: title, content, tags, metadata,
    project; always onwards, for it tells versions apart. Hiding, links, hits and access leave it.
    """
    given = check_metadata(given)
    name = note.title if title is None else _checked_name(note.kind, title)
    metadata = infer_metadata(
        *(note.title, note.content, note.tags, note.nugget_name, note.kind, given, note.metadata),
        default_scope="project" if note.project else "user",
        renamed=name,
    )
    if note.stability_given and given.stability is None:
        metadata = metadata._replace(stability=note.stability)
    text = note.content if content is None else _normalize_body(note.kind, content)
    # the times of another text do not hold for a new one
    start, end = (note.valid_from, note.valid_until) if text == note.content else (None, None)
    after = note._replace(
        title=name,
        content=text,
        project=note.project if given.project is None else given.project,
        **metadata._asdict(),
        valid_from=start if given.valid_from is None else given.valid_from or None,
        valid_until=end if given.valid_until is None else given.valid_until or None,
        stability_given=note.stability_given or given.stability is not None,
    )
    if tags is not None:
        after = after._replace(
            tags=_checked_own_tags(checked_tags(tags), note.nugget_name, metadata)
        )
    elif after != note:
        after = after._replace(tags=_with_system_tags(note.tags, note.nugget_name, metadata))
    if after == note:
        after = note
    else:
        key = after.title if note.kind == "fact" else note.source_key
        after = after._replace(source_key=key, updated_at=moment_after(note.updated_at, now))
    if hidden is None:
        return after
    return archive_note(after, now) if hidden else restore_note(after, now)


def supersede_note(note: MemoryNote, old: MemoryNote, now: str) -> tuple[MemoryNote, MemoryNote]:
    """Both notes when the first takes the place of the other, which is archived with a link."""
    if note.id == old.id:
        raise InvalidInput(f"{note.id} cannot supersede itself; name two notes")
    ended = min(old.valid_until or now, now)
    new = note._replace(supersedes=tuple(dict.fromkeys((*note.supersedes, old.id))))
    gone = archive_note(old, now)._replace(valid_until=ended)
    new, gone = remove_link(new, gone, CONTRADICTS) or (new, gone)
    return add_link(new, gone, SUPERSEDES, now) or (new, gone)


def archive_note(note: MemoryNote, now: str) -> MemoryNote:
    """Archive a note; one that is archived already keeps its time."""
    return note if note.hidden else note._replace(hidden=True, archived_at=now)


def restore_note(note: MemoryNote, now: str) -> MemoryNote:
    """Restore an archived note; that counts as an access. A superseded one is valid again."""
    if not note.hidden:
        return note
    accessed = max(note.last_accessed_at, now)
    end = None if note.valid_until == note.archived_at else note.valid_until
    return note._replace(hidden=False, archived_at=None, last_accessed_at=accessed, valid_until=end)


def _checked_name(kind: NoteKind, title: str) -> str:
    return checked_name(title, "a key" if kind == "fact" else "a title")


def _normalize_body(kind: NoteKind, content: str) -> str:
    if kind == "fact":
        return normal_value(content)
    return normal_content(checked_content(content))


def _with_system_tags(tags: Iterable[str], nugget: str, metadata: NoteMetadata) -> tuple[str, ...]:
    return normal_tags(tags, nugget, metadata.scope, metadata.type)


def _checked_own_tags(tags: Iterable[str], nugget: str, metadata: NoteMetadata) -> tuple[str, ...]:
    own = own_tags(tags, nugget)
    check_most(len(own), TAGS, "a note", "tags")
    return _with_system_tags(own, nugget, metadata)
