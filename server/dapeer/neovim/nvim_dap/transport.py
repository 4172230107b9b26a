"""A session of nvim-dap as a transport: the messages between the person's client and its adapter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import anyio

from dapeer.dap.messages import Body, Message, Request, Response
from dapeer.neovim.nvim_dap.feeds import Feed, FeedFrame

MAX_UNANSWERED_REQUESTS = 1000
"""Requests whose responses may still arrive; an adapter that owes more will never answer the oldest."""


class NvimTransport:
    """Carries one session over either feed.

    nvim-dap numbers the requests that go over its wire, ours among them; here they get our own
    numbers back. The person's requests are told too, by their negative number, so that whoever
    watches learns of a step when it is sent, and knows what was asked when it is answered.
    """

    def __init__(self, feed: Feed, names: Mapping[str, str] = MappingProxyType({})) -> None:
        """Keep `names`, those of files with breakpoints here, by their paths in Neovim if these differ."""
        self._feed = feed
        self._names = names
        self._requests: OrderedDict[int, Request] = OrderedDict()
        """By nvim-dap's number: the request with dapeer's number."""
        self._closed = False

    async def send(self, message: Message) -> None:
        """Have nvim-dap send a request.

        Any other message is dropped, since nvim-dap answers its adapter's requests itself.

        Raises:
            anyio.BrokenResourceError: The session has ended.
            anyio.ClosedResourceError: `aclose` was called.
            NeovimBusy: It cannot be sent now, and will not be sent later.
        """
        if self._closed:
            raise anyio.ClosedResourceError
        if isinstance(message, Request):
            await self._feed.send(message.seq, message.command, message.arguments)

    async def receive(self) -> Message:
        """Return the next message: the adapter's event or response, or a request that the person has sent.

        A response has our number of the request, with the request's command and arguments.

        Raises:
            anyio.EndOfStream: The session has ended, or its Neovim has.
        """
        while True:
            message = self._take(await self._feed.receive())
            if message is not None:
                return message

    async def send_eof(self) -> None:
        """Do nothing: the connection to the adapter is nvim-dap's, and the person may still need it."""

    async def aclose(self) -> None:
        """Close the feed; nvim-dap's session continues."""
        self._closed = True
        await self._feed.aclose()

    def _take(self, frame: FeedFrame) -> Message | None:
        """Return the message of a frame as dapeer's session shall see it; None: there is none to see.

        A request of dapeer's that could not be sent becomes a failed response.
        """
        match frame:
            case FeedFrame("o", number, Request() as request):
                return self._outgoing(number, request)
            case FeedFrame("i", _, Response() as response):
                return self._answer(response)
            case FeedFrame("x", number, str(why)):
                return Response(number, "", success=False, message=why)
            case FeedFrame("i", _, message) if not isinstance(message, Request | str):
                return message
            case _:
                # nvim-dap answers its adapter's requests (runInTerminal, startDebugging) itself.
                return None

    def _outgoing(self, number: int, request: Request) -> Message | None:
        """Keep a request that nvim-dap has sent, for its response; return it if it is the person's, else None.

        `number` is dapeer's number of its own request, or 0; a person's request gets nvim-dap's number, negated.
        """
        mine = number > 0
        known = replace(request, seq=number if mine else -request.seq)
        if request.command == "setBreakpoints":
            known = replace(known, arguments=_renamed(request.arguments, self._names))
        self._requests[request.seq] = known
        if len(self._requests) > MAX_UNANSWERED_REQUESTS:
            self._requests.popitem(last=False)
        return None if mine else known

    def _answer(self, response: Response) -> Message | None:
        """Return a response with the number, command and arguments of its request; None if that is not known."""
        request = self._requests.pop(response.request_seq, None)
        if request is None:
            return None
        return replace(
            response, request_seq=request.seq, command=request.command, arguments=request.arguments
        )


def _renamed(arguments: Body, names: Mapping[str, str]) -> Body:
    """Return the arguments of `setBreakpoints` with the file's path on this machine in place of Neovim's.

    `names` are the paths here, by Neovim's. Other arguments come back as they are.
    """
    source: Mapping[str, Any] = arguments.get("source") or {}
    name = names.get(str(source.get("path")))
    return arguments if name is None else {**arguments, "source": {**source, "path": name}}
