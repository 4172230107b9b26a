"""Files that are mapped into memory, so that what is written outlives the program."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any


def made(folder: str) -> tuple[str, int]:
    """Return path and descriptor of a new file of this process; one that it had before an `exec` stays."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    number = 0
    while True:
        name = f"{os.getpid()}-{number}.rows" if number else f"{os.getpid()}.rows"
        path = os.path.join(folder, name)
        try:
            return path, os.open(path, flags, 0o600)
        except FileExistsError:
            number += 1


def mapped(file: int, start: int, size: int) -> Any:
    """Return a part of a file in memory, room for which there is.

    Raises:
        OSError: There is none.
    """
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is not None:
        reserve(file, start, size)
    elif os.fstat(file).st_size < start + size:
        os.lseek(file, start, os.SEEK_SET)
        os.write(file, bytes(size))
    return mmap.mmap(file, size, offset=start)


def removed(path: str, file: int = -1) -> None:
    """Close and remove a file, where there is one."""
    with contextlib.suppress(OSError):
        if file >= 0:
            os.close(file)
        if path:
            os.unlink(path)
