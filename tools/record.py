"""Records the traffic of short sessions with real adapters: `uv run python -m tools.record`.

Each recording in fixtures/wire holds one session, one message a line, as our side of the wire saw
them: `way` is `out` for what we sent and `in` for what came, `at` is the time in seconds since the
first message. What belongs to the recording machine (paths, process ids, the environment) is
replaced by what could be anybody's.
"""

import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from dapeer.dap.decoding import from_json
from dapeer.dap.messages import Event, Message, Request, Response, encode
from dapeer.dap.sent_requests import ResumingCommand
from dapeer.mirror.stops import Stop
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.evaluating import evaluate, set_variable
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session, SessionContext
from dapeer.sessions.core.start_up import start_up
from dapeer.sessions.core.views import snapshot
from tests.programs import ROOT, Program, compiled, program

WIRE = ROOT / "fixtures" / "wire"
LIMIT = 60
"""Seconds that one session may take."""

PATHS = (
    (str(ROOT), "/project"),
    (tempfile.gettempdir(), "/build"),
    (str(Path(sys.executable).parent), "/python/bin"),
    (sys.prefix, "/python"),
    (sys.base_prefix, "/python"),
    (str(Path.home()), "/home/ada"),
)
"""Folders of this machine, and what is written for them."""
PIDS = {"systemProcessId", "processId", "pid"}
PID = 4242
DROPPED = {"env", "environment", "data"}
"""Keys whose values tell of the machine and are nothing to a client."""


@dataclass
class Tape:
    """What has been said so far, as the lines of a recording."""

    lines: list[str] = field(default_factory=list[str])
    _began: float | None = None

    def add(self, message: Message) -> None:
        """Take down one message; the end of the wire, which nobody sends, is none."""
        if message == Event("terminated"):
            return
        now = time.monotonic()
        self._began = self._began or now
        way = "out" if isinstance(message, Request) else "in"
        value = anybodys(json.loads(encode(message)))
        at = round(now - self._began, 3)
        self.lines.append(json.dumps({"way": way, "at": at, "message": value}))


@dataclass(frozen=True)
class Line:
    """One message of a recording."""

    way: Literal["out", "in"]
    at: float
    """Seconds since the first message."""
    message: Message


def read(name: str) -> list[Line]:
    """Return a recording; its responses know what was asked, as the channel would have it."""
    text = (WIRE / f"{name}.jsonl").read_text(encoding="utf-8")
    asked: dict[int, Request] = {}
    lines: list[Line] = []
    for value in map(json.loads, text.splitlines()):
        message = from_json(value["message"])
        assert message is not None
        match message:
            case Request(seq=seq):
                asked[seq] = message
            case Response(request_seq=seq):
                message = replace(message, arguments=asked[seq].arguments)
            case _:
                pass
        lines.append(Line(value["way"], value["at"], message))
    return lines


def anybodys(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value without what belongs to this machine.

    >>> anybodys({"pid": 17, "env": {"SECRET": "1"}, "path": f"{ROOT}/a.py", "n": "process 17"})
    {'pid': 4242, 'env': {}, 'path': '/project/a.py', 'n': 'process 4242'}
    """
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            return {key: _field(key, item) for key, item in fields.items()}
        case list():
            return [anybodys(item) for item in cast("list[Any]", value)]
        case str():
            return _text(value)
        case _:
            return value


def _field(key: str, value: Any) -> Any:  # noqa: ANN401
    if key in DROPPED and isinstance(value, dict):
        return {}
    return PID if key in PIDS and isinstance(value, int) else anybodys(value)


def _text(text: str) -> str:
    for ours, anybody in PATHS:
        text = text.replace(ours, anybody)
    text = re.sub(r"dapeer-record-\w+", "record", text)
    return re.sub(r"\b(process|LWP|pid) \d+", rf"\1 {PID}", text)


@dataclass(frozen=True)
class Script:
    """A session to record: what is debugged, and what is done at its stops."""

    adapter: str
    program: Callable[[Path], Program]
    markers: tuple[str, ...]
    play: Callable[[Session, Program], Awaitable[None]]


async def next_stop(session: Session, command: ResumingCommand | None = None) -> Stop:
    """Resume with a command, if any, and return the next stop with all that was fetched at it."""
    mirror = session.mirror
    epoch = mirror.epoch if command else 0
    if command:
        await session.resume(command, {"threadId": mirror.require_stop().thread_id})
    assert await session.wait_for(lambda: mirror.has_ended or mirror.epoch > epoch, LIMIT)
    stop = mirror.require_stop()
    await snapshot(session)
    return stop


async def go_on(session: Session) -> None:
    """Continue to the end."""
    await session.resume("continue", {"threadId": session.mirror.require_stop().thread_id})


async def change(session: Session, name: str, value: str) -> None:
    """Give a local variable a new value, and look at all of them again."""
    stop = session.mirror.require_stop()
    assert stop.default_frame is not None
    holding = next(
        scope["variablesReference"]
        for scope in stop.values.local_scopes(stop.default_frame["id"])
        if any(v["name"] == name for v in stop.values.variables[scope["variablesReference"]])
    )
    await set_variable(session, holding, name, value)
    await snapshot(session)


async def ask(session: Session, expression: str) -> None:
    """Evaluate an expression where the program is stopped."""
    top = session.mirror.require_stop().default_frame
    assert top is not None
    await evaluate(session, expression, top["id"], "watch", LIMIT)


async def play_python(session: Session, _: Program) -> None:
    """Two stops in a function that is called twice, a step, a changed variable."""
    await next_stop(session)
    await next_stop(session, "next")
    await change(session, "total", "20")
    await ask(session, "a + b")
    await next_stop(session, "continue")
    await go_on(session)


async def play_c(session: Session, target: Program) -> None:
    """A stop deep in the stack, a step, a changed variable, no breakpoint any more."""
    await next_stop(session)
    await next_stop(session, "next")
    await change(session, "doubled", "100")
    await ask(session, "doubled + 1")
    await session.set_breakpoints(str(target.source), [])
    await next_stop(session, "stepOut")
    await go_on(session)


async def play_bash(session: Session, target: Program) -> None:
    """A stop in a function, a step, the same place once more."""
    await next_stop(session)
    await next_stop(session, "next")
    await ask(session, "$name")
    await next_stop(session, "continue")
    await session.set_breakpoints(str(target.source), [])
    await go_on(session)


SCRIPTS = (
    Script("debugpy", lambda _: program("steps.py"), ("add",), play_python),
    Script("gdb", lambda folder: compiled("loop.c", folder), ("inner",), play_c),
    Script("bash-dap", lambda _: program("hello.sh"), ("greet",), play_bash),
)


async def record(script: Script, folder: Path) -> list[str]:
    """Play a session with a real adapter, and return its lines."""
    definition = load_all(shipped())[script.adapter]
    target = script.program(folder)
    wanted = Breakpoints()
    for marker in script.markers:
        wanted.add(str(target.source), {"line": target.line(marker)})
    inputs: dict[str, object] = {"program": str(target), "cwd": str(target.source.parent)}
    inputs |= {"python": sys.executable, "stop_on_entry": False}
    plan = Plan(definition, "launch", inputs)
    arguments = definition.arguments("launch", inputs, {})
    tape, reaper = Tape(), Reaper()
    async with open_adapter(definition, "launch", inputs, reaper) as adapter:
        context = SessionContext(1, ROOT, {definition.id: definition})
        session = DirectSession(context, plan, adapter)
        session.program.subscribe(lambda _, message: tape.add(message))
        async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(session.run())
            failure = await start_up(session, wanted, arguments)
            if failure is not None:
                raise failure
            await script.play(session, target)
            await session.wait_and_end_adapter()
            running.cancel()
    await reaper.aclose()
    return tape.lines


async def main() -> None:
    """Record every session anew."""
    WIRE.mkdir(exist_ok=True)
    for script in SCRIPTS:
        with tempfile.TemporaryDirectory(prefix="dapeer-record-") as folder:
            lines = await record(script, Path(folder))
        path = WIRE / f"{script.adapter}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}: {len(lines)} messages\n")


if __name__ == "__main__":
    asyncio.run(main())
