"""What an operation of the REST interface is, and the small language that describes its data.

Schemas are plain OpenAPI 3.1 (JSON Schema) objects: what is checked is what is documented.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nuggets.domain.limits import CONTENT_BYTES, NAME_CHARACTERS
from nuggets.named_tuple import NamedTuple
from nuggets.shelf import NuggetShelf

Schema = Mapping[str, Any]
Arguments = dict[str, Any]
"""What a caller sent, validated: parts of the path, the query and the body, by name."""

NOTHING: Mapping[str, Schema] = {}
REVISION = "Nuggets-Revision"  # a header: the step of the history that a request made

TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS}
CONTENT: Schema = {"type": "string", "maxLength": CONTENT_BYTES}


class Operation(NamedTuple):
    """One method of one path: parameters, response, and the function that runs it."""

    method: str
    path: str
    name: str  # its operationId
    summary: str
    run: Callable[[NuggetShelf, Arguments], Any]
    answer: Schema
    query: Mapping[str, Schema] = NOTHING
    required: Sequence[str] = ()  # of the query
    body: Schema | None = None
    status: int = 200
    path_part: Schema = NAME
    is_quiet: bool = False  # it adds no step to the history, though it is no GET

    @property
    def writes(self) -> bool:
        """Does it add a step to the history, unless there is nothing to change?"""
        return self.method != "GET" and not self.is_quiet


def integer(least: int, most: int, default: int | None = None) -> Schema:
    """A whole number between two bounds."""
    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return schema if default is None else {**schema, "default": default}


def choice(values: Sequence[str]) -> Schema:
    """One of these values."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema, most: int | None = None) -> Schema:
    """A list of items of this schema."""
    schema: dict[str, Any] = {"type": "array", "items": items}
    return schema if most is None else {**schema, "maxItems": most}


def strict_object(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """An object of exactly these properties: a misspelt one is refused, not ignored."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    return {**schema, "required": list(required)} if required else schema


def shape(properties: Mapping[str, Schema], *optional: str) -> Schema:
    """An object of an answer: all properties but the optional ones are present."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


def reference(component: str) -> Schema:
    """A schema of COMPONENTS, by its name."""
    return {"$ref": f"#/components/schemas/{component}"}


def nullable(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}
