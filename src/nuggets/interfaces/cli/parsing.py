"""From words on a command line to options, and the help texts on the way."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli import GROUPS, MODULES
from nuggets.interfaces.cli.command import Command
from nuggets.interfaces.cli.printing import screen_width

GLOBAL_HELP = """\
Global options:
  --dir DIR    the shelf's directory (default: NUGGETS_DIR, else ~/.nuggets)
  --json       print one JSON value and nothing else
  --version    print the version
  --help       this text, or with a command its own help with examples"""

_PLAIN = "\0"  # stands before a word that is no option; no argument can contain it


def overview(name: str, arguments: Sequence[str]) -> int:
    """All commands on one screen; also the answer to a name that is none of them."""
    if "--version" in arguments:
        from importlib.metadata import version

        print(f"nuggets {version('nuggets-memory')}")
        return 0
    wants_help = bool({"--help", "-h"} & set(arguments))
    if not wants_help and ("--json" in arguments or name not in ("", *GROUPS)):
        return _complain(_no_such_command(name), arguments)
    if name in GROUPS:
        print(f"Usage: nuggets {name} COMMAND [options]\n")
        _print_commands({full: entry for full, entry in _all().items() if _begins(full, name)})
    else:
        print("Local memory for AI agents: facts and notes that outlive the session.\n")
        print("Usage: nuggets COMMAND [options]\n")
        for title, commands in MODULES.items():
            print(f"{title}:")
            _print_commands(commands)
            print()
        print(GLOBAL_HELP)
        print("\nTry `nuggets demo` first.")
    return 0 if wants_help or not name else 2


def _all() -> dict[str, tuple[str, str]]:
    return {name: entry for commands in MODULES.values() for name, entry in commands.items()}


def _begins(name: str, group: str) -> bool:
    return name.startswith(f"{group} ")


def _no_such_command(name: str) -> str:
    if name in ("", *GROUPS):
        return f"name a command; see `nuggets {name} --help`".replace("  ", " ")
    from difflib import get_close_matches

    close = get_close_matches(name, _all(), 1)
    hint = f"did you mean `nuggets {close[0]}`?" if close else "see `nuggets --help`"
    return f"there is no command {name!r}; {hint}"


def _complain(problem: str, arguments: Sequence[str]) -> int:
    from nuggets.interfaces.cli.running import complain

    return complain(InvalidInput(problem), as_json="--json" in arguments)


def _print_commands(commands: Mapping[str, tuple[str, str]]) -> None:
    for name, (_, summary) in commands.items():
        print(f"  {name:12}  {summary}")


class _Parser(argparse.ArgumentParser):
    """Leaves it to the caller how a mistake is told: a script wants JSON."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(message)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """With a width of ours: argparse would load `shutil` in every call just to find one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(100, screen_width()) - 2)


def parser_for(name: str, command: Command) -> argparse.ArgumentParser:
    """The parser of one command, with its examples."""
    examples = "".join(f"\n  {example}" for example in command.examples)
    parser = _Parser(
        prog=f"nuggets {name}",
        description=command.summary[:1].upper() + command.summary[1:] + ".",
        epilog=f"examples:{examples}\n",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    parser.add_argument("--dir", metavar="DIR", type=_directory, help="the shelf's directory")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser


def parsed(name: str, command: Command, arguments: Sequence[str]) -> argparse.Namespace | int:
    """The options of a call, or the exit code if there is nothing to run.

    Global options may stand before the command as well as after it; what follows ``--`` is no
    option, whatever it looks like.
    """
    parser = parser_for(name, command)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    plain = [_PLAIN + word for word in arguments[end + 1 :]]
    try:
        options = _parse(parser, [*arguments[:end], *plain])
    except SystemExit:  # argparse has printed its help
        return 0
    except InvalidInput as problem:
        said = str(problem).replace(_PLAIN, "")
        if "--json" not in arguments[:end]:
            parser.print_usage(sys.stderr)
            said += f"; see `nuggets {name} --help`"
        return _complain(said, arguments[:end])
    return argparse.Namespace(**{option: _bare(given) for option, given in vars(options).items()})


def _parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Options between positionals need the slower way only where positionals are optional."""
    if all(action.nargs is None for action in parser._get_positional_actions()):
        return parser.parse_args(words)
    return parser.parse_intermixed_args(words)


def _bare(given: object) -> object:
    if isinstance(given, list):
        return [_bare(one) for one in given]
    return given.removeprefix(_PLAIN) if isinstance(given, str) else given


def _directory(path: str) -> str:
    if not path:  # an unset variable in a script, which must not mean where it happens to run
        raise argparse.ArgumentTypeError("it is empty; name a directory")
    return path
