"""The OpenAPI document, made from the same table that serves the requests."""

import re
from collections.abc import Sequence
from typing import Any

from nuggets import __version__
from nuggets.domain.limits import Name
from nuggets.interfaces.json_schemas import Schema, reference, schema_of
from nuggets.interfaces.rest.operation_definition import REVISION, Operation
from nuggets.interfaces.rest.response_schemas import COMPONENTS

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
