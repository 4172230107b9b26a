"""Byte streams to an adapter: its stdin and stdout, or a socket."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable, Generator, Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream, UNIXSocketStream

from dapeer.adapters.process.child_process import ChildProcess
from dapeer.adapters.process.tail import Tail
from dapeer.base.connections.ownership import check_peer
from dapeer.base.errors import Stranger


class StdioStream(ByteStream):
    """DAP over the adapter's stdin and stdout."""

    def __init__(self, process: ChildProcess, tail: Tail) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a process without pipes")
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._tail = tail
        self.has_received = False
        """Whether anything has been received."""

    async def send(self, item: bytes) -> None:
        """Write bytes to the adapter's stdin.

        Raises:
            anyio.BrokenResourceError: The adapter has closed it.
        """
        try:
            self._stdin.write(item)
            await self._stdin.drain()
        except (OSError, RuntimeError) as error:
            raise anyio.BrokenResourceError from error

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next bytes of the adapter's stdout, at most `max_bytes`.

        The end is reported after the last output of stderr, which often has the reason.

        Raises:
            anyio.EndOfStream: The adapter has closed it.
        """
        data = await self._stdout.read(max_bytes)
        if not data:
            await self._tail.settle()
            raise anyio.EndOfStream
        self.has_received = True
        return data

    async def send_eof(self) -> None:
        """Close the adapter's stdin."""
        self._stdin.close()

    async def aclose(self) -> None:
        """Close the adapter's stdin and stdout."""
        self._process.close_pipes()


class PromptStream(ByteStream):
    """A socket; the kernel of one over TCP acknowledges at once, on Linux.

    An adapter that writes a message in two pieces waits with the second for the acknowledgement of
    the first, which is otherwise delayed by 40 ms. The kernel turns the option off again by itself,
    so it is set around every read. asyncio itself sets TCP_NODELAY on every socket.
    """

    def __init__(self, stream: SocketStream | UNIXSocketStream) -> None:
        self._stream = stream
        self._socket = _socket(stream)
        self.has_received = False
        """Whether anything has been received."""
        self._pending = 0
        """How many calls read or write."""
        self._is_closing = False
        self._unused = anyio.Event()
        """Set when the last of them has returned, once the stream closes."""
        tcp = self._socket.family in {socket.AF_INET, socket.AF_INET6}
        self._option: int | None = getattr(socket, "TCP_QUICKACK", None) if tcp else None

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """The interface of the socket's own stream."""
        return self._stream.extra_attributes

    async def send(self, item: bytes) -> None:
        """Write bytes to the socket.

        Raises:
            anyio.ClosedResourceError: The stream was closed here.
            anyio.BrokenResourceError: The connection broke.
        """
        with self._in_use():
            await self._stream.send(item)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next bytes, at most `max_bytes`, and acknowledge them at once.

        Raises:
            anyio.EndOfStream: The other end has closed the connection.
            anyio.ClosedResourceError: The stream was closed here.
            anyio.BrokenResourceError: The connection broke.
        """
        self._acknowledge()
        with self._in_use():
            data = await self._stream.receive(max_bytes)
        self._acknowledge()
        self.has_received = True
        return data

    async def send_eof(self) -> None:
        """Close the sending direction."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close both directions; who reads or writes gets a ClosedResourceError first.

        anyio wakes them by itself when it closes a Unix socket. If the socket becomes ready at that moment, asyncio
        wakes them once more, and prints an InvalidStateError. So such a socket is shut down first.
        """
        self._is_closing = True
        if self._pending and isinstance(self._stream, UNIXSocketStream):
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            with anyio.CancelScope(shield=True):
                await self._unused.wait()
        await self._stream.aclose()

    @contextlib.contextmanager
    def _in_use(self) -> Generator[None]:
        """Count a call that reads or writes, while the body runs.

        Turn its errors into ClosedResourceError after `aclose`. `_unused` is set when the last such call has returned after
        `aclose`.
        """
        self._pending += 1
        try:
            yield
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            if self._is_closing:
                raise anyio.ClosedResourceError from error
            raise
        finally:
            self._pending -= 1
            if self._is_closing and not self._pending:
                self._unused.set()

    def _acknowledge(self) -> None:
        """Set TCP_QUICKACK on the socket, where the system has it and the socket is one of TCP."""
        if self._option is not None:
            # A socket that is closed meanwhile is the reader's to report.
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, self._option, 1)


async def connect(host: str, port: int, *, here: bool = False) -> PromptStream:
    """Connect to an adapter over TCP, and return the stream; `here` says that it must be on this machine.

    Raises:
        OSError: Nothing listens there.
        Stranger: Another user of this machine does; nothing was sent.
    """
    return await _checked(await anyio.connect_tcp(host, port), f"{host}:{port}", here=here)


async def connect_unix(path: str) -> PromptStream:
    """Connect to an adapter at the Unix socket at `path`, and return the stream.

    Raises:
        OSError: Nothing listens there.
        Stranger: Another user does; nothing was sent.
    """
    return await _checked(await anyio.connect_unix(path), path, here=True)


async def _checked(
    stream: SocketStream | UNIXSocketStream, where: str, *, here: bool
) -> PromptStream:
    """Return the stream of a new connection, unless the other end is another user's; else close it.

    `where` is the address for the error; `here` says that the other end must be on this machine.

    Raises:
        OSError: The connection is to itself, was closed, or is not `here`.
        Stranger: Another user has the other end.
    """
    connection = _socket(stream)
    try:
        # Where nothing listens yet, a socket may be given the very port it connects to, and so itself.
        if connection.getsockname() == connection.getpeername():
            raise ConnectionRefusedError
        check_peer(connection, where, here=here)
    except (OSError, Stranger):
        await stream.aclose()
        raise
    return PromptStream(stream)


def _socket(stream: SocketStream | UNIXSocketStream) -> socket.socket:
    return stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - this is no database


def lacking_loopback() -> tuple[str, str]:
    """Return what is missing where 127.0.0.1 does not work, and how to get it.

    The first part ends a sentence that begins with what needs it; the second begins one.
    """
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.connect(("::1", 9))
        address = "127.0.0.1, an address that no interface has here."
        return address, "Give it to one (`ip addr add 127.0.0.1/8 dev lo`)"
    down = "the loopback interface, which is down here."
    return down, "Bring it up (`ip link set lo up`)"


def has_loopback() -> bool:
    """Return whether the system can reach 127.0.0.1; in some containers it cannot. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent; the system only looks for a way.
            probe.connect(("127.0.0.1", 9))
        except OSError as error:
            return error.errno not in (errno.ENETUNREACH, errno.EADDRNOTAVAIL)
    return True
