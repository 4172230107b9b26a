"""A session whose adapter is a few lines of a test: each request is answered by a function."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from dapeer.dap.messages import Body, Event, Request, Response
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.transport import Transport
from dapeer.sessions.core.session import Session, SessionContext
from dapeer.sessions.traits import Deadlines, Traits
from tests.processes import LIMIT
from tests.transports import transport_pair

Answer = Callable[[Request], Body | None]
"""Answers a request with a body; None answers nothing, `Refused` refuses."""


class Refused(Exception):
    """What an adapter says when it refuses a request."""


@dataclass
class Peer:
    """The adapter's end of the wire."""

    wire: Transport
    answers: dict[str, Answer]
    requests: list[Request] = field(default_factory=list[Request])
    """All that it was asked, in order."""
    waiting: list[Request] = field(default_factory=list[Request])
    """What it was asked and has not answered."""
    _news: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        """Answer until one of the ends is gone; a test may end while a stop is still looked at."""
        with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                request = await self.wire.receive()
                assert isinstance(request, Request)
                self.requests.append(request)
                await self._respond(request)
                self._news.set()
                self._news = anyio.Event()

    async def _respond(self, request: Request) -> None:
        known = self.answers.get(request.command, lambda _: {})
        try:
            body = known(request)
        except Refused as error:
            refusal = Response(request.seq, request.command, success=False, message=str(error))
            await self.wire.send(refusal)
            return
        if body is None:
            self.waiting.append(request)
        else:
            await self.answer(request, body)

    async def answer(self, request: Request, body: Body | None = None) -> None:
        """Answer a request that was left waiting."""
        await self.wire.send(Response(request.seq, request.command, success=True, body=body or {}))

    async def event(self, name: str, /, **body: object) -> None:
        """Tell something unasked."""
        await self.wire.send(Event(name, body))

    async def asked(self, command: str, times: int = 1) -> list[Request]:
        """Wait until a request has come that often; return these requests."""
        while len(found := self.of(command)) < times:
            await self._news.wait()
        return found

    def of(self, command: str) -> list[Request]:
        """Return the requests of a kind that have come so far."""
        return [request for request in self.requests if request.command == command]

    def commands(self) -> list[str]:
        """Return the names of all requests so far."""
        return [request.command for request in self.requests]


STOPPED: Mapping[str, Answer] = {
    "threads": lambda _: {"threads": [{"id": 1, "name": "main"}]},
    "stackTrace": lambda _: {
        "stackFrames": [{"id": 10, "name": "f", "line": 3, "column": 1}],
        "totalFrames": 1,
    },
    "scopes": lambda _: {
        "scopes": [{"name": "Locals", "variablesReference": 20, "expensive": False}]
    },
    "variables": lambda asked: {
        "variables": [
            {
                "name": f"v{asked.arguments['variablesReference']}",
                "value": "1",
                "variablesReference": 0,
            }
        ]
    },
}
"""How an adapter answers what everybody asks at a stop."""


class Toy(Session):
    """A session whose adapter is killed by closing its end of the wire."""

    owns_adapter = True

    def __init__(self, ours: Transport, theirs: Transport, deadlines: Deadlines) -> None:
        """Take both ends."""
        self.killed: list[str] = []
        self._theirs = theirs
        context = SessionContext(7, Path("/project"))
        super().__init__(context, "toy", "toy-adapter", ours, Traits(deadlines))

    def why_over(self) -> str:
        """Say that nobody knows."""
        return "the adapter ended unexpectedly"

    async def ensure_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Send them."""
        await self.set_breakpoints(path, requested)

    async def kill_adapter(self) -> None:
        """Kill the adapter."""
        self.killed.append(str(self.cause))
        await self._theirs.aclose()
        self.finish()

    async def leave_at_server_end(self, seconds: float) -> None:
        """Ask it to end."""
        await self.ask_to_end(seconds)

    async def terminate(self) -> None:
        """Ask it to end."""
        await self.ask_to_end(LIMIT)

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """Leave."""
        await self.request("disconnect", {"terminateDebuggee": bool(terminate)})
        return bool(terminate)


@dataclass
class Wired:
    """A session, and the adapter it talks to."""

    session: Session
    peer: Peer
    killed: list[str] = field(default_factory=list[str])
    """What had ended the session when its adapter was killed, once for each time."""

    async def stop(self, **body: object) -> None:
        """Let the program stop, and wait until the first look at it is over."""
        epoch = self.session.mirror.epoch
        body = {"reason": "step", "threadId": 1, "allThreadsStopped": True, **body}
        await self.peer.event("stopped", **body)
        await self.session.wait_for(lambda: self.session.mirror.epoch > epoch, LIMIT)
        stop = self.session.mirror.require_stop()
        await self.session.inspect.wait_until_inspected(stop)


@asynccontextmanager
async def wired(
    answers: Mapping[str, Answer] | None = None,
    *,
    capabilities: Mapping[str, Any] | None = None,
    control: float = LIMIT,
    request: float = LIMIT,
) -> AsyncGenerator[Wired]:
    """Connect a session to a scripted adapter; deadlines are in seconds."""
    ours, theirs = transport_pair()
    peer = Peer(theirs, {**STOPPED, **(answers or {})})
    session = Toy(ours, theirs, Deadlines(request=request, control=control))
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(session.run()), tasks.create_task(peer.run())]
        await peer.event("capabilities", capabilities=dict(capabilities or {}))
        await peer.event("process", name="toy")
        await session.wait_for(lambda: bool(session.mirror.process), LIMIT)
        try:
            yield Wired(session, peer, session.killed)
        finally:
            await theirs.aclose()
            await asyncio.wait(running)
            await ours.aclose()
