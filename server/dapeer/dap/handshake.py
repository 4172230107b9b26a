"""How a debug session starts: one order of requests that fits every adapter.

Source: https://microsoft.github.io/debug-adapter-protocol/overview, "Initialization". Real adapters vary:
some answer `launch` before `initialized`, some after `configurationDone`; some never send `initialized` when
they do not debug, some send it twice.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from dapeer.base.system.exchange import Answer
from dapeer.base.system.tasks import first_of
from dapeer.dap.channel import Channel, body_of
from dapeer.dap.messages import Body, Request, Response

CLIENT: dict[str, Any] = {
    "clientID": "dapeer",
    "clientName": "dapeer",
    "locale": "en",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
    "supportsVariablePaging": True,
    "supportsMemoryReferences": True,
    # Another client has changed something at the stop: fetch it again.
    "supportsMemoryEvent": True,
    "supportsInvalidatedEvent": True,
    # A child process that is offered waits for the answer, and its parent with it.
    "supportsStartDebuggingRequest": True,
    "supportsRunInTerminalRequest": hasattr(os, "openpty"),
}


def hello(adapter_id: str) -> Body:
    """Return the arguments of `initialize`, which are the same for each session of an adapter."""
    return {**CLIENT, "adapterID": adapter_id}


async def handshake(
    channel: Channel,
    *,
    adapter_id: str,
    request: str,
    arguments: Body,
    initialized: anyio.Event,
    configure: Callable[[], Awaitable[None]],
    patience: float = 10,
) -> None:
    """Bring a session from nothing to "the debuggee runs"; `patience`: seconds to answer `initialize`.

    `initialized` is set by whoever observes the channel. `configure` sends the breakpoints, and
    `configurationDone` where the adapter wants it.

    Raises:
        RequestFailed: The adapter refused `initialize`, `launch` or `attach`.
        ChannelClosed: The adapter ended first.
    """
    await channel.request("initialize", hello(adapter_id), seconds=patience)
    # Not awaited: several adapters answer it only after `configurationDone`.
    started = await channel.send(request, arguments)
    if await _ready(channel, started, initialized, debug=not arguments.get("noDebug")):
        await configure()
    body_of(await started[1].wait())


async def _ready(
    channel: Channel,
    started: tuple[Request, Answer[Response]],
    initialized: anyio.Event,
    *,
    debug: bool,
) -> bool:
    """Wait until the adapter takes breakpoints; False when it never will, because it only runs."""
    _, answer = started
    await first_of(initialized.wait, answer.given, channel.closed.wait)
    if answer.is_given and not initialized.is_set():
        body_of(await answer.wait())
        if not debug:
            return False
        await first_of(initialized.wait, channel.closed.wait)
    if not initialized.is_set():
        # Fails with `ChannelClosed`, or with the adapter's error for the request.
        body_of(await answer.wait())
    return initialized.is_set()
