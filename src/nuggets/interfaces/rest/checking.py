"""Does what a caller sent fit what the operation asks for? Knows schemas, no HTTP."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.interfaces.rest.operation import Given, Schema


def checked_query(
    pairs: Iterable[tuple[str, str]], schemas: Mapping[str, Schema], needed: Iterable[str]
) -> Given:
    """The parameters of a query, each at most once, read as their type, else by default."""
    given: Given = {}
    for name, text in pairs:
        if name not in schemas:
            there = ", ".join(schemas) or "none"
            raise InvalidInput(f"there is no parameter {name!r:.80}; there are: {there}")
        if name in given:
            raise InvalidInput(f"{name} is given twice")
        given[name] = checked(_read(text, schemas[name], name), schemas[name], name)
    missing = [name for name in needed if name not in given]
    if missing:
        raise InvalidInput(f"{missing[0]} is missing")
    defaults = {name: one["default"] for name, one in schemas.items() if "default" in one}
    return {**defaults, **given}


def checked(value: Any, schema: Schema, where: str) -> Any:
    """The value itself, or `InvalidInput` saying what is wrong with it."""
    _CHECKS[schema["type"]](value, schema, where)
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        raise InvalidInput(f"{where} is one of {', '.join(allowed)}; not {value!r:.80}")
    return value


def _read(text: str, schema: Schema, where: str) -> Any:
    if schema["type"] == "boolean":
        if text not in ("true", "false"):
            raise InvalidInput(f"{where} is true or false; not {text!r:.80}")
        return text == "true"
    if schema["type"] == "integer":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise InvalidInput(f"{where} is a whole number; not {text!r:.80}")
        return int(text)
    return text


def _object(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} is an object")
    properties = schema["properties"]
    for name, part in value.items():
        if name not in properties:
            raise InvalidInput(f"{where} has no {name!r:.80}; there are: {', '.join(properties)}")
        checked(part, properties[name], name)
    for name in schema.get("required", ()):
        if name not in value:
            raise InvalidInput(f"{name} is missing")


def _array(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, list):
        raise InvalidInput(f"{where} is a list")
    if len(value) > schema.get("maxItems", math.inf):
        raise InvalidInput(f"{where} has at most {schema['maxItems']} items")
    for item in value:
        checked(item, schema["items"], f"each of {where}")


def _string(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is a text")
    if len(value) < schema.get("minLength", 0):
        raise InvalidInput(f"{where} must not be empty")
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidInput(f"{where} holds half a character (a lone surrogate)")
    if len(value) > schema.get("maxLength", math.inf):
        raise InvalidInput(f"{where} has at most {schema['maxLength']} characters")


def _integer(value: Any, schema: Schema, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{where} is a whole number")
    _bounds(value, schema, where)


def _number(value: Any, schema: Schema, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} is a number")
    _bounds(value, schema, where)


def _bounds(value: float, schema: Schema, where: str) -> None:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not least <= value <= most:
        raise InvalidInput(f"{where} lies between {least} and {most}")


def _boolean(value: Any, schema: Schema, where: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where} is true or false")


_CHECKS = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}
