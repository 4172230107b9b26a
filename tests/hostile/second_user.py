"""Rounds against another user of the same machine. They need root, which alone may become one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.hostile.garbage import TOKEN, serving
from tests.hostile.judge import Judge
from tests.hostile.server import Attacked, Place, attacked, entries, place
from tests.languages import Language, program_of
from tests.neovim.editor import neovim
from tests.neovim.test_lifecycle import CORE, TOLD, start
from tests.processes import descendants

NEIGHBOUR = Path(__file__).parent / "neighbour.py"
SECRET = "hush-0f3a9c7d51"
"""Stands in the environment that a program is started with."""
OPEN = frozenset[str]()
"""Adapters that serve whoever connects; nothing of ours can change that, and docs/security.md says so."""
LISTENS = "0A"
ACCEPTS = "00010000"

possible = os.geteuid() == 0 and Path("/proc/self/net/tcp").exists()


async def beside_sessions(judge: Judge, rounds: int, language: Language, build: Path) -> None:
    """Start sessions while the neighbour watches for ports, then let them try what is open."""
    async with place() as where, attacked(where, judge) as server:
        program = program_of(language, build)
        async with _thief(judge, server.pid, str(language)):
            for _ in range(rounds):
                judge.count(f"rounds: second user: {language}")
                await server.data(
                    "dap_run",
                    program=str(program),
                    type=language.adapter,
                    breakpoints=[program.at("inner")],
                    env={"HOSTILE_SECRET": SECRET},
                )
                await _poked(judge, [server.pid, *server.children()], where, str(language))
                await _ended(server)


async def beside_servers(judge: Judge) -> None:
    """Let the neighbour try the endpoints of a server over HTTP, and of a Neovim with its core."""
    judge.count("rounds: second user: servers", 2)
    async with serving(judge) as (process, _, where):
        await _poked(judge, [process.pid], where, "dapeer serve")
    async with place() as where:
        environment = {**where.environment(), "DAPEER_TOKEN": TOKEN}
        async with neovim(
            where.folder, dap=False, rc=TOLD, setup=CORE, environment=environment
        ) as editor:
            await start(editor)
            await _poked(judge, [editor.pid, *descendants(editor.pid)], where, "Neovim")


async def _ended(server: Attacked) -> None:
    for each in (await server.data("dap_status")).get("sessions", ()):
        if each["state"] != "ended":
            await server.call("dap_terminate", {"session_id": each["session_id"]})


async def _poked(judge: Judge, pids: list[int], where: Place, doing: str) -> None:
    given: dict[str, Any] = {
        "endpoints": list(endpoints(pids)),
        "folders": [str(where.folder)],
        "pids": pids,
        "secrets": [SECRET, TOKEN],
    }
    judge.count("endpoints tried by another user", len(given["endpoints"]))
    process = await _neighbour("poke")
    out, _ = await process.communicate(json.dumps(given).encode())
    for got in json.loads(out):
        judge.fault("foreign connections", f"{doing}: {got[:600]}")


@asynccontextmanager
async def _thief(judge: Judge, pid: int, doing: str) -> AsyncGenerator[None]:
    process = await _neighbour("steal", str(pid))
    try:
        yield
    finally:
        out, _ = await process.communicate(b"\n")
        judge.count("ports taken by another user", out.count(b"took "))
        for line in out.decode().splitlines():
            if line.startswith("stolen"):
                judge.fault("foreign connections", f"{doing}: {line}")


async def _neighbour(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-u", str(NEIGHBOUR), *arguments, stdin=PIPE, stdout=PIPE
    )


def endpoints(pids: Iterable[int]) -> Iterable[tuple[str, object]]:
    """Return where these processes listen: ports, and Unix sockets (`@` begins one without a file)."""
    inodes = {inode for pid in pids for inode in _sockets(pid)}
    for name in ("tcp", "tcp6"):
        for row in _rows(f"/proc/net/{name}"):
            if row[3] == LISTENS and row[9] in inodes:
                yield "tcp", int(row[1].rpartition(":")[2], 16)
    for row in _rows("/proc/net/unix"):
        if row[3] == ACCEPTS and row[6] in inodes and len(row) > 7:
            yield "unix", row[7]


def _sockets(pid: int) -> Iterable[str]:
    for each in entries(Path(f"/proc/{pid}/fd")):
        with contextlib.suppress(OSError):
            if found := re.fullmatch(r"socket:\[(\d+)\]", str(each.readlink())):
                yield found[1]


def _rows(path: str) -> list[list[str]]:
    return [line.split() for line in Path(path).read_text("ascii", "replace").splitlines()[1:]]
