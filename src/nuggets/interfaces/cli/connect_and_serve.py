"""Commands that connect agents, and that serve them and the page: connect, disconnect, hook, serve,
ui, mcp."""

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.errors import InvalidInput, MissingExtra
from nuggets.filesystem.current_project import checkout_root, current_project, is_repository
from nuggets.filesystem.shelf_location import directory_of, written_location
from nuggets.interfaces import open_shelf, pluralize
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.terminal_output import escape_controls, print_text, style, warn
from nuggets.interfaces.connect.hosts import HOSTS
from nuggets.interfaces.hooks.host_payload import EVENTS
from nuggets.operations.permissions import PAGE
from nuggets.settings import Settings

if TYPE_CHECKING:
    from nuggets.interfaces.mcp.server import ServerContext


# --- optional dependencies, and how to install them --------------------------------------------


_MODULES = {  # of each extra that pyproject.toml names
    "mcp": ("mcp", "mcp_types"),  # mcp_types exists from the required version on
    "web": ("mcp", "mcp_types", "starlette", "uvicorn"),
}


def check_extra(extra: str, what: str) -> None:
    """Raise `MissingExtra`, which says how to install it, if a module of an extra is missing."""
    if any(find_spec(module) is None for module in _MODULES[extra]):
        raise MissingExtra(
            f"{what} needs packages that are not installed. Where you installed Nuggets from, run "
            f"`uv tool install --force '.[{extra}]'`, or the same with `pipx` or `pip install`"
        )


# --- connect, disconnect, hook -------------------------------------------------------------------


@command(
    "hook",
    argument("event", ", ".join(EVENTS)),
    argument("--host", "the calling host, if it cannot be detected", default=""),
    flag("--why", "say on standard error how the sentence encoder compared a prompt"),
    examples=('echo \'{"prompt": "where is auth?"}\' | nuggets hook user-prompt',),
    summary="answer a hook of an agent's host; hosts call this, people use `nuggets connect`",
)
def _hook(call: Call) -> Outcome:
    """Never called: `main` runs hooks before parsing. This entry provides the help."""
    return Outcome(None, [])


_HOST_ARGUMENTS = (
    argument("host", ", ".join(HOSTS), choices=HOSTS, metavar="HOST"),
    argument(
        "--user",
        "for all your projects (the default)",
        action="store_false",
        dest="project",
        default=False,
    ),
    flag("--project", "for the project you are in"),
    DRY_RUN_ARGUMENT,
)


@command(
    "connect",
    *_HOST_ARGUMENTS,
    flag(
        "--promote",
        "also promote memories of this project into a marked block of the file that the agent "
        "reads (AGENTS.md, GEMINI.md)",
    ),
    examples=("nuggets connect claude-code", "nuggets connect codex --project --dry-run"),
)
def _connect(call: Call) -> Outcome:
    path = _instruction_file(call.options.host) if call.options.promote else ""
    outcome = _edit_host_files(call, connecting=True)
    outcome = outcome._replace(lines=[*outcome.lines, *_offer_lines()])
    if not path:
        return outcome
    promoted = call.shelf.promotion(path, dry_run=call.options.dry_run)
    verb = "Would promote" if call.options.dry_run else "Promoted"
    count = pluralize(promoted.new_count, "memory", "memories")
    line = f"{verb} {count} to {escape_controls(path)}; the daily reflection brings it up to date."
    return outcome._replace(json={**outcome.json, "promotedTo": path}, lines=[*outcome.lines, line])


def _offer_lines() -> list[str]:
    """What this machine has already, so that the first day is not empty."""
    from nuggets.interfaces.importers.discovery import discover, offers_text

    text = offers_text(discover())
    return [f"Found on this machine: {text}. See them: nuggets import --discover"] if text else []


def _instruction_file(host: str) -> str:
    """The file of the current repository that a host reads; an error that helps without one."""
    from nuggets.domain.marks import INSTRUCTION_FILES

    if host not in INSTRUCTION_FILES:
        names = ", ".join(INSTRUCTION_FILES)
        raise InvalidInput(f"--promote is for {names}; for {host}, `nuggets promote` is enough")
    if not is_repository(current_project()):
        raise InvalidInput("--promote writes into a repository's file; change into the repository")
    return os.path.join(checkout_root(os.getcwd()), INSTRUCTION_FILES[host])


@command(
    "disconnect",
    *_HOST_ARGUMENTS,
    examples=("nuggets disconnect claude-code",),
)
def _disconnect(call: Call) -> Outcome:
    outcome = _edit_host_files(call, connecting=False)
    withdrawn = [] if call.options.dry_run else _withdraw_blocks(call)
    lines = [f"Taken out of {escape_controls(path)}." for path in withdrawn]
    return outcome._replace(lines=[*outcome.lines, *lines])


def _withdraw_blocks(call: Call) -> list[str]:
    """Take our block out of the files that the host reads, unless another connected host does."""
    from nuggets.domain.marks import INSTRUCTION_FILES
    from nuggets.interfaces.connect.settings_edits import connected_files

    name = INSTRUCTION_FILES.get(call.options.host, "")
    blocks = [path for path in call.shelf.promoted_blocks() if os.path.basename(path) == name]
    if call.options.project:
        blocks = [path for path in blocks if os.path.dirname(path) == checkout_root(os.getcwd())]
    is_needed = any(
        connected_files(other, scope)
        for other, file in INSTRUCTION_FILES.items()
        for scope in ("user", "project")
        if file == name
    )
    return [] if is_needed else [path for path in blocks if call.shelf.withdraw_promotion(path)]


def _edit_host_files(call: Call, *, connecting: bool) -> Outcome:
    from nuggets.interfaces.connect.settings_edits import (
        apply_edits,
        both_scopes_message,
        connected_files,
        diff,
        plan_edits,
    )

    options = call.options
    scope, other_scope = ("project", "user") if options.project else ("user", "project")
    if connecting:
        check_extra("mcp", "the MCP server")
    directory, location = _shelf_locations(call.settings, scope)
    edits = plan_edits(
        options.host, scope, connecting=connecting, shelf_directory=directory, location=location
    )
    changes = [edit for edit in edits if edit.before != edit.after]
    lines = []
    for edit in changes:
        is_whole_file = edit.before is None or edit.after is None
        if is_whole_file and not options.dry_run:
            label = "New" if edit.before is None else "Removed"
            lines.append(f"{label}: {escape_controls(edit.path)}")
        else:
            lines += [escape_controls(line) for line in diff(edit)]
    if not changes:
        state = "connected" if connecting else "disconnected"
        lines.append(f"{options.host} is already {state}; nothing to do.")
    elif options.dry_run:
        lines.append("Nothing was written: --dry-run.")
    else:
        backups = apply_edits(changes, directory, connecting=connecting)
        lines += [f"Backup: {escape_controls(backup)}" for backup in backups]
        verb = "Connected" if connecting else "Disconnected"
        lines.append(f"{verb} {options.host}. Restart it to see the change.")
        if connecting and not location and call.settings.origins["dir"] == "environment":
            lines.append("NUGGETS_DIR is not written into the project's files, which others share.")
    if changes and connecting and scope == "project" and not is_repository(current_project()):
        directory = escape_controls(os.getcwd())
        warn(f"Not a git repository: {options.host} is connected only in {directory}.")
    also_in = connected_files(options.host, other_scope)
    if connecting and also_in:
        warn(f"{both_scopes_message(options.host)}.")
    shape = {
        "host": options.host,
        "scope": scope,
        "dryRun": options.dry_run,
        "files": [edit.path for edit in changes],
        "alsoConnectedIn": list(also_in),
    }
    return Outcome(shape, lines)


def _shelf_locations(settings: Settings, scope: str) -> tuple[str, str]:
    """The shelf's directory, and its location for the host's files; "" if they need not name it.

    A project's files are shared, so they name only a shelf given on the command line.
    """
    path, origin = directory_of(settings["dir"]), settings.origins["dir"]
    if not path:
        raise InvalidInput("an agent cannot use a shelf in memory; name a directory with --dir")
    is_named = origin == "command line" if scope == "project" else origin != "default"
    return path, written_location(settings["dir"]) if is_named else ""


# --- serve, ui ---------------------------------------------------------------------------------


_ADDRESS_ARGUMENTS = (
    argument(
        "--host",
        "address to listen at (default: this machine only; any other needs the token, or members)",
        default="127.0.0.1",
    ),
    argument("--port", "port to listen at (default: 6844 or the next)", type=int),
    flag("--require-token", "ask for the token on this machine too, if you share it with others"),
)


@command(
    "serve",
    *_ADDRESS_ARGUMENTS,
    argument(
        "--store",
        "the shelf, such as postgresql://…: the same as --dir",
        metavar="URL",
        dest="dir",
    ),
    argument(
        "--public-name",
        "the name by which clients reach it through a proxy, such as memory.example",
        default="",
        metavar="NAME",
    ),
    flag("--open", "open the page in your browser"),
    examples=("nuggets serve", "nuggets serve --port 8000 --open", "nuggets serve --host 0.0.0.0"),
)
def _serve(call: Call) -> Outcome:
    return _run(call, open_browser=call.options.open)


@command("ui", *_ADDRESS_ARGUMENTS)
def _ui(call: Call) -> Outcome:
    return _run(call, open_browser=True)


def _run(call: Call, *, open_browser: bool) -> Outcome:
    check_extra("web", "the web interface")
    from nuggets.interfaces.rest.guard import Access
    from nuggets.interfaces.serve import Address, access_token, serve

    public_name = getattr(call.options, "public_name", "")
    address = Address(call.options.host, call.options.port, public_name)
    has_members = call.shelf.is_team  # then each of them has a token of their own
    needs_token = call.options.require_token or address.is_for_others
    access = Access(access_token(call.settings)) if needs_token and not has_members else None

    def link() -> str:
        return address.url + (f"?code={access.new_launch_code()}" if access else "")

    def ready() -> None:
        url = link()
        if call.options.json:
            print_text(codec.dumps({"url": url}))
        else:
            whose = "Your team's" if has_members else "Your"
            print_text(f"{whose} memory is at {style(url, 'bold')}  (Ctrl-C ends it)")
        if open_browser:
            _open(url)

    def print_next_link() -> None:
        print_text(f"That link is used. For another browser: {style(link(), 'bold')}")

    if access and not call.options.json:
        access.on_launch = print_next_link

    with open_shelf(call.settings, client=PAGE) as shelf:
        serve(shelf, address, access, ready)
    return Outcome(None, [])


def _open(url: str) -> None:
    """Open a browser, if there is a screen; a text browser would take over the terminal."""
    import webbrowser

    if sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        webbrowser.open(url)


# --- mcp ---------------------------------------------------------------------------------------


@command(
    "mcp",
    argument(
        "--tools",
        choices=("few", "all"),
        default="few",
        help="all: also list_notes, merge_notes, undo and promote (default: few)",
    ),
    examples=("nuggets mcp", "nuggets mcp --tools all"),
)
def _mcp(call: Call) -> Outcome:
    check_extra("mcp", "the MCP server")
    from nuggets.interfaces.mcp.server import ALL_TOOLS, FEW_TOOLS, ServerContext, serve_stdio
    from nuggets.interfaces.scheduler import Heartbeat

    # A server runs its own daily reflection.
    context = ServerContext(call.settings, companion=None if call.shelf.server else Heartbeat)
    _exit_on_signals(context)
    if sys.stdin is not None and sys.stdin.isatty():
        warn("Speaking MCP on standard input and output, for an agent; Ctrl-C ends it.")
    serve_stdio(context, ALL_TOOLS if call.options.tools == "all" else FEW_TOOLS)
    return Outcome(None, [])


def _exit_on_signals(context: "ServerContext") -> None:
    """Close the shelf and exit on SIGINT and SIGTERM.

    The thread that reads stdin cannot be interrupted, so the process ends with `os._exit`. A second
    SIGINT ends it at once. A second SIGTERM is ignored: many hosts send several signals.
    """
    import signal

    def end(number: int, _: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if context.closing:
            return
        try:
            context.close()
        finally:
            os._exit(128 + number)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
