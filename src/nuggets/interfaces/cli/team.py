"""Commands for a team: its members, and a shelf at a server (login, logout, sync, queue)."""

import sys
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import ROLES
from nuggets.errors import Conflict, InvalidInput
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli.command_table import Call, Outcome, argument, command
from nuggets.interfaces.cli.terminal_output import format_minute, one_line, style, table
from nuggets.operations.permissions import parse_role
from nuggets.remote.http_connection import Unreachable

if TYPE_CHECKING:
    from nuggets.remote.offline import WaitingCall
    from nuggets.remote.remote_shelf import RemoteShelf

# --- member add, list, revoke ------------------------------------------------------------------


@command(
    "member add",
    argument("name", help="small letters, digits, - and _"),
    argument(
        "--role", default="writer", help=f"what they may do: {', '.join(ROLES)} (default: writer)"
    ),
    argument("--again", action="store_true", help="a new token for someone who is or was a member"),
    examples=("nuggets member add alice", "nuggets member add bob --role reader"),
)
def _add_member(call: Call) -> Outcome:
    options = call.options
    role = parse_role(options.role)
    token = call.shelf.add_member(options.name, role, again=options.again)
    shape = {"name": options.name, "role": role, "token": token}
    return Outcome(
        shape,
        [
            f"{options.name} is a member ({role}). Their token, which is not shown again:",
            style(token, "bold"),
            "A server of this shelf that was started before its first member needs a restart.",
        ],
    )


@command("member list", examples=("nuggets member list",))
def _list_members(call: Call) -> Outcome:
    members = call.shelf.members()
    shape = [codec.to_json(member) for member in members]
    if not members:
        return Outcome(shape, ["There are no members: `nuggets member add NAME` makes one."])
    rows = [
        (
            member.name,
            member.role,
            format_minute(member.since),
            format_minute(member.revoked_at) if member.revoked_at else "",
        )
        for member in members
    ]
    return Outcome(shape, table(("NAME", "ROLE", "SINCE", "REVOKED"), rows))


@command(
    "member revoke",
    argument("name", help="whose token ends"),
    examples=("nuggets member revoke alice",),
)
def _revoke_member(call: Call) -> Outcome:
    name = call.options.name
    call.shelf.revoke_member(name)
    return Outcome({"revoked": name}, [f"The token of {one_line(name)} is revoked."])


# --- login, logout, sync, queue ----------------------------------------------------------------


_TOKEN_CHARACTERS = 8192  # characters read of a token's file: what servers allow a header


@command(
    "login",
    argument("server", help="the address of the server: https://host"),
    argument(
        "--token-file", help="read the token from this file (default: ask; or standard input)"
    ),
    examples=("nuggets login https://memory.example.org", "nuggets login https://host < token"),
    summary="store your token for a server that keeps a team's memory, in a private file",
)
def _login(call: Call) -> Outcome:
    from nuggets.remote import ServerCalls, check_token, write_token

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


@command(
    "logout",
    argument("server", help="the address of the server: https://host"),
    examples=("nuggets logout https://memory.example.org",),
)
def _logout(call: Call) -> Outcome:
    from nuggets.remote import remove_token

    url = parse_server_url(call.options.server)
    if not remove_token(url):
        return Outcome({"removed": False}, [f"There is no token for {url.text}."], 1)
    return Outcome({"removed": True}, [f"The token for {url.text} is removed from this machine."])


@command(
    "sync",
    examples=("nuggets sync", "nuggets sync --dir https://memory.example.org"),
    summary="send queued changes to the server, and refresh the local copy of its notes",
)
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


@command("queue list", examples=("nuggets queue list", "nuggets queue list --json"))
def _queue_list(call: Call) -> Outcome:
    queue = _remote(call).queue
    waiting, rejected = queue.waiting(), queue.rejections()
    lines = [_waiting_line(waited) for waited in waiting] or ["Nothing waits to be sent."]
    if rejected:
        lines += ["", "Rejected by the server; `nuggets queue retry ID` sends one anyway,"]
        lines += ["`nuggets queue drop ID` gives it up:"]
        for refused in rejected:
            lines += [_waiting_line(refused), f"    {one_line(refused.reason)}", *_texts(refused)]
    shape = {
        "waiting": [*map(_waiting_shape, waiting)],
        "rejected": [*map(_waiting_shape, rejected)],
    }
    return Outcome(shape, lines)


def _waiting_line(call: "WaitingCall") -> str:
    return f"{call.id[:8]}  {one_line(call.at[:16])}  {one_line(call.summary)[:120]}"


def _texts(call: "WaitingCall") -> list[str]:
    """What the change says, whole: its author decides by it, and can copy it."""
    options = call.message.get("options") or {}
    values = [*call.message.get("args", []), *options.values()]
    texts = [value for value in values if isinstance(value, str)]
    return [f"    | {one_line(line)}" for text in texts for line in text.splitlines()]


def _waiting_shape(call: "WaitingCall") -> dict[str, object]:
    message = {name: call.message.get(name) for name in ("method", "args", "options")}
    return {"id": call.id, "at": call.at, **message, "reason": call.reason}


_ID_ARGUMENT = argument("id", help="the id that `nuggets queue` shows, or its beginning")


@command(
    "queue retry",
    _ID_ARGUMENT,
    examples=("nuggets queue retry 3f2a91c0",),
    summary="send a rejected change again, whatever others changed since",
)
def _queue_retry(call: Call) -> Outcome:
    shelf = _remote(call)
    again = shelf.queue.retry(call.options.id)
    try:
        sent = shelf.send_waiting()
    except Unreachable as problem:
        return Outcome(_waiting_shape(again), [f"Queued again; {problem}."])
    for refused in shelf.queue.rejections():
        if refused.id == again.id:
            raise Conflict(f"rejected again: {refused.reason}")
    return Outcome(
        _waiting_shape(again), [f"Sent {pluralize(sent, 'change')}: {one_line(again.summary)}"]
    )


@command("queue drop", _ID_ARGUMENT, examples=("nuggets queue drop 3f2a91c0",))
def _queue_drop(call: Call) -> Outcome:
    given_up = _remote(call).queue.drop(call.options.id)
    return Outcome(_waiting_shape(given_up), [f"Given up: {one_line(given_up.summary)}"])


def _remote(call: Call) -> "RemoteShelf":
    from nuggets.remote.remote_shelf import RemoteShelf

    if not isinstance(call.shelf, RemoteShelf):
        raise InvalidInput("this is for a shelf at a server: name it with --dir https://host")
    return call.shelf
