"""A project's files that are none, or cannot be reached: each costs a sentence, and no call and no end of a server waits."""

import ast
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice.interpreter import check_version
from dapeer.adapters.definition.sections import Interpreter
from dapeer.base.errors import ArgumentError
from dapeer.base.system import foreign_files
from dapeer.base.system.termination import SECONDS_OF_A_HANG
from dapeer.base.system.threads import SECONDS_FOR_THE_END
from tests.harness import Json, call, client, fake, needs, read, refusal, text
from tests.mcp.wire import port_of, started
from tests.processes import LIMIT
from tests.programs import ROOT

PACKAGE = ROOT / "server" / "dapeer"
READERS = {
    # Files of dapeer's own, in its package or in folders that only its user may enter.
    "adapters/definition/table.py",
    "base/system/logs.py",
    "cli/demo_nvim.py",
    "cli/demo.py",
    "cli/install/command.py",
    "cli/install/reach.py",
    "mcp/front.py",
    "integrations/claude_ide_service.py",
    "mcp/rendezvous/server_start.py",
    "mcp/rendezvous/announcement.py",
    "mcp/rendezvous/reaching.py",
    "integrations/opencode/commands.py",
    "collecting/row_files.py",
    "tools/base/known_tools.py",
    "tools/base/schema.py",
    # What the person at the terminal names, which may be the pipe of a shell.
    "cli/debugging/script.py",
    # The system's tables.
    "base/system/ownership.py",
    "adapters/process/streams.py",
    "base/system/process_table.py",
}
"""Modules that read what is no file of others."""
CALLS: dict[str, tuple[str, Json]] = {
    ".vscode/launch.json": ("dap_configurations", {}),
    ".venv/pyvenv.cfg": ("dap_run", {"program": "a.py"}),
    "package.json": ("dap_run", {"program": "a.test.js::adds"}),
    "a.py": ("dap_run", {"program": "a.py", "type": "debugpy"}),
    "a.py ": ("dap_run_to", {"filename": "a.py ", "line": 1}),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_named_pipe_in_a_project_keeps_no_call_waiting(name: str, tmp_path: Path) -> None:
    tmp_path.joinpath("a.py").write_text("print(1)\n")
    tmp_path.joinpath("a.test.js").write_text("test('adds', () => {})\n")
    path = tmp_path / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    tool, arguments = CALLS[name]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "Internal error" not in text(await call(c, tool, **arguments))
        assert "Internal error" not in text(await call(c, "dap_status"))


BESIDE = (".vscode/launch.json", ".vscode/tasks.json", "package.json", "pyproject.toml", ".venv/pyvenv.cfg", ".env")  # fmt: skip
"""What is read, or might be, when a program of a project starts."""


@pytest.mark.parametrize("kind", ["named pipe", "socket"])
async def test_a_program_starts_beside_files_that_are_none(kind: str, tmp_path: Path) -> None:
    tmp_path.joinpath("a.py").write_text("print(1)\n")
    for name in (*BESIDE, "b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        if kind == "socket":
            with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(tmp_path):
                made.bind(name)
        else:
            os.mkfifo(tmp_path / name)
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        listed = await read(c, "dap_configurations")
        assert f"{tmp_path / BESIDE[0]}: is a {kind}." in listed
        assert "exit code 0" in await read(c, "dap_run", program="a.py")
        for tool, arguments in (
            ("dap_run", {"program": "b.py"}),
            ("dap_source", {"filename": "b.py"}),
            ("dap_set_breakpoint", {"filename": "b.py", "line": 1}),
        ):
            assert f"{tmp_path / 'b.py'} is a {kind}." in await refusal(c, tool, **arguments)


async def test_a_core_that_is_a_named_pipe_is_named_so(tmp_path: Path) -> None:
    needs("gdb")
    os.mkfifo(tmp_path / "core")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = text(await call(c, "dap_run", core="core", type="gdb"))
    assert f"`core`: {tmp_path / 'core'} is a named pipe." in said


@pytest.mark.parametrize("kind", ["js-debug", "debugpy", "fake"])
@pytest.mark.parametrize("config", [{"envFile": "pipe"}, {"a": [{"classPaths": ["b", "pipe"]}]}])
async def test_a_named_pipe_that_an_adapter_would_read_is_named(
    kind: str, config: Json, settings: Path, tmp_path: Path
) -> None:
    fake(settings)
    if kind != "fake":
        needs(kind)
    (tmp_path / "a.fake").touch()
    program = {"js-debug": "a.js", "debugpy": "a.py", "fake": "a.fake"}[kind]
    (tmp_path / program).touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".vscode").mkdir()
    named = {"name": "a", "type": kind, "request": "launch", "program": program, **config}
    (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [named]}))
    key = next(iter(config)) if "envFile" in config else "classPaths"
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        for start in ({"program": program, "type": kind, "config": config}, {"configuration": "a"}):
            said = await refusal(c, "dap_run", **start)
            assert said.startswith(f"`{key}`: {tmp_path / 'pipe'} is a named pipe.")
        started: Json = {"config": {"envFile": os.devnull, "logFile": "pipe"}}
        assert "is a" not in await read(c, "dap_run", program="a.fake", type="fake", **started)


async def test_a_named_pipe_in_place_of_a_source_map_is_named_and_holds_no_start_up(
    tmp_path: Path,
) -> None:
    needs("js-debug")
    # One of the program, and one that lies about in its project.
    for name in ("a", "b"):
        code = f"let x = 1;\nx = 2;\n//# sourceMappingURL={name}.js.map\n"
        (tmp_path / f"{name}.js").write_text(code)
        os.mkfifo(tmp_path / f"{name}.js.map")
    places: list[Json] = [{"filename": "a.js", "line": 2}]
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        assert "at a.js:2 in" in await read(c, "dap_run", program="a.js", breakpoints=places)
        # js-debug's own words come after the stop.
        named = f"could not read the source map of file://{tmp_path / 'a.js'}: it is a named"
        while named not in await read(c, "dap_program_output"):
            pass


@pytest.mark.parametrize("name", [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"])
def test_a_named_pipe_in_place_of_a_client_s_configuration_is_named(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    client_of = {".mcp.json": "claude", ".cursor/mcp.json": "cursor", ".vscode/mcp.json": "vscode"}
    command = [sys.executable, "-m", "dapeer", "install", client_of[name], "--project", "--yes"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert f"{path} cannot be read: it is a named pipe." in done.stderr


def test_an_interpreter_that_would_wait_for_its_settings_is_not_started(tmp_path: Path) -> None:
    """Every Python reads `pyvenv.cfg` before anything else."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    os.mkfifo(tmp_path / "pyvenv.cfg")
    with pytest.raises(ArgumentError, match=r"pyvenv\.cfg is a named pipe"):
        check_version(str(tmp_path / "bin" / "python"), Interpreter((3, 8), ""), tmp_path)


HANGS = """
import os, sys, threading
from dapeer.base.system import threads
threads.SECONDS_OF_A_HANG = 0.1
clients, first, second = threads.Clients(), os.pipe(), os.pipe()
clients.watch(first[0])
watcher = threading.enumerate()[-1]
clients.watch(second[0])
os.close(first[1])
watcher.join()
print("one is there", flush=True)
os.close(second[1])
os.read(os.pipe()[0], 1)
"""


def test_a_process_whose_clients_have_all_gone_ends_although_its_first_thread_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert (done.returncode, done.stdout) == (1, "one is there\n")
    assert done.stderr.startswith("dapeer: The client has gone, and something hangs here")


def test_a_process_that_hangs_ends_although_its_client_has_closed_stderr_too() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-c", HANGS]
    done = subprocess.run(command, stderr=writes, timeout=LIMIT, check=False)
    os.close(writes)
    assert done.returncode == 1


def test_what_hangs_keeps_no_process_for_more_than_5_seconds_after_its_client() -> None:
    assert SECONDS_OF_A_HANG + SECONDS_FOR_THE_END <= 5


HANGS_AT_SIGNAL = """
import os, signal, sys
from dapeer.base.system import threads
from dapeer.mcp.rendezvous import bridge
threads.SECONDS_OF_A_HANG = bridge.SECONDS_OF_A_HANG = 0.1
signal.signal(signal.SIGUSR1, lambda *_: os.read(os.pipe()[0], 1))
from dapeer.cli.main import main
sys.exit(main())
"""


async def test_a_server_over_http_that_hangs_ends_with_its_standard_input(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS_AT_SIGNAL)
    async with started("hangs", "serve", "--no-auth", "--with-stdin", cwd=tmp_path) as server:
        await port_of(server)
        server.process.send_signal(signal.SIGUSR1)
        assert await server.end() == 1


async def test_a_successor_that_hangs_ends_with_the_last_of_its_clients(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS_AT_SIGNAL)
    stdio = ("hangs", "stdio", "--nvim", "none")
    async with started(*stdio, "--successor", cwd=tmp_path) as server:
        await server.handshake()
        async with started(*stdio, cwd=tmp_path) as bridge:
            await bridge.handshake()
            server.process.send_signal(signal.SIGUSR1)
            # It does not wait for a server that hangs, either.
            assert await bridge.end() == 0
        assert await server.end() == 1


WAITS = """
import os, sys, anyio
from dapeer.base.system.threads import run_in_thread_briefly, in_thread
async def main():
    with anyio.move_on_after(0.05):
        await in_thread(os.read, os.pipe()[0], 1)
    print("left", await in_thread(len, "four"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_in_thread_briefly, lambda: os.read(os.pipe()[0], 1))
        tasks.cancel_scope.cancel()
anyio.run(main)
"""


def test_a_thread_that_waits_for_ever_keeps_neither_its_caller_nor_the_end_waiting() -> None:
    async def run() -> bytes:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WAITS, stdout=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(LIMIT):
                return (await process.communicate())[0]
        finally:
            if process.returncode is None:
                process.kill()

    assert asyncio.run(run()) == b"left 4\n"


def test_files_of_others_are_read_in_one_place() -> None:
    """`base/system/foreign_files`, where a named pipe blocks nobody and a folder that one may not enter raises nothing."""
    wrong = [
        f"{name}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if (name := path.relative_to(PACKAGE).as_posix()) not in READERS
        # Those run in other programs, without the package.
        if not name.startswith(("companions/", "base/system/foreign_files"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and _reads(node)
    ]
    assert not wrong


def _reads(node: ast.Call) -> bool:
    match node.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="foreign_files")):
            return False
        case ast.Attribute(attr="read_text" | "read_bytes"):
            return True
        # `Path.open` has a mode; what else is opened has none.
        case ast.Attribute(attr="open"):
            modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            return any(isinstance(mode, str) and mode.startswith("r") for mode in modes)
        case _:
            return False


def test_folders_that_are_removed_while_files_are_looked_for_are_passed_over(
    tmp_path: Path,
) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "here.toml").touch()
    found = foreign_files.matching(tmp_path, "*/here.toml")
    first = next(found)
    for folder in set(tmp_path.iterdir()) - {first.parent}:
        shutil.rmtree(folder)
    assert [*found] == []


def test_hidden_files_and_those_below_are_found_by_their_patterns(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.py").touch()
    (tmp_path / "b.py").touch()
    found = sorted(foreign_files.matching(tmp_path, "**/*.py"))
    assert found == sorted(tmp_path.rglob("*.py"))
