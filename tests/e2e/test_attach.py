"""Attaching to a program that runs already."""

import asyncio
import json
import os
import re
import shutil
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dapeer.adapters.definition.definition import shipped
from tests import second_user
from tests.e2e.running import (
    free_port,
    go_built,
    listening,
    needs_ptrace,
    not_of_the_event_loop,
    started,
)
from tests.e2e.test_languages_withstand import end
from tests.harness import ask, call, client, evaluate, is_version, needs, read, refusal, text
from tests.processes import LIMIT, process_gone
from tests.programs import Program, compiled, copied, program
from tests.pythons import python_of, versions
from tests.shown import Shows
from tests.sockets import needs_tables

needs_gdb = pytest.mark.skipif(
    shutil.which("gdb") is None, reason="needs gdb on PATH: apt-get install gdb"
)


async def test_several_attaches_at_once_overlap(tmp_path: Path) -> None:
    """The one of a program that does not answer yet keeps no other from being attached."""
    p = program("endless_loop.py")
    async with (
        asyncio.timeout(LIMIT),
        client(tmp_path) as c,
        silent() as (taken, unanswered),
        listening(p.path) as (first, one),
        listening(p.path) as (second, two),
    ):
        attach = {"request": "attach", "type": "python"}
        slow = asyncio.create_task(call(c, "dap_run", **attach, port=unanswered))
        # It has connected to what does not answer, and waits.
        await taken.wait()
        stops = await asyncio.gather(
            *(
                ask(c, "dap_run", **attach, port=port, breakpoints=[p.at("turn")])
                for port in (one, two)
            )
        )
        assert not slow.done()
        assert [each["line"] for each in stops] == [p.line("turn")] * 2
        assert len({each["session_id"] for each in stops}) == 2
        for each in stops:
            await read(c, "dap_disconnect", session_id=each["session_id"])
        assert first.returncode is None
        assert second.returncode is None
        slow.cancel()


@asynccontextmanager
async def silent() -> AsyncGenerator[tuple[asyncio.Event, int]]:
    """Listen at a port, and answer nothing there; yield what tells that somebody has come, and the port."""
    taken, left = asyncio.Event(), asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.set()
        await left.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield taken, server.sockets[0].getsockname()[1]
        left.set()


async def test_a_program_that_listens_is_attached_stopped_changed_and_left_alone() -> None:
    p = program("endless_loop.py")
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        listening(program("endless_loop.py").path) as (process, port),
    ):
        await read(c, "dap_set_breakpoint", **p.at("turn"))
        stop = await ask(c, "dap_run", request="attach", type="python", port=port)
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert int((await ask(c, "dap_evaluate", expression="turns"))["result"]) > 0
        await read(c, "dap_disconnect")
        assert process.returncode is None
        # It goes on by itself: the breakpoint is gone with the debugger.
        again = await ask(c, "dap_run", request="attach", type="python", port=port,
                          host="127.0.0.1")  # fmt: skip
        assert (again["reason"], again["line"]) == ("breakpoint", p.line("turn"))
        await read(c, "dap_clear_breakpoints")
        await read(c, "dap_evaluate", expression="running = False", context="repl")
        await ask(c, "dap_continue")
        await process_gone(process.pid)


STATE = "{name: __import__('sys').modules['dapeer_debuggee.patching'].rows[name].off for name in ('conditions', 'values')}"


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("-conditions", "{'conditions': 'switched off by DAPEER_PATCHES', 'values': ''}"),
        ("off", "KeyError: 'dapeer_debuggee.patching'"),
    ],
)
async def test_an_attached_program_is_patched_only_as_the_user_wants(
    setting: str, told: str, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAPEER_PATCHES", setting)
    # A server reads its definitions as it starts.
    folder = settings / "dapeer" / "adapters"
    folder.mkdir(parents=True)
    shutil.copy(shipped() / "debugpy.toml", folder)
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c, listening(p.path) as (_, port):
        at = [p.at("turn")]
        await ask(c, "dap_run", request="attach", type="python", port=port, breakpoints=at)
        assert told in text(await call(c, "dap_evaluate", expression=STATE))


LOOKED_AT = """
import asyncio
import re
import sys
import time


class Cart:
    def __init__(self):
        self.total = 3


def change(found):
    cart, deep = Cart(), {"a": [[1, 2], [3, 4]]}
    return str(cart.total)  # @change


async def inner():
    return re.sub("a", change, "a")


async def outer():
    return await asyncio.create_task(inner(), name="inner")  # @outer


def replaced():
    modules = [m for n, m in list(sys.modules.items()) if n.startswith(("pydevd", "_pydevd"))]
    classes = [c for m in modules for c in list(vars(m).values()) if isinstance(c, type)]
    held = [v for each in modules + classes + [sys] for v in list(vars(each).values())]
    ours = [v for v in held if str(getattr(v, "__module__", "")).startswith("dapeer_debuggee")]
    return bool(ours) or "dapeer_debuggee" in sys.modules


told = None
while True:
    if told != replaced():
        told = replaced()
        print("mended" if told else "stock", flush=True)
    asyncio.run(outer())
    time.sleep(0.01)
"""


async def test_an_attached_program_is_told_as_one_that_was_started_and_left_as_it_was(
    tmp_path: Path,
) -> None:
    path = tmp_path / "looked_at.py"
    path.write_text(LOOKED_AT, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (process, port):
        for _ in range(2):
            stop = await ask(
                c, "dap_run", request="attach", type="python", port=port,
                breakpoints=[p.at("change")],
            )  # fmt: skip
            assert stop["locals"]["deep"] == "{'a': [[1, 2], [3, 4]]}"
            assert stop["locals"]["cart"] == "Cart(total=3)"
            lines = [line.partition(" [")[0] for line in stop["stack"]]
            assert lines[1].startswith("sub re")
            assert "(task inner, awaited by task Task-" in stop["stack"][3]
            assert lines[4] == f"outer looked_at.py:{p.line('outer')}"
            assert await evaluate(c, "deep") == "{'a': [[1, 2], [3, 4]]}"
            await read(c, "dap_disconnect")
            assert process.stdout is not None
            assert [await process.stdout.readline() for _ in range(2)] == [b"mended\n", b"stock\n"]


async def test_an_attached_program_that_is_left_as_it_is_tells_what_debugpy_leaves_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "as_it_is.py"
    text = LOOKED_AT.replace(
        "import time\n", "import time\n\nsys.modules['dapeer_debuggee'] = None\n"
    )
    path.write_text(text, encoding="utf-8")
    p = Program(path, path)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (_, port):
        stop = await ask(
            c, "dap_run", request="attach", type="python", port=port, breakpoints=[p.at("change")]
        )
        assert stop["locals"]["deep"] == "{'a': [[1, 2], [3, 4]]}"
        assert "cart" in stop["locals"]
        (note,) = [each for each in stop["notes"] if "left out" in each]
        assert re.fullmatch(r"\d+ frames of Python's library left out by justMyCode", note)
        await read(c, "dap_disconnect")


HANGS = """
import threading

locks = {"left": threading.Lock(), "right": threading.Lock()}
both = threading.Barrier(2)


def takes(first, second):
    with locks[first]:
        both.wait()
        locks[second].acquire()


threads = [
    threading.Thread(target=takes, args=pair, name=pair[0], daemon=True)
    for pair in (("left", "right"), ("right", "left"))
]
for each in threads:
    each.start()
print("begun", flush=True)
threads[0].join()
"""


async def test_an_attached_program_that_hangs_tells_why_and_what_its_blocked_frames_hold(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hangs.py"
    path.write_text(HANGS, encoding="utf-8")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c, listening(path) as (_, port):
        await read(c, "dap_run", request="attach", type="python", port=port, timeout_ms=0)
        told = await read(c, "dap_pause")
        assert (
            "thread left waits for Lock locks['right'], held by thread right since hangs.py:"
            in told
        )
        assert "Deadlock:" in told
        blocked = re.search(r"^ +\d+ left blocked at .*\[frame_id (\d+)\]$", told, re.MULTILINE)
        assert blocked, told
        held = await ask(c, "dap_evaluate", expression="second", frame_id=int(blocked[1]))
        assert held["result"] == "'right'"
        assert not [line for line in told.splitlines() if line.startswith("(dapeer's patch")]


async def test_what_was_attached_is_ended_only_when_asked() -> None:
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        listening(program("sleeper.py").path) as (process, port),
    ):
        await ask(c, "dap_run", request="attach", type="python", port=port,
                  wait_until_paused=False)  # fmt: skip
        await read(c, "dap_disconnect", terminate_debuggee=True)
        await process_gone(process.pid)


async def test_an_attached_program_outlives_the_server() -> None:
    async with asyncio.timeout(LIMIT), listening(program("sleeper.py").path) as (process, port):
        async with client() as c:
            await ask(c, "dap_run", request="attach", type="python", port=port,
                      wait_until_paused=False)  # fmt: skip
        async with client() as c:
            # Still there, and free for the next one.
            await ask(c, "dap_run", request="attach", type="python", port=port,
                      wait_until_paused=False)  # fmt: skip
        assert process.returncode is None


@pytest.mark.parametrize("kind", ["python", "js-debug", "gdb"])
async def test_a_port_where_nobody_listens_is_refused_and_named(kind: str) -> None:
    if kind != "python":
        needs(kind)
    port = free_port()
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type=kind, port=port)
        assert str(port) in message or "Connection refused" in message
        assert (await ask(c, "dap_status"))["sessions"] == []


@needs_tables
async def test_what_listens_at_a_port_is_told_nothing_before_its_debugger_is_known() -> None:
    port = free_port()
    silent = (
        f"import socket, sys; server = socket.create_server(('127.0.0.1', {port}));"
        "print('listening', file=sys.stderr); server.accept()"
    )
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        started(sys.executable, "-c", silent, says=b"listening") as process,
    ):
        message = await refusal(c, "dap_run", request="attach", port=port)
        assert f"it is python's, process {process.pid}" in message
        assert "Give its `type`: debugpy, " in message
        assert process.returncode is None


@needs_tables
async def test_a_program_under_gdbserver_is_attached_to_and_not_killed(build: Path) -> None:
    needs("gdb")
    server = shutil.which("gdbserver")
    if server is None:
        pytest.skip("needs gdbserver: apt-get install gdbserver")
    p, port = compiled("loop.c", build), free_port()
    command = [server, "--once", f"127.0.0.1:{port}", str(p)]
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        started(*command, says=b"Listening") as process,
    ):
        at = [p.at("inner")]
        stop = await ask(c, "dap_run", request="attach", port=port, breakpoints=at)
        assert (stop["line"], process.returncode) == (p.line("inner"), None)
        # GDB says which libraries it reads from there.
        assert "remote target" not in await read(c, "dap_program_output", since=0)


@second_user.needed
@needs_tables
@pytest.mark.parametrize("kind", ["python", "delve", "js-debug", "gdb"])
async def test_a_port_at_which_another_user_listens_is_refused_and_told_nothing(kind: str) -> None:
    needs("debugpy" if kind == "python" else kind)
    with second_user.runs(second_user.THIEF, 0) as thief:
        port = int(second_user.says(thief))
        async with asyncio.timeout(LIMIT), client() as c:
            message = await refusal(c, "dap_run", request="attach", type=kind, port=port)
            assert (await ask(c, "dap_status"))["sessions"] == []
        assert message.startswith(
            f"Another user of this machine (nobody) listens at 127.0.0.1:{port}. Nothing was sent."
        )
        # A connection that ends is told with all that came; the first may be none of dapeer's.
        with socket.create_connection(("127.0.0.1", port)):
            pass
        assert second_user.says(thief) == "b''"


async def test_a_port_where_no_debugger_listens_is_given_up() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org ESMTP\r\n")
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with (
            asyncio.timeout(2 * LIMIT),
            client() as c,
            await asyncio.start_server(greet, "127.0.0.1", 0) as other,
        ):
            for port in (silent.getsockname()[1], other.sockets[0].getsockname()[1]):
                message = await refusal(c, "dap_run", request="attach", type="python", port=port)
                assert message.startswith(f"What listens at port {port} is not a debug adapter.")


@needs_gdb
@needs_ptrace
@versions("3.8", "3.9", "3.10", "3.12", "3.13")
async def test_a_process_is_left_as_it_was_though_a_file_of_it_is_named_like_a_module_of_python(
    tmp_path: Path, version: str
) -> None:
    p = copied("attached_state.py", tmp_path)
    (tmp_path / "glob.py").write_text("def glob():\n    return 'of the program'\n")
    async with asyncio.timeout(3 * LIMIT):
        process = await asyncio.create_subprocess_exec(
            python_of(version), str(p), stdin=PIPE, stdout=PIPE, limit=1 << 22
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pid = int(await process.stdout.readline())
            process.stdin.write(b"\n\n")
            await process.stdout.readline()
            states = [json.loads(await process.stdout.readline())]
            for _ in range(2):
                async with client(tmp_path) as c:
                    # It waits for input meanwhile.
                    at, soon = [p.at("turn")], 1000
                    await ask(
                        c, "dap_run", request="attach", pid=pid, breakpoints=at, timeout_ms=soon
                    )
                    process.stdin.write(b"\n")
                    assert (await ask(c, "dap_wait_until_paused"))["state"] == "stopped"
                    await read(c, "dap_disconnect")
                process.stdin.write(b"end\n")
                while not (told := json.loads(await process.stdout.readline()))["last"]:
                    pass
                states.append(told)
        finally:
            process.kill()
            await process.wait()
    compare(states)


@needs_gdb
@needs_ptrace
@versions("3.12")
async def test_an_attach_prints_and_leaves_nothing_in_a_program_that_has_no_threads(
    version: str,
) -> None:
    # Site packages might import `threading`.
    code = (
        "import sys\nprint('threading' in sys.modules, flush=True)\n"
        "for line in sys.stdin: print(line.strip(), 'attach_script' in sys.modules, flush=True)"
    )
    async with asyncio.timeout(LIMIT):
        process = await asyncio.create_subprocess_exec(
            python_of(version), "-I", "-S", "-c", code, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        assert process.stdout is not None
        try:
            assert await process.stdout.readline() == b"False\n"
            async with client() as c:
                await ask(c, "dap_run", request="attach", pid=process.pid, timeout_ms=3000)
                await read(c, "dap_disconnect")
            assert await process.communicate(b"on\n") == (b"on False\n", b"")
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def compare(states: list[dict[str, Any]]) -> None:
    # The debugger closes its connection a moment later; the one of the first attach is closed by the end of the second.
    assert states[2]["files"].count("socket") <= 1
    # A thread of its own that ends then may still enter itself among the program's, as a dummy: seen once on a busy machine.
    first, second, third = [
        each
        | {
            "modules": None,
            "files": [name for name in each["files"] if name != "socket"],
            "threads": [name for name in each["threads"] if not name.startswith("Dummy-")],
        }
        for each in states
    ]
    assert second == first | {"last": True}
    assert third == second
    assert states[1]["modules"] == states[2]["modules"]
    added = set(states[1]["modules"]) - set(states[0]["modules"])
    strange = {each.partition(".")[0] for each in added} - {*sys.stdlib_module_names}
    assert {
        each for each in strange if not each.startswith(("_", "pydev", "debugpy", "cython"))
    } == set()


@needs_gdb
@needs_ptrace
async def test_a_python_process_is_attached_by_its_id_again_and_again(shows: Shows) -> None:
    p = program("endless_loop.py")
    async with asyncio.timeout(LIMIT), client() as c, started(sys.executable, str(p)) as process:
        for _ in range(2):
            # Which adapter fits is told by the process itself.
            stop = await ask(c, "dap_run", pid=process.pid, breakpoints=[p.at("turn")])
            assert stop["line"] == p.line("turn")
            again = await refusal(c, "dap_run", pid=process.pid)
            assert f"debugged already, in session {stop['session_id']}" in again
            assert "The program runs on." in await read(c, "dap_disconnect")
            # As data, too.
            last = (await ask(c, "dap_status"))["sessions"][-1]
            assert (last["state"], last["cause"]) == ("ended", "detached; the program runs on")
            assert process.returncode is None
    shows("python", "attach")


@needs_ptrace
@pytest.mark.parametrize("kind", ["gdb", "lldb-dap", "codelldb"])
async def test_a_compiled_process_is_attached_by_its_id_and_outlives_whoever_leaves_it(
    kind: str, tmp_path: Path, shows: Shows
) -> None:
    needs(kind)
    p = compiled("endless.c", tmp_path)
    async with asyncio.timeout(LIMIT), started(str(p)) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        async with client() as c:
            stop = await ask(
                c, "dap_run", request="attach", type=kind, pid=process.pid,
                breakpoints=[p.at("turn")],
            )  # fmt: skip
            assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
            assert int(stop["locals"]["turns"]) > 0
            # Its adapter is at it already: another one cannot be.
            twice = await refusal(c, "dap_run", request="attach", pid=process.pid, type="gdb")
            assert f"Process {process.pid} is debugged already" in twice
            assert "The program runs on." in await read(c, "dap_disconnect")
        async with client() as c:
            # Nothing of the breakpoint is left in it; it runs when the server ends.
            await ask(c, "dap_run", request="attach", type=kind, pid=process.pid,
                      wait_until_paused=False)  # fmt: skip
        async with client() as c:
            await ask(c, "dap_run", request="attach", pid=process.pid)
            if (await ask(c, "dap_status"))["sessions"][0]["state"] != "stopped":
                await ask(c, "dap_pause")
            await read(c, "dap_run_to", **p.at("turn"))
            await read(c, "dap_evaluate", expression="running = 0", context="watch")
            await read(c, "dap_disconnect")
        # The value that it was given ends it: so it ran.
        await process_gone(process.pid)
    shows(kind, "attach")


OF_PLUGIN = """\
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int (*turn)(int) = dlsym(dlopen("./parts/turn.so", RTLD_NOW), "turn");
    fputs("ready\\n", stderr);
    for (int i = 0;; i++) {
        turn(i % 5);
        usleep(10000);
    }
}
"""


def with_plugin(folder: Path) -> tuple[Program, Path]:
    """Compile a program that loads a library by a relative path; return it, and the library's source."""
    (folder / "parts").mkdir()
    library = folder / "parts" / "turn.c"
    library.write_text("int turn(int x) {\n    int y = x * 2;\n    return y;\n}\n")
    made = compiled(library.name, library.parent, library, ["-shared", "-fPIC"]).path
    made.rename(made.with_suffix(".so"))
    source = folder / "plug.c"
    source.write_text(OF_PLUGIN)
    return compiled(source.name, folder, source), library


@needs_ptrace
@pytest.mark.parametrize("kind", ["gdb", "lldb-dap", "codelldb"])
async def test_a_breakpoint_is_met_in_what_an_attached_process_has_loaded_by_a_relative_path(
    kind: str, tmp_path: Path
) -> None:
    needs(kind)
    p, library = with_plugin(tmp_path)
    async with (
        asyncio.timeout(LIMIT),
        started("sh", "-c", f"cd {tmp_path} && exec {p}", says=b"ready") as process,
        client() as c,
    ):
        at = [{"filename": str(library), "line": 3, "condition": "y == 6"}]
        stop = await ask(c, "dap_run", request="attach", type=kind, pid=process.pid, breakpoints=at)
        assert (stop["line"], stop["locals"]["x"]) == (3, "3")
        assert "output" not in stop


@needs_gdb
@needs_ptrace
@pytest.mark.parametrize("kind", ["debugpy", "gdb"])
async def test_a_process_that_is_attached_by_its_id_and_killed_has_ended(
    kind: str, tmp_path: Path
) -> None:
    needs(kind)
    python = program("endless_loop.py")
    p = python if kind == "debugpy" else compiled("endless.c", tmp_path)
    command = (sys.executable, str(p)) if p is python else (str(p),)
    wanted = [p.at("turn")]
    async with asyncio.timeout(LIMIT), client() as c:
        with not_of_the_event_loop(*command) as process:
            await ask(
                c, "dap_run", request="attach", type=kind, pid=process.pid, breakpoints=wanted
            )
            process.kill()
            await end(c)
            session = (await ask(c, "dap_status"))["sessions"][0]
            assert (session["state"], session["cause"]) == ("ended", "killed by SIGKILL")


async def test_a_node_without_an_inspector_is_told_to_open_one() -> None:
    needs("js-debug")
    waits = "setInterval(() => {}, 1000); console.error('waits')"
    async with client() as c, started("node", "-e", waits, says=b"waits") as process:
        message = await refusal(c, "dap_run", request="attach", pid=process.pid)
        assert f"kill -USR1 {process.pid}" in message


async def test_node_is_attached_at_its_inspector_and_left_running(
    tmp_path: Path, shows: Shows
) -> None:
    needs("js-debug")
    p = copied("endless.js", tmp_path)
    port = free_port()
    node = shutil.which("node") or "node"
    async with (
        asyncio.timeout(LIMIT),
        client(tmp_path) as c,
        started(node, f"--inspect=127.0.0.1:{port}", str(p)) as process,
    ):
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(c, "dap_run", request="attach", port=port, breakpoints=[p.at("turn")])
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        assert await evaluate(c, "turns > 0") == "true"
        assert "The program runs on." in await read(c, "dap_disconnect")
        assert process.returncode is None
        # It is free for the next one, who finds the port by the process, and ends it.
        await ask(c, "dap_run", request="attach", pid=process.pid)
        await ask(c, "dap_evaluate", expression="turns = -9")
        await read(c, "dap_clear_breakpoints")
        await read(c, "dap_disconnect")
        await process_gone(process.pid)
    shows("js-debug", "attach")


async def test_a_ruby_program_that_listens_is_attached_to(shows: Shows) -> None:
    needs("rdbg")
    p = program("loop.rb")
    port = free_port()
    ruby = shutil.which("ruby") or "ruby"
    rdbg = ("-e", "load Gem.bin_path('debug', 'rdbg')", "--", "--open", "--host", "127.0.0.1")
    async with (
        asyncio.timeout(LIMIT),
        client() as c,
        started(
            ruby, *rdbg, "--port", str(port), "-c", "--", ruby, str(p), says=b"wait for debugger"
        ) as process,
    ):
        stop = await ask(
            c, "dap_run", request="attach", type="ruby", port=port, breakpoints=[p.at("inner")]
        )
        while stop["reason"] == "pause":
            stop = await ask(c, "dap_continue")
        assert (stop["file"], stop["line"]) == (str(p.source), p.line("inner"))
        await read(c, "dap_clear_breakpoints")
        # Version 1.4 keeps them where dapeer has not started it.
        rounds = 4 if is_version("rdbg", "1.4.") else 0
        states = [(await ask(c, "dap_continue"))["state"] for _ in range(rounds + 1)]
        assert states == ["stopped"] * rounds + ["ended"]
        await process.wait()
    shows("ruby", "attach")


@needs_ptrace
async def test_a_go_process_is_attached_by_its_id_and_runs_on(tmp_path: Path, shows: Shows) -> None:
    needs("delve")
    p = program("endless.go")
    built = go_built(p.source, tmp_path)
    async with asyncio.timeout(LIMIT), client() as c, started(built) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        stop = await ask(
            c, "dap_run", request="attach", pid=process.pid, breakpoints=[p.at("turn")]
        )
        (session,) = (await ask(c, "dap_status"))["sessions"]
        assert session["type"] == "delve"
        assert (stop["reason"], stop["line"]) == ("breakpoint", p.line("turn"))
        turns = int(await evaluate(c, "turns"))
        assert "The program runs on." in await read(c, "dap_disconnect")
        while f"turn {turns + 3}\n".encode() != await process.stdout.readline():
            pass
    shows("go", "attach")


async def test_a_process_that_does_not_exist_is_refused_and_named() -> None:
    """Of a process that is not there, debugpy never tells."""
    async with started(sys.executable, "-c", "") as process:
        await process.wait()
    async with asyncio.timeout(LIMIT), client() as c:
        for more in ({}, {"type": "python"}, {"config": {"justMyCode": False}}):
            message = await refusal(c, "dap_run", request="attach", pid=process.pid, **more)
            assert f"no process {process.pid}" in message
        assert "dapeer itself" in await refusal(c, "dap_run", request="attach", pid=os.getpid())


async def test_attaching_to_nothing_is_refused() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(c, "dap_run", request="attach", type="python")
        assert "pid" in message
        assert "port" in message
        result = await call(c, "dap_run", request="attach", type="python", pid=1, port=2)
        assert result.is_error
        assert "pid" in text(result)


async def test_an_attached_program_cannot_be_given_arguments() -> None:
    async with asyncio.timeout(LIMIT), client() as c:
        message = await refusal(
            c, "dap_run", request="attach", type="python", port=free_port(), args=["x"]
        )
        assert "args" in message
