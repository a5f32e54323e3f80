"""Requests to one server, their arguments and results as JSON, what its errors mean, and the token
that they carry.

The token of a member is in a private file of this machine, never on a command line.
"""

import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Unpack

from nuggets import errors
from nuggets.domain.type_check import FROM_SERVER, STRICT, fields_of, read
from nuggets.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    NuggetsError,
    SettingsError,
    StoreError,
    opened_before_fork,
)
from nuggets.filesystem.atomic_files import open_plain, unreadable, write_private_file
from nuggets.filesystem.shelf_location import ServerUrl
from nuggets.remote.http_connection import CONNECT_SECONDS, Answer, Connection, Unreachable

PROTOCOL = 1  # another number if a client and a server of different numbers would not understand
CALL_PATH = "/api/shelf"
HOOK_PATH = "/api/hook"
VARIABLE = "NUGGETS_TOKEN"
TOKEN_FILE = "token"
LONGEST_TOKEN = 4096  # characters: what other servers allow for a header; ours have 50
AWAY_SECONDS = 10.0  # that a process does not try again after it waited in vain
_away: dict[ServerUrl, float] = {}  # until when
# what a proxy says of a server behind it that does not run, and of a client that asks too often
_AWAY = (429, 502, 503, 504)
_BY_CODE: Mapping[str, type[NuggetsError]] = {
    "invalid_input": InvalidInput,
    "not_found": NotFound,
    "conflict": Conflict,
    "not_allowed": NotAllowed,
}


class TokenRefused(NotAllowed):
    """The server does not know who asks."""


class ServerCalls:
    """A server as this process talks to it: one connection, used by one call at a time."""

    def __init__(
        self, url: ServerUrl, *, token: str = "", connect_seconds: float = CONNECT_SECONDS
    ) -> None:
        """`token`: by default the one that is stored."""
        self.url = url
        self._token = token
        self._connection = Connection(url, connect_seconds)
        self._turn = threading.Lock()
        self._process = os.getpid()  # a forked child would read the answers to its parent

    def post(self, path: str, message: Mapping[str, Any], *, may_repeat: bool = True) -> Any:
        """Send a message of our protocol; the answer's fields, or the error that it is."""
        if self._process != os.getpid():
            raise opened_before_fork()
        body = json.dumps({"protocol": PROTOCOL, **message}, separators=(",", ":")).encode()
        token = self._token or read_token(self.url)
        if _away.get(self.url, 0.0) > time.monotonic():
            raise Unreachable(f"{self.url.text} cannot be reached")
        try:
            with self._turn:
                answer = self._connection.post(path, token, body, may_repeat=may_repeat)
        except Unreachable as problem:
            if problem.took_long:
                _away[self.url] = time.monotonic() + AWAY_SECONDS
            raise
        return self._interpret(answer)

    def post_call(self, method: str, *args: Any) -> Any:
        """Call a method in nobody's name and in no project."""
        from nuggets.operations.idempotent_calls import Caller
        from nuggets.operations.permissions import Client

        caller = encode(Caller(Client("python")))
        message = {"method": method, "args": encode(args), "options": {}, "caller": caller}
        return self.post(CALL_PATH, message)

    def close(self) -> None:
        if self._process == os.getpid():
            with self._turn:
                self._connection.close()

    def _interpret(self, answer: Answer) -> Any:
        shape: Any = None
        if answer.content_type.partition(";")[0].strip() == "application/json":
            try:
                shape = json.loads(answer.body)
            except (ValueError, RecursionError):
                shape = None
        if answer.status == 200 and isinstance(shape, dict) and "protocol" in shape:
            self._check_protocol(shape["protocol"])
            return shape
        error = shape.get("error") if isinstance(shape, dict) else None
        if isinstance(error, dict):
            raise self._error(answer.status, error)
        raise self._foreign_answer(answer)

    def _check_protocol(self, number: Any) -> None:
        if number == PROTOCOL:
            return
        side = "this machine" if isinstance(number, int) and number > PROTOCOL else "the server"
        raise StoreError(
            f"{self.url.text} speaks protocol {number!r:.20} and this client {PROTOCOL}: update "
            f"Nuggets on {side}"
        )

    def _error(self, status: int, error: Mapping[str, Any]) -> NuggetsError:
        message = str(error.get("message", ""))[:4000]
        if "protocol" in error:
            self._check_protocol(error["protocol"])
        if status == 401:
            return TokenRefused(
                f"{self.url.text} does not take your token: there is none, it was revoked, or it "
                f"is another server's. `nuggets login {self.url.text}` stores one (a token in "
                f"{VARIABLE} comes first)"
            )
        if status == 404 and "type" not in error:
            return StoreError(
                f"{self.url.text} runs a version of Nuggets that serves no shelves to other "
                "machines; update Nuggets there"
            )
        kind = ERRORS.get(str(error.get("type"))) or _BY_CODE.get(str(error.get("code")))
        return kind(message) if kind else StoreError(f"{self.url.text}: {message}")

    def _foreign_answer(self, answer: Answer) -> NuggetsError:
        """Something between us and the server answered, or something else is there."""
        if answer.status in _AWAY:
            return Unreachable(f"{self.url.text} cannot be reached: HTTP status {answer.status}")
        if 300 <= answer.status < 400:
            return StoreError(
                f"{self.url.text} answers with a redirect, which is not followed because of the "
                "token; use the address that it leads to"
            )
        kind = answer.content_type.partition(";")[0].strip()[:60] or "nothing that says its type"
        return StoreError(
            f"what answers at {self.url.text} is no Nuggets server: HTTP status {answer.status}, "
            f"{kind}; check the address"
        )


# --- the token ------------------------------------------------------------------------------------


def read_token(url: ServerUrl) -> str:
    """The token for a server: of the environment, else of its file; "" if there is none."""
    token = os.environ.get(VARIABLE, "").strip()
    if token:
        return check_token(token)
    path = os.path.join(url.directory, TOKEN_FILE)
    try:
        with open(path, encoding="utf-8", opener=open_plain) as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise SettingsError(
                    f"others can read {path}; ask for a new token, and `nuggets login {url.text}`"
                )
            return check_token(file.read(LONGEST_TOKEN + 1).strip())
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        if isinstance(problem, OSError):
            raise unreadable(path, problem) from problem
        raise SettingsError(f"{path} holds no token; `nuggets login {url.text}`") from None


def write_token(url: ServerUrl, token: str) -> str:
    """Keep a token; the path of its file."""
    path = os.path.join(url.directory, TOKEN_FILE)
    write_private_file(path, f"{check_token(token)}\n".encode(), durable=True)
    return path


def remove_token(url: ServerUrl) -> bool:
    """Forget the token; False if there was none."""
    try:
        os.unlink(os.path.join(url.directory, TOKEN_FILE))
    except FileNotFoundError:
        return False
    return True


def check_token(token: str) -> str:
    """The token, if it can be one: it goes into a header. It is never shown."""
    text = token.strip()
    is_line = text.isascii() and text.isprintable() and " " not in text
    if not text or len(text) > LONGEST_TOKEN or not is_line:
        raise InvalidInput("this is no token: it has printable ASCII characters and no blanks")
    return text


# --- arguments, results and errors as JSON -----------------------------------------------------


_MODULES = {  # of the types that annotations name in quotes, so that they are imported when needed
    "Explanation": "nuggets.search.explanation",
    "Finding": "nuggets.maintenance.audit_and_daily_run",
    "Iterable": "collections.abc",
    "Mapping": "collections.abc",
    "MemoryVersion": "nuggets.domain.records",
    "NoteFilters": "nuggets.domain.type_check",
    "NoteMeta": "nuggets.domain.type_check",
    "NuggetOptions": "nuggets.domain.type_check",
    "NuggetShelf": "nuggets.shelf",
    "Purged": "nuggets.maintenance.purge",
    "Sequence": "collections.abc",
    "SessionRecord": "nuggets.operations.session_notes",
    "datetime": "datetime",
}
ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, NuggetsError)
}


class NuggetName(str):
    """The name of a nugget that was answered; the client makes its view of it."""


class _Names(dict[str, Any]):
    """What a name in an annotation stands for."""

    def __missing__(self, name: str) -> Any:
        return getattr(import_module(_MODULES[name]), name)


_NAMES = _Names(Any=Any, Nugget=NuggetName, Unpack=Unpack, str=str)


def encode(value: Any) -> Any:
    """A value as what JSON can say."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "_fields"):
        defaults = value._field_defaults
        record: Any = type(value)
        parts = ((name, getattr(value, name)) for name in fields_of(record))
        return {
            name: encode(part)
            for name, part in parts
            if name not in defaults or part != defaults[name]
        }
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    if type(value).__name__ == "datetime":
        return value.isoformat()
    if type(value).__name__ == "Nugget":
        return value.name
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return [encode(part) for part in value]
    raise InvalidInput(f"a server cannot be given {type(value).__name__}: {value!r:.80}")


def decode(shape: Any, kind: Any, where: str) -> Any:
    """What a client sent, as a value of this type; `InvalidInput` says what is wrong where."""
    return read(shape, _resolve(kind), where, STRICT)


def decode_answer(shape: Any, kind: Any, where: str) -> Any:
    """The same of what a server answered, which may know more fields and words."""
    return read(shape, _resolve(kind), where, FROM_SERVER)


@cache
def _resolve(kind: Any) -> Any:
    """The type of an annotation, which may be in quotes."""
    return eval(kind, {}, _NAMES) if isinstance(kind, str) else kind  # a text of our own source


def dump(value: Any) -> bytes:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        errors="surrogatepass"
    )


def error_to_wire(problem: NuggetsError) -> dict[str, Any]:
    """An error in the shape that all errors have, with its class."""
    return {
        "error": {"code": problem.code, "message": str(problem), "type": type(problem).__name__}
    }
