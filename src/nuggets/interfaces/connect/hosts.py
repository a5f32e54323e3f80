"""Every host, and what Nuggets writes into its configuration: file, path in it, value."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nuggets.named_tuple import NamedTuple

# Only tools that name a file: for any other a hook would start a process for nothing.
_CLAUDE_FILE_TOOLS = "Read|Edit|MultiEdit|Write|NotebookEdit"
_CODEX_FILE_TOOLS = "^apply_patch$"  # Codex reads files by shell commands, which name none
_CURSOR_FILE_TOOLS = "^(Read|Write|Edit|StrReplace)$"
_GEMINI_FILE_TOOLS = "^(read_file|write_file|replace)$"
_GEMINI_COMPRESSION = "manual"  # "auto" comes at every turn, needed or not


class Value(NamedTuple):
    """A value at a path in a file of JSON or TOML."""

    file: str
    path: tuple[str, ...]
    value: Any


class ListItem(NamedTuple):
    """An item of a list at a path in a JSON file."""

    file: str
    path: tuple[str, ...]
    value: Any


class WholeFile(NamedTuple):
    """A file that Nuggets writes as a whole."""

    file: str
    source: str  # its name among the files of this package
    command: tuple[str, ...]  # the command that it calls


class Setup(NamedTuple):
    """Where a host's files are, and the command that they call."""

    root: str  # the home directory, or the project's
    user: bool  # for all projects of a user, so `root` is the home directory
    command: Sequence[str]
    directory: str = ""  # the shelf's; "" for the default one, which is not written down
    system: str = sys.platform

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    def config_path(self, *names: str) -> str:
        """In `~/.config`, or where XDG_CONFIG_HOME puts it."""
        return os.path.join(os.environ.get("XDG_CONFIG_HOME") or self.path(".config"), *names)

    def application_path(self, *names: str) -> str:
        """Where desktop programs keep their settings."""
        if self.system == "darwin":
            return self.path("Library", "Application Support", *names)
        return self.config_path(*names)

    def command_line(self, *words: str) -> list[str]:
        """The command, these words, and the shelf's directory: `is_own_hook` needs this order."""
        return [*self.command, *words, *(["--dir", self.directory] if self.directory else [])]


Entry = Value | ListItem | WholeFile


def is_own_server(server: Any) -> bool:
    """Does this server's entry have the form that `connect` writes, of whichever version?"""
    if not isinstance(server, Mapping):
        return False
    command, arguments = server.get("command"), server.get("args", [])
    words = command if isinstance(command, list) else [command]
    words = [*words, *(arguments if isinstance(arguments, list) else [])]
    if "mcp" not in words:
        return False
    program = [str(word) for word in words[: words.index("mcp")]]
    if len(program) == 1:
        return os.path.basename(program[0]) == "nuggets"
    return program[1:] == ["-P", "-m", "nuggets"]


def is_own_hook(item: Any) -> bool:
    """Does this item of a list of hooks call Nuggets, by whichever path to the command?"""
    if not isinstance(item, dict):
        return False
    inner = item.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_own_hook(hook) for hook in inner)
    arguments = item.get("args") if isinstance(item.get("args"), list) else []
    words = f"{item.get('command', '')} {' '.join(map(str, arguments or []))}".split()
    position = words.index("hook") if "hook" in words else 0
    return position > 0 and os.path.basename(words[position - 1]).strip("'\"") == "nuggets"


def _server_entry(setup: Setup) -> dict[str, Any]:
    first, *rest = setup.command_line("mcp")
    return {"command": first, "args": rest}


def _server(setup: Setup, file: str, key: str = "mcpServers", **more: str) -> Value:
    """Our MCP server in a host's settings; `more`: what this host wants beside the command."""
    return Value(file, (key, "nuggets"), {**more, **_server_entry(setup)})


def _hook_group(matcher: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """A hook in the form of Claude Code, Codex and Gemini; `matcher` names tools or reasons."""
    return {**({"matcher": matcher} if matcher else {}), "hooks": [dict(run)]}


def _hooks(
    events: Sequence[str], file_tools: str, seconds: Sequence[int] = (5, 3, 10, 10, 20)
) -> Iterator[tuple[str, str, str, int]]:
    """At each of a host's events, in the order of a session: our hook, which tools or reasons it is
    for ("" for any), and the seconds that the host waits."""
    own = ("session-start", "user-prompt", "post-tool", "pre-compact", "stop")
    matchers = ("", "", file_tools, "", "")
    yield from zip(events, own, matchers, seconds, strict=True)


_CLAUDE_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop")
_CURSOR_EVENTS = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "preCompact", "stop")
_GEMINI_EVENTS = ("SessionStart", "BeforeAgent", "AfterTool", "PreCompress", "AfterAgent")
_IN_BACKGROUND = ("post-tool", "stop")  # where a host can go on meanwhile


def _claude_code(setup: Setup) -> list[Entry]:
    servers = ".claude.json" if setup.user else ".mcp.json"
    settings = setup.path(".claude", "settings.json")
    entries: list[Entry] = [_server(setup, setup.path(servers))]
    for event, name, matcher, seconds in _hooks(_CLAUDE_EVENTS, _CLAUDE_FILE_TOOLS):
        # one line, no "args": Cursor runs these hooks too and ignores "args"
        run = {"type": "command", "command": shlex.join(setup.command_line("hook", name))}
        background = {"async": True} if name in _IN_BACKGROUND else {}
        group = _hook_group(matcher, {**run, **background, "timeout": seconds})
        entries.append(ListItem(settings, ("hooks", event), group))
    return entries


def _codex(setup: Setup) -> list[Entry]:
    path = setup.path(".codex", "config.toml")
    entries: list[Entry] = [Value(path, ("mcp_servers", "nuggets"), _server_entry(setup))]
    for event, name, matcher, seconds in _hooks(_CLAUDE_EVENTS, _CODEX_FILE_TOOLS):
        line = shlex.join(setup.command_line("hook", name, "--host", "codex"))
        run = {"type": "command", "command": line, "timeout": seconds}
        group = _hook_group(matcher, run)
        entries.append(ListItem(setup.path(".codex", "hooks.json"), ("hooks", event), group))
    return entries


def _cursor(setup: Setup) -> list[Entry]:
    servers, hooks = (setup.path(".cursor", name) for name in ("mcp.json", "hooks.json"))
    entries: list[Entry] = [_server(setup, servers), Value(hooks, ("version",), 1)]
    for event, name, matcher, seconds in _hooks(_CURSOR_EVENTS, _CURSOR_FILE_TOOLS):
        # the same line as for Claude Code: Cursor runs those hooks too, and drops duplicates
        line = shlex.join(setup.command_line("hook", name))
        entry: dict[str, Any] = {"command": line, "timeout": seconds}
        entry |= {"matcher": matcher} if matcher else {}
        entries.append(ListItem(hooks, ("hooks", event), entry))
    return entries


def _gemini(setup: Setup) -> list[Entry]:
    settings = setup.path(".gemini", "settings.json")
    entries: list[Entry] = [_server(setup, settings)]
    for event, name, matcher, seconds in _hooks(
        _GEMINI_EVENTS, _GEMINI_FILE_TOOLS, (5, 3, 5, 5, 5)
    ):
        reasons = _GEMINI_COMPRESSION if name == "pre-compact" else matcher
        run = {
            "name": f"nuggets-{name}",
            "type": "command",
            "command": shlex.join(setup.command_line("hook", name, "--host", "gemini")),
            "timeout": 1000 * seconds,  # milliseconds
        }
        entries.append(ListItem(settings, ("hooks", event), _hook_group(reasons, run)))
    return entries


def _opencode(setup: Setup) -> list[Entry]:
    folder = setup.config_path("opencode") if setup.user else setup.root
    plugins = os.path.join(folder if setup.user else setup.path(".opencode"), "plugins")
    jsonc_file = os.path.join(folder, "opencode.jsonc")
    settings = jsonc_file if os.path.exists(jsonc_file) else os.path.join(folder, "opencode.json")
    server = {"type": "local", "command": setup.command_line("mcp"), "enabled": True}
    return [
        Value(settings, ("mcp", "nuggets"), server),
        WholeFile(
            os.path.join(plugins, "nuggets.ts"), "opencode/nuggets.ts", tuple(setup.command_line())
        ),
    ]


def _pi(setup: Setup) -> list[Entry]:
    folder = setup.path(".pi", "agent") if setup.user else setup.path(".pi")
    return [
        WholeFile(
            os.path.join(folder, "extensions", name), f"pi/{name}", tuple(setup.command_line())
        )
        for name in ("nuggets.ts", "proactive.ts")
    ]


# --- hosts that get the tools alone, no hooks -----------------------------------------------------


def _claude_desktop(setup: Setup) -> list[Entry]:
    return [_server(setup, setup.application_path("Claude", "claude_desktop_config.json"))]


def _vscode(setup: Setup) -> list[Entry]:
    user_file = setup.application_path("Code", "User", "mcp.json")
    file = user_file if setup.user else setup.path(".vscode", "mcp.json")
    return [_server(setup, file, "servers", type="stdio")]


def _windsurf(setup: Setup) -> list[Entry]:
    return [_server(setup, setup.path(".codeium", "windsurf", "mcp_config.json"))]


def _zed_editor(setup: Setup) -> list[Entry]:
    # also on macOS in ~/.config
    user_file = setup.config_path("zed", "settings.json")
    file = user_file if setup.user else setup.path(".zed", "settings.json")
    return [_server(setup, file, "context_servers")]


# --- all of them ----------------------------------------------------------------------------------


class Host(NamedTuple):
    """An agent's program, as far as `connect` has to know it."""

    entries: Callable[[Setup], list[Entry]]  # everything that connects it
    has_project_settings: bool = True
    is_started_by_desktop: bool = False  # perhaps without a shell's PATH: a bare name will not do


HOSTS = {
    "claude-code": Host(_claude_code),
    "codex": Host(_codex),
    "cursor": Host(_cursor),
    "gemini": Host(_gemini),
    "opencode": Host(_opencode),
    "pi": Host(_pi),
    "claude-desktop": Host(_claude_desktop, has_project_settings=False, is_started_by_desktop=True),
    "vscode": Host(_vscode, is_started_by_desktop=True),
    "windsurf": Host(_windsurf, has_project_settings=False, is_started_by_desktop=True),
    "zed": Host(_zed_editor, is_started_by_desktop=True),
}
