"""What killed servers have left is gone when another one starts; what lives stays."""

import asyncio
import json
import os
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from dapeer.base.errors import SystemUnsupported
from dapeer.base.system import folder_names
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.announcement import runtime_folder, sweep_leftovers
from dapeer.mcp.rendezvous.server_start import reach_or_start
from tests.mcp.wire import serving
from tests.processes import LIMIT, process_gone


def names() -> set[str]:
    return {
        path.name
        for folder in (runtime_folder(), Path(folder_names.state()))
        for path in folder.glob("*")
    }


async def test_a_server_that_starts_removes_what_a_killed_one_has_left_and_nothing_of_one_that_lives(
    tmp_path: Path,
) -> None:
    one, other, third = (tmp_path / name for name in ("one", "other", "third"))
    for folder in (one, other, third):
        folder.mkdir()
    async with asyncio.timeout(LIMIT), serving(cwd=other):
        living = names()
        assert {name.split("-")[0] for name in living} >= {"token", "server"}
        async with serving(cwd=one) as (server, _):
            left = names() - living
            server.process.kill()
            await process_gone(server.process.pid)
        assert len(left) == len(living)
        assert left < names()
        async with serving(cwd=third):
            assert living < names()
            assert not left & names()


def test_nobody_takes_what_a_starting_server_makes_for_left(tmp_path: Path) -> None:
    made = tmp_path / "token-1"
    with sweep_leftovers(tmp_path):
        made.touch()
        with sweep_leftovers(tmp_path):
            assert made.exists()
    with sweep_leftovers(tmp_path):
        assert not made.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_announcement_of_a_neovim_at_a_port_stays_while_that_listens(
    host: str, tmp_path: Path
) -> None:
    announced = tmp_path / "neovim-1.json"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        shown = f"[{host}]" if ":" in host else host
        facts = {"address": f"{shown}:{listener.getsockname()[1]}", "pid": 1}
        announced.write_text(json.dumps(facts), "utf-8")
        with sweep_leftovers(tmp_path):
            assert announced.exists()
    with sweep_leftovers(tmp_path):
        assert not announced.exists()


def test_the_announcement_of_a_server_that_is_too_busy_to_accept_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    announced, path = tmp_path / "server-1.json", tmp_path / "sock"
    facts = {"project": "shop", "socket": str(path), "pid": os.getpid()}
    announced.write_text(json.dumps(facts), "utf-8")
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as waiting:
        listener.bind(str(path))
        listener.listen(0)
        with suppress(BlockingIOError):
            while True:
                one = waiting.enter_context(socket.socket(socket.AF_UNIX))
                one.settimeout(0)
                one.connect(str(path))
        assert reaching.connect_announced(str(announced)) is None
    assert "the server of shop, has not answered" in capsys.readouterr().err
    assert announced.exists()
    assert reaching.connect_announced(str(announced)) is None
    assert not announced.exists()


def test_a_server_for_a_folder_that_is_gone_is_refused_in_a_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(SystemUnsupported, match=f"cannot be started: {gone}: No such file"):
        reach_or_start(gone, {})
