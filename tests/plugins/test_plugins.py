"""The folders that hosts install, checked against the formats that the hosts document."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from nuggets.interfaces.connect.hosts import HOSTS, ListItem, Setup
from nuggets.interfaces.hooks.host_payload import event_of, files_of
from nuggets.interfaces.mcp.server import FEW_TOOLS

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
EVENTS = ["session-start", "user-prompt", "post-tool", "pre-compact", "stop"]

TEXT = {"type": "string", "minLength": 1}
KEBAB = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
PERSON = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
MARKETPLACE = {
    "type": "object",
    "required": ["name", "owner", "plugins", "description"],
    "properties": {
        "name": KEBAB,
        "description": TEXT,
        "owner": PERSON,
        "plugins": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "source"],
                "properties": {"name": KEBAB, "source": TEXT, "description": TEXT, "version": TEXT},
            },
        },
    },
}
PLUGIN = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": KEBAB,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "description": TEXT,
        "author": PERSON,
        "license": TEXT,
        "keywords": {"type": "array", "items": TEXT},
        "mcpServers": {"type": "string", "pattern": r"^\./"},
        "skills": {"type": "string", "pattern": r"^\./"},
    },
}
SERVERS = {
    "type": "object",
    "required": ["mcpServers"],
    "properties": {
        "mcpServers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["command"],
                "properties": {"command": TEXT, "args": {"type": "array", "items": TEXT}},
            },
        }
    },
}


def matcher_hooks(names: list[str]) -> dict[str, Any]:
    """The form that Claude Code, Codex and Gemini share."""
    run: dict[str, Any] = {
        "type": "object",
        "required": ["type", "command", "timeout"],
        "properties": {
            "type": {"const": "command"},
            "command": TEXT,
            "async": {"type": "boolean"},
            "timeout": {"type": "integer", "minimum": 1},
            "name": TEXT,
        },
        "additionalProperties": False,
    }
    group = {
        "type": "object",
        "required": ["hooks"],
        "properties": {"matcher": TEXT, "hooks": {"type": "array", "items": run, "minItems": 1}},
        "additionalProperties": False,
    }
    events = {"type": "object", "propertyNames": {"enum": names}}
    return {
        "type": "object",
        "required": ["hooks"],
        "properties": {
            "description": TEXT,
            "hooks": {**events, "additionalProperties": {"type": "array", "items": group}},
        },
        "additionalProperties": False,
    }


CURSOR_HOOKS = {
    "type": "object",
    "required": ["version", "hooks"],
    "properties": {
        "version": {"const": 1},
        "hooks": {
            "type": "object",
            "propertyNames": {
                "enum": ["sessionStart", "beforeSubmitPrompt", "postToolUse", "preCompact", "stop"]
            },
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["command", "timeout"],
                    "properties": {
                        "command": TEXT,
                        "timeout": {"type": "integer", "minimum": 1, "maximum": 60},  # seconds
                        "matcher": {"type": "string", "format": "regex"},
                    },
                    "additionalProperties": False,
                },
            },
        },
    },
}
GEMINI_EXTENSION = {
    "type": "object",
    "required": ["name", "version"],
    "properties": {**SERVERS["properties"], "name": KEBAB, "contextFileName": TEXT},  # type: ignore[dict-item]
}
CLAUDE_EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"]
GEMINI_EVENTS = ["SessionStart", "BeforeAgent", "AfterTool", "PreCompress", "AfterAgent"]
FORMS: dict[str, Any] = {
    ".claude-plugin/marketplace.json": MARKETPLACE,
    "plugins/nuggets/.claude-plugin/plugin.json": PLUGIN,
    "plugins/nuggets/.mcp.json": SERVERS,
    "plugins/nuggets/hooks/hooks.json": matcher_hooks(CLAUDE_EVENTS),
    "plugins/codex/.codex-plugin/plugin.json": PLUGIN,
    "plugins/codex/.mcp.json": SERVERS,
    "plugins/codex/hooks/hooks.json": matcher_hooks(CLAUDE_EVENTS),
    "plugins/cursor/.cursor-plugin/plugin.json": PLUGIN,
    "plugins/cursor/mcp.json": SERVERS,
    "plugins/cursor/hooks.json": CURSOR_HOOKS,
    "plugins/gemini/gemini-extension.json": GEMINI_EXTENSION,
    "plugins/gemini/hooks/hooks.json": matcher_hooks(GEMINI_EVENTS),
}


def read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FORMS)
def test_every_manifest_has_its_documented_form(name: str) -> None:
    jsonschema.validate(read(name), FORMS[name])


def test_the_forms_can_tell_a_wrong_manifest() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "nuggets", "author": "someone"}, PLUGIN)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"hooks": {"Sometimes": []}}, FORMS["plugins/codex/hooks/hooks.json"])


def test_marketplaces_lead_to_plugins_that_are_there() -> None:
    (claude,) = read(".claude-plugin/marketplace.json")["plugins"]
    (codex,) = read(".agents/plugins/marketplace.json")["plugins"]

    assert (ROOT / claude["source"] / ".claude-plugin" / "plugin.json").is_file()
    assert (ROOT / codex["source"]["path"] / ".codex-plugin" / "plugin.json").is_file()
    assert claude["version"] == read("plugins/nuggets/.claude-plugin/plugin.json")["version"]


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("claude-code", "plugins/nuggets/hooks/hooks.json"),
        ("codex", "plugins/codex/hooks/hooks.json"),
        ("cursor", "plugins/cursor/hooks.json"),
        ("gemini", "plugins/gemini/hooks/hooks.json"),
    ],
)
def test_a_plugin_says_what_connect_would_write(host: str, name: str) -> None:
    wanted: dict[str, list[Any]] = {}
    for entry in HOSTS[host].entries(Setup("/", user=False, command=["nuggets"])):
        if isinstance(entry, ListItem):
            wanted.setdefault(entry.path[-1], []).append(entry.value)

    assert read(name)["hooks"] == wanted
    assert len(wanted) == len(EVENTS)


@pytest.mark.parametrize(
    ("host", "fitting", "other"),
    [
        ("claude-code", ["Read", "Edit", "Write"], ["Bash"]),
        ("codex", ["apply_patch"], ["Bash", "mcp__nuggets__recall"]),
        ("cursor", ["Read", "Write"], ["Shell", "ReadLints"]),
        ("gemini", ["read_file", "write_file", "replace"], ["run_shell_command", "glob"]),
    ],
)
def test_only_tools_that_name_a_file_cost_a_process(
    host: str, fitting: list[str], other: list[str]
) -> None:
    entries = HOSTS[host].entries(Setup("/", user=False, command=["nuggets"]))
    values = [entry.value for entry in entries if isinstance(entry, ListItem)]
    (matcher,) = (value["matcher"] for value in values if "post-tool" in json.dumps(value))

    assert all(re.search(matcher, tool) for tool in fitting)
    assert not any(re.search(matcher, tool) for tool in other)
    assert all(files_of(event_of("post-tool", host, called(tool))) for tool in fitting)


def called(tool: str) -> dict[str, Any]:
    path = "*** Update File: a.py" if tool == "apply_patch" else "a.py"
    return {"tool_name": tool, "tool_input": {"file_path": path}}


@pytest.mark.parametrize("plugin", ["nuggets", "codex", "cursor"])
def test_the_skill_keeps_the_limits_of_skills(plugin: str) -> None:
    path = PLUGINS / plugin / "skills" / "recall-first" / "SKILL.md"
    text = path.read_text(encoding="utf-8")
    head = dict(re.findall(r"^(\w[\w-]*): (.+)$", text.split("---")[1], re.MULTILINE))

    assert text == (PLUGINS / "nuggets" / "skills" / "recall-first" / "SKILL.md").read_text()
    assert head.keys() <= {"name", "description", "license", "compatibility", "metadata"}
    assert head["name"] == path.parent.name
    assert len(head["description"]) <= 1024
    assert len(text.splitlines()) < 500


@pytest.mark.parametrize(
    ("shown", "packaged"),
    [
        (".pi/extensions/nuggets.ts", "pi/nuggets.ts"),
        (".pi/extensions/proactive.ts", "pi/proactive.ts"),
        ("plugins/opencode/nuggets.ts", "opencode/nuggets.ts"),
    ],
)
def test_extensions_in_the_repository_are_those_that_connect_installs(
    shown: str, packaged: str
) -> None:
    files = ROOT / "src" / "nuggets" / "interfaces" / "connect" / "files"

    assert (ROOT / shown).read_text() == (files / packaged).read_text()


def test_on_pi_an_agent_reads_and_writes_through_the_server_as_everywhere() -> None:
    text = (ROOT / ".pi/extensions/nuggets.ts").read_text()
    offered = {tool.name: tool.arguments for tool in FEW_TOOLS}
    calls = re.findall(r'=> \[\s*"(\w+)",\s*\{\s(.*?),?\s\s*\},?\s*\]', text, re.DOTALL)

    assert re.findall(r'run\(\["(\w+)"', text) == ["hook"]
    assert re.findall(r"\[\.\.\.NUGGETS, (.+?)\]", text) == ["...args", '"mcp"']
    assert len(calls) == text.count("\n  tool(\n")
    for name, given in calls:
        arguments = {one.partition(":")[0] for one in re.split(r",\s+", given.strip())}

        assert arguments <= offered[name].kinds.keys()
        assert arguments >= set(offered[name].required)


def test_on_pi_the_agent_is_told_when_to_prefer_a_note() -> None:
    text = (ROOT / ".pi/extensions/nuggets.ts").read_text()
    described = " ".join(
        "".join(re.findall(r'"([^"]*)"', text.partition('"createNote"')[2])).split()
    )

    assert (
        "Prefer createNote over remember when the information has more than one sentence of "
        "context, when it should link to other notes, or when it is likely to be rewritten or "
        "merged later by the daily reflection pass." in described
    )


def test_the_pi_extensions_offer_the_documented_tools() -> None:
    notes = (ROOT / ".pi/extensions/nuggets.ts").read_text()
    care = (ROOT / ".pi/extensions/proactive.ts").read_text()

    for name in ("createNote", "addLink", "editNote", "searchNotes"):
        assert f'"{name}"' in notes
    assert '"reflectAndCleanMemory"' in care
    for text in (notes, care):
        assert text.count("{") == text.count("}")
        assert text.count("(") == text.count(")")
