"""Our launchers of debugpy: prompt and quiet where they can be, plain where they cannot."""

import asyncio
import contextlib
import importlib
import inspect
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from debugpy.common import log, messaging

from dapeer.adapters.definition.table import installation_values
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from dapeer.base.errors import ChannelClosed
from dapeer.base.text.tracebacks import cause
from dapeer.companions.python import debugpy_adapter
from dapeer.companions.python.debugpy_adapter import BENEATH, NEWEST, PROMPT
from dapeer.companions.python.debugpy_launcher import ENVIRONMENT, delay_imports
from dapeer.companions.python.debugpy_launching import INTEGRATION, SUPPORT, set_gevent_support
from dapeer.dap.handshake import CLIENT
from tests.adapters.toys import channel, toy
from tests.harness import ask, client, evaluate, read
from tests.processes import LIMIT
from tests.programs import program

QUICKACK = (socket.IPPROTO_TCP, getattr(socket, "TCP_QUICKACK", 0))
ADAPTER = f"{installation_values()['launchers']}/python/debugpy_adapter.py"
LAUNCHER = f"{installation_values()['launchers']}/python/debugpy_launcher.py"
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


@contextlib.contextmanager
def applied(row: Any) -> Generator[None]:  # noqa: ANN401 - of a module without types
    """Apply one of our rows to the debugpy of this process in the body."""
    # Its modules import each other, in this order only.
    importlib.import_module("debugpy.adapter.clients")
    assert row.apply(), row.off
    try:
        yield
    finally:
        row.undo()


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="needs Linux")
def test_each_line_that_is_read_is_acknowledged_promptly() -> None:
    streams = cast("Any", messaging.JsonIOStream)
    with applied(PROMPT), socket.create_server(("127.0.0.1", 0)) as server:
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

    def describe_environment(header: str) -> None:
        described.append(header)

    module = cast("Any", log)
    monkeypatch.setattr(module, "describe_environment", describe_environment)
    with applied(ENVIRONMENT):
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
    with delay_imports("this", "sys"):
        late = importlib.import_module("this")
        assert late.describes() == ""
        assert importlib.import_module("sys") is sys
    assert "this" not in sys.modules
    assert late.d["N"] == "A"
    with pytest.raises(AttributeError):
        _ = late.nothing


def test_a_launcher_of_somebodys_own_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "launcher"
    theirs.touch()
    importlib.import_module("debugpy.adapter.clients")
    launchers: Any = importlib.import_module("debugpy.adapter.launchers")
    ours = str(Path(str(importlib.import_module("debugpy.launcher").__file__)).parent)
    started: list[object] = []
    names = BENEATH.replaces["debugpy.adapter.launchers:spawn_debuggee"].split()
    parameters = [
        inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD) for each in names
    ]

    def spawn_debuggee(*given: object, **named: object) -> None:
        started.append(inspect.Signature(parameters).bind(*given, **named).arguments["python"])

    spawn_debuggee.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    monkeypatch.setattr(launchers, "spawn_debuggee", spawn_debuggee)
    with applied(BENEATH):
        for path in (ours, str(theirs)):
            known = {"session": SimpleNamespace(), "python": ["python"], "launcher_path": path}
            launchers.spawn_debuggee(**{**dict.fromkeys(names), **known})
    assert started == [["python", LAUNCHER], ["python"]]


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
        # Once this fails, debugpy does it by itself, and `NEWEST` can go.
        (False, "what it was"),
    ],
)
def test_a_process_that_has_replaced_itself_is_found_by_its_new_connection(
    ours: bool, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter keeps the old one until a thread of its own has noticed the end."""
    importlib.import_module("debugpy.adapter.clients")
    servers: Any = importlib.import_module("debugpy.adapter.servers")
    known = [
        SimpleNamespace(name="what it was", pid=7, process_replaced=True),
        SimpleNamespace(name="its new self", pid=7, process_replaced=False),
    ]
    monkeypatch.setattr(servers, "_connections", known)

    def fits(connection: SimpleNamespace) -> bool:
        return connection.pid == 7

    with applied(NEWEST) if ours else contextlib.nullcontext():
        assert servers.wait_for_connection("a session", fits, timeout=0).name == found


def test_a_process_that_does_not_connect_is_injected_once_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").touch()
    importlib.import_module("debugpy.adapter.clients")
    servers: Any = importlib.import_module("debugpy.adapter.servers")
    injected: list[int] = []
    told: list[tuple[str, str]] = []

    def tell(category: str, text: str) -> None:
        told.append((category, text))

    def inject(pid: int, debugpy_args: object, on_output: Callable[[str, str], None]) -> None:
        assert debugpy_args == "arguments"
        injected.append(pid)
        on_output("stdout", "[New Thread 1]\n")
        if len(injected) == 1:
            servers.subprocess.Popen([sys.executable, str(tmp_path)])
        else:
            servers._connections.append(SimpleNamespace(pid=pid))
            servers._connections_changed.set()

    def is_it(connection: SimpleNamespace) -> bool:
        return connection.pid == 7

    monkeypatch.setattr(servers, "inject", inject)
    monkeypatch.setattr(servers, "_connections", list[SimpleNamespace]())
    monkeypatch.setattr(debugpy_adapter, "SECONDS_TO_CONNECT", 0.01)
    with applied(debugpy_adapter.AGAIN):
        servers.inject(7, "arguments", on_output=tell)
        assert servers.wait_for_connection("a session", is_it, timeout=LIMIT)
    assert injected == [7, 7]
    assert told == []


def test_what_gdb_says_while_it_attaches_is_told_only_where_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").write_text("input()\nraise SystemExit(1)")
    importlib.import_module("debugpy.adapter.clients")
    servers: Any = importlib.import_module("debugpy.adapter.servers")
    told: list[tuple[str, str]] = []

    def tell(category: str, text: str) -> None:
        told.append((category, text))

    def inject(pid: int, debugpy_args: str, on_output: Callable[[str, str], None]) -> None:
        assert (pid, debugpy_args) == (7, "arguments")
        injector = servers.subprocess.Popen([sys.executable, str(tmp_path)], stdin=subprocess.PIPE)
        on_output("stdout", "[New Thread 1]\n")
        # An attach that takes long sends gdb's words so.
        on_output("stderr", "[Thread 1 exited]\n")
        assert told == []
        injector.communicate(b"\n")
        on_output("stderr", "Attach to PID failed.\n")

    monkeypatch.setattr(servers, "inject", inject)
    with applied(debugpy_adapter.AGAIN):
        servers.inject(7, "arguments", on_output=tell)
    words = "[New Thread 1]\n[Thread 1 exited]\nAttach to PID failed.\n"
    assert told == [("stderr", words)]


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        (f"runpy.run_path({ADAPTER!r}, run_name='__main__')", contextlib.nullcontext()),
        # Once this fails, debugpy does it by itself, and `NO_REPORTS` can go.
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


FAILING = f"""
import runpy, threading
from debugpy.adapter import clients, sessions

def wait_for(*given, **named):
    raise RuntimeError("can't start new thread")

sessions.Session.wait_for = wait_for
runpy.run_path({ADAPTER!r}, run_name="__main__")
"""
"""Makes debugpy's adapter fail as it does where a limit leaves it too little memory."""


async def test_an_adapter_that_fails_at_a_request_ends_at_once_and_names_its_error(
    tmp_path: Path, reaper: Reaper
) -> None:
    command = toy(tmp_path, [sys.executable, "-P", "-c", FAILING])
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(command, "launch", {}, reaper) as adapter,
        channel(adapter.transport, []) as opened,
    ):
        await opened.request("initialize", {**CLIENT, "adapterID": "debugpy"}, seconds=LIMIT)
        with pytest.raises(ChannelClosed):
            await opened.request("launch", {"code": "pass", "noDebug": True}, seconds=LIMIT)
        await adapter.settle()
        assert cause(adapter.stderr_tail()) == "RuntimeError: can't start new thread"


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


@pytest.mark.parametrize(
    ("text", "beside", "uses"),
    [
        ("from gevent import monkey\n", "", True),
        ("if True:\n    import eventlet.green\n", "", True),
        ("import work\n", "import gevent\n", True),
        ("import work\n# import gevent\n", "import gevent_like\n", False),
        ("import work\ntext = 'import gevent'\n", "", False),
    ],
)
def test_pydevd_works_beside_greenlets_where_the_programs_own_imports_have_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, beside: str, *, uses: bool
) -> None:
    (tmp_path / "main.py").write_text(text)
    (tmp_path / "work.py").write_text(beside)
    monkeypatch.delenv(SUPPORT, raising=False)
    monkeypatch.setitem(sys.modules, INTEGRATION, sys)
    monkeypatch.chdir(tmp_path)
    for command in (["--connect", "5678", str(tmp_path / "main.py"), "x"], ["-m", "main"]):
        with set_gevent_support(["debugpy", *command]):
            assert (os.environ.get(SUPPORT) == "True") == uses
        assert SUPPORT not in os.environ
