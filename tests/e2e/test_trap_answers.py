"""What is sent reaches the program as it was given, once; its answer is cut and masked, and nobody else reads it."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from dapeer.adapters.definition.definition import load_all, shipped, user_folder
from dapeer.mcp.all_tools import TOOLS
from dapeer.mcp.server.server import make_server
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.triggers import runs
from tests.e2e.running import free_port
from tests.e2e.test_trap import CART, SERVER, get, serving
from tests.harness import DATA, client, has_all, read, refusal
from tests.processes import LIMIT

ECHO = """
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

count = 0

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        kind, own = self.headers["Content-Type"], self.headers["X-Own"]
        self.answer(f"{body} as {kind} {own}".encode())

    def do_GET(self):
        global count
        count += 1
        if self.path == "/break":
            self.connection.close()
        elif self.path == "/silence":
            threading.Event().wait()
        elif self.path == "/large":
            self.answer(b"x" * (3 << 20))
        elif self.path == "/secret":
            self.send_response(200)
            self.send_header("Set-Cookie", "session=9f86d081884c7d65")
            self.answer_body(b'{"password": "hunter2-of-ada"}')
        else:
            self.answer(f"request {count}".encode())  # @answer

    def answer(self, body):
        self.send_response(200)
        self.answer_body(body)

    def answer_body(self, body):
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@asynccontextmanager
async def echoing(
    folder: Path, *then: object, **more: object
) -> AsyncGenerator[tuple[Client, str]]:
    """Run the server and send it something; give what the call says."""
    (folder / "echo.py").write_text(ECHO, "utf-8")
    async with asyncio.timeout(LIMIT), client(folder) as c:
        args = [str(free_port())]
        yield c, await read(c, "dap_run", program="echo.py", args=args, then=then, **more)


async def test_bodies_and_headers_arrive_as_they_were_given(tmp_path: Path) -> None:
    then = [
        {"request": "POST /", "json": {"é": 1}, "headers": {"X-Own": "mine"}},
        {"request": "POST /", "form": {"a": "1 2"}},
        {"request": "POST /", "body": "plain", "headers": {"Content-Type": "text/x-own"}},
    ]
    async with echoing(tmp_path, *then) as (_, said):
        assert '{"é": 1} as application/json mine' in said
        assert "a=1+2 as application/x-www-form-urlencoded None" in said
        assert "plain as text/x-own None" in said


async def test_a_command_has_its_own_folder_and_variables(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    code = "import os; print(os.getcwd(), os.environ['OWN'])"
    command = {"command": [sys.executable, "-c", code], "cwd": "below", "env": {"OWN": "mine"}}
    async with echoing(tmp_path, command) as (_, said):
        assert f"{tmp_path / 'below'} mine" in said


async def test_an_answer_is_cut_and_masked_as_output_is(tmp_path: Path) -> None:
    secret = {"Authorization": "Bearer 9f86d081884c7d659a2f", "Cookie": "id=60303ae22b998861"}
    then = [
        {"request": "GET /secret?token=fcde2b2edba56bf4", "headers": secret},
        {"request": "GET /large"},
    ]
    async with echoing(tmp_path, *then[:1]) as (c, said):
        secrets = ("hunter2", "9f86d081884c7d65", "60303ae22b998861", "fcde2b2edba56bf4")
        large = await read(c, "dap_continue", then=then[1:])
        whole = said + large + await read(c, "dap_program_output", category="then")
        assert not [each for each in secrets if each in whole]
        assert "GET /large → 200" in large
        assert "1,048,576 bytes and more, which were not read: xxx" in large
        assert len(large) < 3000


async def test_nothing_is_sent_again(tmp_path: Path) -> None:
    async with echoing(tmp_path, {"request": "GET /break"}) as (c, said):
        assert "GET /break failed: the server closed the connection" in said
        assert "request 2" in await get(c, "/"), "the one that failed was the first"


async def test_the_limit_of_a_request_counts_only_while_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SECONDS_TO_ANSWER", 1.5)
    async with echoing(tmp_path, {"request": "GET /silence"}) as (c, said):
        assert "GET /silence failed: nothing came in 1.5 s of the program's running" in said
        line = (
            ECHO.splitlines().index(
                '            self.answer(f"request {count}".encode())  # @answer'
            )
            + 1
        )
        await read(c, "dap_set_breakpoint", filename="echo.py", line=line)
        assert "waits for its answer (the program is stopped)" in await get(c, "/")
        # Longer than its limit.
        await read(c, "dap_evaluate", expressions=["__import__('time').sleep(2)"])
        assert "→ 200" in await read(c, "dap_continue")


async def test_what_cannot_be_done_says_why(tmp_path: Path) -> None:
    async with echoing(tmp_path, {"evaluate": "count"}) as (c, said):
        assert "then: evaluate count failed: " in said
        typed = await refusal(c, "dap_continue", then=[{"input": "3\n"}])
        assert has_all(typed, "does not run in a terminal", "`terminal: true`")


async def test_a_restart_sends_it_too(tmp_path: Path) -> None:
    async with echoing(tmp_path, {"request": "GET /"}) as (c, said):
        assert "request 1" in said
        again = await read(c, "dap_restart", then=[{"request": "GET /"}, {"request": "GET /"}])
        assert has_all(again, "request 1", "request 2")


async def test_only_who_has_sent_it_is_told() -> None:
    port = free_port()
    then = [{"request": f"POST http://127.0.0.1:{port}/total", "json": CART}]
    async with (
        asyncio.timeout(LIMIT),
        Debugger(load_all(shipped(), user_folder()), SERVER.path.parent) as debugger,
        Client(make_server(debugger, TOOLS), extensions=DATA) as other,
        Client(make_server(debugger, TOOLS), extensions=DATA) as mine,
    ):
        at = [SERVER.at("answer")]
        said = await read(
            mine, "dap_run", program=str(SERVER), args=[str(port)], breakpoints=at, then=then
        )
        assert "waits for its answer" in said
        assert "then:" not in await read(other, "dap_status")
        assert "then:" not in await read(other, "dap_continue", session_id=1, timeout_ms=1000)
        assert "then: POST /total → 200" in await read(mine, "dap_status")


async def test_a_configuration_says_when_its_server_is_ready_and_where(tmp_path: Path) -> None:
    port = free_port()
    action = {"pattern": "listening on port ([0-9]+)", "uriFormat": "http://localhost:%s/shop/"}
    shop = {
        "name": "Shop", "type": "debugpy", "request": "launch", "program": str(SERVER),
        "args": [str(port)], "serverReadyAction": action,
    }  # fmt: skip
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "launch.json").write_text(
        json.dumps({"configurations": [shop]}), "utf-8"
    )
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        said = await read(c, "dap_run", configuration="Shop", then=[{"request": "GET /cart"}])
        assert has_all(said, "then: GET /cart → 200", '"path": "/shop/cart"')


async def test_a_port_says_that_it_is_ready_and_else_what_was_printed_is_told() -> None:
    port = free_port()
    async with serving(
        then=[{"command": [sys.executable, "-c", "print('sent')"]}],
        ready={"port": port},
        timeout_ms=3000,
    ) as (c, own, said):
        assert f"waits until the program listens at port {port}" in said
        assert f"listening on port {own}" in said, "what it printed"
        sent = await read(
            c,
            "dap_continue",
            then=[{"command": [sys.executable, "-c", "print('sent')"]}],
            ready={"port": own},
        )
        assert "→ exit code 0" in sent
