"""Removes what killed servers have left in the user's folders: sockets, announcements, tokens."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from dapeer.mcp.rendezvous.knocks import socket_name
from dapeer.neovim import sockets

try:
    import fcntl
except ImportError:  # Windows does not remove the lock of a killed process
    fcntl = None


@contextmanager
def sweep_leftovers(folder: Path) -> Generator[None]:
    """Remove what killed servers have left in a folder, then run the body while nobody else removes.

    So nobody removes a socket that the body binds before it listens, or a token that it writes before it is locked. Where another process
    sweeps, or runs its body, just now, this one does not sweep; it waits for the end of the other's sweep.

    Raises:
        OSError: The folder cannot be opened.
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

    It waits, without a limit, for a process that has locked the file for itself. Where files cannot be locked, the body runs without.

    Raises:
        OSError: The file cannot be opened.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


def _sweep(folder: Path) -> None:
    """Remove the user's own sockets, announcements and tokens in a folder whose process has ended.

    They are known by their names: `*.sock`, `*.json`, `token-*`. What is in doubt, or cannot be removed, stays.
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
    """Whether a path is a socket at which no process listens; it is connected to, without waiting.

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
    """Whether an announcement, of a server or a Neovim, names an address at which no process listens.

    False also if the file is no valid announcement. The address is connected to.

    Raises:
        OSError: The file cannot be read.
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
    """Whether no process holds a lock on a file; False where files cannot be locked.

    Raises:
        OSError: A process holds one, or the file cannot be opened.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return fcntl is not None
    finally:
        os.close(file)
