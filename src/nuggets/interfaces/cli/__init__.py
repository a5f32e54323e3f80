"""The `nuggets` command: parse, call the shelf once, print.

Agents call it in hooks many times an hour, so a call builds only its own command's parser and
imports only that command's module.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.interfaces.cli.command import Command

MODULES = {  # command -> module of this package and what it does, in the order of the overview
    "Facts": {
        "remember": ("facts", "store a fact: nugget, key, value"),
        "recall": ("facts", "find a fact by its key, part of it, or a misspelling"),
        "forget": ("facts", "take a fact away"),
        "facts": ("facts", "show the facts of a nugget"),
    },
    "Notes": {
        "note add": ("notes", "store a note: nugget, title, content"),
        "note show": ("notes", "show a whole note"),
        "note edit": ("notes", "change a note's content, title, tags or metadata"),
        "note hide": ("notes", "archive a note; nothing is lost"),
        "note restore": ("notes", "bring an archived note back"),
        "note delete": ("notes", "take a note and every link to it away"),
        "note merge": ("notes", "unite two notes"),
        "note list": ("notes", "list notes"),
        "search": ("graph", "find notes by what they are about"),
        "link": ("graph", "link two notes, with a reason"),
        "unlink": ("graph", "take a link away"),
        "graph": ("graph", "show notes and their links as a tree"),
    },
    "Nuggets": {
        "list": ("nuggets", "show all nuggets"),
        "status": ("nuggets", "show how full a nugget is"),
        "clear": ("nuggets", "forget all facts of a nugget"),
        "remove": ("nuggets", "take a nugget away with all it holds"),
    },
    "Projects": {
        "project list": ("projects", "show the repositories that memories belong to"),
        "project move": ("projects", "take memories along when a repository moved"),
    },
    "Page": {
        "ui": ("web", "open the page that shows your memory"),
        "serve": ("web", "serve REST, the page and MCP over HTTP"),
    },
    "Agents": {
        "connect": ("agents", "connect an agent: its MCP server and its hooks"),
        "disconnect": ("agents", "take out what connect put in"),
        "mcp": ("agents", "serve memory to an agent over MCP"),
        "hook": ("agents", "answer a hook of an agent's host"),
    },
    "Clean-up": {
        "reflect": ("reflection", "clean up: archive, tidy, tag, merge, link"),
        "promote": ("reflection", "write what was recalled in three sessions to MEMORY.md"),
        "schedule run": ("schedule", "run the daily clean-up whenever it is due"),
        "schedule status": ("schedule", "show the last and the next run"),
        "schedule install": ("schedule", "have the system run it every day"),
        "schedule uninstall": ("schedule", "take the timer away again"),
    },
    "Care": {
        "history": ("past", "show what was done, by whom, newest first"),
        "undo": ("past", "take a change back"),
        "import": ("exchange", "take memories in from another machine or program"),
        "export": ("export", "write all notes as JSON, JSON lines or Markdown"),
        "backup": ("backups", "copy the whole shelf into one checked file"),
        "restore": ("backups", "put a backup in the place of what is here"),
        "audit": ("care", "report duplicates, contradictions, secrets, stale memories"),
        "demo": ("demo", "see it work, in a directory that is thrown away"),
        "doctor": ("care", "check the files, and repair what can be"),
        "config": ("care", "show every setting and where it came from"),
        "completion": ("completion", "print the completion script for your shell"),
        "help": ("about", "show all commands, or how to use one"),
        "version": ("about", "print the version"),
    },
}

GROUPS = ("note", "project", "schedule")  # commands of two words


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code: 0 found or done, 1 not found or failed, 2 usage."""
    _fill_standard_files()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads cost more than they bring
    try:
        return _called(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    finally:
        _let_go()


def _called(arguments: list[str]) -> int:
    name, first = "", _command_at(arguments)
    if arguments[first : first + 1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        # Hosts call it at every tool: past all the rest.
        from nuggets.interfaces.hooks.running import main as hook

        return hook([*arguments[:first], *arguments[first + 1 :]])
    from nuggets.interfaces.cli.parsing import overview, parsed

    if first < len(arguments):
        name = arguments.pop(first)
    if name in GROUPS:
        first = _command_at(arguments, first)
        if first < len(arguments):
            name = f"{name} {arguments.pop(first)}"
    command = find(name)
    if command is None or {"--help", "-h", "--version"} & set(arguments[:first]):
        return overview(name, arguments, first)
    from nuggets.interfaces.cli.running import run

    options = parsed(name, command, arguments)
    return options if isinstance(options, int) else run(command, options)


def _fill_standard_files() -> None:
    """A closed one (``>&-``) would give its number to the next file opened, say the journal, and
    whatever is printed would end up there."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _let_go() -> None:
    """What could not be written would be tried again when the process ends, and fail again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _command_at(arguments: Sequence[str], at: int = 0) -> int:
    """Where the command stands: behind the global options that may come before it."""
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] == "--dir" else 1
    return min(at, len(arguments))


def find(name: str) -> "Command | None":
    """The command of that name, with its module imported."""
    for commands in MODULES.values():
        if name in commands:
            module, summary = commands[name]
            found: Command = import_module(f"nuggets.interfaces.cli.{module}").COMMANDS[name]
            return found._replace(summary=found.summary or summary)
    return None
