"""What only JavaScript has: sources that are compiled to others, and Node.js's own code among them."""

import asyncio
import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.loading import load_all, shipped
from dapeer.base.system.ownership import connected
from dapeer.base.system.promptness import duplicated, refusal
from dapeer.dap.messages import Message, Request
from dapeer.mcp.server.server import make_server
from dapeer.sessions.debugger import Debugger
from dapeer.sessions.session import Session
from dapeer.tools import TOOLS
from tests.e2e.running import free_port, started
from tests.harness import DATA, ask, client, needs
from tests.processes import LIMIT, descendants
from tests.programs import PROGRAMS, Program
from tests.sockets import needs_tables

hastens = pytest.mark.skipif(
    bool(refusal()),
    reason="the system does not let dapeer hasten a program: needs Linux 5.6 and kernel.yama.ptrace_scope=0",
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a project of TypeScript that is compiled, with source maps."""
    needs("js-debug")
    return Path(shutil.copytree(PROGRAMS / "typescript", tmp_path / "shop"))


@pytest.mark.parametrize("name", ["compiled/shop.js", "src/shop.ts"])
async def test_a_breakpoint_in_typescript_stops_what_it_is_compiled_to(
    shop: Path, name: str
) -> None:
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum", condition="item.name === 'spoon'")
    async with asyncio.timeout(LIMIT), client(shop) as c:
        stop = await ask(c, "dap_run", program=name, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])
        assert stop["locals"]["sum"] == "40"
        # The adapter's own words are none of the program's, which prints a path, too.
        assert "output" not in stop
        end = await ask(c, "dap_continue")
        assert end["output"].endswith(f"{shop / 'compiled' / 'shop.js'} 42\n")


async def test_a_breakpoint_is_sent_to_the_session_that_runs_the_program_alone(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    loop = tmp_path / "loop.js"
    loop.write_text("let n = 0;\nfor (;;) {\n  n += 1;\n}\n")
    asked: list[int] = []

    def heard(session: Session, message: Message) -> None:
        if isinstance(message, Request) and message.command == "setBreakpoints":
            asked.append(session.id)

    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), tmp_path) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as c,
    ):
        stop = await ask(c, "dap_run", program="loop.js", stop_on_entry=True)
        debugger.sessions[1].program.subscribe(heard)
        await ask(c, "dap_set_breakpoint", filename="loop.js", line=3)
        assert asked == [stop["session_id"]]
        assert (await ask(c, "dap_continue"))["line"] == 3


async def test_a_program_outside_of_the_project_has_a_project_of_its_own(
    shop: Path, tmp_path: Path
) -> None:
    (shop / "package.json").write_text("{}")
    here = tmp_path / "here"
    here.mkdir()
    source = shop / "src" / "shop.ts"
    wanted = Program(source, source).at("sum")
    async with asyncio.timeout(LIMIT), client(here) as c:
        program = str(shop / "compiled" / "shop.js")
        stop = await ask(c, "dap_run", program=program, breakpoints=[wanted])
        assert (stop["file"], stop["line"]) == (str(source), wanted["line"])


async def test_a_step_passes_the_code_of_node_by(tmp_path: Path) -> None:
    needs("js-debug")
    source = tmp_path / "events.js"
    source.write_text(
        'const { EventEmitter } = require("node:events");\n'
        "const bell = new EventEmitter();\n"
        'bell.on("ring", (times) => {\n'
        "  console.log(times);\n"
        "});\n"
        'bell.emit("ring", 3);\n'
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at = {"filename": str(source), "line": 6}
        await ask(c, "dap_run", program=str(source), breakpoints=[at])
        stop = await ask(c, "dap_step_into")
        assert (stop["file"], stop["line"]) == (str(source), 4)


@pytest.fixture
def waits(tmp_path: Path) -> Path:
    """Return a program that comes to its third line again and again."""
    needs("js-debug")
    path = tmp_path / "waits.js"
    path.write_text("let n = 0;\nsetInterval(() => {\n  n += 1;\n}, 10);\n")
    return path


def ends_within(pids: Iterable[int]) -> list[bool]:
    """Return of each end of a TCP connection between two of these processes whether it sends at once."""
    found: list[bool] = []
    for pid in pids:
        for number in connected(pid, {*pids} - {pid}).values():
            with duplicated(pid, number) as file, socket.socket(fileno=os.dup(file)) as end:
                found.append(bool(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
    return found


@needs_tables
@hastens
async def test_a_program_sends_its_debuggers_messages_at_once(waits: Path) -> None:
    """Else most of them wait for an acknowledgement, which takes 40 ms."""
    async with asyncio.timeout(LIMIT), client(waits.parent) as c:
        at = {"filename": str(waits), "line": 3}
        await ask(c, "dap_run", program=str(waits), breakpoints=[at])
        assert ends_within(descendants(os.getpid())) == [True, True]


@needs_tables
@hastens
async def test_a_program_that_was_attached_to_does_so_too(waits: Path) -> None:
    port = free_port()
    async with (
        asyncio.timeout(LIMIT),
        started("node", f"--inspect=127.0.0.1:{port}", str(waits), says=b"listening on"),
        client(waits.parent) as c,
    ):
        at = {"filename": str(waits), "line": 3}
        await ask(c, "dap_run", type="js-debug", request="attach", port=port, breakpoints=[at])
        assert ends_within(descendants(os.getpid())) == [True, True]
