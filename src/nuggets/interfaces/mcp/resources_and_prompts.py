"""What the MCP server offers beside tools: resources, which a host can attach to a conversation,
and prompts, which a person can choose in it."""

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from nuggets.domain import times
from nuggets.domain.records import MemoryNote
from nuggets.errors import NotFound
from nuggets.interfaces.prompt_quoting import PREFACE, fence, fence_note

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

# --- resources ------------------------------------------------------------------------------------

MEMORY_URI = "nuggets://memory"
SESSIONS_URI = "nuggets://sessions"
NOTE_PREFIX = "nuggets://note/"
NOTE_TEMPLATE = NOTE_PREFIX + "{id}"
SESSIONS_SHOWN = 5  # the last ones, whole: ours, as documented
MARKDOWN = "text/markdown"

_RESOURCES = types.ListResourcesResult(
    resources=[
        types.Resource(
            uri=MEMORY_URI,
            name="memory",
            title="MEMORY.md",
            description="What was promoted to this project's MEMORY.md",
            mime_type=MARKDOWN,
        ),
        types.Resource(
            uri=SESSIONS_URI,
            name="sessions",
            title="Last sessions",
            description="What the last sessions with agents in this project were about",
            mime_type=MARKDOWN,
        ),
    ]
)
_TEMPLATES = types.ListResourceTemplatesResult(
    resource_templates=[
        types.ResourceTemplate(
            uri_template=NOTE_TEMPLATE,
            name="note",
            title="A note",
            description="A note or fact by its id",
            mime_type=MARKDOWN,
        )
    ]
)


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    return _RESOURCES


async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    return _TEMPLATES


def resource_text(shelf: "NuggetShelf", uri: str, session: str) -> str:
    """The content of one of our URIs, fenced; `NotFound` names them."""
    if uri.rstrip("/") == MEMORY_URI:
        text = shelf.read_memory_file()[0]
        if not text:
            raise NotFound("MEMORY.md is not written yet: nothing was recalled often enough")
        return f"{PREFACE}\n{fence(text, source='MEMORY.md')}"
    if uri.rstrip("/") == SESSIONS_URI:
        notes = shelf.sessions()[:SESSIONS_SHOWN]
        if not notes:
            raise NotFound("there is no note of a session with an agent in this project yet")
        return "\n".join([PREFACE, *(_fence_note(shelf, note) for note in notes)])
    if uri.startswith(NOTE_PREFIX):
        note = shelf.get_note(unquote(uri.removeprefix(NOTE_PREFIX)), session=session)
        return f"{PREFACE}\n{_fence_note(shelf, note)}"
    raise NotFound(
        f"there is nothing at {uri:.200}; try {MEMORY_URI}, {SESSIONS_URI} or {NOTE_TEMPLATE}"
    )


def _fence_note(shelf: "NuggetShelf", note: MemoryNote) -> str:
    caveats = shelf.caveats(note)
    return fence_note(note, note.content, project=shelf.project, now=times.now(), caveats=caveats)


# --- prompts --------------------------------------------------------------------------------------

_PROMPTS = {
    "recall-first": (
        "Before you do anything else, look into memory: call recall and then search_notes with "
        "the key words of {topic}, open what matters with get_note, and tell me in two or three "
        "lines what memory knows and how old it is. Then go on with the task. When you learn "
        "something the next session would need, store it."
    ),
    "reflect": (
        "Look back on this session. Store what a later session would need and memory does not "
        "have yet: remember for short facts, create_note for decisions with their reasons; edit "
        "notes that turned out wrong. Then call reflect_and_clean_memory with dry_run=true, show "
        "me the plan, and run it if it looks right."
    ),
}
_LISTED_PROMPTS = types.ListPromptsResult(
    prompts=[
        types.Prompt(
            name="recall-first",
            title="Recall first",
            description="Look into memory before starting on a task",
            arguments=[types.PromptArgument(name="topic", description="what it is about")],
        ),
        types.Prompt(
            name="reflect",
            title="Reflect",
            description="Look back on this session and tidy memory",
        ),
    ]
)


async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    return _LISTED_PROMPTS


async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name not in _PROMPTS:
        known = ", ".join(_PROMPTS)
        raise MCPError(
            types.INVALID_PARAMS, f"there is no prompt {params.name!r:.80}; there are: {known}"
        )
    topic = (params.arguments or {}).get("topic", "").strip() or "the task at hand"
    text = _PROMPTS[params.name].replace("{topic}", topic)
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))]
    )
