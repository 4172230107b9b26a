"""Wakes a process that waits for another one: it listens at a socket, and new ones connect there.

So nobody polls.

A bridge waits so for a core, and a core for Neovims, which knock in `core/knock.lua`. A door is a socket in the
user's runtime folder. Only the standard library: a bridge waits, too.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from dapeer.base.errors import ForeignListener
from dapeer.base.system.folder_names import make_private
from dapeer.base.system.ownership import check_peer
from dapeer.base.system.termination import removing
from dapeer.mcp.rendezvous.announcement import runtime_folder, socket_name

log = logging.getLogger(__name__)

FOR_CORES: Final = "awaits-core"
FOR_NEOVIMS: Final = "awaits-nvim"

SECONDS_TO_OPEN: Final = 0.5


@contextmanager
def try_listen_for_knocks(kind: str) -> Generator[socket.socket | None]:
    """Listen at a new socket in the runtime folder while the body runs, then remove it; yield the socket.

    `kind` is `FOR_CORES` or `FOR_NEOVIMS`: who is to connect there. If the folder does not allow a socket, that
    is logged, and None is yielded. Nothing is accepted here: the body does that.

    Raises:
        OSError: The socket's file cannot be removed after the body.
    """
    with ExitStack() as stack:
        try:
            listener = stack.enter_context(listen_for_knocks(kind))
        except OSError as error:
            path, why = error.filename or runtime_folder(), error.strerror or error
            who = "Neovims" if kind == FOR_NEOVIMS else "Servers"
            log.warning("%s cannot announce themselves at %s: %s", who, path, why)
            listener = None
        yield listener


@contextmanager
def listen_for_knocks(kind: str) -> Generator[socket.socket]:
    """Listen at a new socket in the runtime folder while the body runs, then remove it; yield the socket.

    `kind` is `FOR_CORES` or `FOR_NEOVIMS`: who is to connect there, as `knock` does for the former. The file is
    named by `kind` and this process's id; it is removed after an exception, too. Nothing is accepted here: the
    body does that.

    Raises:
        OSError: The socket cannot be made in the runtime folder, and the body was not run; or its file cannot be
            removed after the body.
    """
    path = runtime_folder() / f"{kind}.{os.getpid()}.sock"
    # The socket gets its name after it listens: other processes remove a socket at which none listens.
    unnamed = path.with_suffix(".new")
    with socket.socket(socket.AF_UNIX) as listener, removing(path), removing(unnamed):
        _listen_at(listener, unnamed, path)
        yield listener


def _listen_at(listener: socket.socket, unnamed: Path, path: Path) -> None:
    """Bind a socket to the path `unnamed`, listen, and rename that to `path`; other users cannot connect.

    `listener` is a Unix socket that is not bound yet; the caller closes it. The folder of `path` is made if need be,
    and closed to other users. A file at `unnamed` is removed before, and one at `path` is replaced. After an error a
    file at `unnamed` may be left.

    Raises:
        OSError: One of these steps is not possible.
    """
    make_private(path.parent)
    unnamed.unlink(missing_ok=True)
    with socket_name(unnamed) as name:
        listener.bind(name)
    unnamed.chmod(0o600)
    listener.listen()
    unnamed.rename(path)


def knock(kind: str) -> None:
    """Connect once to every socket of this kind in the runtime folder, so that its process wakes up.

    `kind` is `FOR_CORES` or `FOR_NEOVIMS`, with which the names of the sockets begin. The sockets are tried
    one after the other, each for `SECONDS_TO_OPEN` at most. A socket at which nobody listens is removed.
    Sockets that cannot be connected to for another reason, or at which another user listens, are passed
    over, as is one that cannot be removed. Nothing is sent.
    """
    for path in runtime_folder().glob(f"{kind}.*.sock"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(SECONDS_TO_OPEN)
            try:
                with socket_name(path) as name:
                    connection.connect(name)
                check_peer(connection, str(path))
            except ConnectionRefusedError:
                with suppress(OSError):
                    path.unlink()
            except (OSError, ForeignListener):
                continue
