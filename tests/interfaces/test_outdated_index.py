"""An index that another version made is rebuilt by the first command; a hook never does that."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from command_line import Nuggets, NuggetsProcess

pytestmark = pytest.mark.usefixtures("no_daily_pass")


@pytest.fixture
def outdated(nuggets: Nuggets, tmp_path: Path) -> Path:
    """A shelf whose search index has other tables and another format number."""
    shelf = tmp_path / "shelf"
    nuggets("note", "add", "garden", "Tulips", "planted in October", "--dir", str(shelf))
    with closing(sqlite3.connect(shelf / "nuggets.db")) as database, database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'search\\_%' "
            "ESCAPE '\\'"
        )
        for (name,) in tables.fetchall():
            database.execute(f"DROP TABLE {name}")
            database.execute(f"CREATE TABLE {name} (other TEXT)")
        database.execute("UPDATE meta SET value = '0' WHERE name = 'index search'")
    return shelf


def index_format(shelf: Path) -> str:
    with closing(sqlite3.connect(shelf / "nuggets.db")) as database:
        row = database.execute("SELECT value FROM meta WHERE name = 'index search'").fetchone()
    return str(row[0])


def test_a_command_that_reads_rebuilds_it_first(nuggets: Nuggets, outdated: Path) -> None:
    found = nuggets("search", "tulips", "--dir", str(outdated))
    assert (found.code, found.err) == (0, "")
    assert "Tulips" in found.out
    assert index_format(outdated) != "0"


def test_a_hook_leaves_it_alone_and_says_so_at_the_start(
    nuggets: Nuggets, nuggets_process: NuggetsProcess, outdated: Path
) -> None:
    def run_hook(name: str, **sent: str) -> str:
        payload = json.dumps({"session_id": "s", **sent}).encode()
        done = nuggets_process("hook", name, "--dir", str(outdated), stdin=payload)
        assert (done.code, done.err) == (0, "")
        return done.out

    start = json.loads(run_hook("session-start", source="startup"))
    assert "nuggets list" in start["hookSpecificOutput"]["additionalContext"]
    assert run_hook("user-prompt", prompt="From now on always plant tulips in October") == ""
    assert index_format(outdated) == "0"

    assert nuggets("list", "--dir", str(outdated)).code == 0
    assert index_format(outdated) != "0"
    assert "nuggets list" not in run_hook("session-start", source="startup")
