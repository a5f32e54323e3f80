"""A day in the life, end to end with real processes: two projects, three sessions, two agents.

Everything happens in a directory that is thrown away. Each scene says what it shows and whether
it held; the same scenes are a test.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

WRITES = 5  # of each of the two agents that write at once
COMMAND = (sys.executable, "-P", "-m", "nuggets")


class Seen(NamedTuple):
    """One statement of the tour."""

    scene: str
    what: str
    holds: bool


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
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


class Agent:
    """An agent's side of MCP: as few words of the protocol as will do."""

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


def tour(place: str) -> Iterator[Seen]:
    """All scenes in order, each as soon as it is over."""
    stage = Stage(place)
    for scene in SCENES:
        assert scene.__doc__ is not None
        for what, holds in scene(stage):
            yield Seen(scene.__doc__, what, holds)


Scene = Callable[[Stage], Iterator[tuple[str, bool]]]


def _morning(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Morning: you talk to your agent in the shop's repository."""
    begun = stage.hook("shop", "monday", "session-start", source="startup")
    yield "an empty memory says nothing", begun == ""
    stage.hook(
        "shop",
        "monday",
        "user-prompt",
        prompt="I prefer short answers. Always run make check before you push.",
    )
    stated = {note["content"]: note["project"] for note in stage.run("shop", "note", "list")}
    yield "your taste is kept for everywhere", stated.get("I prefer short answers") == ""
    rule = stated.get("Always run make check before you push", "")
    yield "your rule is kept for this project", rule.startswith(stage.folder("shop"))
    with Agent(stage, "shop") as agent:
        note = agent.call(
            "create_note",
            nugget="learnings",
            title="Checkout tokens",
            content="Checkout tokens are signed with RS256 in src/checkout/tokens.py.",
        )
    yield "the agent's note names its project", note["project"].startswith(stage.folder("shop"))


def _at_once(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Noon: two agents write at the same time."""
    with ExitStack() as both:
        agents = [both.enter_context(Agent(stage, name)) for name in ("shop", "blog")]
        for number in range(WRITES):
            for index, agent in enumerate(agents):
                key, value = f"port of service {index}{number}", f"80{index}{number}"
                agent.begin("remember", nugget="ports", key=key, value=value)
            for agent in agents:
                agent.end()
    kept = len(stage.run("shop", "facts", "ports"))
    yield f"all {2 * WRITES} writes are kept", kept == 2 * WRITES


def _killed(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Then one is killed in the middle of its work."""
    with Agent(stage, "blog") as agent:
        agent.call(
            "create_note",
            nugget="learnings",
            title="Feed generator",
            content="The feed generator sorts posts by date in build/feed.py.",
        )
        agent.begin("remember", nugget="ports", key="never answered", value="8099")
        agent.process.send_signal(signal.SIGKILL)
    found = stage.run("blog", "search", "feed generator")
    yield "what was answered is there", bool(found) and "feed.py" in found[0]["note"]["content"]
    yield "and the shelf goes on", stage.run("blog", "recall", "port of service 00")["found"]


def _compaction(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Afternoon: the context is cut, the task is not lost."""
    stage.hook("shop", "monday", "user-prompt", prompt="Move the invoice mailer to a queue.")
    edited = os.path.join(stage.folder("shop"), "src", "mailer.py")
    stage.hook("shop", "monday", "post-tool", tool_name="Edit", tool_input={"file_path": edited})
    stage.hook("shop", "monday", "pre-compact", trigger="auto")
    again = stage.hook("shop", "monday", "session-start", source="compact")
    yield "the agent finds back", "Move the invoice mailer to a queue" in again
    files = stage.run("shop", "note", "list", "--nugget", "files")
    yield "and knows what it touched", [n["title"] for n in files] == ["file: src/mailer.py"]


def _sessions(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Three sessions ask about the same things."""
    asked = {"shop": "How are checkout tokens signed?", "blog": "How does the feed generator sort?"}
    answers = {
        project: [
            stage.hook(project, f"{project}-{session}", "user-prompt", prompt=prompt)
            for session in ("tuesday", "wednesday", "thursday")
        ]
        for project, prompt in asked.items()
    }
    yield "each is told", all("RS256" in text for text in answers["shop"])
    yield "in the other project too", all("feed.py" in text for text in answers["blog"])
    crossed = stage.hook("blog", "friday", "user-prompt", prompt=asked["shop"])
    yield "but nobody hears of the other's project", "RS256" not in crossed
    idle = stage.hook("shop", "friday", "user-prompt", prompt="What is the capital of Mongolia?")
    yield "and off topic there is silence", idle == ""


def _clean_up(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Night: the clean-up, and a change of mind."""
    stage.run("shop", "note", "add", "project", "tmp scribble", "never mind")
    done = stage.run("shop", "reflect", "--all")
    gone = not any("scribble" in n["title"] for n in stage.run("shop", "note", "list"))
    yield "rubbish is archived", done["hidden"] == 1 and gone
    undone = stage.run("shop", "undo")
    back = any("scribble" in n["title"] for n in stage.run("shop", "note", "list"))
    yield "and undo brings it back", undone["undone"]["action"] == "reflect" and back


def _promotion(stage: Stage) -> Iterator[tuple[str, bool]]:
    """What three sessions recalled moves into MEMORY.md, beside what you wrote there."""
    own = "# My notes\n\nDeploys are on Thursdays.\n"
    with open(stage.memory_file("shop"), "w", encoding="utf-8") as file:
        file.write(own)
    for project in ("shop", "blog"):
        stage.run(project, "promote")
    shop, blog = stage.memory("shop"), stage.memory("blog")
    yield "the shop's line is in the shop's file", "**Checkout tokens**" in shop
    yield "the blog's in the blog's", "**Feed generator**" in blog
    yield "nothing leaked", "Feed" not in shop and "Checkout" not in blog
    yield "your own lines stand as you wrote them", own in shop
    changed = shop.replace("are signed with RS256", "are signed with RS256 (rotated yearly)")
    with open(stage.memory_file("shop"), "w", encoding="utf-8") as file:
        file.write(changed)
    stage.run("shop", "promote")
    yield "a line you correct stays corrected", "(rotated yearly)" in stage.memory("shop")


def _forgetting(stage: Stage) -> Iterator[tuple[str, bool]]:
    """And what has to go, goes."""
    stage.run("blog", "note", "delete", "Feed generator")
    stage.run("blog", "promote")
    yield "from the memory file", "Feed generator" not in stage.memory("blog")
    found = stage.run("blog", "search", "feed generator") or []
    yield "from search", not any("Feed" in result["note"]["title"] for result in found)
    with open(os.path.join(stage.place, "shelf", "graph", "graph.json"), encoding="utf-8") as file:
        yield "and from the files that others read", "feed.py" not in file.read()
    yield "the shop keeps its own", "Checkout tokens" in stage.memory("shop")


SCENES: tuple[Scene, ...] = (
    *(_morning, _at_once, _killed, _compaction),
    *(_sessions, _clean_up, _promotion, _forgetting),
)


def _is_ours(variable: str) -> bool:
    return variable.startswith(
        ("NUGGETS_", "MEMORY_", "QUIET_", "HEARTBEAT_", "CLAUDE_", "CURSOR_")
    )
