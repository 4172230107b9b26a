"""Sockets to an adapter."""

import asyncio
import socket
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute

from dapeer.adapters.process.streams import connect, connect_unix, free_port
from tests.processes import LIMIT

LOOPBACK = "127.0.0.1"


async def test_a_socket_neither_delays_nor_lets_others_delay() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        stream = await connect(*server.getsockname())
        theirs, _ = server.accept()
        ours: socket.socket = stream.extra(SocketAttribute.raw_socket)  # noqa: S610
        assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        if hasattr(socket, "TCP_QUICKACK"):
            ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            theirs.sendall(b"x")
            assert await stream.receive() == b"x"
            assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK)
        theirs.close()
        await stream.aclose()


async def test_a_stream_tells_whether_it_was_spoken_to() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        stream = await connect(*server.getsockname())
        theirs, _ = server.accept()
        assert not stream.has_received
        await stream.send(b"ping")
        assert theirs.recv(4) == b"ping"
        theirs.sendall(b"pong")
        async with asyncio.timeout(LIMIT):
            assert await stream.receive() == b"pong"
            assert stream.has_received
            await stream.send_eof()
            assert theirs.recv(1) == b""
            theirs.close()
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()
        await stream.aclose()


async def test_nobody_listens_at_a_free_port() -> None:
    with pytest.raises(OSError, match="connect"):
        await connect(LOOPBACK, free_port(LOOPBACK))


async def test_a_unix_socket_that_closes_as_bytes_arrive_ends_its_reader_and_nothing_else(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "adapter")
    ends: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, told: ends.append(repr(told["exception"])))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        stream = await connect_unix(path)
        theirs, _ = server.accept()
        with theirs:
            async with asyncio.timeout(LIMIT), anyio.create_task_group() as tasks:

                async def read() -> None:
                    try:
                        while True:
                            await stream.receive()
                    except anyio.ClosedResourceError:
                        ends.append("closed")

                tasks.start_soon(read)
                await anyio.wait_all_tasks_blocked()
                # In one turn of the loop the bytes are there and the stream closes.
                theirs.sendall(b"x")
                tasks.start_soon(stream.aclose)
    assert ends == ["closed"]
