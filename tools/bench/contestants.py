"""Other debuggers for assistants, and how the same work is done with each: by its own tools, over the same client."""

import asyncio
import json
import os
import sys
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.harness import text
from tests.json_types import Json
from tests.npm import mcp_debugger
from tests.processes import left_behind
from tests.programs import ROOT, program
from tests.real.software import environment_of
from tools.bench.adapter import environment
from tools.bench.reading import seen, size
from tools.bench.served import DAPEER

STEPS = program("bench_steps.py")
EXPRESSION = "value * 2"
MARK = "DAPEER_CONTEST"
SECONDS_TO_POLL = 2
SECONDS_BETWEEN_LOOKS = 0.05


class Contestant(ABC):
    """A server of MCP that debugs `STEPS`, up to a breakpoint in its innermost function."""

    name: str

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = 0
        """Tools called so far."""
        self.bytes = 0
        """Of UTF-8 text in their answers, which a model reads."""

    @staticmethod
    @abstractmethod
    def command(folder: Path) -> list[str]:
        """Return the command of its server, which may have files in a folder.

        Raises:
            MissingError: It cannot be installed.
        """

    @abstractmethod
    async def start(self) -> None:
        """Start the program, and read stack and locals at its first stop."""

    @abstractmethod
    async def step(self) -> None:
        """Step over, and read stack and locals there."""

    @abstractmethod
    async def evaluate(self) -> str:
        """Evaluate `EXPRESSION` in the innermost frame."""

    @abstractmethod
    async def finish(self) -> None:
        """End the program."""

    async def tool_list(self) -> int:
        """Return the bytes of its tool list, as a model reads it."""
        return size([seen(tool) for tool in (await self._client.list_tools()).tools])

    async def call(self, tool: str, **arguments: object) -> str:
        """Call a tool, which must succeed, and return its text."""
        result = await self._client.call_tool(tool, arguments)
        found = text(result)
        assert not result.is_error, found
        self.calls += 1
        self.bytes += len(found.encode())
        return found

    async def ask(self, tool: str, **arguments: object) -> Json:
        """Call a tool whose text is JSON."""
        return json.loads(await self.call(tool, **arguments))


class Dapeer(Contestant):
    """Ours."""

    name = "dapeer"

    @staticmethod
    def command(folder: Path) -> list[str]:
        del folder
        return [sys.executable, "-m", *DAPEER]

    async def start(self) -> None:
        await self.call("dap_run", program=str(STEPS), breakpoints=[STEPS.at("inner")])

    async def step(self) -> None:
        await self.call("dap_step_over")

    async def evaluate(self) -> str:
        return await self.call("dap_evaluate", expression=EXPRESSION)

    async def finish(self) -> None:
        await self.call("dap_terminate")


class DapMcp(Contestant):
    """Its program stands in a file that it reads at its start."""

    name = "dap-mcp 0.1.5"

    @staticmethod
    def command(folder: Path) -> list[str]:
        options = {
            "type": "debugpy",
            "debuggerPath": sys.executable,
            "debuggerArgs": ["-m", "debugpy.adapter"],
            "sourceDirs": [str(STEPS.path.parent)],
            "program": str(STEPS),
            "python": [sys.executable],
            "cwd": str(ROOT),
            "redirectOutput": True,
        }
        file = folder / "dap-mcp.json"
        file.write_text(json.dumps(options), encoding="utf-8")
        return [str(environment_of("dap-mcp") / "bin" / "dap-mcp"), "--config", str(file)]

    async def start(self) -> None:
        await self.call("set_breakpoint", path=str(STEPS), line=STEPS.line("inner"))
        await self.call("launch")

    async def step(self) -> None:
        await self.call("next")

    async def evaluate(self) -> str:
        return await self.call("evaluate", expression=EXPRESSION)

    async def finish(self) -> None:
        await self.call("terminate")


class Polybugger(Contestant):
    """Asked for each part by itself."""

    name = "polybugger 1.8.0"
    _session = ""
    _frame = 0

    @staticmethod
    def command(folder: Path) -> list[str]:
        del folder
        return [str(environment_of("polybugger") / "bin" / "polybugger-mcp")]

    async def start(self) -> None:
        folder = str(STEPS.path.parent)
        made = await self.ask(
            "debug_create_session", project_root=folder, python_path=sys.executable
        )
        self._session = made["session_id"]
        lines = [STEPS.line("inner")]
        await self._do("debug_set_breakpoints", file_path=str(STEPS), lines=lines)
        await self._do("debug_launch", program=str(STEPS), cwd=str(ROOT))
        stopped = False
        while not stopped:
            told = await self._do("debug_poll_events", timeout_seconds=SECONDS_TO_POLL)
            kinds = {event["type"] for event in told["events"]}
            stopped = "stopped" in kinds or told["session_state"] == "paused"
        await self._look()

    async def step(self) -> None:
        # `debug_poll_events` misses a stop that came before it was called, so it is not asked.
        await self._do("debug_step", mode="over")
        await self._look()

    async def evaluate(self) -> str:
        return str(await self._do("debug_evaluate", expression=EXPRESSION, frame_id=self._frame))

    async def finish(self) -> None:
        await self._do("debug_terminate_session")

    async def _look(self) -> None:
        self._frame = (await self._do("debug_get_stacktrace"))["frames"][0]["id"]
        scope = (await self._do("debug_get_scopes", frame_id=self._frame))["scopes"][0]
        reference = scope["variables_reference"]
        await self._do("debug_get_variables", variables_reference=reference)

    async def _do(self, tool: str, **arguments: object) -> Json:
        return await self.ask(tool, session_id=self._session, **arguments)


class McpDebugger(Contestant):
    """Has no call that waits for a stop, so it is asked until there is one."""

    name = "mcp-debugger 0.24.2"
    _session = ""

    @staticmethod
    def command(folder: Path) -> list[str]:
        del folder
        return [*mcp_debugger(), "stdio"]

    async def start(self) -> None:
        made = await self.ask(
            "create_debug_session", language="python", executablePath=sys.executable
        )
        self._session = made["sessionId"]
        await self._do("set_breakpoint", file=str(STEPS), line=STEPS.line("inner"))
        told = await self._do("start_debugging", scriptPath=str(STEPS))
        while '"paused"' not in told:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            told = await self.call("list_debug_sessions")
        await self._look()

    async def step(self) -> None:
        await self._do("step_over")
        await self._look()

    async def evaluate(self) -> str:
        return await self._do("evaluate_expression", expression=EXPRESSION)

    async def finish(self) -> None:
        await self._do("close_debug_session")

    async def _look(self) -> None:
        await self._do("get_stack_trace")
        await self._do("get_local_variables")

    async def _do(self, tool: str, **arguments: object) -> str:
        return await self.call(tool, sessionId=self._session, **arguments)


CONTESTANTS: tuple[type[Contestant], ...] = (Dapeer, DapMcp, Polybugger, McpDebugger)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


@asynccontextmanager
async def contesting(kind: type[Contestant], home: Path) -> AsyncGenerator[Contestant]:
    """Start the server of a contestant, which has a home of its own; at exit nothing of it is left.

    Raises:
        MissingError: It cannot be installed.
    """
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(dir=home) as folder:
        command, *arguments = kind.command(Path(folder))
        parameters = StdioServerParameters(
            command=command,
            args=arguments,
            cwd=ROOT,
            env={**environment(), "HOME": folder, MARK: mark},
        )
        try:
            with _nowhere() as errlog:
                wire = stdio_client(parameters, errlog=errlog)
                async with Client(wire, mode="legacy") as client:
                    yield kind(client)
        finally:
            # Some lose the program.
            left_behind(mark, 0, MARK)
