"""What a host sends, made whole: half a character would cost it the answer."""

import json
import re
from typing import Any

import mcp_types as types
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_HALF = re.compile("[\ud800-\udfff]")  # the other half was cut off, as of an emoji


class Mended(ObjectReceiveStream[Any]):
    """The messages of a transport, which gives a line that it cannot read as a problem."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    async def receive(self) -> Any:
        message = await self._messages.receive()
        return _mended(message) if isinstance(message, ValidationError) else message

    async def aclose(self) -> None:
        await self._messages.aclose()


def _mended(problem: ValidationError) -> SessionMessage | ValidationError:
    """The message, if half a character was all that was wrong with it."""
    line = problem.errors()[0]["input"]
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        whole = _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, TypeError, RecursionError):
        return problem
