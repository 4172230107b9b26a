"""One contract for every transport: our end sends requests, the adapter's end responses and events."""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.streams.stapled import StapledByteStream

from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.decoding import decode
from dapeer.dap.messages import Event, Message, Request, Response
from dapeer.dap.transport import Transport
from tests.neovim.roads import road
from tests.processes import LIMIT
from tests.transports import transport_pair

Pair = AbstractAsyncContextManager[tuple[Transport, Transport]]

ECHO = """
import sys
while data := sys.stdin.buffer.read1():
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""


async def _sockets() -> tuple[SocketStream, SocketStream]:
    left, right = socket.socketpair()
    return await SocketStream.from_socket(left), await SocketStream.from_socket(right)


@asynccontextmanager
async def memory(_: Path) -> AsyncGenerator[tuple[Transport, Transport]]:
    left, right = transport_pair()
    yield left, right
    await left.aclose()
    await right.aclose()


@asynccontextmanager
async def sockets(_: Path) -> AsyncGenerator[tuple[Transport, Transport]]:
    left, right = await _sockets()
    async with left, right:
        yield ContentLengthTransport(left), ContentLengthTransport(right)


ROADS = [
    pytest.param(memory, id="memory"),
    pytest.param(sockets, id="content-length"),
    pytest.param(partial(road, tap=True), id="tap"),
    pytest.param(partial(road, tap=False), id="listeners"),
]


@pytest.fixture(params=ROADS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Pair]:
    """Return what makes a pair of transports: ours, and the adapter's."""
    return lambda: request.param(tmp_path)


def asked(message: Message) -> Message:
    """Return a message without what the channel, or who else knows it, adds to it: what was asked."""
    return replace(message, arguments={}) if isinstance(message, Response) else message


async def test_what_one_sends_the_other_receives_in_order(pair: Callable[[], Pair]) -> None:
    requests = [Request(1, "evaluate", {"expression": "żółw"}), Request(2, "threads")]
    messages: list[Message] = [
        Event("output", {"output": "🐢"}, seq=9),
        Response(2, "threads", success=True, body={"threads": [{"name": "żółw", "id": 1}]}),
        Event("output", {"output": "a\n"}, seq=10),
        Response(1, "evaluate", success=False, message="no żółw here"),
    ]
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        for request in requests:
            await left.send(request)
        assert [await right.receive() for _ in requests] == requests
        for message in messages:
            await right.send(message)
        received = [asked(await left.receive()) for _ in messages]
    assert [replace(message, seq=0) for message in received] == [
        replace(message, seq=0) for message in messages
    ]


async def test_both_directions_work_at_once(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        await left.send(Request(1, "threads"))
        await right.send(Event("initialized"))
        assert await left.receive() == Event("initialized")
        assert await right.receive() == Request(1, "threads")


async def test_a_message_of_20_megabytes_arrives_whole(pair: Callable[[], Pair]) -> None:
    event = Event("output", {"output": "z" * 20_000_000})
    async with asyncio.timeout(LIMIT), pair() as (left, right), asyncio.TaskGroup() as tasks:
        received = tasks.create_task(left.receive())
        await right.send(event)
        assert await received == event


async def test_many_tasks_may_send_at_once(pair: Callable[[], Pair]) -> None:
    requests = [Request(seq, "evaluate", {"expression": "e" * 100_000}) for seq in range(1, 21)]
    async with asyncio.timeout(LIMIT), pair() as (left, right), asyncio.TaskGroup() as tasks:
        for request in requests:
            tasks.create_task(left.send(request))
        received = [await right.receive() for _ in requests]
    assert sorted(received, key=lambda message: message.seq) == requests


# nvim-dap cannot decode them, so its listeners never see such a message.
@pytest.mark.parametrize("pair", ROADS[:3], indirect=True)
async def test_lone_surrogates_arrive_as_text_that_can_be_encoded(
    pair: Callable[[], Pair],
) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        await right.send(Event("output", {"output": "a\udcffb"}))
        event = await left.receive()
    assert isinstance(event, Event)
    assert event.body["output"] == r"a\xffb"


async def test_receive_ends_when_the_other_end_is_gone(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        await right.send(Event("terminated"))
        await right.aclose()
        assert await left.receive() == Event("terminated")
        with pytest.raises(anyio.EndOfStream):
            await left.receive()
        with pytest.raises(anyio.EndOfStream):
            await left.receive()


@pytest.mark.parametrize("tap", [True, False], ids=["tap", "listeners"])
async def test_the_last_words_come_before_the_end_when_neovim_was_busy(
    tap: bool, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT), road(tmp_path, tap=tap) as (left, right):
        await right.end_with(Event("terminated"))
        assert await left.receive() == Event("terminated")
        with pytest.raises(anyio.EndOfStream):
            await left.receive()


async def test_a_waiting_receive_ends_when_the_other_end_goes(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_outcome(left))
        await anyio.lowlevel.checkpoint()
        await right.aclose()
        assert await waiting in (anyio.EndOfStream, anyio.ClosedResourceError)


async def test_a_waiting_receive_ends_when_its_own_end_is_closed(
    pair: Callable[[], Pair],
) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, _), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_outcome(left))
        await anyio.lowlevel.checkpoint()
        await left.aclose()
        assert await waiting in (anyio.EndOfStream, anyio.ClosedResourceError)


async def test_sending_after_close_says_so(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, _):
        await left.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await left.send(Request(1, "late"))


async def test_sending_to_an_end_that_is_gone_breaks(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        await right.aclose()
        with pytest.raises(anyio.BrokenResourceError):
            await _send_for_ever(left)


async def test_closing_twice_is_closing_once(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, _):
        await left.aclose()
        await left.aclose()


async def test_receive_that_was_cancelled_loses_no_message(pair: Callable[[], Pair]) -> None:
    async with asyncio.timeout(LIMIT), pair() as (left, right):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await left.receive()
        await right.send(Event("output"))
        assert await left.receive() == Event("output")


async def test_sending_after_the_end_of_our_direction_says_so() -> None:
    left, right = await _sockets()
    async with left, right:
        transport = ContentLengthTransport(left)
        await transport.send_eof()
        with pytest.raises(anyio.ClosedResourceError):
            await transport.send(Request(1, "disconnect"))


async def test_noise_and_torn_chunks_on_the_wire_do_no_harm() -> None:
    left, right = await _sockets()
    body = b'{"type":"event","event":"ok","seq":1}'
    wire = b"Warning: no JIT\r\n\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    async with asyncio.timeout(LIMIT), left, right:
        transport = ContentLengthTransport(right)
        for byte in wire:
            await left.send(bytes([byte]))
        assert await transport.receive() == decode(body)


async def test_a_frame_that_is_no_message_is_skipped() -> None:
    left, right = await _sockets()
    async with asyncio.timeout(LIMIT), left, right:
        await left.send(b"Content-Length: 4\r\n\r\nnullContent-Length: 3\r\n\r\n{{{")
        await ContentLengthTransport(left).send(Event("ok", seq=1))
        assert await ContentLengthTransport(right).receive() == Event("ok", seq=1)


async def test_an_end_in_the_middle_of_a_message_is_an_end() -> None:
    left, right = await _sockets()
    async with asyncio.timeout(LIMIT), left, right:
        await left.send(b'Content-Length: 100\r\n\r\n{"type":')
        await left.aclose()
        with pytest.raises(anyio.EndOfStream):
            await ContentLengthTransport(right).receive()


async def test_the_pipes_of_a_process_carry_messages_both_ways() -> None:
    request = Request(1, "evaluate", {"expression": "e" * 1_000_000})
    async with (
        asyncio.timeout(LIMIT),
        await anyio.open_process([sys.executable, "-c", ECHO]) as echo,
    ):
        assert echo.stdin is not None
        assert echo.stdout is not None
        transport = ContentLengthTransport(StapledByteStream(echo.stdin, echo.stdout))
        async with asyncio.TaskGroup() as tasks:
            received = tasks.create_task(transport.receive())
            await transport.send(request)
            assert await received == request
        await echo.stdin.aclose()
        with pytest.raises(anyio.EndOfStream):
            await transport.receive()


async def test_sending_to_a_process_that_is_gone_breaks() -> None:
    async with asyncio.timeout(LIMIT), await anyio.open_process([sys.executable, "-c", ""]) as gone:
        assert gone.stdin is not None
        assert gone.stdout is not None
        await gone.wait()
        transport = ContentLengthTransport(StapledByteStream(gone.stdin, gone.stdout))
        with pytest.raises(anyio.BrokenResourceError):
            await _send_for_ever(transport)


async def _send_for_ever(transport: Transport) -> None:
    """Send until it fails: a kernel's buffer may take the first ones."""
    while True:
        await transport.send(Request(1, "evaluate", {"expression": "x" * 100_000}))


async def _outcome(transport: Transport) -> type[Exception]:
    try:
        await transport.receive()
    except (anyio.EndOfStream, anyio.ClosedResourceError) as error:
        return type(error)
    raise AssertionError
