"""Run a command and show what it says; the one place where errors become exit codes."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping

from nuggets import codec
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import inert_json, printable
from nuggets.opening import open_shelf
from nuggets.settings import Settings, load


def run(command: Command, options: Namespace) -> int:
    """Open the shelf, run, print, close."""
    try:
        _check_unicode(vars(options))
        settings = load(os.environ, {"dir": options.dir})
        for warning in settings.warnings:
            print(f"Warning: {printable(warning)}", file=sys.stderr)
        session = session_of(options, settings)
        _check_unicode({"session": session})
        with open_shelf(settings, client="cli", short_lived=True) as shelf:
            outcome = command.run(Call(options, settings, shelf, session))
            show(outcome, as_json=options.json)
            return outcome.exit_code
    except NuggetsError as problem:
        return complain(problem, as_json=options.json)
    except BrokenPipeError:  # `nuggets … | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def show(outcome: Outcome, *, as_json: bool) -> None:
    """To a script the JSON, to a person the lines; out before the shelf is closed."""
    text = inert_json(codec.dumps(outcome.json)) if as_json else "\n".join(outcome.lines)
    if text:
        sys.stdout.flush()  # UTF-8 whatever the locale says, so past the text layer
        sys.stdout.buffer.write(text.encode(errors="backslashreplace") + b"\n")
        sys.stdout.flush()


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
        print(f"Error: {printable(str(problem))}", file=sys.stderr)
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
