"""`dapeer stdio` with usual options: it answers before `argparse` and the MCP library are loaded.

The MCP library takes half a second and 50 MB. It is loaded by the first request that needs it, or for a Neovim.
What is unusual about the options or the environment goes the long way, by `command_line`.
"""

from __future__ import annotations

import os
import select
from contextlib import ExitStack, contextmanager, nullcontext, suppress

from dapeer.mcp.rendezvous.reaching import ANY, AUTO, NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Generator, Sequence
    from typing import Final

    from dapeer.mcp.front import Front

NO_BRIDGE: Final = "--no-bridge"
DATA: Final = "--data"


def run(argv: Sequence[str]) -> int | None:
    """Serve the MCP client at stdin and stdout until it leaves, and return the exit code.

    It passes the client on to a server of the project that runs already; without one, or with `--no-bridge`,
    a front answers: a small server, in whose place the whole one comes once the client or a Neovim needs that.
    dapeer's credentials are removed from the environment in the first case. At a terminal a hint is printed to
    stderr first. None means that nothing else was done, because the options or the environment are unusual:
    `command_line` then reads the command line. `argv` is that, from `stdio` on.
    """
    if os.isatty(0) and os.isatty(1):
        from dapeer.base.system.stderr import say
        from dapeer.cli.install.arguments import STDIO_AT_A_TERMINAL

        say(STDIO_AT_A_TERMINAL)
    options = _read_options(argv[1:])
    if options is None or not _needs_only_own_tools():
        return None
    nvim, flags = options
    if NO_BRIDGE not in flags:
        from dapeer.mcp.rendezvous import reaching

        if reached := reaching.connect_to_server(os.getcwd(), nvim):
            from dapeer.base import credentials
            from dapeer.integrations.variables import SECRETS
            from dapeer.mcp.rendezvous import bridge, standing

            wish = standing.ClientWish(
                nvim, argv, credentials.remove_credentials(SECRETS), data=DATA in flags
            )
            return bridge.carry_lines(reached, wish)
    return _serve(argv, for_neovims=nvim != NONE, data=DATA in flags)


def _read_options(argv: Sequence[str]) -> tuple[str, set[str]] | None:
    """Return the value of `--nvim` and the set of other options; None if a word is unknown here.

    `argv` is the command line behind `stdio`. Known are `--nvim auto` and `--nvim none`, each as two words
    (any other value, such as an address, gives None), and the flags `--no-bridge` and `--data`. The value is
    `ANY` if the option is missing; of several the last one counts.
    """
    nvim, flags = ANY, set[str]()
    words = iter(argv)
    for word in words:
        if word == "--nvim" and (value := next(words, "")) in (AUTO, NONE):
            nvim = value
        elif word in (NO_BRIDGE, DATA):
            flags.add(word)
        else:
            return None
    return nvim, flags


def _needs_only_own_tools() -> bool:
    """Return whether a server that starts here needs nothing but dapeer's own tools and adapters.

    That is so if stdin and stdout can be waited for, stderr is open, the current folder exists, no variable of the
    environment names a Neovim or switches an integration on, and the user has no folder of adapters.
    """
    from dapeer.base.system.folder_names import configuration
    from dapeer.integrations.variables import OF_SERVERS
    from dapeer.mcp.front import can_serve

    try:
        os.getcwd()
    except OSError:
        return False
    return (
        can_serve()
        # The Neovim around, an integration's tools, adapters of the user's own.
        and not (os.environ.get("NVIM") or os.environ.get("NVIM_LISTEN_ADDRESS"))
        and not any(map(os.environ.get, OF_SERVERS))
        and not os.path.lexists(os.path.join(configuration(), "adapters"))
    )


def _serve(argv: Sequence[str], *, for_neovims: bool, data: bool) -> int:
    """Answer the client by a front until the whole server is needed, which takes over; return the code.

    The front is a thread that reads stdin, and answers the client's first requests before the server's modules
    are loaded. The whole server is needed when the client sends what the front cannot answer, or with
    `for_neovims` once the client has opened its connection and a Neovim of this user listens; if no socket can
    be opened at which Neovims announce themselves, the opened connection is enough. The call blocks until the
    client has left, or the server has ended. The code is 0 if the client leaves before the server is needed,
    else that of the server. `argv` is the command line, which the server reads. `data`: the client gets results
    as data. The signals SIGTERM and SIGINT end the process from here on.
    """
    from dapeer.base.system import termination
    from dapeer.mcp.front import Front

    termination.end_at_signals()
    front = Front(data=data)
    # A client that has an answer may start a Neovim, which knocks at once.
    with _neovim_socket() if for_neovims else nullcontext() as door:
        front.start()
        is_open = os.read(front.news_reader, 1)
        if is_open and door:
            _wait_for_a_neovim(front, door)
        elif is_open and not for_neovims:
            os.read(front.news_reader, 1)
        if front.is_over:
            return 0
        from dapeer.cli import command_line

        return command_line.run(argv, front, door)


@contextmanager
def _neovim_socket() -> Generator[socket.socket | None]:
    """Yield the open socket at which Neovims announce themselves, or None if it cannot be opened.

    At the exit the socket is closed, and its file removed.
    """
    from dapeer.mcp.rendezvous import knocks

    with ExitStack() as stack:
        door = None
        # Without a door the whole server says why.
        with suppress(OSError):
            door = stack.enter_context(knocks.listen_for_knocks(knocks.FOR_NEOVIMS))
        yield door


def _wait_for_a_neovim(front: Front, door: socket.socket) -> None:
    """Wait until a Neovim of this user listens, or the client has left or needs the whole server."""
    from dapeer.neovim import sockets

    # One that appears from here on knocks.
    if not any(map(sockets.is_listening, sockets.neovim_addresses())):
        select.select([front.news_reader, door], [], [])
