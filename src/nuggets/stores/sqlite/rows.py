"""Records as rows and back.

A note is one JSON array in the order of its fields. Its id stands beside it; times that equal its
creation and fields at the end that have their default are left out, and the usual words of its
metadata and tags are numbers: that is a tenth of what a short note takes.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from sys import intern
from typing import Any
from zlib import crc32

from nuggets.codec import dumps
from nuggets.records import NO_EXTRA, MemoryNote, NoteLink, NuggetConfig
from nuggets.state import title_form
from nuggets.text import normal_tag

_loads = json.loads
_FIELDS = MemoryNote._fields
_CREATED = _FIELDS.index("created_at")
_UPDATED = _FIELDS.index("updated_at")
_ACCESSED = _FIELDS.index("last_accessed_at")
_HITS = _FIELDS.index("hits")
_SESSION = _FIELDS.index("last_hit_session")
_SESSIONS = _FIELDS.index("hit_sessions")
_TAGS = _FIELDS.index("tags")
_LINKS = _FIELDS.index("links")
_DEFAULTS = tuple(MemoryNote._field_defaults.values())
_REQUIRED = len(_FIELDS) - len(_DEFAULTS)
# Words that are written as their place in these lists, which may only be appended to.
_WORDS: dict[str, tuple[str, ...]] = {
    "kind": ("fact", "note"),
    "subject": ("user:primary", "assistant:self", "session:current", "shared:project"),
    "scope": ("self", "user", "shared", "project", "session"),
    "type": (
        *("fact", "note", "preference", "reflection"),
        *("self_model", "project", "relationship", "style"),
    ),
    "source": ("explicit_user", "agent_reflection", "tool_observation", "inferred", "system"),
    "stability": ("temporary", "durable"),
}
_WORDS_OF = [(_FIELDS.index(name), words) for name, words in _WORDS.items()]
_NUMBERS_OF = [(place, {word: n for n, word in enumerate(words)}) for place, words in _WORDS_OF]
_nugget_tag = lru_cache(maxsize=64)(normal_tag)
_LENGTH_BITS = 10  # of a title's number
_EXTRA_OF_NUGGET = NuggetConfig._fields.index("extra")


def record_of(note: MemoryNote) -> str:
    """The note without its id."""
    fields: list[Any] = list(note)
    for place, numbers in _NUMBERS_OF:
        fields[place] = numbers.get(fields[place], fields[place])
    usual = {tag: number for number, tag in enumerate(_usual_tags(note))}
    fields[_TAGS] = [usual.get(tag, tag) for tag in note.tags]
    for place in (_ACCESSED, _UPDATED):
        if fields[place] == fields[_CREATED]:
            fields[place] = None
    while len(fields) > _REQUIRED and fields[-1] == _DEFAULTS[len(fields) - 1 - _REQUIRED]:
        fields.pop()
    return dumps(fields[1:])


def note_of(
    note_id: str,
    record: str,
    hits: int | None = None,
    session: str = "",
    sessions: str = "",
    accessed_at: str = "",
) -> MemoryNote:
    """The note of a record; with the recalls since it was written, if there were any."""
    fields = [note_id, *_loads(record)]
    fields += _DEFAULTS[len(fields) - _REQUIRED :]
    for place, words in _WORDS_OF:
        if type(fields[place]) is int:
            fields[place] = words[fields[place]]
    created = fields[_CREATED]
    fields[_UPDATED] = fields[_UPDATED] or created
    fields[_ACCESSED] = fields[_ACCESSED] or created
    if hits is not None:
        fields[_ACCESSED] = accessed_at
        fields[_HITS] = hits
        fields[_SESSION] = session
        fields[_SESSIONS] = _loads(sessions)
    tags, fields[_TAGS] = fields[_TAGS], ()
    fields[_LINKS] = tuple([NoteLink(*link) for link in fields[_LINKS]])
    fields[_SESSIONS] = tuple(fields[_SESSIONS])
    note = MemoryNote(*fields)
    return note._replace(tags=_tags_of(tags, note))


def _usual_tags(note: MemoryNote) -> tuple[str, str, str]:
    """Those that every note has by rule."""
    return _nugget_tag(note.nugget_name), f"scope:{note.scope}", f"type:{note.type}"


def _tags_of(written: Iterable[str | int], note: MemoryNote) -> tuple[str, ...]:
    usual = _usual_tags(note)
    return tuple([intern(usual[tag] if isinstance(tag, int) else tag) for tag in written])


def title_number(title: str) -> int:
    """By which notes are found that may have this title: a checksum of it, and its length."""
    form = title_form(title)
    return crc32(form.encode()) << _LENGTH_BITS | title_length(len(form))


def title_length(length: int) -> int:
    """As much of a length as a title's number tells."""
    return min(length, (1 << _LENGTH_BITS) - 1)


LENGTH_OF_TITLE = f"(title & {(1 << _LENGTH_BITS) - 1})"  # in SQL


def recalls_of(note: MemoryNote) -> tuple[int, str, str, str]:
    """What counting a recall changes: a row of `recalls` without its place."""
    return note.hits, note.last_hit_session, dumps(note.hit_sessions), note.last_accessed_at


def recalls_kept(note: MemoryNote) -> str:
    """The recalls of a note, for the history; "" if it was never shown since it was written."""
    unseen = not note.hits and not note.hit_sessions and note.last_accessed_at == note.updated_at
    return "" if unseen else dumps(recalls_of(note))


def with_recalls(note: MemoryNote, kept: str) -> MemoryNote:
    """The note with the recalls that `recalls_kept` gave."""
    hits, session, sessions, accessed_at = _loads(kept) if kept else (0, "", "[]", note.updated_at)
    return note._replace(
        hits=hits,
        last_hit_session=session,
        hit_sessions=tuple(_loads(sessions)),
        last_accessed_at=accessed_at,
    )


def nugget_record(config: NuggetConfig) -> list[Any]:
    return list(config)


def nugget_of(fields: list[Any]) -> NuggetConfig:
    fields[_EXTRA_OF_NUGGET] = fields[_EXTRA_OF_NUGGET] or NO_EXTRA
    return NuggetConfig(*fields)
