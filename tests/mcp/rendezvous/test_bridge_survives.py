"""What a bridge carries does not end it, and what its server's end means is told."""

import asyncio
import signal
from pathlib import Path

import pytest

from dapeer.mcp.server.hub import SESSIONS
from tests.mcp.rendezvous.test_bridge import SLEEPS, STATELESS, STDIO, heard, project
from tests.mcp.small import ERAS, LEGACY
from tests.mcp.wire import Json, Wire, request, serving, started

__all__ = ["project"]

BAD_LINES = (
    b"{bad",
    b'{"a":"\t"}',
    b'{"a":1',
    b'{"a":1,}',
    b'{"a":"x',
    b'{"a":1}}',
    b"nonsense",
    b"[",
    b'"\\u12"',
    b"-",
    b"\xff\xfe",
    b'{"id":[1],"method":7}',
    b"[" * 100_000,
)
LOST = "The dapeer server ended before it answered"
NO_JSON, NO_MESSAGE = -32700, -32600


async def ping(wire: Wire, era: str) -> None:
    """Check that a client is served."""
    about = {} if era == LEGACY else {"_meta": STATELESS}
    answer = await wire.ask(request("tools/list", 99, **about))
    if LOST in str(answer):
        # It was on its way to a server that has just ended.
        answer = await wire.ask(request("tools/list", 99, **about))
    assert answer["result"]["tools"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [(), ("--no-bridge",)], ids=["bridge", "no bridge"])
async def test_a_line_that_is_no_message_is_answered_and_nothing_else_happens(
    project: Path, options: tuple[str, ...], era: str
) -> None:
    async with (
        serving("--no-auth", cwd=project),
        started(*STDIO, "--nvim", "none", *options, cwd=project) as wire,
    ):
        if era == LEGACY:
            await wire.handshake()
        await ping(wire, era)
        for line in BAD_LINES:
            await wire.send(line)
            answer = await wire.receive()
            assert (answer["id"], answer["error"]["code"]) in {
                (None, NO_JSON),
                (None, NO_MESSAGE),
            }, line
            await ping(wire, era)
        assert await wire.end() == 0


async def test_an_initialize_that_a_server_has_refused_is_not_sent_to_the_next(
    project: Path,
) -> None:
    async with (
        serving("--no-auth", cwd=project) as (server, _),
        started(*STDIO, "--nvim", "none", cwd=project) as wire,
    ):
        await wire.ask(request("server/discover", 1, _meta=STATELESS))
        refused = await wire.ask(request("initialize", 2, _meta=STATELESS))
        assert "error" in refused
        await server.signal(signal.SIGKILL)
        await ping(wire, "2026-07-28")
        assert await wire.end() == 0


async def test_who_watches_a_resource_hears_that_its_server_is_lost(project: Path) -> None:
    async with (
        serving("--no-auth", cwd=project) as (server, _),
        started(*STDIO, "--nvim", "none", cwd=project) as one,
        started(*STDIO, "--nvim", "none", cwd=project) as other,
    ):
        await one.handshake()
        await one.ask(request("resources/subscribe", 1, uri=SESSIONS))
        wanted = {"resourceSubscriptions": [SESSIONS]}
        await other.send(request("subscriptions/listen", 1, notifications=wanted, _meta=STATELESS))
        await heard(other, "notifications/subscriptions/acknowledged")
        await server.signal(signal.SIGKILL)
        await heard(one, "notifications/resources/updated", uri=SESSIONS)
        about = {"io.modelcontextprotocol/subscriptionId": 1}
        await heard(other, "notifications/resources/updated", uri=SESSIONS, _meta=about)
        for wire in (one, other):
            assert await wire.end() == 0


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("folders", [("", ""), ("", "sub")], ids=["one folder", "a folder below"])
async def test_clients_whose_server_was_lost_meet_at_one_new_server_until_the_last_leaves(
    project: Path, folders: tuple[str, str], era: str
) -> None:
    (project / "sub").mkdir()
    async with (
        serving("--no-auth", cwd=project) as (server, _),
        started(*STDIO, "--nvim", "none", cwd=project / folders[0]) as one,
        started(*STDIO, "--nvim", "none", cwd=project / folders[1]) as other,
    ):
        about = {} if era == LEGACY else {"_meta": STATELESS}
        for wire in (one, other):
            if era == LEGACY:
                await wire.handshake()
            await ping(wire, era)
        await server.signal(signal.SIGKILL)
        await asyncio.gather(*(ping(wire, era) for wire in (one, other)))
        run = request("tools/call", 2, name="dap_run", arguments=SLEEPS, **about)
        assert "'isError': True" not in str(await other.ask(run))
        status = request("tools/call", 3, name="dap_status", arguments={}, **about)
        assert "sleeper.py" in str(await one.ask(status))
        # The one that has started the server leaves, and what the other does goes on, whichever that was.
        assert await one.end() == 0
        assert "running" in str(await other.ask(status))
        assert await other.end() == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_start_that_its_client_cancels_is_answered_as_that(project: Path, era: str) -> None:
    async with started(*STDIO, "--nvim", "none", cwd=project) as wire:
        about: Json = {} if era == LEGACY else dict(STATELESS)
        if era == LEGACY:
            await wire.handshake()
            await wire.ask(request("resources/subscribe", 1, uri=SESSIONS))
        else:
            wanted = {"resourceSubscriptions": [SESSIONS]}
            listen = request("subscriptions/listen", 1, notifications=wanted, _meta=about)
            await wire.send(listen)
            await heard(wire, "notifications/subscriptions/acknowledged")
        meta = {"_meta": {**about, "progressToken": "start"}}
        arguments = {"program": SLEEPS["program"]}
        await wire.send(request("tools/call", 2, name="dap_run", arguments=arguments, **meta))
        # The session has begun, and its program has not.
        await heard(wire, "notifications/resources/updated", uri=SESSIONS)
        await wire.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 2},
            }
        )
        while "cancelled the start" not in (told := await status(wire, about)):
            assert "running" not in told, told
            await heard(wire, "notifications/resources/updated", uri=SESSIONS)
        assert "unexpectedly" not in told


async def status(wire: Wire, about: Json) -> str:
    """Return what dap_status says."""
    meta = {"_meta": about} if about else {}
    asked = request("tools/call", 6, name="dap_status", arguments={}, **meta)
    return str((await wire.ask(asked))["result"])
