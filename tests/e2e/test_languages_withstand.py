"""What every adapter must withstand. Each test ends with a look for processes that are left behind."""

import asyncio
import os
import re
import signal
import subprocess
from pathlib import Path

from mcp import Client

from dapeer.adapters.choice.detection import detect
from tests.e2e.conftest import names_in
from tests.e2e.test_server_end import server
from tests.harness import ask, call, client, data, read, refusal, text
from tests.languages import LANGUAGES, Language, named, program_of, ready
from tests.processes import LIMIT, age_order, command_line, descendants, process_gone
from tests.programs import compiled, copied


async def stop(c: Client, language: Language, build: Path) -> None:
    """Run the program to a stop."""
    p = program_of(language, build)
    await ask(c, "dap_run", type=language.adapter, program=str(p), breakpoints=[p.at("inner")])


async def end(c: Client) -> None:
    """Wait until the session has ended."""
    told = {"ended": False, "cursor": 0}
    while not told["ended"]:
        told = await ask(
            c, "dap_program_output", since=told["cursor"], wait_ms=LIMIT * 1000, lines=1000
        )


def adapter() -> int:
    """Return the process of the adapter: of those that lead a session the one that is no reaper."""
    ours = [pid for pid in descendants(os.getpid()) if os.getsid(pid) == pid]
    return next(pid for pid in ours if "reaper" not in command_line(pid))


CAN_JUMP = ("debugpy", "codelldb")


def program_process() -> int:
    """Return the program's process: the youngest of the adapter's, or the adapter itself."""
    below = descendants(adapter())
    # js-debug has the program start a process of its own.
    ours = [pid for pid in below if "watchdog.js" not in command_line(pid)]
    return max(ours, key=age_order, default=adapter())


def youngest() -> int:
    """Return the process that the adapter has started last: the program. It may be the adapter's own."""
    return max(descendants(adapter()), key=age_order, default=adapter())


async def test_a_killed_adapter_ends_the_session_and_the_program(
    language: Language, build: Path
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await stop(c, language, build)
        # What an adapter does not offer it is not asked for; some die of that.
        answer = text(await call(c, "dap_goto", line=1))
        assert language.adapter in CAN_JUMP or "does not support `gotoTargets`" in answer
        program = youngest()
        os.kill(adapter(), signal.SIGKILL)
        await end(c)
        await process_gone(program)
        # Where the adapter is the program's own process, that was killed.
        assert re.search("ended|was killed by SIGKILL", await refusal(c, "dap_continue"))


async def test_a_program_that_is_killed_while_it_is_stopped_has_ended_and_what_killed_it_is_told(
    language: Language, build: Path
) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        await stop(c, language, build)
        os.kill(program_process(), signal.SIGKILL)
        # Nothing is asked of the adapter: some notice it only when they are to go on.
        await end(c)
        for session in (await ask(c, "dap_status"))["sessions"]:
            assert (session["state"], session["cause"]) == ("ended", "killed by SIGKILL")
        assert "was killed by SIGKILL while it was stopped" in await refusal(c, "dap_continue")


async def test_what_a_ruby_program_starts_is_not_taken_for_the_program(tmp_path: Path) -> None:
    """Ruby's debugger runs the program in its own process, as CMake does."""
    ready(named("rdbg"))
    source = tmp_path / "parent.rb"
    source.write_text(
        "helper = spawn('sleep', '100')\nbefore = 1\nProcess.kill(:KILL, helper)\n"
        "Process.wait(helper)\nafter = 2\n"
    )
    lines = [{"filename": str(source), "line": line} for line in (2, 5)]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="rdbg", program=str(source), breakpoints=lines)
        stop = await ask(c, "dap_continue")
        assert (stop["state"], stop["line"]) == ("stopped", 5)
        os.kill(adapter(), signal.SIGKILL)
        await end(c)
        [session] = (await ask(c, "dap_status"))["sessions"]
        assert session["cause"] == "killed by SIGKILL"


async def test_a_program_that_is_killed_as_it_is_resumed_has_ended(
    language: Language, build: Path
) -> None:
    """Some adapters tell that as one more stop, or not at all."""
    async with asyncio.timeout(LIMIT), client() as c:
        await stop(c, language, build)
        os.kill(program_process(), signal.SIGKILL)
        result = await call(c, "dap_continue")
        assert result.is_error or data(result)["state"] == "ended", text(result)


async def test_a_program_that_takes_long_to_die_does_not_stop_once_more(tmp_path: Path) -> None:
    ready(named("codelldb"))
    source = tmp_path / "much.c"
    source.write_text(
        "#include <stdlib.h>\n#include <string.h>\nint main(void) {\n"
        "    size_t much = 400u << 20;\n    char *held = memset(malloc(much), 1, much);\n"
        "    return held[7];\n}\n"
    )
    p = compiled("", tmp_path, source)
    at = [{"filename": str(source), "line": 6}]
    async with asyncio.timeout(LIMIT), client() as c:
        await ask(c, "dap_run", type="codelldb", program=str(p), breakpoints=at)
        os.kill(program_process(), signal.SIGKILL)
        ended = await ask(c, "dap_continue")
        assert (ended["state"], ended["cause"]) == ("ended", "killed by SIGKILL")


async def test_a_program_that_cannot_be_run_is_told_and_leaves_nothing(
    language: Language, tmp_path: Path
) -> None:
    source = tmp_path / f"broken{Path(language.source).suffix}"
    source.write_text("( this is no program\n")
    async with asyncio.timeout(LIMIT), client() as c:
        gone = str(tmp_path / "nothing")
        assert "does not exist" in await refusal(c, "dap_run", type=language.adapter, program=gone)
        result = await call(c, "dap_run", type=language.adapter, program=str(source))
        if result.is_error:
            assert language.adapter in text(result) or language.definition.title in text(result)
        else:
            told = data(result)
            if told["state"] == "stopped":
                # Node.js raises the error in its own loader, where nobody catches it.
                assert f"{source.name}:1" in told["exception"], text(result)
                told = await ask(c, "dap_continue")
            assert told["state"] == "ended", text(result)
        assert (await ask(c, "dap_status"))["sessions"] == [] or not result.is_error


async def test_a_session_can_be_ended_while_it_starts(language: Language, build: Path) -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        async with c.listen(resources_list_changed=True) as changes:
            starting = asyncio.create_task(stop(c, language, build))
            # The session is there from before the first message to the adapter.
            await anext(aiter(changes))
            await call(c, "dap_terminate")
            await asyncio.wait([starting])
        starting.exception()
        assert all(each["state"] == "ended" for each in (await ask(c, "dap_status"))["sessions"])


async def test_nothing_of_any_adapter_outlives_a_killed_server(
    build: Path, temporary: Path
) -> None:
    """Two more are in test_server_end."""
    others = [language for language in LANGUAGES if language.adapter not in {"debugpy", "gdb"}]
    there = [language for language in others if detect(language.definition).ready]
    async with asyncio.timeout(LIMIT), server() as wire:
        for language in there:
            p = program_of(language, build)
            arguments = {"type": language.adapter, "program": str(p), "where": "direct"}
            stop = await wire.tool("dap_run", **arguments, breakpoints=[p.at("inner")])
            assert stop["state"] == "stopped", stop
        pids = descendants(wire.process.pid)
        assert len(pids) > len(there)
        os.kill(wire.process.pid, signal.SIGKILL)
        for pid in pids:
            await process_gone(pid)
    # LLDB may crash when its client has gone; these are files by which LLVM prints the stack then.
    assert not {each for each in names_in(temporary) if not each.startswith("symbolizer-")}


async def test_what_the_compiler_says_is_the_reason_why_nothing_runs(tmp_path: Path) -> None:
    ready(named("delve"))
    source = tmp_path / "broken.go"
    source.write_text("package main\n\nfunc main() { missing() }\n")
    async with asyncio.timeout(LIMIT), client() as c:
        said = await refusal(c, "dap_run", program=str(source))
        assert "broken.go:3" in said
        assert "missing" in said
        assert await read(c, "dap_status")


async def test_a_compiled_go_program_and_a_package_are_run_as_they_are(tmp_path: Path) -> None:
    ready(named("delve"))
    p = copied("loop.go", tmp_path)
    (tmp_path / "go.mod").write_text("module loop\n")
    built = tmp_path / "loop"
    subprocess.run(["go", "build", "-gcflags=all=-N -l", "-o", built], cwd=tmp_path, check=True)  # noqa: ASYNC221
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for program in (tmp_path, built):
            arguments = {"type": "delve", "program": str(program), "breakpoints": [p.at("inner")]}
            assert (await ask(c, "dap_run", **arguments))["locals"]["value"] == "0"
            await ask(c, "dap_terminate")
    assert names_in(tmp_path) == {"loop.go", "go.mod", "loop"}
