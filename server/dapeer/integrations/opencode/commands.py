"""What the commands `dapeer opencode …` do: register a server, install the relay plugin, remove it.

The plugin is put into OpenCode's own configuration folder, so no project changes. `register` imports its modules when it runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from dapeer.base.errors import ArgumentError
from dapeer.base.system import folder_names

SOURCE: Final = Path(__file__).with_name("relay.js")
FIRST_LINE: Final = "// dapeer's relay."
"""With this the file begins, in every version."""


def register(arguments: argparse.Namespace) -> int:
    """Give this project's tools to a running OpenCode server, print what was done, and return 0.

    `arguments` are those of `dapeer opencode register`: `directory` (a path of the project that a dapeer server
    serves by HTTP), `url` and `credentials` of OpenCode, and `name`, the prefix of the tools there. OpenCode gets
    the address and the token of the dapeer server. What has the name at OpenCode is replaced; the registration
    lasts until OpenCode ends or reads its configuration anew.

    Raises:
        ArgumentError: No dapeer server serves HTTP for the directory, or an argument is not usable.
        OpenCodeError: OpenCode cannot be reached, refuses, or cannot reach the server; in this last case it keeps
            the registration.
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
    """Install or remove dapeer's relay plugin in OpenCode, print what was done, and return 0.

    `arguments.installs` says which of the two.

    Raises:
        ArgumentError: There is another file, or it cannot be written or removed.
    """
    done = install_plugin() if arguments.installs else remove_plugin()
    sys.stdout.write(f"{done}\n")
    return 0


def plugin_path() -> Path:
    """Return the path at which the plugin is, or would be."""
    return Path(folder_names.settings()) / "opencode" / "plugin" / "dapeer-relay.js"


def install_plugin() -> str:
    """Write the plugin's file into OpenCode's configuration folder; return in a sentence what was done.

    The folder is made if needed. Any other version of dapeer's plugin, known by its first line, is replaced;
    the same version is left. OpenCode loads the plugin when it starts next.

    Raises:
        ArgumentError: There is a file that is not dapeer's, or the file cannot be read or written.
    """
    path, ours = plugin_path(), SOURCE.read_text(encoding="utf-8")
    there = _read(path)
    if there == ours:
        return f"The relay plugin is in {path} already; an OpenCode that was started before it must be restarted."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ours, encoding="utf-8")
    except OSError as error:
        raise _failed("write", path, error) from error
    done = "installed" if there is None else "brought up to date"
    return f"The relay plugin was {done} in {path}; restart OpenCode, which loads plugins when it starts."


def remove_plugin() -> str:
    """Delete the plugin's file, in whatever version; return in a sentence what was done.

    Nothing is done if it is not there. An OpenCode that runs still has it loaded.

    Raises:
        ArgumentError: There is a file that is not dapeer's, or the plugin cannot be deleted.
    """
    path = plugin_path()
    if _read(path) is None:
        return f"The relay plugin is not installed: there is no {path}."
    try:
        path.unlink()
    except OSError as error:
        raise _failed("remove", path, error) from error
    return f"The relay plugin was removed from {path}; restart OpenCode, which still has it loaded."


def _read(path: Path) -> str | None:
    """Return the text of the plugin's file; None: there is no file.

    Raises:
        ArgumentError: The file is not dapeer's, or cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed("read", path, error) from error
    if not text.startswith(FIRST_LINE):
        raise ArgumentError(
            f"{path} is not a file of dapeer's, so it was left alone.", "Move it away first."
        )
    return text


def _failed(what: str, path: Path, error: OSError) -> ArgumentError:
    return ArgumentError(
        f"Cannot {what} {path}: {error.strerror}.", "Fix the cause, and try again."
    )
