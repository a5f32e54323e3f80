"""The command that shows Nuggets at work in a temporary directory; every step is a process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from shlex import join
from shutil import which
from tempfile import TemporaryDirectory

from nuggets.filesystem.processes import module_command
from nuggets.interfaces.cli import Call, Outcome, command
from nuggets.interfaces.cli.terminal_output import print_text, style

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Your agent stores where something is, and how you like things done.",
        ("remember", "locations", "auth handler", "src/auth/middleware.ts:47"),
    ),
    ("", ("remember", "project", "test cmd", "pytest tests/ -v")),
    ("", ("remember", "prefs", "style", "2-space indent, no semicolons")),
    (
        "The session ends. Tomorrow a new process asks, and finds it:",
        ("recall", "auth handler", "--session", "tomorrow"),
    ),
    (
        "Keys need not be exact. Part of a key works, and so does a typo:",
        ("recall", "test"),
    ),
    ("", ("recall", "auth handlr", "--nugget", "locations")),
    ("What was never stored is not found:", ("recall", "deployment region")),
    ("Scripts and agents get the same as JSON:", ("recall", "style", "--json")),
    ("The nuggets so far:", ("list",)),
)


CLOSING = """
The directory of this demo is removed. Yours will be ~/.nuggets. Start with:

  {command} remember project "test cmd" "make test"
"""


@command("demo", examples=("nuggets demo",))
def _demo(call: Call) -> Outcome:
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
        module_command("nuggets", "--dir", directory, *arguments),
        cwd=directory,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _show(comment: str, arguments: tuple[str, ...], output: str) -> None:
    if comment:
        print_text(f"\n{style(comment, 'cyan')}\n")
    print_text(style(f"$ nuggets {join(arguments)}", "bold"))
    print_text(output.rstrip("\n"))


def _show_files(directory: str) -> None:
    print_text(f"\n{style('These are the files, on your machine only.', 'cyan')}\n")
    for name in sorted(_files(directory)):
        print_text(f"  {name}")
    print_text(style("\n$ cat locations.nugget.json", "bold"))
    with open(os.path.join(directory, "locations.nugget.json"), encoding="utf-8") as file:
        print_text(file.read().rstrip("\n"))


def _files(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), directory)
