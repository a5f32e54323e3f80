"""Notes as they are made, edited, archived and merged. Knows no other note than those given."""

import re
from collections.abc import Callable, Container, Iterable, Mapping

from nuggets.errors import InvalidInput
from nuggets.graph.limits import (
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
from nuggets.graph.links import redirected
from nuggets.graph.metadata import (
    PREFERENCE_NUGGETS,
    checked,
    default_project,
    inferred,
    normal_tags,
    own_tags,
)
from nuggets.records import GraphNoteMetaInput, MemoryNote, NoteKind, NoteLink, NoteMetadata
from nuggets.state import SESSIONS_KEPT
from nuggets.text import folded
from nuggets.times import moment_after, normal

NOTHING_GIVEN = GraphNoteMetaInput()
# in code, in paths and in sums every sign counts
_PROSE = re.compile(r"(?:[\w\s.,;:'’\"()]|!(?![\w(]))*")


def normal_content(text: str) -> str:
    """The written form: no trailing blanks, no empty stretches, nothing around it.

    The first of several lines keeps its indentation, it may be code; a single line has none.
    """
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
    created_at: str | None = None,
) -> MemoryNote:
    """A note with all its metadata; `project` is the current one, taken where it applies.

    A note from elsewhere keeps its age: its words have not changed since `created_at`.
    """
    given = checked(given)
    title = _checked_name(kind, title)
    content = _written(kind, content)
    tags = checked_tags(tags)
    metadata = inferred(title, content, tags, nugget, kind, given, None)
    if folded(nugget) in PREFERENCE_NUGGETS:
        tags = (*tags, "preferences")
    born = now if created_at is None else normal(created_at)
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
        tags=_checked_own(tags, nugget, metadata),
        source_key=title if kind == "fact" else None,
        project=home if given.project is None else given.project,
    )


def edited(
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
    given = checked(given)
    metadata = inferred(
        note.title, note.content, note.tags, note.nugget_name, note.kind, given, note.metadata
    )
    after = note._replace(
        title=note.title if title is None else _checked_name(note.kind, title),
        content=note.content if content is None else _written(note.kind, content),
        project=note.project if given.project is None else given.project,
        **metadata._asdict(),
    )
    if tags is not None:
        after = after._replace(tags=_checked_own(checked_tags(tags), note.nugget_name, metadata))
    elif after != note:
        after = after._replace(tags=_following(note.tags, note.nugget_name, metadata))
    if after == note:
        after = note
    else:
        key = after.title if note.kind == "fact" else note.source_key
        after = after._replace(source_key=key, updated_at=moment_after(note.updated_at, now))
    if hidden is None:
        return after
    return archived(after, now) if hidden else restored(after, now)


def archived(note: MemoryNote, now: str) -> MemoryNote:
    """Out of sight, not gone; one that already is keeps the time it was put away."""
    return note if note.hidden else note._replace(hidden=True, archived_at=now)


def restored(note: MemoryNote, now: str) -> MemoryNote:
    """In sight again; whoever restores a note is looking at it, so this is an access."""
    if not note.hidden:
        return note
    accessed = max(note.last_accessed_at, now)
    return note._replace(hidden=False, archived_at=None, last_accessed_at=accessed)


def merged(
    target: MemoryNote,
    source: MemoryNote,
    reason: str,
    now: str,
    notes: Mapping[str, MemoryNote],
) -> tuple[MemoryNote, ...]:
    """All notes that change when `source` goes into `target`: these two first.

    The third ones, looked up in `notes`, are those that `source` was linked with. A fact is no
    source: what was remembered by a key keeps answering to it.
    """
    if target.id == source.id:
        raise InvalidInput(f"{target.id} cannot be merged into itself; name two notes")
    if target.hidden:
        raise InvalidInput(f"{target.id} is archived; restore it before merging into it")
    if source.kind == "fact":
        raise InvalidInput(
            f"{source.id} is a fact: merged away, its key {source.title!r:.80} would answer no "
            "more. Link the two, or write what it says into a note and then forget it"
        )
    reason = checked_reason(reason, "merged")
    bond = NoteLink("", reason, now)
    links = redirected((*target.links, *source.links), source.id, target.id, target.id)
    check_most(len(links) + 1, LINKS, f"{target.id} with the links of {source.id}", "links")
    both = (target.id, source.id)
    third_ones = dict.fromkeys(link.to for link in source.links if link.to not in both)
    return (
        _united(target, source, now)._replace(links=(*links, bond._replace(to=source.id))),
        archived(source, now)._replace(links=(bond._replace(to=target.id),)),
        *(
            third._replace(links=redirected(third.links, source.id, target.id, third.id))
            for third in filter(None, map(notes.get, third_ones))
        ),
    )


def _united(target: MemoryNote, source: MemoryNote, now: str) -> MemoryNote:
    """The target with the words and the sessions of both, links aside."""
    content = checked_content(_united_lines(target.content, source.content))
    own = (
        *own_tags(target.tags, target.nugget_name),
        *own_tags(source.tags, source.nugget_name),
    )
    tags = _following(tuple(dict.fromkeys(own))[:TAGS], target.nugget_name, target.metadata)
    changed = (content, tags) != (target.content, target.tags)
    earlier, later = sorted((source, target), key=lambda note: note.last_accessed_at)
    common = set(earlier.hit_sessions) & set(later.hit_sessions)
    sessions = (*(s for s in earlier.hit_sessions if s not in common), *later.hit_sessions)
    return target._replace(
        content=content,
        tags=tags,
        updated_at=moment_after(target.updated_at, now) if changed else target.updated_at,
        hits=target.hits + source.hits - len(common),
        hit_sessions=sessions[-SESSIONS_KEPT:],
        last_hit_session=later.last_hit_session or earlier.last_hit_session,
        last_accessed_at=later.last_accessed_at,
    )


def _united_lines(target: str, source: str) -> str:
    known = {_told(passage) for passage in _passages(target)}
    added = []
    for passage in _passages(source):
        told = _told(passage)
        if not told or told not in known:
            added.append(passage)
            known.add(told)
    more = "\n".join(added).strip("\n")
    return normal_content(f"{target}\n{more}") if more else target


def _told(passage: str) -> str:
    """What tells it from others: of prose its words in order, articles and full stops aside."""
    bare = passage.strip()
    prose = re.sub(r"^[-*•]\s+", "", bare)
    if not _PROSE.fullmatch(prose):
        return bare
    words = (word.lstrip("'’\"(").rstrip(".,;:!'’\")") for word in prose.lower().split())
    return " ".join(word for word in words if word not in ("", "a", "an", "the")) or bare


def _passages(content: str) -> list[str]:
    """Its lines, but fenced code in one piece: without a repeated bracket it would be broken."""
    passages: list[list[str]] = []
    fence = ""
    for line in content.split("\n"):
        if not fence:
            passages.append([line])
            fence = _opened_fence(line.strip())
        else:
            passages[-1].append(line)
            closes = line.strip().startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
    return ["\n".join(lines) for lines in passages]


def _opened_fence(line: str) -> str:
    """The marks that a block of code begins with and ends with; "" for any other line."""
    marks = line[: len(line) - len(line.lstrip(line[:1]))] if line[:1] in ("`", "~") else ""
    inline = "`" in line[len(marks) :]  # ```like this``` it stands inside a line
    return marks if len(marks) >= 3 and not inline else ""


def _checked_name(kind: NoteKind, title: str) -> str:
    return checked_key(title) if kind == "fact" else checked_title(title)


def _written(kind: NoteKind, content: str) -> str:
    return normal_content(checked_value(content) if kind == "fact" else checked_content(content))


def _following(tags: Iterable[str], nugget: str, metadata: NoteMetadata) -> tuple[str, ...]:
    return normal_tags(tags, nugget, metadata.scope, metadata.type)


def _checked_own(tags: Iterable[str], nugget: str, metadata: NoteMetadata) -> tuple[str, ...]:
    own = own_tags(tags, nugget)
    check_most(len(own), TAGS, "a note", "tags")
    return _following(own, nugget, metadata)
