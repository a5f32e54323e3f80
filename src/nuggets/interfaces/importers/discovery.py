"""What a machine has that could be imported: past sessions, the memories and instructions of
agents, and the memories of other programs, each where its program keeps it.

Only looked at, never read as a whole: an offer is a path and a count. Links are not followed.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from glob import escape, iglob
from itertools import islice
from typing import Literal

from nuggets.domain.marks import INSTRUCTION_FILES
from nuggets.filesystem.atomic_files import read_beginning
from nuggets.filesystem.current_project import checkout_root
from nuggets.interfaces import pluralize
from nuggets.interfaces.connect.hosts import Setup
from nuggets.interfaces.hooks.transcript_reader import host_folder, read_folder_of
from nuggets.interfaces.importers import MOST_FILES, count_files, modification_time, parse_json
from nuggets.interfaces.importers.program_databases import count_memories
from nuggets.named_tuple import NamedTuple

Unit = Literal["session", "file", "memory"]

# Where hosts keep the transcripts of sessions, below their folder. Those of subagents are no
# sessions of a person.
_TRANSCRIPTS = {
    "claude-code": ("projects/*/*.jsonl",),
    "codex": ("sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
    "gemini": ("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl"),
    "pi": ("agent/sessions/*/*.jsonl",),
    "cursor": ("projects/*/agent-transcripts/*.jsonl", "projects/*/agent-transcripts/*/*.jsonl"),
}
_UNITS: Mapping[Unit, tuple[str, str]] = {
    "session": ("past session", "past sessions"),
    "memory": ("memory of another program", "memories of other programs"),
    "file": ("file of memories or instructions", "files of memories or instructions"),
}
_SUBAGENT = "agent-"
_CLEANUP_DAYS = 30  # after which Claude Code deletes a transcript, if its settings say nothing else


class Offer(NamedTuple):
    """Something that could be imported."""

    what: str
    path: str
    number: int  # of units
    unit: Unit
    files: tuple[str, ...] = ()  # the transcripts of an offer of sessions
    folder: str = ""  # the working directory that it belongs to, if it belongs to one


def discover() -> list[Offer]:
    """All offers, in the order in which they should come in: what is told before what happened."""
    root = ""
    with suppress(OSError):  # it was removed
        root = checkout_root(os.getcwd())
    offers = (
        *_instructions(root),
        *_agent_memories(),
        *_databases(root),
        *_basic_memory(),
        *_sessions(),
    )
    return [offer for offer in offers if offer.number]


def offers_text(offers: Sequence[Offer]) -> str:
    """What is offered, in a few words; "" for nothing."""
    counts = {unit: sum(o.number for o in offers if o.unit == unit) for unit in _UNITS}
    parts = [pluralize(n, *_UNITS[unit]) for unit, n in counts.items() if n]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


# --- past sessions --------------------------------------------------------------------------------


def transcripts_of(host: str) -> tuple[str, ...]:
    """The transcripts that a host keeps, the oldest first."""
    root = host_folder(host)
    paths = (
        path
        for pattern in _TRANSCRIPTS[host]
        for path in iglob(os.path.join(escape(root), pattern))
        if not os.path.basename(path).startswith(_SUBAGENT) and _is_plain(path)
    )
    return tuple(sorted(islice(paths, MOST_FILES), key=modification_time))


def transcripts_below(folder: str) -> list[str]:
    """The transcripts of hosts that lie below a folder."""
    root = os.path.join(os.path.realpath(folder), "")
    return [
        path
        for host in _TRANSCRIPTS
        for path in transcripts_of(host)
        if os.path.realpath(path).startswith(root)
    ]


def cleanup_days() -> int:
    """After how many days Claude Code deletes a transcript; 0: never."""
    settings = _json(os.path.join(host_folder("claude-code"), "settings.json"))
    days = settings.get("cleanupPeriodDays")
    return days if isinstance(days, int) and not isinstance(days, bool) else _CLEANUP_DAYS


def _sessions() -> Iterator[Offer]:
    for host in _TRANSCRIPTS:
        paths = transcripts_of(host)
        yield Offer(f"past sessions of {host}", host_folder(host), len(paths), "session", paths)
    path = os.path.join(_data_folder(), "opencode", "opencode.db")
    yield Offer("past sessions of opencode", path, _count_in(path), "session")


# --- memories and instructions of agents ----------------------------------------------------------


def _instructions(root: str) -> Iterator[Offer]:
    names = (*dict.fromkeys(INSTRUCTION_FILES.values()), "CLAUDE.md", "CLAUDE.local.md")
    candidates = [(root, name) for name in (*names, ".cursorrules", ".windsurfrules") if root]
    own = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
    candidates += [(host_folder(host), name) for host, name in own.items()]
    for folder, name in dict.fromkeys(candidates):
        path = os.path.join(folder, name)
        yield Offer("instructions for agents", path, int(_is_plain(path)), "file")
    rules = os.path.join(root, ".cursor", "rules")
    if root:
        yield Offer("rules of Cursor", rules, count_files(rules, (".mdc",)), "file")


def _agent_memories() -> Iterator[Offer]:
    claude = host_folder("claude-code")
    for pattern in ("projects/*/memory", "agent-memory/*"):
        for path in sorted(iglob(os.path.join(escape(claude), pattern))):
            count = count_files(path, (".md",))
            folder = read_folder_of(os.path.dirname(path)) if count else ""
            yield Offer("memories of claude-code", path, count, "file", folder=folder)
    codex = os.path.join(host_folder("codex"), "memories")
    yield Offer("memories of codex", codex, count_files(codex, (".md",)), "file")
    store = ("globalStorage", "github.copilot-chat", "memory-tool", "memories")
    vscode = _of_user().application_path("Code", "User", *store)
    yield Offer("memories of VS Code", vscode, count_files(vscode, (".md",)), "file")


# --- other memories -------------------------------------------------------------------------------


def _databases(root: str) -> Iterator[Offer]:
    is_mac = sys.platform == "darwin"
    data = _of_user().application_path() if is_mac else _data_folder()
    for name, path in (
        ("claude-mem", _of_user().path(".claude-mem", "claude-mem.db")),
        ("hippo", _of_user().path(".hippo", "hippo.db")),
        *([("hippo", os.path.join(root, ".hippo", "hippo.db"))] if root else []),
        ("mcp-memory-service", os.path.join(data, "mcp-memory", "sqlite_vec.db")),
    ):
        yield Offer(f"memories of {name}", path, _count_in(path), "memory")


def _count_in(database: str) -> int:
    return count_memories(database) if _is_plain(database) else 0


def _of_user() -> Setup:
    """Where programs of this user keep their settings."""
    return Setup(os.path.expanduser("~"), user=True, command=())


def _data_folder() -> str:
    return os.environ.get("XDG_DATA_HOME") or _of_user().path(".local", "share")


def _basic_memory() -> Iterator[Offer]:
    """The projects that its configuration names."""
    projects = _json(_of_user().path(".basic-memory", "config.json")).get("projects")
    for project in projects.values() if isinstance(projects, dict) else ():
        path = project.get("path") if isinstance(project, dict) else project
        if isinstance(path, str):
            folder = os.path.expanduser(path)
            yield Offer("notes of basic-memory", folder, count_files(folder, (".md",)), "file")


# --- looking --------------------------------------------------------------------------------------


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


_LARGEST_SETTINGS = 1 << 20  # bytes: people and hosts write some thousand


def _json(path: str) -> dict[str, object]:
    """The object of a settings file; empty if there is none that can be read."""
    value = parse_json(read_beginning(path, _LARGEST_SETTINGS))
    return value if isinstance(value, dict) else {}
