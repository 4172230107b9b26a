"""Lines of source files, for people to read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

LARGEST = 8 << 20
"""Bytes; a larger file is not read for its source lines."""
FAR = 256 << 20
"""Bytes of a larger file that are read for some lines which somebody has asked for."""
LONGEST = 10_000
"""Bytes of a line there."""


def part(path: str, first: int, count: int) -> tuple[list[str], int | None]:
    """Return some lines of a file of whatever size, and how many it has; None: more than these.

    Of a file larger than `LARGEST` no more than `FAR` bytes are read, and of a line `LONGEST`: call it in a thread.

    Raises:
        OSError: It cannot be read.
    """
    if Path(path).stat().st_size <= LARGEST:
        lines = read_lines(path) or []
        return lines[first - 1 : first - 1 + count], len(lines)
    with Path(path).open("rb") as file:
        return _far(file, first, count)


def _far(file: BinaryIO, first: int, count: int) -> tuple[list[str], int | None]:
    found: list[str] = []
    number, beginning, size = 1, True, 0
    while size < FAR and (read := file.readline(LONGEST)):
        size += len(read)
        if beginning and first <= number < first + count:
            found.append(read.decode("utf-8", "replace").rstrip("\r\n"))
        beginning = read.endswith(b"\n")
        number += beginning
        if number >= first + count:
            return found, None
    more = size >= FAR
    return found, None if more else number - beginning


def read_lines(path: str) -> list[str] | None:
    """Return a file's lines as they are on disk now, or None when it cannot be read."""
    try:
        status = Path(path).stat()
        if status.st_size > LARGEST:
            return None
        return _lines(path, status.st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _lines(path: str, modified: int) -> list[str]:  # noqa: ARG001 - part of the cache's key
    return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
