"""GDB answers requests that come in the moment in which it starts the program."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.streams.stapled import StapledByteStream

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.placeholders import fill
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.messages import Request, Response
from tests.languages import named, ready
from tests.processes import LIMIT
from tests.programs import compiled

STARTS = 6
"""Each of which hung in two of three tries, in a GDB as it comes."""
ASKED: Mapping[str, Mapping[str, object]] = {
    "initialize": {"adapterID": "gdb"},
    "launch": {},
    "configurationDone": {},
    "threads": {},
}
"""Requests, in this order; `launch` also names the program."""


async def test_requests_that_come_right_behind_the_start_are_answered(tmp_path: Path) -> None:
    ready(named("gdb"))
    endless = str(compiled("endless.c", tmp_path))
    async with asyncio.timeout(LIMIT):
        told = await asyncio.gather(*(threads_at_the_start(endless) for _ in range(STARTS)))
    assert all(each.success for each in told), told


async def threads_at_the_start(path: str) -> Response:
    """Start a program and ask for its threads in the same breath; return the answer."""
    gdb = await anyio.open_process(command(), stderr=DEVNULL)
    assert gdb.stdin
    assert gdb.stdout
    transport = ContentLengthTransport(StapledByteStream(gdb.stdin, gdb.stdout))
    try:
        for number, (name, arguments) in enumerate(ASKED.items(), 1):
            given = {**arguments, "program": path} if name == "launch" else arguments
            await transport.send(Request(number, name, given))
        while True:
            match await transport.receive():
                case Response(command="threads") as answer:
                    return answer
                case _:
                    pass
    finally:
        # Linux kills what GDB debugs with it.
        gdb.kill()
        await gdb.aclose()


def command() -> list[str]:
    """Return the command that dapeer starts GDB with, without a terminal."""
    definition = named("gdb").definition
    found = detect(definition).found
    parts = [
        fill(part, {**definition.values({}), **found})
        for part in definition.transport_of("launch", {}).command
    ]
    return [part for part in parts if isinstance(part, str)]
