"""Where this user's Neovims listen. Only the standard library: a bridge asks this too."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dapeer.base.system import folder_names, foreign_files

_NAME: Final = re.compile(r"\.\d+\.\d+$|vim", re.IGNORECASE)
"""Names of sockets: Neovim's own `nvim.PID.COUNT`, or one that a person has chosen, with `nvim` in it.

The folder of a login session has sockets of other programs too; connecting to some of these starts a service.
"""

NAMED_BY: Final = ("NVIM", "NVIM_LISTEN_ADDRESS")
"""The variables that name a Neovim: the first is set in its terminals, the second by people."""

SECONDS_TO_CONNECT: Final = 0.5

HOST_AND_PORT: Final = re.compile(
    r"(?!\.|.*\.\.)(?P<host>[^/\s]+):(?P<port>[0-5]?\d{1,4}|6(?:[0-4]\d\d|5[0-4]\d|55[0-2]|553(?=[0-5]))\d)"
)
"""A host without an empty label, and a port: no other address can be connected to."""


def session_folder() -> Path | None:
    """Return the folder for sockets of the user's login session; None if the system has none."""
    found = folder_names.session()
    return Path(found) if found else None


def neovim_addresses() -> list[str]:
    """Return the addresses of this user's Neovims, sorted; dead ones are among them: none is asked.

    An address is the path of a Unix socket, or `HOST:PORT`. They are the user's own sockets where Neovim
    makes its own, what the plugin has announced, and the Neovim that the environment names (`NVIM`, or the
    person's `NVIM_LISTEN_ADDRESS`), which is not checked.
    """
    found = {
        str(path) for path in _sockets() if _is_own_socket(path)
    } | announced_addresses().keys()
    if (terminal := terminal_neovim_address()) is not None:
        found.add(terminal)
    return sorted(found)


def announced_addresses() -> dict[str, int]:
    """Return the addresses that Neovims' plugins announce, with their process ids; they may have ended.

    An address is `host:port`, or the absolute path of a unix socket without links. The addresses are read
    from files of `core/knock.lua` in dapeer's runtime folder. A file that is invalid, or announces a path
    that is no socket of this user, is ignored; nothing is checked of `host:port`. The result is empty if that
    folder is another user's, a link, or absent. Nothing is connected to.
    """
    folder = Path(folder_names.runtime())
    # In a folder of another user, that user could replace the files.
    files = folder.glob("neovim-*.json") if _is_own_folder(folder) else ()
    found: dict[str, int] = {}
    for file in files:
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError):
            facts = json.loads(foreign_files.read_bytes(file).decode())
            address = normalize_address(str(facts["address"]))
            if HOST_AND_PORT.fullmatch(address) or _is_own_socket(Path(address)):
                found[address] = int(facts["pid"])
    return found


def terminal_neovim_address() -> str | None:
    """Return the address of the Neovim in whose terminal this process runs; None if there is none.

    A person may set `NVIM_LISTEN_ADDRESS` instead.
    """
    address = next(filter(None, map(os.environ.get, NAMED_BY)), None)
    return normalize_address(address) if address else None


def normalize_address(address: str) -> str:
    """Return the one way to write an address: `host:port`, or an absolute path without links."""
    if HOST_AND_PORT.fullmatch(address):
        return address
    return os.path.realpath(os.path.expanduser(address))


def connect(address: str) -> socket.socket:
    """Return a socket connected to an address, a path or `host:port`; the caller closes it.

    A host of IPv6 is in brackets. It blocks for about `SECONDS_TO_CONNECT` at most, for each address if the host's name
    has several; resolving the name may take longer. That stays the socket's timeout: later calls of `recv` and
    `sendall` raise `TimeoutError` after it, unless the caller sets another one.

    Raises:
        OSError: No process accepts connections there in time, the host is unknown, or the path is too long.
    """
    match = HOST_AND_PORT.fullmatch(address)
    if match is not None:
        place = match["host"].strip("[]"), int(match["port"])
        return socket.create_connection(place, SECONDS_TO_CONNECT)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SECONDS_TO_CONNECT)
    try:
        connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


def is_listening(address: str) -> bool:
    """Return whether a process accepts connections at an address; it is connected to, and closed at once.

    `address` is a path or `host:port`, as for `connect`. False also if nothing answers in time.
    """
    with contextlib.suppress(OSError), connect(address):
        return True
    return False


def _sockets() -> Iterator[Path]:
    """Yield paths that may be a socket of a Neovim, without looking what they are; some may come twice.

    From the login session's folder come the entries whose names have `vim` or end in two numbers
    (`.PID.COUNT`), and all in its folders with `vim` in their name, in upper or lower case. Unless
    `XDG_RUNTIME_DIR` is an absolute path, there also come all entries of this user's own folders in `nvim.*`,
    which must be this user's, too, in `TMPDIR` and `/tmp`. Folders that cannot be read have none.
    """
    session = session_folder()
    if session is not None:
        yield from (path for path in _entries_of(session) if _NAME.search(path.name))
        for folder in _entries_of(session):
            if "vim" in folder.name.lower():
                yield from _entries_of(folder)
    if not folder_names.folder_of_variable("XDG_RUNTIME_DIR"):
        for base in {Path(os.environ.get("TMPDIR") or "/tmp"), Path("/tmp")}:  # noqa: S108
            # Any user can create folders there, with links to this user's sockets that they redirect later.
            for users in filter(_is_own_folder, base.glob("nvim.*")):
                for folder in filter(_is_own_folder, _entries_of(users)):
                    yield from _entries_of(folder)


def _entries_of(folder: Path) -> list[Path]:
    """Return the entries of a folder; empty if it cannot be read."""
    with contextlib.suppress(OSError):
        return list(folder.iterdir())
    return []


def _is_own_socket(path: Path) -> bool:
    """Return whether a path is a socket of this user, and no link."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()
    return False


def _is_own_folder(path: Path) -> bool:
    """Return whether a path is a folder of this user, and no link."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return False
