"""Our launchers of debugpy: prompt and quiet where they can be, plain where they cannot."""

import asyncio
import contextlib
import importlib
import io
import json
import os
import socket
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from debugpy.common import log, messaging

from dapeer.adapters.definition.definition import own_values
from dapeer.adapters.launchers import debugpy_attaches
from dapeer.adapters.launchers.debugpy_adapter import (
    acknowledge_promptly,
    find_the_newest,
    launch_beneath,
)
from dapeer.adapters.launchers.debugpy_launcher import describe_only_what_is_logged, without
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.reaper import Reaper
from dapeer.base.errors import ChannelClosed
from dapeer.dap.handshake import CLIENT
from tests.adapters.toys import channel, toy
from tests.harness import ask, client, evaluate, read
from tests.processes import LIMIT
from tests.programs import program

QUICKACK = (socket.IPPROTO_TCP, getattr(socket, "TCP_QUICKACK", 0))
ADAPTER = f"{own_values()['launchers']}/debugpy_adapter.py"
LAUNCHER = f"{own_values()['launchers']}/debugpy_launcher.py"
LATE = """
import runpy, sys, threading
from debugpy.adapter import clients, launchers
from debugpy.common import messaging

def late(channel, *event):
    if threading.current_thread() is threading.main_thread():
        launched.wait()
    return send(channel, *event)

def connect(launcher, *how):
    stock(launcher, *how)
    launched.set()

launched = threading.Event()
send, stock = messaging.JsonMessageChannel.send_event, launchers.Launcher.__init__
messaging.JsonMessageChannel.send_event, launchers.Launcher.__init__ = late, connect
"""
"""Makes the first thread of debugpy's adapter so slow that a launcher has connected before it has greeted the client."""


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="needs Linux")
def test_each_line_that_is_read_is_acknowledged_promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = cast("Any", messaging.JsonIOStream)
    monkeypatch.setattr(streams, "from_socket", streams.__dict__["from_socket"])
    acknowledge_promptly(streams, socket.TCP_QUICKACK)
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        with theirs:
            ours.setsockopt(*QUICKACK, 0)
            stream = streams.from_socket(ours, "test")
            body = json.dumps({"hello": 1}).encode()
            theirs.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert stream.read_json() == {"hello": 1}
            assert ours.getsockopt(*QUICKACK) == 1
        stream.close()


@pytest.mark.parametrize(
    "inside",
    [
        {},
        {"common/__init__.py": ""},
        {"common/__init__.py": "", "common/messaging.py": ""},
        {"common/__init__.py": "", "common/messaging.py": "class JsonIOStream: pass"},
    ],
)
def test_a_debugpy_that_is_not_as_expected_is_started_plainly(
    inside: dict[str, str], tmp_path: Path
) -> None:
    files = {
        "__init__.py": "",
        "adapter/__init__.py": "",
        "adapter/__main__.py": "import sys; print('plain', sys.argv[1:])",
        **inside,
    }
    for name, text in files.items():
        path = tmp_path / "debugpy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-P", ADAPTER, "--log-stderr"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain ['--log-stderr']\n"


@pytest.mark.parametrize(("entry", "arguments"), [("launcher", ["1", "--"]), ("", ["--connect"])])
def test_a_debugpy_that_is_not_as_expected_launches_plainly(
    entry: str, arguments: list[str], tmp_path: Path
) -> None:
    says = "import sys\ndef main(): print('plain', sys.path[0], sys.argv[1:])\n"
    files = {
        "__init__.py": "",
        "launcher/__init__.py": "",
        "launcher/__main__.py": f"{says}main()",
        "server/__init__.py": "",
        "server/cli.py": says,
    }
    for name, text in files.items():
        path = tmp_path / "debugpy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    plain = [sys.executable, "-c", "import sys; print(sys.path[1])"]
    first = subprocess.run(plain, capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [sys.executable, LAUNCHER, tmp_path / "debugpy" / entry, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"plain {first} {arguments}\n"


def test_the_environment_is_described_where_that_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    described: list[str] = []
    module = cast("Any", log)
    monkeypatch.setattr(module, "describe_environment", described.append)
    describe_only_what_is_logged(module)
    monkeypatch.setattr(module, "_levels", {"warning", "error"})
    module.describe_environment("quiet")
    monkeypatch.setattr(module, "_levels", {"info"})
    module.describe_environment("logged")
    assert described == ["logged"]


def test_what_was_imported_without_a_module_gets_it_when_it_uses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with without("this", "sys"):
        late = importlib.import_module("this")
        assert late.describes() == ""
        assert importlib.import_module("sys") is sys
    assert "this" not in sys.modules
    assert late.d["N"] == "A"
    with pytest.raises(AttributeError):
        _ = late.nothing


def test_a_launcher_of_somebodys_own_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "launcher"
    theirs.touch()
    started: list[object] = []

    def stock(*given: object) -> None:
        started.append(given[2])

    module, session = SimpleNamespace(spawn_debuggee=stock), SimpleNamespace()
    launch_beneath(module, str(tmp_path), "ours.py")
    for path in (tmp_path, theirs):
        module.spawn_debuggee(session, "request", ["python"], str(path), "127.0.0.1")
    assert started == [["python", "ours.py"], ["python"]]


async def test_a_program_knows_nothing_of_the_launcher() -> None:
    p = program("loop.py")
    async with asyncio.timeout(LIMIT), client() as c:
        everything = {"justMyCode": False}
        await ask(c, "dap_run", program=str(p), breakpoints=[p.at("inner")], config=everything)
        frames = (await ask(c, "dap_stacktrace"))["frames"]
        assert {frame["file"] for frame in frames} == {str(p.source)}
        seen = "__import__('sys').argv + __import__('sys').path[:1]"
        assert await evaluate(c, seen) == f"['{p}', '{p.source.parent}']"
        # debugpy imports these for other clients, or to describe its environment.
        unused = "{'importlib.metadata', 'xmlrpc.client', 'http.server', 'email', 'ssl'}"
        assert await evaluate(c, f"{unused} & {{*__import__('sys').modules}}") == "set()"
        later = await evaluate(c, "__import__('http.server').server.HTTPServer")
        assert later == "<class http.server.HTTPServer>"


@pytest.mark.parametrize(
    ("ours", "found"),
    [
        (True, "its new self"),
        # Once this fails, debugpy does it by itself, and `find_the_newest` can go.
        (False, "what it was"),
    ],
)
def test_a_process_that_has_replaced_itself_is_found_by_its_new_connection(
    ours: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter keeps the old one until a thread of its own has noticed the end."""
    # They import each other, in this order only.
    importlib.import_module("debugpy.adapter.clients")
    servers: Any = importlib.import_module("debugpy.adapter.servers")
    known = [
        SimpleNamespace(name="what it was", pid=7, process_replaced=True),
        SimpleNamespace(name="its new self", pid=7, process_replaced=False),
    ]
    monkeypatch.setattr(servers, "_connections", known)
    monkeypatch.setattr(servers, "wait_for_connection", servers.wait_for_connection)
    if ours:
        find_the_newest(servers)

    def fits(connection: SimpleNamespace) -> bool:
        return connection.pid == 7

    assert servers.wait_for_connection("a session", fits, timeout=0).name == found


def test_a_process_that_does_not_connect_is_injected_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    importlib.import_module("debugpy.adapter.clients")
    servers: Any = importlib.import_module("debugpy.adapter.servers")
    injected: list[int] = []

    def inject(pid: int) -> None:
        injected.append(pid)
        if len(injected) == 1:
            servers.subprocess.Popen([sys.executable, "-c", ""])
        else:
            servers._connections.append(SimpleNamespace(pid=pid))
            servers._connections_changed.set()

    def is_it(connection: SimpleNamespace) -> bool:
        return connection.pid == 7

    monkeypatch.setattr(servers, "inject", inject)
    monkeypatch.setattr(servers, "subprocess", subprocess)
    monkeypatch.setattr(servers, "_connections", list[SimpleNamespace]())
    debugpy_attaches.try_again(servers, seconds=0.01)
    servers.inject(7)
    assert servers.wait_for_connection("a session", is_it, timeout=LIMIT)
    assert injected == [7, 7]


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        (f"runpy.run_path({ADAPTER!r}, run_name='__main__')", contextlib.nullcontext()),
        # Once this fails, debugpy does it by itself, and `report_no_ports` can go.
        ("runpy.run_module('debugpy.adapter', run_name='__main__')", pytest.raises(ChannelClosed)),
    ],
    ids=["ours", "debugpy's"],
)
async def test_a_launcher_may_connect_before_the_adapter_has_greeted_its_client(
    entry: str, outcome: AbstractContextManager[object], tmp_path: Path, reaper: Reaper
) -> None:
    slow = toy(tmp_path, [sys.executable, "-P", "-c", LATE + entry])
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(slow, "launch", {}, reaper) as adapter,
        channel(adapter.transport, []) as opened,
    ):
        await opened.request("initialize", {**CLIENT, "adapterID": "debugpy"}, seconds=LIMIT)
        with outcome:
            await opened.request("launch", {"code": "pass", "noDebug": True}, seconds=LIMIT)


@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        pytest.param("token", "RuntimeError: this is another one", id="the launcher's"),
        pytest.param("queue", 'the module "queue" could not be imported', id="the program's"),
    ],
)
async def test_a_module_of_the_user_s_that_hides_one_of_debugpy_s_is_shown(
    hidden: str, said: str, tmp_path: Path
) -> None:
    tmp_path.joinpath(f"{hidden}.py").write_text("raise RuntimeError('this is another one')\n")
    tmp_path.joinpath("main.py").write_text("print('hello')\n")
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        breakpoints = [{"filename": str(tmp_path / "main.py"), "line": 1}]
        environment = {"PYTHONPATH": str(tmp_path)}
        end = await ask(
            c, "dap_run", program="main.py", env=environment, breakpoints=breakpoints,
            python=sys.executable,
        )  # fmt: skip
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        never = ["main.py:1 (debugpy had not begun to debug)"]
        assert end["breakpoints"] == {"never bound": never}
        assert said in await read(c, "dap_program_output")
