"""The server that commands leave behind: who shares it, what ends it, and what it does with what nobody uses."""

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.announcement import runtime_folder
from dapeer.mcp.rendezvous.knocks import FOR_CORES, listen_for_knocks
from tests import second_user
from tests.debugging.project import Shell, shell
from tests.mcp.wire import call, started
from tests.neovim.editor import neovim
from tests.processes import LIMIT

__all__ = ["shell"]


def server_of(shell: Shell) -> reaching.Announcement:
    """Return where the project's server announces itself."""
    found = reaching.read_announcement(reaching.announcement_file(str(shell.folder)))
    assert found is not None
    return found


@contextmanager
def impatient(shell: Shell, limit: str) -> Generator["subprocess.Popen[bytes]"]:
    """Run the project's server, as a command starts it, with a time limit of its own (`module.NAME=0.5`)."""
    name, _, seconds = limit.partition("=")
    module, _, setting = name.rpartition(".")
    code = (
        f"import {module} as limits; limits.{setting} = {seconds}\n"
        "from dapeer.cli.main import main; main(['stdio', '--detached'])"
    )
    command = [sys.executable, "-c", code]
    with (
        listen_for_knocks(FOR_CORES) as listener,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, cwd=shell.folder, start_new_session=True
        ) as process,
    ):
        try:
            listener.settimeout(LIMIT)
            listener.accept()[0].close()
            yield process
        finally:
            process.terminate()


def ended(process: int) -> None:
    """Wait until the process of a descriptor has ended."""
    assert select.select([process], [], [], LIMIT)[0]
    os.close(process)


async def test_two_shells_and_a_client_share_the_server(shell: Shell) -> None:
    shell.says("run", "shop.py", "-b", "shop.py:6")
    below = shell.folder / "below"
    below.mkdir()
    assert "shop.py:6 in total" in Shell(below).says("status")
    async with started("dapeer", "stdio", cwd=shell.folder) as client:
        await client.handshake()
        answer = await client.ask(call(1, "dap_evaluate", expressions=["price"]))
        assert answer["result"]["content"][0]["text"].split()[:1] == ["1"]
        await client.ask(call(2, "dap_run", program="shop.py", stop_on_entry=True))
        done = shell.dapeer("end", "--all")
        assert done.stdout == "Ended session 1.\n"
        assert "the server of this project goes on: another client uses it." in done.stderr
        await client.ask(call(3, "dap_terminate"))
        assert await client.end() == 0


async def test_a_clients_server_is_told_and_its_own_sessions_are_left(shell: Shell) -> None:
    async with started("dapeer", "stdio", "--successor", cwd=shell.folder) as client:
        # One that has taken over from a server that was joined is joined, too.
        await client.handshake()
        own = {"program": "shop.py", "breakpoints": [{"filename": "shop.py", "line": 4}]}
        await client.ask(call(1, "dap_run", **own))
        joined = shell.dapeer("run", "shop.py", "-b", "shop.py:6")
        assert "this is the server of another client" in joined.stderr
        assert "what is started here ends with it" in joined.stderr
        ended = shell.says("end", "--all")
        assert ended == "Ended session 2.\n"
        answer = await client.ask(call(2, "dap_evaluate", expressions=["prices"]))
        assert "[1, 2, 3]" in answer["result"]["content"][0]["text"]
        assert await client.end() == 0


def test_a_killed_server_is_told_once_and_costs_only_its_sessions(shell: Shell) -> None:
    shell.says("run", "shop.py", "-b", "shop.py:6")
    pid = server_of(shell).pid
    process = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    ended(process)
    next_one = shell.dapeer("status")
    assert next_one.returncode == 0
    assert "was killed" in next_one.stderr
    assert "dapeer script FILE" in next_one.stderr
    assert "No debug sessions." in next_one.stdout
    assert shell.dapeer("status").stderr == ""
    assert "Stopped" in shell.says("run", "shop.py", "-b", "shop.py:6")


def test_a_server_with_nothing_to_do_ends(shell: Shell) -> None:
    with impatient(shell, "dapeer.mcp.serving.SECONDS_UNUSED=0.5") as server:
        assert server.wait(LIMIT) == 0
    assert not list(runtime_folder().glob("*.alive"))
    assert "was killed" not in shell.dapeer("status").stderr


def test_a_launched_program_that_nobody_uses_is_ended(shell: Shell) -> None:
    limit = "dapeer.mcp.server.clients.SECONDS_A_LAUNCHED_PROGRAM_LIVES=1.0"
    with impatient(shell, limit):
        shell.says("run", "shop.py", "-b", "shop.py:6")
        row = json.loads(shell.says("status", "--json"))["sessions"][0]
        ended(os.pidfd_open(row["pid"]))
        told = shell.dapeer("status")
        assert "Session 1 (shop.py) was ended" in told.stderr
        assert "Session 1" not in shell.dapeer("status").stderr


def test_a_program_that_does_not_end_in_time_is_told(shell: Shell) -> None:
    with impatient(shell, "dapeer.mcp.server.clients.SECONDS_TO_END=0.0"):
        shell.says("run", "shop.py", "-b", "shop.py:6")
        assert shell.dapeer("end", "--all").stdout == "Session 1 did not end in 0 seconds.\n"


@contextmanager
def program_that_waits(shell: Shell) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """Run the project's program once a debugger is there; give it, and its debugger's port."""
    shell.folder.joinpath("waits.py").write_text(WAITS, "utf-8")
    with subprocess.Popen(
        [sys.executable, "waits.py"], cwd=shell.folder, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            yield program, program.stdout.readline().strip()
        finally:
            program.kill()


WAITS = """\
import debugpy, runpy
print(debugpy.listen(0)[1], flush=True)
debugpy.wait_for_client()
runpy.run_path("shop.py", run_name="__main__")
"""


def test_an_attached_program_does_not_wait_for_ever(shell: Shell) -> None:
    limit = "dapeer.mcp.server.clients.SECONDS_AN_ATTACHED_PROGRAM_WAITS=1.0"
    with impatient(shell, limit), program_that_waits(shell) as (program, port):
        words = ("--request", "attach", "--type", "python", "--host", "127.0.0.1", "--port", port)
        assert "shop.py:10" in shell.says("run", *words, "-b", "shop.py:10")
        # It goes on without a command.
        out, _ = program.communicate(timeout=LIMIT)
        assert str(shell.folder) in out
        assert program.returncode == 0
        assert "no command came" in shell.dapeer("status").stderr


def test_an_interrupted_command_shows_where_the_program_is(shell: Shell) -> None:
    ready = shell.folder / "ready"
    os.mkfifo(ready)
    code = "import time\nopen('ready', 'w').close()\nwhile True:\n    time.sleep(0.01)\n"
    shell.folder.joinpath("loop.py").write_text(code, "utf-8")
    command = [sys.executable, "-m", "dapeer", "run", "loop.py"]
    with subprocess.Popen(command, cwd=shell.folder, stdout=subprocess.PIPE, text=True) as waiting:
        # It is open at both ends once the program runs.
        ready.read_text()
        waiting.send_signal(signal.SIGINT)
        out, _ = waiting.communicate(timeout=LIMIT)
    assert re.search(r"loop.py:[34]", out), out
    assert waiting.returncode == 0
    assert "stopped" in shell.says("status")


def test_a_second_interrupt_leaves(shell: Shell) -> None:
    shell.dapeer("run", "shop.py", "-b", "shop.py:10", "--", "sleep")
    shell.dapeer("continue", "--timeout-ms", "1")
    pid = json.loads(shell.says("status", "--json"))["sessions"][0]["pid"]
    # Whom the kernel has stopped no debugger can pause.
    os.kill(pid, signal.SIGSTOP)
    command = [sys.executable, "-m", "dapeer", "wait-until-paused"]
    with subprocess.Popen(command, cwd=shell.folder, stdout=subprocess.PIPE) as waiting:
        for _ in range(2):
            with pytest.raises(subprocess.TimeoutExpired):
                waiting.wait(2)
            waiting.send_signal(signal.SIGINT)
        assert waiting.wait(LIMIT) == 130
    os.kill(pid, signal.SIGCONT)


@second_user.needed
def test_no_other_user_reaches_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with second_user.folder_for_all() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        shell.says("status")
        there = server_of(shell).socket
        code = (
            "s = socket.socket(socket.AF_UNIX)\n"
            "try:\n    s.connect(sys.argv[1]); print('connected', flush=True)\n"
            "except OSError as error:\n    print(type(error).__name__, flush=True)\n"
        )
        with second_user.runs(code, there) as stranger:
            assert second_user.says(stranger) == "PermissionError"
        for path in Path(there).parent.iterdir():
            assert not path.lstat().st_mode & 0o077, path
        shell.says("end", "--all")


async def test_a_command_in_a_terminal_of_neovim_joins_its_server_and_says_so(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "editor").mkdir()
    async with (
        neovim(tmp_path / "editor", dap=False, cwd=shell.folder) as editor,
        started(
            "dapeer", "stdio", "--successor", "--nvim", editor.socket, cwd=shell.folder
        ) as server,
    ):
        await server.handshake()
        words = ("run", "shop.py", "-b", "shop.py:6")
        joined = await asyncio.to_thread(shell.dapeer, *words, env={"NVIM": editor.socket})
        assert joined.returncode == 0, joined
        assert "Stopped (breakpoint) at shop.py:6" in joined.stdout
        assert "this is the server of your Neovim" in joined.stderr
        assert "what is started here ends with it" in joined.stderr
        assert await server.end() == 0
