"""A CLI as Claude Code's is on the wire: it finds a Neovim by its lock file, and speaks MCP on a WebSocket."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.json_types import Json
from tests.neovim.editor import Editor, neovim
from tests.neovim.reviewing import RC
from tests.processes import LIMIT

Chosen = Callable[[Json], bool]
"""Whether it is this lock file, by what it says."""

HEADER = "X-Claude-Code-Ide-Authorization"

SETUP: Mapping[str, object] = {
    "bridge": {"command": [sys.executable, "-m", "dapeer"]},
    "integrations": {"claude": True},
}
SERVED = """
local claude = require('dapeer.integrations.claude')
local served = claude.served
function claude.served(port, connected)
  served(port, connected)
  vim.rpcnotify(vim.g.test_channel, 'served', port, connected)
end
"""


@asynccontextmanager
async def offered(
    tmp_path: Path,
    *,
    home: Path | None = None,
    cwd: Path | None = None,
    rc: str = "",
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[Editor]:
    """Start a Neovim that is an IDE; wait until it can be found.

    Args:
        tmp_path: Where its files go: its home and its empty project, too, unless others are named.
        home: Where its user is at home.
        cwd: Its project.
        rc: Lua of the person's own configuration.
        environment: Variables that it has besides the test's.
    """
    async with neovim(
        tmp_path,
        dap=False,
        rc=RC + SERVED + rc,
        setup=SETUP,
        ui=True,
        cwd=cwd or tmp_path,
        environment={"HOME": str(home or tmp_path), **(environment or {})},
    ) as editor:
        _, connected = await editor.wait_for_notification("served")
        assert connected == 0
        yield editor


def locks(home: Path) -> list[Path]:
    """Return the lock files at a home."""
    return sorted((home / ".claude" / "ide").glob("*.lock"))


def all_locks(home: Path) -> list[tuple[int, Json]]:
    """Return of each lock file its port and what it says."""
    return [(int(path.stem), json.loads(path.read_bytes())) for path in locks(home)]


def lock(home: Path, chosen: Chosen = lambda _: True) -> tuple[int, Json]:
    """Return the port and what a lock file says: of the only one that is there, or that is chosen."""
    [found] = [(port, told) for port, told in all_locks(home) if chosen(told)]
    return found


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
async def cli(home: Path, chosen: Chosen = lambda _: True) -> AsyncGenerator[Cli]:
    """Connect a CLI to a Neovim that is announced at a home, in the order in which Claude Code does."""
    port, told = lock(home, chosen)
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
