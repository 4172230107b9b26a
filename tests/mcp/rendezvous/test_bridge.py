"""`dapeer stdio` beside a server that runs already: one debugger for all clients of a project."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client

from dapeer.base.system.folder_names import make_private
from dapeer.mcp.rendezvous.announcement import announce, announcement_file, runtime_folder
from dapeer.mcp.rendezvous.reaching import Announcement
from dapeer.mcp.server.hub import SESSIONS
from tests.mcp.small import ERAS, LEGACY, MODERN, sse, streamable
from tests.mcp.wire import Json, Wire, call, opening, request, serving, started
from tests.processes import LIMIT
from tests.programs import program

STDIO = ("dapeer", "stdio")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "src"
    folder.mkdir(parents=True)
    return folder.parent


def modes(folder: Path) -> dict[str, int]:
    """Return who may use a folder and the files in it."""
    return {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.exists() else []


async def sessions(wire: Wire) -> list[str]:
    """Return the URIs of the sessions that a client sees."""
    answer = await wire.ask(request("resources/list", 9))
    return [resource["uri"] for resource in answer["result"]["resources"]][1:]


async def run(wire: Wire) -> None:
    p = program("loop.py")
    answer = await wire.ask(call(8, "dap_run", program=str(p), breakpoints=[p.at("inner")]))
    assert answer["result"]["structuredContent"]["state"] == "stopped"


async def test_clients_of_one_project_are_bridged_to_its_server(project: Path) -> None:
    async with (
        serving("--no-auth", cwd=project) as (server, _),
        started(*STDIO, cwd=project) as one,
        started(*STDIO, cwd=project / "src") as two,
    ):
        await one.handshake("2025-06-18")
        await run(one)
        result = await two.handshake("2024-11-05")
        assert result["protocolVersion"] == "2024-11-05"
        assert len(await sessions(two)) == 2
        assert await one.end() == 0
        snapshot = await two.ask(call(3, "dap_snapshot"))
        assert snapshot["result"]["structuredContent"]["state"] == "stopped"
        assert await two.end() == 0
        assert await server.signal(signal.SIGTERM) == 0


@pytest.mark.parametrize("era", ERAS)
async def test_whether_a_client_gets_data_is_its_own_choice_and_not_that_of_the_core(
    project: Path, era: str
) -> None:
    options = {(): False, ("--data",): True, ("--no-bridge", "--data"): True}
    async with serving("--no-auth", "--data", cwd=project) as (_, url):
        for option, wanted in options.items():
            async with started(*STDIO, *option, cwd=project) as c:
                about = {"_meta": STATELESS} if era == MODERN else {}
                if era == LEGACY:
                    await c.handshake(data=False)
                asked = request("tools/call", 2, name="dap_status", arguments={}, **about)
                assert ("structuredContent" in (await c.ask(asked))["result"]) is wanted, option
        # Who comes over HTTP has no command line.
        for road in (streamable(url, None), sse(url, None)):
            async with Client(road, mode=era) as c:
                assert (await c.call_tool("dap_status")).structured_content is not None


async def test_a_bridge_needs_none_of_the_servers_libraries(project: Path) -> None:
    asked = [request("initialize", 0, **opening("2025-11-25")), request("tools/list", 1)]
    lines = "".join(f"{json.dumps(each)}\n" for each in asked).encode()
    async with serving("--no-auth", cwd=project):
        command = [sys.executable, "-X", "importtime", "-m", "dapeer", "stdio"]
        done = await asyncio.to_thread(
            subprocess.run, command, input=lines, capture_output=True, cwd=project, timeout=LIMIT
        )
        assert (done.returncode, done.stdout.count(b'"result"')) == (0, 2)
        loaded = {line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()}
        assert b"dapeer.mcp.rendezvous.bridge" in loaded
        assert not loaded & {b"mcp", b"pydantic", b"anyio", b"asyncio"}
        # These take longer than all that a bridge does.
        assert not loaded & {b"argparse", b"dataclasses", b"logging", b"pathlib", b"typing"}


async def test_only_the_owner_can_find_and_reach_the_server_which_takes_all_of_it_along(
    project: Path,
) -> None:
    async with serving("--no-auth", cwd=project) as (server, _):
        assert modes(runtime_folder()) == {"": 0o700, ".sock": 0o600, ".json": 0o600}
        assert await server.signal(signal.SIGTERM) == 0
    assert files_in(runtime_folder()) == []


async def test_a_bridged_client_that_leaves_cancels_its_calls_and_nothing_else(
    project: Path,
) -> None:
    async with (
        serving("--no-auth", cwd=project),
        started(*STDIO, cwd=project) as one,
        started(*STDIO, cwd=project) as two,
    ):
        await one.handshake()
        await one.ask(
            call(2, "dap_run", program=str(program("sleeper.py")), wait_until_paused=False)
        )
        await one.send(call(3, "dap_wait_until_paused", timeout_ms=600_000))
        assert await one.signal(signal.SIGTERM) == 0
        await two.handshake()
        assert len(await sessions(two)) == 2
        await two.ask(call(4, "dap_terminate"))


SLEEPS = {"program": str(program("sleeper.py")), "wait_until_paused": False}
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def heard(wire: Wire, method: str, **params: object) -> Json:
    """Return the next notification of a method, with these parameters among others."""
    while True:
        message = await wire.receive()
        if message.get("method") == method and params.items() <= message.get("params", {}).items():
            return message


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_a_client_outlives_its_server_and_is_told_what_was_lost_with_it(
    project: Path, end: signal.Signals
) -> None:
    async with serving("--no-auth", cwd=project) as (server, _), started(*STDIO, cwd=project) as c:
        await c.handshake()
        await c.ask(request("resources/subscribe", 1, uri=SESSIONS))
        await c.ask(call(2, "dap_run", **SLEEPS))
        await c.send(call(3, "dap_wait_until_paused", timeout_ms=600_000))
        await c.ask(request("ping", 4))
        await server.signal(end)
        while (answer := await c.receive()).get("id") != 3:
            pass
        if end == signal.SIGKILL:
            assert answer["error"]["message"].startswith("The dapeer server ended before it")
        else:
            assert answer["result"]["content"][0]["text"].startswith(
                "The dapeer server has ended before this call."
            )
        await heard(c, "notifications/tools/list_changed")
        await heard(c, "notifications/prompts/list_changed")
        told = (await c.ask(call(5, "dap_status")))["result"]
        assert told["content"][0]["text"].startswith("No debug sessions.")
        assert "A new one takes over" in told["content"][1]["text"]
        # It has asked for data, which the new one has not heard itself.
        assert told["structuredContent"]["sessions"] == []
        await c.send(call(6, "dap_run", **SLEEPS))
        await heard(c, "notifications/resources/updated", uri=SESSIONS)
        assert await c.end() == 0


async def test_the_streams_of_a_client_go_on_with_the_next_server(project: Path) -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": [SESSIONS]}
    async with serving("--no-auth", cwd=project) as (server, _), started(*STDIO, cwd=project) as c:
        await c.send(request("subscriptions/listen", 1, notifications=wanted, _meta=STATELESS))
        assert (await c.receive())["method"] == "notifications/subscriptions/acknowledged"
        await server.signal(signal.SIGKILL)
        # Nothing is acknowledged a second time.
        changed = await c.receive()
        assert changed["method"] == "notifications/tools/list_changed"
        assert changed["params"] == {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        run = request("tools/call", 2, name="dap_run", arguments=SLEEPS, _meta=STATELESS)
        await c.send(run)
        assert (await c.receive())["method"] == "notifications/resources/updated"
        assert await c.end() == 0


async def test_a_client_that_wants_a_server_of_its_own_or_is_of_another_project_gets_one(
    project: Path, tmp_path: Path
) -> None:
    wishes = (("--no-bridge",), ("--read-only",), ("--tools", "dap"))
    async with serving("--no-auth", cwd=project), started(*STDIO, cwd=project) as one:
        await one.handshake()
        await run(one)
        for options, folder in (*((wish, project) for wish in wishes), ((), tmp_path)):
            async with started(*STDIO, *options, cwd=folder) as other:
                await other.handshake()
                assert await sessions(other) == [], options


@pytest.mark.parametrize("option", [["--read-only"], ["--tools", "dap"]])
async def test_a_server_that_holds_tools_back_is_nobodys_bridge(
    project: Path, option: list[str]
) -> None:
    async with serving("--no-auth", *option, cwd=project):
        assert files_in(runtime_folder()) == []


async def test_an_announcement_that_nobody_stands_behind_is_removed(project: Path) -> None:
    async with serving("--no-auth", cwd=project) as (server, _):
        await server.signal(signal.SIGKILL)
    assert announcement_file(project).exists()
    async with started(*STDIO, cwd=project) as client:
        await client.handshake()
        assert await client.end() == 0
    assert not announcement_file(project).exists()


async def test_a_server_that_does_not_answer_is_named_and_not_joined(project: Path) -> None:
    async with serving("--no-auth", cwd=project) as (server, _):
        server.process.send_signal(signal.SIGSTOP)
        async with started(*STDIO, cwd=project, stderr=True) as client:
            await client.handshake()
            assert f"process {server.process.pid}, " in await client.logged("is not joined")
            assert await client.end() == 0


async def test_announcements_that_make_no_sense_are_ignored(project: Path) -> None:
    """A client looks for a server of its folder, and of each one above."""
    make_private(runtime_folder())
    folder = project / "src"
    for content in ("", "[]", "{}", '{"project": 1}', "\0"):
        folder /= "deeper"
        announcement_file(folder).write_text(content, encoding="utf-8")
    folder.mkdir(parents=True)
    async with started(*STDIO, cwd=folder) as client:
        await client.handshake()
        assert await client.end() == 0


async def test_the_first_server_of_a_project_stays_the_one_that_is_found(project: Path) -> None:
    async with (
        serving("--no-auth", cwd=project) as (first, _),
        serving("--no-auth", cwd=project) as (second, _),
    ):
        assert str(first.process.pid) in announcement_file(project).read_text(encoding="utf-8")
        await second.signal(signal.SIGTERM)
        assert announcement_file(project).exists()


async def test_a_path_that_is_too_long_for_a_socket_is_no_obstacle(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("long" * 30)))
    async with (
        serving("--no-auth", cwd=project),
        started(*STDIO, cwd=project) as one,
        started(*STDIO, cwd=project) as two,
    ):
        await one.handshake()
        await run(one)
        await two.handshake()
        assert len(await sessions(two)) == 2


def test_another_servers_announcement_is_left_alone(tmp_path: Path) -> None:
    make_private(runtime_folder())
    with announce(tmp_path, tmp_path / "sock") as first:
        assert first
        other = Announcement(str(tmp_path), "elsewhere", os.getpid())
        announcement_file(tmp_path).write_text(
            f'{{"project": "{other.project}", "socket": "elsewhere", "pid": {other.pid}}}',
            encoding="utf-8",
        )
    assert announcement_file(tmp_path).exists()


async def test_a_named_pipe_in_place_of_an_announcement_keeps_nobody(tmp_path: Path) -> None:
    place = Path(announcement_file(tmp_path))
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.mkfifo(place)
    async with started("dapeer", "stdio", "--nvim", "none", cwd=tmp_path) as wire:
        await wire.handshake()
        assert "result" in await wire.ask(call(7, "dap_status"))
        assert await wire.end() == 0
