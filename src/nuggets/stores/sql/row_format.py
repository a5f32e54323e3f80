"""Records as rows and back.

A note is one JSON array in the order of its fields. Its id stands beside it; times that equal its
creation and fields at the end that have their default are left out, and the usual words of its
metadata and tags are numbers: that is a tenth of what a short note takes.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from typing import Any
from zlib import crc32

from nuggets.domain.codec import dumps
from nuggets.domain.names_and_tags import system_tags, title_form
from nuggets.domain.records import (
    KINDS,
    NO_EXTRA,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    Anchor,
    MemoryNote,
    NoteLink,
    NuggetConfig,
)
from nuggets.errors import StoreCorrupt
from nuggets.named_tuple import NamedTuple

_decoder = json.JSONDecoder()
_loads = _decoder.decode  # without looking at options each time
_FIELDS = MemoryNote._fields
_CREATED = _FIELDS.index("created_at")
_UPDATED = _FIELDS.index("updated_at")
_ACCESSED = _FIELDS.index("last_accessed_at")
_HITS = _FIELDS.index("hits")
_SESSION = _FIELDS.index("last_hit_session")
_SESSIONS = _FIELDS.index("hit_sessions")
_TAGS = _FIELDS.index("tags")
_LINKS = _FIELDS.index("links")
_NUGGET = _FIELDS.index("nugget_name")
_SCOPE = _FIELDS.index("scope")
_TYPE = _FIELDS.index("type")
_SUPERSEDES = _FIELDS.index("supersedes")
_ANCHORS = _FIELDS.index("anchors")
_DEFAULTS = tuple(MemoryNote._field_defaults.values())
_REQUIRED = len(_FIELDS) - len(_DEFAULTS)
# Words that are written as their place in these lists, which may only be appended to.
_WORDS: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "subject": ("user:primary", "assistant:self", "session:current", "shared:project"),
    "scope": SCOPES,
    "type": TYPES,
    "source": SOURCES,
    "stability": STABILITIES,
}
_WORDS_OF = [(_FIELDS.index(name), words) for name, words in _WORDS.items()]
_NUMBERS_OF = [(place, {word: n for n, word in enumerate(words)}) for place, words in _WORDS_OF]
_LENGTH_BITS = 10  # of a title's number
_EXTRA_OF_NUGGET = NuggetConfig._fields.index("extra")
DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)  # reading a record


def damaged_record(what: str, problem: Exception) -> StoreCorrupt:
    """The error to raise when a record in the database cannot be read."""
    return StoreCorrupt(
        f"{what} in the database is damaged ({problem!s:.80}). Nothing was changed. `nuggets "
        "doctor --fix` saves all others; `nuggets restore` brings a backup back"
    )


def record_of(note: MemoryNote) -> str:
    """The note without its id."""
    fields: list[Any] = list(note)
    for place, numbers in _NUMBERS_OF:
        fields[place] = numbers.get(fields[place], fields[place])
    system = system_tags(note.nugget_name, note.scope, note.type)
    fields[_TAGS] = [system.index(tag) if tag in system else tag for tag in note.tags]
    for place in (_ACCESSED, _UPDATED):
        if fields[place] == fields[_CREATED]:
            fields[place] = None
    end = len(fields)
    while end > _REQUIRED and fields[end - 1] == _DEFAULTS[end - 1 - _REQUIRED]:
        end -= 1
    return dumps(fields[1:end])


def note_of(
    note_id: str,
    record: str,
    hits: int | None = None,
    session: str = "",
    sessions: str = "",
    accessed_at: str = "",
) -> MemoryNote:
    """The note of a record; with the recalls since it was written, if there were any."""
    try:
        written, end = _decoder.raw_decode(record)  # without looking for blanks
        if end != len(record):
            raise ValueError(f"the record of {note_id} goes on after its end")
        fields = [note_id, *written]
        fields += _DEFAULTS[len(fields) - _REQUIRED :]
        for place, words in _WORDS_OF:
            if type(fields[place]) is int:
                fields[place] = words[fields[place]]
        created = fields[_CREATED]
        fields[_UPDATED] = fields[_UPDATED] or created
        fields[_ACCESSED] = fields[_ACCESSED] or created
        if hits is not None:
            fields[_ACCESSED] = accessed_at
            if type(hits) is not int:
                raise TypeError(f"{hits!r:.80} hits")
            fields[_HITS] = hits
            fields[_SESSION] = session
            fields[_SESSIONS] = () if sessions == "[]" else _loads(sessions)
        system = system_tags(fields[_NUGGET], fields[_SCOPE], fields[_TYPE])
        tags = fields[_TAGS]
        fields[_TAGS] = tuple([system[tag] if type(tag) is int else intern(tag) for tag in tags])
        links = fields[_LINKS]
        fields[_LINKS] = tuple([NoteLink(*link) for link in links]) if links else ()
        fields[_SESSIONS] = tuple(fields[_SESSIONS])
        fields[_SUPERSEDES] = tuple(fields[_SUPERSEDES])
        anchors = fields[_ANCHORS]
        fields[_ANCHORS] = tuple([_anchor_of(*anchor) for anchor in anchors]) if anchors else ()
        return MemoryNote._make(fields)
    except DAMAGE as problem:
        raise damaged_record(f"the note {note_id!r:.80}", problem) from problem


def _anchor_of(path: str, line: int, lines: Any, symbols: Any, *rest: Any) -> Anchor:
    return Anchor(path, line, tuple(lines), tuple(symbols), *rest)


@lru_cache(maxsize=16)  # asked when a fact is looked for, and again when it is written
def title_number(title: str) -> int:
    """A checksum of the title and its length, for finding notes that may have this title."""
    form = title_form(title)
    return crc32(form.encode()) << _LENGTH_BITS | title_length(len(form))


def title_length(length: int) -> int:
    """The length as far as a title's number can hold it."""
    return min(length, (1 << _LENGTH_BITS) - 1)


NAME_IN_CONFIG = f"json_extract(config, '$[{NuggetConfig._fields.index('name')}]')"  # in SQL
TITLE_IN_RECORD = f"json_extract(record, '$[{_FIELDS.index('title') - 1}]')"  # in SQL
LENGTH_OF_TITLE = f"(title & {(1 << _LENGTH_BITS) - 1})"  # in SQL


def recalls_of(note: MemoryNote) -> tuple[int, str, str, str]:
    """What counting a recall changes: a row of `recalls` without its place."""
    return note.hits, note.last_hit_session, dumps(note.hit_sessions), note.last_accessed_at


def recalls_kept(note: MemoryNote) -> str:
    """The recalls of a note, for the history; "" if there were none since it was written."""
    unseen = not note.hits and not note.hit_sessions and note.last_accessed_at == note.updated_at
    return "" if unseen else dumps(recalls_of(note))


def with_recalls(note: MemoryNote, recalls: str) -> MemoryNote:
    """The note with the recalls that `recalls_kept` gave."""
    try:
        hits, session, sessions, accessed_at = (
            _loads(recalls) if recalls else (0, "", "[]", note.updated_at)
        )
        return note._replace(
            hits=hits,
            last_hit_session=session,
            hit_sessions=tuple(_loads(sessions)),
            last_accessed_at=accessed_at,
        )
    except DAMAGE as problem:
        raise damaged_record(f"a recall of {note.id!r:.80}", problem) from problem


def nugget_from_text(config: str) -> NuggetConfig:
    try:
        return nugget_of(_loads(config))
    except DAMAGE as problem:
        raise damaged_record(f"the nugget {config!r:.80}", problem) from problem


def nugget_of(fields: list[Any]) -> NuggetConfig:
    fields[_EXTRA_OF_NUGGET] = fields[_EXTRA_OF_NUGGET] or NO_EXTRA
    return NuggetConfig(*fields)


class Rest(NamedTuple):
    """What a commit changed besides notes: nuggets and marks."""

    put_nuggets: tuple[NuggetConfig, ...] = ()
    drop_nuggets: tuple[str, ...] = ()
    marks: Mapping[str, Any] = NO_EXTRA
    before_nuggets: tuple[NuggetConfig, ...] = ()
    new_nuggets: tuple[str, ...] = ()  # names of those that were not there before
    before_marks: Mapping[str, Any] = NO_EXTRA

    def to_json(self) -> str:
        return "[]" if self == NOTHING_ELSE else dumps(self)

    @classmethod
    def from_json(cls, text: str) -> "Rest":
        try:
            fields = json.loads(text)
            if not fields:
                return cls()
            put, drop, marks, before, new, before_marks = fields
            return cls(
                tuple(map(nugget_of, put)),
                tuple(drop),
                marks,
                tuple(map(nugget_of, before)),
                tuple(new),
                before_marks,
            )
        except DAMAGE as problem:
            raise damaged_record("a change", problem) from problem


NOTHING_ELSE = Rest()
