"""Commands about the command itself: help, version."""

from argparse import ArgumentParser

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli import GROUPS, find
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.parsing import (
    help_text,
    help_told,
    no_such_command,
    parser_for,
    version_told,
)


def _help_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("command", nargs="*", help="which one; otherwise all of them")


def _help(call: Call) -> Outcome:
    name = " ".join(call.options.command)
    command = find(name)
    if command is None and name not in ("", *GROUPS):
        raise InvalidInput(no_such_command(name))
    return help_told(parser_for(name, command).format_help() if command else help_text(name))


def _version(call: Call) -> Outcome:
    return version_told()


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
