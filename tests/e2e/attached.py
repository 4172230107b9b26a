"""Programs that are attached to, in a phase of debugging; and what they are like when a debugger has left them."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.running import free_port, go_built, ptrace_allowed, started
from tests.e2e.test_server_end import Wire, server
from tests.harness import needs
from tests.processes import LIMIT, command_line, descendants
from tests.programs import PROGRAMS, Program, compiled, tool

NAP = 6
"""Seconds of the call that an evaluation makes: more than the seconds that a server takes to end."""
SLOWER = 4
"""How many times as long as before a turn of a program may take; under a debugger it takes 50 times as long, or more."""
TURNS = 30
"""Lines that a program prints before it is attached to: its compiler has done its work by then."""


@dataclass(frozen=True)
class Debugged:
    """A language, and the adapter that attaches to its program here."""

    adapter: str
    source: str
    nap: str = f"nap({NAP})"
    """The expression that calls a function of the program which takes so long."""
    listens: str = ""
    """The option by which the program listens for a debugger at a port; it is attached to by its process id otherwise."""
    keeps: str = "(?!)"
    """The names of threads that the language's runtime starts by itself, or for its first debugger, and keeps."""
    python: str = sys.executable
    """The interpreter of a program in Python."""

    def __str__(self) -> str:
        return self.adapter

    def check(self) -> None:
        """Skip the test where the machine lacks what this needs."""
        needs(self.adapter)
        if not self.listens and not ptrace_allowed():
            pytest.skip("needs ptrace: sysctl kernel.yama.ptrace_scope=0")
        if self.adapter == "debugpy":
            tool("gdb")

    def command(self, folder: Path, option: str) -> list[str]:
        """Compile the program into a folder, where it has to be; return its command."""
        source = PROGRAMS / self.source
        match source.suffix:
            case ".c":
                return [str(compiled(self.source, folder))]
            case ".go":
                return [go_built(source, folder)]
            case ".java":
                subprocess.run([tool("javac"), "-g", "-d", folder, source], check=True)
                return [tool("java"), option, "-cp", str(folder), source.stem]
            case ".js":
                return [tool("node"), option, str(source)]
            case _:
                return [self.python, str(source)]


DEBUGGED = [
    Debugged("debugpy", "paced.py"),
    Debugged("gdb", "paced.c"),
    Debugged("lldb-dap", "paced.c"),
    # It takes simple expressions otherwise, without calls.
    Debugged("codelldb", "paced.c", nap=f"/nat nap({NAP})"),
    # Go starts threads as it needs them.
    Debugged("delve", "paced.go", nap=f"call nap({NAP})", keeps="paced"),
    Debugged(
        "jdi",
        "Paced.java",
        listens="-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{}",
        # The agent's threads, and the compilers', which come and go.
        keeps="JDWP .*|C[12] Compiler.*",
    ),
    Debugged(
        "js-debug",
        "paced.js",
        nap=f"globalThis.nap({NAP})",
        listens="--inspect=127.0.0.1:{}",
    ),
]


def named(adapter: str) -> Debugged:
    """Return the language whose programs an adapter attaches to here."""
    return next(each for each in DEBUGGED if each.adapter == adapter)


@dataclass
class Attached:
    """A program that runs, and prints how fast it is, and where it can be attached to."""

    debugged: Debugged
    process: Process
    where: dict[str, object]
    program: Program
    fastest: int = 0
    """Nanoseconds of its fastest turn before it was attached to."""
    threads: Counter[str] = field(default_factory=Counter[str])
    """The names of the threads that it had then."""

    async def line(self) -> bytes:
        """Return the next line that it prints. The test fails where it has ended."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        assert line, f"the program has ended: {await self.process.wait()}"
        return line

    async def turns(self, count: int) -> list[tuple[int, int]]:
        """Return the next times of day, in milliseconds, each with the nanoseconds of a turn."""
        turns: list[tuple[int, int]] = []
        while len(turns) < count:
            if found := re.fullmatch(rb"(\d+) (\d+)\n", await self.line()):
                turns.append((int(found[1]), int(found[2])))
        return turns

    async def ended(self) -> int:
        """Wait for its end; return its exit code, or the negative number of the signal that has ended it."""
        await self.process.communicate()
        return await self.process.wait()

    async def naps(self) -> None:
        """Wait until the function has been called that takes long."""
        while await self.line() != b"napping\n":
            pass

    async def lives_as_before(self) -> None:
        """Wait until it runs as fast as before, without a debugger or a thread of one; say what is wrong where it never does."""
        since, unlike = time.time() * 1000, "it prints nothing"
        try:
            while unlike:
                ((at, turn),) = await self.turns(1)
                unlike = "it printed this before" if at < since else self._unlike_before(turn)
        except asyncio.CancelledError as late:
            state = re.search(r"(?m)^State:.*", self._of("status"))
            late.add_note(f"The program is unlike before: {unlike}. {state and state[0]}")
            raise

    def _unlike_before(self, turn: int) -> str:
        """Say what is not as it was before it was attached to; a turn took so many nanoseconds."""
        if not re.search(r"(?m)^TracerPid:\s+0$", self._of("status")):
            return "a debugger traces it"
        more = self.threads_now() - self.threads
        strange = [each for each in more if not re.fullmatch(self.debugged.keeps, each)]
        if strange:
            return f"it has threads {strange}"
        return f"{turn} ns a turn, {self.fastest} before" if turn > SLOWER * self.fastest else ""

    def threads_now(self) -> Counter[str]:
        """Return the names of its threads, each with how many have it."""
        names = Counter[str]()
        for each in Path(f"/proc/{self.process.pid}/task").iterdir():
            # It may end meanwhile.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                names[self._of(f"task/{each.name}/comm").strip()] += 1
        return names

    def _of(self, name: str) -> str:
        return Path(f"/proc/{self.process.pid}/{name}").read_text(encoding="utf-8")


@asynccontextmanager
async def running(debugged: Debugged, folder: Path) -> AsyncGenerator[Attached]:
    """Run the program of a language until the test is over; it has found how fast it is."""
    port = free_port()
    command = debugged.command(folder, debugged.listens.format(port))
    async with started(*command) as process:
        where: dict[str, object] = {"port": port} if debugged.listens else {"pid": process.pid}
        source = PROGRAMS / debugged.source
        each = Attached(debugged, process, where, Program(source, source))
        each.fastest = min(turn for _, turn in await each.turns(TURNS))
        each.threads = each.threads_now()
        yield each


def adapter_of(server: int) -> int:
    """Return the adapter that a server has started."""
    ours = "reaper.py", "last_words.py"
    return next(
        pid for pid in descendants(server) if not any(name in command_line(pid) for name in ours)
    )


SCRIPT = "tells_of_calls.py"
TELLS_OF_CALLS = """\
import gdb

def tell(event):
    called = gdb.execute(f"info symbol {event.address}", to_string=True)
    if type(event).__name__ == "InferiorCallPreEvent" and "DoAttach" in called:
        with open(FIFO, "w") as file:
            file.write("called")

gdb.events.inferior_call.connect(tell)
"""
"""Has gdb tell that it begins the call in which Python runs debugpy's code."""


@contextmanager
def injections(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[asyncio.Event]:
    """Have the gdb that injects debugpy tell of its call in the program; yield what is set by then."""
    fifo, script, wrapper = folder / "fifo", folder / SCRIPT, folder / "bin" / "gdb"
    os.mkfifo(fifo)
    script.write_text(TELLS_OF_CALLS.replace("FIFO", repr(str(fifo))))
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\nexec '{tool('gdb')}' -iex 'source {script}' \"$@\"\n")
    wrapper.chmod(0o700)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    begun, loop = asyncio.Event(), asyncio.get_running_loop()
    file = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    loop.add_reader(file, begun.set)
    try:
        yield begun
    finally:
        loop.remove_reader(file)
        os.close(file)


CALL = 1000
"""The id of the call that lasts while the debugger ends."""


# -- phases of debugging


async def run(wire: Wire, program: Attached) -> None:
    """Attach with a breakpoint whose condition the debugger asks for at each turn."""
    at = program.program.at("step", condition="n < 0")
    state = await attach(wire, program, breakpoints=[at], wait_until_paused=False)
    assert state == "running"


async def stop(wire: Wire, program: Attached) -> None:
    """Attach with a breakpoint, and wait until the program stops there."""
    assert await attach(wire, program, breakpoints=[program.program.at("step")]) == "stopped"


async def evaluate(wire: Wire, program: Attached) -> None:
    """Call a function of the stopped program that takes longer than the server waits."""
    await stop(wire, program)
    arguments = {"expressions": [program.debugged.nap], "timeout_ms": 60_000}
    await wire.send("tools/call", {"name": "dap_evaluate", "arguments": arguments}, id=CALL)
    await program.naps()


async def attach(wire: Wire, program: Attached, **how: object) -> str:
    """Attach, and return the program's state, once it has stopped where that is waited for, however busy the machine is."""
    kind = program.debugged.adapter
    start = await wire.tool(
        "dap_run", request="attach", type=kind, timeout_ms=LIMIT * 1000, **program.where, **how
    )
    return str(start["state"])


# -- what ends the debugger


def sends(number: signal.Signals) -> Callable[[Wire], Awaitable[None]]:
    """Return what sends a signal to the server, and waits for its end."""

    async def end(wire: Wire) -> None:
        wire.process.send_signal(number)
        await wire.process.wait()

    return end


async def leave(wire: Wire) -> None:
    """End the client: the server ends after it."""
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    await wire.process.wait()


async def disconnect_stalled(wire: Wire) -> None:
    """Have the adapter answer nothing, and end its session."""
    os.kill(adapter_of(wire.process.pid), signal.SIGSTOP)
    await wire.request("tools/call", {"name": "dap_disconnect", "arguments": {}})


PHASES = {"running": run, "stopped": stop, "evaluating": evaluate}
ENDS = {
    "server killed": sends(signal.SIGKILL),
    "server terminated": sends(signal.SIGTERM),
    "client gone": leave,
    "adapter stalled": disconnect_stalled,
}


async def cancel(wire: Wire) -> None:
    """Give up the call that attaches."""
    await wire.send("notifications/cancelled", {"requestId": CALL})


async def stall_gdb(wire: Wire) -> None:
    """Stop the gdb that attaches, until the server gives the attach up."""
    below = descendants(wire.process.pid)
    os.kill(next(pid for pid in below if SCRIPT in command_line(pid)), signal.SIGSTOP)
    # What debugpy prints meanwhile has its code, which is no message.
    assert ",32,32," not in json.dumps(await wire.answer(CALL))


async def adapter_killed(wire: Wire) -> None:
    """End the adapter as the system does for want of memory."""
    os.kill(adapter_of(wire.process.pid), signal.SIGKILL)


@contextmanager
def busy() -> Generator[None]:
    """Keep one core busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as loop:
        try:
            yield
        finally:
            loop.kill()


def starve(wire: Wire) -> None:
    """Have a server, the debuggers that it has started, and those that it starts from now on, wait for everybody else."""
    for pid in (wire.process.pid, *descendants(wire.process.pid)):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, 19)
            # Linux may weigh POSIX sessions against each other, and the niceness within one only.
            Path(f"/proc/{pid}/autogroup").write_text("19", encoding="ascii")


async def outlives(debugged: Debugged, phase: str, end: str, folder: Path) -> None:
    """Have the program of a language outlive its debugger, which ends in a phase of PHASES as ENDS has it; files go into a folder."""
    debugged.check()
    async with asyncio.timeout(3 * LIMIT), running(debugged, folder) as program, server() as wire:
        await PHASES[phase](wire, program)
        await ENDS[end](wire)
        await program.lives_as_before()
