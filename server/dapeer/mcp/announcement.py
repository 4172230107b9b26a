"""How `dapeer stdio` finds a server of the same project: a small file that the server leaves.

Only the standard library, and little of it: a bridge must be up before a whole server would be.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

GREETING: Final = b"dapeer\n"
"""What a server says first on its socket: proof that it lives, before a client trusts it."""
SECONDS_TO_GREET: Final = 2


@dataclass(frozen=True, slots=True)
class Announcement:
    """A server's note of where it can be reached."""

    project: str
    socket: str
    pid: int


def state_folder() -> Path:
    """Return the user's own folder for what outlives a process."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "dapeer"


def runtime_folder() -> Path:
    """Return the user's own folder for what lives as long as a process: sockets, announcements."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "dapeer" if base else state_folder()


def private(folder: Path) -> Path:
    """Make a folder that only its owner can enter, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def file_of(project: Path) -> Path:
    """Return where the server of a project announces itself."""
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
    return runtime_folder() / f"server-{name}.json"


@contextmanager
def announced(project: Path, socket_path: Path) -> Generator[bool]:
    """Announce this server while the body runs; False when another one already is there."""
    path = file_of(project)
    if other := _connected(path):
        other.close()
        yield False
        return
    mine = Announcement(str(project), str(socket_path), os.getpid())
    temporary = path.with_suffix(f".{mine.pid}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(asdict(mine), file)
    temporary.replace(path)
    try:
        yield True
    finally:
        if _read(path) == mine:
            path.unlink(missing_ok=True)


def reach(folder: Path) -> socket.socket | None:
    """Return a connection to the server of this folder, or of the nearest folder above that has one."""
    return next(filter(None, map(_connected, map(file_of, _upwards(folder)))), None)


def _upwards(folder: Path) -> Iterable[Path]:
    return (folder, *folder.parents)


def _connected(path: Path) -> socket.socket | None:
    """Connect to an announced server; an announcement that nobody stands behind is removed."""
    announcement = _read(path)
    if announcement is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SECONDS_TO_GREET)
    try:
        connection.connect(announcement.socket)
        greeting = connection.recv(len(GREETING))
    except TimeoutError:
        greeting = b""
    except OSError:
        greeting = b""
        path.unlink(missing_ok=True)
    if greeting == GREETING:
        connection.settimeout(None)
        return connection
    connection.close()
    return None


def _read(path: Path) -> Announcement | None:
    """Read an announcement; one that is not the user's own is none."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        if path.stat().st_uid == os.getuid():
            return Announcement(**json.loads(path.read_text("utf-8")))
    return None
