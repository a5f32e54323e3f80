"""The MCP server: from the protocol to a tool and back. Answers before any data is touched."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from nuggets import times
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.interfaces.fencing import fenced_refusal
from nuggets.interfaces.mcp import care, reading, resources, writing
from nuggets.interfaces.mcp.arguments import checked
from nuggets.interfaces.mcp.seen import Seen
from nuggets.interfaces.mcp.tool import Asked, Tool
from nuggets.interfaces.mcp.wording import (
    MARKDOWN,
    MEMORY,
    NOTE,
    described,
    offered_prompt,
    refusal,
    spoken,
)
from nuggets.interfaces.words import version
from nuggets.settings import Settings
from nuggets.traces import log_problem, noted_session

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from nuggets.shelf import NuggetShelf

SESSION_KEY = "nuggets/session"  # in `_meta`: a client that knows its conversation says so
FEW_TOOLS = (*reading.TOOLS, *writing.TOOLS, *care.TOOLS)
ALL_TOOLS = (*FEW_TOOLS, *reading.MORE_TOOLS, *writing.MORE_TOOLS, *care.MORE_TOOLS)
WRITES_KNOWN = 1000  # the last ones; who made earlier ones is forgotten

T = TypeVar("T")
Handlers = dict[str, Any]
"""What the server calls, by the name it has for it."""


class Companion(Protocol):
    """Something that runs while a shelf is open."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Door:
    """The shelf of one server: opened by the first call that needs it, used one call at a time."""

    def __init__(
        self,
        settings: Settings,
        companion: "Callable[[NuggetShelf], Companion] | None" = None,
        shelf: "NuggetShelf | None" = None,
    ) -> None:
        """`companion`: what runs beside the shelf while it is open, such as the daily clean-up.

        `shelf`: one that is open already, in a process that serves more than this.
        """
        self.settings = settings
        self._make_companion = companion
        self._companion: Companion | None = None
        self._shelf = shelf and shelf.beside(client="mcp", at_work=True)
        self._turn: anyio.CapacityLimiter | None = None
        self._own_session = f"mcp-{os.urandom(6).hex()}"
        self.seen = Seen()
        self.closing = False
        self._writers: dict[int, str] = {}  # sessions by revision, the oldest first

    def shelf(self) -> "NuggetShelf":
        if self._shelf is None:
            from nuggets.opening import open_shelf

            told = os.environ.get("CLAUDE_PROJECT_DIR")  # some hosts start servers elsewhere
            self._shelf = open_shelf(self.settings, client="mcp", folder=told, at_work=True)
            if self._make_companion is not None:
                self._companion = self._make_companion(self._shelf)
                self._companion.start()
        return self._shelf

    async def in_turn(self, work: Callable[[], T]) -> T:
        """Off the event loop, in the order of arrival: pings are answered meanwhile."""
        if self._turn is None:
            self._turn = anyio.CapacityLimiter(1)
        return await anyio.to_thread.run_sync(work, limiter=self._turn)

    def session(self, ctx: "ServerRequestContext[Any, Any]") -> str:
        """Who is asking: as the client says, as the transport says, else this connection.

        A hook of the same host may have noted the conversation's own id; sharing it keeps one
        conversation from counting as two.
        """
        from nuggets.shelf import SESSION_CHARACTERS

        said = (ctx.meta or {}).get(SESSION_KEY)
        if isinstance(said, str) and said.strip():
            return said.strip()[:SESSION_CHARACTERS]
        headers = getattr(ctx.request, "headers", None)
        if headers is not None:  # over HTTP a client without a session is one a day
            own = headers.get("mcp-session-id") or times.now()[:10]
            return f"mcp-{own}"[:SESSION_CHARACTERS]
        told = str(self.settings["session"])
        return told or noted_session(self.settings["dir"], os.getppid()) or self._own_session

    def written(self, session: str) -> set[int]:
        """The revisions that this session made."""
        return {revision for revision, writer in self._writers.items() if writer == session}

    def wrote(self, session: str, revision: int) -> None:
        self._writers[revision] = session
        if len(self._writers) > WRITES_KNOWN:
            del self._writers[next(iter(self._writers))]

    def close(self) -> None:
        self.closing = True
        if self._companion is not None:
            self._companion.stop()
        if self._shelf is not None:
            self._shelf.close()


def build_server(door: Door, tools: Sequence[Tool] = FEW_TOOLS) -> Server[Any]:
    """The server on any transport; whoever runs it closes the door afterwards."""
    return Server(
        "nuggets",
        version=version(),
        title="Nuggets memory",
        instructions=resources.INSTRUCTIONS,
        **_offering_tools(door, tools),
        **_offering_resources(door),
        **_offering_prompts(),
    )


def _offering_tools(door: Door, tools: Sequence[Tool]) -> Handlers:
    offered = {tool.name: tool for tool in tools}
    listed = types.ListToolsResult(tools=[described(tool) for tool in tools])

    async def all_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return listed

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = offered.get(params.name)
        if tool is None:
            return refusal(f"there is no tool {params.name!r:.80}; there are: {', '.join(offered)}")
        session = door.session(ctx)
        return await door.in_turn(lambda: _answered(door, tool, params.arguments or {}, session))

    return {"on_list_tools": all_tools, "on_call_tool": call}


def _offering_resources(door: Door) -> Handlers:
    async def all_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[MEMORY])

    async def templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[NOTE])

    async def read(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        session, uri = door.session(ctx), str(params.uri)
        try:
            text = await door.in_turn(lambda: resources.resource_text(door.shelf(), uri, session))
        except NuggetsError as problem:
            absent = isinstance(problem, NotFound)
            code = types.INVALID_PARAMS if absent else types.INTERNAL_ERROR
            raise MCPError(code, fenced_refusal(problem)) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)]
        )

    return {
        "on_list_resources": all_resources,
        "on_list_resource_templates": templates,
        "on_read_resource": read,
    }


def _offering_prompts() -> Handlers:
    async def all_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[offered_prompt(one) for one in resources.PROMPTS])

    async def get(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = resources.prompt_text(params.name, (params.arguments or {}).get("topic", ""))
        except NotFound as problem:
            raise MCPError(types.INVALID_PARAMS, str(problem)) from None
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))]
        )

    return {"on_list_prompts": all_prompts, "on_get_prompt": get}


def serve_stdio(door: Door, tools: Sequence[Tool] = FEW_TOOLS) -> None:
    """Serve this process's own input and output until the input ends."""
    from mcp.server.stdio import stdio_server

    from nuggets.interfaces.mcp.incoming import Mended

    async def serve() -> None:
        server = build_server(door, tools)
        async with stdio_server() as (incoming, outgoing):
            options = server.create_initialization_options()
            await server.run(Mended(incoming), outgoing, options)

    try:
        anyio.run(serve)
    except* BrokenPipeError:  # the host has gone without a word
        pass
    finally:
        door.close()


def _answered(
    door: Door, tool: Tool, arguments: dict[str, Any], session: str
) -> types.CallToolResult:
    try:
        given = checked(arguments, tool.arguments)
    except InvalidInput as problem:  # it quotes the call alone
        return refusal(str(problem))
    try:
        shelf = door.shelf()
        asked = Asked(shelf, session, times.now(), door.seen, door.written(session))
        before = shelf.own_revision
        try:
            answer = tool.run(asked, given)
        finally:
            if shelf.own_revision != before:
                door.wrote(session, shelf.own_revision)
    except NuggetsError as problem:
        return refusal(fenced_refusal(problem))
    except Exception as problem:  # a fault of ours: its text may hold anything, so only we see it
        log_problem(door.settings["dir"], f"mcp {tool.name}", problem)
        return refusal(_failed(tool))
    return spoken(answer)


def _failed(tool: Tool) -> str:
    """Where a tool stumbled is known to the log alone: perhaps it had written already."""
    if tool.hints.read_only:
        return f"{tool.name} failed inside; it changes no memory. See `nuggets doctor`"
    return (
        f"{tool.name} failed inside, and may have changed memory before that: look before you "
        "repeat it. See `nuggets doctor` and `nuggets history`"
    )
