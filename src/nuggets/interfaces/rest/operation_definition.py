"""What an operation of the REST interface is, how its query string is read, and the OpenAPI
document that is made of the same table."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args

from nuggets import __version__
from nuggets.domain.limits import CALLED, CONTENT_BYTES, Limit, Name, Share, wrong_type
from nuggets.domain.records import (
    MemoryNote,
    MemorySource,
    NoteVectorSpec,
    NuggetStatus,
    RecallResult,
    ReflectionChange,
    ReflectionResult,
    SearchNotesResult,
)
from nuggets.domain.type_check import fields_of, read
from nuggets.errors import InvalidInput
from nuggets.interfaces.json_responses import BRIEF
from nuggets.interfaces.json_schemas import (
    Default,
    Parameters,
    Schema,
    array,
    nullable,
    record_schema,
    reference,
    schema_of,
    shape,
)
from nuggets.named_tuple import NamedTuple
from nuggets.shelf import NuggetShelf

Arguments = dict[str, Any]
"""What a caller sent, validated: parts of the path, the query and the body, by name."""

NOTHING: Mapping[str, Any] = {}
REVISION = "Nuggets-Revision"  # a header: the step of the history that a request made

Content = Annotated[str, Limit(0, CONTENT_BYTES)]
Count = Annotated[int, Limit(0, 2**53)]  # that every program which reads JSON counts exactly
Steps = Annotated[int, Limit(1, 200), Default(20)]  # of the history, in one answer


class Operation(NamedTuple):
    """One method of one path: parameters, response, and the function that runs it."""

    method: str
    path: str
    name: str  # its operationId
    summary: str
    run: Callable[[NuggetShelf, Arguments], Any]
    answer: Schema
    query: Mapping[str, Any] = NOTHING  # types by name
    required: Sequence[str] = ()  # of the query
    body: Parameters | None = None
    status: int = 200
    is_quiet: bool = False  # it adds no step to the history, though it is no GET

    @property
    def writes(self) -> bool:
        """Does it add a step to the history, unless there is nothing to change?"""
        return self.method != "GET" and not self.is_quiet


# --- a query string, read as what an operation takes -------------------------------------------


def validate_query(
    pairs: Iterable[tuple[str, str]], kinds: Mapping[str, Any], required: Iterable[str]
) -> Arguments:
    """The parameters of a query string by name, parsed by their type; defaults for the rest."""
    arguments: Arguments = {}
    for name, text in pairs:
        if name not in kinds:
            names = ", ".join(kinds) or "none"
            raise InvalidInput(f"there is no parameter {name!r:.80}; there are: {names}")
        if name in arguments:
            raise InvalidInput(f"{name} is given twice")
        arguments[name] = read(_parse(text, kinds[name], name), kinds[name], name)
    for name in required:
        if name not in arguments:
            raise InvalidInput(f"{name} is missing")
    defaults = {
        name: mark.value
        for name, kind in kinds.items()
        for mark in get_args(kind)[1:]
        if isinstance(mark, Default)
    }
    return {**defaults, **arguments}


def _parse(text: str, kind: Any, where: str) -> Any:
    plain = (get_args(kind) or (kind,))[0]
    if plain is bool and text in ("true", "false"):
        return text == "true"
    digits = text.removeprefix("-")
    if plain is int and digits.isascii() and digits.isdigit() and len(digits) < 20:
        return int(text)
    if plain in (bool, int):
        raise wrong_type(text, CALLED[plain], where)
    return text


# --- the OpenAPI document -------------------------------------------------------------------------


_PATH_PART = re.compile(r"{(\w+)}")
_ERRORS = {
    "400": "The request is invalid; the message says why",
    "401": "The token is missing or wrong",
    "403": "The request comes from a page of another origin",
    "404": "Not found",
    "405": "The path has no such method",
    "409": "It would overwrite a newer change, or the name is ambiguous",
    "413": "The body is too large",
    "415": "A body is application/json",
    "421": "The Host header names another server",
    "503": "The store is not available at the moment",
}

_OWN_STEP = {
    "description": "The step of the history that this request made; none if nothing changed",
    "schema": {"type": "integer", "minimum": 1},
}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Every operation with its parameters and responses."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nuggets",
            "description": "Facts and linked notes of one shelf. GET never changes anything; "
            "changes are announced at /api/events as server-sent events.",
            "version": __version__,
        },
        "paths": paths,
        "components": {"schemas": dict(COMPONENTS)},
    }


def _describe(operation: Operation) -> dict[str, Any]:
    answers: dict[str, Any] = {
        status: {"description": meaning, "content": _json(reference("Error"))}
        for status, meaning in _ERRORS.items()
    }
    answers[str(operation.status)] = {
        "description": "Done" if operation.method != "GET" else "Found",
        "content": _json(operation.answer),
    }
    if operation.writes:
        answers[str(operation.status)]["headers"] = {REVISION: _OWN_STEP}
    description: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": schema_of(Name)}
                for name in _PATH_PART.findall(operation.path)
            ),
            *(
                {
                    "name": name,
                    "in": "query",
                    "required": name in operation.required,
                    "schema": schema_of(kind),
                }
                for name, kind in operation.query.items()
            ),
        ],
        "responses": answers,
    }
    if operation.body is not None:
        description["requestBody"] = {"required": True, "content": _json(operation.body.schema)}
    return description


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


# --- what it answers with: records, and what goes with them ------------------------------------


_CAVEATS = {"caveats": array(str)}


def _more(schema: Schema, optional: Mapping[str, Schema], **required: object) -> Schema:
    """The schema of an object that has more."""
    known = schema["properties"]
    left_out = known.keys() - set(schema["required"])
    return shape({**known, **required, **optional}, *left_out, *optional)


_NOTE = _more(record_schema(MemoryNote, vector=NoteVectorSpec, confidence=Share), _CAVEATS)
_PROPERTIES = _NOTE["properties"]
_WRITTEN = _more(_NOTE, {"contradicts": array(reference("Brief"))})
_STEP = {"revision": Count, "at": str, "action": str, "client": str}
_CHANGE = {
    "id": str,
    "before": nullable(reference("Note")),
    "after": nullable(reference("Note")),
}
_NODE = ("id", "title", "kind", "type", "tags", "hits", "hidden", "scope", "project", "updatedAt")
_ALSO = {
    "note": reference("Brief"),
    "also": array(reference("Brief")),
    "notes": array(reference("SearchResult")),
    **_CAVEATS,
}

COMPONENTS: Mapping[str, Schema] = {
    "Note": _NOTE,
    "Written": _WRITTEN,
    "Brief": shape({name: _PROPERTIES[name] for name in BRIEF}),
    "Fact": _more(_NOTE, {}, key=str, value=str, last_hit_session=str),
    "Remembered": _more(_WRITTEN, {"before": shape({"content": str})}),
    "Node": shape(
        {
            **{name: _PROPERTIES[name] for name in _NODE},
            "nugget": str,
            "links": array(array(str)),
        }
    ),
    "Status": shape({name: field.kind for name, field in fields_of(NuggetStatus).items()}),
    "Recall": _more(record_schema(RecallResult), _ALSO),
    "SearchResult": _more(
        record_schema(SearchNotesResult, note=reference("Note")),
        {"why": {"type": "object"}, **_CAVEATS},
        foreign=bool,
    ),
    "Version": shape(
        {
            "title": str,
            "value": str,
            "validFrom": str,
            "validUntil": nullable(str),
            "noteId": str,
            "source": MemorySource,
        }
    ),
    "Commit": shape(
        {
            **_STEP,
            "notes": array(shape(_CHANGE)),
            "noteCount": Count,
            "nuggets": array(str),
            "removedNuggets": array(str),
        }
    ),
    "Reflection": record_schema(ReflectionResult, changes=array(ReflectionChange)),
    "Activity": shape(
        {
            "revision": Count,
            "steps": array(shape({**_STEP, "notes": Count})),
            "recalls": array(shape({"at": str, "session": str, "noteId": str})),
        }
    ),
    "Error": shape({"error": shape({"code": str, "message": str})}),
}
