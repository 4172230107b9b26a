"""Listens to the events of an OpenCode server, and reconnects."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import anyio

from dapeer.base.json_types import Json
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.errors import NoOpenCode

CONNECTED: Final = "server.connected"
"""The first event of every stream. Earlier events may have been missed: OpenCode does not repeat any."""
HEARTBEAT: Final = "server.heartbeat"
"""A heartbeat, every ten seconds."""
SECONDS_BETWEEN_CONNECTIONS: Final = (0.0, 0.2, 0.5, 1.0)
"""Seconds before each new attempt, after a stream has ended; then it is given up."""


async def follow(opencode: OpenCode) -> AsyncGenerator[Json]:
    """Yield each event of OpenCode, as `{type, properties}`, without end.

    A stream that ends or breaks is replaced by another.

    Raises:
        OpenCodeError: OpenCode is gone after several attempts, or rejects the connection.
    """
    pauses = iter(SECONDS_BETWEEN_CONNECTIONS)
    while True:
        try:
            async with opencode.events() as events:
                async for event in events:
                    match event.get("payload"):
                        case {"type": str(kind), "properties": dict()} as known:
                            # Without this pause, streams that break at once would be retried in a busy loop.
                            pauses = pauses if kind == CONNECTED else iter(SECONDS_BETWEEN_CONNECTIONS)
                            yield known
                        case _:
                            pass
        except NoOpenCode:
            pause = next(pauses, None)
            if pause is None:
                raise
        else:
            pause = next(pauses, SECONDS_BETWEEN_CONNECTIONS[-1])
        await anyio.sleep(pause)
