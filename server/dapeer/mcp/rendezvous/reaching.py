"""How `dapeer stdio` finds a server of its Neovim or project: by the small files that servers leave.

Only the standard library, and little of it: a bridge's start, and each command, wait for this.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from contextlib import contextmanager, suppress
from hashlib import sha256

from dapeer.base.system import folder_names
from dapeer.base.system.unix_peer import is_trusted, unix_peer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from typing import Final

try:
    import fcntl
except ImportError:  # Windows has no detached servers
    fcntl = None

ANY: Final = "any"
AUTO: Final = "auto"
NONE: Final = "none"

GREETING: Final = b"dapeer\n"
"""The first bytes that a server sends on its socket: proof that it runs, before a client trusts it."""
SECONDS_TO_GREET: Final = 5
"""A server greets at once, but on a busy machine it may have to wait for a processor."""


class Announcement:
    """A server's note of where it can be reached.

    Args:
        project: Its working directory.
        socket: Its socket.
        pid: Its process.
        nvim: The Neovim that it was started for: an address, or `auto`.
        url: Where it serves HTTP; empty: nowhere.
        token: The token of its HTTP clients. A process that can read it can also reach the socket, which gives
            the same access.
        detached: It outlives its clients: a command has started it.
    """

    def __init__(
        self,
        project: str,
        socket: str,
        pid: int,
        nvim: str | None = None,
        url: str = "",
        token: str = "",
        *,
        detached: bool = False,
    ) -> None:
        self.project, self.socket, self.pid = project, socket, pid
        self.nvim, self.url, self.token = nvim, url, token
        self.detached = detached


class ReachedServer:
    """A server that a client is connected to."""

    def __init__(self, connection: socket.socket, announcement: Announcement) -> None:
        self.connection = connection
        self.announcement = announcement


def connect_to_server(
    folder: str, target: str = ANY, seconds_to_greet: float = SECONDS_TO_GREET
) -> ReachedServer | None:
    """Connect to the server that fits a client; None: there is none.

    The first that greets is taken, by the order of `candidate_files`. Announcements of servers that have ended are removed; one that does
    not greet in time is named on stderr, and passed over. Closing the connection is left to the caller.

    Args:
        folder: The client's working directory.
        target: `any`: the server of this folder, of the nearest folder above that has one, or of a
            Neovim of the same project. `auto`: the same, except servers that attach to no Neovim.
            `none`: one of these folders that attaches to no Neovim.
            Else the address of a Neovim: the server that is attached to it, and no other.
        seconds_to_greet: How long a server may take to greet; one that has just been started is still busy.
    """
    found = (connect_announced(each, seconds_to_greet) for each in candidate_files(folder, target))
    return next(filter(None, found), None)


def candidate_files(folder: str, target: str) -> Iterator[str]:
    """Yield the paths of announcements, best first, of servers that may fit a client.

    Nothing is connected to: a server may have ended. `folder` is the client's working directory. `target` says
    which servers fit: `any`: one of this folder, of a folder above (one that a command has started only if that
    is the same project), or of a Neovim on the same project; `auto`: the same, except servers that attach to no
    Neovim; `none`: those of these folders that attach to no Neovim; else the address of the Neovim to which it
    is attached, whose announcement is yielded even if it does not exist.
    """
    if target not in (ANY, AUTO, NONE):
        yield neovim_announcement_file(target)
        return
    for path in map(announcement_file, folders_upwards(folder)):
        if (found := read_announcement(path)) and _accepts_client(found, folder, target):
            yield path
    if target != NONE:
        yield from _announcements_of_project_neovims(folder)


def _accepts_client(found: Announcement, folder: str, target: str) -> bool:
    """Return whether an announced server, of a folder or of one above it, fits a client in `folder`.

    `found` is the server's announcement. `target` is `any`: any server fits; `none`: only one that attaches to no
    Neovim; or `auto`: only one that attaches to a Neovim. In each case a detached server, which a command has
    started, fits only clients in its own folder or in the same project.
    """
    if target != ANY and (found.nvim is None) != (target == NONE):
        return False
    if not found.detached or found.project == folder:
        return True
    from pathlib import Path

    from dapeer.neovim.project import steps_between

    # One that a command has started, say in the home folder, is not the server of all projects below it.
    return steps_between(Path(folder), Path(found.project)) is not None


def announcement_file(project: str) -> str:
    """Return the path of the file in which the server of a project announces itself."""
    return _file("server", project)


def start_lock_file(project: str) -> str:
    """Return the path of the file that is locked while a server for a project is started.

    `project` is the path of the project's folder, as the server announces it: another spelling is another file.
    """
    return _file("start", project).removesuffix("json") + "lock"


def server_log_file(project: str) -> str:
    """Return the file that a project's detached server writes its log to."""
    return _file("core", project).removesuffix("json") + "log"


def sign_of_life_file(project: str) -> str:
    """Return the file that a project's detached server has locked while it lives, and removes at its end."""
    return _file("core", project).removesuffix("json") + "alive"


def neovim_announcement_file(address: str) -> str:
    """Return the path of the file in which the server that is attached to a Neovim announces itself.

    `address` is Neovim's.
    """
    from dapeer.neovim.sockets import normalize_address

    return _file("nvim", normalize_address(address))


def _file(kind: str, key: str) -> str:
    """Return the path of a file in the runtime folder whose name is made of `kind` and a digest of `key`."""
    name = sha256(os.fsencode(key)).hexdigest()[:16]
    return os.path.join(folder_names.runtime(), f"{kind}-{name}.json")


def folders_upwards(folder: str) -> Iterator[str]:
    """Yield a folder and all folders above it, up to the root."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        yield above
        folder = above


def _announcements_of_project_neovims(folder: str) -> Iterable[str]:
    """Return the paths of announcements of servers for Neovims on the project of `folder`, nearest first.

    An announcement is the file that the server attached to a Neovim leaves in the runtime folder. Near are
    servers with few steps between their own folder and `folder`, which may be the same one. Ended servers are
    not left out; announcements that cannot be read are. The result is empty if there are none, or the runtime
    folder cannot be read.
    """
    base = folder_names.runtime()
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return ()
    paths = [os.path.join(base, each) for each in names if each.startswith("nvim-")]
    return _nearest_first([each for each in paths if each.endswith(".json")], folder)


def _nearest_first(paths: Iterable[str], folder: str) -> Iterable[str]:
    """Return those of some announcements whose servers work on the project of `folder`, nearest first.

    `paths` are those of announcements. Near are those with few steps between their folder and this one. Invalid announcements are left
    out; those of ended servers are not.
    """
    if not paths:
        return ()
    from pathlib import Path

    from dapeer.neovim.project import steps_between

    steps: dict[str, int] = {}
    for path in paths:
        if (found := read_announcement(path)) is not None:
            away = steps_between(Path(found.project), Path(folder))
            if away is not None:
                steps[path] = away
    return sorted(steps, key=steps.__getitem__)


def connect_announced(
    path: str, seconds_to_greet: float = SECONDS_TO_GREET
) -> ReachedServer | None:
    """Connect to the server of an announcement, and wait for its greeting; None: no such server answers.

    The call blocks. `path` is the announcement's file; `seconds_to_greet` limits the wait for the connection
    and that for the greeting, each. None also if the announcement cannot be read, the server is not trusted
    since it belongs to another user, or what it sends is no greeting. If nothing listens there, or the
    connection fails otherwise, the announcement is removed. If the server does not answer in time, or is too busy
    to accept the connection, a sentence on that is written to stderr, and the announcement stays. Closing the returned connection, which has no
    timeout any more, is left to the caller.
    """
    announcement = read_announcement(path)
    if announcement is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(seconds_to_greet)
    greeting = b""
    try:
        connection.connect(announcement.socket)
        if is_trusted(unix_peer(connection)):
            greeting = connection.recv(len(GREETING))
    # One with a full backlog lets nobody wait.
    except (TimeoutError, BlockingIOError):
        from dapeer.base.system.stderr import say

        say(
            f"process {announcement.pid}, the server of {announcement.project}, has not answered within "
            f"{seconds_to_greet:g} s and is not joined: end it if it hangs."
        )
    except OSError:
        _remove(path)
    if greeting == GREETING:
        connection.settimeout(None)
        return ReachedServer(connection, announcement)
    connection.close()
    return None


def _remove(path: str) -> None:
    """Remove a file; nothing happens if it is not there, or cannot be removed."""
    try:
        os.unlink(path)
    except OSError:
        return


def _content(path: str) -> bytes:
    """Return what a regular file holds; nothing of a named pipe, which would keep its reader for ever."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def read_announcement(path: str) -> Announcement | None:
    """Read an announcement; None: there is none, it is not valid, or it or its folder is another user's.

    The server that has written it may have ended.
    """
    try:
        # In a folder of another user, that user could replace dapeer's files.
        if os.stat(os.path.dirname(path)).st_uid == os.lstat(path).st_uid == os.getuid():
            return Announcement(**json.loads(_content(path).decode()))
    except (OSError, ValueError, TypeError):
        return None
    return None


# A detached server's sign of life: a file that is locked while it lives. A command knows by it that the server was killed.


@contextmanager
def hold_sign_of_life(project: str) -> Generator[None]:
    """Hold a lock on the file that shows that a project's detached server lives, while the body runs.

    `project` is the folder that the server works on; `sign_of_life_file` names the file. An existing file is
    replaced, and no other holder of its lock is waited for, so the caller makes sure that it is the only server.
    Afterwards the file is removed, and the server's log, if that is empty; after an exception of the body both stay,
    the file without a lock. Where the system has no `fcntl`, nothing is locked.

    Raises:
        OSError: The runtime folder cannot be written; the body was not run.
    """
    sign = sign_of_life_file(project)
    # It gets its name when it is locked: one without a lock is of a server that was killed.
    unnamed = f"{sign}.{os.getpid()}"
    file = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        os.replace(unnamed, sign)
        yield
        with suppress(OSError):
            os.unlink(sign)
            log = server_log_file(project)
            if not os.path.getsize(log):
                os.unlink(log)
    finally:
        os.close(file)


def remove_sign_if_killed(project: str) -> bool:
    """Return whether a project's detached server was killed, and forget it: its sign of life is removed.

    So this is true only once. `project` is the folder that the server works on. False: it runs, has ended by itself, or never ran; also
    where files cannot be locked, or the file is another user's.
    """
    sign = sign_of_life_file(project)
    try:
        file = os.open(sign, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if fcntl is None or os.fstat(file).st_uid != os.getuid():
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(sign)
    except OSError:
        return False
    finally:
        os.close(file)
    return True
