"""What a tool may be called with: small JSON schemas, and the check that a model can learn from."""

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


def told(schema: Schema, description: str) -> Schema:
    """The schema with a word on what belongs there."""
    return {**schema, "description": description}


def one_of(choices: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(choices)}


def object_schema(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    shape: Schema = {"type": "object", "properties": dict(properties)}
    if required:
        shape["required"] = list(required)
    return shape


def checked(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The arguments that were given, each of its type. A null counts as not given."""
    properties: Mapping[str, Schema] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    unknown = given.keys() - properties.keys()
    if unknown:
        raise InvalidInput(
            f"there is no argument {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(properties) or 'none'}"
        )
    missing = [name for name in schema.get("required", ()) if name not in given]
    if missing:
        raise InvalidInput(f"say {' and '.join(missing)} as well")
    for name, value in given.items():
        _check(name, value, properties[name])
    return given


def _check(name: str, value: Any, schema: Schema) -> None:
    kinds, called = _KINDS[schema["type"]]
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if fits and isinstance(value, list):
        fits = all(isinstance(item, str) for item in value)
    if not fits:
        raise InvalidInput(f"{name} is {called}, not {value!r:.60}")
    choices = schema.get("enum")
    if choices and value not in choices:
        raise InvalidInput(f"{name} is one of {', '.join(choices)}; not {value!r:.60}")
