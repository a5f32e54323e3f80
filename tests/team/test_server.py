"""The server of a team: who may ask, what each role may do, and that nobody sees another's."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from nuggets import NuggetShelf
from nuggets.domain.records import ROLES, Role
from nuggets.interfaces.hook_endpoint import HookEndpoint
from nuggets.interfaces.mcp.server import ALL_TOOLS
from nuggets.interfaces.request_shelf import Team
from nuggets.interfaces.rest import OPERATIONS, application
from nuggets.interfaces.rest.guard import RateLimit
from nuggets.interfaces.serve import Address
from nuggets.operations.idempotent_calls import Call, Caller
from nuggets.operations.operation_table import CALLABLE
from nuggets.operations.permissions import Client as Agent
from nuggets.operations.permissions import allows
from nuggets.remote import CALL_PATH, HOOK_PATH, PROTOCOL, encode
from web_serving import HOST, AppClient, served

SECRET = "zanzibar"  # a word that only the private memories of alice contain


class Served(NamedTuple):
    """A server in this process, and how its members talk to it."""

    app: Any
    shelf: NuggetShelf
    tokens: dict[str, str]

    def visitor(self, name: str = "", **headers: str) -> AppClient:
        client = AppClient(self.app)
        client.headers.update(headers)
        if name:
            client.headers["Authorization"] = f"Bearer {self.tokens[name]}"
        return client


@contextmanager
def served_team(directory: Path, rate_limit: RateLimit | None = None) -> Iterator[Served]:
    with NuggetShelf(directory) as shelf, ExitStack() as stack:
        roles: dict[str, Role] = {
            "rita": "reader",
            "alice": "writer",
            "bob": "writer",
            "olga": "owner",
        }
        tokens = {name: shelf.add_member(name, role) for name, role in roles.items()}
        team = Team(shelf)
        stack.callback(team.close)
        app = application(
            shelf,
            is_ours=lambda host: host == HOST,
            access=team,
            rate_limit=rate_limit,
            mounts={HOOK_PATH: HookEndpoint(shelf)},
        )
        yield Served(app, shelf, tokens)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Served]:
    with served_team(tmp_path / "team") as one:
        yield one


def remember(web: AppClient, key: str, value: str, scope: str) -> Any:
    body = {"key": key, "value": value, "scope": scope}
    answer = web.post("/api/nuggets/work/facts", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def call(web: AppClient, method: str, *args: Any) -> httpx2.Response:
    """As a client on another machine calls a method."""
    caller = encode(Caller(Agent("cli")))
    message = {"method": method, "args": encode(args), "options": {}, "caller": caller}
    return web.post(CALL_PATH, json={"protocol": PROTOCOL, **message})


def prompt(web: AppClient, text: str) -> httpx2.Response:
    """As the prompt hook of another machine asks."""
    message = {"host": "claude-code", "session": "s1", "prompt": text, "entries": []}
    return web.post(HOOK_PATH, json={"protocol": PROTOCOL, **message})


# --- who may ask -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/app.js", "/api/graph", "/api/openapi.json", "/api/events"),
        *("/mcp", CALL_PATH, HOOK_PATH),
    ],
)
@pytest.mark.parametrize("token", ["", "alice.wrong", "nobody.x", "äöü", "."])
def test_without_a_members_token_every_door_is_closed(team: Served, path: str, token: str) -> None:
    header = {b"Authorization": f"Bearer {token}".encode()} if token else {}
    answer = team.visitor().get(path, headers=header)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_token")


def test_a_revoked_token_ends_at_once_for_programs_and_browsers(team: Served) -> None:
    program, browser = team.visitor("alice"), team.visitor()
    token = {"Authorization": f"Bearer {team.tokens['alice']}"}
    assert browser.post("/api/session", json={}, headers=token).status_code == 200

    def statuses() -> set[int]:
        client, hook = call(program, "revision"), prompt(program, "which port?")
        pages = [visitor.get("/api/status") for visitor in (program, browser)]
        return {answer.status_code for answer in (client, hook, *pages)}

    assert statuses() == {200}
    team.shelf.revoke_member("alice")
    assert statuses() == {401}
    assert team.visitor("bob").get("/api/status").status_code == 200


def test_a_browser_signs_in_and_out(team: Served) -> None:
    browser = team.visitor()
    page = browser.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 401 and "sign-in.js" in page.text
    assert browser.get("/sign-in.js").status_code == 200
    token = {"Authorization": f"Bearer {team.tokens['alice']}", "X-Forwarded-Proto": "https"}
    begun = browser.post("/api/session", json={}, headers=token)
    cookie = begun.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "secure" in cookie
    plain = {"Authorization": f"Bearer {team.tokens['alice']}"}
    assert (
        "secure"
        not in browser.post("/api/session", json={}, headers=plain).headers["set-cookie"].lower()
    )
    assert browser.get("/", headers={"Accept": "text/html"}).status_code == 200
    assert browser.delete("/api/session").status_code == 204
    assert browser.get("/api/status").status_code == 401


def test_a_member_may_send_so_much_in_a_minute(tmp_path: Path) -> None:
    clock = [0.0]
    limit = RateLimit(requests=3, kilobytes=5, now=lambda: clock[0])
    with served_team(tmp_path / "team", limit) as team:
        alice, bob = team.visitor("alice"), team.visitor("bob")
        for _ in range(3):
            assert alice.get("/api/health").status_code == 200
        clock[0] = 20.5
        refused = alice.get("/api/health")
        assert refused.status_code == 429 and refused.headers["Retry-After"] == "40"
        remember(bob, "long", "x" * 6000, "shared")
        assert bob.get("/api/health").status_code == 429
        assert team.visitor("olga").get("/api/health").status_code == 200
        clock[0] = 60.0
        assert alice.get("/api/health").status_code == 200
        assert bob.get("/api/health").status_code == 429


def test_a_name_of_a_proxy_is_ours() -> None:
    address = Address("127.0.0.1", 0, "memory.example")
    try:
        assert address.is_ours("memory.example") and address.is_ours("Memory.example:443")
        assert address.is_ours(f"127.0.0.1:{address.port}")
        assert not address.is_ours("memory.example.evil") and not address.is_ours("evil.example")
    finally:
        address.socket.close()


def test_the_history_says_which_member_wrote(team: Served) -> None:
    remember(team.visitor("alice"), "port", "80", "shared")
    newest = team.visitor("bob").get("/api/history").json()[0]
    assert newest["client"] == "alice (page)"
    shown = team.visitor("bob").get("/api/activity").json()["steps"][-1]
    assert shown["client"] == "alice (page)"


# --- what each role may do -------------------------------------------------------------------

OWNERS = {"purgeNote", "previewPurge", "promote"}  # of the team's memories
SILENT = {"recallInSession"}  # a POST that changes nothing
BODIES: dict[str, Any] = {
    "remember": {"key": "a key", "value": "1", "scope": "shared"},
    "recallInSession": {"query": "port"},
    "createNote": {"nugget": "work", "title": "t", "content": "c", "scope": "shared"},
    "editNote": {"content": "changed"},
    "mergeNotes": {"source": "Second"},
    "link": {"a": "First", "b": "Second"},
}
QUERIES: dict[str, Any] = {
    "forget": {"key": "port"},
    "recall": {"query": "port"},
    "explanation": {"query": "port"},
    "search": {"query": "port"},
    "previewMerge": {"source": "Second"},
    "undoable": {"revisions": "1"},
    "unlink": {"a": "First", "b": "Second"},
}


def ask(web: AppClient, operation: Any, note: str = "First", nugget: str = "work") -> Any:
    path = operation.path.format(note=note, nugget=nugget, session=note)
    body = BODIES.get(operation.name, {}) if operation.has_body else None
    return web.request(operation.method, path, params=QUERIES.get(operation.name, {}), json=body)


def fill(team: Served) -> None:
    for title in ("First", "Second"):
        team.shelf.create_note("work", title, f"About {title} and the port.", scope="shared")
    team.shelf.remember("work", "port", "80", scope="shared")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_roles_hold_for_every_operation_of_rest(team: Served, operation: Any) -> None:
    fill(team)
    writes = operation.method != "GET" and operation.name not in SILENT
    needed: Role = "owner" if operation.name in OWNERS else "writer" if writes else "reader"
    for role, name in zip(ROLES, ("rita", "alice", "olga"), strict=True):
        revision = team.shelf.revision
        status = ask(team.visitor(name), operation).status_code
        if allows(role, needed):
            assert status not in (401, 403)
        else:
            assert status == 403
            assert team.shelf.revision == revision


def remember_for_all(key: str) -> dict[str, Any]:
    options = {"scope": "project"}
    return {
        "protocol": PROTOCOL,
        "method": "remember",
        "args": ["work", key, "b"],
        "options": options,
    }


@pytest.mark.parametrize("visitor", ["rita", "alice", "olga"])
def test_the_history_has_no_hash_of_a_token_and_no_call_of_others(
    team: Served, visitor: str
) -> None:
    mark = "0123456789abcdef"
    caller = Caller(Agent("bob"), call=Call(mark, 1, "aa11"))
    with team.visitor("bob") as bob:
        message = remember_for_all("a")
        sent = bob.post(CALL_PATH, json={**message, "caller": encode(caller)})
        assert sent.status_code == 200, sent.text

    with team.visitor(visitor) as client:
        told = ""
        for method in ("history", "commits", "changes_in_effect", "commit_summaries"):
            message = {"protocol": PROTOCOL, "method": method, "args": []}
            answer = client.post(CALL_PATH, json={**message, "caller": encode(Caller(Agent("x")))})
            told += answer.text

    assert "remember" in told
    assert "member:" not in told and "call:" not in told and mark not in told


def test_marks_of_calls_belong_to_a_member(team: Served) -> None:
    caller = Caller(Agent("x"), call=Call("0123456789abcdef", 1, "aa11"))
    for name in ("alice", "bob"):
        message = remember_for_all(name)
        with team.visitor(name) as client:
            client.post(CALL_PATH, json={**message, "caller": encode(caller)})

    assert {fact.title for fact in team.shelf.facts("work")} >= {"alice", "bob"}


def test_nobody_but_an_owner_undoes_what_others_did(team: Served) -> None:
    remember(team.visitor("alice"), "port", "80", "shared")
    revision = {"revision": team.shelf.revision}
    assert team.visitor("bob").post("/api/undo", json=revision).status_code == 403
    assert team.visitor("alice").post("/api/undo", json=revision).status_code == 200
    undone = {"revision": team.shelf.revision}
    assert team.visitor("olga").post("/api/undo", json=undone).status_code == 200


# --- what nobody else sees -------------------------------------------------------------------


def keep_secrets(web: AppClient) -> tuple[str, str]:
    """A private note and fact of the one who asks; ids. Both have a past."""
    fact = remember(web, f"{SECRET} key", f"{SECRET} value", "user")
    body = {"nugget": SECRET, "title": SECRET, "content": f"The {SECRET} text.", "scope": "self"}
    note = web.post("/api/notes", json=body).json()
    web.patch(f"/api/notes/{note['id']}", json={"content": f"The new {SECRET} text."})
    web.post("/api/recall", json={"query": f"{SECRET} key", "session": f"{SECRET} session"})
    return fact["id"], note["id"]


@pytest.mark.parametrize("visitor", ["bob", "olga", "rita"])
def test_no_operation_of_rest_shows_anothers_private_memory(team: Served, visitor: str) -> None:
    ids = keep_secrets(team.visitor("alice"))
    fill(team)
    web = team.visitor(visitor)
    for operation in OPERATIONS:
        questions = dict(QUERIES.get(operation.name, {}))
        questions |= (
            {"query": SECRET}
            if "query" in operation.parameters.kinds and not operation.has_body
            else {}
        )
        body = BODIES.get(operation.name, {}) if operation.has_body else None
        for note, nugget in (
            (ids[0], "work"),
            (ids[1], SECRET),
            (SECRET, "x"),
            (f"{SECRET} key", "y"),
        ):
            if operation.method != "GET":
                nugget = "work"  # else the visitor would make one of that name
            path = operation.path.format(note=note, nugget=nugget, session=note)
            answer = web.request(operation.method, path, params=questions, json=body)
            told = answer.text.replace(note, "").replace(nugget, "")  # what was asked
            assert SECRET not in told, operation.name
            assert "{note}" not in operation.path or answer.status_code >= 400, operation.name
    kept = team.visitor("alice").get(f"/api/notes/{ids[1]}").json()
    assert kept["content"].startswith("The new")


def test_alice_herself_sees_all_of_it(team: Served) -> None:
    """Otherwise the matrix would prove nothing."""
    ids = keep_secrets(team.visitor("alice"))
    web = team.visitor("alice")
    for path in (
        *(f"/api/notes/{ids[1]}{rest}" for rest in ("", "/history", "/versions")),
        *("/api/notes", "/api/graph", "/api/history", "/api/status"),
        *(f"/api/search?query={SECRET}", f"/api/recall?query={SECRET}+key"),
        *("/api/activity", "/api/nuggets/work/facts", f"/api/nuggets/{SECRET}"),
    ):
        assert SECRET in web.get(path).text, path


def arguments_about(ids: tuple[str, str]) -> list[tuple[Any, ...]]:
    """What a method may be asked about the private memories, whatever it takes."""
    names = (*ids, SECRET, f"{SECRET} key")
    pairs = [(SECRET, "work"), ("work", f"{SECRET} key"), ids, (SECRET, ids[1])]
    return [(), (0,), (list(ids),), *((name,) for name in names), *pairs]


@pytest.mark.parametrize("visitor", ["bob", "olga", "rita"])
def test_no_call_of_a_client_shows_anothers_private_memory(team: Served, visitor: str) -> None:
    ids = keep_secrets(team.visitor("alice"))
    fill(team)
    web = team.visitor(visitor)
    changing = {method for method, row in CALLABLE.items() if row.kind != "read"}
    reading = CALLABLE.keys() - changing
    for method in (*sorted(reading), *sorted(changing)):  # whose traces are found
        for args in arguments_about(ids):
            answer = call(web, method, *args)
            assert answer.status_code in (200, 400, 403, 404, 409), (method, args)
            told = answer.text
            for asked in (*ids, f"{SECRET} key"):
                told = told.replace(asked, "")
            if SECRET not in str(args) and method not in changing:
                assert SECRET not in told, (method, args)
            assert f"{SECRET} value" not in told, (method, args)
            assert f"The new {SECRET}" not in told, (method, args)
    kept = team.visitor("alice").get(f"/api/notes/{ids[1]}").json()
    assert kept["content"] == f"The new {SECRET} text."


def test_alice_herself_sees_it_by_the_same_calls(team: Served) -> None:
    ids = keep_secrets(team.visitor("alice"))
    web = team.visitor("alice")
    texts = {
        method: "".join(call(web, method, *args).text for args in arguments_about(ids))
        for method in sorted(CALLABLE)
        if CALLABLE[method].kind == "read"
    }
    shown = {method for method, text in texts.items() if f"The new {SECRET}" in text}
    assert shown >= {"get_note", "get_notes", "list_notes", "search_notes", "history", "versions"}


@pytest.mark.parametrize("visitor", ["alice", "bob", "olga", "rita"])
def test_a_prompt_shows_private_memories_to_their_member_alone(team: Served, visitor: str) -> None:
    keep_secrets(team.visitor("alice"))
    told = prompt(team.visitor(visitor), f"What is the {SECRET} text about?").json()
    assert (SECRET in told["context"]) == (visitor == "alice")


def test_a_private_change_is_no_event_for_others(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        tokens = {name: shelf.add_member(name) for name in ("alice", "bob")}
    headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
    with served(directory) as server:
        facts = f"{server.url}api/nuggets/work/facts"
        with httpx.stream("GET", f"{server.url}api/events", headers=headers["bob"]) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: hello"
            for key, scope in ((SECRET, "user"), ("harmless", "shared")):
                body = {"key": key, "value": key, "scope": scope}
                httpx.post(facts, json=body, headers=headers["alice"]).raise_for_status()
            heard = next(line for line in lines if "harmless" in line)
            assert SECRET not in heard
            with NuggetShelf(directory) as shelf:
                shelf.revoke_member("bob")
            rest = "".join(lines)  # the stream ends
            assert SECRET not in rest


# --- MCP -------------------------------------------------------------------------------------

WRITING = {tool.name for tool in ALL_TOOLS if not tool.only_reads}
CALLS: dict[str, dict[str, Any]] = {
    "recall": {"query": f"{SECRET} key"},
    "search_notes": {"query": SECRET},
    "status": {},
    "sessions": {"query": SECRET},
    "remember": {"nugget": "work", "key": "k", "value": "v", "scope": "shared"},
    "forget": {"nugget": "work", "key": "port"},
    "create_note": {"nugget": "work", "title": "t", "content": "c", "scope": "shared"},
    "reflect_and_clean_memory": {},
}


def test_roles_and_walls_hold_for_every_tool_of_mcp(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        tokens = {
            "rita": shelf.add_member("rita", "reader"),
            "alice": shelf.add_member("alice"),
            "bob": shelf.add_member("bob"),
        }
        shelf.remember("work", "port", "80", scope="shared")
    secrets: list[str] = []

    def as_member(name: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers={"Authorization": f"Bearer {tokens[name]}"}, timeout=60)

    async def calls(url: str, name: str) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        async with (
            as_member(name) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            names = {
                "get_note": {"note": secrets[0]},
                "edit_note": {"note": secrets[0], "content": "changed"},
                "add_link": {"a": secrets[0], "b": secrets[1]},
            }
            for tool in (await client.list_tools()).tools:
                arguments = {**CALLS, **names}[tool.name]
                answers[tool.name] = await client.call_tool(tool.name, arguments)
        return answers

    async def keep(url: str) -> None:
        async with (
            as_member("alice") as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            fact = {"nugget": SECRET, "key": f"{SECRET} key", "value": SECRET, "scope": "user"}
            first = await client.call_tool("remember", fact)
            note = {"nugget": SECRET, "title": SECRET, "content": SECRET, "scope": "self"}
            second = await client.call_tool("create_note", note)
            secrets.extend(one.structured_content["id"] for one in (first, second))

    with served(directory) as server:
        url = f"{server.url.rstrip('/')}/mcp"
        anyio.run(keep, url)
        for name in ("bob", "rita"):
            for tool, answer in anyio.run(calls, url, name).items():
                told = answer.model_dump_json()
                for asked in (*secrets, CALLS.get(tool, {}).get("query", SECRET)):
                    told = told.replace(asked, "")
                assert SECRET not in told, tool
                if name == "rita" and tool in WRITING:
                    assert answer.is_error, tool
                    assert "rita is a reader" in told or tool in ("edit_note", "add_link")
        found = anyio.run(calls, url, "alice")
        assert SECRET in found["get_note"].model_dump_json()
        history = httpx.get(
            f"{server.url}api/history", headers={"Authorization": f"Bearer {tokens['alice']}"}
        ).json()
        assert any(step["client"] == "alice (mcp)" for step in history)


def test_a_session_of_mcp_ends_with_the_token_and_is_nobody_elses(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        tokens = {name: shelf.add_member(name) for name in ("alice", "bob")}
    accepted = {"Accept": "application/json, text/event-stream"}
    headers = {n: {"Authorization": f"Bearer {t}", **accepted} for n, t in tokens.items()}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    with served(directory) as server:
        url = f"{server.url}mcp"
        begun = httpx.post(url, json=hello, headers=headers["alice"])
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        assert (
            httpx.post(url, json=ping, headers={**headers["alice"], **session}).status_code == 200
        )
        stolen = httpx.post(url, json=ping, headers={**headers["bob"], **session})
        assert stolen.status_code == 404
        with NuggetShelf(directory) as shelf:
            shelf.revoke_member("alice")
        ended = httpx.post(url, json=ping, headers={**headers["alice"], **session})
        assert ended.status_code == 401
