"""Does what a server answered have the type that the shelf's method promises?

Anything may answer at an address. What comes in another type is refused here, before a front door
or the local copy relies on it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from nuggets.remote.wire_format import RECORDS, NuggetName, record_class

_WORDS = re.compile(r"\w+")
_NAMES = {"Sequence": Sequence, "Mapping": Mapping, "datetime": datetime, "Nugget": NuggetName}


def fits(value: Any, kind: Any) -> bool:
    """Whether the value is of this type, as it is written in an annotation."""
    if isinstance(kind, str):
        kind = _resolve(kind)
    if kind is Any:
        return True
    if kind is None:
        return value is None
    origin = get_origin(kind)
    if origin is not None:
        return _fits_generic(value, origin, get_args(kind))
    if kind is float or kind is int:
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return isinstance(value, kind) and all(
        fits(getattr(value, name), annotation) for name, annotation in _fields(kind)
    )


@cache
def _resolve(annotation: str) -> Any:
    """The type that a quoted annotation names; `Any` if only type checkers know it."""
    names = set(_WORDS.findall(annotation))
    records = {name: record_class(name) for name in names & RECORDS.keys()}
    try:
        return eval(annotation, {**_NAMES, **records})  # a text of our own source
    except NameError:
        return Any


def _fits_generic(value: Any, origin: Any, args: Sequence[Any]) -> bool:
    if origin is Literal:
        return isinstance(value, str)  # a newer server may know further words
    if origin in (Union, UnionType):
        return any(fits(value, None if part is type(None) else part) for part in args)
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, args[0]) and fits(part, args[1]) for key, part in value.items()
        )
    if origin is tuple and args[-1] is not ...:
        return (
            isinstance(value, tuple)
            and len(value) == len(args)
            and all(fits(part, arg) for part, arg in zip(value, args, strict=True))
        )
    wanted = (tuple, list) if issubclass(origin, Sequence) else origin
    return isinstance(value, wanted) and all(fits(part, args[0]) for part in value)


def _fields(kind: Any) -> list[tuple[str, Any]]:
    """The fields of a record and their types; none of any other class."""
    names = getattr(kind, "_fields", ())
    annotations = {
        name: annotation
        for parent in reversed(kind.__mro__)
        for name, annotation in vars(parent).get("__annotations__", {}).items()
    }
    return [(name, annotations.get(name, Any)) for name in names]
