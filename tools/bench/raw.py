"""A raw DAP client, as fast as plain asyncio allows: what no debugger server can beat."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

from tests.json_types import Json
from tools.bench.adapter import environment

FIELD = len(b"Content-Length: ")
LEVELS = 20
"""Frames that are fetched at a stop: as many as dapeer fetches."""
GRACE = 10
"""Seconds that an adapter has to go."""


class RawDap(asyncio.SubprocessProtocol):
    """One debug session of an adapter that talks over its stdin and stdout."""

    def __init__(self) -> None:
        self.lines = 0
        """Line ends that the debuggee has printed."""
        self._seq = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._initialized = asyncio.Event()
        self._stopped = asyncio.Event()
        self._terminated = asyncio.Event()
        self._gone = asyncio.Event()
        self._thread = 0
        self._frame = 0
        self._buffer = b""

    # -- what arrives

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        process = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", process.get_pipe_transport(0))

    def process_exited(self) -> None:
        self._gone.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd
        for message in self._messages(data):
            if message["type"] == "response":
                self._answers.pop(message["request_seq"]).set_result(message)
            elif message["type"] == "event":
                self._event(message["event"], message.get("body") or {})

    def _messages(self, data: bytes) -> Iterator[Json]:
        """Yield the messages that are complete; debugpy sends one header field."""
        buffer, begin = self._buffer + data, 0
        while (header_end := buffer.find(b"\r\n\r\n", begin)) >= 0:
            body = header_end + 4
            end = body + int(buffer[begin + FIELD : header_end])
            if end > len(buffer):
                break
            yield json.loads(buffer[body:end])
            begin = end
        self._buffer = buffer[begin:]

    def _event(self, name: str, body: Json) -> None:
        match name:
            case "output":
                self.lines += body["output"].count("\n")
            case "stopped":
                self._thread = body["threadId"]
                self._stopped.set()
            case "initialized":
                self._initialized.set()
            case "terminated":
                self._terminated.set()
            case _:
                pass

    # -- requests

    def send(self, command: str, **arguments: object) -> asyncio.Future[Json]:
        """Send a request and return the future of its response."""
        seq = next(self._seq)
        message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message, separators=(",", ":")).encode()
        self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        answer = self._answers[seq] = asyncio.get_running_loop().create_future()
        return answer

    async def ask(self, command: str, **arguments: object) -> Json:
        """Send a request and return the body of its response, which must be a success."""
        answer = await self.send(command, **arguments)
        assert answer["success"], answer
        return answer.get("body") or {}

    async def start(
        self, launch: Mapping[str, object], path: str = "", lines: Sequence[int] = ()
    ) -> None:
        """Launch, and wait for the first stop."""
        await self.ask("initialize", adapterID="debugpy", pathFormat="path")
        launched = self.send("launch", **launch)
        await self._initialized.wait()
        self._stopped.clear()
        if lines:
            await self.set_breakpoints(path, lines)
        await self.ask("setExceptionBreakpoints", filters=["uncaught"])
        await self.ask("configurationDone")
        assert (await launched)["success"]
        await self._stopped.wait()

    async def set_breakpoints(self, path: str, lines: Sequence[int]) -> None:
        """Make these the breakpoints of a file."""
        breakpoints = [{"line": line} for line in lines]
        await self.ask("setBreakpoints", source={"path": path}, breakpoints=breakpoints)

    async def step(self) -> None:
        """Step over, and wait for the stop."""
        self._stopped.clear()
        self.send("next", threadId=self._thread)
        await self._stopped.wait()

    async def step_and_look(self) -> None:
        """Step over, and fetch stack, scopes and locals where it stops."""
        await self.step()
        await self.look()

    async def stack(self) -> None:
        """Fetch the stack."""
        body = await self.ask("stackTrace", threadId=self._thread, startFrame=0, levels=LEVELS)
        self._frame = body["stackFrames"][0]["id"]

    async def locals(self) -> dict[str, str]:
        """Fetch the scopes of the innermost frame, and the variables of the first."""
        scopes = (await self.ask("scopes", frameId=self._frame))["scopes"]
        reference = scopes[0]["variablesReference"]
        variables = (await self.ask("variables", variablesReference=reference))["variables"]
        return {variable["name"]: variable["value"] for variable in variables}

    async def look(self) -> dict[str, str]:
        """Fetch stack, scopes and locals."""
        await self.stack()
        return await self.locals()

    async def evaluate(self, expression: str) -> str:
        """Evaluate in the innermost frame."""
        body = await self.ask(
            "evaluate", expression=expression, frameId=self._frame, context="watch"
        )
        return body["result"]

    async def run_out(self) -> None:
        """Continue, and wait for the end of the program."""
        self.send("continue", threadId=self._thread)
        await self._terminated.wait()

    async def leave(self) -> None:
        """End the session, and wait for the end of the adapter."""
        self.send("disconnect", terminateDebuggee=True)
        self._stdin.close()
        await self._gone.wait()


@asynccontextmanager
async def raw_dap(command: Sequence[str]) -> AsyncGenerator[RawDap]:
    """Start an adapter; at exit it has ended, and its debuggee with it."""
    loop = asyncio.get_running_loop()
    # In a session of its own, as dapeer starts it: Linux schedules sessions against each other.
    transport, dap = await loop.subprocess_exec(
        RawDap,
        *command,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    try:
        yield dap
        async with asyncio.timeout(GRACE):
            await dap.leave()
    finally:
        transport.close()
