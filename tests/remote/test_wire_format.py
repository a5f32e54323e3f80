import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import pytest

from nuggets import NoteFilterOptions, NuggetShelf, errors
from nuggets.domain.records import (
    Anchor,
    Changes,
    Commit,
    MatchKind,
    MemoryNote,
    NuggetConfig,
    NuggetStatus,
    RecallResult,
    ReflectionResult,
    SearchNotesResult,
    WrittenNote,
)
from nuggets.errors import InvalidInput
from nuggets.operations.idempotent_calls import Call, Caller
from nuggets.operations.permissions import COMMAND
from nuggets.operations.project_identity import Location, Place
from nuggets.remote import (
    ERRORS,
    decode,
    decode_answer,
    dump,
    encode,
    error_to_wire,
)


def over_the_wire(value: object, kind: Any) -> Any:
    return decode(json.loads(dump(encode(value))), kind, "it")


def test_what_a_shelf_answers_arrives_as_it_was(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    written = shelf.remember("project", "port", "8080")
    shelf.create_note("project", "Deploys", "Never on Fridays.", ["rules"])
    answers: list[tuple[Any, Any]] = [
        (written, WrittenNote),
        (shelf.recall("port"), RecallResult),
        (tuple(shelf.search_notes("deploys")), Sequence[SearchNotesResult]),
        (tuple(shelf.commits()), Sequence[Commit]),
        (shelf.list(), tuple[NuggetStatus, ...]),
        (shelf.get_notes([written.id]), Mapping[str, MemoryNote]),
        (tuple(shelf.versions("port")), "Sequence[MemoryVersion]"),
        (tuple(shelf.audit()), "Sequence[Finding]"),
        (shelf.explain("port", written.id), "Explanation"),
        (shelf.reflect(), ReflectionResult),
        ({1, 2}, set[int]),
        (None, Commit | None),
        ({"marks": [1, {"a": "b"}]}, Mapping[str, Any]),
        (datetime(2026, 1, 31, 9), "datetime"),
        (datetime(2026, 1, 31, 9).isoformat(), "str | datetime | None"),
    ]

    for answer, kind in answers:
        assert over_the_wire(answer, kind) == answer

    again = over_the_wire(written, WrittenNote)
    assert again.replaced == written.replaced
    assert again.is_new is written.is_new


def test_a_caller_arrives_as_they_were() -> None:
    here = Location("/a/.git//m", "/a/.git//m", "1", "abc", "example.org/a")
    caller = Caller(COMMAND, None, Place(here), (), ("12345678",), Call("ab", 3, "cd", "2026"))

    assert over_the_wire(caller, Caller) == caller
    filters = NoteFilterOptions(tag="x")
    assert over_the_wire(filters, NoteFilterOptions) == filters


@pytest.mark.parametrize(
    ("shape", "kind", "named"),
    [
        ({"path": "a", "mood": 1}, Anchor, "it has no mood"),
        ({"line": 1}, Anchor, "path is missing"),
        ({"path": 3}, Anchor, "path must be a text, not 3"),
        ({"path": "a", "line": True}, Anchor, "line must be a whole number, not true"),
        ({"path": "a", "line": -1}, Anchor, "line must be from 0"),
        ({"path": "a", "size": 10**400}, Anchor, "size must be from"),
        ({"path": "a", "lines": [["b"]]}, Anchor, "each of it: lines must be a text, not a list"),
        ({"path": "a\0b"}, Anchor, "path must be without the character NUL"),
        ({"path": "\ud800"}, Anchor, "half a character"),
        (["a"], tuple[Anchor, ...], "each of it must be an object, not 'a'"),
        (3, tuple[str, ...], "a list, not 3"),
        ([1], tuple[int, str], "must have 2 items"),
        ("yesterday", "datetime", "must be a time"),
        ("x", Literal["a", "b"], "one of a, b"),
        (float("inf"), float, "must be from"),
        ([1], "str | datetime | None", "a text or a time"),
        ({"colour": "red"}, "Unpack[NoteMeta]", "it has no colour"),
        ({"confidence": "high"}, "Unpack[NoteMeta]", "confidence must be a number, not 'high'"),
    ],
)
def test_what_is_wrong_is_refused_by_name(shape: Any, kind: Any, named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        decode(shape, kind, "it")

    assert named in str(refused.value)


def test_what_no_server_can_take_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InvalidInput, match="cannot be given"):
        encode(object())


def test_a_record_of_another_version_is_read_as_far_as_it_is_known() -> None:
    shape = {"name": "project", "invented_later": 1}

    assert decode_answer(shape, NuggetConfig, "it") == NuggetConfig("project")
    assert decode_answer("invented later", MatchKind, "it") == "invented later"
    assert decode_answer({}, Changes, "it") == Changes()


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_every_error_arrives_as_what_it_is(name: str) -> None:
    problem = getattr(errors, name)("it is so")

    sent = error_to_wire(problem)["error"]

    assert ERRORS[sent["type"]] is type(problem)
    assert sent["message"] == "it is so"
