"""Which user of this machine is at the other end of a Unix socket.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import os
import pwd
import socket
import struct
import sys

from dapeer.base.errors import Stranger

ADMINISTRATOR = 0
NEXT = "Nothing was sent. dapeer talks only to your own processes and those of root."


def check_unix_peer(connection: socket.socket, where: str) -> None:
    """Reject a connection whose other end belongs to another user of this machine.

    Args:
        connection: Is connected.
        where: The path, for the error.

    Raises:
        Stranger: Another user has it.
        OSError: It has been closed.
    """
    check(unix_peer(connection), where)


def check(uid: int | None, where: str) -> None:
    """Reject another user; None is an unknown one, which is accepted.

    Raises:
        Stranger: It is another one.
    """
    if uid not in {None, ADMINISTRATOR, os.geteuid()}:
        raise Stranger(f"Another user of this machine ({_name(uid)}) listens at {where}.", NEXT)


def unix_peer(connection: socket.socket) -> int | None:
    """Return the user who listens at a Unix socket; None where the system does not tell."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        _pid, uid, _gid = struct.unpack("3i", credentials)
        return uid
    if sys.platform == "darwin":
        # `struct xucred` of sys/ucred.h, by LOCAL_PEERCRED of sys/un.h.
        _version, uid = struct.unpack_from("2I", connection.getsockopt(0, 1, 76))
        return uid
    return None


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return f"uid {uid}"
