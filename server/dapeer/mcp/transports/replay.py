"""Repeats a front's answered requests to the server that takes over, which learns of the client so.

The client sees nothing of that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Final

import mcp.types as t

from dapeer.base.system.exchange import Answer

log = logging.getLogger(__name__)

_LISTS: Final = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
}


class Replay:
    """Takes the answers to requests that are sent again, one after the other, out of what the client gets."""

    def __init__(self) -> None:
        self._number: t.RequestId | None = None
        self._answer: Answer[t.JSONRPCMessage] | None = None

    def expect_answer(self, request: t.JSONRPCRequest) -> Answer[t.JSONRPCMessage]:
        """Have the answer to a request kept from the client, and return what that answer will be put into.

        To be called before the request is sent to the server again; only one is awaited at a time.
        """
        self._number, self._answer = request.id, Answer[t.JSONRPCMessage]()
        return self._answer

    def take_if_awaited(self, message: t.JSONRPCMessage) -> bool:
        """Whether a message is the awaited answer; if so, it is handed to whoever awaits it."""
        is_answer = isinstance(message, t.JSONRPCResponse | t.JSONRPCError)
        if self._answer is None or not is_answer or message.id != self._number:
            return False
        self._answer.give(message)
        self._answer = None
        return True


def list_change_notifications(changed: Iterable[str]) -> Iterator[t.JSONRPCNotification]:
    """Yield the notifications for a client whose requests of these methods would have other answers now.

    Only lists have notifications; for another method a warning is logged.
    """
    for method in changed:
        if notification := _LISTS.get(method):
            yield t.JSONRPCNotification(jsonrpc="2.0", method=notification)
        else:
            log.warning("the client was given another answer to `%s` than this server's", method)
