"""Rows that outlive the program: lines of text in a file that is mapped into memory.

The file begins with a header of `HEADER` bytes (`FORM`). Chunks of `CHUNK` bytes follow: 8 bytes tell which chunk it is, counted
from 1 in the order in which they were begun (little-endian; 0: it is unused), then lines of UTF-8 text, then zeros. A line
never goes over into the next chunk. The first chunks stay; of the others the oldest is used again, and its rows count as dropped.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

HEADER = 65536
"""Bytes; a multiple of what can be mapped on every system."""
CHUNK = 1 << 20
CHUNKS = 63
"""With the header less than 64 MiB."""
FIRST = 8
"""Chunks that stay."""
MAGIC = b"dapeerR1"
FORM = struct.Struct("<8sIIIIdQQ")
"""Magic, process, bytes of the header, of a chunk, chunks, start in seconds since 1970, rows dropped, and rows that could not be kept."""
SERIAL = struct.Struct("<Q")
ROOM = CHUNK // 4
"""Bytes of a row; a longer one is not kept."""


class Rows:
    """One process's file of rows. `write` takes a line; it is one call in C, so threads need no lock for it."""

    def __init__(self, folder: str, chunks: int = CHUNKS) -> None:
        """Take the folder, and how many chunks there may be. The file is made by `open`, or for the first row."""
        self.folder = folder
        self.chunks = max(chunks, FIRST + 2)
        self.begin()

    def begin(self) -> None:
        """Have no file yet: at first, and in a process that was forked from the one that has it."""
        self.path = ""
        self.dropped = 0
        self.lost = 0
        self.write: Callable[[bytes], Any] = self._none
        self._lock = threading.Lock()
        self._serial = 0
        self._file = -1
        self._header: Any = None
        self._started = time.time()
        self.zero = time.perf_counter_ns()

    def open(self) -> None:
        """Make the file.

        Raises:
            OSError: It cannot be made.
        """
        self.path, self._file = made(self.folder)
        self._header = self._mapped(0, HEADER)
        self._tell()

    def kept(self, line: bytes) -> None:
        """Write a line for which the chunk has no room: into the next one, where there is one."""
        with self._lock:
            if len(line) <= ROOM:
                try:
                    self.write(line)
                except ValueError:
                    pass
                else:
                    return
                if self._next():
                    self.write(line)
                    return
            self.lost += 1
            self._tell()

    def now(self) -> str:
        """Return the time, as rows tell it: seconds since the file was made."""
        return f"{time.perf_counter_ns() - self.zero}e-9"

    def lose(self) -> None:
        """Count a row that could not be made."""
        with self._lock:
            self.lost += 1
            self._tell()

    def close(self) -> None:
        """Write no more; what is written stays."""
        self.write = self._ignored
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _ignored(self, line: bytes) -> None:
        """Stand for a chunk when nothing is collected any more."""

    def _none(self, _line: bytes) -> None:
        """Stand for a chunk without room."""
        raise ValueError

    def _next(self) -> bool:
        """Begin the next chunk; whether there is one."""
        place = self._serial
        if place >= self.chunks:
            place = FIRST + (place - FIRST) % (self.chunks - FIRST)
        try:
            if self._header is None:
                self.open()
            chunk = self._mapped(HEADER + place * CHUNK, CHUNK)
        except OSError:
            # The disk is full. What was never reserved must not be written: that would kill the program.
            return False
        if self._serial >= self.chunks:
            self.dropped += chunk[SERIAL.size :].count(b"\n")
            chunk[:] = bytes(CHUNK)
        self._serial += 1
        SERIAL.pack_into(chunk, 0, self._serial)
        chunk.seek(SERIAL.size)
        self.write = chunk.write
        self._tell()
        return True

    def _mapped(self, start: int, size: int) -> Any:
        """Return a part of the file in memory, room for which there is.

        Raises:
            OSError: There is none.
        """
        reserve = getattr(os, "posix_fallocate", None)
        if reserve is not None:
            reserve(self._file, start, size)
        elif os.fstat(self._file).st_size < start + size:
            os.lseek(self._file, start, os.SEEK_SET)
            os.write(self._file, bytes(size))
        return mmap.mmap(self._file, size, offset=start)

    def _tell(self) -> None:
        """Write the header."""
        if self._header is None:
            return
        FORM.pack_into(
            self._header, 0, MAGIC, os.getpid(), HEADER, CHUNK, self.chunks, self._started,
            self.dropped, self.lost,
        )  # fmt: skip


def made(folder: str) -> tuple[str, int]:
    """Return path and descriptor of a new file of this process; one that it had before another program took its place stays."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    number = 0
    while True:
        name = f"{os.getpid()}-{number}.rows" if number else f"{os.getpid()}.rows"
        path = os.path.join(folder, name)
        try:
            return path, os.open(path, flags, 0o600)
        except FileExistsError:
            number += 1
