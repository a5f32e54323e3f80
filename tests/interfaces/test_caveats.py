"""What speaks against relying on a memory is told at every door, in repositories made by git."""

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from agent_doors import hook, injected, over_stdio, said
from command_line import COMMAND
from git_repositories import git, new_repository

SOURCE = "def verify_token(token):\n    return token\n\n\nLIMIT = 512\n"
PROMPT = "where is the auth handler?"


class Work:
    """Someone works in a repository, with the command and with an agent."""

    def __init__(self, place: Path) -> None:
        self.repository = new_repository(place / "shop")
        self.file = self.repository / "src" / "auth.py"
        self.shelf = place / "shelf"
        self.file.parent.mkdir()
        self.file.write_text(SOURCE)
        self.commit("auth")

    def commit(self, message: str) -> None:
        git(self.repository, "add", "-A")
        git(self.repository, "commit", "-q", "-m", message)

    def command(self, *words: str) -> str:
        environ = {**os.environ, "NUGGETS_DIR": str(self.shelf)}
        return subprocess.run(
            [*COMMAND, *words], cwd=self.repository, env=environ, capture_output=True, text=True
        ).stdout

    def prompt(self, text: str, session: str = "s") -> str:
        sent = {"session_id": session, "cwd": str(self.repository), "prompt": text}
        return injected(hook("user-prompt", sent, self.shelf))

    def tool(self, name: str, arguments: dict[str, Any]) -> Any:
        async def talk(agent: Client) -> Any:
            return await agent.call_tool(name, arguments)

        return over_stdio(self.shelf, talk, CLAUDE_PROJECT_DIR=str(self.repository))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_a_file_that_moved_is_told_by_the_command_the_tools_and_the_next_prompt(
    work: Work,
) -> None:
    work.command("remember", "locations", "auth handler", "src/auth.py, verify_token")
    assert "Caution" not in work.command("recall", "auth handler")
    (work.repository / "lib").mkdir()
    git(work.repository, "mv", "src/auth.py", "lib/auth.py")
    work.commit("moved")

    prompted = work.prompt(PROMPT)
    recalled = work.command("recall", "auth handler")
    answer = work.tool("recall", {"query": "auth handler"})

    assert "src/auth.py: moved to lib/auth.py" in prompted
    assert "Caution: src/auth.py: moved to lib/auth.py" in recalled
    assert "src/auth.py: moved to lib/auth.py" in said(answer)
    assert answer.structured_content["caveats"] == ["src/auth.py: moved to lib/auth.py"]


def test_lines_that_changed_are_told_and_the_same_said_again_is_current(work: Work) -> None:
    work.command("remember", "locations", "auth handler", "src/auth.py:1")
    work.file.write_text(SOURCE.replace("verify_token", "check_token"))

    assert "src/auth.py:1: lines changed since" in work.prompt(PROMPT)
    work.command("remember", "locations", "auth handler", "src/auth.py:1")
    assert "Caution" not in work.command("recall", "auth handler")


def test_a_memory_whose_time_is_over_is_not_injected_and_answers_with_a_caveat(work: Work) -> None:
    day = (datetime.now(UTC) - timedelta(days=3)).date().isoformat()
    work.command("remember", "project", "deploy freeze", "no deploys", "--valid-until", day)

    assert work.prompt("may I deploy during the deploy freeze?") == ""
    assert "no longer valid" in work.command("recall", "deploy freeze")


def test_a_contradiction_is_told_with_the_command_that_settles_it(work: Work) -> None:
    work.command("remember", "prefs", "indentation", "Prefer tabs over spaces")
    told = work.command("remember", "prefs", "layout", "Prefer spaces over tabs")

    (command,) = (line for line in told.splitlines() if "--supersedes" in line)
    new, old = (word for word in command.replace(")", " ").split() if word.startswith("fact-"))
    assert "contradicts" in work.command("recall", "layout")
    work.command("note", "edit", new, "--supersedes", old)
    assert "contradicts" not in work.command("recall", "layout")
    assert "Prefer tabs" in work.command("history", "indentation")


def test_what_was_said_for_one_session_is_told_so_in_every_other(work: Work) -> None:
    told = work.command("remember", "work", "session: current branch", "feature/refunds")
    noted = work.command("note", "add", "work", "Review", "Ask Kim", "--scope", "session")
    assert told.endswith("(temporary), valid only in its session.\n")
    assert noted.endswith(", valid only in its session.\n")

    caveat = "said for one session, "
    query = {"query": "current branch"}
    answer, found = work.tool("recall", query), work.tool("search_notes", {**query, "limit": 1})
    (result,) = found.structured_content["results"]

    assert f"Caution: {caveat}" in work.command("recall", "current branch")
    assert f"({caveat}" in work.command("search", "current branch")
    assert f"Caution: {caveat}" in work.command("note", "show", "Review")
    assert caveat in work.prompt("what is the current branch?")
    assert caveat in said(answer) and caveat in said(found)
    assert caveat in answer.structured_content["caveats"][0]
    assert caveat in result["caveats"][0]
