"""How `dapeer stdio` finds a server of its Neovim or project: small files that the server leaves.

Imports little, and only the standard library: a bridge starts faster than a whole server.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
from collections.abc import Generator, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from dapeer.base.errors import Stranger
from dapeer.base.system.own_folders import state_folder
from dapeer.base.system.ownership import check_peer
from dapeer.neovim.discovery.project import steps_between
from dapeer.neovim.discovery.sockets import normal, session_folder

GREETING: Final = b"dapeer\n"
"""The first bytes that a server sends on its socket: proof that it runs, before a client trusts it."""
SECONDS_TO_GREET: Final = 2


@dataclass(frozen=True, slots=True)
class Announcement:
    """A server's note of where it can be reached."""

    project: str
    socket: str
    pid: int
    nvim: str | None = None
    """The Neovim that it was started for: an address, or `auto`."""
    url: str = ""
    """Where it serves HTTP; empty: nowhere."""
    token: str = ""
    """The token of its HTTP clients.

    A process that can read it can also reach the socket, which gives the same access.
    """


@dataclass(frozen=True, slots=True)
class Reached:
    """A server that a client is connected to."""

    connection: socket.socket
    said: Announcement


def runtime_folder() -> Path:
    """Return the user's folder for what ends with a process: sockets, announcements."""
    base = session_folder()
    return base / "dapeer" if base else state_folder()


def file_of(project: Path) -> Path:
    """Return where the server of a project announces itself."""
    return _file("server", os.fsencode(project))


def file_of_neovim(address: str) -> Path:
    """Return where the server that is attached to a Neovim announces itself."""
    return _file("nvim", os.fsencode(normal(address)))


def _file(kind: str, key: bytes) -> Path:
    return runtime_folder() / f"{kind}-{hashlib.sha256(key).hexdigest()[:16]}.json"


@contextmanager
def announced(
    project: Path, socket_path: Path, nvim: str | None = None, *, url: str = "", token: str = ""
) -> Generator[bool]:
    """Announce the server of a project while the body runs, and of its Neovim, if it has one.

    Args:
        project: The server's project.
        socket_path: Where it can be reached.
        nvim: The address of the Neovim that it is attached to, or `auto`.
        url: Where it serves HTTP.
        token: The token of HTTP clients.

    Yields:
        Whether the project had no server before; another one that lives stays the one to be found.
    """
    mine = Announcement(str(project), str(socket_path), os.getpid(), nvim, url, token)
    address = None if nvim == "auto" else nvim
    of_neovim = _announced(file_of_neovim(address), mine) if address else nullcontext()
    with _announced(file_of(project), mine) as first, of_neovim:
        yield first


@contextmanager
def _announced(path: Path, mine: Announcement) -> Generator[bool]:
    if other := _connected(path):
        other.connection.close()
        yield False
        return
    _write(path, mine)
    try:
        yield True
    finally:
        if _read(path) == mine:
            path.unlink(missing_ok=True)


def _write(path: Path, announcement: Announcement) -> None:
    temporary = path.with_suffix(f".{announcement.pid}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(asdict(announcement), file)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def reach(folder: Path, target: str = "auto") -> Reached | None:
    """Connect to the server that fits a client; None if there is none.

    Args:
        folder: The client's working directory.
        target: `auto`: the server of this folder, of the nearest folder above that has one, or of a
            Neovim of the same project. `none`: the same, except servers that were started for a Neovim.
            Else the address of a Neovim: the server that is attached to it, and no other.
    """
    return next(filter(None, map(_connected, _candidates(folder, target))), None)


def serving_http(folder: Path, target: str = "auto") -> Announcement | None:
    """Return the announcement of the server that fits a client, as in `reach`; None if none serves HTTP."""
    for path in _candidates(folder, target):
        if reached := _connected(path):
            reached.connection.close()
            if reached.said.url:
                return reached.said
    return None


def _candidates(folder: Path, target: str) -> Iterable[Path]:
    if target not in ("auto", "none"):
        return (file_of_neovim(target),)
    files = map(file_of, _upwards(folder))
    if target == "none":
        return (path for path in files if (found := _read(path)) and found.nvim is None)
    return (*files, *_beside(folder))


def _beside(folder: Path) -> Iterable[Path]:
    """Return the announcements of Neovims that work on the same project, nearest first."""
    steps: dict[Path, int] = {}
    for path in sorted(runtime_folder().glob("nvim-*.json")):
        if (found := _read(path)) is not None:
            away = steps_between(Path(found.project), folder)
            if away is not None:
                steps[path] = away
    return sorted(steps, key=steps.__getitem__)


def _upwards(folder: Path) -> Iterable[Path]:
    return (folder, *folder.parents)


def _connected(path: Path) -> Reached | None:
    """Connect to an announced server; remove the announcement if no server listens."""
    announcement = _read(path)
    if announcement is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SECONDS_TO_GREET)
    try:
        connection.connect(announcement.socket)
        check_peer(connection, announcement.socket)
        greeting = connection.recv(len(GREETING))
    except (TimeoutError, Stranger):
        greeting = b""
    except OSError:
        greeting = b""
        path.unlink(missing_ok=True)
    if greeting == GREETING:
        connection.settimeout(None)
        return Reached(connection, announcement)
    connection.close()
    return None


def _read(path: Path) -> Announcement | None:
    """Read an announcement; one in a file of another user is ignored."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        # In a folder of another user, that user could replace dapeer's files.
        if path.parent.stat().st_uid == path.lstat().st_uid == os.getuid():
            return Announcement(**json.loads(path.read_text("utf-8")))
    return None
