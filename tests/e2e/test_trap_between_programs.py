"""A trigger to one program that stops another: the call ends there, and says which."""

import asyncio
from pathlib import Path

from tests.e2e.running import free_port
from tests.e2e.test_trap import CART, SERVER
from tests.harness import client, has_all, read
from tests.processes import LIMIT

FRONT = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        cart = self.rfile.read(int(self.headers["Content-Length"]))
        with urlopen(Request(f"http://127.0.0.1:{sys.argv[2]}/total", data=cart)) as answer:
            total = answer.read()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(total)

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
"""A server that asks another one."""


async def test_a_trigger_to_one_program_that_stops_another_ends_the_call_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "front.py").write_text(FRONT, "utf-8")
    front, back = free_port(), free_port()
    async with asyncio.timeout(LIMIT), client(tmp_path) as c:
        at, ready = [SERVER.at("answer")], {"request": f"GET http://127.0.0.1:{back}/"}
        assert "→ 200" in await read(
            c, "dap_run", program=str(SERVER), args=[str(back)], breakpoints=at, then=[ready]
        )
        then = [{"request": f"POST http://127.0.0.1:{front}/", "json": CART}]
        said = await read(c, "dap_run", program="front.py", args=[str(front), str(back)], then=then)
        assert has_all(
            said,
            "Stopped (breakpoint)",
            "total = 11",
            "this stop is in session 1 (serving.py), which `then` has reached; session 2 still runs",
            "then: POST / waits for its answer (session 1 is stopped)",
        )
        assert "total = 11" in await read(c, "dap_evaluate", expressions=["total", "cart"])
        again = await read(c, "dap_wait_until_paused", session_id=2, timeout_ms=100)
        assert "Still running [session 2]" in again, "a stop that was shown does not end a wait"
        gone_on = await read(c, "dap_continue", session_id=1)
        assert has_all(gone_on, "then: POST / → 200", '{"total": 11}', "stopped")
