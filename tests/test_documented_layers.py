"""The three layers and how they work together, through the public API and the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Nuggets
from enough_sessions import ENOUGH_SESSIONS
from nuggets import PROMOTE_THRESHOLD, NuggetShelf

LOCAL = """
import sys
reached = []
sys.addaudithook(lambda event, _: reached.append(event) if event[:7] == "socket." else None)
from nuggets import PROMOTE_THRESHOLD, NuggetShelf
with NuggetShelf(sys.argv[1]) as shelf:
    fact = shelf.remember("n", "auth handler", "src/auth.ts")
    note = shelf.create_note("n", "Auth", "JWT tokens")
    shelf.add_link(fact.id, note.id, "about")
    for number in range(PROMOTE_THRESHOLD):
        assert shelf.recall("auth handlers", session=f"s{number}").found
        assert shelf.search_notes("jwt", session=f"s{number}")
    shelf.reflect()
    shelf.promote(sys.argv[2])
print(reached)
"""


def test_nothing_leaves_the_machine(directory: Path) -> None:
    memory = directory / "MEMORY.md"
    done = subprocess.run(
        [sys.executable, "-c", LOCAL, str(directory / "shelf"), str(memory)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )

    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert "auth handler" in memory.read_text()


def test_all_three_layers_have_their_documented_place(directory: Path) -> None:
    with NuggetShelf(directory / "nuggets", project="") as shelf:
        shelf.remember("locations", "auth handler", "src/auth.ts")
        shelf.create_note("project", "Auth", "JWT tokens")
        for session in ENOUGH_SESSIONS:
            shelf.recall("auth handler", session=session)
        shelf.promote(str(directory / "MEMORY.md"))

    assert (directory / "nuggets" / "locations.nugget.json").is_file()
    assert (directory / "nuggets" / "graph" / "graph.json").is_file()
    assert (directory / "MEMORY.md").is_file()


@pytest.mark.parametrize(
    ("nugget", "key", "value", "kept"),
    [
        ("locations", "auth handler", "src/auth/middleware.ts:47", ("user", "fact")),
        ("project", "test cmd", "pytest tests/ -v", ("project", "project")),
        (
            *("project", "error handling", "uses Result type, never throws"),
            ("project", "project"),
        ),
        ("prefs", "style", "2-space indent, no semicolons", ("user", "preference")),
    ],
)
def test_the_documented_calls_store_and_recall(
    nuggets: Nuggets, nugget: str, key: str, value: str, kept: tuple[str, str]
) -> None:
    stored = nuggets("remember", nugget, key, value, "--json")
    found = nuggets("recall", key, "--json")

    assert (stored.code, found.code) == (0, 0)
    assert (stored.json["scope"], stored.json["type"]) == kept
    assert found.json["answer"] == value


def test_recall_comes_first_and_the_graph_second(nuggets: Nuggets) -> None:
    nuggets("remember", "n", "auth handler", "src/auth.ts")
    nuggets("note", "add", "n", "Auth middleware", "Verifies tokens for the auth handler.")

    fact = nuggets("recall", "auth handler", "--json")
    graph = nuggets("recall", "who verifies tokens", "--json")

    assert (fact.json["found"], fact.json["answer"]) == (True, "src/auth.ts")
    assert "notes" not in fact.json
    assert graph.json["found"] is False
    assert graph.json["notes"][0]["note"]["title"] == "Auth middleware"


def test_notes_accumulate_over_sessions(directory: Path) -> None:
    for number in range(3):
        with NuggetShelf(directory, project="") as shelf:
            note = shelf.create_note("n", f"Session {number}", "Several sentences.", ["log"])
            if number:
                shelf.add_link(note.id, f"Session {number - 1}", "follows")

    kept = NuggetShelf(directory, project="").list_notes()

    assert [note.title for note in kept] == ["Session 0", "Session 1", "Session 2"]
    assert {note.content for note in kept} == {"Several sentences."}
    assert all("log" in note.tags for note in kept)
    assert [len(note.links) for note in kept] == [1, 2, 1]


def test_a_note_can_be_rewritten_and_merged_later(shelf: NuggetShelf) -> None:
    one = shelf.create_note("n", "Deploy", "Push a tag.")
    other = shelf.create_note("n", "Deploying", "Wait for the pipeline.")

    shelf.edit_note(one.id, content="Push a signed tag.")
    merged = shelf.merge_notes(one.id, other.id, "same topic")

    assert merged.content == "Push a signed tag.\nWait for the pipeline."


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_enough_sessions_recalled_is_promoted(directory: Path, more: int) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    shelf.create_note("learnings", "JWT token format", "Tokens use RS256.")
    for number in range(PROMOTE_THRESHOLD + more):
        shelf.search_notes("jwt", session=f"s{number}")
        shelf.search_notes("jwt", session=f"s{number}")

    promoted = shelf.promote(str(memory))

    assert promoted == (1 if more >= 0 else 0)
    assert memory.exists() is (more >= 0)


def test_a_daily_run_promotes_by_itself(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import datetime

    memory = directory / "MEMORY.md"
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(memory))
    shelf = NuggetShelf("memory:", project="")
    shelf.remember("n", "auth handler", "src/auth.ts")
    for session in ENOUGH_SESSIONS:
        shelf.recall("auth handler", session=session)

    run = shelf.run_daily(datetime(2026, 1, 31, 9, 0))

    assert run is not None
    assert run.promoted == 1
    assert "- **auth handler**: src/auth.ts\n" in memory.read_text()


def test_a_memory_file_edited_by_hand_stays_edited(directory: Path) -> None:
    memory = directory / "MEMORY.md"
    shelf = NuggetShelf("memory:", project="")
    for number in range(2):
        shelf.remember("n", f"key {number}", f"value {number}")
    for session in ENOUGH_SESSIONS:
        shelf.recall("key 0", session=session)
    shelf.promote(str(memory))
    memory.write_text(memory.read_text() + "\n## mine\n\n- my own line\n")
    for session in ENOUGH_SESSIONS:
        shelf.recall("key 1", session=session)

    shelf.promote(str(memory))

    text = memory.read_text()
    assert "## mine\n\n- my own line\n" in text
    assert "- **key 0**: value 0\n" in text
    assert "- **key 1**: value 1\n" in text
