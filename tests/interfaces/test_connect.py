import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_doors import repository
from command_line import Nuggets
from nuggets.interfaces.connect.hosts import HOSTS, Setup

FILES = {  # host -> files in the home directory, first those that people write as well
    "claude-code": [".claude/settings.json", ".claude.json"],
    "codex": [".codex/config.toml", ".codex/hooks.json"],
    "cursor": [".cursor/mcp.json", ".cursor/hooks.json"],
    "gemini": [".gemini/settings.json"],
    "opencode": [".config/opencode/opencode.json", ".config/opencode/plugins/nuggets.ts"],
    "pi": [".pi/agent/extensions/nuggets.ts", ".pi/agent/extensions/proactive.ts"],
    "claude-desktop": [".config/Claude/claude_desktop_config.json"],
    "vscode": [".config/Code/User/mcp.json"],
    "windsurf": [".codeium/windsurf/mcp_config.json"],
    "zed": [".config/zed/settings.json"],
}
IN_PROJECTS = [host for host in HOSTS if host not in ("claude-desktop", "windsurf")]
SETTINGS = """{
    // how I like it
    "model": "large", /* the big one */
    "hooks": {
        "AfterAgent": [
            {"hooks": [{"type": "command", "command": "say done"}]} // loud
        ]
    },
    "theme": "dark" // easy on the eyes
}
"""
TOML = """# my settings
model = "large"   # the big one

[mcp_servers.other]
command = "other"
args = [
    "a", # first
]

# about the shell
[shell]
kind = "zsh"
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home on a machine where `nuggets` is not on the path."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    return tmp_path


@pytest.mark.parametrize("host", HOSTS)
def test_connecting_makes_the_files_and_disconnecting_leaves_nothing(
    host: str, home: Path, nuggets: Nuggets
) -> None:
    connected = nuggets("connect", host)
    made = {name: (home / name).read_text() for name in FILES[host]}
    again = nuggets("connect", host)
    left = nuggets("disconnect", host)

    assert connected.code == left.code == 0
    assert all("nuggets" in text for text in made.values())
    assert all(f"New: {home / name}" in connected.lines for name in FILES[host])
    assert "already" in again.out
    assert all(f"Removed: {home / name}" in left.lines for name in FILES[host])
    assert not any((home / name).exists() for name in FILES[host])
    assert "already" in nuggets("disconnect", host).out


@pytest.mark.parametrize("host", HOSTS)
def test_a_dry_run_shows_and_writes_nothing(host: str, home: Path, nuggets: Nuggets) -> None:
    shown = nuggets("connect", host, "--dry-run")

    assert all(f"+++ {home / name}" in shown.lines for name in FILES[host])
    assert "--dry-run" in shown.out
    assert not any((home / name).exists() for name in FILES[host])


def test_comments_order_and_other_entries_stay_and_the_very_bytes_come_back(
    home: Path, nuggets: Nuggets
) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(SETTINGS.replace("\n", "\r\n").encode())
    path.chmod(0o640)

    connected = nuggets("connect", "gemini")
    text = path.read_bytes().decode()
    kept = [line for line in SETTINGS.splitlines() if "//" in line or "model" in line]
    (backup,) = Path(os.environ["NUGGETS_DIR"]).glob("backups/connect/*settings.json")

    assert connected.code == 0
    assert all(line.replace("]} //", "]}, //").replace('k" //', 'k", //') in text for line in kept)
    assert text.index("say done") < text.index(" hook stop")
    assert "\n" not in text.replace("\r\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert backup.read_bytes().decode() == SETTINGS.replace("\n", "\r\n")

    nuggets("disconnect", "gemini")

    assert path.read_bytes().decode() == SETTINGS.replace("\n", "\r\n")


def test_changes_made_since_connecting_survive_disconnecting(home: Path, nuggets: Nuggets) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(SETTINGS)
    nuggets("connect", "gemini")
    path.write_text(path.read_text().replace('"dark"', '"light"'))

    nuggets("disconnect", "gemini")
    text = path.read_text()

    assert '"light"' in text
    assert "nuggets" not in text
    assert "say done" in text
    assert "// loud" in text
    assert "/* the big one */" in text


def test_a_toml_file_keeps_its_comments_and_gets_its_bytes_back(
    home: Path, nuggets: Nuggets
) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(TOML)

    nuggets("connect", "codex")
    text = path.read_text()

    assert text.startswith(TOML)
    assert tomllib.loads(text)["mcp_servers"]["nuggets"]["args"][0] == "mcp"
    assert tomllib.loads(text)["mcp_servers"]["other"]["args"] == ["a"]

    path.write_text(text + "\n[later]\nadded = true\n")
    nuggets("disconnect", "codex")

    assert path.read_text() == TOML + "\n[later]\nadded = true\n"


@pytest.mark.parametrize(
    ("host", "name", "broken"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": {'),
        ("claude-code", ".claude/settings.json", '{"a": 1 "b": 2}'),
        ("claude-code", ".claude/settings.json", '{"hooks": []}'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": "x"}}'),
        ("codex", ".codex/config.toml", "model = "),
        ("codex", ".codex/config.toml", "[[mcp_servers]]\ncommand = 'x'\n"),
        ("gemini", ".gemini/settings.json", "[1, 2]"),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": 3}'),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_untouched_and_explained(
    host: str, name: str, broken: str, home: Path, nuggets: Nuggets
) -> None:
    path = home / name
    path.parent.mkdir()
    path.write_text(broken)

    done = nuggets("connect", host)
    others = [home / other for other in FILES[host] if other != name]

    assert done.code != 0
    assert str(path) in done.err
    assert "left as it is" in done.err
    assert path.read_text() == broken
    assert not any(other.exists() for other in others)


def test_a_project_is_connected_at_its_root_with_a_command_that_works_for_everyone(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(home / "work")
    (project / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "down")

    connected = nuggets("connect", "claude-code", "--project")
    server = json.loads((project / ".mcp.json").read_text())["mcpServers"]["nuggets"]
    hooks = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]

    assert server == {"command": "nuggets", "args": ["mcp"]}
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"}
    assert not (home / ".claude.json").exists()
    assert connected.err == ""


def test_a_project_that_is_no_repository_is_pointed_out(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "papers").mkdir()
    monkeypatch.chdir(home / "papers")

    connected = nuggets("connect", "claude-code", "--project")

    assert (
        f"Not a git repository: claude-code is connected only in {home / 'papers'}" in connected.err
    )
    assert (home / "papers" / ".mcp.json").exists()


def program(directory: Path) -> Path:
    """Something that can be called nuggets, in a folder of its own."""
    path = directory / "bin" / "nuggets"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def server(home: Path) -> dict[str, Any]:
    shape = json.loads((home / ".claude.json").read_text())["mcpServers"]["nuggets"]
    assert isinstance(shape, dict)
    return shape


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta"])
def test_a_command_that_only_an_environment_finds_is_written_with_its_path(
    mark: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(home / "venv")
    (home / "venv" / mark).touch()
    monkeypatch.setenv("PATH", str(found.parent))
    monkeypatch.setattr("sys.executable", str(found.parent / "python"))

    nuggets("connect", "claude-code")
    nuggets("connect", "opencode")
    hooks = (home / ".claude" / "settings.json").read_text()
    extension = (home / ".config" / "opencode" / "plugins" / "nuggets.ts").read_text()

    assert server(home)["command"] == str(found)
    assert f'"{found} hook stop' in hooks
    assert f'const NUGGETS = ["{found}"' in extension


def test_a_command_that_every_shell_finds_is_written_bare(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(home / "pipx" / "venvs" / "nuggets")
    (home / "pipx" / "venvs" / "nuggets" / "pyvenv.cfg").touch()
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "nuggets").symlink_to(found)
    monkeypatch.setenv("PATH", str(home / ".local" / "bin"))

    nuggets("connect", "claude-code")

    assert server(home)["command"] == "nuggets"


def test_without_a_command_to_be_found_python_is_told_not_to_look_around(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setattr("sys.executable", str(home / "python"))

    nuggets("connect", "claude-code")
    again = nuggets("connect", "claude-code")

    assert server(home)["command"] == str(home / "python")
    assert server(home)["args"][:4] == ["-P", "-m", "nuggets", "mcp"]
    assert "already" in again.out


@pytest.mark.parametrize("way", ["option", "variable"])
@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_is_told_which_shelf_was_meant(
    host: str, way: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("NUGGETS_DIR", "my shelf")
    options = () if way == "variable" else ("--dir", "my shelf")

    connected = nuggets(*options, "connect", host)
    again = nuggets("connect", host, *options)
    made = [(home / name).read_text() for name in FILES[host]]
    nuggets(*options, "disconnect", host)

    assert connected.code == 0
    assert all(str(home / "my shelf") in text for text in made)
    assert "already" in again.out
    assert not any((home / name).exists() for name in FILES[host])


def test_every_hook_names_the_shelf(home: Path, nuggets: Nuggets) -> None:
    nuggets("--dir", str(home / "s"), "connect", "claude-code")
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    lines = [hook["command"] for groups in hooks.values() for g in groups for hook in g["hooks"]]

    assert len(lines) == 5
    assert all(line.endswith(f" --dir {home / 's'}") for line in lines)
    assert server(home)["args"][-3:] == ["mcp", "--dir", str(home / "s")]


@pytest.mark.parametrize("host", ["opencode", "pi"])
def test_an_extension_is_given_any_path_as_it_is(host: str, home: Path, nuggets: Nuggets) -> None:
    """JSON, which is what TypeScript reads as well."""
    shelf = home / 'it\'s "our" shelf \\ `${HOME}` $& 鍵\u2028'
    nuggets("connect", host, "--dir", str(shelf))

    for name in FILES[host]:
        if name.endswith(".ts"):
            lines = (home / name).read_text().split("\n")
            (call,) = (line for line in lines if line.startswith("const NUGGETS = "))
            words = call.removeprefix("const NUGGETS = ").partition(";")[0]

            assert json.loads(words)[-2:] == ["--dir", str(shelf)]


def test_the_shelf_of_everybody_is_not_named(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUGGETS_DIR")

    nuggets("connect", "claude-code")

    assert server(home)["args"][-1:] == ["mcp"]


def test_a_project_names_a_shelf_only_if_asked_to(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(home / "work")
    monkeypatch.chdir(project)
    path = project / ".mcp.json"

    own = nuggets("connect", "claude-code", "--project")
    plain = path.read_text()
    nuggets("connect", "claude-code", "--project", "--dir", str(home / "s"))

    assert "--dir" not in plain
    assert "NUGGETS_DIR is not written into the project's files" in own.out
    assert str(home / "s") in path.read_text()


def test_a_shelf_that_does_not_last_is_no_use_to_an_agent(home: Path, nuggets: Nuggets) -> None:
    done = nuggets("--dir", "memory:", "connect", "pi")

    assert done.code == 2
    assert "cannot use a shelf in memory" in done.err
    assert list(home.glob(".pi")) == []


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_connected_to_a_server_that_cannot_start(
    host: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    done, served = nuggets("connect", host), nuggets("mcp")

    assert (done.code, served.code) == (1, 1)
    assert done.err == served.err
    assert "uv tool install --force '.[mcp]'" in done.err
    assert not any((home / name).exists() for name in FILES[host])


def test_disconnecting_needs_no_more_than_is_there(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    assert nuggets("disconnect", "claude-code").code == 0


def test_the_page_says_what_it_needs(nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    done = nuggets("ui")

    assert done.code == 1
    assert "uv tool install --force '.[web]'" in done.err


@pytest.mark.parametrize("host", ["opencode", "pi"])
def test_a_file_of_their_own_by_the_name_of_ours_stays_when_nothing_was_connected(
    host: str, home: Path, nuggets: Nuggets
) -> None:
    theirs = [home / name for name in FILES[host] if name.endswith(".ts")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("// mine\n")

    done = nuggets("disconnect", host)

    assert "already" in done.out
    assert [path.read_text() for path in theirs] == ["// mine\n"] * len(theirs)


@pytest.mark.parametrize("host", ["opencode", "pi"])
def test_a_file_of_their_own_comes_back_where_ours_took_its_place(
    host: str, home: Path, nuggets: Nuggets
) -> None:
    theirs = [home / name for name in FILES[host] if name.endswith(".ts")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("// mine\n")

    nuggets("connect", host)
    ours = [path.read_text() for path in theirs]
    nuggets("connect", host, "--dir", str(home / "shelf"))  # one of ours gives way to another
    nuggets("connect", host)
    nuggets("disconnect", host)
    back = [path.read_text() for path in theirs]
    for path in theirs:
        path.unlink()
    nuggets("connect", host)
    nuggets("disconnect", host)

    assert "// mine\n" not in ours
    assert back == ["// mine\n"] * len(theirs)
    assert not any(path.exists() for path in theirs)  # for then there was none


def test_an_extension_of_an_older_version_is_ours_and_goes(home: Path, nuggets: Nuggets) -> None:
    nuggets("connect", "pi")
    for name in FILES["pi"]:
        path = home / name
        path.write_text(path.read_text().replace("spawn", "launch"))

    nuggets("disconnect", "pi")

    assert not any((home / name).exists() for name in FILES["pi"])


def test_the_very_bytes_come_back_though_the_command_moved_meanwhile(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(SETTINGS.replace("dark", "dark\u2028"))

    nuggets("connect", "gemini")
    first = path.read_text()
    monkeypatch.setenv("PATH", str(program(home / "new").parent))
    nuggets("connect", "gemini")
    second = path.read_text()
    nuggets("disconnect", "gemini")

    assert first != second
    assert path.read_text() == SETTINGS.replace("dark", "dark\u2028")


def test_a_configuration_that_is_a_link_stays_one(home: Path, nuggets: Nuggets) -> None:
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)

    nuggets("connect", "cursor")

    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "nuggets" in real.read_text()


def test_temporary_files_that_a_killed_connect_left_are_removed(
    home: Path, nuggets: Nuggets
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in FILES["claude-code"]:
        (home / name).parent.mkdir(exist_ok=True)
        (home / f"{name}.{ended.pid:x}-0123456789abcdef.tmp").write_text("half")
    theirs = home / f".claude.json.{os.getppid():x}-0123456789abcdef.tmp"  # may be at work
    theirs.touch()

    nuggets("connect", "claude-code")

    assert [*home.rglob("*.tmp")] == [theirs]


def test_an_older_entry_of_ours_is_replaced_not_doubled(home: Path, nuggets: Nuggets) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    old = {"hooks": [{"type": "command", "command": "/old/bin/nuggets hook stop"}]}
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [old, theirs]}}))

    nuggets("connect", "claude-code")
    stop = json.loads(path.read_text())["hooks"]["Stop"]

    assert len(stop) == 2
    assert theirs in stop
    assert old not in stop


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_memory_is_told_whyever_a_session_starts(host: str, home: Path, nuggets: Nuggets) -> None:
    nuggets("connect", host)
    (name,) = (name for name in FILES[host] if "hooks" in (home / name).read_text())
    (group,) = json.loads((home / name).read_text())["hooks"]["SessionStart"]

    assert "matcher" not in group  # a list of reasons leaves out the next one


def test_cursor_and_claude_code_are_told_the_same_lines(home: Path, nuggets: Nuggets) -> None:
    # Cursor runs Claude Code's hooks as well: by their line only, and not those it has itself
    nuggets("connect", "claude-code")
    nuggets("connect", "cursor")
    claude = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    cursor = json.loads((home / ".cursor" / "hooks.json").read_text())["hooks"]

    lines = [hook for groups in claude.values() for group in groups for hook in group["hooks"]]

    assert not any("args" in hook for hook in lines)
    assert [hook["command"] for hook in lines] == [
        hook["command"] for hooks in cursor.values() for hook in hooks
    ]


def test_a_file_that_holds_nothing_but_what_its_host_added_goes_too(
    home: Path, nuggets: Nuggets
) -> None:
    nuggets("connect", "opencode")
    path = home / ".config" / "opencode" / "opencode.json"
    settings = {"$schema": "https://opencode.ai/config.json", **json.loads(path.read_text())}
    path.write_text(json.dumps(settings, indent=2))

    nuggets("disconnect", "opencode")

    assert not path.exists()


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_new_is_for_its_owner_alone(host: str, home: Path, nuggets: Nuggets) -> None:
    before = os.umask(0)
    try:
        nuggets("connect", host)
    finally:
        os.umask(before)

    made = [path for path in home.rglob("*") if path.relative_to(home).parts[0] != "nuggets"]
    assert made
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in made)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_a_repository_leads_nobody_out_of_it(
    home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    checkout, mine = repository(home / "foreign"), home / "mine"
    if there:
        mine.write_text("dear to me")
    (checkout / ".opencode" / "plugins").mkdir(parents=True)
    (checkout / ".opencode" / "plugins" / "nuggets.ts").symlink_to(mine)
    monkeypatch.chdir(checkout)
    done = nuggets("connect", "opencode", "--project")

    assert done.code == 2
    assert f"leads to {mine}, outside of this project" in done.err
    assert mine.exists() == there
    assert not there or mine.read_text() == "dear to me"


def test_json_says_which_files_change(home: Path, nuggets: Nuggets) -> None:
    done = nuggets("connect", "gemini", "--json")
    shape = json.loads(done.out)

    assert shape["host"] == "gemini"
    assert shape["files"] == [str(home / ".gemini" / "settings.json")]


def test_desktop_programs_keep_their_settings_elsewhere_on_macos() -> None:
    def files(host: str) -> list[str]:
        entries = HOSTS[host].entries(
            Setup("/Users/me", user=True, command=["nuggets"], system="darwin")
        )
        return [entry.file for entry in entries]

    support = "/Users/me/Library/Application Support"

    assert files("claude-desktop") == [f"{support}/Claude/claude_desktop_config.json"]
    assert files("vscode") == [f"{support}/Code/User/mcp.json"]
    assert files("windsurf") == ["/Users/me/.codeium/windsurf/mcp_config.json"]
    assert files("zed") == ["/Users/me/.config/zed/settings.json"]


@pytest.mark.parametrize("host", ["opencode", "claude-desktop", "vscode", "zed"])
def test_settings_are_where_the_variable_for_them_points(
    host: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "elsewhere"))

    nuggets("connect", host)

    assert not (home / ".config").exists()
    assert (home / FILES[host][0].replace(".config", "elsewhere")).exists()


@pytest.mark.parametrize(
    ("host", "keys", "extra"),
    [
        ("claude-desktop", "mcpServers", {}),
        ("vscode", "servers", {"type": "stdio"}),
        ("windsurf", "mcpServers", {}),
        ("zed", "context_servers", {}),
    ],
)
def test_a_desktop_program_is_given_the_full_path_of_the_command(
    host: str,
    keys: str,
    extra: dict[str, str],
    home: Path,
    nuggets: Nuggets,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = program(home / "local")
    monkeypatch.setenv("PATH", str(found.parent))
    monkeypatch.delenv("NUGGETS_DIR")

    nuggets("connect", host)

    assert json.loads((home / FILES[host][0]).read_text()) == {
        keys: {"nuggets": {**extra, "command": str(found), "args": ["mcp"]}}
    }


@pytest.mark.parametrize(
    ("host", "name"), [("vscode", ".vscode/mcp.json"), ("zed", ".zed/settings.json")]
)
def test_an_editor_is_connected_in_a_project(
    host: str, name: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(home / "work")
    monkeypatch.chdir(project)
    (project / name).parent.mkdir()
    (project / name).write_text('{\n  // ours\n  "a": 1,\n}\n')

    nuggets("connect", host, "--project")
    connected = (project / name).read_text()
    nuggets("disconnect", host, "--project")

    assert '"command": "nuggets"' in connected
    assert "// ours" in connected
    assert (project / name).read_text() == '{\n  // ours\n  "a": 1,\n}\n'


@pytest.mark.parametrize("host", ["claude-desktop", "windsurf"])
def test_a_host_without_settings_for_a_project_says_so(
    host: str, home: Path, nuggets: Nuggets
) -> None:
    done = nuggets("connect", host, "--project")

    assert done.code == 2
    assert "leave out --project" in done.err


@pytest.mark.parametrize("host", IN_PROJECTS)
def test_connections_of_user_and_project_at_once_are_noticed(
    host: str, home: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(home / "work"))

    alone = nuggets("connect", host)
    both = nuggets("connect", host, "--project")
    checked = nuggets("doctor")
    again = json.loads(nuggets("connect", host, "--json").out)
    nuggets("disconnect", host, "--project")
    afterwards = nuggets("doctor")

    assert "twice" not in alone.err
    assert f"`nuggets disconnect {host} --project`" in both.err
    assert f"{host} is connected for all your projects and again in this one" in checked.out
    assert checked.code == 0
    assert again["alsoConnectedIn"][0].startswith(str(home / "work"))
    assert "twice" not in afterwards.out


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("claude-code", '{"mcpServers": {"nuggets": {"type": "http", "url": "http://x"}}}'),
        ("cursor", '{"mcpServers": {"nuggets": {"command": "gold", "args": ["mcp"]}}}'),
        ("gemini", '{"mcpServers": {"nuggets": {"command": "uv", "args": ["nuggets", "mcp"]}}}'),
        ("opencode", '{"mcp": {"nuggets": {"type": "remote", "url": "http://x"}}}'),
        ("vscode", '{"servers": {"nuggets": "?"}}'),
        ("codex", '[mcp_servers.nuggets]\nurl = "http://x"\n'),
    ],
)
def test_a_server_of_their_own_called_nuggets_is_never_replaced_or_removed(
    host: str, text: str, home: Path, nuggets: Nuggets
) -> None:
    name = ".claude.json" if host == "claude-code" else FILES[host][0]
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)

    connected = nuggets("connect", host)
    removed = nuggets("disconnect", host)

    assert connected.code == 2
    assert "its server called nuggets was not written by `nuggets connect`" in connected.err
    assert "already" in removed.out
    assert (home / name).read_text() == text


def test_what_a_host_added_to_our_server_stays(home: Path, nuggets: Nuggets) -> None:
    path = home / FILES["windsurf"][0]
    nuggets("connect", "windsurf")
    settings = json.loads(path.read_text())
    settings["mcpServers"]["nuggets"] |= {"disabled": True, "command": "/old/bin/nuggets"}
    path.write_text(json.dumps(settings))

    nuggets("connect", "windsurf")
    after = json.loads(path.read_text())["mcpServers"]["nuggets"]
    nuggets("disconnect", "windsurf")

    assert after["disabled"] is True
    assert after["command"] != "/old/bin/nuggets"
    assert not path.exists()


def test_the_doctor_names_connections_that_cannot_work(home: Path, nuggets: Nuggets) -> None:
    path = home / ".claude.json"
    nuggets("connect", "claude-code")
    settings = json.loads(path.read_text())
    settings["mcpServers"]["nuggets"]["command"] = str(home / "gone" / "nuggets")
    path.write_text("// mine\n" + json.dumps(settings))

    checked = nuggets("doctor")
    defects = json.loads(nuggets("doctor", "--json").out)

    assert f"it calls {home}/gone/nuggets, which is gone" in checked.out
    assert {(defect["kind"], defect["path"]) for defect in defects} == {("connection", str(path))}
    assert len(defects) == 1
