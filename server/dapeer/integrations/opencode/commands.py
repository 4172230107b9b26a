"""What the commands `dapeer opencode …` do; each imports its modules when it runs."""

from __future__ import annotations

import argparse
import sys

from dapeer.base.errors import ArgumentError


def register(arguments: argparse.Namespace) -> int:
    """Give this project's tools to a running OpenCode server, print what was done, and return 0.

    `arguments` are those of `dapeer opencode register`: `directory`, `url`, `name`, `credentials`.

    Raises:
        ArgumentError: No dapeer server serves HTTP for the directory, or an argument is not usable.
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the server.
    """
    import anyio

    from dapeer.integrations.opencode.client import OpenCode, opencode_url
    from dapeer.integrations.opencode.registrations import register
    from dapeer.mcp.rendezvous import announcement
    from dapeer.mcp.server.integration import Core

    directory = arguments.directory.resolve()
    found = announcement.find_http_server(directory)
    if found is None:
        raise ArgumentError(
            f"No dapeer server serves HTTP for {directory}.",
            "Start one there with `dapeer serve`, or name its project with --directory.",
        )

    async def run() -> str:
        """Register the server at OpenCode, and return that in a sentence."""
        async with OpenCode(opencode_url(arguments.url), arguments.credentials) as opencode:
            core = Core(found.url, found.token)
            return await register(opencode, core, directory, name=arguments.name)

    sys.stdout.write(f"{anyio.run(run)}\n")
    return 0


def plugin(arguments: argparse.Namespace) -> int:
    """Install or remove the plugin of OpenCode, as `arguments.installs` says; print what was done.

    The exit code is returned.

    Raises:
        ArgumentError: There is another file, or it cannot be written or removed.
    """
    from dapeer.integrations.opencode import relay_plugin

    done = relay_plugin.install() if arguments.installs else relay_plugin.remove()
    sys.stdout.write(f"{done}\n")
    return 0
