"""Lines of source files, for people to read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

LARGEST = 8 << 20
"""Bytes; a larger file is not read for its source lines."""


def window(path: str, line: int, around: int) -> tuple[int, list[str]] | None:
    """Return the lines around a 1-based line: the first one's number, and their text.

    None when the file cannot be read, is not text, or has no such line.
    """
    lines = read_lines(path)
    if lines is None or not 1 <= line <= len(lines):
        return None
    first = max(1, line - around)
    return first, lines[first - 1 : line + around]


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
