"""Our core at OpenCode servers: where it is wanted, under which name, and how it leaves."""

import asyncio
import resource
from pathlib import Path

import anyio
import pytest

from dapeer.base.json_types import Json
from dapeer.base.system import folder_names
from dapeer.integrations.opencode import registrations
from dapeer.integrations.opencode.client import is_on_this_machine
from dapeer.integrations.opencode.integration import Servers
from dapeer.integrations.opencode.registrations import ServerUse
from dapeer.mcp.server.integration import Core
from tests.processes import LIMIT

CORE = Core("http://127.0.0.1:9/mcp", "a-token")
ELSEWHERE = "http://example.invalid:4096"
SERVER = "http://127.0.0.1:4096"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is claimed to the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def test_a_server_that_does_not_answer_keeps_nobody_from_ending(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (await reader.readline()).startswith(b"GET /config"):
            asked.set()
        await reader.read()
        writer.close()

    reports: list[Json] = []
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, asyncio.timeout(LIMIT), anyio.create_task_group() as tasks:
        servers = Servers(tmp_path, tasks, None, CORE)
        servers.set_use("nvim", ServerUse(url, "", (str(tmp_path),), CORE.url), reports.append)
        await asked.wait()
        await servers.remove_registrations()
        tasks.cancel_scope.cancel()
    assert reports == []


@pytest.mark.parametrize("core", ["", "http://127.0.0.1:10/mcp"])
async def test_only_the_core_of_a_neovim_registers_itself(tmp_path: Path, core: str) -> None:
    lines: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append(await reader.readline())
        writer.close()
        if lines[-1].startswith(b"GET /global/event"):
            heard.set()

    heard = asyncio.Event()
    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, asyncio.timeout(LIMIT), anyio.create_task_group() as tasks:
        servers = Servers(tmp_path, tasks, None, CORE)
        servers.set_use("nvim", ServerUse(url, "", (str(tmp_path),), core), lambda _: None)
        await heard.wait()
        tasks.cancel_scope.cancel()
    assert {line.split()[1] for line in lines} == {b"/global/event"}


async def test_nothing_is_sent_to_another_machine_and_its_core_says_so(tmp_path: Path) -> None:
    reports: list[Json] = []
    async with anyio.create_task_group() as tasks:
        servers = Servers(tmp_path, tasks, None, CORE)
        servers.set_use(
            "nvim", ServerUse(ELSEWHERE, "", (str(tmp_path),), CORE.url), reports.append
        )
        assert servers.current is None
    (report,) = reports
    assert (report["state"], report["directory"]) == ("failed", str(tmp_path))
    assert report["problem"].startswith(f"OpenCode is on another machine ({ELSEWHERE})")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:4096", True),
        ("http://127.1.2.3", True),
        ("http://localhost:4096", True),
        ("http://[::1]:4096", True),
        ("http://0.0.0.0:4096", True),
        ("http://127.0.0.1.example.com", False),
        ("http://10.0.0.1", False),
        ("http://127.0.0.1@example.com", False),
        ("file:///127.0.0.1", False),
        ("ftp://127.0.0.1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_a_url_tells_whether_it_is_of_this_machine(url: str, here: object) -> None:
    assert is_on_this_machine(url) == here


def test_each_core_has_a_name_of_its_own_which_is_free_again_when_it_leaves() -> None:
    first, second = (
        registrations.claim_name(SERVER, "/shop"),
        registrations.claim_name(SERVER, "/shop"),
    )
    elsewhere = [
        registrations.claim_name(SERVER, "/bank"),
        registrations.claim_name("http://127.0.0.1:4097", "/shop"),
    ]
    assert [first.name, second.name] == ["dapeer", "dapeer-2"]
    assert [claim.name for claim in elsewhere] == ["dapeer", "dapeer"]
    first.release()
    third = registrations.claim_name(SERVER, "/shop")
    assert third.name == "dapeer"
    assert list(registrations.claim_abandoned_names(SERVER)) == []
    for claim in (second, third, *elsewhere):
        claim.release()
    assert list((Path(folder_names.state()) / "opencode").iterdir()) == []


def test_a_core_has_a_name_where_nothing_can_be_written() -> None:
    Path(folder_names.state()).parent.mkdir()
    Path(folder_names.state()).write_text("no folder")
    claim = registrations.claim_name(SERVER, "/shop")
    assert claim.name == "dapeer"
    claim.release()
    assert list(registrations.claim_abandoned_names(SERVER)) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_a_claim_that_cannot_be_written_leaves_no_file_open() -> None:
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = {*Path("/proc/self/fd").iterdir()}
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        claim = registrations.claim_name(SERVER, "/shop")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert claim == registrations.NameClaim("dapeer", "/shop")
    assert {*Path("/proc/self/fd").iterdir()} == before
