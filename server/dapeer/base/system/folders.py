"""Folders in the temporary directory that last as long as the process that has made them.

The owner holds a lock, which the system releases when its process ends in any way. So a folder that can be
locked is an orphan.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows does not remove the lock of a killed process
    fcntl = None

PREFIX = "dapeer-run-"


@contextmanager
def temporary_folder(parent: str | None = None) -> Generator[Path]:
    """Make a new locked folder for this user alone, yield its path, and remove it after the body.

    It is in `parent`, or else in the temporary directory. The lock tells other processes that the folder is in
    use. If this process is killed, `remove_left_folders` of another one removes the folder. On Windows there is
    no lock, and the folder stays then. What cannot be removed after the body is left, and nothing is raised.

    Raises:
        OSError: The folder cannot be made; or it cannot be locked, then it is removed.
    """
    folder, lock = _make_locked(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_left_folders(parent: str | None = None) -> None:
    """Remove the folders of `temporary_folder` that killed processes of this user have left behind.

    Such a folder stands in `parent` (None or empty: in the temporary directory), has a name that begins with
    `PREFIX`, and is locked by no process. A folder that cannot be removed stays; nothing is raised. Nothing
    happens where the system has no such locks (Windows).
    """
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry.path)


def _make_locked(parent: str | None) -> tuple[Path, int | None]:
    """Make and lock a new folder; return its path and the lock's descriptor; None where nothing locks.

    Nothing locks on Windows. The folder is in `parent`, or else in the temporary directory. If another
    process removes it before it is locked, another one is made. The caller closes the descriptor, which
    ends the lock, and removes the folder.

    Raises:
        OSError: The folder cannot be made; or it cannot be locked, then it is removed.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        if fcntl is None:
            return folder, None
        # Until it is locked another process may take it for one that was left.
        try:
            lock = _lock_folder(str(folder), wait=True)
        except FileNotFoundError:
            continue
        except BaseException:
            # It is empty, and nothing can be opened where there are too few file descriptors.
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock_folder(folder: str, *, wait: bool) -> int:
    """Lock a folder for this process, and return the descriptor that holds the lock until it is closed.

    With `wait` this blocks until no other descriptor, also one of this process, has the lock. The caller closes the
    descriptor. This is not called on Windows, which has no such lock.

    Raises:
        OSError: There is no such folder, `folder` is a symbolic link, or, without `wait`, another descriptor has
            the lock.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(file)
        raise
    return file


def _remove_if_left(folder: str) -> None:
    """Remove a folder with its content if no process has locked it and this user owns it.

    Another user's folder stays. What cannot be removed stays, too, and raises nothing. It does not wait.

    Raises:
        OSError: There is no such folder, it is a symbolic link, or another process has locked it.
    """
    lock = _lock_folder(folder, wait=False)
    try:
        if os.fstat(lock).st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
