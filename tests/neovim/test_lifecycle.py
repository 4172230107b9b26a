"""The life of the core that a Neovim starts: one at a time, never longer than its Neovim."""

import os
import re
import shlex
import signal
import socket
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dapeer.adapters.process.streams import free_port
from tests.mcp.wire import opening, request
from tests.neovim.editor import Editor, neovim
from tests.processes import command_line, descendants, process_gone

TOLD = """
local function teller(kind)
  return function(...) vim.rpcnotify(vim.g.test_channel, kind, ...) end
end
vim.notify = teller('warned')
require('dapeer').setup({ on_ready = teller('ready'), on_stop = teller('stopped') })
"""


def started_by(*command: str) -> Mapping[str, Mapping[str, object]]:
    """Return the options that start the core with a command."""
    return {"bridge": {"command": command}}


CORE = started_by(sys.executable, "-m", "dapeer")
LISTENS = "echo MCP server listening on port 7; exec cat"
LISTENER = started_by("/bin/sh", "-c", LISTENS)
"""All that the plugin needs of a core: it says its port, and ends when it is told or alone."""


@dataclass
class Core:
    pid: int
    port: int


async def does(editor: Editor, function: str) -> Any:  # noqa: ANN401 - what Lua returns
    """Call a function of the plugin as the person's configuration does."""
    return await editor.lua(f"return require('dapeer').{function}")


async def ready(editor: Editor) -> Core:
    """Wait until a core listens."""
    [port] = await editor.wait_for_notification("ready")
    status = await does(editor, "status()")
    assert (status["state"], status["port"]) == ("running", port)
    return Core(status["pid"], port)


async def start(editor: Editor) -> Core:
    await does(editor, "start()")
    return await ready(editor)


def cores_of(editor: Editor) -> list[int]:
    """Return the processes of cores that a Neovim has started, the ones they start left out."""
    below = set(descendants(editor.pid))
    return [pid for pid in below if " serve " in command_line(pid)]


def everybodys_arguments() -> str:
    """Return what every user of the machine can read of all processes."""
    return "\n".join(command_line(int(each.name)) for each in Path("/proc").glob("[0-9]*"))


def looked_into(path: str) -> tuple[int, str]:
    """Return the permissions of a file, and its text."""
    return stat.S_IMODE(Path(path).stat().st_mode), Path(path).read_text(encoding="utf-8")


async def initialize(url: str, token: str | None) -> int:
    """Return the HTTP status that a client gets."""
    headers = {"Accept": "application/json, text/event-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient() as client:
        hello = request("initialize", 1, **opening("2025-11-25"))
        return (await client.post(url, json=hello, headers=headers)).status_code


ECHOED = """
vim.api.nvim_echo = function(chunks) vim.rpcnotify(vim.g.test_channel, 'echoed', chunks[1][1]) end
"""


@pytest.mark.parametrize("columns", [80, 180])
async def test_a_taken_port_is_told_in_one_line_that_names_the_option(
    tmp_path: Path, columns: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        taking = {"bridge": {**CORE["bridge"], "port": port}}
        async with neovim(tmp_path, dap=False, rc=TOLD, setup=taking, ui=True) as editor:
            await editor.lua("vim.o.columns = ...", columns)
            await does(editor, "start()")
            warning, _ = await editor.wait_for_notification("warned")
            assert warning.startswith("dapeer: The core cannot start: bridge.port: Can")
            assert len(warning) <= await editor.lua("return vim.v.echospace")
            assert "--port" not in (await does(editor, "status()"))["failure"]
            await editor.lua("vim.api.nvim_echo({ { ... } }, true, {})", warning)
            assert not (await editor.mode())["blocking"]


async def test_the_command_says_that_the_core_starts_and_when_it_listens(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=LISTENER) as editor:
        await editor.lua(ECHOED)
        await editor.lua("vim.cmd('Dapeer start')")
        assert await editor.wait_for_notification("echoed") == ["dapeer: starting"]
        core = await ready(editor)
        running = [f"dapeer: running, port 7, process {core.pid}"]
        assert await editor.wait_for_notification("echoed") == running
        await editor.lua("vim.cmd('Dapeer start')")
        assert await editor.wait_for_notification("echoed") == running


async def test_a_client_gets_in_with_the_token_that_no_command_line_shows(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=CORE) as editor:
        assert await does(editor, "get_port()") is None
        assert await does(editor, "get_token()") is None
        core = await start(editor)
        url, token = await does(editor, "get_url()"), await does(editor, "get_token()")
        assert url == f"http://127.0.0.1:{core.port}/mcp"
        assert await initialize(url, token) == 200
        assert await initialize(url, None) == 401
        assert f"--nvim {editor.socket} --with-stdin" in command_line(core.pid)
        assert await editor.lua("return #require('dapeer.rpc').attached()") == 1
        assert len(token) == 64
        assert token not in everybodys_arguments()
        # Nor does the one of the browser, which opens the person's page.
        await editor.lua(
            "vim.ui.open = function(path) vim.rpcnotify(vim.g.test_channel, 'opened', path) end"
        )
        live = "return vim.api.nvim_exec2('Dapeer live', { output = true }).output"
        line = await editor.lua(live)
        (path,) = await editor.wait_for_notification("opened")
        mode, page = looked_into(path)
        assert mode == 0o600
        assert f'url=http://127.0.0.1:{core.port}/live#{token}"' in page
        # Where no browser opens, it is found by hand, on a narrow screen, too.
        assert line.startswith(f"dapeer: open {path} if no browser shows h")


@pytest.mark.parametrize("end", ["quit", "kill"])
async def test_the_core_ends_with_its_neovim(tmp_path: Path, end: str) -> None:
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=CORE) as editor:
        core = await start(editor)
        if end == "kill":
            await editor.kill()
        else:
            editor.wire.send("nvim_command", "qa!")
            await editor.wait_for_notification("stopped")
        await process_gone(core.pid)


async def test_a_core_that_is_killed_is_started_again(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=CORE) as editor:
        first = await start(editor)
        token = await does(editor, "get_token()")
        os.kill(first.pid, signal.SIGKILL)
        await editor.wait_for_notification("stopped")
        [warning, _] = await editor.wait_for_notification("warned")
        assert warning == "dapeer: The core crashed (signal 9) and is started again."
        second = await ready(editor)
        assert second.pid != first.pid
        assert await does(editor, "get_token()") != token
        assert cores_of(editor) == [second.pid]
        await editor.lua("vim.cmd('checkhealth dapeer')")
        report = await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        # Some versions of Neovim put a sign before it.
        running = f"running, port {second.port}, process {second.pid}"
        assert any(line.endswith(running) for line in report), report
        assert "- 1 core(s) attached to this Neovim" in report


async def test_with_a_token_file_clients_find_each_core_at_the_same_place(tmp_path: Path) -> None:
    file = tmp_path / "token"
    port = free_port("127.0.0.1")
    bridge = {**CORE["bridge"], "port": port, "token_file": str(file)}
    async with neovim(tmp_path, dap=False, rc=TOLD, setup={"bridge": bridge}) as editor:
        await start(editor)
        token = file.read_text(encoding="utf-8").strip()
        assert file.stat().st_mode & 0o077 == 0
        assert await does(editor, "get_token()") == token
        await does(editor, "restart()")
        assert (await ready(editor)).port == port
        assert await initialize(f"http://127.0.0.1:{port}/mcp", token) == 200
        assert await does(editor, "get_token()") == token


async def test_stop_and_start_at_once_leave_exactly_one(tmp_path: Path) -> None:
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=CORE) as editor:
        first = await start(editor)
        same_port = f"start({{ port = {first.port} }})"
        states = await editor.lua(f"""
          local dapeer, states = require('dapeer'), {{}}
          local function look() table.insert(states, {{ dapeer.status().state, dapeer.is_running() }}) end
          dapeer.start() look() dapeer.stop() look() dapeer.stop() dapeer.{same_port} look()
          dapeer.start() dapeer.restart() look()
          return states
        """)
        assert states == [["running", True], ["stopping", False], *[["starting", True]] * 2]
        await editor.wait_for_notification("stopped")
        second = await ready(editor)
        assert (second.port, second.pid != first.pid) == (first.port, True)
        assert cores_of(editor) == [second.pid]
        await does(editor, "stop()")
        await editor.wait_for_notification("stopped")
        await process_gone(second.pid)
        assert await editor.lua("return { require('dapeer').is_running(), vim.v.errmsg }") == [
            False,
            "",
        ]


async def test_a_core_that_does_not_listen_to_stop_is_killed(tmp_path: Path) -> None:
    once = shlex.quote(str(tmp_path / "once"))
    deaf = f"[ -e {once} ] && exec sh -c {shlex.quote(LISTENS)}; touch {once}; trap '' TERM;"
    setup = started_by(
        "/bin/sh", "-c", f"{deaf} echo MCP server listening on port 7; exec sleep 99"
    )
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=setup) as editor:
        first = await start(editor)
        await does(editor, "restart()")
        second = await ready(editor)
        assert second.pid != first.pid
        assert descendants(editor.pid) == [second.pid]


async def test_neovims_side_by_side_have_a_core_each(tmp_path: Path) -> None:
    homes = [tmp_path / "one", tmp_path / "other"]
    for home in homes:
        home.mkdir()
    async with neovim(homes[0], dap=False, rc=TOLD, setup=CORE) as other:
        theirs = await start(other)
        async with neovim(homes[1], dap=False, rc=TOLD, setup=CORE) as editor:
            ours = await start(editor)
            assert (cores_of(editor), cores_of(other)) == ([ours.pid], [theirs.pid])
            assert ours.port != theirs.port
        await process_gone(ours.pid)
        assert await does(other, "get_port()") == theirs.port
        assert cores_of(other) == [theirs.pid]


async def test_the_port_is_read_when_its_line_comes_in_pieces(tmp_path: Path) -> None:
    gates = [tmp_path / "first", tmp_path / "second"]
    for gate in gates:
        os.mkfifo(gate)
    first, second = (shlex.quote(str(gate)) for gate in gates)
    script = f"""
      printf 'Hello\\nMCP server listening on po'; read go < {first}
      printf 'rt 12'; read go < {second}
      printf '34\\nmore'; exec cat
    """
    in_pieces = started_by("/bin/sh", "-c", script)
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=in_pieces) as editor:
        await does(editor, "start()")
        for gate in gates:
            # Opens when the piece is written; Neovim answers when it has read it.
            with gate.open("w", encoding="utf-8") as go:
                assert (await does(editor, "status()"))["state"] == "starting"
                go.write("go\n")
        assert (await ready(editor)).port == 1234


async def test_a_core_that_dies_again_and_again_is_given_up_with_one_sentence(
    tmp_path: Path,
) -> None:
    dies = started_by("/bin/sh", "-c", "echo 'dapeer: I am not well.' >&2; exit 3")
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=dies, ui=True) as editor:
        await does(editor, "start()")
        [first, _] = await editor.wait_for_notification("warned")
        [last, _] = await editor.wait_for_notification("warned")
        assert first == "dapeer: The core crashed (exit code 3) and is started again."
        failure = "The core crashed 5 times in a row (exit code 3: I am not well)."
        assert last.startswith(f"dapeer: {failure[:30]}")
        assert last.endswith("… See :Dapeer status.")
        assert not await does(editor, "is_running()")
        await editor.lua("vim.cmd('Dapeer status')")
        shown = await editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        assert shown[:2] == ["stopped", failure]
        assert shown[-2:] == ["It said:", "  dapeer: I am not well."]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["/bin/sh", "-c", "echo 'dapeer: No port.' >&2; exit 2"], "cannot start: No port"),
        (["/no/such/program"], "cannot be started: .*ENOENT.*/no/such/program"),
    ],
)
async def test_what_trying_again_cannot_help_is_told_at_once(
    tmp_path: Path, command: list[str], sentence: str
) -> None:
    rc = f"vim.o.columns = 2000\n{TOLD}"
    async with neovim(tmp_path, dap=False, rc=rc, setup=started_by(*command)) as editor:
        await does(editor, "start()")
        [warning, _] = await editor.wait_for_notification("warned")
        assert re.search(sentence, warning)
        assert (await does(editor, "status()"))["state"] == "stopped"


async def test_a_mistake_in_the_persons_callback_stops_nothing(tmp_path: Path) -> None:
    mistake = "require('dapeer').setup({ on_ready = function() error('mine') end })"
    rc = f"vim.o.columns = 2000\n{TOLD}{mistake}"
    async with neovim(tmp_path, dap=False, rc=rc, setup=LISTENER) as editor:
        await does(editor, "start()")
        [warning, _] = await editor.wait_for_notification("warned")
        assert warning.startswith("dapeer: on_ready failed: ")
        assert warning.endswith("mine")
        assert (await does(editor, "status()"))["state"] == "running"


async def test_the_core_starts_with_neovim_when_that_is_wanted(tmp_path: Path) -> None:
    setup = {**LISTENER, "auto_start": True}
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=setup) as editor:
        core = await ready(editor)
        assert descendants(editor.pid) == [core.pid]


async def test_the_options_reach_the_core_and_neovim_listens_for_it(tmp_path: Path) -> None:
    bridge = {**LISTENER["bridge"], "log_level": "warn", "log_file": "~/core.log"}
    setup = {"bridge": bridge, "tools": {"dap": False}, "redact": False}
    home = {"HOME": str(tmp_path)}
    async with neovim(tmp_path, dap=False, rc=TOLD, setup=setup, environment=home) as editor:
        address = await editor.lua("""
          vim.fn.serverstop(vim.v.servername)
          assert(vim.v.servername == '')
          require('dapeer').start({ port = 4711 })
          return vim.v.servername
        """)
        command = (await does(editor, "status()"))["command"][3:]
        assert address
        assert command == [
            *["serve", "--nvim", address, "--with-stdin", "--port", "4711"],
            *[
                "--log-level",
                "warning",
                "--tools",
                "nvim",
                "--no-redact",
                "--log-file",
                f"{tmp_path}/core.log",
            ],
        ]
