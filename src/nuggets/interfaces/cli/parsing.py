"""From words on a command line to options, and the help texts on the way."""

import argparse
from collections.abc import Iterator, Sequence
from typing import NoReturn

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli import GROUPS, MODULES
from nuggets.interfaces.cli.command import Command, Outcome
from nuggets.interfaces.cli.printing import regret, screen_width, warn
from nuggets.interfaces.words import version

GLOBAL_HELP = """\
Global options:
  --dir DIR    the shelf's directory (default: NUGGETS_DIR, else ~/.nuggets)
  --json       print one JSON value and nothing else
  --version    print the version
  --help       this text, or with a command its own help with examples"""

# argparse has each of its words translated, and so looks for catalogues that nobody installed:
# `locale`, and many a `stat`, in every call.
argparse._ = str  # type: ignore[attr-defined]

# What other programs call a thing that we have.
_HABITS = {
    "add": "remember",
    "archive": "note hide",
    "ask": "recall",
    "del": "forget",
    "delete": "forget",
    "find": "search",
    "get": "recall",
    "log": "history",
    "install": "connect",
    "ls": "list",
    "query": "search",
    "redo": "undo",
    "rm": "forget",
    "save": "remember",
    "set": "remember",
    "setup": "connect",
    "show": "recall",
    "store": "remember",
    "update": "remember",
}
_PLAIN = "\0"  # stands before a word that is no option; no argument can contain it


def overview(name: str, arguments: Sequence[str], first: int) -> int:
    """What is said when no command runs: all of them on one screen, the version, or an error.

    `first`: how many of the arguments stood before the name.
    """
    wants_version = "--version" in arguments
    wants_help = wants_version or bool({"--help", "-h"} & set(arguments))
    is_known = name in ("", *GROUPS, *_summaries())
    problem = _misused(arguments[:first])
    if not problem and not wants_version:
        speechless = "--json" in arguments and not wants_help  # a script gets no overview
        problem = "" if is_known and not speechless else no_such_command(name)
    if problem:
        return _complain(problem, arguments)
    told = version_told() if wants_version else help_told(help_text(name))
    return _said(told, as_json="--json" in arguments) or (0 if wants_help or not name else 2)


def version_told() -> Outcome:
    return Outcome({"version": version()}, [f"nuggets {version()}"])


def help_told(text: str) -> Outcome:
    return Outcome({"help": text}, [text.rstrip("\n")])


def _said(told: Outcome, *, as_json: bool) -> int:
    from nuggets.interfaces.cli.running import show

    unheard = show(told, as_json=as_json)
    return regret(unheard) if unheard else 0


def help_text(name: str = "") -> str:
    """All commands on one screen, or those of a group."""
    return "\n".join(_group_lines(name) if name in GROUPS else _all_lines())


def _group_lines(group: str) -> Iterator[str]:
    yield f"Usage: nuggets {group} COMMAND [options]\n"
    for name, summary in _summaries().items():
        if name.startswith(f"{group} "):
            yield _entry(name, summary)


def _all_lines() -> Iterator[str]:
    yield "Local memory for AI agents: facts and notes that outlive the session.\n"
    yield "Usage: nuggets COMMAND [options]\n"
    for title, commands in MODULES.items():
        yield f"{title}:"
        for name, (_, summary) in commands.items():
            yield _entry(name, summary)
        yield ""
    yield GLOBAL_HELP
    yield "\nTry `nuggets demo` first."


def _entry(name: str, summary: str) -> str:
    return f"  {name:{max(map(len, _summaries()))}}  {summary}"


def _summaries() -> dict[str, str]:
    return {name: summary for group in MODULES.values() for name, (_, summary) in group.items()}


def _misused(options: Sequence[str]) -> str:
    """What is wrong with the options before a command; they are few, so no parser is built."""
    rest = iter(options)
    for option in rest:
        if option == "--dir":
            if not next(rest, ""):
                return "--dir: name a directory; see `nuggets --help`"
        elif option not in ("--json", "--version", "--help", "-h") and option[:6] != "--dir=":
            return f"there is no option {option}; see `nuggets --help`"
    return ""


def no_such_command(name: str) -> str:
    if name in ("", *GROUPS):
        return f"name a command; see `nuggets {name} --help`".replace("  ", " ")
    meant = _probably(name)
    hint = f"did you mean {' or '.join(meant)}?" if meant else "see `nuggets --help`"
    return f"there is no command {name!r}; {hint}"


def _probably(name: str) -> list[str]:
    """Commands that someone may have meant: what other programs call so, or what looks alike."""
    meant = [_HABITS[name]] if name in _HABITS else []
    meant += [command for command in _summaries() if command.split()[-1] == name]
    if not meant:
        from difflib import get_close_matches

        meant = get_close_matches(name, _summaries(), 1)
    return [f"`nuggets {command}`" for command in meant]


def _complain(problem: str, arguments: Sequence[str]) -> int:
    from nuggets.interfaces.cli.running import complain

    return complain(InvalidInput(problem), as_json="--json" in arguments)


class _Parser(argparse.ArgumentParser):
    """Leaves it to the caller how a mistake is told: a script wants JSON."""

    as_json = False

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(message)

    def print_help(self, file: object = None) -> None:
        self.exit(_said(help_told(self.format_help()), as_json=self.as_json))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """With a width of ours: argparse would load `shutil` in every call just to find one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(100, screen_width()) - 2)


def parser_for(name: str, command: Command) -> _Parser:
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
    parser.as_json = "--json" in arguments[:end]
    try:
        options = _parse(parser, [*arguments[:end], *plain])
    except SystemExit as end:  # argparse has printed its help
        return int(end.code or 0)
    except InvalidInput as problem:
        said = str(problem).replace(_PLAIN, "") + _way_out(parser, arguments[:end])
        if not parser.as_json:
            warn(parser.format_usage().rstrip("\n"))
            said += f"; see `nuggets {name} --help`"
        return _complain(said, arguments[:end])
    return argparse.Namespace(**{option: _bare(given) for option, given in vars(options).items()})


def _way_out(parser: _Parser, words: Sequence[str]) -> str:
    """For someone whose value begins like an option, as far as the command takes any value."""
    known = parser._option_string_actions
    for word in words if parser._get_positional_actions() else ():
        is_like_one = word[:1] == "-" and word.lstrip("-")[:1].isalpha()
        if is_like_one and word.partition("=")[0] not in known:
            return f"; if {word} is no option, put -- before it"
    return ""


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
