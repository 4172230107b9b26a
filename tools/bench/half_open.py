"""What connections without a token cost a client that has one: `python -m tools.bench.half_open`.

One client steps through a program over HTTP: alone, beside 1,500 connections that another process opens and
sends half a request line on, and beside a process that does so again and again. The server may open 1,024
files, as is usual.
"""

import asyncio
import os
import resource
import socket
import subprocess
import sys
import time
from statistics import median

from mcp import Client

from tests.harness import DATA, ask
from tests.mcp.small import LEGACY, http_client, streamable
from tests.mcp.wire import serving
from tests.programs import program

CONNECTIONS = 1500
STEPS = 200
FILES = 1024
SECRET = "a-token-of-a-benchmark"


def open_all(port: int) -> list[socket.socket]:
    """Open them, each with half of a request line."""
    opened: list[socket.socket] = []
    for _ in range(CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.send(b"GET /mc")
        opened.append(connection)
    return opened


def attack(port: int, *, again: bool) -> None:
    """Open the connections and keep them until stdin ends, or open new ones for ever."""
    opened = open_all(port)
    sys.stdout.write("opened\n")
    sys.stdout.flush()
    while again:
        try:
            opened = open_all(port)
        except OSError:
            continue
    sys.stdin.read()
    del opened


async def step_times(client: Client) -> list[float]:
    """Return how long each of some steps took, in milliseconds."""
    times: list[float] = []
    for _ in range(STEPS):
        begun = time.perf_counter()
        await ask(client, "dap_step_over")
        times.append((time.perf_counter() - begun) * 1000)
    return times


def told(what: str, times: list[float]) -> None:
    """Print one line."""
    late = sorted(times)[len(times) * 99 // 100]
    sys.stdout.write(f"{what:40} step p50 {median(times):6.1f} ms   p99 {late:6.1f} ms\n")


async def beside(client: Client, url: str, what: str, *options: str) -> None:
    """Measure while another process attacks."""
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "tools.bench.half_open", port, *options]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    await process.stdout.readline()
    try:
        told(what, await step_times(client))
        async with http_client(None) as web:
            begun = time.perf_counter()
            await web.get(f"{url}/health")
            taken = (time.perf_counter() - begun) * 1000
            sys.stdout.write(f"{'  a new connection, and /health':40} {taken:15.1f} ms\n")
    finally:
        process.kill()
        await process.wait()


async def measure() -> None:
    """Measure all three."""
    os.environ["DAPEER_TOKEN"] = SECRET
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    async with serving() as (_, url):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        async with Client(streamable(url, SECRET), mode=LEGACY, extensions=DATA) as client:
            p = program("loop.py")
            await ask(client, "dap_run", program=str(p), args=["9999"], breakpoints=[p.at("call")])
            await ask(client, "dap_clear_breakpoints")
            told("alone", await step_times(client))
            await beside(client, url, f"beside {CONNECTIONS:,} half-open connections")
            await beside(client, url, "beside new ones without end", "again")


if __name__ == "__main__":
    if sys.argv[1:]:
        attack(int(sys.argv[1]), again=sys.argv[2:] == ["again"])
    else:
        asyncio.run(measure())
