"""One HTTP/1.1 connection to a server, over TLS unless the server is on this machine.

Not `http.client`, because every hook pays for its imports: that module costs three times as much as
this one and `socket` together.
"""

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.errors import StoreError
from nuggets.filesystem.shelf_location import ServerUrl
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from ssl import SSLContext

CONNECT_SECONDS = 5.0  # two retries of a lost first packet: after 1 and 3 s (RFC 6298)
HOOK_CONNECT_SECONDS = 0.5  # an agent's host waits, and a hook has a second for everything
ANSWER_SECONDS = 30.0  # for an answer; a clean-up takes its time
BYTES_PER_SECOND = 60_000  # of a long answer: half a megabit; a server that drips holds nobody
ANSWER_BYTES = 64 * 1024 * 1024  # 200 notes (`NOTES_PER_REQUEST`) of 320 KB each
_HEAD_BYTES = 64 * 1024  # servers read heads of 16 KB (h11); proxies may add some


class Unreachable(StoreError):
    """The server did not answer. `was_sent`: it may have got the request all the same; `took_long`:
    to try again at once would take as long."""

    was_sent = False
    took_long = False


class Answer(NamedTuple):
    status: int
    content_type: str
    body: bytes


class Connection:
    """Keeps one connection open between requests; opens another if it was closed meanwhile."""

    def __init__(self, url: ServerUrl, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._url = url
        self._connect_seconds = connect_seconds
        self._socket: Any = None
        self._received = bytearray()
        self._deadline = 0.0  # of the answer that is being read; each byte puts it off a little

    def post(self, path: str, token: str, body: bytes, *, may_repeat: bool = True) -> Answer:
        """Send JSON and wait for the answer. `Unreachable` if there is none.

        `may_repeat`: it does no harm if the server gets it twice, so that a kept connection which
        the server closed meanwhile can be tried.
        """
        if not may_repeat:
            self.close()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._url.authority}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Accept: application/json\r\n"
        )
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        request = head.encode("ascii") + b"\r\n" + body
        for _ in range(2 if self._socket is not None else 1):
            with suppress(_Dropped):
                return self._exchange(request)
        raise self._unreachable("it closed the connection", was_sent=True)

    def close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None
        self._received.clear()

    __del__ = close  # whoever forgets to close a shelf in files leaves nothing open either

    def _exchange(self, request: bytes) -> Answer:
        was_sent = False
        try:
            if self._socket is None:
                self._socket = self._connect()
            was_sent = True
            self._socket.settimeout(ANSWER_SECONDS)
            self._socket.sendall(request)
            self._deadline = time.monotonic() + ANSWER_SECONDS
            answer, is_kept = self._read_answer()
            if not is_kept:
                self.close()
            return answer
        except BaseException as problem:
            self.close()
            if isinstance(problem, ConnectionResetError | BrokenPipeError) and was_sent:
                raise _Dropped from None
            if isinstance(problem, OSError):
                away = self._unreachable(_describe(problem), was_sent=was_sent)
                away.took_long = isinstance(problem, TimeoutError)
                raise away from None
            raise

    def _connect(self) -> Any:
        plain = socket.create_connection((self._url.host, self._url.port), self._connect_seconds)
        plain.settimeout(ANSWER_SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._url.is_encrypted:
            return plain
        try:
            return _encrypt(plain, self._url.host)
        except BaseException:
            plain.close()
            raise

    def _read_answer(self) -> tuple[Answer, bool]:
        """The answer, and whether the connection stays open."""
        status, headers = self._read_head()
        while 100 <= status < 200:
            status, headers = self._read_head()
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = self._read_chunks()
        elif headers.get("content-length", "").isdecimal():
            body = self._read(int(headers["content-length"]))
        elif "content-length" in headers or "transfer-encoding" in headers:
            raise self._unreachable("the answer has an unknown HTTP version", was_sent=True)
        else:
            body = self._read_rest()
            headers["connection"] = "close"
        is_kept = headers.get("connection", "").lower() != "close"
        return Answer(status, headers.get("content-type", ""), body), is_kept

    def _read_head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self._received:
            if len(self._received) > _HEAD_BYTES or not self._receive():
                if not self._received:
                    raise _Dropped
                raise self._unreachable("the answer is not HTTP", was_sent=True)
        head, _, rest = bytes(self._received).partition(b"\r\n\r\n")
        self._received[:] = rest
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, status = first.partition(" ")
        if not version.startswith("HTTP/1.") or not status[:3].isdecimal():
            raise self._unreachable("the answer is not HTTP", was_sent=True)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return int(status[:3]), headers

    def _read_chunks(self) -> bytes:
        body = bytearray()
        while True:
            try:
                size = int(self._read_line().partition(b";")[0], 16)
            except ValueError:
                raise self._unreachable("its answer is damaged", was_sent=True) from None
            if not size:
                while self._read_line():  # trailers
                    pass
                return bytes(body)
            if len(body) + size > ANSWER_BYTES:
                raise self._too_large()
            body += self._read(size)
            self._read_line()

    def _read_line(self) -> bytes:
        while b"\r\n" not in self._received:
            if len(self._received) > _HEAD_BYTES or not self._receive():
                raise self._unreachable("its answer ended too early", was_sent=True)
        line, _, rest = bytes(self._received).partition(b"\r\n")
        self._received[:] = rest
        return line

    def _read(self, size: int) -> bytes:
        if size > ANSWER_BYTES:
            raise self._too_large()
        while len(self._received) < size:
            if not self._receive():
                raise self._unreachable("its answer ended too early", was_sent=True)
        body = bytes(self._received[:size])
        del self._received[:size]
        return body

    def _read_rest(self) -> bytes:
        while self._receive():
            if len(self._received) > ANSWER_BYTES:
                raise self._too_large()
        body = bytes(self._received)
        self._received.clear()
        return body

    def _receive(self) -> bool:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        piece = self._socket.recv(256 * 1024)
        self._received += piece
        self._deadline += len(piece) / BYTES_PER_SECOND
        return bool(piece)

    def _too_large(self) -> StoreError:
        return StoreError(
            f"{self._url.text} answers with more than {ANSWER_BYTES >> 20} MB; ask for less"
        )

    def _unreachable(self, reason: str, *, was_sent: bool) -> Unreachable:
        problem = Unreachable(f"{self._url.text} cannot be reached: {reason}")
        problem.was_sent = was_sent
        return problem


class _Dropped(Exception):
    """The other side closed the connection before it answered anything."""


def _encrypt(plain: socket.socket, host: str) -> Any:
    """TLS, with the certificate checked against the system's authorities."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks the certificate and the name
    _load_authorities(context, ssl.get_default_verify_paths())
    try:
        return context.wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as problem:
        raise StoreError(
            f"the certificate of {host} is not valid here: {problem.verify_message}. Nothing was "
            "sent; ask who runs the server, or set SSL_CERT_FILE to its authority's certificate"
        ) from None


def _load_authorities(context: "SSLContext", paths: Any) -> None:
    """The system's authorities. Where each has a file named by its hash, OpenSSL looks up the one
    it needs; to read the file with all of them would take a hook half its time."""
    import os

    if paths.openssl_cafile_env not in os.environ and paths.capath:
        with suppress(OSError):
            if any(name.endswith(".0") for name in os.listdir(paths.capath)):
                context.load_verify_locations(capath=paths.capath)
                return
    context.load_default_certs()


def _describe(problem: OSError) -> str:
    if isinstance(problem, TimeoutError):
        return "it takes too long to answer"
    return str(problem.strerror or problem)
