"""Notes as they are made, edited and archived. Knows no other note than those given."""

import re
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING

from nuggets.domain.limits import (
    LINKS,
    TAGS,
    check_most,
    checked_content,
    checked_key,
    checked_reason,
    checked_tags,
    checked_title,
    checked_value,
)
from nuggets.domain.names_and_tags import normal_tags, own_tags
from nuggets.domain.records import (
    CONTRADICTS,
    DEFAULT_REASON,
    SUPERSEDES,
    GraphNoteMetaInput,
    MemoryNote,
    MemoryScope,
    NoteKind,
    NoteMetadata,
)
from nuggets.domain.times import moment_after, normalize_time
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case
from nuggets.operations.links import (
    add_link,
    remove_link,
)
from nuggets.operations.metadata_inference import (
    PREFERENCE_NUGGETS,
    check_metadata,
    default_project,
    infer_metadata,
)

if TYPE_CHECKING:
    from datetime import datetime


NOTHING_GIVEN = GraphNoteMetaInput()


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


def note_id(kind: NoteKind, nugget: str, taken: Container[str], draw: Callable[[], str]) -> str:
    """A new id; `draw` gives 8 hex digits and is asked again while its answer is taken."""
    while (drawn := f"{kind}-{nugget}-{draw()}") in taken:
        pass
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
    metadata = infer_metadata(
        note.title, note.content, note.tags, note.nugget_name, note.kind, given, note.metadata
    )
    if note.stability_given and given.stability is None:
        metadata = metadata._replace(stability=note.stability)
    text = note.content if content is None else _normalize_body(note.kind, content)
    # the times of another text do not hold for a new one
    start, end = (note.valid_from, note.valid_until) if text == note.content else (None, None)
    after = note._replace(
        title=note.title if title is None else _checked_name(note.kind, title),
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
    return checked_key(title) if kind == "fact" else checked_title(title)


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
