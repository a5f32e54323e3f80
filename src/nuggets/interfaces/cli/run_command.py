"""Runs a command and prints its outcome; the one place where errors become exit codes."""

import gc
import os
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress

from nuggets.domain import codec
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.atomic_files import unreadable
from nuggets.filesystem.hook_files import waiting_order_paths
from nuggets.interfaces.cli.command_table import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import (
    escape_controls,
    print_outcome,
    report_lost_output,
    warn,
)
from nuggets.interfaces.display_text import TRUST_QUESTION, explain_recognition
from nuggets.interfaces.open_shelf import open_shelf
from nuggets.operations.permissions import COMMAND
from nuggets.settings import Settings, load
from nuggets.shelf import NuggetShelf

_OBJECTS = 50_000  # new ones before garbage is collected: most commands make fewer
_PREVIEWS = ("dry_run", "explain")  # options with which a command changes nothing


def run(command: Command, options: Namespace) -> int:
    """Open the shelf, run, print, close."""
    gc.set_threshold(_OBJECTS)
    gc.enable()  # see `run_process`
    try:
        _check_unicode(vars(options))
        settings = load(
            os.environ,
            {"dir": options.dir},
            ignore_broken_file=command.reports_broken_settings,
        )
        for warning in settings.warnings:
            warn(f"Warning: {escape_controls(warning)}")
        session = get_session(options, settings)
        _check_unicode({"session": session})
        insists = getattr(options, "allow_secret", False)
        client = COMMAND._replace(refuses_credentials=False) if insists else COMMAND
        with open_shelf(settings, client=client, short_lived=True) as shelf:
            try:
                _sync_shared(shelf)
                _take_in_orders(shelf, settings["dir"])
                before = shelf.own_revision
                outcome = command.run(Call(options, settings, shelf, session))
                problem = print_outcome(outcome, as_json=options.json)
                if shelf.own_revision != before:
                    _sync_shared(shelf, has_written=True)
            finally:  # a warning may explain why something was not found
                for warning in shelf.warnings:
                    warn(f"Warning: {escape_controls(warning)}")
                _report_recognition(shelf)
        if not problem:
            return outcome.exit_code
        is_preview = any(getattr(options, option, False) for option in _PREVIEWS)
        has_changed = command.changes and not is_preview and not outcome.is_read_only
        return _handle_lost_output(problem, outcome, has_changed=has_changed)
    except NuggetsError as error:
        return report_error(error, as_json=options.json)
    except OSError as problem:  # something else stands where a file or a directory belongs
        path = str(problem.filename or "a file")
        return report_error(unreadable(path, problem), as_json=options.json)


def _take_in_orders(shelf: NuggetShelf, directory: str) -> None:
    """Carry out what a person ordered through a hook that had no time for it."""
    if waiting_order_paths(directory):
        from nuggets.interfaces.hooks.memory_orders import take_in_waiting

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
            shelf.record_trust_question()


def _handle_lost_output(problem: str, outcome: Outcome, *, has_changed: bool) -> int:
    """A change that was made is a success although its receipt is lost; a lost answer is not."""
    if has_changed and not outcome.exit_code:
        warn(f"Warning: this was done, but the receipt could not be written: {problem}")
        return 0
    return max(report_lost_output(problem), outcome.exit_code)


def get_session(options: Namespace, settings: Settings) -> str:
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
