"""What an operation of the REST interface is, and the small language that describes its data.

Schemas are plain OpenAPI 3.1 (JSON Schema) objects: what is checked is what is documented.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nuggets.graph.limits import CONTENT_BYTES, NAME_CHARACTERS
from nuggets.shelf import NuggetShelf

Schema = Mapping[str, Any]
Given = dict[str, Any]
"""What a caller gave, checked: parts of the path, the query and the body, by name."""

NOTHING: Mapping[str, Schema] = {}
REVISION = "Nuggets-Revision"  # a header: the step of the history that a request made

TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS}
CONTENT: Schema = {"type": "string", "maxLength": CONTENT_BYTES}


class Operation(NamedTuple):
    """One method of one path: what goes in, what comes out, and who does it."""

    method: str
    path: str
    name: str  # its operationId
    summary: str
    run: Callable[[NuggetShelf, Given], Any]
    answer: Schema
    query: Mapping[str, Schema] = NOTHING
    needed: Sequence[str] = ()  # of the query
    body: Schema | None = None
    status: int = 200
    path_part: Schema = NAME
    is_quiet: bool = False  # a look, or a count of one, though it is no GET

    @property
    def writes(self) -> bool:
        """Does it add a step to the history, unless there is nothing to change?"""
        return self.method != "GET" and not self.is_quiet


def whole(least: int, most: int, default: int | None = None) -> Schema:
    """A whole number between two bounds."""
    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return schema if default is None else {**schema, "default": default}


def choice(values: Sequence[str]) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema, most: int | None = None) -> Schema:
    """A list of such items."""
    schema: dict[str, Any] = {"type": "array", "items": items}
    return schema if most is None else {**schema, "maxItems": most}


def closed(properties: Mapping[str, Schema], needed: Sequence[str] = ()) -> Schema:
    """An object of exactly these properties: a misspelt one is refused, not ignored."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    return {**schema, "required": list(needed)} if needed else schema


def shape(properties: Mapping[str, Schema], *optional: str) -> Schema:
    """An object that we answer with: all there but the optional ones, and room for more."""
    needed = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": needed}


def named(component: str) -> Schema:
    """A shape that is described once, under this name."""
    return {"$ref": f"#/components/schemas/{component}"}


def or_null(schema: Schema) -> Schema:
    """Or nothing at all."""
    return {"anyOf": [schema, {"type": "null"}]}
