"""GDB answers requests that come in the moment in which it starts the program."""

import asyncio
import json
from pathlib import Path
from subprocess import PIPE

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.placeholders import fill
from tests.json_types import Json
from tests.languages import named, ready
from tests.processes import LIMIT
from tests.programs import compiled

STARTS = 6
"""Each of which hung in two of three tries, in a GDB as it comes."""


async def test_requests_that_come_right_behind_the_start_are_answered(tmp_path: Path) -> None:
    ready(named("gdb"))
    endless = str(compiled("endless.c", tmp_path))
    async with asyncio.timeout(LIMIT):
        told = await asyncio.gather(*(threads_at_the_start(endless) for _ in range(STARTS)))
    assert all(each["success"] for each in told), told


async def threads_at_the_start(path: str) -> Json:
    """Start a program and ask for its threads in the same breath; return the answer."""
    gdb = await asyncio.create_subprocess_exec(*command(), stdin=PIPE, stdout=PIPE)
    assert gdb.stdin
    assert gdb.stdout
    asked = {
        "initialize": {"adapterID": "gdb"},
        "launch": {"program": path},
        "configurationDone": {},
        "threads": {},
    }
    try:
        gdb.stdin.write(b"".join(map(framed, range(1, 5), asked, asked.values())))
        while (answer := await message(gdb.stdout)).get("request_seq") != len(asked):
            pass
    finally:
        # Linux kills what GDB debugs with it.
        gdb.kill()
        await gdb.communicate()
    return answer


def command() -> list[str]:
    """Return the command that dapeer starts GDB with, without a terminal."""
    definition = named("gdb").definition
    found = detect(definition).found
    parts = [
        fill(part, {**definition.values({}), **found})
        for part in definition.transport_of("launch", {}).command
    ]
    return [part for part in parts if isinstance(part, str)]


def framed(number: int, name: str, arguments: Json) -> bytes:
    request = {"seq": number, "type": "request", "command": name, "arguments": arguments}
    body = json.dumps(request).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def message(stream: asyncio.StreamReader) -> Json:
    header = await stream.readuntil(b"\r\n\r\n")
    return json.loads(await stream.readexactly(int(header.partition(b":")[2])))
