"""Wait in place of a program until dapeer debugs this process; then become the program.

    python -I -S stand_in.py SOCKET SECONDS RESTORED EXECUTABLE ARGUMENT...

The first ARGUMENT is the program's name for itself. RESTORED are numbers of signals, between commas, which Python ignores and the program
does not. The program gets this process's own environment, folder and descriptors. Whatever fails here, it runs at once, and it never waits
longer than SECONDS. Only the standard library, of any Python from 3.8 on: it runs in the debuggee's.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import sys

YAMA = "/proc/sys/kernel/yama/ptrace_scope"
"""Where this file is, Linux lets only ancestors trace a process, and whom it names."""
SET_PTRACER = 0x59616D61
"""`PR_SET_PTRACER` of prctl."""
ANYBODY = 2 ** (8 * (8 if sys.maxsize > 2**32 else 4)) - 1
NOT_RUN = 127
"""The exit code of a program that cannot be run, as a shell has it."""


def allow_tracing(whom: int) -> None:
    """Let a process and its descendants trace this one, where Linux asks.

    `ANYBODY` is every process; 0 nobody more than before.
    """
    if os.path.exists(YAMA):
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(SET_PTRACER, ctypes.c_ulong(whom), *(3 * [ctypes.c_ulong(0)]))


def wait_for_debugger(path: str, seconds: float, command: list[str]) -> None:
    """Tell dapeer, which listens at the Unix socket `path`, of this process; wait for its answer.

    It is told by a line of JSON with `command`, the program's command line. Any byte, or the end of the connection, is an answer. Meanwhile
    the system lets dapeer's process, and so the debugger that it starts, trace this one.

    Raises:
        OSError: Nobody listens, or connecting or answering takes longer than `seconds`.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        allow_tracing(listener(connection) or ANYBODY)
        connection.sendall(json.dumps({"command": command}).encode() + b"\n")
        connection.recv(1)


def listener(connection: socket.socket) -> int:
    """Return the process that listens at the other end of a Unix socket; 0: it is not known."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("iII", credentials)[0]


def own_environment() -> dict[bytes, bytes]:
    """Return the environment that this process was started with; Python may have changed its own.

    It is Python's own where the system does not tell.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [each.partition(b"=") for each in file.read().split(b"\0") if each]
    except OSError:
        return dict(os.environb)
    return {name: value for name, _, value in pairs}


def main() -> None:
    """Wait for the debugger, and replace this process by the program of the command line.

    `sys.argv` is as at the top of this module. It never returns: a program that cannot be run is reported on stderr, and the exit code is
    `NOT_RUN`.
    """
    path, seconds, restored, executable, *command = sys.argv[1:]
    with contextlib.suppress(Exception):
        wait_for_debugger(path, float(seconds), command)
    with contextlib.suppress(Exception):
        allow_tracing(0)
    for each in filter(None, restored.split(",")):
        signal.signal(int(each), signal.SIG_DFL)
    try:
        os.execve(executable, command, own_environment())
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode("utf-8", "replace"))
        os._exit(NOT_RUN)


if __name__ == "__main__":
    main()
