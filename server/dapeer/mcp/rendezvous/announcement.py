"""How a server is found: by small files that it leaves while it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from dapeer.base.system import folder_names
from dapeer.mcp.rendezvous import reaching
from dapeer.mcp.rendezvous.reaching import Announcement


def runtime_folder() -> Path:
    """Return the user's folder for what ends with a process: sockets, announcements."""
    return Path(folder_names.runtime())


def file_of(project: Path) -> Path:
    """Return where the server of a project announces itself."""
    return Path(reaching.file_of(str(project)))


def file_of_neovim(address: str) -> Path:
    """Return where the server that is attached to a Neovim announces itself."""
    return Path(reaching.file_of_neovim(address))


@contextmanager
def announced(
    project: Path,
    socket_path: Path,
    nvim: str | None = None,
    *,
    url: str = "",
    token: str = "",
    detached: bool = False,
) -> Generator[bool]:
    """Announce the server of a project while the body runs, and of its Neovim, if it has one.

    Args:
        project: The server's project.
        socket_path: Where it can be reached.
        nvim: The address of the Neovim that it is attached to, or `auto`.
        url: Where it serves HTTP.
        token: The token of HTTP clients.
        detached: Whether it outlives its clients.

    Yields:
        Whether the project had no server before; another one that lives stays the one to be found.
    """
    mine = Announcement(
        str(project), str(socket_path), os.getpid(), nvim, url, token, detached=detached
    )
    address = None if nvim == "auto" else nvim
    of_neovim = _announced(file_of_neovim(address), mine) if address else nullcontext()
    with _announced(file_of(project), mine) as first, of_neovim:
        yield first


@contextmanager
def _announced(path: Path, mine: Announcement) -> Generator[bool]:
    if other := reaching.connected(str(path)):
        other.connection.close()
        yield False
        return
    _write(path, mine)
    try:
        yield True
    finally:
        found = reaching.read(str(path))
        if found and vars(found) == vars(mine):
            path.unlink(missing_ok=True)


def _write(path: Path, announcement: Announcement) -> None:
    temporary = path.with_suffix(f".{announcement.pid}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(vars(announcement), file)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def serving_http(folder: Path, target: str = reaching.ANY) -> Announcement | None:
    """Return the announcement of the server that fits a client, as in `reach`; None if none serves HTTP."""
    for path in reaching.candidates(str(folder), target):
        if reached := reaching.connected(path):
            reached.connection.close()
            if reached.announcement.url:
                return reached.announcement
    return None
