"""What each host's configuration needs: which file, where in it, which words."""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# the tools that name a file: for all others a hook would be a process for nothing
_CLAUDE_FILE_TOOLS = "Read|Edit|MultiEdit|Write|NotebookEdit"
_CODEX_FILE_TOOLS = "^apply_patch$"  # it reads by shell commands, which name no file
_CURSOR_FILE_TOOLS = "^(Read|Write|Edit|StrReplace)$"
_GEMINI_FILE_TOOLS = "^(read_file|write_file|replace)$"
_GEMINI_COMPRESSING = "manual"  # "auto" is said at every turn, before it is known to be needed


class Member(NamedTuple):
    """A value at a place in a JSON file."""

    file: str
    path: tuple[str, ...]
    value: Any


class Item(NamedTuple):
    """An entry in a list in a JSON file."""

    file: str
    path: tuple[str, ...]
    value: Any


class Table(NamedTuple):
    """A table in a TOML file."""

    file: str
    path: tuple[str, ...]
    value: Mapping[str, Any]


class Whole(NamedTuple):
    """A file that is ours altogether."""

    file: str
    packaged: str  # its name among the files that come with this package
    command: tuple[str, ...]  # which it is to call


class Program(NamedTuple):
    """How to call us, and on which shelf."""

    command: list[str]
    directory: str

    def called(self, *words: str) -> list[str]:
        """A command line, with the shelf behind the command: `is_ours` looks before that."""
        return [*self.command, *words, *(["--dir", self.directory] if self.directory else [])]


Piece = Member | Item | Table | Whole


def pieces(
    host: str, root: str, *, user: bool, command: Sequence[str], directory: str = ""
) -> list[Piece]:
    """All that connects a host. `root`: the home directory, or the project's.

    `directory`: of the shelf; "" for the default one, which need not be said.
    """
    make = {
        "claude-code": _claude_code,
        "codex": _codex,
        "cursor": _cursor,
        "gemini": _gemini,
        "opencode": _opencode,
        "pi": _pi,
    }[host]
    return make(root, user, Program(list(command), directory))


def is_ours(item: Any) -> bool:
    """Is this entry of a list of hooks one that we wrote, by whichever path to the command?"""
    if not isinstance(item, dict):
        return False
    inner = item.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_ours(hook) for hook in inner)
    arguments = item.get("args") if isinstance(item.get("args"), list) else []
    words = f"{item.get('command', '')} {' '.join(map(str, arguments or []))}".split()
    at = words.index("hook") if "hook" in words else 0
    return at > 0 and os.path.basename(words[at - 1]).strip("'\"") == "nuggets"


def _server(program: Program) -> dict[str, Any]:
    first, *rest = program.called("mcp")
    return {"command": first, "args": rest}


def _group(matcher: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """Hooks as Claude Code, Codex and Gemini group them: for which tools or reasons, then what."""
    return {**({"matcher": matcher} if matcher else {}), "hooks": [dict(run)]}


def _claude_code(root: str, user: bool, program: Program) -> list[Piece]:
    servers = ".claude.json" if user else ".mcp.json"
    settings = os.path.join(root, ".claude", "settings.json")

    def hook(event: str, name: str, timeout: int, matcher: str = "", later: bool = False) -> Item:
        # one line, no "args": Cursor runs these hooks too and would leave the arguments out
        run = {"type": "command", "command": shlex.join(program.called("hook", name))}
        more = {"async": True} if later else {}  # the agent does not wait for it
        group = _group(matcher, {**run, **more, "timeout": timeout})
        return Item(settings, ("hooks", event), group)

    return [
        Member(os.path.join(root, servers), ("mcpServers", "nuggets"), _server(program)),
        hook("SessionStart", "session-start", 5, "startup|resume|clear|compact"),
        hook("UserPromptSubmit", "user-prompt", 3),
        hook("PostToolUse", "post-tool", 10, _CLAUDE_FILE_TOOLS, later=True),
        hook("PreCompact", "pre-compact", 10),
        hook("Stop", "stop", 20, later=True),
    ]


def _codex(root: str, user: bool, program: Program) -> list[Piece]:
    folder = os.path.join(root, ".codex")
    hooks = os.path.join(folder, "hooks.json")
    found: list[Piece] = [
        Table(os.path.join(folder, "config.toml"), ("mcp_servers", "nuggets"), _server(program))
    ]
    for event, name, timeout, matcher in (
        ("SessionStart", "session-start", 5, ""),
        ("UserPromptSubmit", "user-prompt", 3, ""),
        ("PostToolUse", "post-tool", 10, _CODEX_FILE_TOOLS),
        ("PreCompact", "pre-compact", 10, ""),
        ("Stop", "stop", 20, ""),
    ):
        line = shlex.join(program.called("hook", name, "--host", "codex"))
        run = {"type": "command", "command": line, "timeout": timeout}
        found.append(Item(hooks, ("hooks", event), _group(matcher, run)))
    return found


def _cursor(root: str, user: bool, program: Program) -> list[Piece]:
    folder = os.path.join(root, ".cursor")
    hooks = os.path.join(folder, "hooks.json")
    found: list[Piece] = [
        Member(os.path.join(folder, "mcp.json"), ("mcpServers", "nuggets"), _server(program)),
        Member(hooks, ("version",), 1),
    ]
    for event, name, timeout, matcher in (
        ("sessionStart", "session-start", 5, ""),
        ("beforeSubmitPrompt", "user-prompt", 3, ""),
        ("postToolUse", "post-tool", 10, _CURSOR_FILE_TOOLS),
        ("preCompact", "pre-compact", 10, ""),
        ("stop", "stop", 20, ""),
    ):
        # word for word as for Claude Code, whose hooks Cursor runs too: it leaves out doubles
        line = shlex.join(program.called("hook", name))
        entry: dict[str, Any] = {"command": line, "timeout": timeout}
        entry |= {"matcher": matcher} if matcher else {}
        found.append(Item(hooks, ("hooks", event), entry))
    return found


def _gemini(root: str, user: bool, program: Program) -> list[Piece]:
    settings = os.path.join(root, ".gemini", "settings.json")
    found: list[Piece] = [Member(settings, ("mcpServers", "nuggets"), _server(program))]
    for event, name, milliseconds, matcher in (
        ("SessionStart", "session-start", 5000, ""),
        ("BeforeAgent", "user-prompt", 3000, ""),
        ("AfterTool", "post-tool", 5000, _GEMINI_FILE_TOOLS),
        ("PreCompress", "pre-compact", 5000, _GEMINI_COMPRESSING),
        ("AfterAgent", "stop", 5000, ""),
    ):
        run = {
            "name": f"nuggets-{name}",
            "type": "command",
            "command": shlex.join(program.called("hook", name, "--host", "gemini")),
            "timeout": milliseconds,
        }
        found.append(Item(settings, ("hooks", event), _group(matcher, run)))
    return found


def _opencode(root: str, user: bool, program: Program) -> list[Piece]:
    folder = os.path.join(root, ".config", "opencode") if user else root
    plugins = os.path.join(folder if user else os.path.join(root, ".opencode"), "plugins")
    commented = os.path.join(folder, "opencode.jsonc")
    settings = commented if os.path.exists(commented) else os.path.join(folder, "opencode.json")
    server = {"type": "local", "command": program.called("mcp"), "enabled": True}
    return [
        Member(settings, ("mcp", "nuggets"), server),
        Whole(os.path.join(plugins, "nuggets.ts"), "opencode/nuggets.ts", tuple(program.called())),
    ]


def _pi(root: str, user: bool, program: Program) -> list[Piece]:
    folder = os.path.join(root, ".pi", "agent") if user else os.path.join(root, ".pi")
    return [
        Whole(os.path.join(folder, "extensions", name), f"pi/{name}", tuple(program.called()))
        for name in ("nuggets.ts", "proactive.ts")
    ]
