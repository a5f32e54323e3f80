"""The API against its own description: what it promises, and what it does with anything else."""

from contextlib import suppress
from functools import cache
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from nuggets import NuggetShelf
from nuggets.interfaces.rest import OPERATIONS, application
from nuggets.interfaces.rest.operation_definition import Operation, document
from web_serving import HOST, client

load_all_checks()
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 6  # per operation and mode: some three hundred requests in all


@cache
def schema() -> BaseSchema:
    """Of a shelf with something on it, so that some requests find what they ask for."""
    shelf = NuggetShelf("memory:", project="")
    note = shelf.create_note("project", "a", "Some *content*", ["tag"])
    shelf.add_link(note.id, shelf.create_note("project", "b", "other").id, "why")
    shelf.remember("project", "0", "value")
    app = application(shelf, is_ours=lambda host: host == HOST)
    return schemathesis.openapi.from_asgi("/api/openapi.json", app, headers={"Host": HOST})


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_whatever_is_sent_the_answer_is_one_that_is_described(
    operation: Operation, mode: GenerationMode
) -> None:
    described = schema()[operation.path][operation.method]

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=described.as_strategy(generation_mode=mode))
    def whatever(case: "schemathesis.Case[Any]") -> None:
        case.call_and_validate(checks=CHECKS, headers={"Host": HOST})

    with suppress(Unsatisfiable):  # nothing can be wrong with a request that has no parts
        whatever()


def test_every_route_of_the_api_is_described(shelf: NuggetShelf) -> None:
    with client(shelf) as web:
        described = web.get("/api/openapi.json").json()

    told = {
        (method.upper(), path) for path, methods in described["paths"].items() for method in methods
    }
    assert told == {(operation.method, operation.path) for operation in OPERATIONS}
    names = [operation.name for operation in OPERATIONS]
    assert len(names) == len(set(names))


def test_every_reference_in_the_document_leads_somewhere() -> None:
    found = document(OPERATIONS)
    names = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}

    assert set(_references(found)) <= names


def _references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [ref for part in value.values() for ref in _references(part)]
    if isinstance(value, list):
        return [ref for part in value for ref in _references(part)]
    return []


def test_what_a_recall_says_is_described_by_its_parts(shelf: NuggetShelf) -> None:
    for nugget in ("one", "two"):
        shelf.remember(nugget, "port", "8080")
    shelf.create_note("one", "Auth", "Tokens are signed.")
    described = document(OPERATIONS)["components"]["schemas"]["Recall"]["properties"].keys()
    with client(shelf) as web:
        told = [web.get("/api/recall", params={"query": q}).json() for q in ("port", "tokens")]

    assert told[0]["also"]
    assert told[1]["notes"]
    assert told[0].keys() | told[1].keys() <= described
