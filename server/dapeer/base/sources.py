"""Source files as callers name them, and their lines for people to read."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from dapeer.base.errors import ArgumentError
from dapeer.base.system import foreign_files
from dapeer.base.text.source_lines import split_lines

MAX_FILE_BYTES = 8 << 20
"""Bytes; a larger file is not read for its source lines."""
MAX_READ_BYTES = 256 << 20
"""Bytes that are read of a larger file for some requested lines."""
MAX_LINE_BYTES = 10_000
"""Bytes of a line there."""
MADE = re.compile(r"<.+>")
"""What an interpreter calls code that has no file."""
BY_FUNCTION = (
    "Name a function of it instead: a breakpoint with `function` stops there, `calls` collects."
)


def read_part(path: str, first: int, count: int) -> tuple[list[str], int | None]:
    """Return `count` lines of a file from line `first` (1 is the first), and the file's number of lines.

    The number is None for a large file that was not read to its end. Of a file larger than `MAX_FILE_BYTES` at most `MAX_READ_BYTES`
    bytes are read, and `MAX_LINE_BYTES` of each line: call it in a thread. There are fewer lines where the file ends.

    Raises:
        OSError: The file cannot be read.
    """
    if Path(path).stat().st_size <= MAX_FILE_BYTES:
        lines = read_lines(path) or []
        return lines[first - 1 : first - 1 + count], len(lines)
    with foreign_files.open_file(path) as file:
        return _read_lines(file, first, count)


def _read_lines(file: BinaryIO, first: int, count: int) -> tuple[list[str], int | None]:
    """Return up to `count` lines of an open file from line `first` (from 1) on, and its number of lines.

    There are fewer where the file ends. The number is None if the file was not read to its end: the lines were found before, or
    `MAX_READ_BYTES` were read. Lines have no line ends, U+FFFD for what is no UTF-8, and are cut to `MAX_LINE_BYTES`. `file` stands at its
    beginning, and stays open.
    """
    found: list[str] = []
    number, beginning, size = 1, True, 0
    while size < MAX_READ_BYTES and (read := file.readline(MAX_LINE_BYTES)):
        size += len(read)
        if beginning and first <= number < first + count:
            found.append(read.decode("utf-8", "replace").rstrip("\r\n"))
        beginning = read.endswith(b"\n")
        number += beginning
        if number >= first + count:
            return found, None
    more = size >= MAX_READ_BYTES
    return found, None if more else number - beginning


def read_lines(path: str) -> list[str] | None:
    """Return a file's lines as they are on disk now, without line ends.

    The path may lead into a zip archive (`app.pyz/__main__.py`). None means that the file cannot be read, or is
    larger than `MAX_FILE_BYTES`; bytes that are no UTF-8 become U+FFFD. The list may be cached until the file is
    modified, so the caller must not change it; a file in an archive is read at each call.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - each look asks, and pathlib takes several times as long
        if status.st_size > MAX_FILE_BYTES:
            return None
        return _lines(path, status.st_mtime_ns)
    except NotADirectoryError:
        return _member_lines(path)
    except (OSError, ValueError):
        return None


def _member_lines(path: str) -> list[str] | None:
    """Return the lines of a file in a zip archive; None if it cannot be read, or is too large."""
    try:
        held = foreign_files.read_member(path, MAX_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None
    return None if len(held) > MAX_FILE_BYTES else split_lines(held.decode("utf-8", "replace"))


@lru_cache(maxsize=64)
def _lines(path: str, _modified: int) -> list[str]:
    """Return a file's lines; cached by the path and the time of its modification, in ns."""
    return split_lines(foreign_files.read_text(path))


def names_beside(path: str) -> list[str]:
    """Return the names of other files in a file's folder that begin like it up to the first dot, sorted.

    For `a.min.js` these are all `a.*` but itself; folders are among them. The list is empty if there are
    none, or the folder cannot be read.
    """
    stem, own = Path(path).name.partition(".")[0], Path(path).name
    try:
        names = os.listdir(Path(path).parent)  # noqa: PTH208 - the names alone are asked for
    except OSError:
        return []
    return sorted(each for each in names if each.startswith(f"{stem}.") and each != own)


def with_home_folder(name: str) -> Path:
    """Return a path with the home folder in place of a leading `~`; an unknown user's `~name` stays."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's fails for a user whom nobody knows


def source_file(filename: str, base: Path) -> str:
    """Return the absolute path of a source file that a caller names, with `~` or relative to `base`.

    Links and `..` stay in the path. A file inside a zip archive counts, too, unless it is too large.

    Raises:
        ArgumentError: There is no such file, it cannot be reached, or it is no regular file; the text names the
            tools' argument `filename`, unless that is the name of code without a file.
    """
    path = (base / with_home_folder(filename)).absolute()
    if (reason := foreign_files.why_no_file(path)) and _member_lines(str(path)) is None:
        if MADE.fullmatch(filename):
            raise ArgumentError(f"{filename} is the name of code that has no file.", BY_FUNCTION)
        raise ArgumentError(
            f"`filename`: {path} {reason}.",
            f"Give an existing file, absolute or relative to {base}.",
        )
    return str(path)


def relative_to_project(path: str, project: Path) -> str:
    """Return `path` relative to the project's folder if it is in it, else as it is.

    >>> relative_to_project("/home/me/shop/src/a.py", Path("/home/me/shop"))
    'src/a.py'
    """
    return path.removeprefix(f"{project}{os.sep}")


def check_line(path: str, line: int) -> None:
    """Check that a file has this line (1 is the first); a file that cannot be read is not checked.

    Raises:
        ArgumentError: The file has fewer lines.
    """
    lines = read_lines(path)
    if lines is not None and line > len(lines):
        raise ArgumentError(
            f"`line`: {path} has only {len(lines)} lines.", "Read it with dap_source."
        )


def line_text(path: str, line: int) -> str:
    """Return the text of one line of a file (1 is the first); empty if there is no such line or file."""
    lines = read_lines(path)
    return lines[line - 1] if lines and 1 <= line <= len(lines) else ""
