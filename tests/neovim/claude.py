"""A CLI as Claude Code's is on the wire: it finds a Neovim by its lock file, and speaks MCP on a WebSocket."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.json_types import Json
from tests.processes import LIMIT

HEADER = "X-Claude-Code-Ide-Authorization"


def locks(home: Path) -> list[Path]:
    """Return the lock files at a home."""
    return sorted((home / ".claude" / "ide").glob("*.lock"))


def lock(home: Path) -> tuple[int, Json]:
    """Return the port and what the only lock file says."""
    [path] = locks(home)
    return int(path.stem), json.loads(path.read_text(encoding="utf-8"))


class Cli:
    """One connected CLI."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self.told: asyncio.Queue[Json] = asyncio.Queue()
        """The notifications that have come, but for those that repeat the last one."""
        self._last: Json = {}
        self._repeated = asyncio.Event()

    async def read(self) -> None:
        """Take what comes."""
        async for text in self._connection:
            message: Json = json.loads(text)
            if "id" in message:
                self._answers[message["id"]].set_result(message)
            elif message == self._last:
                self._repeated.set()
            else:
                self._last = message
                self.told.put_nowait(message)

    def asks(self, method: str, params: Json) -> asyncio.Future[Json]:
        """Send a request; return what will be its answer."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._sending = asyncio.ensure_future(self._connection.send(json.dumps(message)))
        return answer

    async def tells(self, method: str, params: Json) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        await self._connection.send(json.dumps(message))

    async def result(self, method: str, **params: object) -> Json:
        """Send a request, and return its result."""
        async with asyncio.timeout(LIMIT):
            return (await self.asks(method, params))["result"]

    def calls(self, name: str, **arguments: object) -> asyncio.Future[Json]:
        """Call a tool; return what will be its answer."""
        return self.asks("tools/call", {"name": name, "arguments": arguments})

    async def texts(self, name: str, **arguments: object) -> list[str]:
        """Call a tool, and return the texts of its result."""
        return await texts_of(self.calls(name, **arguments))

    async def hears_again(self) -> None:
        """Wait until the last notification is repeated."""
        self._repeated.clear()
        async with asyncio.timeout(LIMIT):
            await self._repeated.wait()

    async def hears(self, method: str) -> Json:
        """Return the parameters of the next notification, which is one of this method."""
        async with asyncio.timeout(LIMIT):
            message = await self.told.get()
        assert message["method"] == method
        return message["params"]


async def texts_of(answer: asyncio.Future[Json]) -> list[str]:
    """Return the texts of a tool's result, once it is there."""
    async with asyncio.timeout(LIMIT):
        content = (await answer)["result"]["content"]
    return [block["text"] for block in content]


@asynccontextmanager
async def cli(home: Path) -> AsyncGenerator[Cli]:
    """Connect a CLI to the Neovim that is announced at a home, in the order in which Claude Code does."""
    port, told = lock(home)
    async with connect(
        f"ws://127.0.0.1:{port}",
        additional_headers={HEADER: told["authToken"]},
        subprotocols=[Subprotocol("mcp")],
    ) as connection:
        connected = Cli(connection)
        reading = asyncio.create_task(connected.read())
        me = {"name": "claude-code", "version": "2.1.200"}
        can: Json = {"roots": {}}
        await connected.result(
            "initialize", protocolVersion="2025-11-25", capabilities=can, clientInfo=me
        )
        await connected.tells("notifications/initialized", {})
        await connected.tells("ide_connected", {"pid": 1})
        await connected.result("tools/list")
        await connected.result("prompts/list")
        yield connected
        reading.cancel()
        await asyncio.wait([reading])
