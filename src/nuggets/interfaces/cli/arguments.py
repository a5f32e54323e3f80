"""Arguments that several commands share, and their values."""

import sys
from argparse import ArgumentParser
from typing import Any

from nuggets.domain.records import KINDS, SCOPES, SOURCES, STABILITIES, TYPES
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.command import Call

NAME_HELP = "its id, its exact title, or the beginning of its id"
METADATA_VALUES = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}


def session_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--session", help="the session that asks (default: NUGGETS_SESSION, else today)"
    )


def purge_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--purge", action="store_true", help="erase it from the history too; this cannot be undone"
    )


def metadata_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("metadata (inferred if not given)")
    for field, allowed in METADATA_VALUES.items():
        group.add_argument(f"--{field}", help=", ".join(allowed))
    group.add_argument("--subject", help="whom or what it is about, e.g. user:primary")
    group.add_argument("--confidence", help="from 0 to 1")
    group.add_argument("--valid-from", help="when it became true: a day, or a moment in ISO 8601")
    group.add_argument("--valid-until", help='the last day it is true; "" takes that away')
    group.add_argument("--supersedes", help="the memory that it replaces; that one is archived")


def metadata(call: Call) -> dict[str, Any]:
    """The metadata from the command line."""
    values: dict[str, Any] = {
        field: value
        for field in (*METADATA_VALUES, "subject", "valid_from", "valid_until", "supersedes")
        if (value := getattr(call.options, field)) is not None
    }
    confidence = call.options.confidence
    if confidence is not None:
        values["confidence"] = _confidence(confidence)
    return values


def _confidence(text: str) -> float:
    """The shelf would clamp a number out of range; on the command line it is a mistake."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InvalidInput(f"confidence is a number from 0 to 1, not {text!r}")
    return number


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


def filter_arguments(parser: ArgumentParser) -> None:
    """Options that select notes; a note must match all of them."""
    group = parser.add_argument_group("only notes of")
    group.add_argument("--nugget", help="only notes of this one")
    group.add_argument("--subject", help="only about this one, e.g. user:primary")
    group.add_argument("--tag", help="only with this tag")
    group.add_argument("--scope", choices=SCOPES, metavar="SCOPE", help=", ".join(SCOPES))
    group.add_argument("--type", choices=TYPES, metavar="TYPE", help=", ".join(TYPES))
    group.add_argument("--kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    group.add_argument("--all", action="store_true", help="archived ones too")


def filters(call: Call) -> dict[str, Any]:
    """The filters from the command line."""
    options = call.options
    names = ("nugget", "subject", "tag", "scope", "type", "kind")
    values = {name: getattr(options, name) for name in names}
    return {**values, "include_hidden": options.all}
