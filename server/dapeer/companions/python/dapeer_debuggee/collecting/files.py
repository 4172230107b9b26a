"""Files that are mapped into memory, so that what is written outlives the program."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any


def create_rows_file(folder: str) -> tuple[str, int]:
    """Create a new file of rows for this process in a folder; return its path and descriptor.

    A file that the process had before an `exec` stays: the new one has a number in its name.

    Raises:
        OSError: It cannot be created.
    """
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
    """Map `size` bytes of a file from `start` on into memory, and return that.

    The room is reserved on the disk.

    Raises:
        OSError: There is no room.
    """
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is not None:
        reserve(file, start, size)
    elif os.fstat(file).st_size < start + size:
        os.lseek(file, start, os.SEEK_SET)
        os.write(file, bytes(size))
    return mmap.mmap(file, size, offset=start)


def remove_file(path: str, file: int = -1) -> None:
    """Close and remove a file, as far as it is there: `path` is empty, or `file` negative, if not.

    `file` is its descriptor.
    """
    with contextlib.suppress(OSError):
        if file >= 0:
            os.close(file)
        if path:
            os.unlink(path)
