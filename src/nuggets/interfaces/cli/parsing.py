"""From words on a command line to options, and the help texts on the way."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from nuggets.interfaces.cli import GROUPS, MODULES
from nuggets.interfaces.cli.command import Command

GLOBAL_HELP = """\
Global options:
  --dir DIR    the shelf's directory (default: NUGGETS_DIR, else ~/.nuggets)
  --json       print one JSON value and nothing else
  --version    print the version
  --help       this text, or with a command its own help with examples"""


def overview(arguments: Sequence[str]) -> int:
    """All commands on one screen; also the answer to a name that is none of them."""
    if "--version" in arguments:
        from importlib.metadata import version

        print(f"nuggets {version('nuggets-memory')}")
        return 0
    unknown = next((word for word in arguments if not word.startswith("-")), "")
    names = [name for commands in MODULES.values() for name in commands]
    if unknown in GROUPS:
        print(f"Usage: nuggets {unknown} COMMAND [options]\n")
        _print_commands(
            {
                name: entry
                for commands in MODULES.values()
                for name, entry in commands.items()
                if name.startswith(f"{unknown} ")
            }
        )
        return 0 if {"--help", "-h"} & set(arguments) else 2
    if unknown:
        from difflib import get_close_matches

        close = get_close_matches(unknown, names, 1)
        hint = f"did you mean `nuggets {close[0]}`?" if close else "see `nuggets --help`"
        print(f"nuggets: there is no command {unknown!r}; {hint}", file=sys.stderr)
        return 2
    print("Local memory for AI agents: facts and notes that outlive the session.\n")
    print("Usage: nuggets COMMAND [options]\n")
    for title, commands in MODULES.items():
        print(f"{title}:")
        _print_commands(commands)
        print()
    print(GLOBAL_HELP)
    print("\nTry `nuggets demo` first.")
    return 0 if {"--help", "-h"} & set(arguments) else 2


def _print_commands(commands: Mapping[str, tuple[str, str]]) -> None:
    for name, (_, summary) in commands.items():
        print(f"  {name:12}  {summary}")


def parser_for(name: str, command: Command) -> argparse.ArgumentParser:
    """The parser of one command, with its examples."""
    examples = "".join(f"\n  {example}" for example in command.examples)
    parser = argparse.ArgumentParser(
        prog=f"nuggets {name}",
        description=command.summary[:1].upper() + command.summary[1:] + ".",
        epilog=f"examples:{examples}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    parser.add_argument("--dir", metavar="DIR", help="the shelf's directory")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser


def parsed(name: str, command: Command, arguments: Sequence[str]) -> argparse.Namespace | int:
    """The options of a call, or the exit code if there is nothing to run.

    Global options may stand before the command as well as after it.
    """
    try:
        return parser_for(name, command).parse_intermixed_args(arguments)
    except SystemExit as end:  # argparse has printed its help or its complaint
        return int(end.code or 0)
