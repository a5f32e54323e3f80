"""JSON schemas of tool arguments, and their check, with errors that a model can act on."""

from collections.abc import Mapping
from typing import Any

from nuggets.errors import InvalidInput

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}

_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list of texts"),
}


def describe(schema: Schema, description: str) -> Schema:
    """The schema with a description."""
    return {**schema, "description": description}


def one_of(choices: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(choices)}


def object_schema(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    shape: Schema = {"type": "object", "properties": dict(properties)}
    if required:
        shape["required"] = list(required)
    return shape


def check_arguments(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The arguments without nulls, checked against the schema."""
    properties: Mapping[str, Schema] = schema["properties"]
    values = {name: value for name, value in arguments.items() if value is not None}
    unknown = values.keys() - properties.keys()
    if unknown:
        raise InvalidInput(
            f"there is no argument {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(properties) or 'none'}"
        )
    missing = [name for name in schema.get("required", ()) if name not in values]
    if missing:
        raise InvalidInput(f"missing argument: {', '.join(missing)}")
    for name, value in values.items():
        _check(name, value, properties[name])
    return values


def _check(name: str, value: Any, schema: Schema) -> None:
    kinds, called = _KINDS[schema["type"]]
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if fits and isinstance(value, list):
        fits = all(isinstance(item, str) for item in value)
    if not fits:
        raise InvalidInput(f"{name} must be {called}, not {value!r:.60}")
    choices = schema.get("enum")
    if choices and value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(choices)}; not {value!r:.60}")
