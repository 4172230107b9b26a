"""Wait in place of a program until dapeer debugs this process; then become the program.

    python -I -S stand_in.py SOCKET SECONDS RESTORED EXECUTABLE ARGUMENT...

The first ARGUMENT is the program's name for itself. RESTORED are numbers of signals, between commas, which Python ignores and the program
does not. The program gets this process's own environment, folder and descriptors, but for what dapeer's answer changes for its debugger.
Whatever fails here, it runs at once as it is, and it never waits longer than SECONDS. Only the standard library, of any Python from 3.8 on: it
runs in the debuggee's.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # It takes Python 10 ms.
    from typing import Any

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


def wait_for_debugger(path: str, seconds: float, told: dict[str, object]) -> dict[str, Any]:
    """Tell dapeer of this process, wait for its answer, and return the answer.

    dapeer listens at the Unix socket `path`. It is told by a line of JSON with what is in `told`, and answers
    by a line of JSON that may have `environment` (variables to set, or with None to remove), and another
    `executable` and `command`. Nothing of the answer is applied here. On Linux, dapeer's process and its
    descendants, such as the debugger, may trace this process from now on (any process may, if dapeer's is not
    known), until the caller ends that by `allow_tracing(0)`.

    Raises:
        OSError: Nobody listens, or connecting, sending or reading takes longer than `seconds`.
        ValueError: The answer is not whole.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        allow_tracing(peer_pid(connection) or ANYBODY)
        connection.sendall(json.dumps(told).encode() + b"\n")
        with connection.makefile("rb") as answer:
            return json.loads(answer.readline())


def peer_pid(connection: socket.socket) -> int:
    """Return the process that listens at the other end of a Unix socket; 0: it is not known."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("iII", credentials)[0]


def require_unprivileged(executable: str) -> None:
    """Raise if a file gives user, group or capabilities to the process that runs it.

    The system takes such rights away from a program that is traced. Capabilities that cannot be read count as
    none.

    Raises:
        PermissionError: The file gives such rights, or its folder may not be entered.
        OSError: The file is not there, or cannot be asked for its mode.
    """
    given = os.stat(executable).st_mode & (stat.S_ISUID | stat.S_ISGID)
    if hasattr(os, "getxattr"):
        with contextlib.suppress(OSError):
            given = given or os.getxattr(executable, "security.capability")
    if given:
        raise PermissionError(executable)


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


def changed(environment: dict[bytes, bytes], changes: dict[str, str | None]) -> dict[bytes, bytes]:
    """Return an environment with the variables of `changes` set, or without those that are None there."""
    values = {os.fsencode(name): value for name, value in changes.items()}
    kept = {name: value for name, value in environment.items() if name not in values}
    return {
        **kept,
        **{name: os.fsencode(each) for name, each in values.items() if each is not None},
    }


def main() -> None:
    """Wait for dapeer to debug this process, then replace the process by the program; never return.

    `sys.argv[1:]` are the path of dapeer's Unix socket, the seconds to wait, the numbers of the signals to
    set to their defaults (between commas), the executable, and the program's arguments from its name on. The
    answer of dapeer may change environment, executable and arguments. If nobody answers in time, the answer
    is invalid, or the executable gives rights such as setuid, the program runs unchanged. If the program
    cannot be run, that is reported on stderr, and the process exits with `NOT_RUN`.
    """
    path, seconds, restored, executable, *command = sys.argv[1:]
    environment = own_environment()
    with contextlib.suppress(Exception):
        require_unprivileged(executable)
        told: dict[str, object] = {
            "command": command,
            "executable": executable,
            "folder": os.getcwd(),
            "environment": {os.fsdecode(k): os.fsdecode(v) for k, v in environment.items()},
        }
        answer = wait_for_debugger(path, float(seconds), told)
        # All of it, or nothing.
        environment, executable, command = (
            changed(environment, answer.get("environment", {})),
            answer.get("executable", executable),
            answer.get("command", command),
        )
    with contextlib.suppress(Exception):
        allow_tracing(0)
    for each in filter(None, restored.split(",")):
        signal.signal(int(each), signal.SIG_DFL)
    try:
        os.execve(executable, command, environment)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode("utf-8", "replace"))
        os._exit(NOT_RUN)


if __name__ == "__main__":
    main()
