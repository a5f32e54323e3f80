"""Commands that share a memory: with a team (its members, and a shelf at a server: login, logout,
sync, queue), with a folder of Markdown (vault), with other machines (pair)."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.records import ROLES, MemoryNote
from nuggets.errors import Conflict, InvalidInput, NuggetsError
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.terminal_output import (
    LISTED,
    TITLE_WIDTH,
    Progress,
    escape_controls,
    fit,
    format_minute,
    list_items,
    name_notes,
    one_line,
    print_outcome,
    style,
    table,
    warn,
)
from nuggets.operations.permissions import parse_role

if TYPE_CHECKING:
    from nuggets.maintenance.paired_machines import PairResult
    from nuggets.maintenance.vault import VaultResult
    from nuggets.remote.offline import WaitingCall
    from nuggets.remote.remote_shelf import RemoteShelf


# --- member add, list, revoke ------------------------------------------------------------------


@command(
    "member add",
    argument("name", "small letters, digits, - and _"),
    argument("--role", f"what they may do: {', '.join(ROLES)} (default: writer)", default="writer"),
    flag("--again", "a new token for someone who is or was a member"),
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


@command("member list")
def _list_members(call: Call) -> Outcome:
    members = call.shelf.members()
    if not members:
        return Outcome(members, ["There are no members: `nuggets member add NAME` makes one."])
    rows = [
        (
            member.name,
            member.role,
            format_minute(member.since),
            format_minute(member.revoked_at) if member.revoked_at else "",
        )
        for member in members
    ]
    return Outcome(members, table(("NAME", "ROLE", "SINCE", "REVOKED"), rows))


@command(
    "member revoke",
    argument("name", "whose token ends"),
    examples=("nuggets member revoke alice",),
)
def _revoke_member(call: Call) -> Outcome:
    name = call.options.name
    call.shelf.revoke_member(name)
    return Outcome({"revoked": name}, [f"The token of {one_line(name)} is revoked."])


# --- login, logout, sync, queue ----------------------------------------------------------------


_SERVER_ARGUMENT = argument("server", "the address of the server: https://host")
_SECRET_CHARACTERS = 8192  # read of a token or a passphrase: what servers allow a header


@command(
    "login",
    _SERVER_ARGUMENT,
    argument("--token-file", "read the token from this file (default: ask; or standard input)"),
    examples=("nuggets login https://memory.example.org", "nuggets login https://host < token"),
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
    if path is None:
        return _read_secret(f"Token for {server}: ")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_SECRET_CHARACTERS)
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{path} cannot be read: {problem}") from None


def _read_secret(question: str) -> str:
    """A line that someone types unseen, or of standard input; never from the command line, which
    others on this machine can read."""
    if _is_at_terminal():
        from getpass import getpass

        return getpass(question)
    return sys.stdin.readline(_SECRET_CHARACTERS).rstrip("\n") if sys.stdin is not None else ""


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


@command(
    "logout",
    _SERVER_ARGUMENT,
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


@command("queue list")
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


_ID_ARGUMENT = argument("id", "the id that `nuggets queue` shows, or its beginning")


@command(
    "queue retry",
    _ID_ARGUMENT,
    examples=("nuggets queue retry 3f2a91c0",),
)
def _queue_retry(call: Call) -> Outcome:
    from nuggets.remote.http_connection import Unreachable

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


# --- what vault and pair share -----------------------------------------------------------------


_WATCH_ARGUMENT = flag("--watch", "go on until stopped (Ctrl-C)")
_PAUSE = 1.0  # seconds between two looks: an editor saves seldom more often


def _watch(
    call: Call, run: Callable[[], Outcome], folders: Callable[[], Iterable[str]], ending: str
) -> Outcome:
    """Run whenever something has changed on either side, until someone stops it. What it writes
    itself lets it look once more: an edit that is made meanwhile is not missed."""
    from nuggets.filesystem.untrusted_folder import folder_fingerprint

    seen: tuple[Any, ...] = ()
    with suppress(KeyboardInterrupt):
        while True:
            looks = tuple(folder_fingerprint(folder, ending) for folder in folders())
            now = (call.shelf.revision, looks)
            if now != seen:
                try:
                    outcome = run()
                    if not outcome.is_read_only or not seen:
                        print_outcome(outcome, as_json=call.options.json)
                except NuggetsError as problem:  # a drive may come back
                    warn(f"Warning: {escape_controls(str(problem))}")
                seen = now
            time.sleep(_PAUSE)
    return Outcome(None, [])


def _came_in_lines(
    done: "PairResult | VaultResult", dry_run: bool, conflicts: Sequence[MemoryNote]
) -> list[str]:
    lines = []
    for verb, sign, colour, notes in (
        ("added", "+", "green", done.added),
        ("updated", "~", "yellow", done.updated),
        ("deleted", "-", "red", done.removed),
    ):
        told = f"Would be {verb}" if dry_run else verb.capitalize()
        head = f"{told} here: {pluralize(len(notes), 'memory', 'memories')}"
        lines += list_items(head, name_notes(notes), sign, colour)
    if conflicts:
        lines.append(
            f"Both sides had changed {pluralize(len(conflicts), 'memory', 'memories')}: the other "
            "version is kept beside it (nuggets note list --tag conflict)"
        )
        lines += (f"  {fit(note.title, TITLE_WIDTH)}" for note in conflicts[:LISTED])
    return lines


def _problem_lines(problems: Sequence[str]) -> list[str]:
    return list_items(f"Left as it is: {pluralize(len(problems), 'problem')}", problems, "!", "red")


# --- vault -------------------------------------------------------------------------------------


@command(
    "vault",
    argument("folder", "the folder, such as a vault of Obsidian; made if new"),
    _WATCH_ARGUMENT,
    DRY_RUN_ARGUMENT,
    examples=("nuggets vault ~/Notes/Memory", "nuggets vault ~/Notes/Memory --watch"),
    summary="keep a folder of Markdown and your memory equal, both ways: a file for each note, "
    "as Obsidian opens it",
)
def _vault(call: Call) -> Outcome:
    if call.options.watch:
        _refuse_preview(call)
        return _watch(call, lambda: _vault_once(call), lambda: [call.options.folder], ".md")
    return _vault_once(call)


def _vault_once(call: Call) -> Outcome:
    dry_run = call.options.dry_run
    with Progress() as progress:
        done = call.shelf.vault(call.options.folder, dry_run=dry_run, report=progress)
    lines = _came_in_lines(done, dry_run, done.conflicts)
    counts = [
        f"{len(done.written)} {'to write' if dry_run else 'written'}",
        f"{len(done.deleted)} {'to delete' if dry_run else 'deleted'}",
        f"{done.unchanged} left as they are",
    ]
    lines.append(f"Files in {one_line(done.folder)}: {', '.join(counts)}")
    is_quiet = not (done.added or done.updated or done.removed or done.written or done.deleted)
    shape = {**codec.to_json(done), "dryRun": dry_run}
    lines += _problem_lines(done.problems)
    return Outcome(shape, lines, is_read_only=is_quiet and not done.problems)


def _refuse_preview(call: Call) -> None:
    if call.options.dry_run:
        raise InvalidInput("this changes something at once; leave out --dry-run")


# --- pair --------------------------------------------------------------------------------------


@command(
    "pair",
    argument(
        "folder",
        "a folder that your machines share: Syncthing, Dropbox, a git checkout, a stick "
        "(default: every folder that was named before)",
        nargs="?",
    ),
    _WATCH_ARGUMENT,
    flag("--purge", "erase here too what was purged on another machine"),
    flag(
        "--encrypt",
        "ask for a passphrase (or read it from stdin) that encrypts what lies in the folder; "
        "each machine is told it once",
    ),
    flag("--stop", "pair no longer through the folder"),
    DRY_RUN_ARGUMENT,
    examples=("nuggets pair ~/Sync/nuggets", "nuggets pair", "nuggets pair --watch"),
    summary="keep the memory of several machines equal through a folder that they share, "
    "without a server",
)
def _pair(call: Call) -> Outcome:
    options = call.options
    if options.stop:
        if options.folder is None:
            raise InvalidInput("name the folder through which you want to pair no longer")
        call.shelf.unpair(options.folder)
        line = f"Nothing is read from or written to {one_line(options.folder)} any more."
        return Outcome({"folder": options.folder}, [line, "Its files and your memories stay."])
    if options.folder is None and not call.shelf.paired_folders():
        raise InvalidInput("name a folder that your machines share: nuggets pair FOLDER")
    if options.encrypt:
        _refuse_preview(call)
        if options.folder is None:
            raise InvalidInput("name the folder that shall be encrypted")
        call.shelf.pair(options.folder, passphrase=_read_passphrase(options.folder))
    if options.watch:
        _refuse_preview(call)
        if options.folder is not None:
            call.shelf.pair(options.folder)
        return _watch(call, lambda: _pair_once(call), call.shelf.paired_folders, ".jsonl")
    return _pair_once(call)


def _read_passphrase(folder: str) -> str:
    from nuggets.maintenance.paired_machines import KEY_FILE

    passphrase = _read_secret(f"Passphrase of {folder}: ")
    is_new = not os.path.lexists(os.path.join(os.path.expanduser(folder), KEY_FILE))
    if is_new and _is_at_terminal() and _read_secret("The same again: ") != passphrase:
        raise InvalidInput("these were two different passphrases; try again")
    return passphrase


def _pair_once(call: Call) -> Outcome:
    options = call.options
    with Progress("Reading the logs …"):
        results = call.shelf.pair(options.folder, dry_run=options.dry_run)
    lines: list[str] = []
    is_quiet = True
    for done in results:
        lines += _came_in_lines(done, options.dry_run, done.conflicts)
        others = pluralize(done.machines, "other machine")
        has_come_in = bool(done.added or done.updated or done.removed)
        if done.written or has_come_in:
            verb = "Would tell" if options.dry_run else "Told"
            told = f"{verb} {pluralize(done.written, 'change')} to {others}"
        else:
            told = f"Nothing is new here or on {others}"
        lines.append(f"{told} through {one_line(done.folder)}")
        lines += _purged_lines(call, done)
        lines += _problem_lines(done.problems)
        is_quiet &= not (done.written or has_come_in or done.problems)
    shape = {"pairs": codec.to_json(results), "dryRun": options.dry_run}
    return Outcome(shape, lines, is_read_only=is_quiet)


def _purged_lines(call: Call, done: "PairResult") -> list[str]:
    """What was purged elsewhere is deleted here, and erased when someone says so: a folder that
    others write to must not erase what no undo brings back."""
    count = pluralize(len(done.purged_elsewhere), "memory", "memories")
    if not done.purged_elsewhere:
        return []
    if not call.options.purge or call.options.dry_run:
        return [f"{count} purged on another machine: erase it here too with nuggets pair --purge"]
    for note_id in done.purged_elsewhere:
        call.shelf.purge(note_id)
    return [f"Erased {count} here, as on another machine"]
