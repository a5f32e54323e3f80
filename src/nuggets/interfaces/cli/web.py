"""Commands that open the web interface: serve, ui."""

import os
from argparse import ArgumentParser

from nuggets import codec
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.extras import check_extra
from nuggets.interfaces.cli.printing import say, styled
from nuggets.opening import open_shelf


def _serve_arguments(parser: ArgumentParser) -> None:
    _address_arguments(parser)
    parser.add_argument("--open", action="store_true", help="open the page in your browser")


def _address_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default: this machine only; any other needs the token)",
    )
    parser.add_argument("--port", type=int, help="port to listen at (default: 6844 or the next)")


def _serve(call: Call) -> Outcome:
    return _run(call, opens=call.options.open)


def _ui(call: Call) -> Outcome:
    return _run(call, opens=True)


def _run(call: Call, *, opens: bool) -> Outcome:
    check_extra("web", "the web interface")
    from nuggets.interfaces.serve import Address, access_token, serve

    address = Address(call.options.host, call.options.port)
    token = None if address.is_loopback else access_token(call.settings)
    url = address.url + (f"?token={token}" if token else "")

    def ready() -> None:
        if call.options.json:
            say(codec.dumps({"url": url}))
        else:
            say(f"Your memory is at {styled(url, 'bold')}  (Ctrl-C ends it)")
        if opens:
            _open(url)

    with open_shelf(call.settings, client="page") as shelf:
        serve(shelf, address, token, ready)
    return Outcome(None, [])


def _open(url: str) -> None:
    """In a browser, if there is a screen; one that runs in the terminal would take it over."""
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
