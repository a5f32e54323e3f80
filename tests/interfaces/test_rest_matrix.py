"""Every combination of host, origin, token, method and content type, against one rule.

The rule is written here once more, in the form that is obviously right; test_rest_guard.py has the
single cases.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from nuggets import NuggetShelf
from nuggets.interfaces.rest import OPERATIONS
from web_serving import HOST, AppClient, client

TOKEN = "secret-token"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
HOSTS = {HOST: True, "evil.example": False}
ORIGINS = {"": True, f"http://{HOST}": True, "http://evil.example": False, "null": False}
TOKENS = {f"Bearer {TOKEN}": True, "Bearer wrong": False, "": False}
KINDS = {"application/json": True, "text/plain": False, "multipart/form-data": False, "": False}
BODY = b'{"nugget":"p","title":"t","content":"c"}'
PATHS = {
    operation.path: {other.method for other in OPERATIONS if other.path == operation.path}
    for operation in OPERATIONS
}
OTHERS = ("/", "/app.js", "/style.css", "/api/openapi.json", "/api/nowhere", "/api/events", "/mcp")


def headers(**values: str) -> Mapping[str, str]:
    return {name.replace("_", "-"): value for name, value in values.items() if value}


def send(web: AppClient, method: str, path: str, **values: str) -> Any:
    return web.request(method, path, headers=headers(**values), content=BODY)


def expected(host: str, origin: str, token: str, method: str, kind: str) -> tuple[int, ...]:
    """How `/api/notes`, which can be read and added to, must answer."""
    if not HOSTS[host]:
        return (421,)
    if not ORIGINS[origin]:
        return (403,)
    if not TOKENS[token]:
        return (401,)
    if method in ("POST", "PUT", "PATCH") and not KINDS[kind]:
        return (415,)
    if method not in PATHS["/api/notes"] | {"HEAD"}:
        return (405,)
    return (201, 409) if method == "POST" else (200,)


def combinations() -> Iterator[tuple[str, str, str, str, str]]:
    return product(HOSTS, ORIGINS, TOKENS, METHODS, KINDS)


def test_every_combination_is_answered_by_one_rule(shelf: NuggetShelf) -> None:
    written = 0
    with client(shelf, token=TOKEN) as web:
        for host, origin, token, method, kind in combinations():
            before = shelf.revision
            answer = send(
                *(web, method, "/api/notes"),
                Host=host,
                Origin=origin,
                Authorization=token,
                Content_Type=kind,
            )
            allowed = expected(host, origin, token, method, kind)
            assert answer.status_code in allowed, (host, origin, token, method, kind)
            assert shelf.revision == before or answer.status_code == 201
            written += shelf.revision != before

    assert written > 0


@pytest.mark.parametrize(
    ("violation", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": HOST, "Origin": "http://evil.example"}, 403),
        ({"Host": HOST, "Authorization": "Bearer wrong"}, 401),
    ],
)
def test_no_route_and_no_method_is_an_exception(
    shelf: NuggetShelf, violation: dict[str, str], status: int
) -> None:
    right = {"Authorization": f"Bearer {TOKEN}", "Content_Type": "application/json"}
    with client(shelf, token=TOKEN) as web:
        for path, method in product((*PATHS, *OTHERS), ("GET", "POST", "DELETE", "OPTIONS")):
            answer = send(web, method, path, **{**right, **violation})
            assert answer.status_code == status, (path, method)

    assert shelf.revision == 0


def test_a_method_that_a_route_has_not_is_refused(shelf: NuggetShelf) -> None:
    with client(shelf) as web:
        for path, known in PATHS.items():
            for method in set(METHODS) - known - {"HEAD"}:
                answer = send(web, method, path, Content_Type="application/json")
                assert answer.status_code in (404, 405), (path, method)

    assert shelf.revision == 0
