"""Arguments that several commands have, and what was given with them."""

import sys
from argparse import ArgumentParser
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call
from nuggets.records import KINDS, SCOPES, SOURCES, STABILITIES, TYPES

NAME_HELP = "its id, its exact title, or the beginning of its id"
_CHOICES = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}


def session_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--session", help="who is asking (default: NUGGETS_SESSION, else today)")


def purge_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--purge", action="store_true", help="erase it from the history as well; there is no undo"
    )


def metadata_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("metadata (inferred if not given)")
    for field, allowed in _CHOICES.items():
        group.add_argument(f"--{field}", help=", ".join(allowed))
    group.add_argument("--subject", help="whom or what it is about, e.g. user:primary")
    group.add_argument("--confidence", help="from 0 to 1")


def metadata(call: Call) -> dict[str, Any]:
    """The metadata that was given on the command line."""
    given: dict[str, Any] = {
        field: value
        for field in (*_CHOICES, "subject")
        if (value := getattr(call.options, field)) is not None
    }
    confidence = call.options.confidence
    if confidence is not None:
        try:
            given["confidence"] = float(confidence)
        except ValueError:
            raise InvalidInput(f"confidence is a number from 0 to 1, not {confidence!r}") from None
    return given


def text_or_stdin(value: str) -> str:
    """The value itself, or all of standard input for ``-``."""
    if value != "-":
        return value
    if sys.stdin is None:
        raise InvalidInput("standard input is closed; pipe the text in, or give it")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not valid UTF-8; convert it first") from None


def filter_arguments(parser: ArgumentParser) -> None:
    """Options that choose among notes; all of them must hold."""
    group = parser.add_argument_group("only notes of")
    group.add_argument("--nugget", help="only notes of this one")
    group.add_argument("--subject", help="only about this one, e.g. user:primary")
    group.add_argument("--tag", help="only with this tag")
    group.add_argument("--scope", choices=SCOPES, metavar="SCOPE", help=", ".join(SCOPES))
    group.add_argument("--type", choices=TYPES, metavar="TYPE", help=", ".join(TYPES))
    group.add_argument("--kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    group.add_argument("--all", action="store_true", help="archived ones too")


def filters(call: Call) -> dict[str, Any]:
    """The filters that were given."""
    options = call.options
    names = ("nugget", "subject", "tag", "scope", "type", "kind")
    given = {name: getattr(options, name) for name in names}
    return {**given, "include_hidden": options.all}
