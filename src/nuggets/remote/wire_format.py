"""Arguments, results and errors of a shelf as JSON between a client and a server.

A record is an object of the fields that differ from their defaults; tuples, lists and sets are
arrays; a time is a text. What it was is said by the type of the parameter or of the result, so
nothing else is ever made of a message: `domain/type_check.py` reads it.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Unpack

from nuggets import errors
from nuggets.domain.type_check import FROM_SERVER, STRICT, fields_of, read
from nuggets.errors import InvalidInput, NuggetsError

_MODULES = {  # of the types that annotations name in quotes, so that they are imported when needed
    "Explanation": "nuggets.search.explanation",
    "Finding": "nuggets.maintenance.audit",
    "Iterable": "collections.abc",
    "Mapping": "collections.abc",
    "MeaningStatus": "nuggets.maintenance.meaning_update",
    "MemoryVersion": "nuggets.domain.records",
    "NoteFilters": "nuggets.domain.typed_kwargs",
    "NoteMeta": "nuggets.domain.typed_kwargs",
    "NuggetOptions": "nuggets.domain.typed_kwargs",
    "NuggetShelf": "nuggets.shelf",
    "Purged": "nuggets.maintenance.purge",
    "Sequence": "collections.abc",
    "SessionRecord": "nuggets.operations.session_notes",
    "datetime": "datetime",
}
ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, NuggetsError)
}


class NuggetName(str):
    """The name of a nugget that was answered; the client makes its view of it."""


class _Names(dict[str, Any]):
    """What a name in an annotation stands for."""

    def __missing__(self, name: str) -> Any:
        return getattr(import_module(_MODULES[name]), name)


_NAMES = _Names(Any=Any, Nugget=NuggetName, Unpack=Unpack, str=str)


def encode(value: Any) -> Any:
    """A value as what JSON can say."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "_fields"):
        defaults = value._field_defaults
        record: Any = type(value)
        parts = ((name, getattr(value, name)) for name in fields_of(record))
        return {
            name: encode(part)
            for name, part in parts
            if name not in defaults or part != defaults[name]
        }
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    if type(value).__name__ == "datetime":
        return value.isoformat()
    if type(value).__name__ == "Nugget":
        return value.name
    if isinstance(value, Iterable):
        return [encode(part) for part in value]
    raise InvalidInput(f"a server cannot be given {type(value).__name__}: {value!r:.80}")


def decode(shape: Any, kind: Any, where: str) -> Any:
    """What a client sent, as a value of this type; `InvalidInput` says what is wrong where."""
    return read(shape, _type_of(kind), where, STRICT)


def decode_answer(shape: Any, kind: Any, where: str) -> Any:
    """The same of what a server answered, which may know more fields and words."""
    return read(shape, _type_of(kind), where, FROM_SERVER)


def _type_of(kind: Any) -> Any:
    return _resolve(kind) if isinstance(kind, str) else kind


@cache
def _resolve(annotation: str) -> Any:
    """The type that an annotation in quotes names."""
    return eval(annotation, {}, _NAMES)  # a text of our own source


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
