"""The surroundings of the tour: a home directory, commands, hooks and an MCP client."""

import json
import os
import subprocess
import sys
from typing import Any

COMMAND = (sys.executable, "-P", "-m", "nuggets")


class Stage:
    """A home directory of its own: a shelf, and two repositories that a host has been used in."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.environ = {
            **{name: value for name, value in os.environ.items() if not _is_ours(name)},
            "HOME": place,
            "NUGGETS_DIR": os.path.join(place, "shelf"),
            "NUGGETS_HOOK_SECONDS": "20",
            "MEMORY_REFLECTION_HOUR": "23",  # the clean-up comes when the tour asks for it
            "MEMORY_REFLECTION_MINUTE": "59",
        }
        for name in ("shop", "blog"):
            os.makedirs(os.path.join(self.folder(name), ".git"))
            os.makedirs(os.path.dirname(self.memory_file(name)))

    def folder(self, name: str) -> str:
        return os.path.join(os.path.realpath(self.place), name)

    def memory_file(self, name: str) -> str:
        host_name = "".join(c if c.isascii() and c.isalnum() else "-" for c in self.folder(name))
        projects = os.path.join(self.place, ".claude", "projects")
        return os.path.join(projects, host_name, "memory", "MEMORY.md")

    def memory(self, name: str) -> str:
        try:
            with open(self.memory_file(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def run(self, project: str, *arguments: str) -> Any:
        """A command as a person gives it; its JSON."""
        done = subprocess.run(
            [*COMMAND, *arguments, "--json"],
            cwd=self.folder(project),
            env=self.environ,
            capture_output=True,
            check=False,
        )
        return json.loads(done.stdout or b"null")

    def hook(self, project: str, session: str, event: str, **sent: Any) -> str:
        """A hook as a host calls it; what it puts into the context."""
        payload = {"session_id": session, "cwd": self.folder(project), **sent}
        done = subprocess.run(
            [*COMMAND, "hook", event, "--host", "codex"],
            input=json.dumps(payload).encode(),
            env=self.environ,
            capture_output=True,
            check=False,
        )
        if not done.stdout.strip():
            return ""
        answer = json.loads(done.stdout)  # may have only a message to the person
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


class Agent:
    """A minimal MCP client."""

    def __init__(self, stage: Stage, project: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "mcp", "--tools", "all"],
            cwd=stage.folder(project),
            env=stage.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0
        self._ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "tour", "version": "1"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a tool."""
        return self._ask("tools/call", name=tool, arguments=arguments).get("structuredContent")

    def begin(self, tool: str, **arguments: Any) -> None:
        """Ask without waiting."""
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        self._send({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})

    def end(self) -> Any:
        """Wait for one answer."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())["result"]

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self.end()

    def _send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def _is_ours(variable: str) -> bool:
    return variable.startswith(
        ("NUGGETS_", "MEMORY_", "QUIET_", "HEARTBEAT_", "CLAUDE_", "CURSOR_")
    )
