"""An MCP client by hand, over the stdio of a server process: every byte is the test's own."""

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from dapeer.mcp.data_extension import EXTENSION
from tests.json_types import Json
from tests.processes import LIMIT
from tests.programs import ROOT


class Wire:
    """One server process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    async def send(self, message: Json | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._stdin.write(line + b"\n")
        await self._stdin.drain()

    async def line(self) -> bytes:
        """Return the next line of stdout."""
        return await self._stdout.readline()

    async def receive(self) -> Json:
        """Return the next message; whatever is on stdout must be one."""
        return json.loads(await self.line())

    async def ask(self, message: Json) -> Json:
        """Send a request and return its response; notifications before it are dropped."""
        await self.send(message)
        while (answer := await self.receive()).get("id") != message["id"]:
            pass
        return answer

    async def handshake(self, version: str = "2025-11-25", *, data: bool = True) -> Json:
        """Open the connection and return the InitializeResult."""
        answer = await self.ask(request("initialize", 0, **opening(version, data=data)))
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    async def end(self) -> int:
        """Close stdin and return the exit code."""
        self._stdin.close()
        return await self.process.wait()

    async def signal(self, number: signal.Signals) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return await self.process.wait()

    async def logged(self, words: str) -> str:
        """Return the next line of stderr that holds these words; it must be piped."""
        assert self.process.stderr
        while line := (await self.process.stderr.readline()).decode():
            if words in line:
                return line
        raise EOFError(words)

    async def rest(self) -> bytes:
        """Return what is still on stdout, once the process has ended."""
        return await self._stdout.read()


def request(method: str, number: int, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: int, name: str, **arguments: object) -> Json:
    return request("tools/call", number, name=name, arguments=arguments)


def opening(version: str, *, data: bool = True) -> Json:
    """Return what a connection is opened with; without `data` as an ordinary client does it."""
    return {
        "protocolVersion": version,
        "capabilities": {"extensions": {EXTENSION: {}}} if data else {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }


@asynccontextmanager
async def started(*arguments: str, cwd: Path = ROOT, stderr: bool = False) -> AsyncGenerator[Wire]:
    """Start a server process; its stderr is the test's own unless it is asked for."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if stderr else None,
        limit=1 << 27,
        cwd=cwd,
    )
    try:
        async with asyncio.timeout(LIMIT):
            yield Wire(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def serving(
    *arguments: str, cwd: Path = ROOT, stderr: bool = False
) -> AsyncGenerator[tuple[Wire, str]]:
    """Start `dapeer serve` and give its address."""
    async with started("dapeer", "serve", *arguments, cwd=cwd, stderr=stderr) as wire:
        yield wire, f"http://127.0.0.1:{await port_of(wire)}"


async def port_of(wire: Wire) -> int:
    line = (await wire.line()).decode()
    told = re.fullmatch(r"MCP server listening on port (\d+)\n", line)
    assert told, line
    return int(told[1])
