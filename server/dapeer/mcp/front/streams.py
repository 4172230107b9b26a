"""Stdin and stdout of a client of `dapeer stdio`."""

from __future__ import annotations

import contextlib
import os
import select
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MILLISECONDS_TO_READ: Final = 1000
"""How long a client that has closed its input may read nothing before it counts as gone."""


def can_serve() -> bool:
    """Whether stdin and stdout can be waited for (pipes, sockets or a terminal), and stderr is open."""
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
    """Write all bytes to stdout; wait for a client that reads slowly, as long as its input is open.

    Raises:
        OSError: The client has left: nobody reads stdout, or it has closed its input and reads nothing for a second.
    """
    rest = memoryview(data)
    while rest:
        _wait_for_room()
        # More than this may wait in the call itself, where nobody sees that the client leaves.
        with contextlib.suppress(BlockingIOError):
            rest = rest[os.write(1, rest[: select.PIPE_BUF]) :]


def _wait_for_room() -> None:
    """Wait until something can be written to stdout; there is no timeout while the client's input is open.

    Raises:
        TimeoutError: The client has closed its input, and reads nothing for `MILLISECONDS_TO_READ`.
    """
    room = select.poll()
    room.register(1, select.POLLOUT)
    if room.poll(0):
        return
    either = select.poll()
    either.register(1, select.POLLOUT)
    # That nothing more comes is told of a pipe in any case, of a socket on Linux where it is asked for.
    either.register(0, getattr(select, "POLLRDHUP", 0))
    if all(fd == 0 for fd, _ in either.poll()) and not room.poll(MILLISECONDS_TO_READ):
        raise TimeoutError("the client has left its answers unread")
