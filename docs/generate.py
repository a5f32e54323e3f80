"""Writes docs/settings.md and docs/cli.md from the program itself. Run it with `make docs`.

Built from the parsers' arguments, not from their help texts: those look different in every
version of Python.
"""

import argparse
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from nuggets.interfaces.cli.command import Command
from nuggets.interfaces.cli.command_table import MODULES, find
from nuggets.interfaces.cli.parsing import GLOBAL_HELP, build_parser
from nuggets.settings import SETTINGS

DOCS = Path(__file__).resolve().parent
NOTICE = "<!-- Written by docs/generate.py; change the program and run `make docs`. -->"
WIDTH = 90  # of a usage line, whatever the terminal
COMMON = ("help", "dir", "json")  # options that every command has are told once

# Variables that are no settings: other programs' conventions, which we follow.
CONVENTIONS = {
    "VISUAL": "the editor that `nuggets note add` and `nuggets note edit` open",
    "EDITOR": "the same, where `VISUAL` is not set",
    "XDG_CONFIG_HOME": "where programs keep their settings, for `nuggets connect`",
    "NUGGETS_STORE": "the shelf, before NUGGETS_DIR; a directory or the URL of a database",
    "NUGGETS_HOOK_SECONDS": "deadline of a hook, for slow machines; 1 by default",
    "NO_COLOR": "if set, nothing is coloured",
    "TERM": "`dumb`: nothing is coloured",
    "DISPLAY": "without it, and without the next, no browser is opened on Linux",
    "WAYLAND_DISPLAY": "see above",
    "OPENBLAS_NUM_THREADS": "set to 1 for a command unless you set it: threads cost more than "
    "they bring",
    "CLAUDE_PROJECT_DIR": "set by a host: the project that its hooks and servers work for",
    "CURSOR_VERSION": "set by a host: tells its hooks from those of others",
}


def pages() -> dict[str, str]:
    """Name and text of every generated page."""
    return {"settings.md": settings_page(), "cli.md": cli_page()}


def settings_page() -> str:
    settings = (
        (f"`{one.name}`", f"`{one.variable}`", _default(one.default), one.meaning, _range(one))
        for one in SETTINGS
    )
    variables = ((f"`{name}`", meaning) for name, meaning in CONVENTIONS.items())
    return _page(
        NOTICE,
        "# Settings",
        "Defaults give way to `config.toml` in the shelf's directory, that to the environment, "
        "and that to the command line.\n"
        "The directory itself is set by the last two alone: a `config.toml` that names a `dir` is "
        "refused, for it lies in one.\n"
        "In Python `save_dir` is what `--dir` is on the command line.\n"
        "`nuggets config` shows every value and where it came from.\n"
        "A value that makes no sense is warned about and left out.",
        _table(("in config.toml", "variable", "default", "meaning", "allowed"), settings),
        "```toml\n"
        "# ~/.nuggets/config.toml\n"
        "reflection_hour = 7\n"
        "quiet_hours_start = -1 # no quiet hours\n"
        "```",
        "## Other variables",
        _table(("variable", "meaning"), variables),
    )


def cli_page() -> str:
    return _page(
        NOTICE,
        "# Commands",
        f"```\n{GLOBAL_HELP}\n```",
        "The exit code is 0 when something was found or done, 1 when nothing was found or it "
        "failed, 2 when the call was wrong, 130 when Ctrl-C ended it. A list may be empty: that "
        "is 0.\n"
        "What is cut to fit a screen is whole in a pipe.\n"
        "What follows `--` is no option, whatever it looks like.",
        *(part for group in MODULES for part in _group(group)),
    )


def _group(title: str) -> Iterator[str]:
    yield f"## {title}"
    for name in MODULES[title]:
        command = find(name)
        if command is not None:
            yield from _command(name, command)


def _command(name: str, command: Command) -> Iterator[str]:
    parser = build_parser(name, command)
    actions = [action for action in parser.arguments if action.dest not in COMMON]
    yield f"### nuggets {name}"
    yield f"{command.summary[:1].upper()}{command.summary[1:]}."
    yield f"```\n{_wrapped(f'nuggets {name}', map(_usage, _positionals_last(actions)))}\n```"
    if actions:
        yield _table(("argument", "meaning"), ((_label(a), _meaning(a)) for a in actions))
    yield "```console\n" + "\n".join(f"$ {example}" for example in command.examples) + "\n```"


def _positionals_last(actions: Iterable[argparse.Action]) -> list[argparse.Action]:
    return sorted(actions, key=lambda action: not action.option_strings)


def _wrapped(name: str, arguments: Iterable[str]) -> str:
    """One or more lines; an option and its value stay together."""
    line = " ".join((name, *(one.replace(" ", "\xa0") for one in arguments)))
    indent = " " * (len(name) + 1)
    wrapped = textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return wrapped.replace("\xa0", " ")


def _usage(action: argparse.Action) -> str:
    if action.option_strings:
        return f"[{_option(action)}]"
    name = (action.metavar if isinstance(action.metavar, str) else action.dest).upper()
    return {None: name, "?": f"[{name}]", "+": f"{name} ...", "*": f"[{name} ...]"}[
        action.nargs if isinstance(action.nargs, str) else None
    ]


def _option(action: argparse.Action) -> str:
    takes_value = action.nargs != 0
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return f"{action.option_strings[-1]} {name}" if takes_value else action.option_strings[-1]


def _label(action: argparse.Action) -> str:
    return f"`{_option(action) if action.option_strings else action.dest.upper()}`"


def _meaning(action: argparse.Action) -> str:
    choices = ", ".join(map(str, action.choices or ()))
    meaning = (action.help or "") % vars(action)
    return (
        meaning if choices in meaning else "; ".join(filter(None, (meaning, f"one of: {choices}")))
    )


def _default(value: object) -> str:
    return f"`{value}`" if value != "" else ""


def _range(setting: object) -> str:
    least, most = getattr(setting, "least", None), getattr(setting, "most", None)
    if most is None:
        return ""
    return f"at most {most}" if least is None else f"{least} to {most}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
