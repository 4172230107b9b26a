"""Which server a request reaches: at either loopback address, behind a certificate of its own, and never a stranger's."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.running import free_port, listening, started
from tests.e2e.test_trap import CART, SERVER, get, serving
from tests.e2e.test_trap_withstands import LISTENING
from tests.harness import client, has_all, read

SIX = """
import socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Server(HTTPServer):
    address_family = socket.AF_INET6

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        host = self.headers["Host"]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(host.encode())

Server(("::1", int(sys.argv[1])), Handler).serve_forever()
"""
"""A server at the loopback address of IPv6 only, as some have it for `localhost`."""
SECRET = """
import ssl, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
"""A server by HTTPS."""


async def test_a_server_at_either_loopback_address_is_reached_by_the_name_of_both(
    tmp_path: Path,
) -> None:
    (tmp_path / "six.py").write_text(SIX, "utf-8")
    port = free_port()
    named = f"localhost:{port}"
    async with client(tmp_path) as c:
        then = [{"request": f"GET http://{named}/"}]
        said = await read(c, "dap_run", program="six.py", args=[str(port)], then=then)
        assert has_all(said, "GET / → 200", f"bytes: {named}")
        assert f"bytes: {named}" in await get(c, "/path")
        assert f"[::1]:{port}" in await get(c, "/", f"[::1]:{port}")
        other = await get(c, "/", port)
        assert has_all(
            other, f"nothing listens at 127.0.0.1:{port}; the program listens at [::1]:{port}"
        )


def certify(folder: Path) -> None:
    """Write the certificate of a server that nobody vouches for, and its key."""
    # It has no `--version`.
    if not shutil.which("openssl"):
        pytest.skip("needs openssl: apt-get install openssl")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=shop.example -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)


async def test_a_certificate_that_nobody_vouches_for_is_no_obstacle_on_this_machine(
    tmp_path: Path,
) -> None:
    certify(tmp_path)
    (tmp_path / "secret.py").write_text(SECRET, "utf-8")
    port = free_port()
    async with client(tmp_path) as c:
        then = [{"request": f"GET https://localhost:{port}/"}]
        said = await read(c, "dap_run", program="secret.py", args=[str(port)], then=then)
        assert has_all(said, "GET / → 200", f"bytes: localhost:{port}")
        plain = await get(c, "/", port)
        assert has_all(plain, "GET / failed: the server closed the connection")


async def test_no_proxy_of_the_environment_is_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving(then=[{"request": "GET /"}]) as (_, _, said):
        assert "GET / → 200" in said


@pytest.mark.parametrize("sign", ["port", "output", ""])
async def test_a_port_that_another_process_has_gets_nothing_and_is_told_with_who_has_it(
    sign: str,
) -> None:
    other = free_port()
    ready = {"port": {"port": other}, "output": {"output": "listening on"}}.get(sign)
    url = f"http://127.0.0.1:{other}/"
    async with started(sys.executable, "-c", LISTENING, str(other), says=b"listening") as theirs:
        then = [{"request": f"POST {url}", "json": CART}]
        async with serving(then=then, ready=ready, timeout_ms=3000) as (_, _, said):
            who = f"process {theirs.pid} (python"
            assert f"POST / waits until the program listens at port {other}, which {who}" in said
            assert "Still running" in said
            theirs.kill()
            assert theirs.stderr is not None
            assert b"connected" not in await theirs.stderr.read()


async def test_a_program_that_was_attached_to_is_ready_and_a_strangers_port_is_refused() -> None:
    other = free_port()
    async with (
        listening(SERVER.path) as (_, port),
        started(sys.executable, "-c", LISTENING, str(other), says=b"listening") as theirs,
        client() as c,
    ):
        await read(
            c,
            "dap_run",
            request="attach",
            port=port,
            breakpoints=[SERVER.at("answer")],
            wait_until_paused=False,
        )
        stopped = await read(c, "dap_continue", then=[{"request": "POST /total", "json": CART}])
        assert has_all(stopped, "Stopped (breakpoint)", "total = 11")
        assert "→ 200" in await read(c, "dap_continue")
        strange = await get(c, "/", other)
        assert has_all(
            strange,
            f"GET / failed: port {other} is of process {theirs.pid} (python",
            "which is not debugged: nothing was sent; the program listens at",
        )
