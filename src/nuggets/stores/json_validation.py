"""Validate documented JSON that someone else wrote: each known field has its documented type.

Errors say what is wrong and where; nothing is repaired. Loaded only when there is such JSON.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nuggets.domain.codec import CONFIG_FIELDS, LINK_FIELDS, NESTED_FIELDS, Json, dumps
from nuggets.domain.records import (
    KINDS,
    NO_EXTRA,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    NuggetConfig,
)
from nuggets.errors import InvalidInput

_SPARE_LEVELS = 16  # the store nests values a little deeper
_LONGEST_ID = 256  # characters; ours have half of that
_LARGEST_NUMBER = 2**1000  # an int may be larger than any float


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

    Fields that are missing or null stay missing; the caller fills them.
    """
    fields = {
        name: value
        for name, value in _check_object(shape, where).items()
        if value is not None or name not in _NOTE_CHECKS
    }
    for name, value in fields.items():
        check = _NOTE_CHECKS.get(name)
        if check is not None:
            check(value, f"{where}: {name!r}")
    note_id = fields.get("id", "new")
    if not note_id.strip() or len(note_id) > _LONGEST_ID or not note_id.isprintable():
        raise InvalidInput(f"{where}: 'id' is one line of 1 to {_LONGEST_ID} characters")
    return fields


def nugget_from_json(shape: Any, where: str) -> tuple[NuggetConfig, list[Json]]:
    """Check a nugget's file, and return its configuration and facts."""
    fields = dict(_check_object(shape, where))
    for name in ("version", "revision", "savedAt", "recalls"):
        fields.pop(name, None)
    name = fields.pop("name", None)
    _check_text(name, f"{where}: 'name'")
    facts = _check_list(fields.pop("facts", []), f"{where}: 'facts'")
    values: Json = {}
    for documented, field in CONFIG_FIELDS.items():
        if documented in fields:
            values[field] = fields.pop(documented)
            _check_whole_number(values[field], f"{where}: {documented!r}")
    nested = dict(_check_object(fields.pop("config", {}), f"{where}: 'config'"))
    for documented, field in NESTED_FIELDS.items():
        if documented in nested:
            values[field] = nested.pop(documented)
            _check_number(values[field], f"{where}: {documented!r}")
    if nested:
        fields["config"] = nested
    return (
        NuggetConfig(name=name, **values, extra=fields or NO_EXTRA),
        [_check_fact(fact, f"{where}: fact {number}") for number, fact in enumerate(facts, 1)],
    )


def _check_fact(shape: Any, where: str) -> Json:
    fact = _check_object(shape, where)
    _check_text(fact.get("key"), f"{where}: 'key'")
    _check_text(fact.get("value"), f"{where}: 'value'")
    _check_whole_number(fact.get("hits", 0), f"{where}: 'hits'")
    _check_text(fact.get("project", ""), f"{where}: 'project'")
    _check_text(str(fact.get("last_hit_session", "")), f"{where}: 'last_hit_session'")
    return fact


# --- fields -----------------------------------------------------------------------------------


def _check_object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: an object is expected here, not {_describe_type(value)}")
    return value


def _describe_type(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), "null")


_TYPE_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _check_text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} must be a text, not {_describe_type(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{where} holds half a character (a lone surrogate)") from None


def _check_whole_number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidInput(f"{where} must be a whole number, 0 or more")


def _check_number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} must be a number, not {_describe_type(value)}")
    if not abs(value) < _LARGEST_NUMBER:
        raise InvalidInput(f"{where} is a finite number")


def _check_bool(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where} must be true or false, not {_describe_type(value)}")


def _check_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list, not {_describe_type(value)}")
    return value


def _check_texts(value: Any, where: str) -> None:
    for item in _check_list(value, where):
        _check_text(item, f"{where}: each item")


def _check_links(value: Any, where: str) -> None:
    for item in _check_list(value, where):
        link = _check_object(item, where)
        _check_text(link.get("to"), f"{where}: 'to'")
        _check_text(link.get("reason") or "", f"{where}: 'reason'")
        _check_text(link.get("createdAt") or "", f"{where}: 'createdAt'")


def _check_anchors(value: Any, where: str) -> None:
    for item in _check_list(value, where):
        anchor = _check_object(item, where)
        for name in ("path", "commit", "branch"):
            _check_text(anchor.get(name, ""), f"{where}: {name!r}")
        for name in ("lines", "symbols"):
            _check_texts(anchor.get(name, []), f"{where}: {name!r}")
        for name in ("line", "size", "modified"):
            _check_whole_number(anchor.get(name, 0), f"{where}: {name!r}")
        if "path" not in anchor:
            raise InvalidInput(f"{where}: 'path' is missing")


def _check_link_fields(value: Any, where: str) -> None:
    for fields in _check_object(value, where).values():
        _check_object(fields, where)


def _check_one_of(allowed: tuple[str, ...]) -> Callable[[Any, str], None]:
    def check(value: Any, where: str) -> None:
        if value not in allowed:
            raise InvalidInput(f"{where} must be one of {', '.join(allowed)}; not {value!r}")

    return check


_NOTE_CHECKS: Mapping[str, Callable[[Any, str], object]] = {
    **dict.fromkeys(("id", "nuggetName", "title", "content", "sourceKey", "subject"), _check_text),
    **dict.fromkeys(("project", "lastHitSession", "createdAt", "updatedAt"), _check_text),
    **dict.fromkeys(
        ("lastAccessedAt", "lastRewrittenAt", "archivedAt", "lastInspectedAt"), _check_text
    ),
    **dict.fromkeys(("validFrom", "validUntil"), _check_text),
    **dict.fromkeys(("tags", "hitSessions", "supersedes"), _check_texts),
    "links": _check_links,
    "anchors": _check_anchors,
    LINK_FIELDS: _check_link_fields,
    "fact": _check_object,  # fields that others wrote into the nugget's file
    **dict.fromkeys(("hidden", "stabilityGiven"), _check_bool),
    "hits": _check_whole_number,
    "confidence": _check_number,
    "kind": _check_one_of(KINDS),
    "scope": _check_one_of(SCOPES),
    "type": _check_one_of(TYPES),
    "source": _check_one_of(SOURCES),
    "stability": _check_one_of(STABILITIES),
}
