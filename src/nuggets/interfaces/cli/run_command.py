"""Parses the arguments of a command, runs it and prints its outcome; and arguments that several
commands share. The one place where errors become exit codes."""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from nuggets.domain import codec
from nuggets.domain.records import KINDS, SCOPES, SOURCES, STABILITIES, TYPES
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.atomic_files import unreadable
from nuggets.filesystem.hook_files import waiting_order_paths
from nuggets.interfaces import TRUST_QUESTION, explain_recognition, open_shelf
from nuggets.interfaces.cli import Argument, Call, Command, Outcome, argument, flag
from nuggets.interfaces.cli.terminal_output import (
    escape_controls,
    help_outcome,
    print_answer,
    print_outcome,
    report_lost_output,
    screen_width,
    warn,
)
from nuggets.operations.permissions import COMMAND
from nuggets.settings import Settings, load
from nuggets.shelf import NuggetShelf

# --- arguments that several commands share -----------------------------------------------------


NAME_HELP = "its id, its exact title, or the beginning of its id"
METADATA_VALUES = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}


SESSION_ARGUMENT = argument(
    "--session", "the session that asks (default: NUGGETS_SESSION, else today)"
)
PURGE_ARGUMENT = flag("--purge", "erase it from the history too; this cannot be undone")
_INFERRED = "metadata (inferred if not given)"


def _confidence(text: str) -> float:
    """The shelf would clamp a number out of range; on the command line it is a mistake."""
    with suppress(ValueError):
        if 0 <= float(text) <= 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"confidence is a number from 0 to 1, not {text!r}")


METADATA_ARGUMENTS = (
    *(
        argument(f"--{field}", ", ".join(allowed), group=_INFERRED)
        for field, allowed in METADATA_VALUES.items()
    ),
    argument("--subject", "whom or what it is about, e.g. user:primary", group=_INFERRED),
    argument("--confidence", "from 0 to 1", type=_confidence, group=_INFERRED),
    argument(
        "--valid-from", "when it became true: a day, or a moment in ISO 8601", group=_INFERRED
    ),
    argument("--valid-until", 'the last day it is true; "" takes that away', group=_INFERRED),
    argument("--supersedes", "the memory that it replaces; that one is archived", group=_INFERRED),
    flag("--allow-secret", "store it although it looks like a credential"),
)
_SELECTED = "only notes of"
FILTER_ARGUMENTS = (  # a note must match all of them
    argument("--nugget", "only notes of this one", group=_SELECTED),
    argument("--subject", "only about this one, e.g. user:primary", group=_SELECTED),
    argument("--tag", "only with this tag", group=_SELECTED),
    *(
        argument(
            f"--{field}",
            ", ".join(allowed),
            choices=allowed,
            metavar=field.upper(),
            group=_SELECTED,
        )
        for field, allowed in (("scope", SCOPES), ("type", TYPES), ("kind", KINDS))
    ),
    flag("--all", "archived ones too", group=_SELECTED),
)


def metadata(call: Call) -> dict[str, Any]:
    """The metadata from the command line."""
    more = ("subject", "confidence", "valid_from", "valid_until", "supersedes")
    values = {field: getattr(call.options, field) for field in (*METADATA_VALUES, *more)}
    return {field: value for field, value in values.items() if value is not None}


def text_or_stdin(value: str) -> str:
    """The value itself, or all of standard input for ``-``."""
    if value != "-":
        return value
    if sys.stdin is None:
        raise InvalidInput("standard input is closed; pipe the text in, or write it as an argument")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not valid UTF-8; convert it first") from None


def filters(call: Call) -> dict[str, Any]:
    """The filters from the command line."""
    options = call.options
    names = ("nugget", "subject", "tag", "scope", "type", "kind")
    values = {name: getattr(options, name) for name in names}
    return {**values, "include_hidden": options.all}


# --- parsing --------------------------------------------------------------------------------------


_OPERAND = "\0"  # marks an argument after ``--``; no argument can contain it


class CommandParser(argparse.ArgumentParser):
    """Raises usage errors, so that the caller prints them as text or JSON."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(message)


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
    for argument_name, options, group in (*command.arguments, *GLOBAL_ARGUMENTS):
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        groups[group].add_argument(argument_name, **options)
    return parser


def _parse(
    parser: CommandParser, known: Sequence[Argument], words: Sequence[str], operands: Sequence[str]
) -> argparse.Namespace:
    """The options of a call. `operands`: what followed ``--``, and is no option."""
    parser.usage = ""  # argparse would format one for its own messages, in 2 ms
    try:
        options = parser.parse_intermixed_args([*words, *(_OPERAND + word for word in operands)])
    except InvalidInput as problem:
        message = str(problem).replace(_OPERAND, "") + _double_dash_hint(known, words)
        raise InvalidInput(message) from None
    finally:
        parser.usage = None
    values = {option: _remove_operand_mark(value) for option, value in vars(options).items()}
    return argparse.Namespace(**values)


def _double_dash_hint(known: Sequence[Argument], words: Sequence[str]) -> str:
    """A hint for a value that begins like an option, if the command takes values."""
    options = {one.name for one in known}
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
    argument("--dir", "the shelf's directory", metavar="DIR", type=_directory),
    flag("--json", "print JSON and nothing else"),
)


# --- running a command ----------------------------------------------------------------------------


_OBJECTS = 50_000  # new ones before garbage is collected: most commands make fewer


def run(name: str, command: Command, arguments: Sequence[str]) -> int:
    """Parse, run, print. Global options may stand before the command as well as after it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words, operands = arguments[:end], arguments[end + 1 :]
    as_json = "--json" in words
    parser = build_parser(name, command)
    if {"-h", "--help"} & set(words):
        return print_answer(help_outcome(parser.format_help()), as_json=as_json)
    try:
        options = _parse(parser, (*command.arguments, *GLOBAL_ARGUMENTS), words, operands)
    except InvalidInput as problem:
        if as_json:
            return report_error(problem, as_json=True)
        warn(parser.format_usage().rstrip("\n"))
        return report_error(InvalidInput(f"{problem}; see `nuggets {name} --help`"), as_json=False)
    return _run(command, options)


def _run(command: Command, options: argparse.Namespace) -> int:
    """Open the shelf, run, print, close."""
    gc.set_threshold(_OBJECTS)
    gc.enable()  # see `run_process`
    try:
        settings = load(
            os.environ,
            {"dir": options.dir},
            ignore_broken_file=command.reports_broken_settings,
        )
        for warning in settings.warnings:
            warn(f"Warning: {escape_controls(warning)}")
        session = _session(options, settings)
        _check_unicode({**vars(options), "session": session})
        insists = getattr(options, "allow_secret", False)
        client = COMMAND._replace(refuses_credentials=False) if insists else COMMAND
        with open_shelf(settings, client=client, short_lived=True) as shelf:
            try:
                _sync_shared(shelf)
                _take_in_orders(shelf, settings["dir"])
                before = shelf.own_revision
                outcome = command.run(Call(options, settings, shelf, session))
                problem = print_outcome(outcome, as_json=options.json)
                has_written = shelf.own_revision != before
                if has_written:
                    _sync_shared(shelf, has_written=True)
            finally:  # a warning may explain why something was not found
                for warning in shelf.warnings:
                    warn(f"Warning: {escape_controls(warning)}")
                _report_recognition(shelf)
        if not problem:
            return outcome.exit_code
        if has_written and not outcome.exit_code:
            warn(f"Warning: this was done, but the receipt could not be written: {problem}")
            return 0
        return max(report_lost_output(problem), outcome.exit_code)
    except NuggetsError as error:
        return report_error(error, as_json=options.json)
    except OSError as problem:  # something else stands where a file or a directory belongs
        path = str(problem.filename or "a file")
        return report_error(unreadable(path, problem), as_json=options.json)


def _take_in_orders(shelf: NuggetShelf, directory: str) -> None:
    """Carry out what a person ordered through a hook that had no time for it."""
    if waiting_order_paths(directory):
        from nuggets.interfaces.hooks.prompt_answer import take_in_waiting

        for receipt in take_in_waiting(shelf, directory):
            warn(escape_controls(receipt))


def _sync_shared(shelf: NuggetShelf, *, has_written: bool = False) -> None:
    """Bring the shelf and the memories that the repository carries together, if that is allowed."""
    done = shelf.sync_shared(has_written=has_written)
    for problem in done.problems if done else ():
        warn(f"Warning: .nuggets: {escape_controls(problem)}")


def _report_recognition(shelf: NuggetShelf) -> None:
    """Say once that a repository was recognized, or ask which one it is."""
    if shelf.recognition is not None:
        warn(escape_controls(explain_recognition(shelf.recognition)))
        with suppress(NuggetsError):  # then it is said again
            shelf.record_location()
    with suppress(NuggetsError):
        if shelf.needs_trust():
            warn(TRUST_QUESTION)
            shelf.sharing.record_question()


def _session(options: argparse.Namespace, settings: Settings) -> str:
    """The session that asks: as configured, else one per calendar day."""
    session = getattr(options, "session", None) or settings["session"]
    if session:
        return str(session)
    from datetime import date

    return f"day-{date.today().isoformat()}"


def report_error(error: NuggetsError, *, as_json: bool) -> int:
    """Print an error, as JSON to stdout or as text to stderr; returns its exit code."""
    if as_json:
        print_outcome(Outcome(codec.error_to_json(error.code, str(error)), []), as_json=True)
    else:
        warn(f"Error: {escape_controls(str(error))}")
    return 2 if isinstance(error, InvalidInput) else 1


def _check_unicode(values: Mapping[str, object]) -> None:
    """Refuse bytes that are not UTF-8, which reach Python as lone surrogates."""
    for name, value in values.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise InvalidInput(f"{name} is not valid UTF-8; check the encoding") from None
