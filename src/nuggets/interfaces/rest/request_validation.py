"""Validates what a caller sent against the schema of the operation. Knows no HTTP."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.interfaces.rest.operation_definition import Arguments, Schema


def validate_query(
    pairs: Iterable[tuple[str, str]], schemas: Mapping[str, Schema], required: Iterable[str]
) -> Arguments:
    """The parameters of a query string by name, parsed by their type; defaults for the rest."""
    arguments: Arguments = {}
    for name, text in pairs:
        if name not in schemas:
            names = ", ".join(schemas) or "none"
            raise InvalidInput(f"there is no parameter {name!r:.80}; there are: {names}")
        if name in arguments:
            raise InvalidInput(f"{name} is given twice")
        arguments[name] = validate(_read(text, schemas[name], name), schemas[name], name)
    missing = [name for name in required if name not in arguments]
    if missing:
        raise InvalidInput(f"{missing[0]} is missing")
    defaults = {name: schema["default"] for name, schema in schemas.items() if "default" in schema}
    return {**defaults, **arguments}


def validate(value: Any, schema: Schema, where: str) -> Any:
    """The value itself, or `InvalidInput` saying what is wrong with it."""
    _CHECKS[schema["type"]](value, schema, where)
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        raise InvalidInput(f"{where} must be one of {', '.join(allowed)}; not {value!r:.80}")
    return value


def _read(text: str, schema: Schema, where: str) -> Any:
    if schema["type"] == "boolean":
        if text not in ("true", "false"):
            raise InvalidInput(f"{where} must be true or false, not {text!r:.80}")
        return text == "true"
    if schema["type"] == "integer":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise InvalidInput(f"{where} must be a whole number, not {text!r:.80}")
        return int(text)
    return text


def _object(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} must be an object")
    properties = schema["properties"]
    for name, part in value.items():
        if name not in properties:
            raise InvalidInput(f"{where} has no {name!r:.80}; there are: {', '.join(properties)}")
        validate(part, properties[name], name)
    for name in schema.get("required", ()):
        if name not in value:
            raise InvalidInput(f"{name} is missing")


def _array(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list")
    if len(value) > schema.get("maxItems", math.inf):
        raise InvalidInput(f"{where} has at most {schema['maxItems']} items")
    for item in value:
        validate(item, schema["items"], f"each of {where}")


def _string(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} must be a text")
    if len(value) < schema.get("minLength", 0):
        raise InvalidInput(f"{where} must not be empty")
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidInput(f"{where} holds half a character (a lone surrogate)")
    if len(value) > schema.get("maxLength", math.inf):
        raise InvalidInput(f"{where} has at most {schema['maxLength']} characters")


def _integer(value: Any, schema: Schema, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{where} must be a whole number")
    _bounds(value, schema, where)


def _number(value: Any, schema: Schema, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} must be a number")
    _bounds(value, schema, where)


def _bounds(value: float, schema: Schema, where: str) -> None:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not least <= value <= most:
        raise InvalidInput(f"{where} must be between {least} and {most}")


def _boolean(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where} must be true or false")


_CHECKS = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}
