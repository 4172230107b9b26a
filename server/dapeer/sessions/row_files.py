"""The files into which the processes of a program write their rows: where they are, and what is new in them."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread

from dapeer.adapters.process.reaper import Reaper
from dapeer.base.system.folders import held
from dapeer.mirror.collected import TRACER, Collected
from dapeer.mirror.rows_file import START, Place, Written, read


class RowFiles:
    """The files of one program."""

    def __init__(self, folder: Path, collected: Collected) -> None:
        self.folder = folder
        self._collected = collected
        self._read: dict[Path, Place] = {}
        self._reading = asyncio.Lock()

    async def read(self) -> None:
        """Take in what was written since the last time."""
        async with self._reading:
            await anyio.to_thread.run_sync(self._take)

    def _take(self) -> None:
        # A process writes a file more for each program that takes the place of its first one.
        for path in sorted(
            self.folder.glob("*.rows"), key=lambda path: (len(path.stem), path.stem)
        ):
            for written in _written(path, self._read.get(path, START)):
                self._read[path] = written.place
                for part in written.parts:
                    self._collected.take(written.pid, part, TRACER)
                self._collected.lost[written.pid] = written.lost
                self._collected.overwritten[written.pid] = written.dropped


def _written(path: Path, after: Place) -> Iterator[Written]:
    # A process may remove or spoil what it has written.
    with (
        contextlib.suppress(OSError, ValueError),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as seen,
    ):
        yield read(seen, after)


class RowFolders:
    """Makes a folder for each program that collects by itself; they last as long as the server."""

    def __init__(self, reaper: Reaper) -> None:
        self._reaper = reaper
        self._stack = contextlib.ExitStack()

    def made(self, collected: Collected) -> RowFiles:
        """Return the files of a new program."""
        folder = str(self._stack.enter_context(held()))
        self._reaper.watch_folder(folder)
        self._stack.callback(self._reaper.forget_folder, folder)
        return RowFiles(Path(folder), collected)

    def close(self) -> None:
        """Remove all."""
        self._stack.close()
