"""Translates tools, answers, resources and prompts to the types of the protocol; repairs messages
that its parser refuses."""

import json
import re
from typing import Any

import mcp_types as types
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from nuggets.interfaces.mcp import resources
from nuggets.interfaces.mcp.tool_definition import Answer, Tool
from nuggets.interfaces.prompt_quoting import quote_fields

MARKDOWN = "text/markdown"
MEMORY = types.Resource(
    uri=resources.MEMORY,
    name="memory",
    title="MEMORY.md",
    description="What was promoted to this project's MEMORY.md",
    mime_type=MARKDOWN,
)
SESSIONS = types.Resource(
    uri=resources.SESSIONS,
    name="sessions",
    title="Last sessions",
    description="What the last sessions with agents in this project were about",
    mime_type=MARKDOWN,
)
NOTE = types.ResourceTemplate(
    uri_template=resources.NOTE_TEMPLATE,
    name="note",
    title="A note",
    description="A note or fact by its id",
    mime_type=MARKDOWN,
)


def tool_to_protocol(tool: Tool) -> types.Tool:
    """A tool in the protocol's form."""
    hints = tool.hints
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.arguments.schema),
        output_schema=dict(tool.result),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=False,
        ),
    )


def answer_to_protocol(answer: Answer) -> types.CallToolResult:
    """Text and JSON, each marked as quoted data: some hosts show a model only the JSON."""
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text)],
        structured_content=quote_fields(answer.structured),
    )


def refusal(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def prompt_to_protocol(prompt: resources.Prompt) -> types.Prompt:
    arguments = [types.PromptArgument(name=prompt.argument, description="what it is about")]
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=arguments if prompt.argument else [],
    )


# --- messages with half a surrogate pair, which would get no answer ----------------------------


_HALF = re.compile("[\ud800-\udfff]")  # an emoji that was cut in half


class RepairedMessages(ObjectReceiveStream[Any]):
    """The messages of a transport; lines that it could not parse are repaired if possible."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    async def receive(self) -> Any:
        message = await self._messages.receive()
        return _repair_message(message) if isinstance(message, ValidationError) else message

    async def aclose(self) -> None:
        await self._messages.aclose()


def _repair_message(problem: ValidationError) -> SessionMessage | ValidationError:
    """The message, if half a surrogate pair was its only error."""
    line = problem.errors()[0]["input"]
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        repaired = _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(repaired, by_name=False))
    except (ValueError, TypeError, RecursionError):
        return problem
