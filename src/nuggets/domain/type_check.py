"""The one type checker: each value that comes from outside is read against a type.

A type is an annotation: of a field of a record, of a parameter of a shelf's method, or of an
argument of a request. So a record says once what its fields are. `Annotated` adds bounds (`Limit`).
Loaded only where something comes from outside.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    Unpack,
    get_args,
    get_origin,
    is_typeddict,
)

from nuggets.domain.codec import json_name
from nuggets.domain.limits import CALLED, Limit, check_most, whole_text, wrong_type
from nuggets.domain.records import (
    GraphNoteMetaInput,
    MemoryScope,
    MemorySource,
    MemoryStability,
    MemoryType,
    NoteKind,
    NoteMetadata,
)
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

_WHOLE = Limit(-(2**63), 2**63 - 1)  # what a database can hold
_NUMBER = Limit(-(2.0**1000), 2.0**1000)  # finite, and an int may be larger than any float


class Field(NamedTuple):
    """A field of a record, as its annotation defines it."""

    name: str
    kind: Any  # its type
    is_required: bool


class Strictness(NamedTuple):
    """How to take what the definition does not know."""

    refuses_unknown: bool = True  # fields; else they are passed over
    refuses_words: bool = True  # other than the listed ones; else any text will do
    has_limits: bool = True
    is_documented: bool = False  # the names are those of the documented JSON, and null is missing


STRICT = Strictness()
FROM_SERVER = Strictness(False, False, has_limits=False)  # a newer one may know and allow more
DOCUMENTED = Strictness(False, is_documented=True)  # fields that others added are theirs


def read(value: Any, kind: Any, where: str, how: Strictness = STRICT) -> Any:
    """The value as what the type says: a list as a tuple, an object as a record, a text as a time.

    Raises `InvalidInput`, which says where, what is expected there and what it is.
    """
    if kind is Any:
        return value
    if kind is None:
        kind = NoneType
    origin = get_origin(kind)
    if origin is not None:
        return _read_generic(value, kind, origin, where, how)
    if kind is str:
        return whole_text(value, where)
    if kind is int or kind is float:
        return _read_number(value, kind, where)
    if kind is datetime:
        return _read_time(value, where)
    if hasattr(kind, "_fields"):
        return _read_record(value, kind, where, how)
    if is_typeddict(kind):
        return _read_fields(value, kind, where, how)
    if isinstance(value, kind):
        return value
    if issubclass(kind, str):
        return kind(whole_text(value, where))
    raise wrong(value, kind, where)


def wrong(value: Any, kind: Any, where: str) -> InvalidInput:
    """The error for a value of another type."""
    return wrong_type(value, call(kind), where)


def call(kind: Any) -> str:
    """A type in words."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return call(args[0])
    if origin is Literal:
        return f"one of {', '.join(args)}"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(call, args)))
    if origin is not None:
        return "an object" if issubclass(origin, Mapping) else "a list"
    if kind is datetime:
        return "a time, such as 2026-01-31T09:00:00Z"
    name: str = getattr(kind, "__name__", "null")
    return CALLED.get(kind) or ("an object" if hasattr(kind, "_fields") else f"a {name}")


def check_fields(values: Mapping[str, Any], record: Any) -> None:
    """Refuse values, by name, that the fields of a record cannot have."""
    for name, field in fields_of(record).items():
        if name in values:
            read(values[name], field.kind, name)


def _read_number(value: Any, kind: Any, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        raise wrong(value, kind, where)
    bounds = _WHOLE if kind is int else _NUMBER
    _check_limit(value, bounds, where)
    return value


def _read_time(value: Any, where: str) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(whole_text(value, where))
    except ValueError:
        raise wrong(value, datetime, where) from None


def _read_generic(value: Any, kind: Any, origin: Any, where: str, how: Strictness) -> Any:
    args = get_args(kind)
    if origin is Annotated:
        value = read(value, args[0], where, how)
        for limit in args[1:] if value is not None else ():
            if isinstance(limit, Limit) and how.has_limits:
                _check_limit(value, limit, where)
        return value
    if origin is Unpack:
        return read(value, args[0], where, how)
    if origin is Literal:
        is_word = isinstance(value, str) and (value in args or not how.refuses_words)
        if not is_word:
            raise wrong(value, kind, where)
        return value
    if origin in (Union, UnionType):
        return _read_one_of(value, kind, args, where, how)
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise wrong(value, kind, where)
        keys = [read(key, args[0], f"a name in {where}", how) for key in value]
        parts = [read(part, args[1], f"{where}: {key}", how) for key, part in value.items()]
        return dict(zip(keys, parts, strict=True))
    if issubclass(origin, Iterable):
        return _read_list(value, kind, origin, args, where, how)
    if isinstance(value, origin):  # such as a path
        return value
    raise wrong(value, kind, where)


def _read_list(
    value: Any, kind: Any, origin: Any, args: Sequence[Any], where: str, how: Strictness
) -> Any:
    if not isinstance(value, list | tuple | Set):
        raise wrong(value, kind, where)
    if origin is tuple and args[-1] is not ...:
        if len(value) != len(args):
            raise InvalidInput(f"{where} must have {len(args)} items; this has {len(value)}")
        return tuple(
            read(part, arg, f"item {number} of {where}", how)
            for number, (part, arg) in enumerate(zip(value, args, strict=True), 1)
        )
    parts = (read(part, args[0], f"each of {where}", how) for part in value)
    return set(parts) if issubclass(origin, Set) else tuple(parts)


def _read_one_of(value: Any, kind: Any, args: Sequence[Any], where: str, how: Strictness) -> Any:
    """The value as the first type that takes it; of a type or null, what is wrong is told."""
    if value is None and NoneType in args:
        return None
    others = [arg for arg in args if arg is not NoneType]
    if len(others) == 1:
        return read(value, others[0], where, how)
    for arg in others:
        try:
            return read(value, arg, where, how)
        except InvalidInput:
            continue
    raise wrong(value, kind, where)


def _read_record(value: Any, kind: Any, where: str, how: Strictness) -> Any:
    if isinstance(value, kind):
        return value
    given = _read_fields(value, kind, where, how)
    beside = {name: given.pop(name) for name in given.keys() - set(kind._fields)}
    record = kind(**given)
    for name, part in beside.items():
        setattr(record, name, part)
    return record


def _read_fields(value: Any, kind: Any, where: str, how: Strictness) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(value, kind, where)
    fields = fields_of(kind)
    if how.is_documented:
        fields = {json_name(name): field for name, field in fields.items()}
        value = {name: part for name, part in value.items() if part is not None}
    unknown = value.keys() - fields.keys()
    if unknown and how.refuses_unknown:
        raise unknown_names(unknown, fields, where)
    given = {}
    for name, field in fields.items():
        if name in value:
            given[field.name] = read(value[name], field.kind, f"{where}: {name}", how)
        elif field.is_required:
            raise InvalidInput(f"{where}: {name} is missing")
    return given


def unknown_names(unknown: Set[Any], known: Mapping[str, Any], where: str) -> InvalidInput:
    """The error for names that nothing has."""
    names = ", ".join(sorted(f"{name!s:.80}" for name in unknown))
    return InvalidInput(f"{where} has no {names}; there are: {', '.join(known) or 'none'}")


@cache
def fields_of(record: Any) -> Mapping[str, Field]:
    """The fields of a record by name, and the attributes that its class lists beside them; or the
    keys of a `TypedDict`, none of which is required."""
    annotations: dict[str, Any] = {}
    for parent in reversed(record.__mro__):
        annotations |= getattr(parent, "__annotations__", {})
    required = {*getattr(record, "_fields", ())} - {*getattr(record, "_field_defaults", ())}
    return {
        name: Field(name, resolve(kind, record), name in required)
        for name, kind in annotations.items()
    }


def resolve(kind: Any, record: Any) -> Any:
    """The type that an annotation in quotes names, in the module of the record."""
    import sys

    return eval(kind, vars(sys.modules[record.__module__])) if isinstance(kind, str) else kind


def _check_limit(value: Any, limit: Limit, where: str) -> None:
    if isinstance(value, int | float):
        if not limit.least <= value <= limit.most:
            raise InvalidInput(
                f"{where} must be from {limit.least:.16g} to {limit.most:.16g}; not {value!r:.80}"
            )
        return
    if len(value) < limit.least:
        raise InvalidInput(f"{where} must not be empty")
    check_most(len(value), int(limit.most), where, limit.unit)
    if limit.pattern and not re.fullmatch(limit.pattern, value, re.DOTALL):
        raise InvalidInput(f"{where} must be {limit.meaning}; not {value!r:.80}")


# --- keyword arguments of the public API ------------------------------------------------------

# The fields of three records, all optional, for editors and type checkers, which cannot derive
# them. A test compares them with the records.


class NoteMeta(TypedDict, total=False):
    """As in `GraphNoteMetaInput`, or one of these as `meta`."""

    meta: GraphNoteMetaInput | NoteMetadata | Mapping[str, Any] | None
    subject: str | None
    scope: MemoryScope | None
    type: MemoryType | None
    source: MemorySource | None
    confidence: float | None
    stability: MemoryStability | None
    project: str | None
    valid_from: str | None
    valid_until: str | None
    supersedes: str | None


class NoteFilters(TypedDict, total=False):
    """As in `NoteFilterOptions`."""

    include_hidden: bool
    subject: str | None
    scope: MemoryScope | None
    type: MemoryType | None
    nugget: str | None
    tag: str | None
    kind: NoteKind | None


class NuggetOptions(TypedDict, total=False):
    """As in `NuggetConfig`, and as `Nugget` takes them."""

    dims: int
    banks: int
    ensembles: int
    max_facts: int
    sharpen_p: float
    corvacs_a: float
    temperature: float
    ortho_iters: int
    fuzzy_threshold: float
