"""Two notes become one, or two versions of one stay.

What is merged: the lines, tags, links and sessions that the survivor keeps. Where two people
changed the same words, one version holds and the other is kept beside it, as a note of its own,
tagged `conflict` and linked to the first as contradicting it. Its id follows from what it says, so
that every machine that sees the conflict makes the same.
"""

import re
from collections.abc import Mapping
from typing import Any

from nuggets.domain.codec import note_from_json, note_to_json
from nuggets.domain.limits import (
    LINKS,
    NAME_CHARACTERS,
    TAG_CHARACTERS,
    TAGS,
    check_most,
    checked_content,
    checked_reason,
)
from nuggets.domain.names_and_tags import normal_tag, normal_tags, own_tags
from nuggets.domain.records import CONTRADICTS, STABILITIES, MemoryNote, NoteLink
from nuggets.domain.state import SESSIONS_KEPT, Notes
from nuggets.domain.three_way_merge import merge_record
from nuggets.domain.times import moment_after
from nuggets.errors import InvalidInput
from nuggets.language.markdown import continues_code
from nuggets.language.text import words
from nuggets.operations.lookups_before_write import merge_anchors
from nuggets.operations.notes_and_links import (
    add_link,
    archive_note,
    normal_content,
    redirect_links,
)

# in code, in paths and in sums every sign counts
_PROSE = re.compile(r"(?:[\w\s.,;:'’\"()]|!(?![\w(]))*")


def merge_notes(
    target: MemoryNote,
    source: MemoryNote,
    reason: str,
    now: str,
    notes: Mapping[str, MemoryNote],
    content: str | None = None,
) -> tuple[MemoryNote, ...]:
    """All notes that change when `source` goes into `target`: these two first.

    The third ones, looked up in `notes`, are those that `source` was linked with. `content` of the
    survivor: None for the lines of both. A fact is no source: what was remembered by a key keeps
    answering to it.
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
    links = redirect_links((*target.links, *source.links), source.id, target.id, target.id)
    check_most(len(links) + 1, LINKS, f"{target.id} with the links of {source.id}", "links")
    both = (target.id, source.id)
    third_ones = dict.fromkeys(link.to for link in source.links if link.to not in both)
    return (
        _merge_fields(target, source, now, content)._replace(
            links=(*links, bond._replace(to=source.id))
        ),
        archive_note(source, now)._replace(links=(bond._replace(to=target.id),)),
        *(
            third._replace(links=redirect_links(third.links, source.id, target.id, third.id))
            for third in filter(None, map(notes.get, third_ones))
        ),
    )


def _merge_fields(
    target: MemoryNote, source: MemoryNote, now: str, content: str | None
) -> MemoryNote:
    """The target with the words, tags and sessions of both, links aside."""
    if content is None:
        content = checked_content(_merge_lines(target.content, source.content))
    own = (
        *own_tags(target.tags, target.nugget_name),
        *own_tags(source.tags, source.nugget_name),
        *_title_tag(source.title, f"{target.title}\n{content}"),
    )
    tags = normal_tags(
        tuple(dict.fromkeys(own))[:TAGS], target.nugget_name, target.scope, target.type
    )
    anchors = target.anchors
    if target.project == source.project:  # else its paths are of another repository
        anchors = merge_anchors(anchors, source.anchors)
    changed = (content, tags) != (target.content, target.tags)
    earlier, later = sorted((source, target), key=lambda note: note.last_accessed_at)
    ends = [note.valid_until for note in (target, source) if note.valid_until is not None]
    common = set(earlier.hit_sessions) & set(later.hit_sessions)
    sessions = (*(s for s in earlier.hit_sessions if s not in common), *later.hit_sessions)
    return target._replace(
        content=content,
        tags=tags,
        anchors=anchors,
        # it lasts as long as the one of them that lasts longer
        stability=max(target.stability, source.stability, key=STABILITIES.index),
        stability_given=target.stability_given or source.stability_given,
        valid_until=max(ends) if len(ends) == 2 else None,
        updated_at=moment_after(target.updated_at, now) if changed else target.updated_at,
        hits=target.hits + source.hits - len(common),
        hit_sessions=sessions[-SESSIONS_KEPT:],
        last_hit_session=later.last_hit_session or earlier.last_hit_session,
        last_accessed_at=later.last_accessed_at,
    )


def _title_tag(title: str, text: str) -> tuple[str, ...]:
    """The title as a tag, by which search finds it; none if the text has all its words."""
    return () if set(words(title)) <= set(words(text)) else (normal_tag(title)[:TAG_CHARACTERS],)


def _merge_lines(target: str, source: str) -> str:
    forms = {_comparison_form(passage) for passage in _passages(target)}
    added = []
    for passage in _passages(source):
        form = _comparison_form(passage)
        if not form or form not in forms:
            added.append(passage)
            forms.add(form)
    more = "\n".join(added).strip("\n")
    return normal_content(f"{target}\n{more}") if more else target


def _comparison_form(passage: str) -> str:
    """What tells it from others: of prose its words in order, articles and full stops aside."""
    bare = passage.strip()
    prose = re.sub(r"^[-*•]\s+", "", bare)
    if not _PROSE.fullmatch(prose):
        return bare
    bare_words = (word.lstrip("'’\"(").rstrip(".,;:!'’\")") for word in prose.lower().split())
    return " ".join(word for word in bare_words if word not in ("", "a", "an", "the")) or bare


def _passages(content: str) -> list[str]:
    """Its lines, but fenced code in one piece: without a repeated bracket it would be broken."""
    passages: list[list[str]] = []
    lines = content.split("\n")
    for line, continues in zip(lines, continues_code(lines), strict=True):
        if continues:
            passages[-1].append(line)
        else:
            passages.append([line])
    return ["\n".join(lines) for lines in passages]


# --- two versions of a note -------------------------------------------------------------------

Json = dict[str, Any]
CONFLICT = "conflict"  # the tag of versions that are kept
WORDS = ("title", "content")  # of which no version may be lost
_SUFFIX = " (other version)"
_KEPT = (
    *("nuggetName", "content", "subject", "scope", "type", "source", "confidence", "stability"),
    *("project", "validFrom", "validUntil"),
)


def other_version(shape: Json) -> Json:
    """A note of its own for a version that does not hold, in documented JSON."""
    from hashlib import blake2b

    said = "\0".join((shape["id"], shape["title"], shape["content"]))
    digest = blake2b(said.encode(errors="replace"), digest_size=4).hexdigest()
    title = shape["title"].removesuffix(_SUFFIX)[: NAME_CHARACTERS - len(_SUFFIX)]
    nugget = shape["nuggetName"]
    tags = (*own_tags(shape["tags"], nugget)[: TAGS - 1], CONFLICT)
    return {
        **{field: shape[field] for field in _KEPT if field in shape},
        "id": f"note-{nugget}-{digest}",
        "kind": "note",
        "title": f"{title}{_SUFFIX}",
        "tags": list(normal_tags(tags, nugget, shape["scope"], shape["type"])),
        "hidden": False,
        **dict.fromkeys(("createdAt", "updatedAt"), shape["updatedAt"]),
    }


def keep_beside(
    old: MemoryNote, written: MemoryNote, current: MemoryNote, notes: Notes
) -> dict[str, MemoryNote]:
    """The notes to write, by id, if an edit (`written`) of what its author saw (`old`) replaces
    other words of someone else (`current`)."""
    words = ({field: getattr(note, field) for field in WORDS} for note in (old, written, current))
    shape = other_version(note_to_json(current, vector=False))
    if not merge_record(*words).conflicts or shape["id"] in notes:
        return {}
    recalls: Json = {"hits": 0, "lastHitSession": "", "hitSessions": [], "links": []}
    copy = note_from_json({**shape, **recalls, "lastAccessedAt": shape["updatedAt"]})
    linked = add_link(written, copy, CONTRADICTS, shape["updatedAt"])
    return {note.id: note for note in linked or (written, copy)}
