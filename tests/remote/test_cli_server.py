"""The command as a client of a real `nuggets serve`, as a new member of a team meets it."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from command_line import run_process
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.remote import PROTOCOL, http_connection
from web_serving import served


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Something that is no server of ours: it answers everything with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer_all() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=answer_all)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_new_member_logs_in_and_works(tmp_path: Path) -> None:
    directory = str(tmp_path / "shelf")
    with served(directory, "--require-token") as server:
        url = server.url.partition("/?")[0].rstrip("/")
        token = (tmp_path / "shelf" / "token").read_bytes()
        stranger = run_process("list", "--dir", url)
        wrong = run_process("login", url, stdin=b"abcdefgh" * 5)
        login = run_process("login", url, stdin=token)
        path = Path(parse_server_url(url).directory) / "token"
        mode = os.stat(path).st_mode & 0o777
        env = {"NUGGETS_DIR": url}
        written = run_process("remember", "project", "port", "8080", "--json", env=env)
        recalled = run_process("recall", "prot", env=env)
        undone = run_process("undo", "--json", env=env)
        missed = run_process("recall", "port", env=env)
        os.chmod(path, 0o644)
        readable = run_process("list", env=env)
        by_variable = run_process("list", env={**env, "NUGGETS_TOKEN": token.decode().strip()})
        run_process("logout", url)
        after = run_process("list", env=env)

    assert stranger.code == 1
    assert f"nuggets login {url}" in stranger.err
    assert wrong.code == 1
    assert "abcdefgh" not in wrong.err + wrong.out
    assert login.code == 0
    assert token.decode().strip() not in login.out
    assert mode == 0o600
    assert written.json["content"] == "8080"
    assert "8080" in recalled.out
    assert undone.code == 0
    assert missed.code == 1
    assert "others can read" in readable.err
    assert by_variable.code == 0
    assert "nuggets login" in after.err


def test_what_needs_a_memory_file_here_says_so(tmp_path: Path) -> None:
    directory = str(tmp_path / "shelf")
    with served(directory, "--require-token") as server:
        env = {
            "NUGGETS_DIR": server.url.partition("/?")[0].rstrip("/"),
            "NUGGETS_TOKEN": (tmp_path / "shelf" / "token").read_text().strip(),
        }
        reflected = run_process("reflect", env=env)
        promoted = run_process("promote", env=env)

    assert reflected.code == 0
    assert "Not promoted: " in reflected.out
    assert promoted.code == 2
    assert "this needs a shelf on this machine" in promoted.err


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (b"220 mail.example.org ESMTP\r\n\r\n", "the answer is not HTTP"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
            "no Nuggets server",
        ),
        (b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n", "redirect"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{}}",
            "no Nuggets server",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
            b'{"protocol": 999, "result": 1}',
            "update Nuggets on this machine",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
            b'{"protocol": 0, "result": 1}',
            "update Nuggets on the server",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "more than 64 MB"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "damaged"),
        (b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n", "not HTTP"),  # a digit, but no number
        (b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n", "unknown HTTP version"),
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
            b'{"error": {"code": "not_found", "message": "there is nothing"}}',
            "update Nuggets there",
        ),
    ],
)
def test_what_is_no_server_of_ours_is_told_in_one_line(answer: bytes, complaint: str) -> None:
    with answering(answer) as url:
        done = run_process("project", "list", env={"NUGGETS_DIR": url, "NUGGETS_TOKEN": "s3cret"})

    assert done.code == 1
    assert complaint in done.err
    assert "Traceback" not in done.err
    assert "s3cret" not in done.err


INDEX = '{"revision": "x", "ids": [1], "changed": [], "nuggets": []}'


@pytest.mark.parametrize("result", ["null", "7", '"text"', "[7]", INDEX])
@pytest.mark.parametrize(
    "command",
    [
        *("recall x", "remember a b c", "list", "note list", "search x", "history", "sync"),
        "audit",
    ],
)
def test_an_answer_of_another_type_is_refused_in_one_line(result: str, command: str) -> None:
    answer = (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        f'{{"protocol": {PROTOCOL}, "result": {result}}}'
    )
    with answering(answer.encode()) as url:
        done = run_process(*command.split(), env={"NUGGETS_DIR": url, "NUGGETS_TOKEN": "s3cret"})

    assert done.code == 1
    assert "makes no sense" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n", b" "),
    ],
)
def test_an_answer_that_never_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch, first: bytes, more: bytes
) -> None:
    monkeypatch.setattr(http_connection, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(http_connection, "BYTES_PER_SECOND", 10**12)

    def answer() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(first)
            while True:
                connection.sendall(more)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        url = parse_server_url(f"http://127.0.0.1:{listening.getsockname()[1]}")
        connection = http_connection.Connection(url)
        with pytest.raises(http_connection.Unreachable, match="too long"):
            connection.post("/", "", b"{}")
        connection.close()
        thread.join()


def test_a_server_in_the_clear_gets_no_token() -> None:
    done = run_process("list", "--dir", "http://192.0.2.1:6844")

    assert done.code == 1
    assert "in the clear" in done.err
