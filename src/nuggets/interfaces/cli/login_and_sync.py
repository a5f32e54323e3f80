"""Commands for a shelf at a server: login, logout, sync, queue."""

import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from nuggets.errors import InvalidInput
from nuggets.filesystem.server_url import parse_server_url
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import one_line
from nuggets.interfaces.display_text import pluralize
from nuggets.remote.http_connection import Unreachable

if TYPE_CHECKING:
    from nuggets.remote.offline import WaitingCall
    from nuggets.remote.remote_shelf import RemoteShelf

_TOKEN_CHARACTERS = 8192  # characters read of a token's file


def _login_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("server", help="the address of the server: https://host")
    parser.add_argument(
        "--token-file", help="read the token from this file (default: ask; or standard input)"
    )


def _login(call: Call) -> Outcome:
    from nuggets.remote.server_requests import ServerCalls, check_token, write_token

    url = parse_server_url(call.options.server)
    token = check_token(_read_token(call.options.token_file, url.text))
    calls = ServerCalls(url, token=token)
    try:
        answer = calls.post_call("revision")
    finally:
        calls.close()
    path = write_token(url, token)
    lines = [
        f"You are logged in at {url.text}: it has {answer['result']} revisions.",
        f"The token is in {one_line(path)}, which only you can read.",
        f"Use it with --dir {url.text}, or set NUGGETS_DIR={url.text}.",
    ]
    return Outcome({"server": url.text, "tokenFile": path}, lines)


def _read_token(path: str | None, server: str) -> str:
    """The token, never from the command line, which others on this machine can read."""
    if path is not None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read(_TOKEN_CHARACTERS)
        except (OSError, UnicodeDecodeError) as problem:
            raise InvalidInput(f"{path} cannot be read: {problem}") from None
    if sys.stdin is not None and sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"Token for {server}: ")
    return sys.stdin.read(_TOKEN_CHARACTERS) if sys.stdin is not None else ""


def _logout_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("server", help="the address of the server: https://host")


def _logout(call: Call) -> Outcome:
    from nuggets.remote.server_requests import remove_token

    url = parse_server_url(call.options.server)
    if not remove_token(url):
        return Outcome({"removed": False}, [f"There is no token for {url.text}."], 1)
    return Outcome({"removed": True}, [f"The token for {url.text} is removed from this machine."])


def _sync(call: Call) -> Outcome:
    shelf = _remote(call)
    sent = shelf.send_waiting()
    notes = shelf.refresh_copy()
    waiting, rejected = len(shelf.queue.waiting()), len(shelf.queue.rejections())
    lines = [
        f"Sent {pluralize(sent, 'change')}; {waiting} waiting, {rejected} rejected "
        "(`nuggets queue`).",
        f"The local copy holds {pluralize(notes, 'note')}.",
    ]
    shape = {"sent": sent, "waiting": waiting, "rejected": rejected, "notes": notes}
    return Outcome(shape, lines)


def _queue_list(call: Call) -> Outcome:
    queue = _remote(call).queue
    waiting, rejected = queue.waiting(), queue.rejections()
    lines = [_line(waited) for waited in waiting] or ["Nothing waits to be sent."]
    if rejected:
        lines += ["", "Rejected by the server; `nuggets queue retry ID` sends one anyway,"]
        lines += ["`nuggets queue drop ID` gives it up:"]
        for refused in rejected:
            lines += [_line(refused), f"    {one_line(refused.reason)}"]
    shape = {"waiting": [*map(_shape, waiting)], "rejected": [*map(_shape, rejected)]}
    return Outcome(shape, lines)


def _line(call: "WaitingCall") -> str:
    return f"{call.id[:8]}  {one_line(call.at[:16])}  {one_line(call.summary)[:120]}"


def _shape(call: "WaitingCall") -> dict[str, object]:
    message = {name: call.message.get(name) for name in ("method", "args", "options")}
    return {"id": call.id, "at": call.at, **message, "reason": call.reason}


def _id_argument(parser: ArgumentParser) -> None:
    parser.add_argument("id", help="the id that `nuggets queue` shows, or its beginning")


def _queue_retry(call: Call) -> Outcome:
    shelf = _remote(call)
    again = shelf.queue.retry(call.options.id)
    try:
        sent = shelf.send_waiting()
    except Unreachable as problem:
        return Outcome(_shape(again), [f"Queued again; {problem}."])
    return Outcome(_shape(again), [f"Sent {pluralize(sent, 'change')}: {one_line(again.summary)}"])


def _queue_drop(call: Call) -> Outcome:
    given_up = _remote(call).queue.drop(call.options.id)
    return Outcome(_shape(given_up), [f"Given up: {one_line(given_up.summary)}"])


def _remote(call: Call) -> "RemoteShelf":
    from nuggets.remote.remote_shelf import RemoteShelf

    if not isinstance(call.shelf, RemoteShelf):
        raise InvalidInput("this is for a shelf at a server: name it with --dir https://host")
    return call.shelf


COMMANDS = {
    "sync": Command(
        ("nuggets sync", "nuggets sync --dir https://memory.example.org"),
        _sync,
        summary="send queued changes to the server, and refresh the local copy of its notes",
        changes=True,
    ),
    "queue list": Command(("nuggets queue list", "nuggets queue list --json"), _queue_list),
    "queue retry": Command(
        ("nuggets queue retry 3f2a91c0",),
        _queue_retry,
        _id_argument,
        summary="send a rejected change again, whatever others changed since",
        changes=True,
    ),
    "queue drop": Command(
        ("nuggets queue drop 3f2a91c0",), _queue_drop, _id_argument, changes=True
    ),
    "login": Command(
        ("nuggets login https://memory.example.org", "nuggets login https://host < token"),
        _login,
        _login_arguments,
        summary="store your token for a server that keeps a team's memory, in a private file",
        changes=True,
    ),
    "logout": Command(
        ("nuggets logout https://memory.example.org",),
        _logout,
        _logout_arguments,
        changes=True,
    ),
}
