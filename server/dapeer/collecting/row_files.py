"""The files into which a program's processes write their rows: where they are, and their new rows."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import anyio

from dapeer.base.system.threads import in_thread
from dapeer.collecting.rows.collected import TRACER, Collected
from dapeer.collecting.rows.row_blocks import START, FilePosition, RowFileContents, read_row_file


class RowFiles:
    """The files into which the processes of one program write the rows that they collect."""

    def __init__(self, folder: Path, collected: Collected) -> None:
        """Read nothing yet; the rows of the files in `folder` go to `collected`."""
        self.folder = folder
        self._collected = collected
        self._positions: dict[Path, FilePosition] = {}
        self._read_lock = anyio.Lock(fast_acquire=True)

    async def read(self) -> None:
        """Read what the program's processes have written since the last call, and add the rows to `collected`.

        The files are read in a thread; two calls do not overlap.
        """
        async with self._read_lock:
            await in_thread(self._read_new_rows)

    def _read_new_rows(self) -> None:
        """Read what is new in all files of the folder, and add rows, losses and calls to `collected`.

        Files `*.rows` have rows, each read on from where the last call ended; files `*.lost` only count lost
        ones. A file that cannot be read, is empty or damaged is passed over. It blocks.
        """
        # A process writes a file more for each program that takes the place of its first one.
        for path in sorted(
            self.folder.glob("*.rows"), key=lambda path: (len(path.stem), path.stem)
        ):
            for written in _new_contents(path, self._positions.get(path, START)):
                self._positions[path] = written.place
                for part in written.parts:
                    self._collected.add_part(written.pid, part, TRACER, written.started)
                self._collected.record_lost_rows(
                    written.pid, written.lost_rows, _reason(written.error)
                )
                self._collected.note_calls(written.pid, written.called, written.dropped)
        for path in self.folder.glob("*.lost"):
            self._record_lost_rows(path)

    def _record_lost_rows(self, path: Path) -> None:
        """Record how many rows a process without a file of rows has lost (format: `dapeer_recording`).

        The numbers stand in the file's times. A file that is gone or spoilt is ignored.
        """
        # A process may remove or spoil what it has written, and removes it once there is room for rows.
        with contextlib.suppress(OSError, ValueError):
            of = path.stat()
            self._collected.record_lost_rows(
                int(path.stem), int(of.st_mtime), _reason(int(of.st_atime))
            )


def _reason(error: int) -> str:
    """Return the text of a system error; empty for 0."""
    return os.strerror(error) if error else ""


def _new_contents(path: Path, after: FilePosition) -> Iterator[RowFileContents]:
    """Yield what a file of rows has behind the position `after`, as one object; nothing if reading fails.

    Reading fails if the file is gone or empty, or cannot be read. The object comes also if no row is new. For a
    file that does not begin as a file of rows, the object has no rows, the process id 0, and `after` as its
    `place`.
    """
    # A process may remove or spoil what it has written.
    with (
        contextlib.suppress(OSError, ValueError),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as seen,
    ):
        yield read_row_file(seen, after)


class FolderReaper(Protocol):
    """Makes folders, and removes them should dapeer be killed."""

    def temporary_folder(self) -> AbstractContextManager[Path]:
        """Make a folder that is removed after the body, or when dapeer dies."""
        ...


class RowFolders:
    """Makes a folder for each program that collects by itself; the folders last as long as the server."""

    def __init__(self, reaper: FolderReaper) -> None:
        self._reaper = reaper
        self._stack = contextlib.ExitStack()

    def create_files(self, collected: Collected) -> RowFiles:
        """Make a temporary folder for a new program, and return its files.

        The reaper removes it if dapeer is killed.
        """
        return RowFiles(self._stack.enter_context(self._reaper.temporary_folder()), collected)

    def close(self) -> None:
        """Remove all folders that were made."""
        self._stack.close()
