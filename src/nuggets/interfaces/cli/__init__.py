"""The commands of `nuggets`: what one is, and the table of all, each with the module that runs it.

Agents call it in hooks many times an hour, so the table imports none of them.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from argparse import Namespace

    from nuggets.settings import Settings
    from nuggets.shelf import NuggetShelf


class Outcome(NamedTuple):
    """What a command prints, for a script and for a person."""

    json: Any  # a record, several, or an object; None: the command has printed it already
    lines: list[str]
    exit_code: int = 0
    is_read_only: bool = False  # of a command that watches: there was nothing to do


class Call(NamedTuple):
    """One call of a command: its options, the settings and the shelf."""

    options: "Namespace"
    settings: "Settings"
    shelf: "NuggetShelf"
    session: str


class Argument(NamedTuple):
    """An argument of a command, as argparse takes it."""

    name: str
    options: dict[str, Any]
    group: str  # the heading that it has in the help text; "": the usual one

    @property
    def is_option(self) -> bool:
        return self.name.startswith("-")

    @property
    def takes_value(self) -> bool:
        return "action" not in self.options or self.options["action"] == "append"


class Command(NamedTuple):
    """The arguments of a command and the function that runs it."""

    run: Callable[[Call], Outcome]
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]
    summary: str  # longer than the one in the list of commands; "": the same
    reports_broken_settings: bool  # it runs although config.toml cannot be read


def argument(name: str, help: str = "", *, group: str = "", **options: Any) -> Argument:
    return Argument(name, {**options, "help": help}, group)


def flag(name: str, help: str, *, group: str = "") -> Argument:
    """An option without a value."""
    return argument(name, help, group=group, action="store_true")


DRY_RUN_ARGUMENT = flag("--dry-run", "only show what would change")


def command(
    name: str,
    *arguments: Argument,
    examples: tuple[str, ...] = (),
    summary: str = "",
    reports_broken_settings: bool = False,
) -> Callable[[Callable[[Call], Outcome]], Callable[[Call], Outcome]]:
    """Make a function the command of this name."""

    def register(run: Callable[[Call], Outcome]) -> Callable[[Call], Outcome]:
        shown = examples or (f"nuggets {name}",)
        DEFINED[name] = Command(run, arguments, shown, summary, reports_broken_settings)
        return run

    return register


DEFINED: dict[str, Command] = {}  # of the modules that were imported


# --- all of them -------------------------------------------------------------------------------


MODULES = {  # command -> module of this package and what it does, in the order of the overview
    "Facts": {
        "remember": ("facts", "store a fact (nugget, key, value), or a text as a note"),
        "recall": ("search_recall_graph", "find a fact by its key, part of it, or a misspelling"),
        "forget": ("facts", "delete a fact"),
        "facts": ("facts", "show the facts of a nugget, or of all"),
    },
    "Notes": {
        "note add": ("notes", "store a note: nugget, title, content"),
        "note show": ("notes", "show a whole note"),
        "note edit": ("notes", "change a note's content, title, tags or metadata"),
        "note archive": ("notes", "take a note out of lists and searches; nothing is lost"),
        "note restore": ("notes", "bring an archived note back"),
        "note delete": ("notes", "archive a note; --hard deletes it with every link to it"),
        "note merge": ("notes", "merge two notes into one"),
        "note list": ("notes", "list notes"),
        "search": ("search_recall_graph", "find notes by what they are about"),
        "link": ("notes", "link two notes, with a reason"),
        "unlink": ("notes", "remove a link, or all links between two notes"),
        "graph": ("search_recall_graph", "show notes and their links as a tree"),
    },
    "Nuggets": {
        "list": ("nuggets_and_projects", "show all nuggets"),
        "status": ("nuggets_and_projects", "show how full a nugget is, or all of them"),
        "clear": ("nuggets_and_projects", "delete all facts of a nugget; its notes stay"),
        "remove": ("nuggets_and_projects", "delete a nugget with all its facts and notes"),
    },
    "Projects": {
        "project list": ("nuggets_and_projects", "show the repositories that memories belong to"),
        "project move": ("nuggets_and_projects", "move memories along when a repository moved"),
        "project join": ("nuggets_and_projects", "use the memories of another clone here too"),
        "project leave": ("nuggets_and_projects", "give this place memories of its own"),
        "project share": ("nuggets_and_projects", "share memories through the repository"),
        "project unshare": ("nuggets_and_projects", "stop writing memories into the repository"),
        "project trust": ("nuggets_and_projects", "read the memories that the repository carries"),
        "project untrust": ("nuggets_and_projects", "stop reading the repository's memories"),
    },
    "Sessions": {
        "sessions list": ("nuggets_and_projects", "list the sessions with agents here"),
        "sessions show": ("nuggets_and_projects", "show a session, by default the last one"),
        "sessions search": ("nuggets_and_projects", "find a session by what it was about"),
    },
    "Encoder": {
        "encoder install": ("audit_doctor_config", "install a sentence encoder for search"),
        "encoder update": ("audit_doctor_config", "encode the notes that have no vector yet"),
        "encoder status": ("audit_doctor_config", "show whether it is installed, and its notes"),
        "encoder remove": ("audit_doctor_config", "remove the encoder and all vectors"),
    },
    "Page": {
        "ui": ("connect_and_serve", "open the page that shows your memory"),
        "serve": ("connect_and_serve", "serve REST, the page and MCP over HTTP; reflect daily"),
    },
    "Team": {
        "member add": ("team_vault_pair", "make someone a member of a team, with a token"),
        "member list": ("team_vault_pair", "show the members of the team"),
        "member revoke": ("team_vault_pair", "end a member's token at once"),
        "login": ("team_vault_pair", "store your token for a server, in a private file"),
        "logout": ("team_vault_pair", "remove that token from this machine"),
        "sync": ("team_vault_pair", "send queued changes, and refresh the local copy"),
        "queue list": ("team_vault_pair", "list the changes that wait for the server"),
        "queue retry": ("team_vault_pair", "send a rejected change again, whatever others did"),
        "queue drop": ("team_vault_pair", "give up a change that waits or was rejected"),
    },
    "Elsewhere": {
        "vault": ("team_vault_pair", "edit memory as a folder of Markdown, as in Obsidian"),
        "pair": ("team_vault_pair", "keep machines equal through a folder that they share"),
    },
    "Agents": {
        "connect": ("connect_and_serve", "connect an agent: its MCP server and its hooks"),
        "disconnect": ("connect_and_serve", "remove what connect added"),
        "mcp": ("connect_and_serve", "serve memory to an agent over MCP, on stdin and stdout"),
        "hook": ("connect_and_serve", "answer a hook of an agent's host"),
    },
    "Reflection": {
        "reflect": ("reflect_promote_schedule", "put in order: archive, tidy, tag, merge, link"),
        "promote": ("reflect_promote_schedule", "write what was recalled often to MEMORY.md"),
        "schedule run": ("reflect_promote_schedule", "run the daily reflection whenever it is due"),
        "schedule status": ("reflect_promote_schedule", "show the last and the next run"),
        "schedule install": ("reflect_promote_schedule", "install a system timer that runs it"),
        "schedule uninstall": ("reflect_promote_schedule", "remove the system timer"),
    },
    "Maintenance": {
        "history": ("history_and_undo", "show what was done, by whom, newest first"),
        "undo": ("history_and_undo", "undo a change"),
        "import": ("import_export_backup", "import memories from another machine or program"),
        "export": ("import_export_backup", "write notes as JSON, Markdown, CSV or a graph"),
        "copy": ("import_export_backup", "copy a whole shelf into a new one, such as a database"),
        "backup": ("import_export_backup", "copy the whole shelf into one checked file"),
        "restore": ("import_export_backup", "replace the shelf by a backup; the old one is kept"),
        "audit": ("audit_doctor_config", "find duplicates, contradictions, secrets, stale notes"),
        "demo": ("help_and_demo", "see it work in a temporary directory"),
        "doctor": ("audit_doctor_config", "check files and links, and with --fix repair them"),
        "config": ("audit_doctor_config", "show settings and their origins, or change one"),
        "completion": ("completion", "print the completion script for your shell"),
        "help": ("help_and_demo", "show all commands, or how to use one"),
        "version": ("help_and_demo", "print the version"),
    },
}

COMMANDS = {name: known for commands in MODULES.values() for name, known in commands.items()}
# Commands of two words.
GROUPS = ("encoder", "member", "note", "project", "queue", "schedule", "sessions")


def find(name: str) -> Command | None:
    """The command of that name, with its module imported."""
    if name not in COMMANDS:
        return None
    module, summary = COMMANDS[name]
    import_module(f"nuggets.interfaces.cli.{module}")
    return DEFINED[name]._replace(summary=DEFINED[name].summary or summary)


def split_command(words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The name of a command, of one or two words; the global options before it; what follows it."""
    name, before, rest = "", list[str](), list(words)
    while rest and (not name or name in GROUPS):
        word = rest.pop(0)
        if word.startswith("-"):
            before += [word, *rest[:1]] if word == "--dir" else [word]
            del rest[: word == "--dir"]
        else:
            name = f"{name} {word}".strip()
    return name, before, rest
