"""Every command of `nuggets`, with the module that runs it. Imports none of them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.interfaces.cli.command import Command

MODULES = {  # command -> module of this package and what it does, in the order of the overview
    "Facts": {
        "remember": ("facts", "store a fact (nugget, key, value), or a text as a note"),
        "recall": ("facts", "find a fact by its key, part of it, or a misspelling"),
        "forget": ("facts", "delete a fact"),
        "facts": ("facts", "show the facts of a nugget, or of all"),
    },
    "Notes": {
        "note add": ("notes", "store a note: nugget, title, content"),
        "note show": ("notes", "show a whole note"),
        "note edit": ("notes", "change a note's content, title, tags or metadata"),
        "note hide": ("notes", "archive a note; nothing is lost"),
        "note restore": ("notes", "bring an archived note back"),
        "note delete": ("notes", "archive a note; --hard drops it with every link to it"),
        "note merge": ("notes", "merge two notes into one"),
        "note list": ("notes", "list notes"),
        "search": ("search", "find notes by what they are about"),
        "link": ("graph", "link two notes, with a reason"),
        "unlink": ("graph", "remove a link"),
        "graph": ("graph", "show notes and their links as a tree"),
    },
    "Nuggets": {
        "list": ("nuggets", "show all nuggets"),
        "status": ("nuggets", "show how full a nugget is"),
        "clear": ("nuggets", "delete all facts of a nugget"),
        "remove": ("nuggets", "delete a nugget with all its facts and notes"),
    },
    "Projects": {
        "project list": ("projects", "show the repositories that memories belong to"),
        "project move": ("projects", "move memories along when a repository moved"),
        "project join": ("projects", "use the memories of another clone or fork here too"),
        "project leave": ("projects", "give this place memories of its own"),
        "project share": ("projects", "share memories through the repository"),
        "project unshare": ("projects", "stop writing memories into the repository"),
        "project trust": ("projects", "read the memories that the repository carries"),
        "project untrust": ("projects", "stop reading the repository's memories"),
    },
    "Sessions": {
        "sessions list": ("sessions", "list the sessions with agents in this project"),
        "sessions show": ("sessions", "show what a session was about, by default the last one"),
        "sessions search": ("sessions", "find a session by what it was about"),
    },
    "Meaning": {
        "meaning install": ("meaning", "install a sentence encoder for search"),
        "meaning update": ("meaning", "encode the notes that have no vector yet"),
        "meaning status": ("meaning", "show whether it is installed, and for how many notes"),
        "meaning remove": ("meaning", "remove the encoder and all vectors"),
    },
    "Page": {
        "ui": ("ui_and_serve", "open the page that shows your memory"),
        "serve": ("ui_and_serve", "serve REST, the page and MCP over HTTP"),
    },
    "Team": {
        "member add": ("members", "make someone a member of a team, with a token"),
        "member list": ("members", "show the members of the team"),
        "member revoke": ("members", "end a member's token at once"),
        "login": ("login_and_sync", "store your token for a server that keeps the memory"),
        "logout": ("login_and_sync", "remove that token from this machine"),
        "sync": ("login_and_sync", "send queued changes, and refresh the local copy"),
        "queue list": ("login_and_sync", "list the changes that wait for the server"),
        "queue retry": ("login_and_sync", "send a rejected change again"),
        "queue drop": ("login_and_sync", "give up a change that waits or was rejected"),
    },
    "Agents": {
        "connect": ("connect_and_mcp", "connect an agent: its MCP server and its hooks"),
        "disconnect": ("connect_and_mcp", "remove what connect added"),
        "mcp": ("connect_and_mcp", "serve memory to an agent over MCP"),
        "hook": ("connect_and_mcp", "answer a hook of an agent's host"),
    },
    "Clean-up": {
        "reflect": ("reflect_and_promote", "clean up: archive, tidy, tag, merge, link"),
        "promote": ("reflect_and_promote", "write what was recalled often enough to MEMORY.md"),
        "schedule run": ("schedule", "run the daily clean-up whenever it is due"),
        "schedule status": ("schedule", "show the last and the next run"),
        "schedule install": ("schedule", "install a system timer for the daily clean-up"),
        "schedule uninstall": ("schedule", "remove the system timer"),
    },
    "Maintenance": {
        "history": ("history_and_undo", "show what was done, by whom, newest first"),
        "undo": ("history_and_undo", "undo a change"),
        "import": ("import_memories", "import memories from another machine or program"),
        "export": ("export", "write all notes as JSON, JSON lines or Markdown"),
        "copy": ("backup_restore_copy", "copy a whole shelf into a new one, such as a database"),
        "backup": ("backup_restore_copy", "copy the whole shelf into one checked file"),
        "restore": ("backup_restore_copy", "replace the shelf by a backup"),
        "audit": ("audit_and_doctor", "report duplicates, contradictions, secrets, stale memories"),
        "demo": ("demo", "see it work in a temporary directory"),
        "doctor": ("audit_and_doctor", "check the files and repair them"),
        "config": ("config", "show the settings, or change one"),
        "completion": ("completion", "print the completion script for your shell"),
        "help": ("help_and_version", "show all commands, or how to use one"),
        "version": ("help_and_version", "print the version"),
    },
}

# Commands of two words.
GROUPS = ("meaning", "member", "note", "project", "queue", "schedule", "sessions")


def find(name: str) -> "Command | None":
    """The command of that name, with its module imported."""
    for commands in MODULES.values():
        if name in commands:
            module, summary = commands[name]
            command: Command = import_module(f"nuggets.interfaces.cli.{module}").COMMANDS[name]
            return command._replace(summary=command.summary or summary)
    return None
