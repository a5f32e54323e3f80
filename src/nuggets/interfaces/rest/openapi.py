"""The OpenAPI document, made from the same table that serves the requests."""

import re
from collections.abc import Sequence
from typing import Any

from nuggets.interfaces.rest.operation import REVISION, Operation, Schema, named
from nuggets.interfaces.rest.shapes import COMPONENTS
from nuggets.interfaces.words import version

_PATH_PART = re.compile(r"{(\w+)}")
_ERRORS = {
    "400": "What was asked makes no sense; the message says why",
    "401": "The token is missing or wrong",
    "403": "Asked by a page of another origin",
    "404": "There is no such thing",
    "405": "This cannot be done with it",
    "409": "It would overwrite what someone else has, or the name means several notes",
    "413": "More than a memory can hold",
    "415": "A body is application/json",
    "421": "Asked under a name that is not ours",
    "503": "The store cannot be used at the moment",
}

_OWN_STEP = {
    "description": "The step of the history that this request made; none if nothing changed",
    "schema": {"type": "integer", "minimum": 1},
}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """All of them, with what goes in and what comes out."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nuggets",
            "description": "Facts and linked notes of one shelf. GET never changes anything; "
            "changes are told at /api/events as server-sent events.",
            "version": version(),
        },
        "paths": paths,
        "components": {"schemas": dict(COMPONENTS)},
    }


def _described(operation: Operation) -> dict[str, Any]:
    answers: dict[str, Any] = {
        status: {"description": meaning, "content": _json(named("Error"))}
        for status, meaning in _ERRORS.items()
    }
    answers[str(operation.status)] = {
        "description": "Done" if operation.method != "GET" else "Found",
        "content": _json(operation.answer),
    }
    if operation.writes:
        answers[str(operation.status)]["headers"] = {REVISION: _OWN_STEP}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": operation.path_part}
                for name in _PATH_PART.findall(operation.path)
            ),
            *(
                {
                    "name": name,
                    "in": "query",
                    "required": name in operation.needed,
                    "schema": schema,
                }
                for name, schema in operation.query.items()
            ),
        ],
        "responses": answers,
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _json(operation.body)}
    return described


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
