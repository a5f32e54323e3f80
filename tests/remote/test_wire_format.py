from datetime import datetime
from typing import Any

import pytest

from nuggets import NoteFilterOptions, NuggetShelf, errors
from nuggets.domain.records import Changes, NuggetConfig
from nuggets.errors import InvalidInput
from nuggets.operations.client_permissions import COMMAND
from nuggets.operations.idempotent_calls import Call, Caller, Place
from nuggets.operations.project_identity import Location
from nuggets.remote.wire_format import (
    ARGUMENTS,
    ERRORS,
    decode,
    dump,
    encode,
    error_to_wire,
)


def over_the_wire(value: object, allowed: frozenset[str] | None = None) -> Any:
    import json

    return decode(json.loads(dump(encode(value))), allowed)


def test_what_a_shelf_answers_arrives_as_it_was(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    written = shelf.remember("project", "port", "8080")
    shelf.create_note("project", "Deploys", "Never on Fridays.", ["rules"])
    answers = [
        written,
        shelf.recall("port"),
        tuple(shelf.search_notes("deploys")),
        tuple(shelf.commits()),
        shelf.list(),
        shelf.get_notes([written.id]),
        tuple(shelf.versions("port")),
        tuple(shelf.audit()),
        shelf.explain("port", written.id),
        shelf.reflect(),
        {1, 2},
        None,
        {"marks": [1, {"a": "b"}]},
        {3: "three", "@": "sign"},
        datetime(2026, 1, 31, 9),
    ]

    for answer in answers:
        assert over_the_wire(answer) == answer

    again = over_the_wire(written)
    assert again.replaced == written.replaced
    assert again.is_new is written.is_new


def test_a_caller_arrives_as_they_were() -> None:
    here = Location("/a/.git//m", "/a/.git//m", "1", "abc", "example.org/a")
    caller = Caller(COMMAND, None, Place(here), (), ("12345678",), Call("ab", 3, "cd", "2026"))

    assert over_the_wire(caller, ARGUMENTS) == caller
    assert over_the_wire(NoteFilterOptions(tag="x"), ARGUMENTS) == NoteFilterOptions(tag="x")


@pytest.mark.parametrize(
    "shape",
    [
        {"@": "os.system", "command": "true"},
        {"@": "Commit"},
        {"@": "MemoryNote", "id": "x"},
        {"@": "list", "items": 3},
        {"@": "dict", "items": [1]},
        {"@": "set", "items": [{}]},
        {"@": "datetime", "text": "yesterday"},
        {"@": ["list"]},
    ],
)
def test_nothing_else_is_ever_made_of_what_arrives(shape: Any) -> None:
    with pytest.raises(InvalidInput):
        decode(shape, ARGUMENTS)


def test_nesting_has_an_end() -> None:
    shape: Any = []
    for _ in range(100):
        shape = [shape]

    with pytest.raises(InvalidInput, match="deeply"):
        decode(shape)


def test_what_no_server_can_take_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InvalidInput, match="cannot be given"):
        encode(object())


def test_a_record_of_another_version_is_read_as_far_as_it_is_known() -> None:
    shape = {"@": "NuggetConfig", "name": "project", "invented_later": 1}

    assert decode(shape) == NuggetConfig("project")
    assert decode({"@": "Changes"}) == Changes()


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_every_error_arrives_as_what_it_is(name: str) -> None:
    problem = getattr(errors, name)("it is so")

    sent = error_to_wire(problem)["error"]

    assert ERRORS[sent["type"]] is type(problem)
    assert sent["message"] == "it is so"
