"""The two roads through a real Neovim and a real nvim-dap, as pairs of transports for the contract."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import create_tcp_listener
from anyio.abc import SocketAttribute, SocketStream

from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.messages import Message, Request, Response
from dapeer.dap.transport import Transport
from dapeer.neovim.client import Neovim
from dapeer.neovim.feeds import Feed, Hello, Listeners, NvimTransport, Taps
from tests.neovim.editor import Editor, neovim
from tests.processes import LIMIT

RUN = """
local port = ...
local dap = require('dap')
dap.adapters.road = { type = 'server', host = '127.0.0.1', port = port }
-- An nvim-dap that asks nothing by itself: what the adapter gets after the start is ours.
dap.listeners.before.initialize.road = function(session)
  for _, event in ipairs({ 'stopped', 'initialized', 'terminated', 'output', 'breakpoint' }) do
    session['event_' .. event] = function() end
  end
end
dap.run({ type = 'road', request = 'attach', name = 'road' })
"""
ATTACH = "return require('dapeer.core.attach').attach(...)"
BUSY_UNTIL_THE_END = """
local closed = false
require('dap').session().on_close.road = function()
  closed = true
end
vim.rpcnotify(vim.g.test_channel, 'busy')
-- Only the callbacks of the event loop run: what they schedule waits.
vim.wait(30000, function()
  return closed
end, 1, true)
"""
ITS_OWN = ("initialize", "attach")
"""What nvim-dap asks at the start."""


class AdapterEnd:
    """The adapter's end of the road. Requests carry the numbers that we gave them, not nvim-dap's."""

    def __init__(self, wire: Transport, editor: Editor) -> None:
        self._wire = wire
        self._editor = editor
        self._numbers: dict[int, int] = {}

    async def send(self, message: Message) -> None:
        """Send a message to nvim-dap."""
        if isinstance(message, Response):
            message = replace(message, request_seq=self._numbers[message.request_seq])
        await self._wire.send(message)

    async def receive(self) -> Message:
        """Return the next request of ours."""
        request = await self._wire.receive()
        assert isinstance(request, Request)
        number = len(self._numbers) + 1
        self._numbers[number] = request.seq
        return replace(request, seq=number)

    async def send_eof(self) -> None:
        """End this direction."""
        await self._wire.send_eof()

    async def aclose(self) -> None:
        """End, as an adapter does."""
        await self._wire.aclose()

    async def end_with(self, message: Message) -> None:
        """Send a last message and end, both before Neovim's main thread gets to either."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._editor.lua(BUSY_UNTIL_THE_END))
            await self._editor.wait_for_notification("busy")
            await self.send(message)
            await self.aclose()

    async def start(self) -> None:
        """Answer what nvim-dap asks by itself."""
        for command in ITS_OWN:
            request = await self._wire.receive()
            assert isinstance(request, Request)
            assert request.command == command
            await self._wire.send(Response(request.seq, command, success=True))


@asynccontextmanager
async def road(tmp_path: Path, *, tap: bool) -> AsyncGenerator[tuple[Transport, AdapterEnd]]:
    """Give our end and the adapter's end of a session of nvim-dap, by the tap or by its listeners."""
    listener = await create_tcp_listener(local_host="127.0.0.1")
    connected: asyncio.Future[SocketStream] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(listener.serve(connected.set_result))
    port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - this is no Django
    try:
        async with neovim(tmp_path, setup={"tap": tap}) as editor:
            arrivals = Arrivals()
            client = await Neovim.connect(editor.socket, arrivals.notified, LIMIT)
            arrivals.neovim = client
            taps = Taps()
            await taps.open()
            secret = taps.expect(arrivals.arrived)
            try:
                await client.call(ATTACH, client.channel, {"tap": taps.path, "secret": secret})
                await editor.lua(RUN, port)
                adapter = AdapterEnd(ContentLengthTransport(await connected), editor)
                await adapter.start()
                ours = NvimTransport(await arrivals.feed)
                await _past(ours)
                yield ours, adapter
                await ours.aclose()
                await adapter.aclose()
            finally:
                await client.aclose()
                await taps.aclose()
    finally:
        waiting.cancel()
        await listener.aclose()


async def _past(ours: NvimTransport) -> None:
    """Receive what nvim-dap itself has said and heard at the start."""
    while True:
        match await ours.receive():
            case Response(command="attach"):
                return
            case _:
                pass


class Arrivals:
    """Waits for the one session, by whatever road it comes."""

    def __init__(self) -> None:
        self.neovim: Neovim | None = None
        self.feed: asyncio.Future[Feed] = asyncio.get_running_loop().create_future()
        self._listeners: Listeners | None = None

    def arrived(self, _hello: Hello, feed: Feed) -> None:
        """Take in a tapped session."""
        self.feed.set_result(feed)

    def notified(self, _name: str, arguments: list[Any]) -> None:
        """Take in what a session tells through its listeners."""
        match arguments:
            case ["session", facts]:
                assert self.neovim is not None
                self._listeners = Listeners(self.neovim, Hello.read(facts).session)
                self.feed.set_result(self._listeners)
            case ["dap", _, kind, number, message] if self._listeners:
                self._listeners.queue_frame(kind, number, message)
            case ["closed", _] if self._listeners:
                self._listeners.mark_ended()
            case _:
                pass
