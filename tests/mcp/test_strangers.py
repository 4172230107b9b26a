"""Sockets of ours whose folder is open to another user of the machine, and sockets of theirs."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.base.system.folder_names import make_private
from dapeer.mcp.rendezvous.announcement import announce, runtime_folder
from dapeer.mcp.rendezvous.reaching import GREETING, connect_to_server
from dapeer.neovim.feeds import Hello, Tap, Taps
from tests import second_user
from tests.mcp.wire import serving
from tests.processes import LIMIT

pytestmark = second_user.needed

# Calls, says something, and tells how much it hears.
CALLS = """
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
try:
    connection.sendall(sys.argv[2].encode())
    connection.shutdown(socket.SHUT_WR)
except OSError:
    pass
try:
    print(len(connection.recv(100)), flush=True)
except ConnectionError:
    print(0, flush=True)
"""
# Greets as a server of ours does.
GREETS = f"""
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
server.listen()
print("listening", flush=True)
connection, _ = server.accept()
connection.sendall({GREETING!r})
sys.stdin.readline()
"""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of the login session, which every user may write to."""
    with second_user.folder_for_all() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield folder


def opened(path: Path) -> None:
    """Let every user in."""
    path.parent.chmod(0o777)
    path.chmod(0o777)


async def heard(path: Path, words: str) -> str:
    """Call at a socket as the second user; return how much is heard."""
    opened(path)
    with second_user.runs(CALLS, path, words) as process:
        async with asyncio.timeout(LIMIT):
            return await asyncio.to_thread(second_user.says, process)


async def test_another_user_is_not_served(shared: Path, tmp_path: Path) -> None:
    async with serving("--no-auth", cwd=tmp_path):
        (path,) = runtime_folder().glob("*.sock")
        assert path.is_relative_to(shared)
        assert await heard(path, "") == "0"


async def test_a_session_of_another_user_does_not_join_even_with_the_secret(shared: Path) -> None:
    joined: list[Hello] = []

    def join(hello: Hello, _: Tap) -> None:
        joined.append(hello)

    taps = Taps()
    await taps.open()
    path = Path(taps.path)
    assert path.is_relative_to(shared)
    facts = {"secret": taps.expect(join), "session": 1}
    assert await heard(path, json.dumps(facts) + "\n") == "0"
    await taps.aclose()
    assert not joined


def test_a_client_is_not_bridged_to_another_user(shared: Path, tmp_path: Path) -> None:
    path = shared / "1.sock"
    make_private(runtime_folder())
    with second_user.runs(GREETS, path) as process, announce(tmp_path, path):
        assert second_user.says(process) == "listening"
        assert connect_to_server(str(tmp_path)) is None


def test_an_announcement_in_a_folder_of_another_user_is_none(shared: Path, tmp_path: Path) -> None:
    make_private(runtime_folder())
    path = shared / "1.sock"
    with socket.socket(socket.AF_UNIX) as server, announce(tmp_path, path):
        server.bind(str(path))
        server.listen()
        os.chown(runtime_folder(), second_user.UID, second_user.UID)
        assert connect_to_server(str(tmp_path)) is None
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
