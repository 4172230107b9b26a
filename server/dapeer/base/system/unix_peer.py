"""Which user of this machine is at the other end of a Unix socket.

Only the standard library, and little of it: a bridge's start waits for this.
"""

from __future__ import annotations

import os
import socket
import sys

ADMINISTRATOR = 0
NEXT = "Nothing was sent. dapeer talks only to your own processes and those of root."


def check_user(uid: int | None, where: str) -> None:
    """Check that a user id is dapeer's own, root's, or unknown (None); `where` is the address, for errors.

    Raises:
        ForeignListener: It is another user.
    """
    if not is_trusted(uid):
        from dapeer.base.errors import ForeignListener

        raise ForeignListener(
            f"Another user of this machine ({_login_name(uid)}) listens at {where}.", NEXT
        )


def is_trusted(uid: int | None) -> bool:
    """Return whether a user id is dapeer's own user, root, or unknown (None)."""
    return uid in {None, ADMINISTRATOR, os.geteuid()}


def unix_peer(connection: socket.socket) -> int | None:
    """Return the id of the user at the other end of a connected Unix socket; None if the system is silent.

    For a client it is the user who listens. Only Linux and macOS tell it.

    Raises:
        OSError: The connection has been closed.
    """
    if sys.platform == "linux":
        # `struct ucred`: process, user, group.
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return memoryview(credentials).cast("I")[1]
    if sys.platform == "darwin":
        # `struct xucred` of sys/ucred.h, by LOCAL_PEERCRED of sys/un.h.
        return memoryview(connection.getsockopt(0, 1, 76)).cast("I")[1]
    return None


def _login_name(uid: int | None) -> str:
    """Return the login name of a user id, or `uid N` if the system has none.

    None counts as 0, the id of root; no caller passes it.
    """
    import pwd

    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return f"uid {uid}"
