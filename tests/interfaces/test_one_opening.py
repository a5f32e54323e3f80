"""A command opens the database once, and asks it no more than it needs to know."""

import io
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nuggets import NuggetShelf
from nuggets.__main__ import run_command as main


class Asked:
    """What commands asked of SQLite."""

    def __init__(self) -> None:
        self.connections = 0
        self.statements: list[str] = []

    def run(self, *words: str) -> list[str]:
        """The statements of a command that opens the database once."""
        self.connections, self.statements = 0, []
        assert main(words) == 0
        assert self.connections == 1
        return self.statements


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    asked, connect = Asked(), sqlite3.connect

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            asked.statements.append(sql)
            return super().execute(sql, *parameters)

        def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
            given = list(rows)
            asked.statements += [sql] if given else []
            return super().executemany(sql, given)

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        asked.connections += 1
        return connect(*arguments, factory=Connection, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    yield asked


@pytest.fixture
def directory(tmp_path: Path) -> str:
    with NuggetShelf(tmp_path) as shelf:
        shelf.remember("ports", "billing service", "8443")
        shelf.create_note("ports", "Which port billing uses", "Billing listens on 8443.")
        shelf.recall("billing service")
    return str(tmp_path)


def test_a_recall_and_its_hit_are_few_statements(asked: Asked, directory: str) -> None:
    statements = asked.run("--dir", directory, "recall", "billing", "service", "--session", "s1")
    assert len(statements) <= 17
    assert statements.count("COMMIT") == 1  # the hit was counted


def test_storing_a_fact_is_few_statements_and_so_are_its_files(
    asked: Asked, directory: str
) -> None:
    statements = asked.run("--dir", directory, "remember", "ports", "search service", "9200")
    stored = statements.index("COMMIT") + 1
    assert stored <= 31
    assert len(statements) - stored <= 13


def test_a_search_is_few_statements(asked: Asked, directory: str) -> None:
    assert len(asked.run("--dir", directory, "search", "billing port")) <= 25


@pytest.mark.usefixtures("no_daily_pass")
def test_a_prompt_is_few_statements(
    asked: Asked, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = {"session_id": "s2", "cwd": directory, "prompt": "which port does billing use?"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(sent).encode())))
    assert len(asked.run("--dir", directory, "hook", "user-prompt")) <= 30


def test_a_recall_that_finds_another_writer_is_counted_later(directory: str) -> None:
    with NuggetShelf(directory) as reader, NuggetShelf(directory) as writer:
        with writer.batch():
            writer.remember("ports", "mail service", "25")
            assert reader.recall("billing service", session="s3").answer == "8443"
            assert (Path(directory) / "recalls.jsonl").exists()
            assert reader.facts("ports")[0].hits == 0
        assert reader.facts("ports")[0].hits == 1


def test_a_recall_that_someone_overtook_is_counted_all_the_same(directory: str) -> None:
    with NuggetShelf(directory) as reader, NuggetShelf(directory) as writer:
        with reader.snapshot():
            assert reader.recall("billing service", session="s3").answer == "8443"
            writer.remember("ports", "mail service", "25")
        assert reader.facts("ports")[0].hits == 1
        assert len(reader.facts("ports")) == 2
