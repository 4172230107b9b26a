"""Whether a mutant still debugs with a bare client, and whether dapeer debugs with it then."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from dapeer.base.errors import DapeerError
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from dapeer.dap.messages import Body, Event, Message, Request
from tests.adapters.toys import toy
from tests.harness import ask, client, read

PROGRAM = """\
def total(prices):
    count = len(prices)
    return sum(prices) / count


print(total([3, 4, 5]))
"""
LINE = 3
LOCALS = {"prices": "[3, 4, 5]", "count": "3"}
SECONDS = 20.0


@contextlib.contextmanager
def importing_from(folder: Path) -> Generator[None]:
    """Have adapters that start now import debugpy from a folder."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(folder)
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


async def debugs_bare(folder: Path) -> dict[str, str] | None:
    """Return the local variables that a bare client gets with the debugpy in a folder; None: it does not stop, or gets no frames."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    adapter = toy(folder, [sys.executable, "-P", "-m", "debugpy.adapter"])
    reaper = Reaper()
    try:
        with importing_from(folder), contextlib.suppress(DapeerError, TimeoutError):
            async with (
                asyncio.timeout(SECONDS),
                open_adapter(adapter, "launch", {}, reaper) as opened,
            ):
                return await stopped(opened.transport, program)
    finally:
        await reaper.aclose()
    return None


async def stopped(transport: object, program: Path) -> dict[str, str] | None:
    """Launch the program over a transport; return its local variables where it stops, as far as they are told."""
    events: asyncio.Queue[Event] = asyncio.Queue()

    def observe(message: Message) -> None:
        if isinstance(message, Event):
            events.put_nowait(message)

    async def answer(request: Request) -> Body:
        raise AssertionError(request)

    channel = Channel(transport, observe, answer)  # type: ignore[arg-type]
    receiving = asyncio.create_task(channel.run())
    launched: list[asyncio.Task[Body]] = []
    try:
        await channel.request("initialize", {**CLIENT, "adapterID": "debugpy"}, seconds=SECONDS)
        arguments = {"program": str(program), "console": "internalConsole"}
        launched.append(asyncio.create_task(channel.request("launch", arguments, seconds=SECONDS)))
        await seen(events, "initialized")
        breakpoints = {"source": {"path": str(program)}, "breakpoints": [{"line": LINE}]}
        await channel.request("setBreakpoints", breakpoints, seconds=SECONDS)
        await channel.request("configurationDone", {}, seconds=SECONDS)
        await launched[0]
        stop = await seen(events, "stopped")
        thread = {"threadId": stop.body["threadId"]}
        stack = await channel.request("stackTrace", thread, seconds=SECONDS)
        [frame, *_] = stack["stackFrames"]
        return await local_variables(channel, frame["id"]) if frame["line"] == LINE else None
    finally:
        receiving.cancel()
        await asyncio.gather(receiving, *launched, return_exceptions=True)


async def local_variables(channel: Channel, frame: int) -> dict[str, str]:
    """Return the local variables of a frame; those of a debugpy that cannot tell them are none."""
    try:
        scopes = await channel.request("scopes", {"frameId": frame}, seconds=SECONDS)
        reference = {"variablesReference": scopes["scopes"][0]["variablesReference"]}
        told = await channel.request("variables", reference, seconds=SECONDS)
    except DapeerError:
        return {}
    return {each["name"]: each["value"] for each in told["variables"]}


async def seen(events: asyncio.Queue[Event], name: str) -> Event:
    """Return the next event of a name."""
    while True:
        event = await events.get()
        if event.event == name:
            return event


async def problem_with(folder: Path, bare: Mapping[str, str]) -> str:
    """Return what dapeer cannot show of the program with the debugpy in a folder; empty if nothing.

    Where a bare client gets no local variables, dapeer need not have them either.
    """
    program = folder / "program.py"
    program.write_text(PROGRAM)
    with importing_from(folder):
        async with asyncio.timeout(4 * SECONDS), client(folder) as c:
            stop = await ask(
                c, "dap_run", program=str(program), breakpoints=[{"filename": str(program), "line": LINE}],
                python=sys.executable,
            )  # fmt: skip
            text = await read(c, "dap_snapshot") if stop.get("state") == "stopped" else ""
    if stop.get("state") != "stopped" or stop.get("line") != LINE:
        return f"it did not stop: {stop}"
    if any(bare.get(each) != value for each, value in LOCALS.items()):
        return ""
    shown = {each: stop["locals"].get(each) for each in LOCALS}
    if shown != LOCALS or "<error>" in f"{stop}{text}":
        return f"its locals are not shown: {stop}"
    return ""
