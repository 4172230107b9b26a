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

    They are removed afterwards. An announcement of another server that lives is left as it is: each of the two files is looked at alone,
    and its server is connected to for that.

    Args:
        project: The server's project.
        socket_path: The path of the socket at which the server listens.
        nvim: The address of the Neovim to which it is attached, or `auto`; None: it attaches to none.
        url: Where it serves HTTP; empty: nowhere.
        token: The token that HTTP clients must send.
        detached: Whether it outlives its clients.

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

    Nothing is written, and False is yielded, if a living server has announced itself there: it is connected to for that, and an
    announcement at which nothing listens is replaced. Afterwards the file is removed, unless another server has replaced it.

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
