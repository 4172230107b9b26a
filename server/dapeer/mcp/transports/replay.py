"""What a front has answered is asked again by the server that takes over: it learns of the client, which sees nothing of that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from typing import Final

from anyio.streams.memory import MemoryObjectSendStream
from mcp import types as t
from mcp.shared.message import SessionMessage

log = logging.getLogger(__name__)

_LISTS: Final = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
}


class Replay:
    """Sends requests again, one after the other, and takes their answers out of what the client gets."""

    def __init__(self, server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        self._server = server
        self._number: t.RequestId | None = None
        self._answer: asyncio.Future[t.JSONRPCMessage] | None = None

    async def tell(self, message: t.JSONRPCMessage) -> t.JSONRPCMessage | None:
        """Send a message again; return the answer to a request."""
        if not isinstance(message, t.JSONRPCRequest):
            await self._server.send(SessionMessage(message))
            return None
        self._number, self._answer = message.id, asyncio.get_running_loop().create_future()
        await self._server.send(SessionMessage(message))
        answer = await self._answer
        self._answer = None
        return answer

    def takes(self, message: t.JSONRPCMessage) -> bool:
        """Take the answer that is waited for; return whether this was it."""
        is_answer = isinstance(message, t.JSONRPCResponse | t.JSONRPCError)
        if self._answer is None or not is_answer or message.id != self._number:
            return False
        self._answer.set_result(message)
        return True


def news(changed: Iterable[str]) -> Iterator[t.JSONRPCNotification]:
    """Yield what a client must be sent if requests of these methods have other answers now: "look again"."""
    for method in changed:
        if told := _LISTS.get(method):
            yield t.JSONRPCNotification(jsonrpc="2.0", method=told)
        else:
            log.warning("the client was given another answer to `%s` than this server's", method)
