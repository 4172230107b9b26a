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

from dapeer.base.system.tasks import Answer, first_of
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


def initialize_arguments(adapter_id: str) -> Body:
    """Return the arguments of `initialize`: what dapeer supports as a client, and the adapter's id."""
    return {**CLIENT, "adapterID": adapter_id}


async def handshake(
    channel: Channel,
    *,
    adapter_id: str,
    request: str,
    arguments: Body,
    initialized: anyio.Event,
    configure: Callable[[], Awaitable[None]],
    seconds_to_answer: float = 10,
) -> None:
    """Start a DAP session: `initialize`, `launch` or `attach`, `configure`, and that request's response.

    `adapter_id` is the `adapterID` of `initialize`. `request` is `launch` or `attach`, and `arguments` are
    its arguments. `initialized` is set by the observer of the channel when the adapter's `initialized`
    event arrives; `configure` is awaited after it, and sends the breakpoints, and `configurationDone` where
    the adapter wants it; what it raises leaves. `configure` is not called, and nothing is raised, if the
    adapter accepts `request` without that event, and `arguments` have a true `noDebug` or the connection
    ends then. `seconds_to_answer` is the number of seconds within which the adapter must answer
    `initialize`; the rest has no time limit here.

    Raises:
        RequestFailed: The adapter rejected `initialize`, `launch` or `attach`.
        RequestTimeout: The adapter did not answer `initialize` in time.
        ChannelClosed: The connection to the adapter ended before it answered `request`.
    """
    await channel.request("initialize", initialize_arguments(adapter_id), seconds=seconds_to_answer)
    # Not awaited: several adapters answer it only after `configurationDone`.
    started = await channel.send(request, arguments)
    if await _wait_for_initialized(
        channel, started, initialized, debug=not arguments.get("noDebug")
    ):
        await configure()
    body_of(await started[1].wait())


async def _wait_for_initialized(
    channel: Channel,
    started: tuple[Request, Answer[Response]],
    initialized: anyio.Event,
    *,
    debug: bool,
) -> bool:
    """Wait for the adapter's `initialized` event, and return whether it came, so breakpoints may be sent.

    `started` is the `launch` or `attach` request that was sent, with its coming response. `initialized` is set by the observer of the
    channel when the event arrives. `debug` is False where the program only runs (`noDebug`): then a response to that request without the
    event is enough, and False is returned. With `debug` True the event is awaited even after the response; False then means that the
    connection ended after a successful response. There is no time limit.

    Raises:
        RequestFailed: The adapter rejected the `launch` or `attach` request.
        ChannelClosed: The connection to the adapter ended before it answered that request.
    """
    _, answer = started
    await first_of(initialized.wait, answer.wait_until_given, channel.closed_event.wait)
    if answer.is_given and not initialized.is_set():
        body_of(await answer.wait())
        if not debug:
            return False
        await first_of(initialized.wait, channel.closed_event.wait)
    if not initialized.is_set():
        # Fails with `ChannelClosed`, or with the adapter's error for the request.
        body_of(await answer.wait())
    return initialized.is_set()
