"""Commands that open the web interface: serve, ui."""

import os
from argparse import ArgumentParser

from nuggets.domain import codec
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.optional_dependencies import check_extra
from nuggets.interfaces.cli.terminal_output import print_text, style
from nuggets.interfaces.open_shelf import open_shelf
from nuggets.operations.client_permissions import PAGE


def _serve_arguments(parser: ArgumentParser) -> None:
    _address_arguments(parser)
    parser.add_argument(
        "--store",
        metavar="URL",
        dest="dir",
        help="the shelf, such as postgresql://…: the same as --dir",
    )
    parser.add_argument(
        "--public-name",
        default="",
        metavar="NAME",
        help="the name by which clients reach it through a proxy, such as memory.example",
    )
    parser.add_argument("--open", action="store_true", help="open the page in your browser")


def _address_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default: this machine only; any other needs the token, "
        "or members)",
    )
    parser.add_argument("--port", type=int, help="port to listen at (default: 6844 or the next)")
    parser.add_argument(
        "--require-token",
        action="store_true",
        help="ask for the token on this machine too, if you share it with others",
    )


def _serve(call: Call) -> Outcome:
    return _run(call, open_browser=call.options.open)


def _ui(call: Call) -> Outcome:
    return _run(call, open_browser=True)


def _run(call: Call, *, open_browser: bool) -> Outcome:
    check_extra("web", "the web interface")
    from nuggets.interfaces.rest.authentication import Access
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


COMMANDS = {
    "serve": Command(
        ("nuggets serve", "nuggets serve --port 8000 --open", "nuggets serve --host 0.0.0.0"),
        _serve,
        _serve_arguments,
        summary="serve the REST interface, the page and MCP over HTTP, and clean up daily",
    ),
    "ui": Command(
        ("nuggets ui",),
        _ui,
        _address_arguments,
    ),
}
