"""Stdin and stdout of a client of `dapeer stdio`."""

from __future__ import annotations

import os
import select
import stat


def can_serve() -> bool:
    """Whether stdin and stdout are of a kind that can be waited for, and stderr is open."""
    try:
        os.fstat(2)
        # Windows cannot wait for a pipe.
        return hasattr(select, "poll") and _can_wait_for(0) and _can_wait_for(1)
    except OSError:
        return False


def _can_wait_for(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def write(data: bytes) -> None:
    """Write all of it to stdout.

    Raises:
        OSError: The client has left.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(1, select.POLLOUT)
            poll.poll()
