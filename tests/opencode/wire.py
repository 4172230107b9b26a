"""A wire between us and an OpenCode server that can be cut, and that can go dead."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2


class Wire:
    """Carries what is said, both ways, unless it is held."""

    def __init__(self, url: str) -> None:
        target = httpx2.URL(url)
        self._target = (target.host, target.port or 80)
        self._ends: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self.joined = asyncio.Event()
        """Set when somebody connects."""
        self.url = ""

    def cut(self) -> None:
        """Break all connections; new ones can be made."""
        for end in self._ends:
            end.transport.abort()

    def hold(self) -> None:
        """Let nothing through, and nobody know."""
        self._flows.clear()
        self.joined.clear()

    def release(self) -> None:
        """Let everything through, what was held first."""
        self._flows.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.joined.set()
        there, back = await asyncio.open_connection(*self._target)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pump(reader, back))
            tasks.create_task(self._pump(there, writer))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._ends.add(sink)
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                await self._flows.wait()
                sink.write(data)
                await sink.drain()
        self._ends.discard(sink)
        sink.close()


@asynccontextmanager
async def wire(url: str) -> AsyncGenerator[Wire]:
    """Lay a wire to a server."""
    laid = Wire(url)
    carrying: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(laid.carry(reader, writer))
        carrying.add(task)
        task.add_done_callback(carrying.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    laid.url = f"http://{host}:{port}"
    try:
        yield laid
    finally:
        server.close()
        laid.cut()
        for task in carrying:
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)
