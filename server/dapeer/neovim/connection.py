"""The byte stream to a Neovim, with a check of the other end's owner."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from dapeer.base.connections.ownership import check_peer
from dapeer.base.errors import Stranger
from dapeer.neovim.discovery.sockets import HOST_AND_PORT

DataCallback = Callable[[bytes], None]


class Connection(asyncio.Protocol):
    """A connection with its own event loop, which runs in the thread that created it.

    It has the public methods of pynvim's event loops, and can stand for one. Another user of the machine hears nothing
    from it.

    Args:
        target: A socket's path, or `host:port`.

    Raises:
        OSError: No process listens there.
        Stranger: Another user of this machine does.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._data_callback: DataCallback | None = None
        self._early: deque[bytes] = deque()
        """Data that arrived before `start`."""
        self._end: Exception | None = None
        self._transport: asyncio.Transport
        self._loop = asyncio.new_event_loop()
        try:
            self._transport = self._loop.run_until_complete(self._connect())
        except BaseException:
            self._loop.close()
            raise

    def run(self, data_cb: DataCallback) -> None:
        """Run the connection's event loop, and pass incoming data to `data_cb`, until `stop`.

        Data that came before is passed first.

        Raises:
            EOFError: The other end has hung up.
            OSError: The connection broke.
        """
        if self._end is None:
            self._data_callback = data_cb
            while self._early:
                data_cb(self._early.popleft())
            self._loop.run_forever()
            self._data_callback = None
        if self._end is not None:
            raise self._end

    def send(self, data: bytes) -> None:
        """Queue bytes to be sent to Neovim."""
        self._transport.write(data)

    def stop(self) -> None:
        """Let `run` return soon."""
        self._loop.stop()

    def threadsafe_call(self, fn: Callable[[], object]) -> None:
        """Have the connection's event loop call a function; callable from any thread.

        Raises:
            RuntimeError: It is closed.
        """
        self._loop.call_soon_threadsafe(fn)

    def close(self) -> None:
        """Close the connection and its event loop; a second call does nothing."""
        if not self._loop.is_closed():
            self._transport.close()
            self._turn()
            self._loop.close()

    # -- of the protocol of asyncio

    def data_received(self, data: bytes) -> None:
        """Pass incoming data to the callback of `run`, or keep it until there is one."""
        if self._data_callback is None:
            self._early.append(data)
        else:
            self._data_callback(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep the reason of the connection's end for `run`, which returns then."""
        self._end = exc or EOFError("the other end has hung up")
        if self._data_callback is not None:
            self.stop()

    async def _connect(self) -> asyncio.Transport:
        """Connect to the target, check that no other user listens there, and return the transport.

        Raises:
            OSError: Nothing listens there.
            Stranger: Another user of this machine does.
        """
        match = HOST_AND_PORT.fullmatch(self._target)
        if match is None:
            made = self._loop.create_unix_connection(lambda: self, self._target)
        else:
            host = match["host"].strip("[]")
            made = self._loop.create_connection(lambda: self, host, int(match["port"]))
        transport, _ = await made
        try:
            check_peer(transport.get_extra_info("socket"), self._target)
        except (OSError, Stranger):
            transport.abort()
            # It closes its socket in the next round.
            await asyncio.sleep(0)
            raise
        return transport

    def _turn(self) -> None:
        """Run the event loop for one round, in which a closed transport closes its socket."""
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()
