"""A stand-in for the model services of five hosts.

It has a file read, asks memory, has a command run that fails and then passes, and is done.

Speaks just enough of each service's streaming form for a real host to run a whole turn against it,
and keeps every request, so that one can see what the host's model would have read.

    python model.py PORT LOG FILE
"""

import json
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# how each host's model asks for a file, in the order in which they are tried
READERS = (
    ("Read", "file_path"),  # Claude Code
    ("read_file", "file_path"),  # Gemini
    ("read", "filePath"),  # opencode
    ("read", "path"),  # Pi
)
SHELLS = (("Bash", "command"), ("run_shell_command", "command"), ("bash", "command"))
COMMANDS = ("mkdir made/inner", "mkdir made", "mkdir made/inner")
RECALL = "recall"  # how the name of that tool ends, whatever a host puts before it
# Codex reads by shell commands, which name no file; its patches do
PATCH = "*** Begin Patch\n*** Update File: {0}\n@@\n-hello\n+good day\n*** End Patch\n"
THINKING_SECONDS = 0.7  # as models do; a host that is through ends the hooks that still run
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class Model(BaseHTTPRequestHandler):
    """One request of a host."""

    log = ""
    file = ""

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        asked = json.loads(raw or b"{}")
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": self.path, "asked": asked}) + "\n")
        time.sleep(THINKING_SECONDS)
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self._stream(anthropic(asked, self.file), named=True)
        elif path.endswith("/responses"):
            self._stream(responses(asked, self.file), named=True)
        elif path.endswith("/chat/completions"):
            self._stream(completions(asked, self.file), named=False)
        elif "GenerateContent" in path or "generateContent" in path:
            answers = list(gemini(asked, self.file))
            if "stream" in path:
                self._stream(iter(answers), named=False)
            else:
                self._send("application/json", json.dumps(answers[0]).encode())
        else:
            self._send("application/json", b'{"input_tokens": 1, "totalTokens": 1}')

    def _stream(self, events: Iterator[dict[str, Any]], *, named: bool) -> None:
        lines = []
        for event in events:
            lines += [f"event: {event['type']}"] if named else []
            lines += [f"data: {json.dumps(event)}", ""]
        self._send("text/event-stream", ("\n".join(lines) + "\n").encode())

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def call(offered: dict[str, Any], answers: int, file: str) -> tuple[str, dict[str, str]] | None:
    """The tool to call after so many answers: one that reads a file, one that recalls, a shell."""
    if answers == 0:
        for name, argument in READERS:
            if name in offered and argument in json.dumps(offered[name]):
                return name, {argument: file}
    if answers == 1:
        for name in offered:
            if name.endswith(RECALL):
                return name, {"query": "deploy command"}
    if 2 <= answers < 2 + len(COMMANDS):
        for name, argument in SHELLS:
            if name in offered:
                # Claude Code, Gemini and opencode want to hear what a command is for
                return name, {argument: COMMANDS[answers - 2], "description": "a check"}
    return None


def anthropic(asked: dict[str, Any], file: str) -> Iterator[dict[str, Any]]:
    tools = {tool["name"]: tool for tool in asked.get("tools", [])}
    wanted = call(tools, json.dumps(asked["messages"]).count('"type": "tool_result"'), file)
    about = {"id": "m", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {**about, "stop_reason": None, "stop_sequence": None, "usage": usage},
    }
    if wanted:
        number = json.dumps(asked["messages"]).count('"type": "tool_result"')
        block: dict[str, Any] = {"type": "tool_use", "id": f"t{number}", "name": wanted[0]}
        block["input"] = {}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(wanted[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "tool_use" if wanted else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def responses(asked: dict[str, Any], file: str) -> Iterator[dict[str, Any]]:
    answers = sum(str(item.get("type", "")).endswith("_call_output") for item in asked["input"])
    said = [{"type": "output_text", "text": "done", "annotations": []}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "i", "content": said}
    if answers == 0:
        item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "apply_patch"}
        item["input"] = PATCH.format(file)
    elif answers <= len(COMMANDS):
        # its model calls tools from a script
        item = {"type": "custom_tool_call", "id": f"i{answers}", "call_id": f"c{answers}"}
        script = f"text(await tools.exec_command({json.dumps({'cmd': COMMANDS[answers - 1]})}));"
        item |= {"name": "exec", "input": script}
    yield {"type": "response.created", "response": {"id": "r"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {"id": "r", "output": [item], "usage": USAGE}
    yield {"type": "response.completed", "response": done}


def completions(asked: dict[str, Any], file: str) -> Iterator[dict[str, Any]]:
    tools = {tool["function"]["name"]: tool for tool in asked.get("tools", [])}
    wanted = call(tools, sum(m["role"] == "tool" for m in asked["messages"]), file)
    delta: dict[str, Any] = {"role": "assistant", "content": "done"}
    if wanted:
        function = {"name": wanted[0], "arguments": json.dumps(wanted[1])}
        number = len(asked["messages"])
        one = {"index": 0, "id": f"c{number}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [one]}
    about = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
    yield {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if wanted else "stop"
    yield {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def gemini(asked: dict[str, Any], file: str) -> Iterator[dict[str, Any]]:
    tools: dict[str, Any] = {}
    for group in asked.get("tools", []):
        tools.update({tool["name"]: tool for tool in group.get("functionDeclarations", [])})
    wanted = call(tools, json.dumps(asked.get("contents")).count('"functionResponse"'), file)
    part: dict[str, Any] = {"text": "done"}
    if wanted:
        part = {"functionCall": {"name": wanted[0], "args": wanted[1]}}
    content = {"role": "model", "parts": [part]}
    yield {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    }


if __name__ == "__main__":
    Model.log, Model.file = sys.argv[2:4]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
