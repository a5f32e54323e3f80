"""The documented files as others may have written them: every known field of its documented type.

Says what is wrong, and where; never mends. Loaded only when someone did write one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nuggets.codec import CONFIG_FIELDS, LINK_FIELDS, NESTED_FIELDS, Json, dumps
from nuggets.errors import InvalidInput
from nuggets.records import KINDS, NO_EXTRA, SCOPES, SOURCES, STABILITIES, TYPES, NuggetConfig

_SPARE_LEVELS = 16  # the journal nests what it is given a little deeper
_LONGEST_ID = 256  # characters; ours have half of that
_ENDLESS = 2**1000  # a whole number may be longer than any other number can be


def savable(shape: Any, where: str) -> None:
    """Refuse what could be read but never be written again: half characters, endless numbers,
    nesting to the very limit."""
    for _ in range(_SPARE_LEVELS):
        shape = [shape]
    try:
        dumps(shape).encode()
    except RecursionError:
        raise InvalidInput(f"{where}: nested too deeply") from None
    except ValueError as problem:  # also UnicodeEncodeError
        raise InvalidInput(f"{where}: {problem}") from None


def checked_note(shape: Any, where: str) -> Json:
    """A note that someone else may have written: every known field of its documented type.

    Fields that may be missing stay missing; whoever takes the note in fills them.
    """
    fields = _object(shape, where)
    for name in ("id", "nuggetName", "title", "content"):
        if name not in fields:
            raise InvalidInput(f"{where}: the field {name!r} is missing")
    for name, value in fields.items():
        check = _NOTE_FIELDS.get(name)
        if check is not None:
            check(value, f"{where}: {name!r}")
    name = fields["id"]
    if not name.strip() or len(name) > _LONGEST_ID or not name.isprintable():
        raise InvalidInput(f"{where}: 'id' is one line of 1 to {_LONGEST_ID} characters")
    return fields


def nugget_from_json(shape: Any, where: str) -> tuple[NuggetConfig, list[Json]]:
    """Configuration and facts of a nugget's file, every known field checked."""
    fields = dict(_object(shape, where))
    for ours in ("version", "revision", "savedAt", "recalls"):
        fields.pop(ours, None)
    name = fields.pop("name", None)
    _text(name, f"{where}: 'name'")
    facts = _list(fields.pop("facts", []), f"{where}: 'facts'")
    values: Json = {}
    for documented, field in CONFIG_FIELDS.items():
        if documented in fields:
            values[field] = fields.pop(documented)
            _whole(values[field], f"{where}: {documented!r}")
    nested = dict(_object(fields.pop("config", {}), f"{where}: 'config'"))
    for documented, field in NESTED_FIELDS.items():
        if documented in nested:
            values[field] = nested.pop(documented)
            _number(values[field], f"{where}: {documented!r}")
    if nested:
        fields["config"] = nested
    return (
        NuggetConfig(name=name, **values, extra=fields or NO_EXTRA),
        [_checked_fact(fact, f"{where}: fact {number}") for number, fact in enumerate(facts, 1)],
    )


def _checked_fact(shape: Any, where: str) -> Json:
    """A fact as someone else may have written it."""
    fact = _object(shape, where)
    _text(fact.get("key"), f"{where}: 'key'")
    _text(fact.get("value"), f"{where}: 'value'")
    _whole(fact.get("hits", 0), f"{where}: 'hits'")
    _text(fact.get("project", ""), f"{where}: 'project'")
    _text(str(fact.get("last_hit_session", "")), f"{where}: 'last_hit_session'")
    return fact


# --- fields -----------------------------------------------------------------------------------


def _object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: an object is expected here, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return _KIND_NAMES.get(type(value), "null")


_KIND_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is a text, not {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{where} holds half a character (a lone surrogate)") from None


def _whole(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidInput(f"{where} is a whole number from 0")


def _number(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} is a number, not {_kind(value)}")
    if not abs(value) < _ENDLESS:
        raise InvalidInput(f"{where} is a number, and not an endless one")


def _truth(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where} is true or false, not {_kind(value)}")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} is a list, not {_kind(value)}")
    return value


def _texts(value: Any, where: str) -> None:
    for item in _list(value, where):
        _text(item, f"{where}: each item")


def _links(value: Any, where: str) -> None:
    for item in _list(value, where):
        link = _object(item, where)
        _text(link.get("to"), f"{where}: 'to'")
        _text(link.get("reason", ""), f"{where}: 'reason'")
        _text(link.get("createdAt", ""), f"{where}: 'createdAt'")


def _link_fields(value: Any, where: str) -> None:
    for fields in _object(value, where).values():
        _object(fields, where)


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any, str], None]:
    def check(value: Any, where: str) -> None:
        if value not in allowed:
            raise InvalidInput(f"{where} is one of {', '.join(allowed)}; here stands {value!r}")

    return check


_NOTE_FIELDS: Mapping[str, Callable[[Any, str], None]] = {
    **dict.fromkeys(("id", "nuggetName", "title", "content", "sourceKey", "subject"), _text),
    **dict.fromkeys(("project", "lastHitSession", "createdAt", "updatedAt"), _text),
    **dict.fromkeys(("lastAccessedAt", "lastRewrittenAt", "archivedAt", "lastInspectedAt"), _text),
    **dict.fromkeys(("tags", "hitSessions"), _texts),
    "links": _links,
    LINK_FIELDS: _link_fields,
    "hidden": _truth,
    "hits": _whole,
    "confidence": _number,
    "kind": _one_of(KINDS),
    "scope": _one_of(SCOPES),
    "type": _one_of(TYPES),
    "source": _one_of(SOURCES),
    "stability": _one_of(STABILITIES),
}
