"""Whole turns: a host calls the hooks, and its model does what they ask of it."""

import re
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from agent_doors import hook, in_memory, injected, repository, server_context
from nuggets.shelf import NuggetShelf

NOTE_ID = re.compile(r"note-[\w-]+|fact-[\w-]+")


class Host:
    """A host with a scripted model: it stores a lasting statement, replaces the memory that the
    hook names if the statement has a word of it, and leaves everything else."""

    def __init__(self, place: Path) -> None:
        self._directory = place / "shelf"
        self._project = repository(place / "here")
        self._turns = 0

    def say(self, prompt: str) -> str:
        """What the hook told the model, which has then acted."""
        self._turns += 1
        sent = {"session_id": f"s{self._turns}", "cwd": str(self._project), "prompt": prompt}
        told = injected(hook("user-prompt", sent, self._directory))
        lines = [
            line for line in told.splitlines() if line.startswith("Memory: if this is lasting")
        ]
        if lines:
            in_memory(self._server(), lambda model: self._act(model, prompt, lines[0]))
        return told

    async def _act(self, model: Client, prompt: str, line: str) -> Any:
        _, _, named = line.partition("what no longer holds: ")
        for note_id in NOTE_ID.findall(named):
            note = self.notes()[note_id]
            if any(word in note.title for word in prompt.split()):
                await model.call_tool("get_note", {"note": note_id})
                return await model.call_tool("edit_note", {"note": note_id, "content": prompt})
        fact = {"nugget": "project", "key": prompt[:40], "value": prompt}
        return await model.call_tool("remember", fact)

    def _server(self) -> Any:
        return server_context(self._directory, project=str(self._project))

    def notes(self) -> dict[str, Any]:
        with NuggetShelf(self._directory, folder=str(self._project)) as shelf:
            return {note.id: note for note in shelf.list_notes()}

    def contents(self) -> set[str]:
        return {note.content for note in self.notes().values()}

    def start(self, **facts: str) -> None:
        with NuggetShelf(self._directory, folder=str(self._project), at_work=True) as shelf:
            for key, value in facts.items():
                shelf.remember("project", key.replace("_", " "), value, project=shelf.project)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_what_is_lasting_is_stored_by_the_model(host: Host) -> None:
    host.start(package_manager="pnpm")

    host.say("from now on we always put new screens behind a flag")

    assert "from now on we always put new screens behind a flag" in host.contents()


def test_what_is_outdated_is_replaced_by_the_model_and_no_longer_shown(host: Host) -> None:
    host.start(log_retention="21 days in Loki", mail_provider="Postmark")

    host.say("our log retention is 35 days in Loki now")

    assert host.contents() == {"our log retention is 35 days in Loki now", "Postmark"}
    told = host.say("how long is the log retention?")
    assert "35 days" in told and "21 days" not in told


@pytest.mark.parametrize("prompt", ["go on", "why does this loop never end?", "make it wider"])
def test_what_is_of_the_moment_is_left(host: Host, prompt: str) -> None:
    host.start(log_retention="21 days in Loki")

    assert host.say(prompt) == ""
    assert host.contents() == {"21 days in Loki"}
