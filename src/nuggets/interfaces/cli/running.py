"""Run a command and show what it says; the one place where errors become exit codes."""

import gc
import os
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress

from nuggets import codec
from nuggets.errors import InvalidInput, NuggetsError, StoreError
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import inert_json, printable, regret, say, warn
from nuggets.opening import open_shelf
from nuggets.place import directory_of
from nuggets.settings import Settings, load

_ONLY_LOOKING = ("dry_run", "explain")  # options that keep a command from changing anything


def run(command: Command, options: Namespace) -> int:
    """Open the shelf, run, print, close."""
    gc.enable()  # see `run_process`
    try:
        _check_unicode(vars(options))
        settings = load(os.environ, {"dir": options.dir})
        for warning in settings.warnings:
            warn(f"Warning: {printable(warning)}")
        session = session_of(options, settings)
        _check_unicode({"session": session})
        _move_in(settings["dir"])
        with open_shelf(settings, client="cli", short_lived=True, at_work=True) as shelf:
            try:
                outcome = command.run(Call(options, settings, shelf, session))
                unheard = show(outcome, as_json=options.json)
            finally:  # also why something was not found
                for warning in shelf.warnings:
                    warn(f"Warning: {printable(warning)}")
        if not unheard:
            return outcome.exit_code
        looks = any(getattr(options, option, False) for option in _ONLY_LOOKING)
        return _unheard(unheard, outcome, is_done=command.changes and not looks)
    except NuggetsError as problem:
        return complain(problem, as_json=options.json)


def _move_in(url: str) -> None:
    """The files of an earlier version come first. If that fails, whoever needs them says so."""
    directory = directory_of(url)
    if directory and os.path.isdir(os.path.join(directory, "journal")):
        from nuggets.interfaces.cli.moving import move_in

        with suppress(StoreError):
            move_in(directory)


def show(outcome: Outcome, *, as_json: bool) -> str:
    """To a script the JSON, to a person the lines; out before the shelf is closed.

    Why it could not be heard, "" if it was.
    """
    if as_json:
        return say("" if outcome.json is None else inert_json(codec.dumps(outcome.json)))
    return say("\n".join(outcome.lines))


def _unheard(why: str, outcome: Outcome, *, is_done: bool) -> int:
    """What was done stays done, though its receipt is lost; an answer that is lost is none."""
    if is_done and not outcome.exit_code:
        warn(f"Warning: this was done, but what it says could not be written: {why}")
        return 0
    return max(regret(why), outcome.exit_code)


def session_of(options: Namespace, settings: Settings) -> str:
    """Who is asking: as told, else one session per calendar day, so that hits mean something."""
    told = getattr(options, "session", None) or settings["session"]
    if told:
        return str(told)
    from datetime import date

    return f"day-{date.today().isoformat()}"


def complain(problem: NuggetsError, *, as_json: bool) -> int:
    """Say what went wrong where the caller looks for it; the exit code that fits."""
    if as_json:
        show(Outcome(codec.error_to_json(problem.code, str(problem)), []), as_json=True)
    else:
        warn(f"Error: {printable(str(problem))}")
    return 2 if isinstance(problem, InvalidInput) else 1


def _check_unicode(given: Mapping[str, object]) -> None:
    """Bytes that are no UTF-8 reach Python as lone surrogates: say so before anything is done."""
    for name, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise InvalidInput(f"{name} is not valid UTF-8; check the encoding") from None
