"""JSON Schema of types, so that what a door documents is what `domain/type_check.py` checks.

`Annotated` may add a `Limit` and a description in words.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from nuggets.domain.codec import json_fields
from nuggets.domain.limits import Limit, Name
from nuggets.domain.records import SPARSE, OptionalText
from nuggets.domain.type_check import fields_of, read, unknown_names
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

Schema = Mapping[str, Any]
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Default(NamedTuple):
    """What a parameter is if it is not given."""

    value: Any


class Parameters(NamedTuple):
    """What someone may send, by name: a misspelt one is refused, not ignored."""

    kinds: Mapping[str, Any]
    required: Sequence[str] = ()

    @property
    def schema(self) -> Schema:
        optional = self.kinds.keys() - set(self.required)
        return {**shape(self.kinds, *optional), "additionalProperties": False}

    def read(self, values: Any, where: str) -> dict[str, Any]:
        """The values as what they must be; `InvalidInput` says what is wrong."""
        given = read(values, dict[str, Any], where)
        unknown = given.keys() - self.kinds.keys()
        if unknown:
            raise unknown_names(unknown, self.kinds, where)
        for name in self.required:
            if name not in given:
                raise InvalidInput(f"{where}: {name} is missing")
        return {name: read(value, self.kinds[name], name) for name, value in given.items()}


def parameters_of(
    function: Callable[..., Any], without: Sequence[str] = (), *, tell_defaults: bool = False
) -> Parameters:
    """What a function takes beside its first argument and those that come another way. Fields of a
    record, none of which is required, are `**name: Annotated[Any, Record]`."""
    kinds: dict[str, Any] = {}
    required = []
    for name, parameter in [*signature(function).parameters.items()][1:]:
        if parameter.kind is Parameter.VAR_KEYWORD:
            kinds |= given_kinds(get_args(parameter.annotation)[1])
        elif name not in without:
            kinds[name] = _without_null(parameter.annotation)
            if parameter.default is Parameter.empty:
                required.append(name)
            elif parameter.default and tell_defaults:
                kinds[name] = Annotated[kinds[name], Default(parameter.default)]
    return Parameters(kinds, required)


def schema_of(kind: Any) -> Schema:
    """The schema of a type; a schema stands for itself."""
    if isinstance(kind, Mapping):
        return kind
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**schema_of(args[0]), **_marks(args[0], args[1:])}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin in (Union, UnionType):
        others = [schema_of(arg) for arg in args if arg is not NoneType]
        null = [{"type": "null"}] if NoneType in args else []
        return {"anyOf": [*others, *null]}
    if origin is not None:
        is_object = issubclass(origin, Mapping)
        return {"type": "object"} if is_object else array(args[0])
    return record_schema(kind) if hasattr(kind, "_fields") else {"type": _NAMES[kind]}


def _marks(kind: Any, marks: Sequence[Any]) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for mark in marks:
        if isinstance(mark, Limit):
            described |= _bounds(kind, mark)
        elif isinstance(mark, Default):
            described["default"] = mark.value
        elif mark != SPARSE:
            described["description"] = mark
    return described


def _bounds(kind: Any, limit: Limit) -> dict[str, Any]:
    if kind in (int, float):
        return {"minimum": limit.least, "maximum": limit.most}
    least, most = ("minLength", "maxLength") if kind is str else ("minItems", "maxItems")
    return {**({least: limit.least} if limit.least else {}), most: limit.most}


def record_schema(record: Any, **others: Any) -> Schema:
    """The documented JSON of a record; `others`: properties of other types than its fields, or
    beside them."""
    fields = json_fields(record)
    kinds = {field.json_name: fields_of(record)[field.name].kind for field in fields}
    optional = [field.json_name for field in fields if field.is_sparse]
    kinds |= {name: str for name in optional if kinds[name] == OptionalText}  # never null
    return shape({**kinds, **others}, *optional)


def given_kinds(record: Any) -> dict[str, Any]:
    """The types of a record's fields, of which each may be given or not; a text is a name."""
    given = {name: _without_null(field.kind) for name, field in fields_of(record).items()}
    return {name: Name if kind is str else kind for name, kind in given.items()}


def _without_null(kind: Any) -> Any:
    """The type without null, which stands for what is not given."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    others = [arg for arg in get_args(kind) if arg is not NoneType]
    return others[0] if len(others) == 1 else kind


def shape(properties: Mapping[str, Any], *optional: str) -> Schema:
    """An object: all properties but the optional ones are there."""
    required = [name for name in properties if name not in optional]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema_of(kind) for name, kind in properties.items()},
    }
    return {**schema, "required": required} if required else schema


def some_of(properties: Mapping[str, Any]) -> Schema:
    """An object with any of these properties."""
    return shape(properties, *properties)


def array(items: Any) -> Schema:
    """A list of items of this type."""
    return {"type": "array", "items": schema_of(items)}


def reference(component: str) -> Schema:
    """A schema of the REST interface, by its name."""
    return {"$ref": f"#/components/schemas/{component}"}
