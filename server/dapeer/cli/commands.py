"""What each command does.

It imports its modules when it runs: the MCP library takes half a second to load, too long for `--version`,
`--help` or a mistyped option.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dapeer.base.errors import ArgumentError
from dapeer.base.secrets.credentials import OPENCODE_URL
from dapeer.base.system.stderr import say
from dapeer.mcp.rendezvous.reaching import ANY, AUTO, NONE

if TYPE_CHECKING:
    from dapeer.mcp.rendezvous.reaching import Reached
    from dapeer.mcp.serving import ServerOptions

log = logging.getLogger(__name__)


def stdio(arguments: argparse.Namespace) -> int:
    """Serve the client at stdin and stdout, by a server that runs already or by one of its own."""
    nvim = arguments.nvim or _neovim_around()
    if not (arguments.no_bridge or arguments.successor or arguments.front):
        from dapeer.mcp.rendezvous import bridge, standing

        if reached := _joinable(arguments, nvim):
            wish = standing.ClientWish(
                nvim, arguments.given, arguments.credentials, data=arguments.data
            )
            return bridge.carry(reached, wish)
    nvim = AUTO if nvim == ANY else nvim
    import anyio

    from dapeer.mcp import loading

    with loading.quickly():
        from dapeer.mcp.serving import serve_stdio

    anyio.run(serve_stdio, _offer(arguments, nvim), arguments.front)
    return 0


def _joinable(arguments: argparse.Namespace, nvim: str) -> Reached | None:
    """Connect to a server that runs and has all these options; warn why another one is not joined."""
    from dapeer.mcp.rendezvous import reaching

    reached = reaching.reach(str(Path.cwd()), nvim)
    if reached is None:
        return None
    server = f"the server of {reached.announcement.project} (process {reached.announcement.pid})"
    if of_a_server := _of_a_whole_server(arguments):
        reached.connection.close()
        say(
            f"{', '.join(of_a_server)}: a server that runs cannot change this for one client, so this client has "
            f"a server of its own. It does not share the sessions of {server}."
        )
        return None
    level = logging.WARNING if arguments.log_file else logging.INFO
    log.log(level, "joined %s, whose own log is elsewhere", server)
    return reached


def _of_a_whole_server(arguments: argparse.Namespace) -> list[str]:
    """Return what was asked for that applies to all clients of a server."""
    options = {
        "--read-only": arguments.read_only,
        "--tools": arguments.tools,
        "--readable": arguments.readable,
        "--no-redact": arguments.no_redact,
        "--opencode": arguments.opencode,
        f"${OPENCODE_URL}": os.environ.get(OPENCODE_URL),
    }
    return [name for name, value in options.items() if value]


def serve(arguments: argparse.Namespace) -> int:
    """Serve clients over HTTP."""
    import anyio

    from dapeer.mcp import loading

    with loading.quickly():
        from dapeer.mcp.web import ServerAddress, serve_http

    address = ServerAddress(
        arguments.host, arguments.port, arguments.token_file, authenticate=not arguments.no_auth
    )
    offer = _offer(arguments, arguments.nvim)
    anyio.run(lambda: serve_http(offer, address, with_stdin=arguments.with_stdin))
    return 0


def _offer(arguments: argparse.Namespace, nvim: str) -> ServerOptions:
    from dapeer.integrations.claude_ide.integration import ClaudeIde
    from dapeer.integrations.opencode.integration import OpenCodeIntegration
    from dapeer.mcp.serving import ServerOptions
    from dapeer.opencode.client import OpenCode, address

    url = arguments.opencode or os.environ.get(OPENCODE_URL)
    named = OpenCode(address(url), arguments.credentials) if url else None
    return ServerOptions(
        arguments.read_only,
        arguments.tools,
        arguments.no_redact,
        arguments.data,
        nvim=None if nvim == NONE else nvim,
        patient=getattr(arguments, "successor", False),
        readable=tuple(arguments.readable),
        credentials=arguments.credentials,
        door=getattr(arguments, "door", None),
        integrations=(OpenCodeIntegration(named), ClaudeIde()),
    )


def _neovim_around() -> str:
    """Return the Neovim in whose terminal dapeer runs; else, or after its end: any.

    `reaching.reach` does it likewise.
    """
    from dapeer.neovim.discovery import sockets

    address = sockets.terminal_of()
    return address if address is not None and sockets.is_listening(address) else ANY


def rtp(_arguments: argparse.Namespace) -> int:
    """Print the folder of the Neovim plugin."""
    from dapeer.neovim.discovery.program import plugin_folder

    sys.stdout.write(f"{plugin_folder()}\n")
    return 0


def demo(arguments: argparse.Namespace) -> int:
    """Play a demo."""
    import anyio

    from dapeer.cli.demo import story, story_nvim

    if arguments.nvim:
        return anyio.run(story_nvim.run)
    return anyio.run(lambda: story.run(collects=arguments.collect))


def doctor(arguments: argparse.Namespace) -> int:
    """Report what is installed, or try one adapter."""
    from dapeer.cli import doctor, patches

    if arguments.patches:
        return patches.report_patches()
    return doctor.check(arguments.adapter) if arguments.adapter else doctor.report()


def register(arguments: argparse.Namespace) -> int:
    """Give this project's tools to a running OpenCode server."""
    import anyio

    from dapeer.mcp.rendezvous import announcement
    from dapeer.opencode.client import OpenCode, address
    from dapeer.opencode.registration import Core, register

    directory = arguments.directory.resolve()
    found = announcement.serving_http(directory)
    if found is None:
        raise ArgumentError(
            f"No dapeer server serves HTTP for {directory}.",
            "Start one there with `dapeer serve`, or name its project with --directory.",
        )

    async def run() -> str:
        async with OpenCode(address(arguments.url), arguments.credentials) as opencode:
            core = Core(found.url, found.token)
            return await register(opencode, core, directory, name=arguments.name)

    sys.stdout.write(f"{anyio.run(run)}\n")
    return 0


def plugin(arguments: argparse.Namespace) -> int:
    """Install or remove the plugin of OpenCode."""
    from dapeer.opencode import plugin

    done = plugin.install() if arguments.installs else plugin.remove()
    sys.stdout.write(f"{done}\n")
    return 0


def adapters(_arguments: argparse.Namespace) -> int:
    """List the debug adapters."""
    from dapeer.cli import doctor

    return doctor.report_adapters()


def adapters_changed(arguments: argparse.Namespace) -> int:
    """Install or remove debug adapters."""
    from dapeer.cli import adapters

    work = adapters.install if arguments.installs else adapters.uninstall
    return work(arguments.adapter, every=arguments.all)
