"""Repairs messages with half a surrogate pair, which would otherwise get no answer."""

import json
import re
from typing import Any

import mcp_types as types
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

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
