"""Whether an agent picks up where the last session left off, also in another agent.

    python -m benchmarks.sessions [--list]      --list prints the questions that were not answered

The sessions stand in data/sessions.toml, in the order of three weeks. Each becomes a transcript in
its host's format, and the real hooks run as processes: the end of the session keeps it, and the
first prompt of the next one, in the same agent and in the other one, asks for it. After the three
weeks, each is asked for by its topic.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line

TESTS = Path(__file__).parent.parent / "tests"
DATA = Path(__file__).parent / "data" / "sessions.toml"
LEAST = 0.9  # of the questions, answered
PAUSED = {"MEMORY_REFLECTION_DAILY": "0", "NUGGETS_HOOK_SECONDS": "20"}
FOLDERS = {"claude-code": ".claude/projects/x", "codex": ".codex/sessions/2026/03/05"}


class Question(NamedTuple):
    asked: str  # in the same agent, in the other agent, weeks later
    prompt: str
    is_answered: bool


def transcript(agent: str, session: Mapping[str, Any], root: Path, at: str) -> str:
    """The session in the format of its host; `at`: its time."""
    write = _claude_code if agent == "claude-code" else _codex
    return "".join(json.dumps(entry) + "\n" for entry in write(session, root, at))


def _claude_code(session: Mapping[str, Any], root: Path, at: str) -> Iterator[dict[str, Any]]:
    calls = [
        *(("Edit", {"file_path": str(root / path)}, "done", False) for path in session["files"]),
        ("Bash", {"command": session["fails"]}, "Exit code 1\n1 failed", True),
        ("Bash", {"command": session["fails"]}, "12 passed", False),
        (
            "Bash",
            {"command": f"git commit -m '{session['commit']}'"},
            f"[main 3f2a91c] {session['commit']}\n 1 file changed",
            False,
        ),
    ]

    def entry(kind: str, content: Any) -> dict[str, Any]:
        return {"type": kind, "message": {"role": kind, "content": content}, "timestamp": at}

    yield entry("user", session["goal"])
    for number, (name, given, output, failed) in enumerate(calls):
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        yield entry("assistant", [call])
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
        yield entry("user", [{**result, **({"is_error": True} if failed else {})}])
    for request in session["requests"]:
        yield entry("user", request)
    yield entry("assistant", [{"type": "text", "text": session["reply"]}])


def _codex(session: Mapping[str, Any], root: Path, at: str) -> Iterator[dict[str, Any]]:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": at, "type": "response_item", "payload": payload}

    def words(role: str, text: str) -> dict[str, Any]:
        kind = "input_text" if role == "user" else "output_text"
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    def shell(call: str, command: str, code: int, output: str) -> Iterator[dict[str, Any]]:
        arguments = json.dumps({"command": ["bash", "-lc", command], "workdir": str(root)})
        yield item(type="function_call", name="shell", arguments=arguments, call_id=call)
        result = json.dumps({"output": output, "metadata": {"exit_code": code}})
        yield item(type="function_call_output", call_id=call, output=result)

    yield words("user", session["goal"])
    for number, path in enumerate(session["files"]):
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
        call = f"p{number}"
        yield item(type="custom_tool_call", name="apply_patch", call_id=call, input=patch)
        yield item(type="custom_tool_call_output", call_id=call, output="Exit code: 0\nSuccess")
    yield from shell("c1", session["fails"], 1, "1 failed")
    yield from shell("c2", session["fails"], 0, "12 passed")
    commit = session["commit"]
    yield from shell("c3", f"git commit -m '{commit}'", 0, f"[main 3f2a91c] {commit}")
    for request in session["requests"]:
        yield words("user", request)
    yield words("assistant", session["reply"])


class Agents:
    """Two agents at work in a place of their own."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._home = place / "home"
        self._environ = {"HOME": str(self._home), "NUGGETS_SESSION_DAYS": "0", **PAUSED}

    def work(self, session: Mapping[str, Any], number: int) -> None:
        """Do the work of a session and end it."""
        root, agent = self._place / session["project"], session["agent"]
        if not root.exists():
            subprocess.run(["git", "init", "-q", str(root)], check=True)
        path = self._home / FOLDERS[agent] / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        at = f"2026-03-{1 + number:02}T09:00:00.000Z"
        path.write_text(transcript(agent, session, root, at), encoding="utf-8")
        self._hook("stop", agent, root, session_id=str(number), transcript_path=str(path))

    def is_answered(self, session: Mapping[str, Any], prompt: str, agent: str) -> bool:
        """Whether a new session that begins with this prompt is told of the session."""
        root, session_id = self._place / session["project"], f"{agent} {prompt}"
        text = self._hook("user-prompt", agent, root, session_id=session_id, prompt=prompt)
        return all(words in text for words in session["answer"])

    def _hook(self, event: str, agent: str, root: Path, **payload: str) -> str:
        sys.path.insert(0, str(TESTS))
        from agent_doors import hook, injected

        payload["cwd"] = str(root)
        shelf = self._place / "shelf"
        return injected(hook(event, payload, shelf, "--host", agent, environ=self._environ))


def questions() -> Iterator[Question]:
    """Every session is worked on, and asked for by the same agent and the other one, and later."""
    sessions = tomllib.loads(DATA.read_text(encoding="utf-8"))["session"]
    with tempfile.TemporaryDirectory() as place:
        agents = Agents(Path(place))
        for number, session in enumerate(sessions):
            agents.work(session, number)
            for agent in FOLDERS:
                asked = "the same agent" if agent == session["agent"] else "the other agent"
                prompt = session["ask"]
                yield Question(asked, prompt, agents.is_answered(session, prompt, agent))
        for session in sessions:
            prompt = session["later"]
            is_answered = agents.is_answered(session, prompt, session["agent"])
            yield Question("later", prompt, is_answered)


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    asked = list(questions())
    for kind in dict.fromkeys(question.asked for question in asked):
        answers = [question.is_answered for question in asked if question.asked == kind]
        yield {
            "what": f"“where were we?” of {len(answers)} sessions, answered: {kind}",
            "goal": f"≥ {LEAST:.0%}",
            "measured": f"{sum(answers)} ({sum(answers) / len(answers):.0%})",
            "reached": sum(answers) >= LEAST * len(answers),
        }


def main() -> int:
    if "--list" in sys.argv[1:]:
        for question in questions():
            if not question.is_answered:
                print(f"{question.asked}: {question.prompt}")
        return 0
    measured = list(rows())
    for row in measured:
        print(line(row))
    return 0 if all(row["reached"] for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
