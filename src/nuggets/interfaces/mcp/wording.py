"""Our tools, answers, resources and prompts in the words of the protocol."""

import mcp_types as types

from nuggets.interfaces.fencing import marked
from nuggets.interfaces.mcp import resources
from nuggets.interfaces.mcp.tool import Answer, Tool

MARKDOWN = "text/markdown"
MEMORY = types.Resource(
    uri=resources.MEMORY,
    name="memory",
    title="MEMORY.md",
    description="What was promoted to this project's MEMORY.md",
    mime_type=MARKDOWN,
)
NOTE = types.ResourceTemplate(
    uri_template=resources.NOTE_TEMPLATE,
    name="note",
    title="A note",
    description="A note or fact by its id",
    mime_type=MARKDOWN,
)


def described(tool: Tool) -> types.Tool:
    """A tool in the words of the protocol. A memory is a closed world."""
    hints = tool.hints
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema={**tool.arguments, "additionalProperties": False},
        output_schema=tool.result,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=False,
        ),
    )


def spoken(answer: Answer) -> types.CallToolResult:
    """Both forms, each fenced in its own way: some hosts show a model only the structure."""
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text)],
        structured_content=marked(answer.structured),
    )


def refusal(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def offered_prompt(prompt: resources.Prompt) -> types.Prompt:
    arguments = [types.PromptArgument(name=prompt.argument, description="what it is about")]
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=arguments if prompt.argument else [],
    )
