"""Byte streams to an adapter: its stdin and stdout, or a socket."""

from __future__ import annotations

import contextlib
import errno
import functools
import random
import socket
from collections.abc import Awaitable, Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream, UNIXSocketStream

from dapeer.adapters.definition.definition import Inputs
from dapeer.adapters.definition.sections import TransportTable
from dapeer.adapters.process.spawn import ChildProcess, Spawned
from dapeer.adapters.process.tail import Tail
from dapeer.base.errors import AdapterFailed, ForeignListener
from dapeer.base.system.ownership import check_peer
from dapeer.base.system.tcp_table import LOOPBACK

# TCP ports for the servers that dapeer starts.

_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""The ports that Linux gives to whoever needs any: the first, and the last.

Source: Documentation/networking/ip-sysctl.rst of the kernel.
"""
FIRST_GIVEN: Final = 49_152
"""The first such port by RFC 6335."""
LOWEST_PORT: Final = 15_000
"""Those below it are often taken by services."""
MAX_PORT_TRIES: Final = 20


def free_port(host: str) -> int:
    """Return a TCP port of `host` that is free now, and that the system does not give to others by itself.

    A server may listen there only after a while: by then the system could have given a port of its own range to another
    program, to which dapeer would connect in its place. So the port is below that range; only if the `MAX_PORT_TRIES`
    ports of it that are tried at random are all taken, any free port is returned. The port is not reserved.

    Raises:
        OSError: `host` is no IPv4 address or name of this machine, or no port is free.
    """
    ours = range(LOWEST_PORT, first_given())
    for port in random.sample(ours, min(MAX_PORT_TRIES, len(ours))):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, port))
            return port
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def first_given(file: Path = _GIVEN) -> int:
    """Return the lowest port that the system gives to programs that ask for any free port.

    `file` is Linux's file with that range; without it the result is that of RFC 6335.
    """
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text("ascii").split()[0])
    return FIRST_GIVEN


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
        """Return the next bytes of the adapter's stdout, at most `max_bytes`; wait until there are some.

        The end is reported after the last output of stderr, which often has the reason; that is waited for at
        most `SECONDS_OF_LAG`. The wait for bytes has no limit.

        Raises:
            anyio.EndOfStream: The adapter has closed its stdout.
            anyio.ClosedResourceError: The process's pipes were closed here.
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
        self._active_calls = 0
        """How many calls read or write."""
        self._is_closing = False
        self._unused_event = anyio.Event()
        """Set when the last of them has returned, once the stream closes."""
        tcp = self._socket.family in {socket.AF_INET, socket.AF_INET6}
        self._quick_ack: int | None = getattr(socket, "TCP_QUICKACK", None) if tcp else None

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
        """Wait for the next bytes and return them, at most `max_bytes`; acknowledge them at once.

        Only a connection over TCP on Linux is acknowledged at once. There is no timeout.

        Raises:
            anyio.EndOfStream: The other end has closed the connection.
            anyio.ClosedResourceError: The stream was closed here, before or meanwhile.
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

        anyio wakes readers and writers by itself when it closes a Unix socket. If the socket becomes ready at
        that moment, asyncio wakes them once more, and prints an InvalidStateError. So a Unix socket that is in
        use is shut down first, and closed once nobody reads or writes any more; a cancellation does not end that
        wait.
        """
        self._is_closing = True
        if self._active_calls and isinstance(self._stream, UNIXSocketStream):
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            with anyio.CancelScope(shield=True):
                await self._unused_event.wait()
        await self._stream.aclose()

    @contextlib.contextmanager
    def _in_use(self) -> Generator[None]:
        """Count a call that reads or writes, while the body runs.

        `_unused_event` is set when the last such call has returned after `aclose`. Only an `EndOfStream` or
        `BrokenResourceError` of the body is replaced once `aclose` has begun; any other error leaves the body as it
        is.

        Raises:
            anyio.ClosedResourceError: The stream was closed meanwhile by `aclose`; the error of the body is its
                cause.
        """
        self._active_calls += 1
        try:
            yield
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            if self._is_closing:
                raise anyio.ClosedResourceError from error
            raise
        finally:
            self._active_calls -= 1
            if self._is_closing and not self._active_calls:
                self._unused_event.set()

    def _acknowledge(self) -> None:
        """Set TCP_QUICKACK on the socket, where the system has it and the socket is one of TCP."""
        if self._quick_ack is not None:
            # A socket that is closed meanwhile is the reader's to report.
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, self._quick_ack, 1)


async def connect(host: str, port: int, *, here: bool = False) -> PromptStream:
    """Connect to an adapter over TCP, and return the stream; `here` says that it must be on this machine.

    Raises:
        OSError: Nothing listens there.
        ForeignListener: Another user of this machine does; nothing was sent.
    """
    return await _checked_stream(await anyio.connect_tcp(host, port), f"{host}:{port}", here=here)


async def connect_unix(path: str) -> PromptStream:
    """Connect to an adapter at the Unix socket at `path`, and return the stream.

    Raises:
        OSError: Nothing listens there.
        ForeignListener: Another user does; nothing was sent.
    """
    return await _checked_stream(await anyio.connect_unix(path), path, here=True)


async def _checked_stream(
    stream: SocketStream | UNIXSocketStream, where: str, *, here: bool
) -> PromptStream:
    """Return a stream for a new connection; if another user of this machine has its other end, close it.

    `where` is the address for the error. `here` says that the other end must be on this machine, which is
    checked where the system tells who owns ports. After each error the connection is closed.

    Raises:
        OSError: The connection is to itself, was closed, or its other end is not on this machine though
            `here` is set.
        ForeignListener: Another user has the other end.
    """
    connection = _socket(stream)
    try:
        # Where nothing listens yet, a socket may be given the very port it connects to, and so itself.
        if connection.getsockname() == connection.getpeername():
            raise ConnectionRefusedError
        check_peer(connection, where, here=here)
    except (OSError, ForeignListener):
        await stream.aclose()
        raise
    return PromptStream(stream)


def _socket(stream: SocketStream | UNIXSocketStream) -> socket.socket:
    return stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - this is no database


def lacking_loopback() -> tuple[str, str]:
    """Find out why 127.0.0.1 does not work here; return what is missing, and how to get it.

    The first text stands behind "NAME needs " and ends that sentence, period included. The second begins a
    sentence without ending it ("Bring it up (`ip link set lo up`)"). To tell a loopback interface that is down
    from one without that address, a socket is connected to ::1; call this only where 127.0.0.1 was found not to
    work.
    """
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.connect(("::1", 9))
        address = "127.0.0.1, an address that no interface has here."
        return address, "Give it to one (`ip addr add 127.0.0.1/8 dev lo`)"
    down = "the loopback interface, which is down here."
    return down, "Bring it up (`ip link set lo up`)"


def has_loopback() -> bool:
    """Return whether the system can reach 127.0.0.1; in some containers it cannot.

    Nothing is sent. False only if there is no way to that address; any other error of looking counts as True.

    Raises:
        OSError: No socket can be made.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent; the system only looks for a way.
            probe.connect(("127.0.0.1", 9))
        except OSError as error:
            return error.errno not in (errno.ENETUNREACH, errno.EADDRNOTAVAIL)
    return True


# Connecting to a debug adapter: a starting one, or one of another process.


SECONDS_BETWEEN_ATTEMPTS = 0.03
"""Seconds between two attempts to connect to a starting adapter.

Only a connection shows that it listens, and the first one is often the only one that it accepts.
"""

HostAndPort: TypeAlias = tuple[str, int]
"""A host and a port."""
Connector: TypeAlias = Callable[[], Awaitable[PromptStream]]
"""Connects to a server that dapeer has started."""


async def connect_to(address: HostAndPort, seconds: float) -> PromptStream:
    """Connect to the debug adapter of another process over TCP, and return the stream.

    It is tried once; a refused connection is not tried again, although `seconds` have not passed. `address` is host
    and port, and the host may be another machine. `seconds` is the longest that connecting may take. The caller closes
    the stream.

    Raises:
        AdapterFailed: Nothing accepts a connection there in time, or it is reset.
        ForeignListener: Another user of this machine listens there.
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
    """Return a function that connects to a server that dapeer started; None: the adapter is no server.

    The function is async, takes no arguments, and returns the stream; it raises `OSError` if nothing listens,
    and `ForeignListener` if another user's program does. `values` has the server's `port` on this machine, or
    the path of its `socket`, as the kind of `table` (`tcp` or `unix`) needs. Nothing is connected to yet.
    """
    match table.kind:
        case "tcp":
            return functools.partial(connect, LOOPBACK, int(str(values["port"])), here=True)
        case "unix":
            return functools.partial(connect_unix, str(values["socket"]))
        case _:
            return None


async def stream_of(
    spawned: Spawned, connect_again: Connector | None, seconds: float
) -> StdioStream | PromptStream:
    """Return the stream to an adapter that dapeer started: its stdio, or a connection.

    `connect_again` takes no arguments, and makes one attempt to connect to the adapter as a server: after an
    `OSError` it is called again, for `seconds` at most, until it returns a `PromptStream`; its other errors but
    `ForeignListener` leave this function. With None the adapter uses its stdio, a `StdioStream` is returned at
    once, and `seconds` is not used. The adapter's process is not killed at a failure.

    Raises:
        AdapterFailed: The server does not listen in time, has ended, or another user listens in its place.
        ValueError: `connect_again` is None, and the process was started without pipes.
    """
    if connect_again is None:
        return StdioStream(spawned.process, spawned.stderr_tail)
    try:
        with anyio.fail_after(seconds):
            return await _connect_when_listening(spawned, connect_again)
    except TimeoutError as error:
        raise spawned.failure_error(f"did not listen within {seconds:g} s") from error
    except ForeignListener as error:
        raise AdapterFailed(
            error.problem, "Nothing was sent. Start it again: it then gets another port."
        ) from error


async def _connect_when_listening(spawned: Spawned, connect_once: Connector) -> PromptStream:
    """Connect as soon as the server listens, and return the stream; there is no timeout.

    `spawned` is the server's process. `connect_once` makes one attempt: after an `OSError` it is called again
    a moment later, and any other error of it leaves this function. Once the process has ended, it is called a
    last time, to learn whether another user has the port.

    Raises:
        AdapterFailed: The server's process has ended.
        ForeignListener: Another user listens in the server's place.
    """
    while spawned.process.returncode is None:
        try:
            return await connect_once()
        except OSError:
            with anyio.move_on_after(SECONDS_BETWEEN_ATTEMPTS):
                await spawned.process.wait()
    # Perhaps it has ended because another user has its port: `connect_once` raises that then.
    with contextlib.suppress(OSError):
        await (await connect_once()).aclose()
    raise await spawned.early_end_error()
