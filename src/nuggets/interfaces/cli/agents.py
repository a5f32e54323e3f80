"""Commands for agents: mcp, hook, connect, disconnect."""

import os
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.extras import check_extra
from nuggets.interfaces.cli.printing import printable, warn
from nuggets.interfaces.connect import HOSTS
from nuggets.interfaces.hooks.payload import EVENTS
from nuggets.place import directory_of
from nuggets.project import current_project
from nuggets.settings import Settings

if TYPE_CHECKING:
    from nuggets.interfaces.mcp.server import Door


def _mcp_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tools",
        choices=("few", "all"),
        default="few",
        help="all: also list_notes, merge_notes, undo and promote (default: few)",
    )


def _mcp(call: Call) -> Outcome:
    check_extra("mcp", "the MCP server")
    from nuggets.interfaces.mcp.server import ALL_TOOLS, FEW_TOOLS, Door, serve_stdio
    from nuggets.interfaces.scheduler import Heartbeat

    tools = ALL_TOOLS if call.options.tools == "all" else FEW_TOOLS
    door = Door(call.settings, companion=Heartbeat)
    _end_in_order(door)
    if sys.stdin is not None and sys.stdin.isatty():
        warn("Speaking MCP on standard input and output, for an agent; Ctrl-C ends it.")
    serve_stdio(door, tools)
    return Outcome(None, [])


def _end_in_order(door: "Door") -> None:
    """The thread that waits for input cannot be called back, so whoever ends this process, a
    person by Ctrl-C or a host, has the shelf closed and the process ended around that thread.

    A second Ctrl-C does not even wait for the shelf. Hosts do: many ask in several ways at once.
    """
    import signal

    def end(number: int, _: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if door.closing:
            return
        try:
            door.close()
        finally:
            os._exit(128 + number)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)


def _hook_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("event", help=f"{', '.join(EVENTS)}, or the host's own name for it")
    parser.add_argument("--host", default="", help="which host calls, where it cannot be seen")


def _hook(call: Call) -> Outcome:
    """Nothing: a host is answered before any word is parsed, and only the help comes from here."""
    return Outcome(None, [])


def _host_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("host", choices=HOSTS, metavar="HOST", help=", ".join(HOSTS))
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for all your projects (the default)")
    where.add_argument("--project", action="store_true", help="for the project you are in")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def _connect(call: Call) -> Outcome:
    return _changed(call, connecting=True)


def _disconnect(call: Call) -> Outcome:
    return _changed(call, connecting=False)


def _changed(call: Call, *, connecting: bool) -> Outcome:
    from nuggets.interfaces.connect.plan import apply, difference, planned

    options = call.options
    scope = "project" if options.project else "user"
    if connecting:
        check_extra("mcp", "the MCP server")
    directory, named = _directory(call.settings, scope)
    edits = planned(
        options.host,
        scope=scope,
        connecting=connecting,
        here=os.getcwd(),
        home=os.path.expanduser("~"),
        shelf_directory=directory,
        named=named,
    )
    changing = [edit for edit in edits if edit.before != edit.after]
    lines = []
    for edit in changing:
        whole = edit.before is None or edit.after is None
        if whole and not options.dry_run:
            what = "New" if edit.before is None else "Removed"
            lines.append(f"{what}: {printable(edit.path)}")
        else:
            lines += [printable(line) for line in difference(edit)]
    if not changing:
        done = "connected" if connecting else "disconnected"
        lines.append(f"{options.host} is {done} already; nothing to do.")
    elif options.dry_run:
        lines.append("Nothing was written: --dry-run.")
    else:
        backups = apply(changing, directory, connecting=connecting)
        lines += [f"Backup: {printable(backup)}" for backup in backups]
        verb = "Connected" if connecting else "Disconnected"
        lines.append(f"{verb} {options.host}. Start it anew to see the change.")
        if connecting and not named and call.settings.origins["dir"] == "environment":
            lines.append("NUGGETS_DIR is yours alone, so the project's files do not name it.")
    if changing and connecting and scope == "project" and not current_project():
        here = printable(os.getcwd())
        warn(f"This is no git repository, so {options.host} is connected in {here} alone.")
    shape = {
        "host": options.host,
        "scope": scope,
        "dryRun": options.dry_run,
        "files": [edit.path for edit in changing],
    }
    return Outcome(shape, lines)


def _directory(settings: Settings, scope: str) -> tuple[str, bool]:
    """The shelf's directory, and whether the agent has to be told: it does not know our choice.

    A project's files are shared, so there only one that was asked for in this call is named.
    """
    path, origin = directory_of(settings["dir"]), settings.origins["dir"]
    if not path:
        raise InvalidInput("an agent needs a shelf that lasts: name a directory with --dir")
    return path, origin == "command line" if scope == "project" else origin != "default"


COMMANDS = {
    "mcp": Command(
        ("nuggets mcp", "nuggets mcp --tools all"),
        _mcp,
        _mcp_arguments,
        summary="serve memory to an agent over MCP, on standard input and output",
    ),
    "hook": Command(
        ('echo \'{"prompt": "where is auth?"}\' | nuggets hook user-prompt',),
        _hook,
        _hook_arguments,
        summary="answer a hook of an agent's host; hosts call this, people use `nuggets connect`",
    ),
    "connect": Command(
        ("nuggets connect claude-code", "nuggets connect codex --project --dry-run"),
        _connect,
        _host_arguments,
        summary="connect an agent: its MCP server and its hooks, in the agent's own configuration",
        changes=True,
    ),
    "disconnect": Command(
        ("nuggets disconnect claude-code",),
        _disconnect,
        _host_arguments,
        summary="take out what connect put into an agent's configuration",
        changes=True,
    ),
}
