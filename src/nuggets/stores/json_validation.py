"""Validate documented JSON that someone else wrote: each known field has its documented type.

Errors say what is wrong and where; nothing is repaired. Loaded only when there is such JSON.
"""

from collections.abc import Mapping, Set
from typing import Any, Literal, get_args, get_origin

from nuggets.domain.codec import (
    CONFIG_FIELDS,
    LINK_FIELDS,
    NESTED_FIELDS,
    Json,
    dumps,
    json_fields,
    json_name,
)
from nuggets.domain.limits import ID_CHARACTERS, Count
from nuggets.domain.records import NO_EXTRA, MemoryNote, NuggetConfig
from nuggets.domain.type_check import DOCUMENTED, fields_of, read
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

_SPARE_LEVELS = 16  # the store nests values a little deeper
_KINDS: Mapping[str, Any] = {
    **{json_name(name): field.kind for name, field in fields_of(MemoryNote).items()},
    LINK_FIELDS: Mapping[str, Mapping[str, Any]],
    "fact": Mapping[str, Any],  # fields that others wrote into the nugget's file
}
_RECORDS = {  # fields that hold several of them: what each may have
    field.json_name: {part.json_name for part in json_fields(field.item)}
    for field in json_fields(MemoryNote)
    if field.item
}
_TEXTS = frozenset(name for name, kind in _KINDS.items() if kind is str)
_WORDS = {name: get_args(kind) for name, kind in _KINDS.items() if get_origin(kind) is Literal}
_CONFIG_KINDS = {name: field.kind for name, field in fields_of(NuggetConfig).items()}


class Fact(NamedTuple):
    """A fact in a nugget's file; `last_hit_session` may be anything that can be a text."""

    key: str
    value: str
    hits: Count = 0
    project: str = ""


def check_savable(shape: Any, where: str) -> None:
    """Refuse what could be read but not written again: half characters, infinite numbers, nesting
    to the very limit."""
    for _ in range(_SPARE_LEVELS):
        shape = [shape]
    try:
        dumps(shape).encode()
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeEncodeError
        raise InvalidInput(f"{where}: {problem}") from None


def check_note(shape: Any, where: str) -> Json:
    """Check a note in its documented JSON, and return it.

    Fields that are missing or null stay missing, those of its links and anchors too; the caller
    fills them.
    """
    if type(shape) is not dict or not all(type(name) is str for name in shape):
        shape = read(shape, dict[str, Any], where)
    fields = {
        name: value for name, value in shape.items() if value is not None or name not in _KINDS
    }
    for name, value in fields.items():
        if not _is_surely_valid(name, value):
            read(value, _KINDS.get(name, Any), f"{where}: {name!r}", DOCUMENTED)
            if name in _RECORDS:
                fields[name] = [_without_null(part, _RECORDS[name]) for part in value]
    note_id = fields.get("id", "new")
    if not note_id.strip() or len(note_id) > ID_CHARACTERS or not note_id.isprintable():
        raise InvalidInput(f"{where}: 'id' is one line of 1 to {ID_CHARACTERS} characters")
    return fields


def _without_null(shape: Json, known: Set[str]) -> Json:
    return {name: part for name, part in shape.items() if part is not None or name not in known}


def _is_surely_valid(name: str, value: Any) -> bool:
    """Most fields are; to find out by their types takes five times as long."""
    if type(value) is not str:
        return False
    return value.isascii() if name in _TEXTS else value in _WORDS.get(name, ())


def nugget_from_json(shape: Any, where: str) -> tuple[NuggetConfig, list[Json]]:
    """Check a nugget's file, and return its configuration and facts."""
    fields = dict(read(shape, dict[str, Any], where))
    for name in ("version", "revision", "savedAt", "recalls"):
        fields.pop(name, None)
    name = read(fields.pop("name", None), str, f"{where}: 'name'")
    facts = read(fields.pop("facts", []), list[Any], f"{where}: 'facts'")
    nested = dict(read(fields.pop("config", {}), dict[str, Any], f"{where}: 'config'"))
    values: Json = {}
    for names, given in ((CONFIG_FIELDS, fields), (NESTED_FIELDS, nested)):
        for documented, field in names.items():
            if documented in given:
                value = given.pop(documented)
                values[field] = read(value, _CONFIG_KINDS[field], f"{where}: {documented!r}")
    if nested:
        fields["config"] = nested
    for number, fact in enumerate(facts, 1):
        _check_fact(fact, f"{where}: fact {number}")
    return NuggetConfig(name=name, **values, extra=fields or NO_EXTRA), list(facts)


def _check_fact(shape: Any, where: str) -> None:
    read(shape, Fact, where, DOCUMENTED)
    read(str(shape.get("last_hit_session", "")), str, f"{where}: 'last_hit_session'")
