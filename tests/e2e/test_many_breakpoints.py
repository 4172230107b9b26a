"""Many breakpoints of one file, set by one call."""

import asyncio
from pathlib import Path

from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped
from dapeer.dap.messages import Message, Request
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from tests.harness import DATA, ask, call, client, data, evaluate, refusal, text
from tests.processes import LIMIT

NUMBER = 300
PYDEVD = "__import__('pydevd')"


async def test_they_are_one_request_and_those_as_asked_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "long.py"
    source.write_text("".join(f"n = {n}\n" for n in range(1, NUMBER)) + "# the end\n")
    requests: list[int] = []

    def heard(_: Session, message: Message) -> None:
        if isinstance(message, Request) and message.command == "setBreakpoints":
            requests.append(len(message.arguments["breakpoints"]))

    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped()), tmp_path) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as c,
    ):
        await ask(c, "dap_run", program="long.py", stop_on_entry=True)
        debugger.sessions[1].program.subscribe(heard)
        lines, changes = [*range(3, NUMBER + 1), 2], f"{PYDEVD}.get_global_debugger().mtime"
        before = int(await evaluate(c, changes))
        told = await call(c, "dap_set_breakpoint", filename="long.py", line=2, more_lines=lines)
        moved = f"long.py:{NUMBER} verified, moved to line {NUMBER - 1} | n = {NUMBER - 1}"
        assert text(told) == f"long.py: {NUMBER - 2} breakpoints verified\n{moved}"
        assert (data(told)["set"], len(data(told)["breakpoints"])) == (NUMBER - 1, 1)
        assert requests == [NUMBER - 1]
        # pydevd counts each time that it sorts breakpoints by line, or looks at all threads: not for each breakpoint.
        assert int(await evaluate(c, changes)) <= before + 3
        assert [(await ask(c, "dap_continue"))["line"] for _ in range(3)] == [2, 3, 4]


async def test_few_are_told_one_by_one_and_share_what_they_do(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("for n in range(3):\n    a = n\n    b = n\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"filename": "short.py", "line": 2, "more_lines": [3], "condition": "n == 1"}
        told = await call(c, "dap_set_breakpoint", **asked)
        assert [line.split(" ")[0] for line in text(told).splitlines()] == [
            "short.py:2",
            "short.py:3",
        ]
        first = await ask(c, "dap_run", program="short.py")
        then = await ask(c, "dap_continue")
        assert [(each["line"], each["locals"]["n"]) for each in (first, then)] == [
            (2, "1"),
            (3, "1"),
        ]


async def test_none_is_set_if_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("a = 1\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        asked = {"filename": "short.py", "line": 1, "more_lines": [9]}
        assert "has only 1 lines" in await refusal(c, "dap_set_breakpoint", **asked)
        assert (await ask(c, "dap_breakpoints"))["breakpoints"] == []
