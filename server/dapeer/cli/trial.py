"""Debugs a small program under each adapter, for `dapeer doctor`: start, breakpoint, local, end."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import anyio

from dapeer.adapters.definition.definition import Definition, names_in
from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.reaper import Reaper
from dapeer.base.errors import DapeerError, RequestFailed
from dapeer.base.json_types import Json
from dapeer.base.system.tasks import BackgroundTask
from dapeer.dap.channel import Channel
from dapeer.dap.handshake import CLIENT
from dapeer.dap.messages import Body, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.types import Variable
from dapeer.launch.plans import check_interpreter, plan_of
from dapeer.launch.request import LaunchRequest
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

SECONDS_FOR_ALL: Final = 16.0
"""Seconds for the programs of all adapters together. To end those that are late takes up to 3 more."""
SECONDS_TO_END: Final = 1.0
MAX_READY_PROCESSES: Final = 2
"""Processes that are ready to run, for each processor, above which a machine is busy."""
NAME: Final = "answer"
VALUE: Final = "42"
COMPILERS: Final = ("cc", "gcc", "clang")
NO_KEYS: Final[Json] = {}
"""Nothing specific to an adapter."""

_C = """int main(void) {
    volatile int answer = 42;
    return answer - 42;
}
"""
_GO = """package main

func main() {
	answer := 42
	println(answer)
}
"""
_JAVA = """public class Trial {
    public static void main(String[] args) {
        int answer = 42;
        System.out.println(answer);
    }
}
"""
_HTML = """<!doctype html>
<script>
{
  const answer = 42;
  console.log(answer);
}
</script>
"""
PROGRAMS: Final = {
    ".c": ("trial.c", _C),
    ".cmake": ("trial.cmake", "set(answer 42)\nmessage(${answer})\n"),
    ".go": ("trial.go", _GO),
    ".html": ("trial.html", _HTML),
    ".java": ("Trial.java", _JAVA),
    ".js": ("trial.js", "const answer = 42;\nconsole.log(answer);\n"),
    ".pl": ("trial.pl", 'my $answer = 42;\nprint "$answer\\n";\n'),
    ".py": ("trial.py", "answer = 42\nprint(answer)\n"),
    ".rb": ("trial.rb", "answer = 42\nputs answer\n"),
    ".sh": ("trial.sh", "answer=42\necho $answer\n"),
}
"""By extension: the name and text of a program that sets `answer` to 42, and uses it in a later line."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How a trial has gone."""

    state: Literal["ready", "failed", "slow"]
    """Slow: the time was up on a busy machine, so nobody knows."""
    detail: str
    """What was done, or what went wrong: the end of a sentence."""


async def try_adapters(definitions: Sequence[Definition], folder: Path) -> dict[str, TrialOutcome]:
    """Debug a small program under each of these adapters at once, and return the outcomes by id.

    Programs are written below `folder`. An adapter that is late is ended. All of it takes at most `SECONDS_FOR_ALL` and 3 seconds more.
    """
    async with Debugger({each.id: each for each in definitions}, folder) as debugger:
        trials = {each.id: _Trial(debugger, each, folder / each.id) for each in definitions}
        running = {name: BackgroundTask(each.outcome()) for name, each in trials.items()}
        with anyio.move_on_after(SECONDS_FOR_ALL):
            await _ended(running.values())
        outcomes = {
            name: task.result() if task.done else trials[name].late()
            for name, task in running.items()
        }
        for task in running.values():
            task.cancel()
        # What does not end by then, ends by force with the debugger.
        with anyio.move_on_after(SECONDS_TO_END):
            await _ended(running.values())
    await _ended(running.values())
    return outcomes


async def _ended(tasks: Iterable[BackgroundTask[TrialOutcome]]) -> None:
    """Wait until all tasks have ended."""
    for each in tasks:
        await each.ended()


class _Trial:
    """A program under one adapter."""

    def __init__(self, debugger: Debugger, definition: Definition, folder: Path) -> None:
        self._debugger = debugger
        self._definition = definition
        self._folder = folder
        self._step = "start"

    def late(self) -> TrialOutcome:
        """Return the outcome of a trial whose time is up: failed, or slow if the machine is busy."""
        late = f"did not {self._step} within {SECONDS_FOR_ALL:g} s"
        if os.getloadavg()[0] <= MAX_READY_PROCESSES * (os.cpu_count() or 1):
            return TrialOutcome("failed", late)
        alone = f"`dapeer doctor {self._definition.id}` tries it alone"
        return TrialOutcome("slow", f"not tried to the end, this machine is busy: {late}; {alone}")

    async def outcome(self) -> TrialOutcome:
        """Debug the small program of the adapter's language, and return how that went; nothing is raised.

        Where dapeer has no program for it, or lacks a compiler, the adapter is only started.
        """
        began = time.perf_counter()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            names = (*self._definition.opens, *self._definition.extensions)
            known = next((e for e in names if e in PROGRAMS), None)
            if known is None:
                return await self._only_started("dapeer has no program for it")
            source, text = self._folder / PROGRAMS[known][0], PROGRAMS[known][1]
            source.write_text(text, encoding="utf-8")
            program = source
            if self._definition.binaries and known == ".c":
                compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
                if compiler is None:
                    return await self._only_started(f"needs a compiler: {' or '.join(COMPILERS)}")
                program = await anyio.to_thread.run_sync(_compiled, compiler, source)
            await self._debugged(source, program, 1 + _last_line_with(text))
        except (DapeerError, OSError, subprocess.SubprocessError) as error:
            return TrialOutcome("failed", getattr(error, "what", "") or str(error))
        return TrialOutcome("ready", f"debugged a program in {time.perf_counter() - began:.1f} s")

    async def _only_started(self, why: str) -> TrialOutcome:
        """Start the adapter without a program, and return a ready outcome that says `why`.

        Raises:
            DapeerError: It does not start, or does not answer.
        """
        await start_without_program(self._definition, self._folder)
        return TrialOutcome("ready", f"starts; not tried with a program: {why}")

    async def _debugged(self, source: Path, program: Path, line: int) -> None:
        """Launch a program with a breakpoint at `line` of `source`, read a local there, and end the program.

        `program` is what is launched: the source, or what was compiled of it.

        Raises:
            DapeerError: It does not start, does not stop there, or the local is wrong.
        """
        inputs = {"program": str(program), "cwd": str(self._folder)}
        request = LaunchRequest(self._definition.id, "launch", "", inputs, NO_KEYS, [])
        plan = await anyio.to_thread.run_sync(
            plan_of, self._debugger, request, "launch", inputs, NO_KEYS
        )
        await anyio.to_thread.run_sync(check_interpreter, plan)
        own = Breakpoints(exceptions=[])
        own.add(str(source), RequestedBreakpoint(line=line))
        session = await self._debugger.start(replace(plan, breakpoints=own))
        self._step = "stop at a breakpoint"
        stopped = await session.program.next_stop(session, 0, SECONDS_FOR_ALL)
        if stopped is None or stopped.mirror.stop is None:
            raise DapeerError("passed the breakpoint without a stop", "")
        self._step = "show a local variable"
        value = await _value(stopped)
        if value != VALUE:
            raise DapeerError(f"showed the local variable {NAME} as {value}, not {VALUE}", "")
        self._step = "end the program"
        await self._debugger.terminate(session)


def _last_line_with(text: str) -> int:
    """Return the number, from 0, of the last line of a text that has the variable's name."""
    lines = text.splitlines()
    return max(number for number, line in enumerate(lines) if NAME in line)


def _compiled(compiler: str, source: Path) -> Path:
    """Compile a C file with debug information, and return the program's path.

    Raises:
        subprocess.SubprocessError: The compiler fails.
    """
    target = source.with_suffix("")
    command = [compiler, "-g", "-O0", "-o", target, source]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return target


async def _value(session: Session) -> str | None:
    """Return the value of the local `NAME` at a session's stop, which it fetches; None if there is none.

    It is looked for among the locals, and directly below each of them.
    """
    stop = session.mirror.require_stop()
    await session.inspect.complete(stop)
    found = _named(stop.locals())
    for each in stop.locals():
        if found is None and each["variablesReference"]:
            found = _named(await session.inspect.variables(each["variablesReference"]))
    return found


def _named(variables: Sequence[Variable]) -> str | None:
    """Return the value of the variable `NAME`, without quotes; None if it is not among these."""
    values = {each["name"].lstrip("$"): each["value"].strip("\"'") for each in variables}
    return values.get(NAME)


# -- an adapter alone


async def start_without_program(definition: Definition, folder: Path) -> tuple[int | None, Body]:
    """Start an adapter without a program, end it again, and return its process id and its capabilities.

    The id is None if the adapter runs elsewhere. `folder` is where a program is written for an adapter that starts with one.

    Raises:
        DapeerError: It does not start, or does not answer.
    """
    reaper = Reaper()
    try:
        inputs = _nothing_to_run(definition, folder)
        async with open_adapter(definition, "launch", inputs, reaper) as adapter:
            return adapter.pid, await _capabilities(definition, adapter)
    finally:
        await reaper.aclose()


def _nothing_to_run(definition: Definition, folder: Path) -> dict[str, object]:
    """Return the inputs to start an adapter with, where nothing is to be debugged.

    For an adapter that starts together with a program, it writes an empty one into `folder`, and names it in the inputs.
    """
    if "program" not in names_in({}, definition.transport):
        return {"cwd": str(folder)}
    program = folder / f"empty{next(iter(definition.extensions), '')}"
    # A line there has to be: the debugger of Ruby stops at the first one, and lives till then.
    program.write_text("0\n", encoding="utf-8")
    return {"cwd": str(folder), "program": str(program), "args": []}


async def _capabilities(definition: Definition, adapter: Adapter) -> Body:
    """Send `initialize` to a started adapter, and return the capabilities in its response.

    Raises:
        RequestFailed: The adapter rejects the request.
        RequestTimeout: It does not answer in the time that its definition gives.
        ChannelClosed: It ends first.
    """
    channel = Channel(adapter.transport, lambda _message: None, _refuse)
    receiving = BackgroundTask(channel.run())
    arguments = {**CLIENT, "adapterID": definition.adapter_id}
    try:
        return await channel.request("initialize", arguments, seconds=definition.timeouts.start)
    finally:
        receiving.cancel()
        await receiving.ended()


async def _refuse(request: Request) -> Body:
    """Reject a request of the adapter's.

    Raises:
        RequestFailed: Always.
    """
    raise RequestFailed(request.command, "dapeer only looks whether the adapter works")
