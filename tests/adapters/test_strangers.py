"""Adapters and the other users of the machine: these neither get what is meant for an adapter, nor reach one."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from dapeer import ownership
from dapeer.adapters import process
from dapeer.adapters.definition import Definition, load_all, shipped
from dapeer.adapters.detection import detect
from dapeer.adapters.process import open_adapter
from dapeer.adapters.reaper import Reaper
from dapeer.errors import AdapterFailed
from tests import second_user
from tests.adapters.toys import initialize, toy
from tests.processes import LIMIT, descendants

DEFINITIONS = load_all(shipped())
AT_PORTS = sorted(name for name, each in DEFINITIONS.items() if each.transport.kind == "tcp")
AT_SOCKETS = sorted(name for name, each in DEFINITIONS.items() if each.transport.kind == "unix")

needs_tables = pytest.mark.skipif(
    not ownership.tells(), reason="this system does not tell whose TCP ports are: run it on Linux"
)


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


@needs_tables
@second_user.needed
@pytest.mark.parametrize("name", ["toy", *AT_PORTS])
async def test_who_takes_an_adapter_s_port_before_it_gets_nothing(
    name: str, tmp_path: Path, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = toy(tmp_path, ["sleep", "1000"], "tcp") if name == "toy" else ready(name)
    with second_user.runs(second_user.THIEF, 0) as thief:
        port = int(second_user.says(thief))

        def foreseen(_: str) -> int:
            return port

        monkeypatch.setattr(process, "free_port", foreseen)
        refused = rf"Another user of this machine \(nobody\) listens at 127\.0\.0\.1:{port}\."
        with pytest.raises(AdapterFailed, match=refused):
            async with (
                asyncio.timeout(LIMIT),
                open_adapter(definition, "launch", inputs(tmp_path), reaper) as adapter,
            ):
                await initialize(adapter.transport)
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


def ports_of(pid: int) -> set[int]:
    """Return the TCP ports at which a process and those below it listen."""
    lines = [
        line.split() for path in ownership.TABLES for line in path.read_text().splitlines()[1:]
    ]
    inodes = inodes_of(pid)
    return {int(w[1].rpartition(":")[2], 16) for w in lines if w[3] == "0A" and int(w[9]) in inodes}


def sockets_of(pid: int) -> set[Path]:
    """Return the Unix sockets at which a process and those below it listen; unnamed ones are nobody's to find."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    inodes = inodes_of(pid)
    # The flag of a socket that listens: __SO_ACCEPTCON of the kernel's net.h.
    return {Path(w[7]) for w in lines if len(w) > 7 and w[3] == "00010000" and int(w[6]) in inodes}


def inodes_of(pid: int) -> set[int]:
    """Return the sockets that a process and those below it have open."""
    found: set[int] = set()
    for each in (pid, *descendants(pid)):
        for file in Path(f"/proc/{each}/fd").iterdir():
            match = re.fullmatch(r"socket:\[(\d+)\]", str(file.readlink()))
            found |= {int(match[1])} if match else set()
    return found
