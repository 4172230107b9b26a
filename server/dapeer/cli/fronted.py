"""`dapeer stdio` without a server that runs already: a front answers until the whole server is needed."""

from __future__ import annotations

import os
import select
from contextlib import ExitStack, contextmanager, nullcontext, suppress

from dapeer.base.system import termination
from dapeer.mcp.front.front import Front

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Generator, Sequence


def serve(given: Sequence[str], *, for_neovims: bool, data: bool) -> int:
    """Answer until the whole server is needed, which then takes over.

    Args:
        given: The command line.
        for_neovims: A Neovim needs the whole server, too.
        data: The client gets the data of results.
    """
    termination.end_at_signals()
    front = Front(data=data)
    # A client that has an answer may start a Neovim, which knocks at once.
    with _door() if for_neovims else nullcontext() as door:
        front.start()
        is_open = os.read(front.news, 1)
        if is_open and door:
            _wait_for_a_neovim(front, door)
        elif is_open and not for_neovims:
            os.read(front.news, 1)
        if front.is_over:
            return 0
        from dapeer.cli import command_line

        return command_line.run(given, front, door)


@contextmanager
def _door() -> Generator[socket.socket | None]:
    """Give the socket at which Neovims announce themselves; None: it cannot be opened."""
    from dapeer.mcp.rendezvous import knocks

    with ExitStack() as stack:
        door = None
        # Without a door the whole server says why.
        with suppress(OSError):
            door = stack.enter_context(knocks.opened(knocks.FOR_NEOVIMS))
        yield door


def _wait_for_a_neovim(front: Front, door: socket.socket) -> None:
    """Wait until a Neovim listens; or the client has left, or needs the whole server."""
    from dapeer.neovim.discovery import sockets

    # One that appears from here on knocks.
    if not any(map(sockets.is_listening, sockets.listening())):
        select.select([front.news, door], [], [])
