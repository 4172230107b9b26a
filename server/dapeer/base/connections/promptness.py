"""Makes TCP connections of other processes send small messages at once. Linux 5.6 and later.

A small message otherwise waits until the other end has acknowledged the one before it, which takes that end up
to 40 ms (Nagle's algorithm and delayed acknowledgements: RFC 896, RFC 1122 section 4.2.3.2).
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from dapeer.base.connections.ownership import sockets_connected_to

_PIDFD_GETFD = 438
"""The number of a system call that Python lacks; the same on each architecture of CPython."""


def send_at_once(pid: int, others: Iterable[int]) -> int:
    """Set `TCP_NODELAY` on a process's TCP connections to the processes `others`, and return their number.

    Raises:
        OSError: The system has no such call, or does not allow it.
    """
    return sum(_set_no_delay(pid, *each) for each in sockets_connected_to(pid, others).items())


def _set_no_delay(pid: int, inode: int, number: int) -> bool:
    """Set `TCP_NODELAY` on the socket that is a process's descriptor `number`; return whether it was set.

    It is not set if the process has closed that socket meanwhile, so that the descriptor no longer has this `inode`.

    Raises:
        OSError: The system has no such call, or does not allow it.
    """
    try:
        with duplicated(pid, number) as file:
            if os.fstat(file).st_ino != inode:
                return False
            with socket.socket(fileno=os.dup(file)) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return False
    return True


def why_not_allowed() -> str:
    """Return why the system does not let dapeer change connections of processes that it started.

    Empty: it does. To find out, it starts a short-lived Python process and duplicates a descriptor of it.
    """
    command = [sys.executable, "-I", "-S", "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            with duplicated(child.pid, 0):
                return ""
        except OSError as error:
            return str(error.strerror)


@contextmanager
def duplicated(pid: int, number: int) -> Generator[int]:
    """Yield a duplicate, in dapeer, of the descriptor `number` of a process; close it after the body.

    Raises:
        OSError: The system has no such call, or does not allow it, or the process has no such descriptor.
    """
    if not hasattr(os, "pidfd_open"):
        raise OSError(0, "this system has no pidfd_getfd")
    process = os.pidfd_open(pid)
    try:
        file = _duplicate(process, number)
    finally:
        os.close(process)
    try:
        yield file
    finally:
        os.close(file)


def _duplicate(process: int, number: int) -> int:
    """Return a duplicate, in dapeer, of a descriptor of another process; see pidfd_getfd(2).

    `process` is that process's pidfd, `number` the descriptor there. The caller closes the duplicate.

    Raises:
        OSError: The system does not allow it, or has no such call.
    """
    import ctypes

    system = ctypes.CDLL(None, use_errno=True)
    file: int = system.syscall(
        ctypes.c_long(_PIDFD_GETFD), ctypes.c_long(process), ctypes.c_long(number), ctypes.c_long(0)
    )
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return file
