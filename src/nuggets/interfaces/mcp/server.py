"""The MCP server. It answers the handshake before it opens the shelf."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from nuggets import __version__
from nuggets.domain import times
from nuggets.domain.codec import json_name
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.hook_files import log_problem, recorded_session
from nuggets.filesystem.shelf_location import directory_of, is_database, is_server
from nuggets.interfaces.mcp import read_tools, write_tools
from nuggets.interfaces.mcp.resources_and_prompts import (
    MARKDOWN,
    get_prompt,
    list_prompts,
    list_resources,
    list_templates,
    resource_text,
)
from nuggets.interfaces.mcp.tool_definition import (
    INSTRUCTIONS,
    RepairedMessages,
    Tool,
    ToolCall,
    answer_to_protocol,
    refusal,
    tools_of,
)
from nuggets.interfaces.prompt_quoting import fence_refusal, name_tools
from nuggets.operations.permissions import AGENT, Client, name_agent
from nuggets.settings import Settings

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from nuggets.shelf import NuggetShelf

SESSION_KEY = "nuggets/session"  # in `_meta`: the conversation, if the client knows it
OPENING_SECONDS = 1.0  # until the shelf is opened: the handshake comes first
LOOKING_SECONDS = 60.0  # between two looks for a shelf, one call of stat each
PROGRESS_SECONDS = 2.0  # between two notifications: ours, far below the timeouts of clients

WRITES_KNOWN = 1000  # revisions whose conversation is known: ours, so that they cannot pile up

# Few tools are offered, because their descriptions fill every conversation; all with `--tools all`.
ONLY_IF_ALL = ("list_notes", "merge_notes", "undo", "promote")
ALL_TOOLS = tools_of(read_tools, write_tools)
FEW_TOOLS = [tool for tool in ALL_TOOLS if tool.name not in ONLY_IF_ALL]

T = TypeVar("T")


class Companion(Protocol):
    """Something that runs while a shelf is open."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class ServerContext:
    """The shelf of one server, opened by the first call that needs it."""

    def __init__(
        self,
        settings: Settings,
        companion: "Callable[[NuggetShelf], Companion] | None" = None,
        shelf: "NuggetShelf | None" = None,
        calls_at_once: int = 1,
    ) -> None:
        """`companion`: what runs beside the shelf while it is open, such as the daily clean-up.

        `shelf`: one that is open already, in a process that serves more than this.
        """
        self.settings = settings
        self._make_companion = companion
        self._companion: Companion | None = None
        self._shelf = shelf and shelf.for_client(AGENT)
        self._turn: anyio.CapacityLimiter | None = None
        self._calls_at_once = calls_at_once
        self._own_session = f"mcp-{os.urandom(6).hex()}"
        self.closing = False
        self._writers: dict[tuple[int, str], None] = {}  # revisions and by whom, the oldest first

    def shelf(self) -> "NuggetShelf":
        if self._shelf is None:
            from nuggets.interfaces import open_shelf

            folder = os.environ.get("CLAUDE_PROJECT_DIR")  # some hosts start servers elsewhere
            self._shelf = open_shelf(self.settings, client=AGENT, folder=folder)
            if self._make_companion is not None:
                self._companion = self._make_companion(self._shelf)
                self._companion.start()
        return self._shelf

    def shelf_for(self, request: Any) -> "NuggetShelf":
        """The shelf that a call works on: over HTTP what the request may see and change."""
        if request is None:
            return self.shelf()
        from nuggets.interfaces.request_shelf import shelf_of_request

        return shelf_of_request(request, self.shelf())

    def has_shelf(self) -> bool:
        """Whether the shelf exists; opening another one would create it."""
        directory = directory_of(self.settings["dir"])
        if is_database(self.settings["dir"]) or is_server(self.settings["dir"]):
            return True
        return bool(directory) and os.path.exists(os.path.join(directory, "nuggets.db"))

    async def in_turn(self, work: Callable[[], T]) -> T:
        """Run work in a thread, a few calls at a time, so that pings are answered meanwhile."""
        if self._turn is None:
            self._turn = anyio.CapacityLimiter(self._calls_at_once)
        return await anyio.to_thread.run_sync(work, limiter=self._turn)

    def session(self, ctx: "ServerRequestContext[Any, Any]") -> str:
        """The session of a call: from the client, else from the transport, else of this connection.

        A hook of the same host may have recorded the conversation's id. Using it keeps one
        conversation from counting as two sessions.
        """
        from nuggets.domain.limits import SESSION_CHARACTERS

        client_session = (ctx.meta or {}).get(SESSION_KEY)
        if isinstance(client_session, str) and client_session.strip():
            return client_session.strip()[:SESSION_CHARACTERS]
        headers = getattr(ctx.request, "headers", None)
        if headers is not None:  # over HTTP a client without a session is one a day
            own = headers.get("mcp-session-id") or times.now()[:10]
            return f"mcp-{own}"[:SESSION_CHARACTERS]
        configured = str(self.settings["session"])
        return (
            configured or recorded_session(self.settings["dir"], os.getppid()) or self._own_session
        )

    def revisions_of(self, writer: str) -> set[int]:
        """The revisions that this client made in this conversation."""
        return {revision for revision, by in list(self._writers) if by == writer}

    def record_write(self, writer: str, revision: int) -> None:
        self._writers[revision, writer] = None
        if len(self._writers) > WRITES_KNOWN:
            del self._writers[next(iter(self._writers))]

    def close(self) -> None:
        self.closing = True
        if self._companion is not None:
            self._companion.stop()
        if self._shelf is not None:
            self._shelf.close()


def build_server(context: ServerContext, tools: Sequence[Tool] = FEW_TOOLS) -> Server[Any]:
    """The server on any transport; whoever runs it closes the context afterwards."""
    offered = {tool.name: tool for tool in tools}
    aliases = {json_name(name): tool for name, tool in offered.items()}  # accepted, not listed
    listed = types.ListToolsResult(tools=[tool.listed for tool in tools])

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return listed

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = offered.get(params.name) or aliases.get(params.name)
        if tool is None:
            return refusal(f"there is no tool {params.name!r:.80}; there are: {', '.join(offered)}")
        client = name_agent(AGENT, agent_name(ctx))._replace(session=context.session(ctx))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_report_progress, ctx.session, tool.name)
            answer = await context.in_turn(
                lambda: _answer_call(context, tool, params.arguments or {}, client, ctx.request)
            )
            tasks.cancel_scope.cancel()
        return _name_tools(answer, agent_name(ctx))

    async def read(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        session, uri = context.session(ctx), str(params.uri)
        try:
            text = await context.in_turn(
                lambda: resource_text(context.shelf_for(ctx.request), uri, session)
            )
        except NuggetsError as problem:
            absent = isinstance(problem, NotFound)
            code = types.INVALID_PARAMS if absent else types.INTERNAL_ERROR
            raise MCPError(code, fence_refusal(problem)) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)]
        )

    return Server(
        "nuggets",
        version=__version__,
        title="Nuggets memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _name_tools(answer: types.CallToolResult, host: str) -> types.CallToolResult:
    """The answer with the names that tools have at the host."""
    for part in answer.content:
        if isinstance(part, types.TextContent):
            part.text = name_tools(part.text, host, in_fences=bool(answer.is_error))
    return answer


def agent_name(ctx: "ServerRequestContext[Any, Any]") -> str:
    """What the client called itself in the handshake; "" if it said nothing."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None else ""


async def _report_progress(session: "ServerSession", tool_name: str) -> None:
    """Tell a client that asked for progress how long a call has been running, until it ends.

    Clients end a call that is silent for too long. Nobody knows beforehand how long a clean-up or
    the first opening of a shelf takes, so there is no total.
    """
    seconds = 0.0
    while True:
        await anyio.sleep(PROGRESS_SECONDS)
        seconds += PROGRESS_SECONDS
        try:
            await session.report_progress(seconds, message=f"{tool_name}: {seconds:.0f} s so far")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client is gone
            return


def serve_stdio(context: ServerContext, tools: Sequence[Tool] = FEW_TOOLS) -> None:
    """Serve this process's own input and output until the input ends."""
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        server = build_server(context, tools)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(_open_for_companion, context)
            options = server.create_initialization_options()
            await server.run(RepairedMessages(incoming), outgoing, options)
            tasks.cancel_scope.cancel()

    try:
        anyio.run(serve)
    except* BrokenPipeError:  # the host closed its end
        pass
    finally:
        context.close()


async def _open_for_companion(context: ServerContext) -> None:
    """Open an existing shelf after the handshake, so that the daily clean-up runs though nobody
    calls a tool. A shelf that does not exist yet is left to the first call."""
    await anyio.sleep(OPENING_SECONDS)
    while not context.has_shelf():
        await anyio.sleep(LOOKING_SECONDS)
    try:
        await context.in_turn(context.shelf)
    except NuggetsError as problem:
        log_problem(context.settings["dir"], "mcp", problem)


def _answer_call(
    context: ServerContext,
    tool: Tool,
    arguments: dict[str, Any],
    client: Client,
    request: Any,
) -> types.CallToolResult:
    try:
        given = {name: value for name, value in arguments.items() if value is not None}
        checked = tool.arguments.read(given, tool.name)
    except InvalidInput as problem:  # it quotes only the call
        return refusal(str(problem))
    try:
        shelf = context.shelf_for(request).for_client(client)
        writer = f"{shelf.client_name} {client.session}"
        shelf.sync_shared()
        call = ToolCall(shelf, client.session, times.now(), context.revisions_of(writer))
        before = shelf.own_revision
        try:
            answer = tool.run(call, **checked)
        finally:
            if shelf.own_revision != before:
                context.record_write(writer, shelf.own_revision)
                shelf.sync_shared(has_written=True)
    except NuggetsError as problem:
        return refusal(fence_refusal(problem))
    except Exception as problem:  # a bug: its text may quote memory, so it goes to the log only
        log_problem(context.settings["dir"], f"mcp {tool.name}", problem)
        return refusal(_failure_message(tool))
    return answer_to_protocol(answer)


def _failure_message(tool: Tool) -> str:
    """The message for a bug in a tool. It may have happened after a write."""
    if tool.only_reads:
        return (
            f"{tool.name} failed with an internal error; it changes no memory. See `nuggets doctor`"
        )
    return (
        f"{tool.name} failed with an internal error, and may have changed memory before: check "
        "before you repeat it. See `nuggets doctor` and `nuggets history`"
    )
