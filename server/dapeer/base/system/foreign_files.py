"""Files that others wrote: only regular ones are read, and no question about one raises or waits.

A named pipe would block the thread that opens it for ever, a device has no end, and a folder that the user may not
enter makes pathlib's questions raise. The paths are anybody's: arguments, a project's files, what adapters name.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

MAX_READ_BYTES: Final = 64 << 20
"""More of a file is not read at once; a configuration of this size is none."""
_FOLDER: Final = "is a directory"
_OTHER_KINDS: Final = (
    (stat.S_ISDIR, _FOLDER),
    (stat.S_ISFIFO, "is a named pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


_NO_PATH: Final = "is no path: it holds a NUL, or half of a surrogate pair"


class NotRegularFile(OSError):
    """There is something at the path, but no file with text or data in it; `strerror` says what there is."""


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a regular file at a path that the user can reach; links are followed."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a folder at a path that the user can reach; links are followed."""
    return os.path.isdir(path)


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether there is anything at a path that the user can reach; a broken link is not."""
    return os.path.exists(path)


def matching(folder: str | os.PathLike[str], pattern: str) -> Iterator[Path]:
    """Yield the paths in `folder` that match a glob pattern (`**` included), hidden ones too, unsorted.

    Unlike `Path.glob` it does not fail where files are removed meanwhile; a folder that cannot be read has none.
    """
    found = glob.iglob(pattern, root_dir=folder, recursive=True, include_hidden=True)
    return (Path(folder, name) for name in found)


def why_no_file(path: str | os.PathLike[str]) -> str:
    """Return why a path is no regular file (`does not exist`), to stand behind its name; else empty."""
    return _kind(path)


def why_no_folder(path: str | os.PathLike[str]) -> str:
    """Return why a path is no folder (`does not exist`), to stand behind its name; empty if it is one."""
    kind = _kind(path)
    return "" if kind == _FOLDER else kind or "is not a directory"


def _kind(path: str | os.PathLike[str]) -> str:
    """Return what is at a path (`is a directory`), or why it cannot be found; empty for a regular file."""
    try:
        return _kind_of(os.stat(path).st_mode)
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be reached: {error.strerror}"
    except ValueError:
        return _NO_PATH


def why_to_wait(path: str | os.PathLike[str]) -> str:
    """Return why opening a path may block for ever (`is a named pipe`), to stand behind its name; or "".

    It is empty for a file, for a folder, and where nothing is.
    """
    kind = _kind(path)
    return kind if kind.startswith("is a ") and kind != _FOLDER else ""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading bytes, and return it; the caller closes it.

    It never waits, as opening a pipe may: what is no regular file is not opened. If something else takes the
    file's place while this runs, that is opened without waiting, and closed at once.

    Raises:
        OSError: The file is not there, or cannot be read.
        NotRegularFile: The path leads to something else, or has a null byte; a kind of `OSError`.
    """
    # Opening a device can already do something, so the kind is looked at before. It is looked at again
    # afterwards, and opened without waiting, since another file may have taken its place.
    try:
        _check(os.stat(path).st_mode, path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except ValueError as error:
        raise NotRegularFile(errno.EINVAL, _NO_PATH, os.fspath(path)) from error
    try:
        _check(os.fstat(descriptor).st_mode, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_READ_BYTES) -> bytes:
    """Return the first `max_bytes` of a regular file.

    Raises:
        OSError: It cannot be read, or is something else.
    """
    with open_file(path) as file:
        return file.read(max_bytes)


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a regular file, at most `MAX_READ_BYTES`, with U+FFFD for what is no UTF-8.

    Raises:
        OSError: It cannot be read, or is something else.
    """
    return read_bytes(path).decode("utf-8", "replace")


def read_member(path: str | os.PathLike[str], max_bytes: int = MAX_READ_BYTES) -> bytes:
    """Return the first `max_bytes` of a file in a zip archive, by a path such as `app.pyz/__main__.py`.

    Raises:
        OSError: There is no such archive or file in it, or it cannot be read.
    """
    archive = next((str(each) for each in Path(path).parents if exists(each)), "")
    name = os.path.relpath(path, archive or os.sep)
    try:
        with open_file(archive) as file, zipfile.ZipFile(file) as held, held.open(name) as member:
            return member.read(max_bytes)
    except OSError:
        raise
    # Of a damaged archive each way of compressing raises an error of its own.
    except Exception as error:
        raise NotRegularFile(errno.ENOENT, "does not exist", os.fspath(path)) from error


def _check(mode: int, path: str | os.PathLike[str]) -> None:
    """Check that a file's mode, from `stat`, is that of a regular file.

    Raises:
        NotRegularFile: It is something else.
    """
    if kind := _kind_of(mode):
        raise NotRegularFile(errno.EINVAL, kind, os.fspath(path))


def _kind_of(mode: int) -> str:
    """Return what the mode of a file, from `stat`, says it is (`is a socket`); empty for a regular file."""
    return next((kind for is_kind, kind in _OTHER_KINDS if is_kind(mode)), "")
