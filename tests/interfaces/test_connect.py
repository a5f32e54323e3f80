import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets
from nuggets.interfaces.connect import HOSTS

FILES = {  # host -> files in the home directory, first those that people write as well
    "claude-code": [".claude/settings.json", ".claude.json"],
    "codex": [".codex/config.toml", ".codex/hooks.json"],
    "cursor": [".cursor/mcp.json", ".cursor/hooks.json"],
    "gemini": [".gemini/settings.json"],
    "opencode": [".config/opencode/opencode.json", ".config/opencode/plugins/nuggets.ts"],
    "pi": [".pi/agent/extensions/nuggets.ts", ".pi/agent/extensions/proactive.ts"],
}
SETTINGS = """{
    // how I like it
    "model": "large", /* the big one */
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]} // loud
        ],
    },
    "theme": "dark", // easy on the eyes
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
    monkeypatch.setenv("HOME", str(tmp_path))
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
    assert all(f"+++ {home / name}" in connected.out for name in FILES[host])
    assert "already" in again.out
    assert not any((home / name).exists() for name in FILES[host])
    assert "already" in nuggets("disconnect", host).out


@pytest.mark.parametrize("host", HOSTS)
def test_a_dry_run_shows_and_writes_nothing(host: str, home: Path, nuggets: Nuggets) -> None:
    shown = nuggets("connect", host, "--dry-run")

    assert "+" in shown.out
    assert "--dry-run" in shown.out
    assert not any((home / name).exists() for name in FILES[host])


def test_comments_order_and_other_entries_stay_and_the_very_bytes_come_back(
    home: Path, nuggets: Nuggets
) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(SETTINGS.replace("\n", "\r\n").encode())
    path.chmod(0o640)

    connected = nuggets("connect", "claude-code")
    text = path.read_bytes().decode()
    kept = [line for line in SETTINGS.splitlines() if "//" in line or "model" in line]
    (backup,) = Path(os.environ["NUGGETS_DIR"]).glob("backups/connect/*settings.json")

    assert connected.code == 0
    assert all(line.replace("]} //", "]}, //") in text for line in kept)
    assert text.index("say done") < text.index(" hook stop")
    assert "\n" not in text.replace("\r\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert backup.read_bytes().decode() == SETTINGS.replace("\n", "\r\n")

    nuggets("disconnect", "claude-code")

    assert path.read_bytes().decode() == SETTINGS.replace("\n", "\r\n")


def test_changes_made_since_connecting_survive_disconnecting(home: Path, nuggets: Nuggets) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(SETTINGS)
    nuggets("connect", "claude-code")
    path.write_text(path.read_text().replace('"dark"', '"light"'))

    nuggets("disconnect", "claude-code")
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
    assert tomllib.loads(text)["mcp_servers"]["nuggets"]["args"][-1] == "mcp"
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
        ("codex", ".codex/config.toml", "mcp_servers = { other = { command = 'x' } }\n"),
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

    nuggets("connect", "claude-code", "--project")
    server = json.loads((project / ".mcp.json").read_text())["mcpServers"]["nuggets"]
    hooks = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]

    assert server == {"command": "nuggets", "args": ["mcp"]}
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"}
    assert not (home / ".claude.json").exists()


def test_a_configuration_that_is_a_link_stays_one(home: Path, nuggets: Nuggets) -> None:
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)

    nuggets("connect", "cursor")

    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "nuggets" in real.read_text()


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


def test_json_says_which_files_change(home: Path, nuggets: Nuggets) -> None:
    done = nuggets("connect", "gemini", "--json")
    shape = json.loads(done.out)

    assert shape["host"] == "gemini"
    assert shape["files"] == [str(home / ".gemini" / "settings.json")]
