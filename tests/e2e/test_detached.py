"""What a program has started: it ends with the program, unless it has left the program's POSIX session; then it is named."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.harness import ask, call, client, needs, read, text
from tests.languages import LANGUAGES, Language, program_of, ready
from tests.mcp.wire import call as message
from tests.mcp.wire import started
from tests.processes import LIMIT, command_line, descendants, process_gone
from tests.programs import Program

SHARED = """
import os, subprocess, sys, time
def sleep(**how):
    return subprocess.Popen(["sleep", "1000"], stdin=-3, stdout=-3, stderr=-3, **how).pid
def twice():
    out, into = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(into, b"%d\\n" % sleep())
        os._exit(0)
    os.wait()
    return int(os.read(out, 20))
"""
LEAVES = {
    "a session of its own": "sleep(start_new_session=True)",
    "a daemon": "twice()",
    "its own environment": "sleep(start_new_session=True, env={})",
}
GOES_ON = "while 'wait' in sys.argv: time.sleep(0.1)\n"


async def started_by(
    tmp_path: Path, code: str, c: Client, *given: str, **how: object
) -> tuple[int, str]:
    """Run a program that starts a process; return that, and what was answered."""
    path = tmp_path / "starts.py"
    path.write_text(
        f"{SHARED}open('pid', 'w').write(str({code}))\nprint('done')  # @done\n{GOES_ON}"
    )
    said = text(await call(c, "dap_run", program="starts.py", args=given, cwd=str(tmp_path), **how))
    return int((tmp_path / "pid").read_text()), said


def line(tmp_path: Path) -> dict[str, Any]:
    return Program(tmp_path / "starts.py", tmp_path / "starts.py").at("done")


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def named(pid: int) -> str:
    return f"still running: {pid} (sleep 1000); dap_terminate(detached=true) ends"


@pytest.mark.parametrize("how", ["sleep()", "sleep(process_group=0)"])
@pytest.mark.parametrize("given", ["wait", ""])
async def test_what_stays_in_the_session_of_a_program_ends_with_it(
    how: str, given: str, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        pid, said = await started_by(tmp_path, how, c, given, timeout_ms=3000)
        said += await read(c, "dap_terminate")
        await process_gone(pid)
        assert "still running" not in said


@pytest.mark.parametrize("kind", LEAVES)
@pytest.mark.parametrize("stopped", [True, False])
async def test_what_has_left_a_program_that_is_ended_is_named_once_and_ended_on_request(
    kind: str, tmp_path: Path, *, stopped: bool
) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        where = {"breakpoints": [{"filename": "starts.py", "line": 15}]} if stopped else {}
        pid, said = await started_by(tmp_path, LEAVES[kind], c, "wait", timeout_ms=3000, **where)
        assert ("Stopped" in said) == stopped
        assert "still running" not in said
        assert named(pid) in await read(c, "dap_terminate")
        assert lives(pid)
        assert "still running" not in await read(c, "dap_terminate")
        assert f"Ended, too: {pid} (sleep 1000)." in await read(c, "dap_terminate", detached=True)
        assert not lives(pid)
        assert "Nothing has left its" in await read(c, "dap_terminate", detached=True)


@pytest.mark.parametrize("kind", ["a session of its own", "a daemon"])
async def test_what_has_left_a_program_that_ends_by_itself_is_named_with_its_end(
    kind: str, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        pid, said = await started_by(tmp_path, LEAVES[kind], c)
        assert named(pid) in said
        assert "still running" not in await read(c, "dap_snapshot")
        again = await read(c, "dap_restart")
        assert str(pid) not in again
        assert lives(pid)
        other = int((tmp_path / "pid").read_text())
        assert named(other) in again
        await read(c, "dap_terminate", detached=True)
        assert not lives(other)
        os.kill(pid, signal.SIGKILL)


async def test_what_node_s_debugger_starts_for_itself_is_not_named(tmp_path: Path) -> None:
    needs("js-debug")
    (tmp_path / "starts.js").write_text(
        "const { spawn } = require('child_process');\n"
        "console.log(spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref() || 'done');\n"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = text(await call(c, "dap_run", program="starts.js"))
        assert said.count("sleep 1000") == 1, said
        assert "watchdog" not in said
        await read(c, "dap_terminate", detached=True)


@pytest.mark.parametrize("language", LANGUAGES, ids=str)
async def test_a_session_leaves_nothing_to_be_named(language: Language, tmp_path: Path) -> None:
    ready(language)
    path = program_of(language, tmp_path)
    how = {"program": str(path), "type": language.adapter, "cwd": str(tmp_path)}
    async with asyncio.timeout(LIMIT), client() as c:
        assert "still running" not in text(await call(c, "dap_run", **how))
        await ask(c, "dap_run", breakpoints=[path.at("inner")], **how)
        assert "still running" not in await read(c, "dap_terminate")
        assert "Nothing has left" in await read(c, "dap_terminate", detached=True)


# rdbg keeps a stopped program for another client where the one it had ends between two of its requests.
@pytest.mark.parametrize("language", [e for e in LANGUAGES if e.adapter != "rdbg"], ids=str)
async def test_nothing_of_a_session_outlives_the_server_and_both_that_watch_over_it(
    language: Language, tmp_path: Path
) -> None:
    ready(language)
    path = program_of(language, tmp_path)
    async with started("dapeer", "stdio", "--no-bridge", "--nvim", "none", cwd=tmp_path) as wire:
        await wire.handshake()
        how = {"program": str(path), "type": language.adapter, "breakpoints": [path.at("inner")]}
        assert "inner" in str((await wire.ask(message(1, "dap_run", **how)))["result"]["content"])
        below = descendants(wire.process.pid)
        # Held first: none of them can do anything for another.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in [wire.process.pid, *(p for p in below if "reaper.py" in command_line(p))]:
                os.kill(pid, number)
        for pid in below:
            await process_gone(pid)
