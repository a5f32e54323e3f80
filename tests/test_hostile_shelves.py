"""A shelf's directory that others filled: edits beyond every limit, and links that lead out."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command_line import run_process
from nuggets import NuggetShelf
from nuggets.domain.limits import NAME_CHARACTERS, TAGS
from nuggets.errors import StoreError
from nuggets.interfaces.serve import access_token
from nuggets.settings import load


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        shelf.create_note("n", "Deploys", "We deploy on Tuesdays.")
        shelf.save_all()
    return tmp_path / "shelf"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "t" * (NAME_CHARACTERS + 1)},
        {"tags": [f"tag-{number}" for number in range(TAGS + 20)]},
        {"tags": [f"tag-{number}" for number in range(20_003)]},
        {"content": "x" * 5_000_000},
    ],
)
def test_limits_hold_for_edits_by_hand(directory: Path, change: dict[str, Any]) -> None:
    graph = directory / "graph" / "graph.json"
    shape = json.loads(graph.read_text())
    shape["notes"][0].update(change)
    graph.write_text(json.dumps(shape))

    listed = run_process("note", "list", "--dir", str(directory), "--json")
    found = run_process("doctor", "--dir", str(directory))
    fixed = run_process("doctor", "--fix", "--dir", str(directory))

    assert [note["content"] for note in listed.json] == ["We deploy on Tuesdays."]
    assert "at most" in listed.err and "at most" in found.out
    assert fixed.code == 0
    assert run_process("note", "list", "--dir", str(directory)).err == ""


def test_nothing_is_written_or_read_through_a_link_in_the_place_of_graph(
    directory: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (directory / "graph").rename(elsewhere)
    (directory / "graph").symlink_to(elsewhere)
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}

    run_process("remember", "n", "port", "8080", "--dir", str(directory))
    found = run_process("doctor", "--dir", str(directory))

    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before
    assert "link" in found.out
    with NuggetShelf(directory, project="") as shelf:
        assert shelf.recall("port").answer == "8080"


def test_a_link_in_the_place_of_the_token_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "known").write_text("k" * 40)
    os.chmod(tmp_path / "known", 0o600)
    (directory / "token").symlink_to(tmp_path / "known")

    with pytest.raises(StoreError, match="is a link"):
        access_token(load({}, {"dir": str(directory)}))
