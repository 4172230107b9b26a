"""Adapters and the other users of the machine: these neither get what is meant for an adapter, nor reach one."""

import asyncio
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapeer.adapters.choice.detection import detect
from dapeer.adapters.definition.definition import Definition, load_all, shipped
from dapeer.adapters.process import adapter as adapter_process
from dapeer.adapters.process.adapter import open_adapter
from dapeer.adapters.process.owned_process import Reaper
from dapeer.adapters.process.spawn import Spawned
from dapeer.adapters.process.streams import Connector, PromptStream, StdioStream, connect, stream_of
from dapeer.base.errors import AdapterFailed, RequestFailed
from dapeer.dap.content_length import ContentLengthTransport
from dapeer.dap.handshake import CLIENT
from tests import second_user
from tests.adapters.toys import channel, initialize, toy
from tests.processes import LIMIT
from tests.sockets import needs_tables, ports_of, sockets_of

DEFINITIONS = load_all(shipped())
AT_PORTS = sorted(name for name, each in DEFINITIONS.items() if each.transport.kind == "tcp")
LETS_OTHERS_WAIT = {"delve"}
"""They take one client, and no other user as that."""
AT_SOCKETS = sorted(name for name, each in DEFINITIONS.items() if each.transport.kind == "unix")


def ready(name: str) -> Definition:
    detection = detect(DEFINITIONS[name])
    if not detection.ready:
        pytest.skip(f"needs: {detection.install}")
    return DEFINITIONS[name]


def inputs(folder: Path) -> dict[str, object]:
    """Some programs are a part of the adapter's command."""
    program = folder / "program"
    program.write_text("1\n")
    return {"program": str(program), "args": []}


@contextmanager
def thief_at_the_port(
    monkeypatch: pytest.MonkeyPatch,
) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Have another user listen at the port that is chosen next; yield that process, and a pattern of the refusal."""
    with second_user.runs(second_user.THIEF, 0) as thief:
        port = int(second_user.says(thief))

        def foreseen(_: str) -> int:
            return port

        monkeypatch.setattr(adapter_process, "free_port", foreseen)
        yield thief, rf"Another user of this machine \(nobody\) listens at 127\.0\.0\.1:{port}\."


@needs_tables
@second_user.needed
@pytest.mark.parametrize("name", ["toy", *AT_PORTS])
async def test_who_takes_an_adapter_s_port_before_it_gets_nothing(
    name: str, tmp_path: Path, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = toy(tmp_path, ["sleep", "1000"], "tcp") if name == "toy" else ready(name)
    with thief_at_the_port(monkeypatch) as (thief, refused):
        with pytest.raises(AdapterFailed, match=refused):
            async with (
                asyncio.timeout(LIMIT),
                open_adapter(definition, "launch", inputs(tmp_path), reaper) as adapter,
            ):
                await initialize(adapter.transport)
        assert second_user.says(thief) == "b''"


@needs_tables
@second_user.needed
async def test_who_has_the_port_of_an_adapter_that_ends_for_that_is_named(
    tmp_path: Path, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def when_it_has_ended(
        spawned: Spawned, again: Connector | None, seconds: float
    ) -> StdioStream | PromptStream:
        await spawned.process.wait()
        return await stream_of(spawned, again, seconds)

    monkeypatch.setattr(adapter_process, "stream_of", when_it_has_ended)
    with thief_at_the_port(monkeypatch) as (thief, refused):
        with pytest.raises(AdapterFailed, match=refused):
            async with (
                asyncio.timeout(LIMIT),
                open_adapter(toy(tmp_path, ["true"], "tcp"), "launch", {}, reaper),
            ):
                pass
        assert second_user.says(thief) == "b''"


@needs_tables
@pytest.mark.parametrize("name", AT_SOCKETS)
async def test_an_adapter_at_a_unix_socket_listens_at_no_port_and_in_a_folder_of_ours(
    name: str, tmp_path: Path, reaper: Reaper
) -> None:
    definition = ready(name)
    if name == "cmake":
        tmp_path.joinpath("CMakeLists.txt").write_text("message(hello)\n")
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(definition, "launch", inputs(tmp_path), reaper) as adapter,
    ):
        await initialize(adapter.transport)
        assert adapter.pid is not None
        assert ports_of(adapter.pid) == set()
        # Some listen no more when we are there.
        for path in sockets_of(adapter.pid):
            assert path.parent.stat().st_mode & 0o777 == 0o700
            assert path.parent.stat().st_uid == os.geteuid()


@needs_tables
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("launch", {"code": "print('launched')"}),
        ("attach", {"processId": 1, "debugpyArgs": ["-c", "print('attached')"]}),
        ("attach", {"listen": {"host": "127.0.0.1", "port": 0}}),
        ("attach", {"connect": {"host": "127.0.0.1", "port": 1}}),
    ],
)
async def test_at_debugpy_s_port_child_processes_are_debugged_and_nothing_else(
    command: str, arguments: dict[str, object], reaper: Reaper
) -> None:
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(ready("debugpy"), "launch", {}, reaper) as adapter,
    ):
        await initialize(adapter.transport)
        assert adapter.pid is not None
        (port,) = ports_of(adapter.pid)
        transport = ContentLengthTransport(await connect("127.0.0.1", port))
        async with channel(transport, []) as opened:
            await opened.request("initialize", {**CLIENT, "adapterID": "x"}, seconds=LIMIT)
            with pytest.raises(RequestFailed, match="This port serves only child processes"):
                await opened.request(command, arguments, seconds=LIMIT)
        await transport.aclose()


@needs_tables
@second_user.needed
@pytest.mark.parametrize("name", [each for each in AT_PORTS if each not in LETS_OTHERS_WAIT])
async def test_an_adapter_at_a_port_answers_no_other_user(
    name: str, tmp_path: Path, reaper: Reaper
) -> None:
    async with (
        asyncio.timeout(LIMIT),
        open_adapter(ready(name), "launch", inputs(tmp_path), reaper) as adapter,
    ):
        await initialize(adapter.transport)
        assert adapter.pid is not None
        for port in ports_of(adapter.pid):
            with second_user.runs(second_user.INTRUDER, port) as intruder:
                said = await asyncio.to_thread(second_user.says, intruder)
                assert said in {"b''", "refused"}
