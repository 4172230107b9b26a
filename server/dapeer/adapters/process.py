"""Starting a debug adapter, and ending it with all that belongs to it."""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import anyio.to_thread

from dapeer.adapters.definition import LOOPBACK, Definition, Inputs, RequestName
from dapeer.adapters.detection import detect
from dapeer.adapters.owned import Processes
from dapeer.adapters.reaper import Reaper
from dapeer.adapters.spawn import Spawned, spawn
from dapeer.adapters.vocabulary import TransportTable
from dapeer.adapters.wire import PromptStream, StdioStream, connect, free_port
from dapeer.dap.transport import ContentLengthTransport, Transport
from dapeer.errors import AdapterFailed, AdapterMissing, ChannelClosed

GRACE = 0.5
"""Seconds that an adapter has to end by itself when its wire is closed."""
RETRY = 0.03
"""Seconds between two attempts to connect to an adapter that starts. Nothing tells that it listens
but a connection, and the first one is often the only one that it takes."""


class Adapter:
    """A debug adapter that runs, or the port of one that somebody else runs."""

    def __init__(self, transport: Transport, spawned: Spawned | None, processes: Processes) -> None:
        self.transport = transport
        self._spawned = spawned
        self._processes = processes

    @property
    def pid(self) -> int | None:
        """The adapter's process; None when it is not ours."""
        return self._spawned.process.pid if self._spawned else None

    def stderr_tail(self) -> str:
        """Return the end of what the adapter has written to its stderr."""
        return self._spawned.tail.text() if self._spawned else ""

    def own(self, pid: int) -> None:
        """Have a debuggee end with the adapter, and the process group that it leads."""
        self._processes.add(pid)

    def release(self, pid: int) -> None:
        """Let a debuggee that was detached live on."""
        self._processes.discard(pid)

    async def kill(self) -> None:
        """Kill the adapter and what it owns, and wait for their end, for some seconds at most."""
        await self._processes.kill()


@asynccontextmanager
async def open_adapter(
    definition: Definition, request: RequestName, inputs: Inputs, reaper: Reaper
) -> AsyncGenerator[Adapter]:
    """Start an adapter, or connect to one; at exit it ends, with its debuggees.

    At exit the wire is closed, the adapter has a moment to end by itself, and is then killed.

    Raises:
        AdapterMissing: It is not installed.
        AdapterFailed: It did not start, or ended without having said anything.
    """
    table = definition.transport_of(request, inputs)
    async with AsyncExitStack() as stack:
        processes = Processes(reaper)
        stack.push_async_callback(processes.aclose)
        if table.kind == "connect":
            spawned, stream = None, await _connect(inputs, definition.timeouts.start)
        else:
            values = {**await _values(definition, inputs), **_address(table)}
            spawned = await spawn(definition.title, table, values)
            stack.push_async_callback(_end, spawned)
            processes.add(spawned.process.pid)
            stream = await _wire(spawned, table, values, definition.timeouts.start)
        transport = ContentLengthTransport(stream)
        stack.push_async_callback(transport.aclose)
        try:
            yield Adapter(transport, spawned, processes)
        except ChannelClosed as error:
            if spawned is None or stream.heard:
                raise
            raise await spawned.died() from error


async def _end(spawned: Spawned) -> None:
    with anyio.move_on_after(GRACE, shield=True):
        await spawned.end()
    spawned.tail.close()


async def _values(definition: Definition, inputs: Inputs) -> dict[str, object]:
    """Return what the placeholders of the adapter's command stand for.

    Raises:
        AdapterMissing: The adapter is not installed.
    """
    python = inputs.get("python") or sys.executable
    look = functools.partial(detect, definition, python=str(python))
    detection = await anyio.to_thread.run_sync(look)
    if not detection.ready:
        raise AdapterMissing(
            f"{definition.title} is not installed: {detection.missing}.",
            f"Install it with: {detection.install}" if detection.install else "",
        )
    return {**definition.values(inputs), **detection.found}


def _address(table: TransportTable) -> dict[str, object]:
    """Return where a server is to listen; not the `host` and `port` that the user attaches to."""
    return {"host": LOOPBACK, "port": free_port(LOOPBACK)} if table.kind == "tcp" else {}


async def _connect(inputs: Inputs, seconds: float) -> PromptStream:
    host, port = str(inputs.get("host") or LOOPBACK), int(str(inputs.get("port")))
    try:
        with anyio.fail_after(seconds):
            return await connect(host, port)
    except (OSError, TimeoutError) as error:
        raise AdapterFailed(
            f"Nothing accepts connections at {host}:{port}.",
            "Start the program so that it listens there for a debugger, then attach.",
        ) from error


async def _wire(
    spawned: Spawned, table: TransportTable, values: Inputs, seconds: float
) -> StdioStream | PromptStream:
    if table.kind == "stdio":
        return StdioStream(spawned.process, spawned.tail)
    port = int(str(values["port"]))
    try:
        with anyio.fail_after(seconds):
            return await _listening(spawned, port)
    except TimeoutError as error:
        raise spawned.failed(f"did not listen within {seconds:g} s") from error


async def _listening(spawned: Spawned, port: int) -> PromptStream:
    """Connect as soon as the server listens."""
    while spawned.process.returncode is None:
        try:
            return await connect(LOOPBACK, port)
        except OSError:
            with anyio.move_on_after(RETRY):
                await spawned.process.wait()
    raise await spawned.died()
