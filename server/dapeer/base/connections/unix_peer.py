"""Which user of this machine is at the other end of a Unix socket.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import os
import socket
import sys

ADMINISTRATOR = 0
NEXT = "Nothing was sent. dapeer talks only to your own processes and those of root."


def check(uid: int | None, where: str) -> None:
    """Reject another user; None is an unknown one, which is accepted.

    Raises:
        Stranger: It is another one.
    """
    if not is_trusted(uid):
        from dapeer.base.errors import Stranger

        raise Stranger(f"Another user of this machine ({_name(uid)}) listens at {where}.", NEXT)


def is_trusted(uid: int | None) -> bool:
    """Whether this is no other user; an unknown one is trusted."""
    return uid in {None, ADMINISTRATOR, os.geteuid()}


def unix_peer(connection: socket.socket) -> int | None:
    """Return the user who listens at a Unix socket; None where the system does not tell."""
    if sys.platform == "linux":
        # `struct ucred`: process, user, group.
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return memoryview(credentials).cast("I")[1]
    if sys.platform == "darwin":
        # `struct xucred` of sys/ucred.h, by LOCAL_PEERCRED of sys/un.h.
        return memoryview(connection.getsockopt(0, 1, 76)).cast("I")[1]
    return None


def _name(uid: int | None) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return f"uid {uid}"
