import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from starlette.types import Message

import wire_fuzz
from nuggets import NuggetShelf
from nuggets.errors import InvalidInput, StoreError
from nuggets.interfaces.rest import OPERATIONS, application
from nuggets.interfaces.rest.guard import BODY_BYTES, SESSION_SECONDS, Access
from nuggets.interfaces.serve import Address, access_token, serve
from nuggets.operations.session_notes import SessionRecord
from nuggets.remote import PROTOCOL
from nuggets.settings import load
from web_serving import HOST, AppClient, client

NOTE = {"nugget": "p", "title": "t", "content": "c"}
PATHS = ("/", "/app.js", "/api/graph", "/api/openapi.json", "/api/nowhere", "/mcp")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "127.0.0.1.evil.example:6844", ""])
def test_another_name_than_ours_is_refused_on_every_route(
    shelf: NuggetShelf, path: str, host: str
) -> None:
    with client(shelf) as web:
        answer = web.get(path, headers={"Host": host})

    assert code(answer) == (421, "wrong_host")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_a_foreign_origin_is_refused_on_every_route(
    shelf: NuggetShelf, path: str, origin: str
) -> None:
    with client(shelf) as web:
        answer = web.get(path, headers={"Origin": origin})

    assert code(answer) == (403, "foreign_origin")


def test_our_own_origin_is_welcome(shelf: NuggetShelf) -> None:
    with client(shelf, Origin=f"http://{HOST}") as web:
        assert web.post("/api/notes", json=NOTE).status_code == 201


def test_what_another_site_embeds_is_refused_and_a_link_to_the_page_is_not(
    shelf: NuggetShelf,
) -> None:
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with client(shelf) as web:
        assert web.get("/api/graph", headers=embedded).status_code == 403
        assert web.get("/app.js", headers=embedded).status_code == 403
        assert web.get("/", headers=followed).status_code == 200
        assert web.get("/api/graph", headers=followed).status_code == 403


def test_no_answer_allows_another_origin(shelf: NuggetShelf) -> None:
    ask = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    with client(shelf) as web:
        answers = [web.options("/api/notes", headers=ask), web.get("/api/graph")]

    assert answers[0].status_code == 403
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_declared_as_json_is_refused(shelf: NuggetShelf, kind: str) -> None:
    with client(shelf) as web:
        answer = web.post(
            "/api/notes",
            content='{"nugget":"p","title":"t","content":"c"}',
            headers={"Content-Type": kind},
        )

    assert code(answer) == (415, "not_json")
    assert shelf.revision == 0


def test_an_oversize_body_is_refused_announced_or_not(shelf: NuggetShelf) -> None:
    headers = {"Content-Type": "application/json"}

    def unannounced() -> Iterator[bytes]:
        for _ in range(BODY_BYTES // 65536 + 2):
            yield b" " * 65536

    with client(shelf) as web:
        announced = web.post("/api/notes", content=b" " * (BODY_BYTES + 1), headers=headers)
        streamed = web.post("/api/notes", content=unannounced(), headers=headers)

    assert code(announced) == (413, "too_large")
    assert code(streamed) == (413, "too_large")


def test_every_answer_carries_the_policy_that_keeps_foreign_code_out(shelf: NuggetShelf) -> None:
    with client(shelf) as web:
        answers = [web.get("/"), web.get("/api/graph"), web.get("/api/nowhere")]

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic secret-token"},
        {"Authorization": "Bearer"},
        {"Cookie": "nuggets_session_6844=wrong"},
        {"Cookie": "nuggets_session_6844=9999999999.nonce.00"},
        {"Cookie": "nuggets_session_6844=secret-token"},
        {"Cookie": "nuggets_token=secret-token"},
    ],
)
def test_without_the_right_token_no_route_answers(
    shelf: NuggetShelf, path: str, headers: dict[str, str]
) -> None:
    with client(shelf, token="secret-token") as web:
        answer = web.get(path, headers=headers)

    assert code(answer) == (401, "no_token")


def test_every_operation_asks_for_the_token(shelf: NuggetShelf) -> None:
    with client(shelf, token="secret-token") as web:
        for operation in OPERATIONS:
            path = operation.path.replace("{", "").replace("}", "")
            body: Any = {} if operation.has_body else None
            answer = web.request(operation.method, path, json=body)
            assert answer.status_code == 401, operation.name


@contextmanager
def guarded(shelf: NuggetShelf, access: Access) -> Iterator[AppClient]:
    app = application(shelf, is_ours=lambda host: host == HOST, access=access)
    with AppClient(app) as web:
        yield web


def test_the_token_opens_by_header_only(shelf: NuggetShelf) -> None:
    with client(shelf, token="secret-token") as web:
        headers = {"Authorization": "Bearer secret-token"}
        assert web.get("/api/graph", headers=headers).status_code == 200
        assert web.get("/mcp", headers=headers).status_code != 401
        for address in ("/?token=secret-token", "/?code=secret-token", "/api/graph?code="):
            assert web.get(address).status_code == 401


def test_a_launch_code_opens_one_browser_once(shelf: NuggetShelf) -> None:
    access = Access("secret-token")
    code = access.new_launch_code()
    with guarded(shelf, access) as web, guarded(shelf, access) as other:
        assert web.get("/?code=wrong").status_code == 401
        assert web.get(f"/api/graph?code={code}").status_code == 401
        entered = web.get(f"/?code={code}")
        assert entered.status_code == 200
        assert code not in entered.text
        cookie = entered.headers["set-cookie"].lower()
        assert cookie.startswith("nuggets_session_6844=")
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "secret-token" not in cookie
        assert web.get("/api/graph").status_code == 200
        assert web.get(f"/?code={code}").status_code == 200  # the same browser again
        assert other.get(f"/?code={code}").status_code == 401


def test_a_session_outlives_a_restart_and_ends_with_the_token_or_its_time(
    shelf: NuggetShelf,
) -> None:
    first = Access("secret-token")
    with guarded(shelf, first) as web:
        web.get(f"/?code={first.new_launch_code()}")
        cookies = dict(web.cookies)

    def status(access: Access) -> int:
        with guarded(shelf, access) as web:
            web.cookies.update(cookies)
            return web.get("/api/graph").status_code

    assert status(Access("secret-token")) == 200
    assert status(Access("another-token")) == 401
    later = time.time() + SESSION_SECONDS + 60
    assert status(Access("secret-token", now=lambda: later)) == 401


def test_a_person_without_a_session_is_told_where_the_link_is(shelf: NuggetShelf) -> None:
    with client(shelf, token="secret-token") as web:
        answer = web.get("/", headers={"Accept": "text/html"})

    assert answer.status_code == 401
    assert "The server prints one in its terminal." in answer.text


def test_each_use_of_a_code_asks_for_the_next(shelf: NuggetShelf) -> None:
    codes: list[str] = []
    access = Access("secret-token", on_launch=lambda: codes.append(access.new_launch_code()))
    codes.append(access.new_launch_code())
    for number in range(2):
        with guarded(shelf, access) as web:
            web.get(f"/?code={codes[number]}")
            assert web.get("/api/graph").status_code == 200

    assert len(set(codes)) == 3


def test_reading_changes_nothing(shelf: NuggetShelf) -> None:
    note = shelf.create_note("p", "title", "content")
    other = shelf.create_note("p", "other", "more content")
    shelf.remember("p", "key", "value")
    moment = "2026-01-05T10:00:00.000Z"
    shelf.keep_session(SessionRecord("s1", "", "", "Deploys", "We shipped.", moment, moment))
    before = shelf.revision, shelf.list_notes()
    with client(shelf) as web:
        for operation in OPERATIONS:
            if operation.method == "GET":
                path = operation.path.format(nugget="p", note=note.id, session="last")
                values = {"query": "title content key", "source": other.id, "revisions": "1,2"}
                query = {name: values[name] for name in operation.parameters.required}
                assert web.get(path, params=query).status_code == 200, operation.name

    assert (shelf.revision, shelf.list_notes()) == before


class Broken(NuggetShelf):
    @property
    def revision(self) -> int:
        raise RuntimeError("an inner detail")


def test_a_failure_of_ours_tells_the_network_nothing() -> None:
    with client(Broken("memory:", project=""), raises=False) as web:
        answer = web.get("/api/graph")

    assert code(answer) == (500, "error")
    assert "detail" not in answer.text
    assert "Traceback" not in answer.text


def test_the_usual_address_is_this_machine_only() -> None:
    address = Address("127.0.0.1", 0)
    try:
        assert address.is_loopback
        assert address.socket.getsockname()[0] == "127.0.0.1"
        for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
            assert address.is_ours(f"{name}:{address.port}")
        for name in ("evil.example", "192.168.1.2", "localhost.evil.example", "0.0.0.0", ""):
            assert not address.is_ours(f"{name}:{address.port}")
        assert not address.is_ours(f"localhost:{address.port + 1}")
        assert not address.is_ours("localhost")
    finally:
        address.socket.close()


def test_an_address_for_others_goes_by_its_own_names_and_needs_a_token() -> None:
    address = Address("0.0.0.0", 0)
    try:
        assert not address.is_loopback
        assert address.is_ours(f"192.168.1.2:{address.port}")
        assert address.is_ours(f"{socket.gethostname()}:{address.port}")
        assert not address.is_ours(f"evil.example:{address.port}")
        with pytest.raises(InvalidInput, match="token"):
            serve(NuggetShelf("memory:", project=""), address)
    finally:
        address.socket.close()


def test_a_port_that_is_taken_is_said_and_the_next_is_found_unasked() -> None:
    first = Address("127.0.0.1", None)
    second = Address("127.0.0.1", None)
    try:
        assert first.port != second.port
        with pytest.raises(InvalidInput, match="cannot listen"):
            Address("127.0.0.1", first.port)
        with pytest.raises(InvalidInput, match="65535"):
            Address("127.0.0.1", 70000)
    finally:
        first.socket.close()
        second.socket.close()


def test_the_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Any) -> None:
    settings = load({}, {"dir": str(tmp_path / "shelf")})
    before = os.umask(0)
    try:
        token = access_token(settings)
    finally:
        os.umask(before)
    path = tmp_path / "shelf" / "token"

    assert len(token) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert access_token(settings) == token
    path.chmod(0o644)
    with pytest.raises(StoreError, match="others can read"):
        access_token(settings)


@pytest.mark.parametrize("path", ["/api/notes", "/api/undo"])
def test_a_caller_who_goes_in_the_middle_of_a_body_is_no_defect(
    shelf: NuggetShelf, path: str
) -> None:
    app = application(shelf, is_ours=lambda host: host == HOST)
    coming: list[Message] = [
        {"type": "http.request", "body": b'{"nugget": "p', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return coming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", HOST.encode()), (b"content-type", b"application/json")],
    }
    anyio.run(app, scope, receive, send)

    assert sent[0]["status"] == 400
    assert shelf.size == 0


@pytest.mark.parametrize("token", [None, "t" * 20])
def test_nobody_becomes_the_owner_of_a_shelf_without_a_token(
    shelf: NuggetShelf, token: str | None
) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    message = {
        "protocol": PROTOCOL,
        "method": "add_member",
        "args": ["mallory", "owner"],
        "options": {},
        "caller": wire_fuzz.caller(),
    }
    with client(shelf, token, raises=True, **headers) as web:
        answer = web.post("/api/shelf", json=message)

    assert answer.status_code == (200 if token else 403)
    assert shelf.is_team == bool(token)
