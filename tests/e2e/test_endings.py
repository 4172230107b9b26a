"""How sessions end, and that nothing is left of them. Each test ends with a look for processes."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.harness import (
    FAKE_PROGRAM,
    adapters,
    ask,
    call,
    client,
    data,
    fake,
    pid_of,
    printed,
    read,
    refusal,
    text,
)
from tests.processes import LIMIT, descendants, process_gone
from tests.programs import compiled, program


async def test_a_terminated_session_leaves_no_process_and_keeps_its_output() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        pid = await pid_of(c)
        await read(c, "dap_terminate")
        await process_gone(pid)
        assert (await ask(c, "dap_snapshot"))["state"] == "ended"
        assert (await ask(c, "dap_program_output"))["text"].startswith("round 0\n")
        assert "loop.py" in await read(c, "dap_history")


async def test_a_running_program_is_terminated() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        pid = int((await printed(c)).split()[1])
        await read(c, "dap_terminate")
        await process_gone(pid)


async def test_a_disconnect_from_what_was_launched_ends_it() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        pid = await pid_of(c)
        await read(c, "dap_disconnect")
        await process_gone(pid)


async def test_keeping_a_launched_python_program_is_refused_or_done_but_never_hangs() -> None:
    """Asked for that, debugpy does not answer until the program ends."""
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("turn")])
        await call(c, "dap_disconnect", terminate_debuggee=False)
        await call(c, "dap_terminate")


async def test_ending_what_has_ended_is_clear() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("exit3.py")), exception_filters=[])
        assert "ended" in text(await call(c, "dap_terminate")).lower()
        assert "ended" in text(await call(c, "dap_disconnect")).lower()


async def test_a_wait_ends_when_the_session_is_terminated() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        await printed(c)
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(ask(c, "dap_wait_until_paused", timeout_ms=LIMIT * 1000))
            await read(c, "dap_terminate")
        assert waiting.result()["state"] == "ended"


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "running"])
async def test_a_killed_adapter_is_named_and_its_program_goes_with_it(*, stopped: bool) -> None:
    """Pitfall 12: adapter killed."""
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("started")])
        pid = await pid_of(c)
        if not stopped:
            await ask(c, "dap_continue", wait_until_paused=False)
            await printed(c)
        for adapter in adapters("debugpy"):
            os.kill(adapter, signal.SIGKILL)
            break
        # It returns when there is more to read, or when the session is over.
        await ask(c, "dap_program_output", wait_ms=LIMIT * 1000)
        end = await ask(c, "dap_snapshot")
        assert end["state"] == "ended"
        assert "adapter" in end["cause"]
        await process_gone(pid)
        assert "ended" in await refusal(c, "dap_continue")


@pytest.mark.parametrize("kind", ["debugpy", "gdb"])
async def test_a_killed_program_is_an_end(kind: str, tmp_path: Path) -> None:
    """Pitfall 12: debuggee killed. GDB tells exit code 0 then, and nobody knows better."""
    p = program("endless_loop.py") if kind == "debugpy" else compiled("endless.c", tmp_path)
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("started")])
        expression = "__import__('os').getpid()" if kind == "debugpy" else "(int)getpid()"
        pid = int((await ask(c, "dap_evaluate", expression=expression))["result"])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(call(c, "dap_continue"))
            await printed(c, "started" if kind == "debugpy" else "pid")
            os.kill(pid, signal.SIGKILL)
        assert data(waiting.result())["state"] == "ended"
        assert kind == "gdb" or "SIGKILL" in text(waiting.result())
        await process_gone(pid)


async def test_no_process_is_left_when_the_server_ends_with_sessions_open(tmp_path: Path) -> None:
    """Pitfall 18: also the child of the program goes."""
    python, native = program("grandchild.py"), compiled("endless.c", tmp_path)
    before = set(descendants(os.getpid()))
    async with asyncio.timeout(LIMIT):
        async with client() as c:
            await ask(c, "dap_run", program=str(python), wait_until_paused=False)
            line = await printed(c)
            await ask(c, "dap_run", program=str(native), breakpoints=[native.at("turn")])
            await ask(c, "dap_run", program=str(program("hello.sh")),
                      breakpoints=[program("hello.sh").at("call")])  # fmt: skip
            pids = {int(word) for word in line.split()[1:]} | set(descendants(os.getpid()))
        for pid in pids - before:
            await process_gone(pid)


# What real adapters will not do on demand.


async def test_an_adapter_that_never_answers_initialize_is_given_up(settings: Path) -> None:
    """Pitfall 12."""
    fake(settings, {"initialize": []}, timeouts="control = 1\nrequest = 1\nlaunch = 1")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "initialize" in message
        assert not adapters("fake_adapter")


async def test_an_adapter_that_never_answers_launch_is_given_up(settings: Path) -> None:
    fake(settings, {"launch": []}, timeouts="control = 1\nrequest = 1\nlaunch = 1")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "launch" in message
        assert not adapters("fake_adapter")


async def test_an_adapter_that_is_never_ready_for_breakpoints_is_given_up(settings: Path) -> None:
    fake(settings, {"launch": ["ok"]}, timeouts="launch = 2")
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "did not send `initialized`" in message
        assert not adapters("fake_adapter")


async def test_an_adapter_that_ends_before_initialize_is_quoted(settings: Path) -> None:
    fake(settings, start=[{"stderr": "cannot find libwhatever.so\n"}, {"exit": 7}])
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "libwhatever.so" in message


async def test_an_adapter_that_ends_in_the_middle_of_a_message_is_quoted(settings: Path) -> None:
    torn = {"raw": 'Content-Length: 500\r\n\r\n{"type":"resp'}
    fake(settings, {"launch": [torn, {"stderr": "segmentation fault\n"}, {"exit": 139}]})
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "segmentation fault" in message


async def test_a_launch_that_is_refused_is_told_in_the_words_of_the_adapter(
    settings: Path,
) -> None:
    error = {"id": 3, "format": "no debug information in {file}", "variables": {"file": "a.out"}}
    fake(settings, {"launch": [{"fail": {"message": None, "body": {"error": error}}}]})
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert "no debug information in a.out" in message
        assert not adapters("fake_adapter")


async def test_an_adapter_that_dies_at_a_step_is_quoted_in_the_result(settings: Path) -> None:
    fake(settings, {"next": [{"stderr": "assertion failed: x > 0\n"}, {"exit": 134}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        result = await call(c, "dap_step_over")
        assert "assertion failed" in text(result)
        assert (await ask(c, "dap_snapshot"))["state"] == "ended"


@pytest.mark.parametrize("command", ["next", "pause"])
async def test_an_adapter_that_is_stuck_is_told_and_killed_only_when_the_program_is_ended(
    settings: Path, command: str
) -> None:
    """A look must never destroy: it may be the program that lets nobody in."""
    launch = ["default", {"debuggee": "sleep"}]
    fake(
        settings,
        {
            "launch": launch,
            "next": [],
            "pause": [],
            "continue": ["ok"],
            "terminate": [],
            "disconnect": [],
        },
        timeouts="control = 1\nrequest = 1",
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        pids = [*adapters("fake_adapter"), *adapters("time.sleep(60)")]
        assert len(pids) == 2
        if command == "pause":
            await ask(c, "dap_continue", wait_until_paused=False)
            told = await read(c, "dap_pause", timeout_ms=100)
        else:
            told = await read(c, "dap_step_over", timeout_ms=100)
        assert f"does not answer `{command}`" in told
        assert (await ask(c, "dap_snapshot"))["state"] == "running"
        assert [*adapters("fake_adapter"), *adapters("time.sleep(60)")] == pids
        assert await read(c, "dap_terminate") == "Session 1 ended."
        for pid in pids:
            await process_gone(pid)


async def test_a_question_that_is_never_answered_leaves_the_session_usable(settings: Path) -> None:
    fake(settings, {"evaluate": []}, timeouts="control = 5\nrequest = 1")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        message = await refusal(c, "dap_evaluate", expression="1", timeout_ms=100)
        assert "evaluate" in message
        assert (await ask(c, "dap_step_over"))["line"] == 2


async def test_an_adapter_that_ignores_disconnect_and_sigterm_is_killed(settings: Path) -> None:
    launch = ["default", {"debuggee": "sleep"}]
    fake(
        settings,
        {"launch": launch, "disconnect": [], "terminate": []},
        start=[{"ignore": "terminate"}, {"ignore": "eof"}],
        timeouts="control = 1\nrequest = 1",
    )
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        pids = [*adapters("fake_adapter"), *adapters("time.sleep(60)")]
        assert len(pids) == 2
        await call(c, "dap_terminate")
        for pid in pids:
            await process_gone(pid)


async def test_a_stubborn_adapter_goes_with_the_server(settings: Path) -> None:
    fake(
        settings,
        {"launch": ["default", {"debuggee": "sleep"}], "disconnect": [], "terminate": []},
        start=[{"ignore": "terminate"}, {"ignore": "eof"}],
    )
    async with asyncio.timeout(LIMIT):
        async with client() as c:
            await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
            pids = [*adapters("fake_adapter"), *adapters("time.sleep(60)")]
        assert len(pids) == 2
        for pid in pids:
            await process_gone(pid)


async def test_an_exit_code_that_comes_after_terminated_is_told(settings: Path) -> None:
    """lldb-dap does so."""
    ending = [
        "ok",
        {"event": ["terminated"]},
        {"event": ["output", {"category": "stdout", "output": "last words\n"}]},
        {"event": ["exited", {"exitCode": 9}]},
    ]
    fake(settings, {"continue": ending})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        end = await ask(c, "dap_continue")
        assert (end["state"], end["exit_code"]) == ("ended", 9)
        assert end["output"] == "last words\n"


async def test_terminated_twice_is_one_end(settings: Path) -> None:
    ending = ["ok", {"event": ["terminated", {"restart": False}]}, {"event": ["terminated", None]}]
    fake(settings, {"continue": ending})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_an_end_of_the_wire_without_terminated_is_an_end(settings: Path) -> None:
    fake(settings, {"continue": ["ok", {"exit": 0}]})
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=FAKE_PROGRAM, type="fake")
        assert (await ask(c, "dap_continue"))["state"] == "ended"


async def test_a_program_killed_while_it_is_stopped_is_an_end() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")])
        os.kill(await pid_of(c), signal.SIGKILL)
        await call(c, "dap_continue")
        end = await ask(c, "dap_wait_until_paused")
        assert end["state"] == "ended"
        assert "ended" in await refusal(c, "dap_step_over")
