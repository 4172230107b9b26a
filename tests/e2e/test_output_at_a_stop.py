"""The output before a stop is told with the stop: it comes another way than the stop, and may be slow."""

import asyncio
import os
import signal
from asyncio import FIRST_COMPLETED
from pathlib import Path

from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.dap.messages import Message, Request
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, ask, client
from tests.processes import LIMIT, command_line, descendants
from tests.programs import ROOT, program


async def test_a_stop_waits_for_the_output_before_it_however_slow_that_comes() -> None:
    """What reads the program's pipe does nothing until the stop has been seen, and all of it been fetched."""
    p, asked = program("loop.py"), asyncio.Event()
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), ROOT) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as c,
    ):
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        launchers = [
            pid for pid in descendants(os.getpid()) if "debugpy/launcher " in command_line(pid)
        ]
        assert launchers
        for pid in launchers:
            os.kill(pid, signal.SIGSTOP)

        def heard(_: Session, message: Message) -> None:
            if isinstance(message, Request) and message.command == "dapeerDrain":
                asked.set()

        debugger.sessions[1].program.subscribe(heard)
        answer = asyncio.create_task(ask(c, "dap_continue"))
        await asyncio.wait(
            {answer, waiting := asyncio.create_task(asked.wait())}, return_when=FIRST_COMPLETED
        )
        waiting.cancel()
        assert not answer.done()
        for pid in launchers:
            os.kill(pid, signal.SIGCONT)
        assert (await answer)["output"] == "round 1\n"


async def test_a_program_that_prints_all_the_time_stops_at_once(tmp_path: Path) -> None:
    """What another thread prints behind the stop delays nothing."""
    source = tmp_path / "talks.py"
    source.write_text(
        "import subprocess, sys\n"
        "talks = 'while True: print(\"talk \" * 200, flush=True)'\n"
        "child = subprocess.Popen([sys.executable, '-c', talks])\n"
        "for n in range(3):\n"
        "    print('said', n, flush=True)\n"
        "child.kill()\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": str(source), "line": 6}
        stop = await ask(c, "dap_run", program=str(source), breakpoints=[at], follow_children=False)
        assert stop["line"] == 6
        said = await ask(c, "dap_program_output")
        assert "said 2" in said["text"] + stop["output"]
        await ask(c, "dap_terminate")
