"""The stdio server as a process: what is on the wire, and how it ends."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest
from mcp import types as t
from mcp.server import Server, ServerRequestContext

from dapeer.mcp.transports.jsonl import LONGEST_LINE, ErrorResponse, parse_message, serve
from tests.mcp.small import run
from tests.mcp.wire import call, opening, request, started
from tests.processes import LIMIT

SMALL_SERVER = "tests.mcp.small"


async def test_prints_of_the_server_and_of_its_children_never_reach_the_wire() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        await wire.send(call(2, "small_print"))
        answer = await wire.receive()
        assert answer["id"] == 2
        assert answer["result"]["content"][0]["text"] == "the child ended with 0"
        assert await wire.end() == 0
        assert await wire.rest() == b""


BAD_LINES: tuple[tuple[bytes, int, object], ...] = (
    (b"{not json", t.PARSE_ERROR, None),
    (b"\xff\xfe", t.PARSE_ERROR, None),
    (b"[" * 100_000, t.PARSE_ERROR, None),
    (b"[]", t.INVALID_REQUEST, None),
    (b'{"id": 7, "method": 1}', t.INVALID_REQUEST, 7),
    (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', t.INVALID_REQUEST, "x"),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', t.INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', t.INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', t.INVALID_REQUEST, None),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', t.INVALID_REQUEST, None),
    (b'"' + b"x" * (LONGEST_LINE + (1 << 20)) + b'"', t.PARSE_ERROR, None),
)


async def test_a_bad_line_is_answered_and_the_connection_goes_on() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        for line, code, number in BAD_LINES:
            await wire.send(line)
            answer = await wire.receive()
            assert (answer["error"]["code"], answer["id"]) == (code, number), line[:50]
            await wire.send(b"")
            assert (await wire.ask(request("ping", 2)))["result"] == {}


HALF_A_PAIR = b'{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": {"a": "\\ud800"}}'


def test_half_a_surrogate_pair_is_named() -> None:
    complaint = parse_message(HALF_A_PAIR)
    assert isinstance(complaint, ErrorResponse)
    assert complaint.error.id == 8
    assert "holds half of a surrogate pair" in complaint.error.error.message
    assert not isinstance(
        parse_message(HALF_A_PAIR.replace(b"d800", b"d83d\\ude00")), ErrorResponse
    )


async def test_a_clients_error_reaches_who_has_asked_the_client() -> None:
    async def ask_back(
        context: ServerRequestContext[Any, Any], _params: t.PaginatedRequestParams | None
    ) -> t.ListToolsResult:
        await context.session.send_ping()
        return t.ListToolsResult(tools=[])

    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    served = await asyncio.open_connection(sock=theirs)
    server = Server("asks", on_list_tools=ask_back)
    refusal = {"code": -1, "message": "not now"}
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        tasks.create_task(serve(server, *served))
        writer.write(json.dumps(request("initialize", 1, **opening("2025-11-25"))).encode())
        writer.write(b'\n{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        await reader.readline()
        writer.write(json.dumps(request("tools/list", 2)).encode() + b"\n")
        asked = json.loads(await reader.readline())
        refused = {"jsonrpc": "2.0", "id": asked["id"], "error": refusal}
        writer.write(json.dumps(refused).encode() + b"\n")
        answer = json.loads(await reader.readline())
        writer.close()
    served[1].close()
    assert (answer["id"], answer["error"]["message"]) == (2, "not now")


async def test_a_line_of_many_megabytes_is_read_and_answered() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        answer = await wire.ask(call(2, "small_add", a=1, unknown="x" * (20 << 20)))
        assert answer["result"]["isError"]


def test_a_blank_line_is_nothing() -> None:
    assert parse_message(b"  \n") is None


async def test_calls_do_not_wait_for_each_other() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        await wire.send(call(2, "small_waiting", tag="overtaken"))
        await wire.send(call(3, "small_wait", tag="overtaken"))
        assert (await wire.receive())["id"] == 2
        assert (await wire.ask(request("ping", 4)))["result"] == {}


async def test_the_end_of_stdin_ends_the_server_in_the_middle_of_a_call() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        await wire.send(call(2, "small_wait", tag="eof"))
        await wire.ask(call(3, "small_waiting", tag="eof"))
        assert await wire.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_in_the_middle_of_a_call(number: signal.Signals) -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        await wire.send(call(2, "small_wait", tag="signal"))
        await wire.ask(call(3, "small_waiting", tag="signal"))
        assert await wire.signal(number) == 0


async def test_a_signal_ends_a_server_that_has_heard_nothing_yet() -> None:
    async with started("dapeer", "--log-level", "info", "stdio", stderr=True) as wire:
        await wire.logged("serving")
        assert await wire.signal(signal.SIGTERM) == 0


async def test_a_client_that_reads_nothing_does_not_stop_the_end() -> None:
    async with started(SMALL_SERVER) as wire:
        await wire.handshake()
        for number in range(2, 400):
            await wire.send(request("tools/list", number))
        assert await wire.signal(signal.SIGTERM) == 0


def test_requests_from_a_file_and_no_client_end_cleanly() -> None:
    done = subprocess.run(
        [sys.executable, "-m", SMALL_SERVER],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_real_server_lists_its_tools_over_pipes() -> None:
    done = run("stdio", given="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


async def test_one_socket_for_both_directions_is_a_wire_too() -> None:
    """As sshd gives it to a command without a terminal."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", SMALL_SERVER, stdin=theirs.fileno(), stdout=theirs.fileno()
        )
    reader, writer = await asyncio.open_connection(sock=ours)
    async with asyncio.timeout(LIMIT):
        for number in (1, 2):
            writer.write(
                json.dumps(request("initialize", number, **opening("2025-11-25"))).encode()
            )
            writer.write(b"\n")
            assert json.loads(await reader.readline())["id"] == number
        writer.close()
        assert await process.wait() == 0


async def test_a_terminal_is_left_as_it_was_found() -> None:
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", SMALL_SERVER, stdin=theirs, stdout=theirs, stderr=theirs
    )
    try:
        os.write(ours, b"no json\n")
        async with asyncio.timeout(LIMIT):
            await shown(ours, b"This is not JSON")
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0
        assert os.get_blocking(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


async def shown(terminal: int, words: bytes) -> None:
    """Wait until a terminal shows these words."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(terminal), "rb", 0)
    )
    with contextlib.closing(transport):
        await reader.readuntil(words)
