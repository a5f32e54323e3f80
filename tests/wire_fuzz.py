"""Requests that no client of ours would send, to all methods of a server: the long form.

python tests/wire_fuzz.py REQUESTS [SEED] [SHELF]

Each is a request that a client could send with one or more of its parts replaced, taken away or
added. No answer may be a 500, and after all of them the shelf is whole. `SHELF`: a directory or a
database; by default a directory that is removed afterwards. What fails is printed as JSON.
"""

import asyncio
import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlencode

from nuggets import NuggetShelf
from nuggets.domain.records import Role
from nuggets.interfaces.hook_endpoint import HookEndpoint
from nuggets.interfaces.request_shelf import Team
from nuggets.interfaces.rest import OPERATIONS, application
from nuggets.operations.idempotent_calls import Call, Caller
from nuggets.operations.operation_table import CALLABLE
from nuggets.operations.permissions import Client
from nuggets.operations.project_identity import Location, Place
from nuggets.remote import CALL_PATH, HOOK_PATH, PROTOCOL, encode

HOST = "127.0.0.1:1"
NOTE = "note-work-00000001"
MOMENT = "2026-01-31T09:00:00.000Z"
DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]
HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308),
    *("", " ", "a", "\0", "a\0b", "\ud800", "\udfff", "٣", "🎉" * 100, "x" * 5000, "x" * 70_000),
    *("9999-12-31T23:59:59Z", "0001-01-01", "2026-13-45", "tomorrow", "-1", "1e9", "NaN"),
    *("'; DROP TABLE notes; --", "%s", "{}", "../../etc/passwd", "/", "http://[", "*", "\\"),
    *([], ["a"], [None], [[]], [1, "a"], ["a"] * 300, [{}], {}, {"a": 1}, {"@": "list"}),
    *({"path": 1}, {"path": "a", "lines": [1]}, {"id": []}, {"": ""}, {"\ud800": 1}),
)
ARGUMENTS: Mapping[str, tuple[list[Any], dict[str, Any]]] = {  # of a call that does something
    "get": (["work"], {}),
    "has": (["work"], {}),
    "status": (["work"], {}),
    "recall": (["port"], {"nugget": None, "session": "s", "as_of": MOMENT}),
    "recall_or_search": (["port", "work", "s", 5], {}),
    "facts": (["work"], {}),
    "get_note": ([NOTE], {"nugget": "work", "session": "s", "archived": True}),
    "get_notes": ([[NOTE, "x"]], {}),
    "count_hit": ([NOTE, "s", "opened"], {}),
    "list_notes": ([{"tag": "a"}], {"scope": "project", "nugget": "work", "kind": "note"}),
    "search_notes": (["deploy", 5, {"type": "note"}], {"session": "s", "tag": "a"}),
    "explain": (["deploy", NOTE, True], {}),
    "notes_titled": (["Deploys"], {}),
    "sessions": ([], {"all_projects": True}),
    "get_session": ([None], {}),
    "search_sessions": (["deploy", 5], {"all_projects": True}),
    "commits": ([0], {}),
    "commit_summaries": ([0, 5], {}),
    "history": ([NOTE, 5, 0], {}),
    "versions": ([NOTE, "work"], {}),
    "note_at": ([NOTE, MOMENT], {}),
    "commit": ([1], {}),
    "changes_in_effect": ([0], {}),
    "undoable": ([[1, 2]], {}),
    "next_run": ([MOMENT], {}),
    "copy_index": ([5], {}),
    "create": (["other"], {"dims": 512, "banks": 2, "sharpen_p": 1.5}),
    "get_or_create": (["other"], {"max_facts": 3, "temperature": 0.5}),
    "remove": (["other"], {}),
    "remember": (
        ["work", "port", "8080"],
        {"subject": "user:primary", "scope": "project", "confidence": 0.5, "valid_from": MOMENT},
    ),
    "forget": (["work", "port"], {}),
    "clear": (["other"], {}),
    "create_note": (
        ["work", "Deploys", "Never on Fridays.", ["rules"], MOMENT],
        {"type": "note", "source": "inferred", "stability": "durable", "project": "p"},
    ),
    "edit_note": (
        [NOTE, "Now on Fridays.", "Deploys", ["rules"], False],
        {"nugget": "work", "valid_until": MOMENT, "supersedes": "port"},
    ),
    "delete_note": ([NOTE, False, "work"], {}),
    "restore_note": ([NOTE, "work"], {}),
    "add_link": ([NOTE, "port", "because", "work"], {}),
    "remove_link": ([NOTE, "port", "because", "work"], {}),
    "merge_notes": ([NOTE, "port", "same", "work"], {"dry_run": True}),
    "keep_session": (
        [
            {
                **{"session": "s", "host": "h", "project": "p", "title": "t", "text": "x"},
                **{"started": MOMENT, "ended": MOMENT},
            }
        ],
        {},
    ),
    "undo": ([None, True], {}),
    "reflect": (["work", 5, True], {}),
    "import_memories": (
        [
            [
                {"title": "Brought", "content": "along", "tags": ["a"], "hits": 1, "kind": "note"},
                {
                    **{"id": "note-work-00000009", "links": [{"to": NOTE, "reason": "r"}]},
                    **{"title": "T", "anchors": [{"path": "a.py", "lines": ["x"]}], "odd": [1]},
                },
            ]
        ],
        {"dry_run": False},
    ),
    "move_project": (["p", "q"], {"dry_run": True}),
    "join_project": (["p"], {"dry_run": True}),
    "purge": (["gone", "work"], {}),
    "purge_fact": (["work", "gone"], {}),
    "run_daily": ([MOMENT], {}),
    "add_member": (["carol", "reader"], {"again": True}),
    "revoke_member": (["carol"], {}),
}


class Request(NamedTuple):
    """One request as it is sent."""

    method: str
    path: str  # with its query
    body: bytes
    member: str


class Failure(NamedTuple):
    """A request that a server must be able to answer, and what it did."""

    request: Request
    answer: str


class Outcome(NamedTuple):
    """What came of all requests."""

    statuses: Counter[int]
    failures: list[Failure]


def caller() -> dict[str, Any]:
    """A caller with all that a caller can have."""
    here = Location("/a/.git//m", "/a/.git//m", "1", "abc", "example.org/a")
    shape: dict[str, Any] = encode(
        Caller(
            Client("cli", session="s", at_work=True),
            None,
            Place(here, ("/a//m",)),
            digits=("12345678",),
            call=Call("ab", 3, "cd", MOMENT),
        )
    )
    anchor = {"path": "a.py", "line": 1, "lines": ["x"], "symbols": ["f"], "size": 1}
    return {**shape, "anchors": [anchor]}


def wire_message(chance: random.Random) -> tuple[str, Any]:
    """A call of a method, or the question of a prompt hook."""
    if chance.random() < 0.05:
        place = caller()["place"]
        entry = {"prompt": "deploy?", "shown": [NOTE], "at": MOMENT, "forgotten": True}
        asked = {"host": "h", "session": "s", "prompt": "When do we deploy?", "entries": [entry]}
        return HOOK_PATH, {"protocol": PROTOCOL, **asked, "place": place, "project": ""}
    method = chance.choice(list(CALLABLE))
    args, options = ARGUMENTS.get(method, ([], {}))
    shape = caller()
    if "call" in shape:
        shape["call"]["id"] = f"{chance.getrandbits(60):x}"
    shape["digits"] = [f"{chance.getrandbits(32):08x}" for _ in range(3)]
    message = {"protocol": PROTOCOL, "method": method, "args": args, "options": options}
    return CALL_PATH, copy.deepcopy({**message, "caller": shape})


def damage(shape: Any, chance: random.Random) -> Any:
    """The same with one part replaced, taken away or added."""
    places = list(_places(shape))
    if not places:
        return chance.choice(HOSTILE)
    holder, key = chance.choice(places)
    act = chance.random()
    if act < 0.75:
        holder[key] = copy.deepcopy(chance.choice(HOSTILE))
    elif act < 0.85:
        del holder[key]
    elif isinstance(holder, dict):
        name = chance.choice(["mood", "", "@", "dry_run", "nugget", "anchors"])
        holder[name] = copy.deepcopy(chance.choice(HOSTILE))  # else the next damage would change it
    else:
        holder.append(copy.deepcopy(chance.choice(HOSTILE)))
    return shape


def _places(shape: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(shape) if isinstance(shape, dict) else range(len(shape))
    for key in keys:
        yield shape, key
        if isinstance(shape[key], dict | list):
            yield from _places(shape[key])


def rest_request(chance: random.Random) -> tuple[str, str, Any]:
    """A request to an operation, with parts of the right types."""
    operation = chance.choice(OPERATIONS)
    parts = {"nugget": "work", "note": NOTE, "revision": "1"}
    path = operation.path
    for name in ("nugget", "note", "revision", "link", "other"):
        part = parts.get(name, "x")
        if chance.random() < 0.1:
            part = str(chance.choice(HOSTILE)).encode(errors="replace").decode()
        path = path.replace(f"{{{name}}}", quote(part, safe=""))
    asked = () if operation.has_body else operation.parameters.kinds
    names = [name for name in asked if chance.random() < 0.7]
    query = {name: chance.choice(["deploy", "1", "true", NOTE, "work"]) for name in names}
    if names and chance.random() < 0.4:
        worse = str(chance.choice(HOSTILE)).encode(errors="replace").decode()
        query[chance.choice(names)] = worse
    if query:
        path = f"{path}?{urlencode(query)}"
    return operation.method, path, body_of(operation, chance)


def body_of(operation: Any, chance: random.Random) -> Any:
    if not operation.has_body:
        return None
    samples: dict[str, Any] = {
        **{"key": "port", "value": "8080", "nugget": "work", "title": "Deploys", "content": "text"},
        **{"tags": ["a"], "query": "deploy", "session": "s", "source": "inferred", "reason": "r"},
        **{"a": NOTE, "b": "port", "hidden": False, "expected": MOMENT, "scope": "project"},
        **{"type": "note", "confidence": 0.5, "stability": "durable", "project": "p"},
        **{"valid_from": MOMENT, "valid_until": MOMENT, "supersedes": "port", "subject": "s"},
        **{"revision": 1, "limit": 5, "dryRun": True, "name": "carol", "role": "reader"},
    }
    if operation.name == "mergeNotes":
        samples["source"] = "port"
    names = [name for name in samples if f'"{name}"' in json.dumps(operation_names(operation))]
    return {name: copy.deepcopy(samples[name]) for name in names if chance.random() < 0.8}


def operation_names(operation: Any) -> list[str]:
    return list(operation.parameters.kinds)


def make_request(chance: random.Random) -> Request:
    """One request: most of them damaged."""
    member = chance.choice(["alice", "alice", "olga", "rita"])
    if chance.random() < 0.7:
        method, (path, shape) = "POST", wire_message(chance)
    else:
        method, path, shape = rest_request(chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        if isinstance(shape, dict | list):
            shape = damage(shape, chance)
    body = b"" if shape is None and method == "GET" else json.dumps(shape).encode()
    if chance.random() < 0.02:
        body = body[: chance.randrange(len(body) + 1)] + chance.randbytes(2)
    return Request(method, path, body, member)


class Server:
    """A server of a team in this process, called without a socket."""

    def __init__(self, app: Any, tokens: Mapping[str, str]) -> None:
        self._app = app
        self._tokens = tokens

    async def send(self, request: Request) -> tuple[int, bytes]:
        path, _, query = request.path.partition("?")
        token = self._tokens[request.member]
        headers = [
            (b"host", HOST.encode()),
            (b"authorization", f"Bearer {token}".encode()),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(request.body)).encode()),
        ]
        scope = {
            **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1"},
            **{"method": request.method, "path": unquote(path), "raw_path": path.encode()},
            **{"query_string": query.encode(), "headers": headers, "scheme": "http"},
            **{"client": ("127.0.0.1", 9), "server": ("127.0.0.1", 1), "root_path": ""},
        }
        status, parts = [0], list[bytes]()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": request.body, "more_body": False}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            parts.append(message.get("body", b""))

        try:
            await self._app(scope, receive, send)
        except Exception as problem:  # the server's own handler answers, then raises it again
            return 500, repr(problem).encode()
        return status[0], b"".join(parts)


@contextmanager
def served(shelf: NuggetShelf) -> Iterator[Server]:
    roles: dict[str, Role] = {"rita": "reader", "alice": "writer", "olga": "owner"}
    tokens = {name: shelf.add_member(name, role) for name, role in roles.items()}
    team = Team(shelf)
    app = application(
        shelf,
        is_ours=lambda host: host == HOST,
        access=team,
        mounts={HOOK_PATH: HookEndpoint(shelf)},
    )
    try:
        yield Server(app, tokens)
    finally:
        team.close()


def fill(shelf: NuggetShelf) -> None:
    shelf.remember("work", "port", "8080", scope="shared")
    shelf.import_memories(
        [{"id": NOTE, "title": "Deploys", "content": "Never on Fridays.", "scope": "shared"}]
    )


def fuzz(
    shelf: NuggetShelf, requests: int, seed: int, report: Callable[[str], None] = lambda text: None
) -> Outcome:
    """Send the requests; the shelf is looked at now and then, and at the end."""
    chance = random.Random(seed)
    outcome = Outcome(Counter(), [])
    with served(shelf) as server:

        async def send_all() -> None:
            for number in range(1, requests + 1):
                if number % 500 == 1:
                    fill(shelf)
                request = make_request(chance)
                if "/api/events" in request.path:
                    continue
                status, answer = await server.send(request)
                outcome.statuses[status] += 1
                if status >= 500 or not status:
                    text = answer.decode(errors="replace")[:400]
                    outcome.failures.append(Failure(request, text))
                if number % 5000 == 0 or number == requests:
                    report(f"{number} {dict(outcome.statuses)} {len(outcome.failures)} failures")
                    look_at(shelf, outcome, request)

        asyncio.run(send_all())
    return outcome


def look_at(shelf: NuggetShelf, outcome: Outcome, last: Request) -> None:
    """Is everything readable, for everybody?"""
    try:
        shelf.list_notes(include_hidden=True)
        shelf.history(limit=50)
        problems = [f"{defect}" for defect in shelf.checkup() if defect.harmful]
        problems += [warning for warning in shelf.warnings if "damaged" in warning]
    except Exception as problem:
        problems = [repr(problem)]
    outcome.failures.extend(Failure(last, problem) for problem in problems)


def main(requests: str, seed: str = "1", place: str = "") -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        NuggetShelf(place or Path(folder) / "team") as shelf,
    ):
        outcome = fuzz(shelf, int(requests), int(seed), lambda text: print(text, flush=True))
    for failure in outcome.failures[:50]:
        print(failure.request, failure.answer)
    print(f"{sum(outcome.statuses.values())} requests, {len(outcome.failures)} failures")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
