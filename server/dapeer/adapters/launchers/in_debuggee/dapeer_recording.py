"""Rows that outlive the program: in a file that is mapped into memory. Numbers are little-endian.

The file begins with a header of `HEADER` bytes: `FORM`, and from `NAMES` on lines that say what numbers in rows stand for. Chunks of
`CHUNK` bytes follow: 8 bytes tell which chunk it is, counted from 1 in the order in which they were begun (0: it is unused), then rows, then
zeros. A row never goes over into the next chunk. The first chunks stay; of the others the oldest is used again, and its rows count as dropped.

A row is a line of UTF-8 text, or, where all its values are plain, `HEAD`, 8 bytes for each value, and the time of `perf_counter` as a double,
whose last byte is never 0: so a row is complete. Its first byte is `PLAIN` and the number of its values; no line begins so.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

HEADER = 4 * 65536
"""Bytes; a multiple of what can be mapped on every system."""
NAMES = 64
"""Where the lines of the header begin: `c`, number, thread, task and caller; or `s`, number, point, and the letter of each value (`LETTERS`)."""
CHUNK = 1 << 20
CHUNKS = 63
"""With the header less than 64 MiB."""
FIRST = 8
"""Chunks that stay."""
MAGIC = b"dapeerR2"
FORM = struct.Struct("<8sIIIIddQQ")
"""Magic, process, bytes of the header, of a chunk, chunks, start in seconds since 1970, the same by `perf_counter`, rows dropped, and rows
that could not be kept."""
HEAD = "<IIQ"
"""Of a row of plain values: `PLAIN` + count + 256 * shape, number of thread, task and caller, and hit."""
PLAIN = 128
LETTERS = {int: "q", float: "d", bool: "?", type(None): "x"}
"""By the type of a value; a `?` is a whole number, an `x` has nothing in its 8 bytes."""
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
        self.contexts = [""]
        """By number: thread, task and caller, between tabs."""
        self._numbers: dict[str, int] = {}
        self._shapes: dict[str, int] = {}
        self._named = NAMES

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

    def numbered(self, context: str) -> int | str:
        """Return the number of a thread, task and caller; themselves where there is no room for more."""
        return self._numbers.get(context) or self._number(context)

    def _number(self, context: str) -> int | str:
        with self._lock:
            number = len(self.contexts)
            if context in self._numbers or not self._name(f"c\t{number}\t{context}\n"):
                return self._numbers.get(context) or context
            self.contexts.append(context)
            self._numbers[context] = number
            return number

    def told(self, context: int | str) -> str:
        """Return a thread, task and caller as text."""
        return context if isinstance(context, str) else self.contexts[context]

    def shape(self, point: int, letters: str) -> int:
        """Return the number of rows of a point with values of these types; 0: there is no room for it."""
        key = f"{point}\t{letters}"
        with self._lock:
            number = len(self._shapes) + 1
            if key not in self._shapes and self._name(f"s\t{number}\t{key}\n"):
                self._shapes[key] = number
            return self._shapes.get(key, 0)

    def _name(self, line: str) -> bool:
        """Write a line into the header; whether there is room for it."""
        text = line.encode()
        if self._named + len(text) >= HEADER:
            return False
        try:
            if not self.path:
                self.open()
        except OSError:
            return False
        self._header[self._named : self._named + len(text)] = text
        self._named += len(text)
        return True

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
            self.dropped += count(chunk[SERIAL.size :])
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
            self.zero / 1e9, self.dropped, self.lost,
        )  # fmt: skip


LINES = re.compile(rb"\n(?=[\x80-\xff\0]|\Z)")
"""The end of lines that follow each other."""
AHEAD = 64
"""Rows that are looked at before more are."""


def count(chunk: bytes) -> int:
    """Return how many rows there are."""
    rows = at = 0
    while at < len(chunk) and chunk[at]:
        if chunk[at] < PLAIN:
            lines = LINES.search(chunk, at)
            if lines is None:
                break
            rows += chunk.count(b"\n", at, lines.end())
            at = lines.end()
            continue
        size = struct.calcsize(HEAD) + 8 * (chunk[at] - PLAIN + 1)
        alike = leading(chunk[at : at + AHEAD * size : size])
        if alike == AHEAD:
            alike = leading(chunk[at::size])
        rows += alike
        at += alike * size
    return rows


def leading(text: bytes) -> int:
    """Return how many bytes at the beginning are as the first one."""
    return len(text) - len(text.lstrip(text[:1]))


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
