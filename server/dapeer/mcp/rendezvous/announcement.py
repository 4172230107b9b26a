"""How a server is found: by small files that it leaves while it runs, and how dead ones are removed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

from dapeer.base.system import folder_names
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.reaching import Announcement
from dapeer.neovim import sockets

try:
    import fcntl
except ImportError:  # Windows does not remove the lock of a killed process
    fcntl = None


def runtime_folder() -> Path:
    """Return the path of the user's folder for files that end with a process: sockets, announcements."""
    return Path(folder_names.runtime())


def announcement_file(project: Path) -> Path:
    """Return the path of the file in which the server of a project announces itself."""
    return Path(reaching.announcement_file(str(project)))


def neovim_announcement_file(address: str) -> Path:
    """Return the path of the file in which the server that is attached to a Neovim announces itself.

    `address` is Neovim's.
    """
    return Path(reaching.neovim_announcement_file(address))


@contextmanager
def announce(
    project: Path,
    socket_path: Path,
    nvim: str | None = None,
    *,
    url: str = "",
    token: str = "",
    detached: bool = False,
) -> Generator[bool]:
    """Announce the server of a project in a file while the body runs, and of its Neovim, if it has one.

    There are two files, one for the project and one for the Neovim; each is looked at alone. If another
    server that lives has announced itself in a file, which is found out by connecting to that server, the
    file is left as it is. An announcement of a server that has gone is replaced. Afterwards each file that
    was written here is removed, unless another server has replaced it.

    Args:
        project: The server's project.
        socket_path: The path of the socket at which the server listens.
        nvim: The address of the Neovim to which the server is attached; `auto` (recorded, but without a file
            for a Neovim); None: it attaches to none.
        url: Where the server serves HTTP; empty: nowhere.
        token: The token that HTTP clients must send.
        detached: Whether the server outlives its clients.

    Yields:
        Whether the project's file is this server's; False: another server of the project lives.

    Raises:
        OSError: The runtime folder cannot be written.
    """
    mine = Announcement(
        str(project), str(socket_path), os.getpid(), nvim, url, token, detached=detached
    )
    address = None if nvim == "auto" else nvim
    of_neovim = _announced(neovim_announcement_file(address), mine) if address else nullcontext()
    with _announced(announcement_file(project), mine) as first, of_neovim:
        yield first


@contextmanager
def _announced(path: Path, mine: Announcement) -> Generator[bool]:
    """Write an announcement to the file `path` while the body runs, and yield True.

    Nothing is written, and False is yielded, if the server that has announced itself there greets in time when it
    is connected to; else its announcement is replaced, also if it lives but hangs. Afterwards the file is
    removed, unless another server has replaced it.

    Raises:
        OSError: The folder cannot be written.
    """
    if other := reaching.connect_announced(str(path)):
        other.connection.close()
        yield False
        return
    _write(path, mine)
    try:
        yield True
    finally:
        found = reaching.read_announcement(str(path))
        if found and vars(found) == vars(mine):
            path.unlink(missing_ok=True)


def _write(path: Path, announcement: Announcement) -> None:
    """Write an announcement as JSON to the file `path`, readable by the user only.

    It is written to another file, which then replaces that at `path`, so that nobody ever reads half of it.

    Raises:
        OSError: The folder cannot be written; nothing is left behind.
    """
    temporary = path.with_suffix(f".{announcement.pid}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(vars(announcement), file)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def find_http_server(folder: Path, target: str = reaching.ANY) -> Announcement | None:
    """Return the announcement of the first living server that fits a client and serves HTTP, or None.

    `folder` is the client's working directory. `target` says which servers fit: `any`: one of this folder, of a folder above, or of a
    Neovim on the same project; `auto`: the same, except servers that attach to no Neovim; `none`: the same, except servers that were
    started for a Neovim; else the address of the Neovim to which it is attached. Each candidate is connected to for a moment; files of
    servers that have ended are removed.
    """
    for path in reaching.candidate_files(str(folder), target):
        if reached := reaching.connect_announced(path):
            reached.connection.close()
            if reached.announcement.url:
                return reached.announcement
    return None


# What killed servers have left in the user's folders is removed: sockets, announcements, tokens.

LONGEST_PATH: Final = 100
"""Bytes of a unix socket's path that work everywhere (104 on macOS, 108 on Linux)."""


@contextmanager
def socket_name(path: Path) -> Generator[str]:
    """Yield a name of a path, however long, to which a unix socket can be bound or connected.

    The name is valid while the body runs. A path of at most `LONGEST_PATH` bytes is yielded as it is,
    unchecked. On Linux a longer one goes through a descriptor of its folder, for this process only.

    Raises:
        OSError: The path is longer, and its folder cannot be opened, or the system is not Linux.
    """
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    if sys.platform != "linux":
        why = "too long for a unix socket: name a shorter folder by XDG_RUNTIME_DIR"
        raise OSError(errno.ENAMETOOLONG, why, str(path))
    folder = os.open(path.parent, os.O_PATH | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextmanager
def sweep_leftovers(folder: Path) -> Generator[None]:
    """Remove what killed servers have left in a folder, then run the body while nobody else sweeps it.

    So nobody removes a socket that the body binds before it listens, or a token that it writes before it is
    locked. An announcement is not protected: who connects to it removes it if nobody listens there. What is
    swept are the user's own sockets, announcements and tokens of processes that have ended. Where another
    process sweeps, or runs its body, just now, this one does not sweep; it blocks until the end of the other's
    sweep. On a system without `fcntl` nothing is removed or locked.

    Raises:
        OSError: The folder cannot be opened or locked.
    """
    file = os.open(folder, os.O_RDONLY)
    try:
        if fcntl is not None:
            # When another one starts just now, that one sweeps.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _sweep(folder)
            fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


@contextmanager
def hold_lock(path: Path) -> Generator[None]:
    """Hold a shared lock on a file while the body runs, by which others see that its server lives.

    The file has to exist, and must be no symbolic link. The call waits, without a limit, for a process that has
    locked the file for itself alone. Where the system cannot lock files, the body runs without a lock.

    Raises:
        OSError: The file cannot be opened or locked.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


def _sweep(folder: Path) -> None:
    """Remove from a folder the user's own sockets, announcements and tokens of processes that have ended.

    Only files named `*.sock`, `*.json` and `token-NUMBER…` are looked at, directly in `folder`; sockets and
    announced addresses are connected to. A socket that is too busy to answer, and what cannot be removed,
    stays. A `HOST:PORT` that does not answer in time, for which this waits, counts as that of an ended process.
    No `OSError` of a file is raised.
    """
    # A socket first: an announcement is of one that is there.
    for pattern, left in (
        ("*.sock", _is_dead_socket),
        ("*.json", _announces_dead_address),
        ("token-[0-9]*", _is_unlocked),
    ):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if path.lstat().st_uid == os.getuid() and left(path):
                    path.unlink()


def _is_dead_socket(path: Path) -> bool:
    """Return whether a path is a socket at which no process listens; connect to it, without waiting.

    False also for other files, and for a process that is too busy to answer.

    Raises:
        OSError: There is nothing at the path, or it cannot be connected to for another reason.
    """
    if not stat.S_ISSOCK(path.lstat().st_mode):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        # One that is stuck has not refused.
        connection.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            try:
                with socket_name(path) as name:
                    connection.connect(name)
            except ConnectionRefusedError:
                return True
    return False


def _announces_dead_address(path: Path) -> bool:
    """Return whether a server's or Neovim's announcement names an address at which no process listens.

    `path` is the announcement's file, which has a Unix socket's path or `HOST:PORT` as JSON. The address is
    connected to; a path at which nothing is counts as dead, and so does a `HOST:PORT` that does not answer in
    time. False also if the file is no valid announcement, or names a file that is no socket.

    Raises:
        OSError: The file cannot be read, or the socket cannot be connected to for another reason than that no
            process listens.
    """
    with contextlib.suppress(ValueError, TypeError, KeyError):
        facts = json.loads(path.read_text("utf-8"))
        # A Neovim has an address instead, which may be one of TCP.
        address = str(facts["socket"] if "socket" in facts else facts["address"])
        if sockets.HOST_AND_PORT.fullmatch(address):
            return not sockets.is_listening(address)
        return not Path(address).exists() or _is_dead_socket(Path(address))
    return False


def _is_unlocked(path: Path) -> bool:
    """Return True if no process holds a lock on a file; where one does, raise BlockingIOError.

    False is only returned where the system cannot lock files. The file is locked and released again for that.

    Raises:
        OSError: A process holds a lock (BlockingIOError), or the file cannot be opened.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return fcntl is not None
    finally:
        os.close(file)
