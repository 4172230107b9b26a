"""Starts the server that the commands of a project use one after the other, and that outlives each."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dapeer.base.errors import SystemUnsupported
from dapeer.base.system.folder_names import make_private
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.announcement import runtime_folder
from dapeer.mcp.rendezvous.knocks import FOR_CORES, try_open_door
from dapeer.mcp.rendezvous.reaching import ReachedServer
from dapeer.mcp.rendezvous.successor import hold_start_lock, wait_until_found
from dapeer.neovim.project import project_root

MAX_LOG_CHARS: Final = 800
"""Characters of a failed server's log in an error."""
SECONDS_TO_START: Final = 120
"""How long the server may take to start on a busy machine, while it has not ended."""
SCRIPT_INSTEAD: Final = (
    "`dapeer script FILE` runs a whole story in one command, without a server that stays."
)


def project_of(folder: Path) -> Path:
    """Return the project of a folder: the root of its repository or its package, else itself."""
    return project_root(folder) or folder


def reach_or_start(folder: Path, credentials: Mapping[str, str]) -> ReachedServer:
    """Return a connection to the server of a folder's project; start that server unless it runs already.

    It blocks: for others that start it just now, without a limit, and until it can be found, at most `SECONDS_TO_START`. The server
    outlives this process, and writes to a log file in the runtime folder.

    Args:
        folder: The folder in which the command was typed.
        credentials: Variables with secrets that were taken out of the environment, for the new server.

    Raises:
        SystemUnsupported: The server has ended at once, or cannot be found.
    """
    project = project_of(folder)
    with hold_start_lock(str(project)):
        if reached := reaching.connect_to_server(str(folder)):
            return reached
        failure = _start(project, credentials)
        if reached := reaching.connect_to_server(str(folder), seconds_to_greet=30):
            return reached
    raise SystemUnsupported(
        f"dapeer's server for {project} cannot be started{failure and f': {failure}'}.",
        SCRIPT_INSTEAD,
    )


def _start(project: Path, credentials: Mapping[str, str]) -> str:
    """Start the server of a project, and wait until it can be found or has ended.

    The wait takes at most `SECONDS_TO_START`. Return what it has written to its log, the last `MAX_LOG_CHARS` characters; empty: nothing.
    That alone is no failure. `credentials` are variables that its environment gets. An older log is emptied before.

    Raises:
        SystemUnsupported: Its log file cannot be written.
    """
    log = reaching.server_log_file(str(project))
    ours, its = socket.socketpair()
    try:
        make_private(runtime_folder())
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise SystemUnsupported(
            f"dapeer's server cannot be started: {error.filename}: {error.strerror}.",
            SCRIPT_INSTEAD,
        ) from error
    with ours, try_open_door(FOR_CORES) as listener:
        with its:
            try:
                subprocess.Popen(
                    # -P: a file of the project must not be taken for a module.
                    [sys.executable, "-P", "-m", "dapeer", "stdio", "--detached"],
                    stdin=its.fileno(),
                    stdout=file,
                    stderr=file,
                    cwd=project,
                    env={**os.environ, **credentials},
                    start_new_session=True,
                )
            finally:
                os.close(file)
        if listener is not None:
            wait_until_found(listener, ours, str(project), reaching.ANY, SECONDS_TO_START)
    return Path(log).read_text("utf-8", "replace").strip()[-MAX_LOG_CHARS:]
