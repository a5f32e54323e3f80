"""The same operations through three doors: `--json`, REST and MCP answer alike.

MCP tells a model fewer fields, by the same names and with the same values, after its mark.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp.client import Client

from agent_doors import in_memory, server_context
from command_line import Nuggets
from nuggets import NuggetShelf
from nuggets.interfaces.mcp.server import build_server
from nuggets.interfaces.prompt_quoting import QUOTED_FIELD, QUOTED_VALUE
from session_samples import keep_sessions
from web_serving import AppClient, client

HERE = "/home/me/here/.git"
SESSION = "one session"
BY_THE_USER = {"source": "explicit_user"}  # as at the other doors; else it is the agent's own word
FACT = {"key": "test cmd", "value": "make test"}
NOTES = (("Auth", "Tokens are signed with RS256."), ("Keys", "The public key signs nothing."))


class Doors(NamedTuple):
    """Each to a shelf of its own; what is done through one is done through all."""

    cli: Nuggets
    web: AppClient
    directory: Path  # of MCP's shelf

    def ask(
        self,
        command: tuple[str, ...],
        request: tuple[str, str, dict[str, Any]],
        tool: tuple[str, dict[str, Any]],
    ) -> tuple[Any, Any, Any]:
        said = self.cli("--dir", str(self.directory / "cli"), *command, "--json").json
        method, path, given = request
        sent = {"params": given} if method in ("GET", "DELETE") else {"json": given}
        answered = self.web.request(method, f"/api/{path}", **sent)  # type: ignore[arg-type]
        return settled(said), settled(answered.json()), settled(self.call(*tool))

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        async def talk(agent: Client) -> Any:
            meta: Any = {"nuggets/session": SESSION}
            return await agent.call_tool(name, arguments, meta=meta)

        mark, *told = in_memory(
            server_context(self.directory / "mcp"), talk
        ).structured_content.items()
        assert mark == (QUOTED_FIELD, QUOTED_VALUE)
        return dict(told)


@pytest.fixture
def doors(tmp_path: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doors]:
    monkeypatch.setenv("NUGGETS_PROJECT", HERE)
    monkeypatch.setenv("NUGGETS_SESSION", SESSION)
    shelf = NuggetShelf(tmp_path / "rest", project=HERE)
    with shelf, client(shelf) as web:
        yield Doors(nuggets, web, tmp_path)


def settled(answer: Any) -> Any:
    """Without what is another in each shelf: the random part of ids, and times."""
    text = re.sub(r"(fact|note)-project-[0-9a-f]{8}", r"\1-id", json.dumps(answer))
    return json.loads(re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "some time", text))


def part(answer: Any, told: Any) -> Any:
    """The answer with those fields alone that were told."""
    if isinstance(answer, list):
        return [part(one, other) for one, other in zip(answer, told, strict=True)]
    if not isinstance(answer, dict):
        return answer
    return {name: part(answer[name], told[name]) for name in answer.keys() & told.keys()}


def fill(doors: Doors) -> None:
    doors.ask(
        ("remember", "project", FACT["key"], FACT["value"]),
        ("POST", "nuggets/project/facts", FACT),
        ("remember", {"nugget": "project", **FACT, **BY_THE_USER}),
    )
    for title, content in NOTES:
        note = {"nugget": "project", "title": title, "content": content}
        doors.ask(
            ("note", "add", "project", title, content),
            ("POST", "notes", note),
            ("create_note", note | BY_THE_USER),
        )


def test_what_is_written_is_answered_alike(doors: Doors) -> None:
    fact = {"nugget": "project", **FACT}
    cli, rest, mcp = doors.ask(
        ("remember", "project", FACT["key"], FACT["value"]),
        ("POST", "nuggets/project/facts", FACT),
        ("remember", fact | BY_THE_USER),
    )

    assert cli == rest
    assert part(cli, mcp) == mcp

    note = {"nugget": "project", "title": "T", "content": "C", "tags": ["a tag"]}
    cli, rest, mcp = doors.ask(
        ("note", "add", "project", "T", "C", "--tag", "a tag"),
        ("POST", "notes", note),
        ("create_note", note | BY_THE_USER),
    )

    assert cli == rest
    assert part(cli, mcp) == mcp


def test_what_a_fact_said_before_is_told_alike(doors: Doors) -> None:
    fill(doors)
    other = {**FACT, "value": "make check"}
    cli, rest, mcp = doors.ask(
        ("remember", "project", other["key"], other["value"]),
        ("POST", "nuggets/project/facts", other),
        ("remember", {"nugget": "project", **other, **BY_THE_USER}),
    )

    assert cli == rest
    assert cli["before"] == {"content": FACT["value"]}
    assert part(cli, mcp) == mcp


def test_what_was_true_when_is_told_alike(doors: Doors) -> None:
    fill(doors)
    other = {**FACT, "value": "make check"}
    doors.ask(
        ("remember", "project", other["key"], other["value"]),
        ("POST", "nuggets/project/facts", other),
        ("remember", {"nugget": "project", **other, **BY_THE_USER}),
    )
    query = {"query": FACT["key"], "as_of": "2999-01-01"}
    cli, rest, mcp = doors.ask(
        ("recall", FACT["key"], "--as-of", "2999-01-01"),
        ("GET", "recall", query),
        ("recall", query),
    )

    assert cli == rest
    assert part(cli, mcp) == mcp
    assert (mcp["answer"], mcp["validFrom"]) == ("make check", "some time")

    cli, rest, mcp = doors.ask(
        ("history", FACT["key"]),
        ("GET", f"notes/{FACT['key']}/versions", {}),
        ("get_note", {"note": FACT["key"], "versions": True}),
    )

    assert cli == rest == mcp["versions"]
    assert [version["value"] for version in cli] == ["make check", "make test"]


def test_a_link_is_answered_alike(doors: Doors) -> None:
    fill(doors)
    pair = {"a": "Auth", "b": "Keys", "reason": "signing"}
    for added in (True, False):
        cli, rest, mcp = doors.ask(
            ("link", "Auth", "Keys", "signing"), ("POST", "links", pair), ("add_link", pair)
        )

        assert cli == rest
        assert part(cli, mcp) == mcp
        assert mcp["added"] is added


@pytest.mark.parametrize("query", ["test cmd", "tset cmd", "kangaroos"])
def test_a_recall_is_answered_alike(doors: Doors, query: str) -> None:
    fill(doors)
    cli, rest, mcp = doors.ask(
        ("recall", query),
        ("POST", "recall", {"query": query, "session": SESSION}),
        ("recall", {"query": query}),
    )

    assert cli == rest
    assert part(cli, mcp) == mcp
    assert "answer" in mcp
    assert "notes" not in cli


@pytest.mark.parametrize(
    ("query", "answers"), [("how are tokens signed", True), ("bank keys", False)]
)
def test_notes_that_answer_or_are_near_are_told_alike(
    doors: Doors, query: str, answers: bool
) -> None:
    fill(doors)
    cli, rest, mcp = doors.ask(
        ("recall", query),
        ("POST", "recall", {"query": query, "session": SESSION}),
        ("recall", {"query": query}),
    )
    looked = settled(doors.web.get("/api/recall", params={"query": query}).json())

    assert cli == rest == looked
    assert part(cli, mcp) == mcp
    assert not mcp["found"]
    assert mcp["notes"][0]["clearAnswer"] is answers


def test_a_search_is_answered_alike(doors: Doors) -> None:
    fill(doors)
    query = "tokens signed"
    doors.ask(  # counts, so that the search itself changes nothing
        ("recall", query),
        ("POST", "recall", {"query": query, "session": SESSION}),
        ("recall", {"query": query}),
    )
    doors.cli("remember", "project", "editor", "vim")  # takes in a count that found the lock taken
    cli, rest, mcp = doors.ask(
        ("search", query), ("GET", "search", {"query": query}), ("search_notes", {"query": query})
    )

    assert cli == rest
    assert part(cli, mcp["results"]) == mcp["results"]
    assert cli


def test_a_note_is_shown_alike(doors: Doors) -> None:
    fill(doors)
    doors.web.post("/api/recall", json={"query": "tokens are signed", "session": SESSION})
    cli, rest, mcp = doors.ask(
        ("note", "show", "Auth"), ("GET", "notes/Auth", {}), ("get_note", {"note": "Auth"})
    )

    assert cli == rest
    assert part(cli, mcp) == mcp
    assert mcp["content"]


def test_sessions_are_told_alike(doors: Doors) -> None:
    for door in ("cli", "mcp"):
        with NuggetShelf(doors.directory / door, project=HERE) as shelf:
            keep_sessions(shelf)
    with NuggetShelf(doors.directory / "rest", project=HERE) as shelf:
        keep_sessions(shelf)
    cli, rest, mcp = doors.ask(("sessions", "list"), ("GET", "sessions", {}), ("sessions", {}))
    told = [result["note"] for result in mcp["results"]]

    assert cli == rest
    assert part(cli, told) == told
    assert len(told) == 2

    cli, rest, mcp = doors.ask(
        ("sessions", "show"),
        ("GET", "sessions", {"limit": 1}),
        ("sessions", {"session": cli[0]["id"]}),
    )
    (shown,) = (result["note"] for result in mcp["results"])

    assert [cli] == rest
    assert part(cli, shown) == shown
    assert shown["content"]

    query = {"query": "orders with UUID"}
    cli, rest, mcp = doors.ask(
        ("sessions", "search", query["query"]),
        ("GET", "sessions/search", query),
        ("sessions", query),
    )

    assert cli == rest
    assert part(cli, mcp["results"]) == mcp["results"]
    assert cli


def test_facts_and_what_is_forgotten_are_told_alike(doors: Doors) -> None:
    fill(doors)
    at = "nuggets/project/facts"
    cli = doors.cli("--dir", str(doors.directory / "cli"), "facts", "project", "--json").json

    assert settled(cli) == settled(doors.web.get(f"/api/{at}").json())

    cli, rest, mcp = doors.ask(
        ("forget", "project", FACT["key"]),
        ("DELETE", at, {"key": FACT["key"]}),
        ("forget", {"nugget": "project", "key": FACT["key"]}),
    )

    assert cli == rest == mcp


def test_the_status_is_told_alike(doors: Doors) -> None:
    fill(doors)
    cli, rest, mcp = doors.ask(("status",), ("GET", "status", {}), ("status", {}))

    assert cli == rest["nuggets"]
    assert part(cli, mcp["nuggets"]) == mcp["nuggets"]
    assert rest["project"] == mcp["project"] == HERE


def test_a_clean_up_is_told_alike(doors: Doors) -> None:
    fill(doors)
    cli, rest, mcp = doors.ask(
        ("reflect",), ("POST", "reflection", {}), ("reflect_and_clean_memory", {})
    )
    for told in (cli, rest, mcp):  # in the order of their ids, which are random
        told["changes"].sort(key=lambda change: change["detail"])

    assert mcp.pop("omitted") == 0
    assert cli == rest == mcp
    assert cli["changes"]


def test_an_unknown_nugget_is_refused_alike(doors: Doors) -> None:
    fill(doors)
    said = doors.cli(
        "--dir", str(doors.directory / "cli"), "search", "x", "--nugget", "projetc", "--json"
    ).json["error"]["message"]
    answered = doors.web.get("/api/search", params={"query": "x", "nugget": "projetc"})
    server = server_context(doors.directory / "mcp")

    async def talk() -> Any:
        async with Client(build_server(server)) as agent:
            return await agent.call_tool("search_notes", {"query": "x", "nugget": "projetc"})

    told = anyio.run(talk)
    server.close()

    assert "did you mean 'project'" in said
    assert (answered.status_code, answered.json()["error"]["message"]) == (404, said)
    assert told.is_error
    assert said in told.content[0].text
