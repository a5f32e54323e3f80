"""The process ``nuggets``, which is the same as ``python -m nuggets``: finds the command, runs it.

Agents call it in hooks many times an hour, so a call builds only its own command's parser and
imports only that command's module.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from nuggets.interfaces import run_process
from nuggets.interfaces.cli import find, split_command


def main() -> NoReturn:
    run_process(run_command)


def run_command(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code: 0 found or done, 1 not found or failed, 2 usage."""
    _open_missing_streams()
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # starting its threads takes longer than they save
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    finally:
        _flush_streams()


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["__complete"]:
        from nuggets.interfaces.cli.completion import print_words

        return print_words(arguments[1:])
    name, before, rest = split_command(arguments)
    wants_help = bool({"-h", "--help"} & set(arguments))
    if name == "hook" and not wants_help:
        # Hosts call it after every tool, so it does not load argparse.
        from nuggets.interfaces.hooks.run_hook import main as hook

        return hook([*before, *rest])
    _import_argparse()
    if name in ("queue", "sessions") and not wants_help:
        name = f"{name} list"
    command = find(name)
    if command is None or {"--help", "-h", "--version"} & set(before):
        from nuggets.interfaces.cli.help_and_demo import show_overview

        return show_overview(name, before, rest)
    from nuggets.interfaces.cli.run_command import run

    return run(name, command, [*before, *rest])


def _import_argparse() -> None:
    """Import argparse without translation: `gettext` takes as long to import, and would look for
    message catalogues in every call."""
    if "gettext" in sys.modules:
        return
    from types import ModuleType

    untranslated = ModuleType("gettext")
    untranslated.gettext = str  # type: ignore[attr-defined]
    untranslated.ngettext = lambda one, many, number: one if number == 1 else many  # type: ignore[attr-defined]
    sys.modules["gettext"] = untranslated
    try:
        import argparse  # noqa: F401
    finally:
        del sys.modules["gettext"]


def _open_missing_streams() -> None:
    """Open /dev/null for a closed stream (``>&-``). Otherwise the next file, such as the database,
    would get its number, and printing would write into that file."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _flush_streams() -> None:
    """Drop output that cannot be written; Python would try again at exit and print a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
