"""A server to attack: a process of its own, with folders of its own, whose every end is looked at."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from dapeer.mcp.data_extension import EXTENSION
from dapeer.neovim.sockets import NAMED_BY
from tests.hostile.judge import SLACK, Judge, patience
from tests.json_types import Json
from tests.mcp.small import LEGACY
from tests.processes import command_line, descendants, process_gone, processes_of

MARK = "DAPEER_HOSTILE"
"""Variable that all that an attacked server starts inherits from it."""
AFTERWARDS = 20.0
"""Seconds in which what a server has started is gone when it is."""
LETS_GO = 8.0
"""Seconds in which what has ended is let go of: some ends are watched for a while."""
THREADS = 48
"""Threads that may idle more than at the start: those that anyio and asyncio keep for files and names."""
RUN = "/dapeer-run-"
LONGEST_LINE = 1 << 27
TOKEN = "a-token-of-this-test-0123456789abcdef"
STATELESS: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "h", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}},
}
"""What each request of the newest protocol has along."""


class Place:
    """The folders that a server has: settings, run-time files, temporary files, a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings, self.runtime, self.state, self.tmp, self.project = (
            folder / name for name in ("settings", "runtime", "state", "tmp", "project")
        )
        for each in (self.settings, self.runtime, self.state, self.tmp, self.project):
            each.mkdir()
        # As they are on every machine: others may look, and the folder for temporary files is everybody's.
        for each in (folder, self.settings, self.project):
            each.chmod(0o755)
        self.runtime.chmod(0o700)
        self.tmp.chmod(0o1777)
        self.log = folder / "server.log"
        self.mark = uuid.uuid4().hex

    def environment(self) -> dict[str, str]:
        """Return the variables of a server whose folders these are."""
        own = {
            "XDG_CONFIG_HOME": self.settings,
            "XDG_RUNTIME_DIR": self.runtime,
            "XDG_STATE_HOME": self.state,
            "TMPDIR": self.tmp,
        }
        kept = {name: value for name, value in os.environ.items() if name not in NAMED_BY}
        return {**kept, **{name: str(path) for name, path in own.items()}}


@asynccontextmanager
async def place() -> AsyncGenerator[Place]:
    """Give folders that other users can see, as those of a real person are."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        yield Place(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Attacked:
    """One server process, its answers by the number of the request, and what the judge thinks of it."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        where: Place,
        judge: Judge,
        *,
        era: str = LEGACY,
        joined: asyncio.subprocess.Process | None = None,
    ) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self.place = where
        self.judge = judge
        self.joined = joined
        """The server to which it is a bridge; None: it is one itself."""
        self._about: Json = {"_meta": STATELESS} if era != LEGACY else {}
        self.killed = False
        """By us, so its death is none of its faults."""
        self._stdin, self._stdout = process.stdin, process.stdout
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._number = 0
        self._files: Counter[str] | None = None
        self._threads = 0
        self.reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.returncode is None and not self.reading.done()

    # -- talking

    async def write(self, line: bytes) -> None:
        """Send bytes as they are."""
        with contextlib.suppress(ConnectionError):
            self._stdin.write(line)
            await self._stdin.drain()

    async def request(self, method: str, params: object, seconds: float = 60) -> Json | None:
        """Ask, and return the response; None when there was none, which is noted."""
        self._number += 1
        number = self._number
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        if isinstance(params, dict):
            params = {**cast("Json", params), **self._about}
        asked = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        await self.write(asked.encode() + b"\n")
        await asyncio.wait({future, self.reading}, timeout=seconds, return_when="FIRST_COMPLETED")
        self._waiting.pop(number, None)
        if not future.done():
            if self.alive and not self.killed:
                self.judge.hang(asked, seconds)
            return None
        self.judge.answer(asked, future.result())
        return future.result()

    async def call(self, tool: str, arguments: object = None) -> Json | None:
        """Call a tool and return the response, an error as well."""
        params: Json = {"name": tool, "arguments": {} if arguments is None else arguments}
        return await self.request("tools/call", params, patience(tool, arguments))

    async def data(self, tool: str, **arguments: object) -> Json:
        """Call a tool, and return the data of its result; nothing when it has failed."""
        return data_of(await self.call(tool, arguments))

    async def still_there(self) -> bool:
        """Ask what every server answers, and return whether there was an answer."""
        return await self.request("tools/list" if self._about else "ping", {}, SLACK) is not None

    async def handshake(self) -> None:
        """Open the connection."""
        if self._about:
            await self.request("server/discover", {})
            return
        about: Json = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"extensions": {EXTENSION: {}}},
        }
        await self.request("initialize", {**about, "clientInfo": {"name": "h", "version": "1"}})
        await self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    async def _read(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await self._stdout.readline():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = cast("Json", json.loads(line))
            waiting = self._waiting.get(message["id"]) if "method" not in message else None
        except (ValueError, TypeError, KeyError):
            return self.judge.fault("internal errors", f"no message on stdout: {line[:300]!r}")
        if waiting is not None and not waiting.done():
            waiting.set_result(message)
        return None

    # -- what is left of what it has done

    def children(self) -> set[int]:
        """Return the processes that it has started and that live."""
        return {*descendants(self.pid), *processes_of(self.place.mark, MARK)} - {self.pid}

    async def calm(self) -> None:
        """Note how many descriptors and threads it has while nothing goes on."""
        # Before the first call only its front runs, which needs less.
        await self.call("dap_status")
        await self._turn()
        self._files, self._threads = self._descriptors(), self._tasks()

    async def back_to_calm(self, doing: str) -> None:
        """Look whether it is as it was: alive, with the descriptors and threads of then."""
        if not self.alive:
            return
        if more := await self._more_files():
            self.judge.fault("leaks", f"files {dict(more)}: {doing}")
        if self._files is not None and self._tasks() > self._threads + THREADS:
            self.judge.fault("leaks", f"{self._threads} -> {self._tasks()} threads: {doing}")

    async def _more_files(self) -> Counter[str]:
        """Return the files that it has besides those of the start, once it has had time to close some."""
        more: Counter[str] = Counter()
        over = time.monotonic() + LETS_GO
        while time.monotonic() < over:
            await self._turn(1)
            more = self._descriptors() - (self._files or self._descriptors())
            if not more:
                break
        return more

    async def _turn(self, times: int = 5) -> None:
        for _ in range(times):
            await self.still_there()

    def _descriptors(self) -> Counter[str]:
        """Return what its files are, and how many of each."""
        found: Counter[str] = Counter()
        for each in entries(Path(f"/proc/{self.pid}/fd")):
            with contextlib.suppress(OSError):
                name = each.readlink().as_posix().partition("[")[0]
                # The server's own folder, which it makes once and holds.
                found[name] += RUN not in name
        return found

    def _tasks(self) -> int:
        return len(entries(Path(f"/proc/{self.pid}/task")))

    async def gone(self, pids: set[int], doing: str = "") -> None:
        """Wait until processes have ended; those that stay are noted, and killed."""
        left: list[int] = []
        for pid in pids:
            try:
                await process_gone(pid, AFTERWARDS)
            except TimeoutError:
                left.append(pid)
        self.judge.orphans(f"{pid} {command_line(pid)[:300]} {doing}" for pid in left)
        for pid in left:
            # Only what has inherited our mark: the number may be somebody else's by now.
            if pid in processes_of(self.place.mark, MARK):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    async def end(self) -> None:
        """Close its stdin, and look at its end and at what it leaves."""
        if not self.alive and not self.killed:
            tail = _read(self.place.log)[-3000:]
            self.judge.fault("deaths", f"exit code {await self.process.wait()}: {tail}")
        children = self.children()
        self._stdin.close()
        try:
            async with asyncio.timeout(AFTERWARDS):
                await self.process.wait()
        except TimeoutError:
            self.judge.hang("the end of stdin", AFTERWARDS)
            self.process.kill()
        await self.process.wait()
        if self.joined is not None:
            if self.joined.stdin:
                self.joined.stdin.close()
            await self.joined.wait()
        await self.gone(children | set(processes_of(self.place.mark, MARK)))
        await self.reading
        self.judge.log(_read(self.place.log))
        # What one leaves that was killed the next one sweeps away.
        if not self.killed:
            for path in self.place.tmp.glob("dapeer*"):
                self.judge.fault("leftovers", path.name)


@asynccontextmanager
async def attacked(
    where: Place,
    judge: Judge,
    *options: str,
    environment: Mapping[str, str] | None = None,
    era: str = LEGACY,
    bridged: bool = False,
) -> AsyncGenerator[Attacked]:
    """Start a server, or one and a bridge to it, and shake hands; at the exit it ends, and is judged."""
    joined = (await served_over_http(where))[0] if bridged else None
    alone = () if bridged else ("--no-bridge",)
    with where.log.open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dapeer", "stdio", *alone, "--nvim", "none", *options,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log,
            cwd=where.project, limit=LONGEST_LINE, env={**where.environment(), MARK: where.mark, **(environment or {})},
        )  # fmt: skip
    server = Attacked(process, where, judge, era=era, joined=joined)
    try:
        await server.handshake()
        yield server
    finally:
        await server.end()


async def served_over_http(where: Place) -> tuple[asyncio.subprocess.Process, int]:
    """Start a server over HTTP, which ends with its stdin; return it and its port, once it can be found."""
    with where.log.open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dapeer", "serve", "--with-stdin",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, cwd=where.project,
            env={**where.environment(), MARK: where.mark, "DAPEER_TOKEN": TOKEN},
        )  # fmt: skip
    assert process.stdout
    return process, int((await process.stdout.readline()).rsplit(maxsplit=1)[-1])


def data_of(answer: Json | None) -> Json:
    """Return the data of a tool's result; nothing when there is none."""
    result = cast("Json", (answer or {}).get("result") or {})
    return cast("Json", result.get("structuredContent") or {})


def entries(folder: Path) -> list[Path]:
    """Return what a folder holds, nothing when it is gone."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
