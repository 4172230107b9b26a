"""How a test talks to dapeer: as a client does, through the real server, in memory."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client
from mcp.client import ClientExtension, advertise
from mcp.types import CallToolResult, TextContent

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.integrations.opencode.client import OpenCode
from dapeer.integrations.opencode.integration import OpenCodeIntegration
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.data_extension import EXTENSION
from dapeer.mcp.server.integration import IntegrationContext
from dapeer.mcp.server.server import ALL, make_server
from dapeer.mcp.server.toolbox import Selection
from dapeer.mcp.transports import jsonl
from dapeer.peers import Peers
from dapeer.sessions.debugger.debugger import Debugger
from tests.json_types import Json
from tests.processes import LIMIT, command_line, descendants
from tests.programs import PROGRAMS, ROOT

DATA = (advertise(EXTENSION),)
"""What a client of the SDK's is given, as `extensions`, so that it asks for data; an ordinary one reads text."""

OURS = load_all(shipped())
"""Read once: a thousand tests would read them anew."""

FAKE_ADAPTER = Path(__file__).parent / "fake_adapter.py"
FAKE_PROGRAM = str(PROGRAMS / "ten.fake")


@asynccontextmanager
async def client(project: Path = ROOT) -> AsyncGenerator[Client]:
    """Serve a debugger of its own to a client in this process; end all its sessions afterwards."""
    async with served(project) as (connected, _):
        yield connected


@asynccontextmanager
async def served(
    project: Path,
    *,
    selection: Selection = ALL,
    opencode: OpenCode | None = None,
    extensions: Sequence[ClientExtension] = DATA,
    **options: Any,  # noqa: ANN401 - the SDK's
) -> AsyncGenerator[tuple[Client, Peers]]:
    """Do as `client` does, and give the Neovims that are attached, too: none at first.

    `options` are those of the SDK's `Client`, such as `mode` and `message_handler`.
    """
    theirs = load_all(user_folder())
    definitions = theirs | {name: each for name, each in OURS.items() if name not in theirs}
    integration = OpenCodeIntegration(opencode)
    failure: Exception | None = None
    async with (
        Debugger(definitions, project) as debugger,
        Peers(debugger) as peers,
        integration.serving(IntegrationContext(debugger, peers)),
        Client(
            make_server(
                debugger,
                TOOLS,
                peers=peers,
                selection=selection,
                integrations=[integration],
                serve_socket=jsonl.serve_socket,
            ),
            extensions=extensions,
            **options,
        ) as connected,
    ):
        try:
            yield connected, peers
        except (AssertionError, LookupError) as error:
            # Kept back, or the task groups would wrap it in a group of groups.
            failure = error
    if failure is not None:
        raise failure


async def call(c: Client, tool: str, **arguments: object) -> CallToolResult:
    """Call a tool."""
    return await c.call_tool(tool, arguments)


def text(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))


def data(result: CallToolResult) -> Json:
    """Return the structured content of a successful result."""
    assert not result.is_error, text(result)
    content = cast("Json | None", result.structured_content)
    assert content is not None, text(result)
    return content


async def ask(c: Client, tool: str, **arguments: object) -> Json:
    """Call a tool that must succeed, and return its structured content."""
    return data(await call(c, tool, **arguments))


async def connect(c: Client, target: object = None) -> Json:
    """Attach a Neovim, however late it responds: one call waits for some seconds."""
    late = "again once Neovim responds"
    while (result := await call(c, "nvim_connect", target=target)).is_error and late in text(
        result
    ):
        pass
    return data(result)


async def read(c: Client, tool: str, **arguments: object) -> str:
    """Call a tool that must succeed, and return its text."""
    result = await call(c, tool, **arguments)
    assert not result.is_error, text(result)
    return text(result)


async def refusal(c: Client, tool: str, **arguments: object) -> str:
    """Call a tool that must fail, and return what it says."""
    result = await call(c, tool, **arguments)
    assert result.is_error, text(result)
    return text(result)


def has_all(said: str, *parts: object) -> bool:
    """Whether a text says several things, in whatever words; else the test shows the text and what is missing."""
    missing = [str(part) for part in parts if str(part) not in said]
    assert not missing, f"{missing} in: {said}"
    return True


async def evaluate(c: Client, expression: str, **arguments: object) -> str:
    """Evaluate an expression where the program is stopped."""
    return str((await ask(c, "dap_evaluate", expression=expression, **arguments))["result"])


async def printed(
    c: Client, word: str = "", *, category: str = "stdout", session_id: int | None = None
) -> str:
    """Wait until the program has printed whole lines with a word in them; return all so far."""
    one: dict[str, Any] = {"category": category, "session_id": session_id}
    so_far, cursor = "", 0
    while not so_far.endswith("\n") or word not in so_far:
        more = await ask(c, "dap_program_output", since=cursor, wait_ms=LIMIT * 1000, **one)
        so_far, cursor = so_far + more["text"], more["cursor"]
        assert more["text"] or not more["ended"], f"ended without {word!r}: {so_far}"
    return so_far


async def pid_of(c: Client) -> int:
    """Return the process id of a stopped Python debuggee."""
    return int(await evaluate(c, "__import__('os').getpid()"))


def needs(adapter: str) -> None:
    """Skip the test unless an adapter is ready; its own hint says how to get it."""
    detection = detect(OURS[adapter], python=sys.executable)
    if not detection.ready:
        pytest.skip(f"needs {adapter}: {detection.install}")


def is_version(adapter: str, beginning: str) -> bool:
    """Return whether an adapter's version begins so, where it differs from others in what it tells."""
    return detect(OURS[adapter], python=sys.executable).version.startswith(beginning)


async def listed(c: Client) -> set[str]:
    """Return the names of the tools that a client sees now."""
    return {tool.name for tool in (await c.list_tools()).tools}


def adapters(word: str) -> list[int]:
    """Return the processes below this one whose command line holds a word."""
    return [pid for pid in descendants(os.getpid()) if word in command_line(pid)]


@dataclass(frozen=True)
class Fake:
    """A scripted adapter, known to dapeer as the type `fake`."""

    log: Path

    def requests(self) -> list[Json]:
        """Return the requests that the adapter has got, all its sessions together."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def commands(self) -> list[str]:
        """Return the names of these requests."""
        return [request["command"] for request in self.requests()]


def fake(
    settings: Path,
    on: Mapping[str, object] | None = None,
    *,
    transport: str = "stdio",
    timeouts: str = "request = 5\ncontrol = 5",
    name: str = "fake",
    languages: Sequence[str] = (),
    **script: object,
) -> Fake:
    """Define an adapter of the user: tests/fake_adapter.py with a script."""
    log = settings / f"{name}.log"
    path = settings / f"{name}.json"
    path.write_text(json.dumps({"on": on or {}, "log": str(log), **script}), encoding="utf-8")
    command = [sys.executable, str(FAKE_ADAPTER), str(path)]
    if transport == "tcp":
        command += ["--port", "${port}"]
    folder = settings / "dapeer" / "adapters"
    folder.mkdir(parents=True, exist_ok=True)
    definition = DEFINITION.format(
        name=name,
        languages=json.dumps(languages),
        transport=transport,
        command=json.dumps(command),
        timeouts=timeouts,
    )
    (folder / f"{name}.toml").write_text(definition, encoding="utf-8")
    return Fake(log)


DEFINITION = """
id = "{name}"
languages = {languages}
extensions = [".fake"]
adapter_id = "{name}"

[transport]
kind = "{transport}"
command = {command}

[launch]
program = "${{program}}"
args = "${{args}}"
stopOnEntry = "${{stop_on_entry}}"

[attach.pid]
processId = "${{pid}}"

[timeouts]
start = 5
{timeouts}
"""
