"""Records to plain JSON and back, with the documented names.

Files, ``--json``, REST and MCP all use this one format. Only JSON that Nuggets wrote is read here;
`stores/json_validation.py` checks JSON from elsewhere.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, get_args, get_origin

from nuggets.domain.records import (
    INTERNAL,
    SPARSE,
    Commit,
    MemoryNote,
    MemoryVersion,
    NoteLink,
    NuggetConfig,
)
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

Json = dict[str, Any]

_encoder = json.JSONEncoder(  # what is encoded is a tree; to check that takes a fifth of the time
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)


def dumps(value: Any) -> str:
    """Compact JSON in one line; refuses values that no JSON parser could read back."""
    return _encoder.encode(value)


def loads(text: str | bytes, where: str) -> Any:
    """Parse strict JSON: UTF-8, no NaN, no repeated key, no bottomless nesting."""
    try:
        if isinstance(text, bytes):
            text = text.decode()  # left to itself json would let half characters through
        return json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeDecodeError and JSONDecodeError
        raise InvalidInput(f"{where}: {problem}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> Json:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        earlier: set[str] = set()
        repeated = next(key for key, _ in pairs if key in earlier or earlier.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {repeated!r} occurs twice in one object")
    return fields


# --- records ----------------------------------------------------------------------------------


class JsonField(NamedTuple):
    """A field of a record in the documented JSON."""

    name: str
    json_name: str
    place: int
    is_sparse: bool  # left out if it has its default
    default: Any
    item: Any  # the record that it holds, or of which it holds several; None if there is none
    is_list: bool  # of plain values
    is_plain: bool  # always there, and as it is


def json_name(name: str) -> str:
    """How the documents spell a field of JSON, a tool or an operation: `lastHitSession`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@cache
def json_fields(record: Any) -> tuple[JsonField, ...]:
    """The fields of a record in the documented JSON, as its annotations define them."""
    fields = []
    for place, name in enumerate(record._fields):
        kind = record.__annotations__[name]
        marks = getattr(kind, "__metadata__", ())
        if INTERNAL in marks:
            continue
        plain = kind.__origin__ if marks else kind
        parts = [part for part in (plain, *get_args(plain)) if hasattr(part, "_fields")]
        default = record._field_defaults.get(name)
        item = parts[0] if parts else None
        is_sparse, is_list = SPARSE in marks, get_origin(plain) is tuple and item is None
        is_plain = not (is_sparse or is_list or item or isinstance(kind, str))
        fields.append(
            JsonField(name, json_name(name), place, is_sparse, default, item, is_list, is_plain)
        )
    return tuple(fields)


@cache
def empty_fields(record: Any) -> Json:
    """What the fields of a record say that may be left out, in the documented JSON."""
    optional = (field for field in json_fields(record) if field.name in record._field_defaults)
    return {field.json_name: [] if field.default == () else field.default for field in optional}


@cache
def _plan(
    record: Any,
) -> tuple[Sequence[str], Callable[[Any], tuple[Any, ...]], Sequence[JsonField]]:
    """Names and values of the plain fields, which are most, and the other fields."""
    fields = json_fields(record)
    names = [field.json_name for field in fields if field.is_plain]
    places = [field.place for field in fields if field.is_plain]
    others = [field for field in fields if not field.is_plain]
    return names, itemgetter(*places, 0, 0), others  # of one place alone it would be no tuple


def to_json(value: Any) -> Any:
    """A record, or several, with the documented names; a value as it is."""
    if isinstance(value, MemoryNote):
        return note_to_json(value)
    if hasattr(value, "_fields"):
        return _fields_to_json(value, type(value))
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    return value


def _fields_to_json(value: Any, record: Any) -> Json:
    names, values, others = _plan(record)
    shape = dict(zip(names, values(value), strict=False))
    for field in others:
        part = value[field.place]
        if not field.is_sparse or part != field.default:
            shape[field.json_name] = [*part] if field.is_list else to_json(part)
    return shape


def from_json(record: Any, shape: Json) -> Any:
    """The record of JSON that we wrote ourselves."""
    values = {}
    for field in json_fields(record):
        if field.json_name in shape:
            values[field.name] = _part_from_json(shape[field.json_name], field.item)
        elif not field.is_sparse:
            raise KeyError(field.json_name)
    return record(**values)


def _part_from_json(part: Any, item: Any) -> Any:
    if isinstance(part, list):
        return tuple(part) if item is None else tuple([from_json(item, one) for one in part])
    return part if item is None else from_json(item, part)


# --- notes ------------------------------------------------------------------------------------

LINK_FIELDS = "linkFields"  # where `extra` keeps what others wrote into links


def note_to_json(note: MemoryNote, *, vector: bool = True) -> Json:
    """The documented shape. `vector=False` leaves out the vector recipe, which can be derived
    again."""
    shape = _fields_to_json(note, MemoryNote)
    if vector:
        shape["vector"] = to_json(note.vector)
    if note.extra:
        for link in shape["links"] if LINK_FIELDS in note.extra else ():
            link.update(note.extra[LINK_FIELDS].get(_link_name(link), {}))
        shape.update(note.extra)
        shape.pop(LINK_FIELDS, None)
    return shape


def _link_name(link: Json) -> str:
    return f"{link['to']} {link['reason']}"


def note_from_json(shape: Json) -> MemoryNote:
    """The note of a JSON object that we wrote ourselves."""
    note: MemoryNote = from_json(MemoryNote, shape)
    extra = _unknown_fields(MemoryNote, shape)
    extra.pop("vector", None)
    of_links = ((_link_name(link), _unknown_fields(NoteLink, link)) for link in shape["links"])
    unknown = {name: fields for name, fields in of_links if fields}
    if unknown:
        extra[LINK_FIELDS] = unknown
    return note._replace(extra=extra) if extra else note


def _unknown_fields(record: Any, shape: Json) -> Json:
    known = _known_names(record)
    return {name: value for name, value in shape.items() if name not in known}


@cache
def _known_names(record: Any) -> frozenset[str]:
    return frozenset(field.json_name for field in json_fields(record))


def note_digest(note: MemoryNote) -> str:
    """Equal for two copies of a note that say the same; recalls of it aside."""
    from hashlib import blake2b

    plain = note._replace(hits=0, last_hit_session="", hit_sessions=(), last_accessed_at="")
    text = dumps(note_to_json(plain, vector=False)).encode(errors="replace")
    return blake2b(text, digest_size=8).hexdigest()


# --- nuggets ----------------------------------------------------------------------------------

# Documented name -> field. The nested ones stand one level deeper, in `config`.
CONFIG_FIELDS = {
    "D": "dims",
    "banks": "banks",
    "ensembles": "ensembles",
    "max_facts": "max_facts",
}
NESTED_FIELDS = {
    "sharpen_p": "sharpen_p",
    "corvacs_a": "corvacs_a",
    "temp_T": "temperature",
    "orth_iters": "ortho_iters",
    "fuzzy_threshold": "fuzzy_threshold",
}


def nugget_to_json(config: NuggetConfig, facts: Iterable[MemoryNote] = ()) -> Json:
    """A nugget's file: its configuration and its facts."""
    unknown = dict(config.extra)
    unknown_nested = unknown.pop("config", {})
    return {
        "name": config.name,
        **{name: getattr(config, field) for name, field in CONFIG_FIELDS.items()},
        "facts": [{**fact_to_json(fact), **fact.extra.get("fact", {})} for fact in facts],
        "config": {
            **{name: getattr(config, field) for name, field in NESTED_FIELDS.items()},
            **unknown_nested,
        },
        **unknown,
    }


# --- answers ----------------------------------------------------------------------------------


def fact_to_json(fact: MemoryNote) -> Json:
    """The documented shape; a fact that belongs to one project also says to which."""
    shape: Json = {
        "key": fact.title,
        "value": fact.content,
        "hits": fact.hits,
        "last_hit_session": fact.last_hit_session,
    }
    return {**shape, "project": fact.project} if fact.project else shape


def version_to_json(version: MemoryVersion) -> Json:
    """What a memory said for a time; an end of null means until now."""
    return {
        "title": version.note.title,
        "value": version.note.content,
        "validFrom": version.valid_from,
        "validUntil": version.valid_until,
        "noteId": version.note.id,
        "source": version.note.source,
    }


def commit_to_json(commit: Commit) -> Json:
    """A commit of the history, with each changed note before and after. Of a purged note there is
    neither."""
    before = {note.id: note for note in commit.before.put}
    after = {note.id: note for note in commit.changes.put}
    return {
        "revision": commit.revision,
        "at": commit.at,
        "action": commit.changes.action,
        "client": commit.changes.client,
        "notes": [
            {
                "id": note_id,
                "before": note_to_json(before[note_id]) if note_id in before else None,
                "after": note_to_json(after[note_id]) if note_id in after else None,
            }
            for note_id in (*after, *filter(before.__contains__, commit.changes.drop))
        ],
        "noteCount": len(after) + len(commit.changes.drop),
        "nuggets": [config.name for config in commit.changes.put_nuggets],
        "removedNuggets": list(commit.changes.drop_nuggets),
    }


def error_to_json(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
