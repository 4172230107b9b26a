"""`dapeer stdio` with usual options: it answers before `argparse` and the MCP library are loaded.

The MCP library takes half a second and 50 MB. It is loaded by the first request that needs it, or for a Neovim.
What is unusual about the options or the environment goes the long way, by `command_line`.
"""

from __future__ import annotations

import os

from dapeer.mcp.rendezvous.reaching import ANY, AUTO, NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

NO_BRIDGE: Final = "--no-bridge"
DATA: Final = "--data"


def run(given: Sequence[str]) -> int | None:
    """Serve the client at stdin and stdout; None: the command line is to be read by `command_line`.

    Args:
        given: The command line, from `stdio` on.
    """
    options = _read(given[1:])
    if options is None or not _is_usual():
        return None
    nvim, flags = options
    if NO_BRIDGE not in flags:
        from dapeer.mcp.rendezvous import reaching

        if reached := reaching.reach(os.getcwd(), nvim):
            from dapeer.base.secrets import credentials
            from dapeer.integrations.variables import SECRETS
            from dapeer.mcp.rendezvous import bridge, standing

            wish = standing.ClientWish(nvim, given, credentials.taken(SECRETS), data=DATA in flags)
            return bridge.carry(reached, wish)
    from dapeer.cli import fronted

    return fronted.serve(given, for_neovims=nvim != NONE, data=DATA in flags)


def _read(given: Sequence[str]) -> tuple[str, set[str]] | None:
    """Return the value of `--nvim` and the other options; None if something is unusual."""
    nvim, flags = ANY, set[str]()
    words = iter(given)
    for word in words:
        if word == "--nvim" and (value := next(words, "")) in (AUTO, NONE):
            nvim = value
        elif word in (NO_BRIDGE, DATA):
            flags.add(word)
        else:
            return None
    return nvim, flags


def _is_usual() -> bool:
    """Whether a whole server would start with nothing but its own tools, and without an error."""
    from dapeer.base.system.folder_names import configuration
    from dapeer.integrations.variables import OF_SERVERS
    from dapeer.mcp.front.streams import can_serve

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
