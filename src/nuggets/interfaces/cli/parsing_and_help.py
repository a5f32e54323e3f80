"""Parses the arguments of a command line, and writes the help texts. Commands: help, version."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from nuggets import __version__
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli import (
    COMMANDS,
    GROUPS,
    MODULES,
    Argument,
    Call,
    Command,
    Outcome,
    argument,
    command,
    find,
)
from nuggets.interfaces.cli.terminal_output import (
    print_outcome,
    report_lost_output,
    screen_width,
    warn,
)
from nuggets.language.text import closest_name

GLOBAL_HELP = """\
Global options:
  --dir DIR    the shelf's directory (default: NUGGETS_DIR, else ~/.nuggets)
  --json       print one JSON value and nothing else
  --version    print the version
  --help       this text, or with a command its own help with examples"""

# names that other programs use for our commands
_SYNONYMS = {
    "add": "remember",
    "ask": "recall",
    "del": "forget",
    "delete": "forget",
    "find": "search",
    "get": "recall",
    "hide": "note archive",
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
_TITLE_LINES = (
    "Local memory for AI agents: facts and notes that outlive the session.\n",
    "Usage: nuggets COMMAND [options]\n",
)
_STARTERS = (
    "remember",
    "recall",
    "note add",
    "search",
    "ui",
    "connect",
    "history",
    "undo",
    "doctor",
)
_OPERAND = "\0"  # marks an argument after ``--``; no argument can contain it


def show_overview(name: str, before: Sequence[str], rest: Sequence[str]) -> int:
    """Answer a call that runs no command: with all commands, the version, or an error.

    `before`: the options before the name; `rest`: what follows it.
    """
    arguments = [*before, *rest]
    wants_version = "--version" in arguments
    wants_help = wants_version or bool({"--help", "-h"} & set(arguments))
    is_command = name in ("", *GROUPS, *COMMANDS)
    problem = _check_global_options(before)
    if not problem and not wants_version:
        is_script = "--json" in arguments and not wants_help  # it gets an error, no overview
        problem = "" if is_command and not is_script else unknown_command_message(name)
    if problem:
        return _report_usage_error(problem, arguments)
    text = help_text(name) if name or wants_help else "\n".join(_start_lines())
    outcome = version_outcome() if wants_version else help_outcome(text)
    exit_code = _print_outcome(outcome, as_json="--json" in arguments)
    return exit_code or (0 if wants_help or not name else 2)


def version_outcome() -> Outcome:
    return Outcome({"version": __version__}, [f"nuggets {__version__}"])


def help_outcome(text: str) -> Outcome:
    return Outcome({"help": text}, [text.rstrip("\n")])


def _print_outcome(outcome: Outcome, *, as_json: bool) -> int:
    problem = print_outcome(outcome, as_json=as_json)
    return report_lost_output(problem) if problem else 0


def help_text(name: str = "") -> str:
    """All commands on one screen, or those of a group."""
    return "\n".join(_group_lines(name) if name in GROUPS else _overview_lines())


def _group_lines(group: str) -> Iterator[str]:
    yield f"Usage: nuggets {group} COMMAND [options]\n"
    yield from (_summary_line(name) for name in COMMANDS if name.startswith(f"{group} "))


def _start_lines() -> Iterator[str]:
    """What one needs, and where the rest is."""
    yield from _TITLE_LINES
    yield from map(_summary_line, _STARTERS)
    yield ""
    yield "All commands: `nuggets --help`. One of them: `nuggets COMMAND --help`."
    yield "Try `nuggets demo` first."


def _overview_lines() -> Iterator[str]:
    yield from _TITLE_LINES
    for title, commands in MODULES.items():
        yield f"{title}:"
        yield from map(_summary_line, commands)
        yield ""
    yield GLOBAL_HELP
    yield "\nTry `nuggets demo` first."


def _summary_line(name: str) -> str:
    return f"  {name:{max(map(len, COMMANDS))}}  {COMMANDS[name][1]}"


def _check_global_options(options: Sequence[str]) -> str:
    """What is wrong with the options before a command; "" if nothing is."""
    rest = iter(options)
    for option in rest:
        if option == "--dir":
            if not next(rest, ""):
                return "--dir: name a directory; see `nuggets --help`"
        elif option not in ("--json", "--version", "--help", "-h") and option[:6] != "--dir=":
            return f"there is no option {option}; see `nuggets --help`"
    return ""


def unknown_command_message(name: str) -> str:
    if name in ("", *GROUPS):
        return f"name a command; see `nuggets {name} --help`".replace("  ", " ")
    suggestions = [f"`nuggets {command}`" for command in _suggest_commands(name)]
    hint = f"did you mean {' or '.join(suggestions)}?" if suggestions else "see `nuggets --help`"
    return f"there is no command {name!r}; {hint}"


def _suggest_commands(name: str) -> list[str]:
    """Commands with the same meaning, else one with a similar name."""
    suggestions = [_SYNONYMS[name]] if name in _SYNONYMS else []
    suggestions += [command for command in COMMANDS if command.split()[-1] == name]
    if suggestions:
        return suggestions
    close = closest_name(name, COMMANDS)
    return [close] if close else []


def _report_usage_error(problem: str, arguments: Sequence[str]) -> int:
    from nuggets.interfaces.cli.run_command import report_error

    return report_error(InvalidInput(problem), as_json="--json" in arguments)


class CommandParser(argparse.ArgumentParser):
    """Raises usage errors, so that the caller prints them as text or JSON."""

    as_json = False

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(message)

    def print_help(self, file: object = None) -> None:
        self.exit(_print_outcome(help_outcome(self.format_help()), as_json=self.as_json))


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Given a width: argparse would import `shutil` in every call to find one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(100, screen_width()) - 2)


def build_parser(name: str, command: Command) -> CommandParser:
    """The parser of one command, with its examples."""
    examples = "".join(f"\n  {example}" for example in command.examples)
    parser = CommandParser(
        prog=f"nuggets {name}",
        description=command.summary[:1].upper() + command.summary[1:] + ".",
        epilog=f"examples:{examples}\n",
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
    )
    groups: dict[str, Any] = {"": parser}
    for names, options, group in (*command.arguments, *GLOBAL_ARGUMENTS):
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        groups[group].add_argument(*names, **options)
    return parser


def parse_options(
    name: str, command: Command, arguments: Sequence[str]
) -> argparse.Namespace | int:
    """The options of a call, or the exit code if no command is to run.

    Global options may stand before the command as well as after it; what follows ``--`` is no
    option, whatever it looks like.
    """
    parser = build_parser(name, command)
    known = (*command.arguments, *GLOBAL_ARGUMENTS)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    operands = [_OPERAND + word for word in arguments[end + 1 :]]
    parser.as_json = "--json" in arguments[:end]
    if not {"-h", "--help"} & set(arguments[:end]):
        parser.usage = ""  # argparse would format one for its own messages, in 2 ms
    try:
        options = parser.parse_intermixed_args([*arguments[:end], *operands])
    except SystemExit as ended:  # argparse has printed the help
        return int(ended.code or 0)
    except InvalidInput as problem:
        message = str(problem).replace(_OPERAND, "")
        message += _double_dash_hint(known, arguments[:end])
        parser.usage = None
        if not parser.as_json:
            warn(parser.format_usage().rstrip("\n"))
            message += f"; see `nuggets {name} --help`"
        return _report_usage_error(message, arguments[:end])
    values = {option: _remove_operand_mark(value) for option, value in vars(options).items()}
    return argparse.Namespace(**values)


def _double_dash_hint(known: Sequence[Argument], words: Sequence[str]) -> str:
    """A hint for a value that begins like an option, if the command takes values."""
    options = {name for one in known for name in one.names}
    for word in () if all(one.is_option for one in known) else words:
        looks_like_option = word[:1] == "-" and word.lstrip("-")[:1].isalpha()
        if looks_like_option and word.partition("=")[0] not in options:
            return f"; if {word} is no option, put -- before it"
    return ""


def _remove_operand_mark(value: object) -> object:
    if isinstance(value, list):
        return [_remove_operand_mark(item) for item in value]
    return value.removeprefix(_OPERAND) if isinstance(value, str) else value


def _directory(path: str) -> str:
    if not path:  # an unset variable in a script must not mean the current directory
        raise argparse.ArgumentTypeError("it is empty; name a directory")
    return path


GLOBAL_ARGUMENTS = (
    argument("--dir", metavar="DIR", type=_directory, help="the shelf's directory"),
    argument("--json", action="store_true", help="print JSON and nothing else"),
)


# --- the commands ------------------------------------------------------------------------------


@command(
    "help",
    argument("command", nargs="*", help="name of a command (default: list all)"),
    examples=("nuggets help", "nuggets help note add"),
)
def _help(call: Call) -> Outcome:
    name = " ".join(call.options.command)
    command = find(name)
    if command is None and name not in ("", *GROUPS):
        raise InvalidInput(unknown_command_message(name))
    return help_outcome(build_parser(name, command).format_help() if command else help_text(name))


@command("version", examples=("nuggets version", "nuggets version --json"))
def _version(call: Call) -> Outcome:
    return version_outcome()
