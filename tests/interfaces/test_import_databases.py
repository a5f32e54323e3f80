"""Databases of other memories: only read, by their tables and columns."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from command_line import Nuggets
from nuggets.domain.times import now

HIPPO = (
    "CREATE TABLE memories (id TEXT PRIMARY KEY, created TEXT, layer TEXT, tags_json TEXT,"
    " content TEXT, updated_at TEXT, superseded_by TEXT)",
    "INSERT INTO memories VALUES ('m1', '2026-02-03T04:05:06.000Z', 'semantic', '[\"cache\"]',"
    " 'The cache goes stale after a refresh', '2026-03-04 05:06:07', NULL)",
    "INSERT INTO memories VALUES ('m2', 'x', 'episodic', '{', 'Port 80', NULL, 'm1')",
)
SERVICE = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT,"
    " memory_type TEXT, created_at REAL, updated_at REAL, deleted_at REAL)",
    "INSERT INTO memories VALUES (1, 'ab', 'Likes green tea', 'food,tea', 'note', 1700000000.5,"
    " 1700000001, NULL)",
    "INSERT INTO memories VALUES (2, 'cd', 'Gone', '', '', 1, 1, 2)",
)


def make(path: Path, statements: tuple[str, ...]) -> str:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)
    return str(path)


def test_memories_of_hippo_come_in(nuggets: Nuggets, tmp_path: Path) -> None:
    path = make(tmp_path / "hippo.db", HIPPO)
    before = Path(path).read_bytes()
    done = nuggets("import", path, "--json").json
    cache, port = done["added"]

    assert done["form"] == "the database of hippo"
    assert {"cache", "semantic"} <= set(cache["tags"])
    assert cache["createdAt"] == "2026-02-03T04:05:06.000Z"
    assert cache["updatedAt"] == "2026-03-04T05:06:07.000Z"
    assert (cache["hidden"], port["hidden"]) == (False, True)
    assert Path(path).read_bytes() == before
    assert nuggets("import", path).lines[0] == "Nothing new."


def test_memories_of_mcp_memory_service_come_in(nuggets: Nuggets, tmp_path: Path) -> None:
    done = nuggets("import", make(tmp_path / "sqlite_vec.db", SERVICE), "--json").json
    [note] = done["added"]

    assert done["form"] == "the database of mcp-memory-service"
    assert {"food", "tea"} <= set(note["tags"])
    assert note["createdAt"] == "2023-11-14T22:13:20.500Z"


def test_summaries_of_claude_mem_become_notes_of_sessions(nuggets: Nuggets, tmp_path: Path) -> None:
    path = make(
        tmp_path / "claude-mem.db",
        (
            "CREATE TABLE observations (id, title, created_at)",
            "INSERT INTO observations VALUES (1, 'Cart fixed', '2026-01-01T00:00:00Z')",
            "CREATE TABLE session_summaries (id, memory_session_id, request, learned, created_at)",
            f"INSERT INTO session_summaries VALUES (1, 's', 'Fix the cart', 'A race', '{now()}')",
            "INSERT INTO session_summaries VALUES (2, 't', NULL, '', NULL)",
            "INSERT INTO session_summaries VALUES (3, 'u', 'Old', 'x', '2020-01-01T00:00:00Z')",
        ),
    )
    done = nuggets("import", path, "--json").json

    assert [note["nuggetName"] for note in done["added"]] == ["imported", "sessions"]
    assert done["added"][1]["content"] == "Goal: Fix the cart\nLearned: A race"
    assert done["sessionsLeftOut"] == 2
    assert len(nuggets("note", "list", "--json").json) == 1


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE memories (id, content, content_hash)",),
        ("CREATE VIEW memories AS SELECT 1 AS id, 'x' AS content, 'y' AS content_hash",),
        (
            "CREATE TABLE memories (id, content, content_hash)",
            "INSERT INTO memories VALUES (1,2,3)",
        ),
        (
            "CREATE TABLE memories (id, content, layer, tags_json)",
            "INSERT INTO memories VALUES (1, x'00ff', 3, '[[[')",
        ),
        (
            "CREATE TABLE observations (id, title, facts, concepts)",
            "INSERT INTO observations VALUES (x'ff', NULL, '{}', '[1, null]')",
        ),
    ],
)
def test_tables_with_anything_in_them_end_with_a_message(
    nuggets: Nuggets, tmp_path: Path, statements: tuple[str, ...]
) -> None:
    done = nuggets("import", make(tmp_path / "x.db", statements))
    assert done.code in (0, 1, 2) and "Traceback" not in done.err


def test_a_row_that_is_no_text_is_named_and_the_others_come_in(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    broken = (
        "INSERT INTO memories VALUES ('m3', 'x', 'semantic', '[]', x'ff00', NULL, NULL)",
        "INSERT INTO memories VALUES ('m4', 'x', 'semantic', '[]', CAST(x'ff' AS TEXT), '', NULL)",
    )
    done = nuggets("import", make(tmp_path / "hippo.db", (*HIPPO, *broken)), "--json").json

    assert len(done["added"]) == 2
    assert done["refused"] == [f"memories {name}: no text in content" for name in ("m3", "m4")]
