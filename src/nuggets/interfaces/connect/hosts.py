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


class Setup(NamedTuple):
    """Where a host's files are, and how they are to call us, on which shelf."""

    root: str  # the home directory, or the project's
    user: bool  # for all of a user's projects, so it is the former
    command: Sequence[str]
    directory: str  # of the shelf; "" for the default one, which need not be said

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    def called(self, *words: str) -> list[str]:
        """A command line, with the shelf behind the command: `is_ours` looks before that."""
        return [*self.command, *words, *(["--dir", self.directory] if self.directory else [])]


Piece = Member | Item | Table | Whole


def pieces(
    host: str, root: str, *, user: bool, command: Sequence[str], directory: str = ""
) -> list[Piece]:
    """All that connects a host; see `Setup`."""
    make = {
        "claude-code": _claude_code,
        "codex": _codex,
        "cursor": _cursor,
        "gemini": _gemini,
        "opencode": _opencode,
        "pi": _pi,
    }[host]
    return make(Setup(root, user, command, directory))


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


def _server(setup: Setup) -> dict[str, Any]:
    first, *rest = setup.called("mcp")
    return {"command": first, "args": rest}


def _group(matcher: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """Hooks as Claude Code, Codex and Gemini group them: for which tools or reasons, then what."""
    return {**({"matcher": matcher} if matcher else {}), "hooks": [dict(run)]}


def _claude_code(setup: Setup) -> list[Piece]:
    servers = ".claude.json" if setup.user else ".mcp.json"
    settings = setup.path(".claude", "settings.json")

    def hook(event: str, name: str, timeout: int, matcher: str = "", later: bool = False) -> Item:
        # one line, no "args": Cursor runs these hooks too and would leave the arguments out
        run = {"type": "command", "command": shlex.join(setup.called("hook", name))}
        more = {"async": True} if later else {}  # the agent does not wait for it
        group = _group(matcher, {**run, **more, "timeout": timeout})
        return Item(settings, ("hooks", event), group)

    return [
        Member(setup.path(servers), ("mcpServers", "nuggets"), _server(setup)),
        hook("SessionStart", "session-start", 5),
        hook("UserPromptSubmit", "user-prompt", 3),
        hook("PostToolUse", "post-tool", 10, _CLAUDE_FILE_TOOLS, later=True),
        hook("PreCompact", "pre-compact", 10),
        hook("Stop", "stop", 20, later=True),
    ]


def _codex(setup: Setup) -> list[Piece]:
    hooks = setup.path(".codex", "hooks.json")
    found: list[Piece] = [
        Table(setup.path(".codex", "config.toml"), ("mcp_servers", "nuggets"), _server(setup))
    ]
    for event, name, timeout, matcher in (
        ("SessionStart", "session-start", 5, ""),
        ("UserPromptSubmit", "user-prompt", 3, ""),
        ("PostToolUse", "post-tool", 10, _CODEX_FILE_TOOLS),
        ("PreCompact", "pre-compact", 10, ""),
        ("Stop", "stop", 20, ""),
    ):
        line = shlex.join(setup.called("hook", name, "--host", "codex"))
        run = {"type": "command", "command": line, "timeout": timeout}
        found.append(Item(hooks, ("hooks", event), _group(matcher, run)))
    return found


def _cursor(setup: Setup) -> list[Piece]:
    hooks = setup.path(".cursor", "hooks.json")
    found: list[Piece] = [
        Member(setup.path(".cursor", "mcp.json"), ("mcpServers", "nuggets"), _server(setup)),
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
        line = shlex.join(setup.called("hook", name))
        entry: dict[str, Any] = {"command": line, "timeout": timeout}
        entry |= {"matcher": matcher} if matcher else {}
        found.append(Item(hooks, ("hooks", event), entry))
    return found


def _gemini(setup: Setup) -> list[Piece]:
    settings = setup.path(".gemini", "settings.json")
    found: list[Piece] = [Member(settings, ("mcpServers", "nuggets"), _server(setup))]
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
            "command": shlex.join(setup.called("hook", name, "--host", "gemini")),
            "timeout": milliseconds,
        }
        found.append(Item(settings, ("hooks", event), _group(matcher, run)))
    return found


def _opencode(setup: Setup) -> list[Piece]:
    folder = setup.path(".config", "opencode") if setup.user else setup.root
    plugins = os.path.join(folder if setup.user else setup.path(".opencode"), "plugins")
    commented = os.path.join(folder, "opencode.jsonc")
    settings = commented if os.path.exists(commented) else os.path.join(folder, "opencode.json")
    server = {"type": "local", "command": setup.called("mcp"), "enabled": True}
    return [
        Member(settings, ("mcp", "nuggets"), server),
        Whole(os.path.join(plugins, "nuggets.ts"), "opencode/nuggets.ts", tuple(setup.called())),
    ]


def _pi(setup: Setup) -> list[Piece]:
    folder = setup.path(".pi", "agent") if setup.user else setup.path(".pi")
    return [
        Whole(os.path.join(folder, "extensions", name), f"pi/{name}", tuple(setup.called()))
        for name in ("nuggets.ts", "proactive.ts")
    ]
