"""Starts a server where none runs: for a bridge whose server has ended, or for a project's commands.

A bridge loads this when its server has ended: most never do. It joins a new one of the same Neovim or project, else
starts one. Commands use their server one after the other, and it outlives each.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import anyio

from dapeer.base.errors import ForeignListener, SystemUnsupported
from dapeer.base.system.folder_names import make_private
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.announcement import runtime_folder
from dapeer.mcp.rendezvous.knocks import FOR_CORES, try_listen_for_knocks
from dapeer.mcp.rendezvous.reaching import (
    ReachedServer,
    candidate_files,
    connect_to_server,
    read_announcement,
    start_lock_file,
)
from dapeer.mcp.rendezvous.standing import ClientWish
from dapeer.neovim import sockets
from dapeer.neovim.probe import probe
from dapeer.neovim.project import project_root

try:
    import fcntl
except ImportError:  # Windows does not remove the lock of a killed process
    fcntl = None

SECONDS_FOR_A_CORE: Final = 10
"""How long a living Neovim may take to start its core again.

It ends its sessions first, and waits after a crash.
"""
SECONDS_TO_BE_FOUND: Final = 30
"""How long a server may take to start."""


def wait_for_successor(
    lost: ReachedServer | None, wish: ClientWish, client: int
) -> ReachedServer | None:
    """Wait for the server that takes the place of a bridge's one, and connect to it; None: none appears.

    It waits only while the Neovim of the lost server lives, whose plugin is going to start a core (a server
    process) again, and for at most `SECONDS_FOR_A_CORE`; it does not wait if `lost` is None, or if no socket
    for announcements can be opened. A server that runs already is connected to at once. Which servers fit
    depends on this process's working directory, and on `wish.nvim`. It blocks; closing the connection is left
    to the caller.

    Args:
        lost: The server that has ended; None: the bridge had started that one itself.
        wish: What the client has asked for.
        client: A file descriptor that can be read when the client has left, which ends the wait.
    """
    until = time.monotonic() + SECONDS_FOR_A_CORE
    with (
        try_listen_for_knocks(FOR_CORES) as listener,
        _connection_to_neovim(lost.announcement.nvim if lost else None) as neovim,
    ):
        while True:
            if reached := connect_to_server(str(Path.cwd()), wish.nvim):
                return reached
            left = until - time.monotonic()
            if neovim is None or listener is None or left <= 0:
                return None
            # Neovim sends nothing on this connection, so the first event is its end.
            if select.select([listener, neovim, client], [], [], left)[0] != [listener]:
                return None
            listener.accept()[0].close()


@contextmanager
def _connection_to_neovim(nvim: str | None) -> Generator[socket.socket | None]:
    """Yield a connection to a Neovim that is going to start a core, or None.

    When the socket can be read, Neovim has ended. `nvim` is the address of that Neovim, which is asked first; this
    blocks, and must not be called in an event loop. A Neovim that listens, but is too busy to answer, counts as one
    that is going to start a core. The connection is closed when the `with` ends; None is yielded if nothing listens
    there, another user does, the plugin is not going to start a core, or the connection fails; and at once, without
    a search, if `nvim` is None or `auto`.
    """
    if nvim is None or nvim == "auto" or not _is_starting_core(nvim):
        yield None
        return
    connection = None
    with suppress(OSError):
        connection = sockets.connect(nvim)
    with connection or nullcontext():
        yield connection


def _is_starting_core(nvim: str) -> bool:
    """Ask a Neovim whether its plugin is going to start a core.

    False: it does not answer, or the person has stopped that.
    """
    try:
        answer = anyio.run(probe, nvim)
    except ForeignListener:
        return False
    return answer is not None and (answer.facts is None or bool(answer.facts["core"]))


@contextmanager
def hold_start_lock(project: str) -> Generator[None]:
    """Hold a project's lock while the body runs, so that only one process starts a server for it.

    `project` is the path of the project's folder; the same text names the same lock. Bridges and commands start servers. It waits, without
    limit, for whoever has the lock. Where there can be no lock file, the body runs without.
    """
    file = -1
    with suppress(OSError):
        file = _lock_file(start_lock_file(project))
    try:
        yield
    finally:
        if file >= 0:
            os.close(file)


def _lock_file(path: str) -> int:
    """Open a file and lock it, waiting without a limit for whoever has locked it; return its descriptor.

    It blocks the thread. The file at `path` is created, with its folder, if it is not there; the folder is
    made private. The caller closes the descriptor, which releases the lock. On a system without `fcntl` the
    file is only opened.

    Raises:
        OSError: The file cannot be made, opened or locked, or another user owns its folder.
    """
    make_private(Path(path).parent)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if fcntl is not None:
        # Whoever holds it does so for as long as a server may take to answer; the system releases it with its process.
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def start_own_server(
    wish: ClientWish, project: str
) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a project's server, wait until it can be found, and return a connection and its process.

    The connection is the server's stdio; the caller closes it, and waits for the process. The server serves
    other clients, too, and ends when all have left. The function returns all the same after
    `SECONDS_TO_BE_FOUND`, if the server has ended at once, and at once where no socket for announcements
    can be opened. `wish` has the command line and credentials of the client; `project` is the folder in
    which the server starts, or, if there is no such folder, the caller's own.

    Raises:
        OSError: The process cannot be started.
    """
    with ExitStack() as on_error, try_listen_for_knocks(FOR_CORES) as listener:
        ours, its = map(on_error.enter_context, socket.socketpair())
        with its:
            process = subprocess.Popen(
                # -P: a file of the project must not be taken for a module.
                [sys.executable, "-P", "-m", "dapeer", *wish.arguments, "--successor"],
                stdin=its.fileno(),
                stdout=its.fileno(),
                cwd=project if Path(project).is_dir() else None,
                env={**os.environ, **wish.credentials},
                # A client may kill all processes of its group, and others are at this server by then.
                start_new_session=True,
            )
        if listener is not None:
            wait_until_found(listener, ours, project, wish.nvim)
        on_error.pop_all()
        return ours, process


def wait_until_found(
    listener: socket.socket,
    server: socket.socket,
    project: str,
    nvim: str,
    seconds: float = SECONDS_TO_BE_FOUND,
) -> None:
    """Wait until a server that starts has announced itself or has ended, or `seconds` have passed.

    The result does not say which. If a server that counts has announced itself before, this returns at once.
    Each connection that arrives is accepted and closed; then the announcements are looked at again.

    Args:
        listener: The socket to which a server connects that has announced itself; others may connect, too.
        server: The other end of the new server's input, which shows its end.
        project: The server's project.
        nvim: Which servers count: `any`; `auto`: those that attach to a Neovim; `none`: those that attach to
            none; or a Neovim's address.
        seconds: How long to wait.
    """
    deadline = time.monotonic() + seconds
    while not any(map(read_announcement, candidate_files(project, nvim))):
        left = max(0, deadline - time.monotonic())
        ready, _, _ = select.select([listener, server], [], [], left)
        if listener not in ready:
            return
        listener.accept()[0].close()


# The detached server that the commands of a project use.

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

    It blocks: for others that start the server just now, without a limit; for a server that runs already until it
    greets, a few seconds; until the new server can be found, at most `SECONDS_TO_START`; and until the new one
    greets, 30 s. The new server outlives this process, and writes to a log file in the runtime folder, which is
    emptied before. Closing the connection is left to the caller.

    Args:
        folder: The folder in which the command was typed.
        credentials: Variables with secrets that were taken out of the environment, for the new server.

    Raises:
        SystemUnsupported: The runtime folder cannot be used, the log file in it cannot be written, the process of
            the new server cannot be started, such as in a folder that is gone, or the new server has ended, or is
            not found or does not greet in time.
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

    The wait takes at most `SECONDS_TO_START`; there is none if the socket on which new servers announce themselves
    cannot be opened. Return the end of what the server has written to its log, at most `MAX_LOG_CHARS` characters;
    empty: nothing. Neither text means that it has failed: the caller has to look for the server. `credentials` are
    variables that its environment gets. An older log is emptied before.

    Raises:
        SystemUnsupported: The runtime folder cannot be used, the log file in it cannot be written, or the process
            cannot be started, such as in a folder that is gone.
    """
    log = reaching.server_log_file(str(project))
    try:
        make_private(runtime_folder())
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "wb") as written, ExitStack() as opened:
            ours, its = map(opened.enter_context, socket.socketpair())
            listener = opened.enter_context(try_listen_for_knocks(FOR_CORES))
            with its:
                subprocess.Popen(
                    # -P: a file of the project must not be taken for a module.
                    [sys.executable, "-P", "-m", "dapeer", "stdio", "--detached"],
                    stdin=its.fileno(),
                    stdout=written,
                    stderr=written,
                    cwd=project,
                    env={**os.environ, **credentials},
                    start_new_session=True,
                )
            if listener is not None:
                wait_until_found(listener, ours, str(project), reaching.ANY, SECONDS_TO_START)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise SystemUnsupported(
            f"dapeer's server cannot be started: {where}{error.strerror}.",
            SCRIPT_INSTEAD,
        ) from error
    # Another server may have removed it by now.
    with contextlib.suppress(OSError):
        return Path(log).read_text("utf-8", "replace").strip()[-MAX_LOG_CHARS:]
    return ""
