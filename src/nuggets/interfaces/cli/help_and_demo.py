"""Help texts and the overview. Commands: help, version, demo."""

import os
import sys
from collections.abc import Iterator, Sequence

from nuggets import __version__
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli import COMMANDS, GROUPS, MODULES, Call, Outcome, argument, command, find
from nuggets.interfaces.cli.terminal_output import help_outcome, print_answer, style
from nuggets.language.text import closest_name

GLOBAL_HELP = """\
Global options:
  --dir DIR    the shelf's directory (default: NUGGETS_DIR, else ~/.nuggets)
  --json       print one JSON value and nothing else
  --version    print the version
  --help       this text, or with a command its own help with examples"""

# names that other programs use for our commands
_SYNONYMS = {
    "remember": ("add", "save", "set", "store", "update"),
    "recall": ("ask", "get", "show"),
    "forget": ("del", "delete", "rm"),
    "note archive": ("hide",),
    "search": ("find", "query"),
    "list": ("ls",),
    "history": ("log",),
    "undo": ("redo",),
    "connect": ("install", "setup"),
}
_TITLE_LINES = (
    "Local memory for AI agents: facts and notes that outlive the session.\n",
    "Usage: nuggets COMMAND [options]\n",
)
_STARTERS = (  # what one needs first
    *("remember", "recall", "note add", "search", "ui", "connect"),
    *("history", "undo", "doctor"),
)


def show_overview(name: str, before: Sequence[str], rest: Sequence[str]) -> int:
    """Answer a call that runs no command: with all commands, the version, or an error.

    `before`: the options before the name; `rest`: what follows it.
    """
    arguments = [*before, *rest]
    as_json = "--json" in arguments
    wants_help = bool({"--help", "-h"} & set(arguments))
    problem = _check_global_options(before)
    if not problem and "--version" in arguments:
        return print_answer(_version_outcome(), as_json=as_json)
    is_script = as_json and not wants_help  # it gets an error, no overview
    if not problem and (is_script or name not in ("", *GROUPS, *COMMANDS)):
        problem = unknown_command_message(name)
    if problem:
        from nuggets.interfaces.cli.run_command import report_error  # not for `--version`

        return report_error(InvalidInput(problem), as_json=as_json)
    text = help_text(name) if name or wants_help else "\n".join(_start_lines())
    exit_code = print_answer(help_outcome(text), as_json=as_json)
    return exit_code or (0 if wants_help or not name else 2)


def _version_outcome() -> Outcome:
    return Outcome({"version": __version__}, [f"nuggets {__version__}"])


def help_text(name: str = "") -> str:
    """All commands on one screen, or those of a group."""
    return "\n".join(_group_lines(name) if name in GROUPS else _overview_lines())


def _group_lines(group: str) -> Iterator[str]:
    yield f"Usage: nuggets {group} COMMAND [options]\n"
    yield from (_summary_line(name) for name in COMMANDS if name.startswith(f"{group} "))


def _start_lines() -> Iterator[str]:
    """What one needs, and where the rest is."""
    yield from _TITLE_LINES
    yield from map(_summary_line, _STARTERS)
    yield ""
    yield "All commands: `nuggets --help`. One of them: `nuggets COMMAND --help`."
    yield "Try `nuggets demo` first."


def _overview_lines() -> Iterator[str]:
    yield from _TITLE_LINES
    for title, commands in MODULES.items():
        yield f"{title}:"
        yield from map(_summary_line, commands)
        yield ""
    yield GLOBAL_HELP
    yield "\nTry `nuggets demo` first."


def _summary_line(name: str) -> str:
    return f"  {name:{max(map(len, COMMANDS))}}  {COMMANDS[name][1]}"


def _check_global_options(options: Sequence[str]) -> str:
    """What is wrong with the options before a command; "" if nothing is."""
    rest = iter(options)
    for option in rest:
        if option == "--dir":
            if not next(rest, ""):
                return "--dir: name a directory; see `nuggets --help`"
        elif option not in ("--json", "--version", "--help", "-h") and option[:6] != "--dir=":
            return f"there is no option {option}; see `nuggets --help`"
    return ""


def unknown_command_message(name: str) -> str:
    if name in ("", *GROUPS):
        return f"name a command; see `nuggets {name} --help`".replace("  ", " ")
    suggestions = [f"`nuggets {command}`" for command in _suggest_commands(name)]
    hint = f"did you mean {' or '.join(suggestions)}?" if suggestions else "see `nuggets --help`"
    return f"there is no command {name!r}; {hint}"


def _suggest_commands(name: str) -> list[str]:
    """Commands with the same meaning, else one with a similar name."""
    suggestions = [command for command, words in _SYNONYMS.items() if name in words]
    suggestions += [command for command in COMMANDS if command.split()[-1] == name]
    if suggestions:
        return suggestions
    close = closest_name(name, COMMANDS)
    return [close] if close else []


# --- the commands ------------------------------------------------------------------------------


@command(
    "help",
    argument("command", "name of a command (default: list all)", nargs="*"),
    examples=("nuggets help", "nuggets help note add"),
)
def _help(call: Call) -> Outcome:
    from nuggets.interfaces.cli.run_command import build_parser

    name = " ".join(call.options.command)
    command = find(name)
    if command is None and name not in ("", *GROUPS):
        raise InvalidInput(unknown_command_message(name))
    return help_outcome(build_parser(name, command).format_help() if command else help_text(name))


@command("version")
def _version(call: Call) -> Outcome:
    return _version_outcome()


# --- demo ---------------------------------------------------------------------------------------


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


@command("demo")
def _demo(call: Call) -> Outcome:
    """Every step is a process, as an agent's would be."""
    import subprocess
    from shlex import join
    from shutil import which
    from tempfile import TemporaryDirectory

    from nuggets.filesystem.processes import module_command

    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUGGETS_")}
    steps, lines = [], []
    with TemporaryDirectory(prefix="nuggets-demo-") as directory:
        for comment, words in STEPS:
            done = subprocess.run(
                module_command("nuggets", "--dir", directory, *words),
                cwd=directory,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                env=environment,
                check=False,
            )
            steps.append(
                {"command": ["nuggets", *words], "exit": done.returncode, "output": done.stdout}
            )
            lines += ["", style(comment, "cyan"), ""] if comment else []
            lines += [style(f"$ nuggets {join(words)}", "bold"), *done.stdout.splitlines()]
        lines += ["", style("It is all in files, on your machine only:", "cyan"), ""]
        lines.append(style("$ cat locations.nugget.json", "bold"))
        with open(os.path.join(directory, "locations.nugget.json"), encoding="utf-8") as file:
            lines += file.read().splitlines()
    program = "nuggets" if which("nuggets") else sys.argv[0]  # as in a fresh checkout
    lines += ["", "The directory of this demo is removed. Yours will be ~/.nuggets. Start with:"]
    return Outcome(steps, [*lines, "", f'  {program} remember project "test cmd" "make test"', ""])
