"""A guided minute in a directory that is thrown away: every step is a real process."""

import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from shlex import join
from shutil import which
from tempfile import TemporaryDirectory

from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import say, styled

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Your agent learns where something is, and how you like things done.",
        ("remember", "locations", "auth handler", "src/auth/middleware.ts:47"),
    ),
    ("", ("remember", "project", "test cmd", "pytest tests/ -v")),
    ("", ("remember", "prefs", "style", "2-space indent, no semicolons")),
    (
        "The session ends. Tomorrow a new process asks again, and the answer is there:",
        ("recall", "auth handler", "--session", "tomorrow"),
    ),
    (
        "Keys need not be exact. A part of one will do, and so will a typo:",
        ("recall", "test"),
    ),
    ("", ("recall", "auth handlr", "--nugget", "locations")),
    ("What was never learnt is not made up:", ("recall", "deployment region")),
    ("Scripts and agents get the same as JSON:", ("recall", "style", "--json")),
    ("This is all there is so far:", ("list",)),
)


CLOSING = """
The directory of this demo is gone again. Yours will be ~/.nuggets. Begin with:

  {command} remember project "test cmd" "make test"
"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--tour", action="store_true", help="a day in the life, end to end")


def _demo(call: Call) -> Outcome:
    if call.options.tour:
        from nuggets.interfaces.cli.tour import toured

        return toured(call)
    steps = []
    with TemporaryDirectory(prefix="nuggets-demo-") as directory:
        for comment, arguments in STEPS:
            exit_code, output = _run(directory, arguments)
            steps.append({"command": ["nuggets", *arguments], "exit": exit_code, "output": output})
            if not call.options.json:
                _show(comment, arguments, output)
        if not call.options.json:
            _show_files(directory)
    command = "nuggets" if which("nuggets") else sys.argv[0]  # as in a fresh checkout
    return Outcome(steps, [CLOSING.format(command=command)])


def _run(directory: str, arguments: tuple[str, ...]) -> tuple[int, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUGGETS_")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nuggets", "--dir", directory, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _show(comment: str, arguments: tuple[str, ...], output: str) -> None:
    if comment:
        say(f"\n{styled(comment, 'cyan')}\n")
    say(styled(f"$ nuggets {join(arguments)}", "bold"))
    say(output.rstrip("\n"))


def _show_files(directory: str) -> None:
    say(f"\n{styled('And this is how it is kept, on your machine only.', 'cyan')}\n")
    for name in sorted(_files(directory)):
        say(f"  {name}")
    say(styled("\n$ cat locations.nugget.json", "bold"))
    with open(os.path.join(directory, "locations.nugget.json"), encoding="utf-8") as file:
        say(file.read().rstrip("\n"))


def _files(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), directory)


COMMANDS = {
    "demo": Command(
        ("nuggets demo", "nuggets demo --tour"),
        _demo,
        _arguments,
    ),
}
