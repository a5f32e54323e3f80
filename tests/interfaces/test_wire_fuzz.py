"""Requests that no client of ours would send: refused by name, and the shelf stays whole."""

from pathlib import Path
from typing import Any

import pytest

import wire_fuzz
from nuggets import NuggetShelf
from nuggets.interfaces.rest import application
from nuggets.remote import CALL_PATH, PROTOCOL
from web_serving import AppClient


def test_no_request_is_a_defect_of_the_server(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "team") as shelf:
        outcome = wire_fuzz.fuzz(shelf, 1000, seed=7)

    assert outcome.failures == []
    assert {200, 400, 403, 404} <= outcome.statuses.keys()


@pytest.mark.parametrize(
    ("part", "value", "named"),
    [
        ("anchors", ["a"], "each of caller: anchors must be an object, not 'a'"),
        ("anchors", [{"path": "a", "size": "1"}], "size must be a whole number, not '1'"),
        ("anchors", [{"path": "a", "mood": 1}], "has no mood"),
        ("anchors", [{"path": "a"}] * 101, "at most 100 items"),
        ("digits", ["../x"], "letters and digits"),
        ("client", {"name": "cli", "source": "me"}, "source must be one of explicit_user"),
        ("mood", 1, "caller has no mood"),
    ],
)
def test_a_caller_is_what_a_caller_is_defined_to_be(
    tmp_path: Path, part: str, value: Any, named: str
) -> None:
    with NuggetShelf(tmp_path) as shelf:
        web = AppClient(application(shelf, is_ours=lambda host: True))
        message = {
            "protocol": PROTOCOL,
            "method": "create_note",
            "args": ["work", "Deploys", "Never on Fridays: see app.py:3."],
            "options": {},
            "caller": {**wire_fuzz.caller(), part: value},
        }
        answer = web.post(CALL_PATH, json=message)

        assert answer.status_code == 400
        assert named in answer.json()["error"]["message"]
        assert shelf.size == 0
