"""A server process, as an MCP client sees it: over the SDK's own stdio client."""

import os
import re
import sys
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import cast

from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from tests.harness import DATA, text
from tests.json_types import Json
from tests.processes import descendants
from tests.programs import ROOT
from tools.bench.adapter import environment

MARK = "DAPEER_BENCH"

STDIO = ("dapeer", "stdio", "--no-bridge")
DAPEER = (*STDIO, "--nvim", "none")
"""Also where a person has a Neovim in this folder."""
NOTHING = ("tools.bench.noop",)
RELAYED = ("tools.bench.relay",)
RELAYED_BY_NEOVIM = ("tools.bench.relay_neovim",)
"""Takes the socket of one."""


class Served:
    """A server that has answered `initialize`, and its client."""

    def __init__(self, client: Client, mark: str) -> None:
        self.client = client
        self.calls = 0
        """Tools called so far."""
        self._mark = mark

    async def call(self, tool: str, **arguments: object) -> CallToolResult:
        """Call a tool, which must succeed."""
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text(result)
        return result

    async def ask(self, tool: str, **arguments: object) -> Json:
        """Call a tool and return its structured content."""
        return cast("Json", (await self.call(tool, **arguments)).structured_content)

    def peak_memory(self) -> float:
        """Return the most physical memory that the process has had so far, in MiB."""
        return self._status("VmHWM")

    def memory(self) -> float:
        """Return the physical memory that the process has now, in MiB."""
        return self._status("VmRSS")

    @cached_property
    def _pid(self) -> int:
        """Its process; a search takes milliseconds, which are not those of a server's start."""
        return _process_of(self._mark)

    def _status(self, name: str) -> float:
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        assert found
        return int(found[1]) / 1024


@asynccontextmanager
async def served(
    *module: str, data: bool = False, mode: ConnectMode = "legacy", **more: str
) -> AsyncGenerator[Served]:
    """Start `python -m …` as a server and connect to it, with the handshake of today's clients, or in another `mode` of the SDK's client.

    It reads text, as assistants do, or asks for the `data` of answers, too. `more`: of the environment.
    """
    mark = uuid.uuid4().hex
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", *module],
        cwd=ROOT,
        env={**environment(), **more, MARK: mark},
    )
    asks = DATA if data else ()
    async with Client(stdio_client(parameters), mode=mode, extensions=asks) as client:
        yield Served(client, mark)


def _process_of(mark: str) -> int:
    """Return the process that was started with a mark; the SDK does not tell which."""
    needle = f"{MARK}={mark}".encode()
    return next(
        pid
        for pid in descendants(os.getpid())
        if needle in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    )
