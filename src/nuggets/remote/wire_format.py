"""Arguments, results and errors of a shelf as JSON between a client and a server.

Only the types listed here are ever created from a message. A tuple is an array; a record is an
object with its type at "@" and the fields that differ from their defaults; lists, sets and
dictionaries with keys other than texts have an "@" as well.
"""

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from nuggets import errors
from nuggets.errors import InvalidInput, NuggetsError

TYPE = "@"
DEPTH = 40  # of nested values
_MODULES = {  # where each record is defined, so that it is imported when one arrives
    "nuggets.domain.records": (
        *("Anchor", "Changes", "Commit", "CommitSummary", "DailyRun", "Intake", "MemoryNote"),
        *("MemoryVersion", "NoteFilterOptions", "NoteLink", "NuggetConfig", "NuggetStatus"),
        *("ProjectMove", "ProjectStatus", "RecallResult", "ReflectionChange"),
        *("ReflectionResult", "SearchNotesResult", "Touch", "WrittenNote", "CopyIndex"),
    ),
    "nuggets.domain.roles": ("Member", "MemberStatus"),
    "nuggets.maintenance.audit": ("Finding",),
    "nuggets.maintenance.meaning_update": ("MeaningStatus",),
    "nuggets.maintenance.purge": ("Purged",),
    "nuggets.operations.client_permissions": ("Client",),
    "nuggets.operations.project_identity": ("Location",),
    "nuggets.operations.idempotent_calls": ("Call", "Caller", "Place"),
    "nuggets.operations.session_notes": ("SessionRecord",),
    "nuggets.search.explanation": ("Explanation", "WordExplanation"),
}
RECORDS = {name: module for module, names in _MODULES.items() for name in names}
ARGUMENTS = frozenset(  # what a server takes from a client
    (
        *("Anchor", "Call", "Caller", "Client", "Location", "NoteFilterOptions", "Place"),
        "SessionRecord",
    )
)
_WRITTEN = ("is_new", "replaced", "contradicts")  # of a `WrittenNote`, beside its fields
ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, NuggetsError)
}


def encode(value: Any) -> Any:
    """A value as what JSON can say."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields:
        return _encode_record(value, fields)
    if isinstance(value, tuple):
        return [encode(part) for part in value]
    if isinstance(value, Mapping):
        if TYPE not in value and all(isinstance(key, str) for key in value):
            return {key: encode(part) for key, part in value.items()}
        return {TYPE: "dict", "items": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, set | frozenset):
        return {TYPE: "set", "items": [encode(part) for part in value]}
    if isinstance(value, Sequence):
        return {TYPE: "list", "items": [encode(part) for part in value]}
    if type(value).__name__ == "datetime":
        return {TYPE: "datetime", "text": value.isoformat()}
    if type(value).__name__ == "Nugget":
        return {TYPE: "Nugget", "name": value.name}
    if hasattr(value, "__iter__"):
        return {TYPE: "list", "items": [encode(part) for part in value]}
    raise InvalidInput(f"a server cannot be given {type(value).__name__}: {value!r:.80}")


def _encode_record(value: Any, fields: Sequence[str]) -> dict[str, Any]:
    name = type(value).__name__
    if name not in RECORDS:
        raise InvalidInput(f"a server cannot be given {name}")
    defaults = value._field_defaults
    shape: dict[str, Any] = {TYPE: name}
    for field, part in zip(fields, value, strict=True):
        if field not in defaults or part != defaults[field]:
            shape[field] = encode(part)
    if name == "WrittenNote":
        shape |= {f"+{field}": encode(getattr(value, field)) for field in _WRITTEN}
    return shape


def decode(shape: Any, allowed: frozenset[str] | None = None, depth: int = DEPTH) -> Any:
    """The value of what arrived; `InvalidInput` if it is none. `allowed`: the records that may be
    in it, by default all that are known."""
    if not depth:
        raise InvalidInput("nested too deeply")
    if isinstance(shape, list):
        return tuple(decode(part, allowed, depth - 1) for part in shape)
    if not isinstance(shape, dict):
        return shape
    kind = shape.get(TYPE)
    if kind is None:
        return {key: decode(part, allowed, depth - 1) for key, part in shape.items()}
    if kind in ("list", "set", "dict"):
        items = decode(shape.get("items"), allowed, depth - 1)
        try:
            return {"list": list, "set": set, "dict": dict}[kind](items)
        except (TypeError, ValueError):
            raise InvalidInput(f"this is no {kind}") from None
    if kind == "datetime":
        from datetime import datetime

        try:
            return datetime.fromisoformat(str(shape.get("text")))
        except ValueError:
            raise InvalidInput("this is no time") from None
    if kind == "Nugget":
        return NuggetName(str(shape.get("name")))
    return _decode_record(kind, shape, allowed, depth)


class NuggetName(str):
    """The name of a nugget that was answered; the client makes its view of it."""


def record_class(name: str) -> Any:
    """The class of a record that may be sent."""
    return getattr(import_module(RECORDS[name]), name)


def _decode_record(
    kind: Any, shape: dict[str, Any], allowed: frozenset[str] | None, depth: int
) -> Any:
    if not isinstance(kind, str) or kind not in RECORDS or (allowed and kind not in allowed):
        raise InvalidInput(f"no record {kind!r:.40} is taken here")
    record = record_class(kind)
    fields = {
        name: decode(part, allowed, depth - 1)
        for name, part in shape.items()
        if name in record._fields  # a newer server may send more
    }
    try:
        value = record(**fields)
    except TypeError:
        raise InvalidInput(f"a {kind} lacks fields") from None
    if kind == "WrittenNote":
        for field in _WRITTEN:
            setattr(value, field, decode(shape.get(f"+{field}"), allowed, depth - 1))
    return value


def dump(value: Any) -> bytes:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        errors="surrogatepass"
    )


def error_to_wire(problem: NuggetsError) -> dict[str, Any]:
    """An error in the shape that all errors have, with its class."""
    return {
        "error": {"code": problem.code, "message": str(problem), "type": type(problem).__name__}
    }
