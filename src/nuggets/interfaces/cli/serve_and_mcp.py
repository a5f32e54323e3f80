"""Commands that serve: serve, ui, mcp."""

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.errors import MissingExtra
from nuggets.interfaces import open_shelf
from nuggets.interfaces.cli.command_table import Call, Outcome, argument, command
from nuggets.interfaces.cli.terminal_output import print_text, style, warn
from nuggets.operations.permissions import PAGE

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


# --- serve, ui ---------------------------------------------------------------------------------


_ADDRESS_ARGUMENTS = (
    argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default: this machine only; any other needs the token, "
        "or members)",
    ),
    argument("--port", type=int, help="port to listen at (default: 6844 or the next)"),
    argument(
        "--require-token",
        action="store_true",
        help="ask for the token on this machine too, if you share it with others",
    ),
)


@command(
    "serve",
    *_ADDRESS_ARGUMENTS,
    argument(
        "--store",
        metavar="URL",
        dest="dir",
        help="the shelf, such as postgresql://…: the same as --dir",
    ),
    argument(
        "--public-name",
        default="",
        metavar="NAME",
        help="the name by which clients reach it through a proxy, such as memory.example",
    ),
    argument("--open", action="store_true", help="open the page in your browser"),
    examples=("nuggets serve", "nuggets serve --port 8000 --open", "nuggets serve --host 0.0.0.0"),
    summary="serve the REST interface, the page and MCP over HTTP, and reflect daily",
)
def _serve(call: Call) -> Outcome:
    return _run(call, open_browser=call.options.open)


@command("ui", *_ADDRESS_ARGUMENTS, examples=("nuggets ui",))
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
    import sys
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
    summary="serve memory to an agent over MCP, on standard input and output",
)
def _mcp(call: Call) -> Outcome:
    check_extra("mcp", "the MCP server")
    from nuggets.interfaces.mcp.server import ALL_TOOLS, FEW_TOOLS, ServerContext, serve_stdio
    from nuggets.interfaces.scheduler import Heartbeat

    tools = ALL_TOOLS if call.options.tools == "all" else FEW_TOOLS
    # A server runs its own daily reflection.
    context = ServerContext(call.settings, companion=None if call.shelf.server else Heartbeat)
    _exit_on_signals(context)
    if sys.stdin is not None and sys.stdin.isatty():
        warn("Speaking MCP on standard input and output, for an agent; Ctrl-C ends it.")
    serve_stdio(context, tools)
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
