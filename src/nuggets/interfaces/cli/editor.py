"""Opens $EDITOR for a note. If saving fails, the written text stays in a file."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from nuggets.errors import InvalidInput, NuggetsError
from nuggets.interfaces.cli.terminal_output import warn

T = TypeVar("T")


def save_from_editor(text: str, save: Callable[[str], T]) -> T:
    """Edit the text in $EDITOR, then save it; text that cannot be saved stays in a file."""
    import shutil
    import tempfile

    editor = _editor()
    directory = tempfile.mkdtemp(prefix="nuggets-")
    path = os.path.join(directory, "note.md")
    try:
        saved = save(_run_editor(editor, path, text))
    except (NuggetsError, KeyboardInterrupt) as problem:
        if _is_unchanged(path, text):
            shutil.rmtree(directory)
            raise
        hint = f"What you wrote is kept in {path}"
        if isinstance(problem, KeyboardInterrupt):
            warn(f"Interrupted. {hint}")
            raise
        raise type(problem)(f"{problem}. {hint}") from problem
    shutil.rmtree(directory)
    return saved


def _editor() -> list[str]:
    import shlex

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise InvalidInput(f"$EDITOR is not a valid command: {problem}: {command}") from None
    if not words:
        raise InvalidInput("give the content, - for standard input, or set $EDITOR to write it")
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput("give the content, or - for standard input: an editor needs a terminal")
    return words


def _run_editor(editor: list[str], path: str, text: str) -> str:
    import subprocess

    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    try:
        with _leave_interrupts_to_editor():
            done = subprocess.run([*editor, path], check=False)
    except OSError as problem:
        raise InvalidInput(f"{editor[0]} cannot be started: {problem.strerror}") from None
    if done.returncode:
        raise InvalidInput(f"{editor[0]} ended with an error; nothing was changed")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            written = file.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{editor[0]} left a file that cannot be read: {problem}") from None
    if not written.strip():
        raise InvalidInput("the text is empty; nothing was changed")
    return written


@contextmanager
def _leave_interrupts_to_editor() -> Iterator[None]:
    """Ignore Ctrl-C while the editor runs: the terminal sends it to both processes.

    With a handler instead of SIG_IGN, because the editor would inherit SIG_IGN.
    """
    import signal

    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_unchanged(path: str, text: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read().strip() in (text.encode().strip(), b"")
    except OSError:
        return True
