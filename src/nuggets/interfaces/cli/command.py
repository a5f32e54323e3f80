"""What a command is."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.settings import Settings
    from nuggets.shelf import NuggetShelf


class Outcome(NamedTuple):
    """What a command prints, for a script and for a person."""

    json: Any  # None: the command has printed it already
    lines: list[str]
    exit_code: int = 0
    is_read_only: bool = False  # of a command that can change something: it changed nothing


class Call(NamedTuple):
    """One call of a command: its options, the settings and the shelf."""

    options: Namespace
    settings: "Settings"
    shelf: "NuggetShelf"
    session: str


def _no_arguments(parser: ArgumentParser) -> None:
    pass


class Command(NamedTuple):
    """The arguments of a command and the function that runs it."""

    examples: tuple[str, ...]
    run: Callable[[Call], Outcome]
    arguments: Callable[[ArgumentParser], None] = _no_arguments
    summary: str = ""  # longer than the one in the list of commands; "": the same
    changes: bool = False  # it changes something, so a lost answer is not a failure
    reports_broken_settings: bool = False  # it runs although config.toml cannot be read
