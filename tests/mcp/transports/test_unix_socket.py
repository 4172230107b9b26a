"""The server at its unix socket: what one client meets, no other one notices."""

import asyncio
import os
import resource
import socket
from pathlib import Path

import pytest

from dapeer.base.system.threads import SEES_HALVES, Clients
from dapeer.mcp.rendezvous.announcement import runtime_folder
from dapeer.mcp.serving import ServerOptions, running_server
from dapeer.mcp.transports import unix_socket
from tests.processes import LIMIT


@pytest.mark.skipif(not SEES_HALVES, reason="only where a client is watched is a descriptor needed")
async def test_a_client_for_whom_no_descriptor_is_left_is_disconnected_and_no_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with (
        asyncio.timeout(LIMIT),
        running_server(ServerOptions()) as (server, _),
        # Nobody is watched here: this process would end after the last one.
        unix_socket.serve(server, watching=Clients()) as guests,
    ):
        (path,) = runtime_folder().glob("*.sock")
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(0)
            free = os.dup(0)
            os.close(free)
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            # It suffices for the connection, but not for watching it.
            resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, hard))
            try:
                loop = asyncio.get_running_loop()
                await loop.sock_connect(one, str(path))
                assert await loop.sock_recv(one, 100) == b""
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            await guests.wait_until_gone()
