"""`dapeer stdio` as a bridge: bytes between this process's stdio and a server that runs already.

Two clients in one project then see the same sessions, and a client waits 20 ms instead of half a
second. Only the standard library.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Final

from dapeer.logs import say

CHUNK: Final = 1 << 16
SERVER_LEFT: Final = 1
"""Exit code when the server has ended before the client."""


def carry(connection: socket.socket) -> int:
    """Carry bytes both ways until one side ends; return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # The server sees its client leave, and cancels what it still did for it.
        signal.signal(number, _leave)
    client_left = threading.Event()
    # Each direction has its own thread, so that one that is stuck does not hold up the other.
    threading.Thread(target=_send, args=(connection, client_left), daemon=True).start()
    try:
        while data := connection.recv(CHUNK):
            _write(data)
    except BrokenPipeError:
        return 0
    except ConnectionError:
        pass
    if client_left.is_set():
        return 0
    say("the server that this client was connected to has ended.")
    return SERVER_LEFT


def _leave(_number: int, _frame: object) -> None:
    os._exit(0)


def _send(connection: socket.socket, client_left: threading.Event) -> None:
    try:
        while data := os.read(0, CHUNK):
            connection.sendall(data)
        client_left.set()
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        # The other direction notices, and ends the process.
        return


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
