"""What an adapter asks of us, and the processes that it names: how much of it is done."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.e2e.running import free_port, started
from tests.harness import FAKE_ADAPTER, FAKE_PROGRAM, ask, client, fake, printed, read
from tests.processes import LIMIT, process_gone


@asynccontextmanager
async def listening(folder: Path, on: Mapping[str, object]) -> AsyncGenerator[int]:
    """Run a scripted adapter at a port, as somebody who is attached to does."""
    script, port = folder / "listening.json", free_port()
    script.write_text(json.dumps({"on": on}), encoding="utf-8")
    command = [sys.executable, str(FAKE_ADAPTER), str(script), "--port", str(port), "--announce"]
    async with started(*command, says=b"listening"):
        yield port


async def answer(c: Client, command: str) -> str:
    """Step, and return what the adapter tells of our answer to its request."""
    await ask(c, "dap_step_over")
    told, cursor = "", 0
    while f"client answered {command}" not in told:
        more = await ask(
            c, "dap_program_output", category="console", since=cursor, wait_ms=LIMIT * 1000
        )
        told, cursor = told + more["text"], more["cursor"]
    return told


# -- processes


@pytest.mark.parametrize("local", [True, False, None])
async def test_a_process_that_an_adapter_only_names_outlives_the_session(
    settings: Path, local: bool | None
) -> None:
    """An adapter in a container, or on another machine, tells numbers of processes there."""
    async with asyncio.timeout(LIMIT):
        bystander = await asyncio.create_subprocess_exec("sleep", "1000", start_new_session=True)
        told = {} if local is None else {"isLocalProcess": local}
        body = {"name": "debuggee", "systemProcessId": bystander.pid, **told}
        fake(settings, {"threads": [{"event": ["process", body]}, "default"]})
        async with client() as c:
            await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
            await read(c, "dap_terminate")
        bystander.terminate()
        assert await bystander.wait() == -signal.SIGTERM


async def test_a_debuggee_that_has_left_its_parent_and_its_session_ends_with_ours(
    settings: Path,
) -> None:
    fake(settings, {"threads": [{"debuggee": "daemon"}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        pid = int(await printed(c))
        await read(c, "dap_terminate")
        await process_gone(pid)


# -- requests


async def test_an_adapter_that_we_are_attached_to_has_nothing_run_here(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run = {"kind": "integrated", "cwd": "/", "args": ["touch", str(trace)]}
    on = {"next": [{"request": ["runInTerminal", run]}, "default"]}
    async with asyncio.timeout(LIMIT), listening(tmp_path, on) as port, client() as c:
        await ask(c, "dap_run", request="attach", type="debugpy", port=port)
        sentence = f"The adapter asked dapeer to run `touch {trace}`, which is done only for"
        assert f"refused: {sentence}" in await answer(c, "runInTerminal")
        assert sentence in await read(c, "dap_status")
    assert not trace.exists()


async def test_the_adapter_of_an_attached_process_has_nothing_run_here(
    settings: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    run = {"kind": "integrated", "cwd": "/", "args": ["touch", str(trace)]}
    fake(settings, {"next": [{"request": ["runInTerminal", run]}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", request="attach", type="fake", pid=os.getppid())
        assert "refused: The adapter asked dapeer to run" in await answer(c, "runInTerminal")
    assert not trace.exists()


@pytest.mark.parametrize("how", ["startDebugging", "debugpyAttach"])
async def test_who_we_are_attached_to_does_not_choose_to_whom_we_connect(
    tmp_path: Path, how: str
) -> None:
    came: list[asyncio.StreamReader] = []

    def came_in(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        came.append(reader)

    async with asyncio.timeout(LIMIT):
        elsewhere = await asyncio.start_server(came_in, "127.0.0.1", 0)
        port = elsewhere.sockets[0].getsockname()[1]
        child = {"connect": {"host": "127.0.0.1", "port": port}}
        offers: Mapping[str, object] = {
            "startDebugging": {"request": [how, {"request": "attach", "configuration": child}]},
            "debugpyAttach": {"event": [how, child]},
        }
        on = {"next": [offers[how], "default"]}
        async with elsewhere, listening(tmp_path, on) as own, client() as c:
            await ask(c, "dap_run", request="attach", type="debugpy", port=own)
            await ask(c, "dap_step_over")
            assert (
                f"The adapter announced a child process at 127.0.0.1:{port}, "
                f"and dapeer connects only to 127.0.0.1:{own}"
            ) in await read(c, "dap_status")
    assert not came


@pytest.mark.parametrize(
    "where",
    [{"host": "192.0.2.1", "port": 1}, {"host": "127.0.0.1", "port": 70_000}, {"port": "1"}, []],
)
async def test_an_adapter_of_ours_has_us_connect_to_this_machine_only(
    settings: Path, where: object
) -> None:
    child = {"request": "attach", "configuration": {"connect": where}}
    fake(settings, {"next": [{"request": ["startDebugging", child]}, "default"]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "refused: The adapter announced a child process" in await answer(c, "startDebugging")
        assert (await ask(c, "dap_step_over"))["line"] == 3
