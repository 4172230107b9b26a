"""`dapeer stdio` as a process: who answers, and what the server behind the front knows."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.server import Server

from dapeer.mcp.front import Handover
from dapeer.mcp.transports.jsonl import serve
from tests.mcp.wire import Wire, call, opening, request, started
from tests.processes import LIMIT
from tests.programs import ROOT
from tools.known_answers import LISTS, line, modern

OPENING = line(request("initialize", 0, **opening("2025-06-18")))
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


OLDER = (OPENING, INITIALIZED, *(line(request(each, 1)) for each in ("ping", *LISTS)))
NEWEST = tuple(line(modern(each, 1)) for each in ("server/discover", *LISTS, "tools/list"))


@pytest.mark.parametrize("asked", [OLDER, NEWEST], ids=["older", "newest"])
def test_a_client_that_only_looks_never_loads_the_libraries_of_the_server(
    asked: tuple[bytes, ...],
) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "dapeer", "stdio"]
    done = subprocess.run(
        command, input=b"".join(asked), capture_output=True, check=True, cwd=ROOT, timeout=LIMIT
    )
    answered = [json.loads(each) for each in done.stdout.splitlines()]
    assert [set(each) for each in answered] == [{"jsonrpc", "id", "result"}] * 6
    loaded = {each.rpartition(b"|")[2].strip() for each in done.stderr.splitlines()}
    assert b"dapeer.mcp.front" in loaded
    assert not loaded & {b"mcp", b"pydantic", b"anyio", b"asyncio", b"argparse"}


async def looked(wire: Wire) -> None:
    """Do what hosts do before a model's first call."""
    await wire.handshake()
    for number, method in enumerate(LISTS, 1):
        assert "result" in await wire.ask(request(method, number))


async def test_the_server_behind_knows_the_client_and_repeats_no_answer() -> None:
    async with started("dapeer", "stdio") as wire:
        await looked(wire)
        await wire.send(call(7, "dap_status"))
        answer = await wire.receive()
        assert (answer["id"], "structuredContent" in answer["result"]) == (7, True)
        assert await wire.end() == 0
        assert await wire.rest() == b""


async def test_the_server_behind_knows_a_client_of_the_newest_protocol() -> None:
    async with started("dapeer", "stdio", "--nvim", "none") as wire:
        for number, method in enumerate(("server/discover", *LISTS), 1):
            assert "result" in await wire.ask(modern(method, number))
        asked = modern("tools/call", 7)
        asked["params"] |= {"name": "dap_status", "arguments": {}}
        await wire.send(asked)
        answer = await wire.receive()
        assert (answer["id"], "structuredContent" in answer["result"]) == (7, True)
        assert await wire.end() == 0
        assert await wire.rest() == b""


async def test_a_first_call_loads_nothing_that_a_server_may_never_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    async with started("dapeer", "stdio", "--nvim", "none", stderr=True) as wire:
        assert wire.process.stderr
        stderr = asyncio.create_task(wire.process.stderr.read())
        await looked(wire)
        answer = await wire.ask(call(7, "dap_status"))
        assert answer["result"]["structuredContent"]["sessions"] == []
        assert await wire.end() == 0
        loaded = {each.rpartition(b"|")[2].strip().decode() for each in (await stderr).splitlines()}
    assert "mcp.server.lowlevel.server" in loaded
    assert not loaded & {"pynvim", "websockets"}


def doors(home: Path) -> list[Path]:
    return [*home.rglob("awaits-nvim.*.sock")]


async def test_a_neovim_can_knock_as_soon_as_the_client_has_an_answer(tmp_path: Path) -> None:
    async with started("dapeer", "stdio") as wire:
        assert "result" in await wire.ask(request("initialize", 0, **opening("2025-06-18")))
        assert doors(tmp_path)


async def test_a_strange_opening_is_answered_by_the_whole_server() -> None:
    async with started("dapeer", "stdio", "--nvim", "none", "--no-bridge") as wire:
        answer = await wire.ask(request("initialize", 0, capabilities={}))
        assert answer["error"]["message"] == "Invalid request parameters"
        assert (await wire.ask(request("ping", 1)))["result"] == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_front_which_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    async def ended() -> int:
        async with started("dapeer", "stdio") as wire:
            await looked(wire)
            return await wire.signal(number)

    assert asyncio.run(ended()) == 0
    assert not [*tmp_path.rglob("*.sock")]


async def test_a_client_is_told_to_look_again_if_the_server_behind_has_another_list() -> None:
    ours, theirs = socket.socketpair()
    served = await asyncio.open_connection(sock=theirs)
    reader, writer = await asyncio.open_connection(sock=ours)
    told = b'{"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}\n'
    asked = line(request("prompts/list", 1))
    first, second = (line(request("ping", number)) for number in (2, 3))
    heard = Handover(
        [(OPENING, b"{}"), (INITIALIZED, b""), (asked, told)], first + second[:9], has_left=False
    )
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        tasks.create_task(serve(Server("behind"), *served, heard))
        writer.write(second[9:])
        news, *pongs = [json.loads(await reader.readline()) for _ in range(3)]
        writer.close()
    served[1].close()
    assert news == {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}
    assert [each["id"] for each in pongs] == [2, 3]


@pytest.mark.parametrize("reads", [True, False])
def test_a_client_that_closes_its_input_with_answers_unread_ends_the_server(reads: bool) -> None:
    many = b"".join(line(request("tools/list", number)) for number in range(1, 9))
    process = subprocess.Popen(
        [sys.executable, "-m", "dapeer", "stdio", "--no-bridge", "--nvim", "none"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin
    assert process.stdout
    with process:
        process.stdin.write(OPENING + INITIALIZED + many)
        process.stdin.close()
        # Who reads late has all of them.
        answers: list[bytes] = process.stdout.read().splitlines() if reads else []
        assert process.wait(LIMIT) == 0
    assert len(answers) == (9 if reads else 0)
