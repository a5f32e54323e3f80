"""What a command is."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nuggets.settings import Settings
    from nuggets.shelf import NuggetShelf


class Outcome(NamedTuple):
    """What a command has to say, to a script and to a person."""

    json: Any  # None: all was said before
    lines: list[str]
    exit_code: int = 0


class Call(NamedTuple):
    """One call of a command: its options, the settings, and the door to the shelf."""

    options: Namespace
    settings: "Settings"
    shelf: "NuggetShelf"
    session: str


def _no_arguments(parser: ArgumentParser) -> None:
    pass


class Command(NamedTuple):
    """How a command is called, and what it does."""

    examples: tuple[str, ...]
    run: Callable[[Call], Outcome]
    arguments: Callable[[ArgumentParser], None] = _no_arguments
    summary: str = ""  # where there is more to say than the list of commands does
    changes: bool = False  # is it called for what it does, not for what it says?
