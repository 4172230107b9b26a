"""Connecting to a debug adapter: a starting one, or one of another process."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from dapeer.adapters.definition.definition import Inputs
from dapeer.adapters.definition.vocabulary import TransportTable
from dapeer.adapters.process.spawn import Spawned
from dapeer.adapters.process.streams import PromptStream, StdioStream, connect, connect_unix
from dapeer.base.connections import LOOPBACK
from dapeer.base.errors import AdapterFailed, Stranger

SECONDS_BETWEEN_ATTEMPTS = 0.03
"""Seconds between two attempts to connect to a starting adapter.

Only a connection shows that it listens, and the first one is often the only one that it accepts.
"""

HostAndPort: TypeAlias = tuple[str, int]
"""A host and a port."""
Connector: TypeAlias = Callable[[], Awaitable[PromptStream]]
"""Connects to a server that dapeer has started."""


async def connect_to(address: HostAndPort, seconds: float) -> PromptStream:
    """Connect to the adapter of another process, within `seconds`, and return the stream.

    Raises:
        AdapterFailed: No process listens there, or it disconnects.
        Stranger: Another user of this machine listens there.
    """
    host, port = address
    try:
        with anyio.fail_after(seconds):
            return await connect(host, port)
    except ConnectionResetError as error:
        raise no_adapter(port) from error
    except (OSError, TimeoutError) as error:
        raise AdapterFailed(
            f"Nothing accepts connections at {host}:{port}.",
            "Start the program so that it listens there for a debugger, then attach.",
        ) from error


def no_adapter(port: object) -> AdapterFailed:
    """Return the error for a process at an adapter's port that does not speak DAP."""
    return AdapterFailed(
        f"What listens at port {port} is not a debug adapter.",
        "Start the program so that it waits there for a debugger, then attach.",
    )


def connector(table: TransportTable, values: Inputs) -> Connector | None:
    """Return a function that connects to a server that dapeer started; None: the adapter is no server."""
    match table.kind:
        case "tcp":
            return functools.partial(connect, LOOPBACK, int(str(values["port"])), here=True)
        case "unix":
            return functools.partial(connect_unix, str(values["socket"]))
        case _:
            return None


async def stream_of(
    spawned: Spawned, again: Connector | None, seconds: float
) -> StdioStream | PromptStream:
    """Return the stream to an adapter that dapeer started: its stdio, or a connection.

    `again` connects to a server, and is tried until the server listens, for `seconds` at most; None: the adapter uses its stdio.

    Raises:
        AdapterFailed: It does not listen in time, has ended, or another user listens in its place.
    """
    if again is None:
        return StdioStream(spawned.process, spawned.tail)
    try:
        with anyio.fail_after(seconds):
            return await _listening(spawned, again)
    except TimeoutError as error:
        raise spawned.failed(f"did not listen within {seconds:g} s") from error
    except Stranger as error:
        raise AdapterFailed(
            error.what, "Nothing was sent. Start it again: it then gets another port."
        ) from error


async def _listening(spawned: Spawned, again: Connector) -> PromptStream:
    """Connect as soon as the server listens, and return the stream; there is no timeout.

    `again` makes one attempt.

    Raises:
        AdapterFailed: It has ended.
        Stranger: Another user listens in its place.
    """
    while spawned.process.returncode is None:
        try:
            return await again()
        except OSError:
            with anyio.move_on_after(SECONDS_BETWEEN_ATTEMPTS):
                await spawned.process.wait()
    # Perhaps it has ended because another user has its port: `again` raises that then.
    with contextlib.suppress(OSError):
        await (await again()).aclose()
    raise await spawned.early_end_error()
