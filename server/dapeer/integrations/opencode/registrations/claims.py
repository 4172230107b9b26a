"""Under which name a core is known to an OpenCode server.

Several Neovims may share one server in one directory; of two cores that use one name, the first would lose its tools to
the second, and the second when the first leaves. So a name is claimed by a lock on a file, which the system takes away
when the process ends, in whatever way.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapeer.base.system import folder_names

try:
    import fcntl
except ImportError:  # Windows, where two Neovims share a name
    fcntl = None

MAX_CORES: Final = 9
"""Cores at one server in one directory."""
MAX_PATH_BYTES: Final = 1 << 16
"""Bytes of a directory's path."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A name at one server in one directory."""

    name: str
    directory: str
    _path: Path | None = None
    _lock: int = -1

    def release(self) -> None:
        """Give the name up, so that another core can have it: remove the file, and with it the lock."""
        if self._path is not None:
            # In this order: who has the lock of a file that is there has the name.
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._lock)


def claim_name(url: str, directory: str) -> Claim:
    """Claim the first name at a server, in a directory, that no other core has.

    Names are locked files in the user's folder. If all are taken, or there can be no file, the claim shares its name with others. `url` is
    the server's, `directory` is as that server calls it.
    """
    with contextlib.suppress(OSError):
        folder = folder_names.make_private(_folder())
        for number in range(1, MAX_CORES):
            path = folder / f"{_hash(url)}-{_hash(directory)}-{number}"
            lock = _locked(path, os.O_RDWR | os.O_CREAT)
            if lock is not None:
                os.ftruncate(lock, 0)
                os.pwrite(lock, os.fsencode(directory), 0)
                return Claim(_called(number), directory, path, lock)
        return Claim(_called(MAX_CORES), directory)
    return Claim(_called(1), directory)


def claim_abandoned_names(url: str) -> Iterator[Claim]:
    """Yield a claim for each name at a server that a killed core has left behind, in any directory.

    The caller has to release each. Nothing is yielded where files cannot be locked. `url` is the server's.
    """
    if fcntl is None:
        return
    for path in sorted(_folder().glob(f"{_hash(url)}-*-[1-9]")):
        lock = _locked(path, os.O_RDWR)
        if lock is None:
            continue
        directory = os.fsdecode(os.pread(lock, MAX_PATH_BYTES, 0))
        if directory:
            yield Claim(_called(int(path.name[-1])), directory, path, lock)
        else:
            os.close(lock)  # somebody is about to write it


def _folder() -> Path:
    return Path(folder_names.state()) / "opencode"


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


def _called(number: int) -> str:
    """Return the name with this number: `dapeer`, `dapeer-2`, …."""
    return "dapeer" if number == 1 else f"dapeer-{number}"


def _locked(path: Path, how: int) -> int | None:
    """Open a file and lock it; return its file descriptor.

    None: another core has the lock, or the file is gone. `how` are the flags for opening it.
    """
    lock = -1
    try:
        lock = os.open(path, how | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Who had it may have removed it a moment ago.
        if path.stat().st_ino == os.fstat(lock).st_ino:
            return lock
    except OSError:
        pass
    if lock >= 0:
        os.close(lock)
    return None
