"""Commands about the command itself: help, version."""

from argparse import ArgumentParser

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.command_table import GROUPS, find
from nuggets.interfaces.cli.parsing import (
    build_parser,
    help_outcome,
    help_text,
    unknown_command_message,
    version_outcome,
)


def _help_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("command", nargs="*", help="name of a command (default: list all)")


def _help(call: Call) -> Outcome:
    name = " ".join(call.options.command)
    command = find(name)
    if command is None and name not in ("", *GROUPS):
        raise InvalidInput(unknown_command_message(name))
    return help_outcome(build_parser(name, command).format_help() if command else help_text(name))


def _version(call: Call) -> Outcome:
    return version_outcome()


COMMANDS = {
    "help": Command(
        ("nuggets help", "nuggets help note add"),
        _help,
        _help_arguments,
    ),
    "version": Command(
        ("nuggets version", "nuggets version --json"),
        _version,
    ),
}
