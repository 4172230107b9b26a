"""Definitions of adapters that are scripted, and the little that a test says to an adapter."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.definition import Definition, load
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from dapeer.dap.messages import Body, Event, Message, Request
from dapeer.dap.transport import Transport
from tests.processes import LIMIT
from tests.programs import ROOT

FAKE = str(ROOT / "tests" / "fake_adapter.py")


def toy(folder: Path, command: Sequence[str], kind: str = "stdio", more: str = "") -> Definition:
    """Define an adapter that is started by a command; `more` are further tables."""
    path = folder / "toy.toml"
    words = json.dumps(list(command)) if command else "[]"
    path.write_text(f"""
        id = "toy"
        title = "The toy"
        adapter_id = "toy"
        [transport]
        kind = "{kind}"
        command = {words}
        {more}
    """)
    return load(path)


def scripted(
    folder: Path, script: Mapping[str, Any], kind: str = "stdio", shell: str = ""
) -> Definition:
    """Define the scripted adapter; `shell` is what a shell does before it becomes the adapter."""
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    command = [sys.executable, FAKE, str(path), *(["--port", "${port}"] if kind == "tcp" else [])]
    if shell:
        command = ["sh", "-c", f'{shell}\nexec "$@"', "sh", *command]
    return toy(folder, command, kind)


@asynccontextmanager
async def channel(transport: Transport, events: list[Event]) -> AsyncGenerator[Channel]:
    """Speak to an adapter; its events are added to the list."""

    def observe(message: Message) -> None:
        if isinstance(message, Event):
            events.append(message)

    async def answer(request: Request) -> Body:
        raise AssertionError(request)

    opened = Channel(transport, observe, answer)
    running = asyncio.create_task(opened.run())
    try:
        yield opened
    finally:
        running.cancel()
        await asyncio.wait([running])


async def initialize(transport: Transport) -> tuple[Body, list[Event]]:
    """Return the capabilities of an adapter, and the events it has sent meanwhile."""
    events: list[Event] = []
    async with channel(transport, events) as opened:
        arguments = {**CLIENT, "adapterID": "toy"}
        return await opened.request("initialize", arguments, seconds=LIMIT), events


async def debuggee(transport: Transport) -> int:
    """Return the debuggee that a script has started."""
    _, events = await initialize(transport)
    return next(e.body["systemProcessId"] for e in events if e.event == "process")


def alive(pid: int) -> bool:
    """Whether a process that no parent has forgotten runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
