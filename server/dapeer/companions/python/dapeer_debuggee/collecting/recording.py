"""Rows that outlive the program, in a file that is mapped into memory.

`row_format` tells its form. Once something could not be written, nothing is tried for `PAUSE_SECONDS`.
"""

from __future__ import annotations

import _thread
import contextlib
import mmap
import os
import time
from collections.abc import Callable
from typing import Any

from . import row_format

# Files that are mapped into memory, so that what is written outlives the program.


def create_rows_file(folder: str) -> tuple[str, int]:
    """Create a new file of rows for this process in a folder; return its path and descriptor.

    The descriptor is for reading and writing; the caller closes it. A file that is there, such as the one that
    the process had before an `exec`, stays: the new one has a number in its name.

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


def map_file(file: int, start: int, size: int) -> Any:
    """Map `size` bytes of a file from `start` on into memory, and return the `mmap`.

    `file` is its descriptor, open for reading and writing; `start` is a multiple of the system's granularity.
    The file grows if it ends before. The room is reserved on the disk, so that writing into the memory cannot
    fail. Where the system lacks `posix_fallocate`, a file that ends too early is filled with zeros from `start`
    on, also over what it had there.

    Raises:
        OSError: There is no room, or the file cannot be enlarged or mapped.
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


CHUNKS = 63
"""With the header less than 64 MiB."""
FIRST_CHUNKS = 8
"""Chunks that stay."""
PAUSE_SECONDS = 1.0
REPORTED_AFTER_ROWS = 64
"""Rows that are lost before the header tells it, after the first ones."""
ROOM = row_format.CHUNK_BYTES // 4
"""Bytes of a row; a longer one is not kept."""


class Rows:
    """One process's file of rows; `write` takes a line by one call in C, so threads need no lock.

    `write` raises ValueError where the line does not fit: then `write_to_next_chunk` writes it.
    """

    def __init__(self, folder: str, chunks: int = CHUNKS) -> None:
        """Create it.

        The file is made by `open`, or for the first row, in `folder`, with `chunks` chunks at most.
        """
        self.folder = folder
        self.chunks = max(chunks, FIRST_CHUNKS + 2)
        self.begin()

    def begin(self) -> None:
        """Reset this object to no file: at first, and in a process that was forked from the one that has it.

        Nothing is closed. The next row, or `open`, makes a new file; its times count from now.
        """
        self.path = ""
        self.dropped = 0
        self.lost = 0
        self.write: Callable[[bytes], Any] = self._refuse_without_chunk
        self.error = 0
        """The number of the system's last error; 0: none."""
        # A signal handler of the program's may come by a point while this thread has it.
        self._lock = _thread.RLock()
        self._retry_time = 0.0
        """Until when nothing is tried, by `perf_counter`."""
        self._lost_file = ""
        self._serial = 0
        self._file = -1
        self._header: Any = None
        self._start_time = time.time()
        self.start_ns = time.perf_counter_ns()
        self.contexts = [""]
        """By number: thread, task and caller, between tabs."""
        self._numbers: dict[str, int] = {}
        self._shape_numbers: dict[str, int] = {}
        self._names_end = row_format.NAMES_OFFSET

    def open(self) -> str:
        """Make the file, or one that tells how many rows are lost; return why neither can be made.

        It is empty if one of them is there. A file that exists already stays.
        """
        with self._lock:
            return "" if self._ensure_open() or self._lost_file else os.strerror(self.error)

    def _ensure_open(self) -> bool:
        """Return whether there is a file of rows, and make it if not; after a failure not for `PAUSE_SECONDS`.

        A new file is mapped, its header is written, and the `PID.lost` file of an earlier failure is removed.
        False: no file can be made now. If that was tried, the error is remembered and lines are counted as lost,
        as `_fail` says; nothing is tried during the pause.
        """
        if self._header is not None:
            return True
        if time.perf_counter() < self._retry_time:
            return False
        path, file = "", -1
        try:
            path, file = create_rows_file(self.folder)
            self._header = map_file(file, 0, row_format.HEADER_BYTES)
        except OSError as error:
            remove_file(path, file)
            self._fail(error)
            return False
        self.path, self._file = path, file
        remove_file(self._lost_file)
        self._write_header()
        return True

    def _fail(self, error: OSError) -> None:
        """Remember an error of writing, and have `write` count lines as lost for `PAUSE_SECONDS`.

        After that time `write` raises ValueError, for a new attempt. The error's number and the count of lost
        lines are written into the header of the file of rows; without that file, they become the times of
        `PID.lost`, which is made if it can be.
        """
        self.error = error.errno or 0
        self.write = self._count_lost
        self._retry_time = time.perf_counter() + PAUSE_SECONDS
        with contextlib.suppress(OSError):
            if self._header is None and not self._lost_file:
                path = os.path.join(self.folder, f"{os.getpid()}.lost")
                with open(path, "wb"):
                    self._lost_file = path
        self._write_header()

    def write_to_next_chunk(self, line: bytes) -> None:
        """Write a line that `write` had no room for, there or into a new chunk, or count it as lost.

        Callers call this when `write` has raised `ValueError`. `write` is tried again since another thread may
        have begun a chunk. The line is lost if no further chunk can be begun, or if it has more than `ROOM`
        bytes; nothing is raised then.
        """
        with self._lock:
            if len(line) <= ROOM:
                try:
                    self.write(line)
                except ValueError:
                    pass
                else:
                    return
                if self._begin_next_chunk():
                    self.write(line)
                    return
            self.count_lost_row()

    def numbered(self, context: str) -> int | str:
        """Return the number of a context (thread, task and caller, as text), which is in the header.

        If the header has no room for it, the text itself is returned.
        """
        return self._numbers.get(context) or self._number(context)

    def _number(self, context: str) -> int | str:
        """Give a context a number in the header of the file of rows; return that number, or the context.

        `context` is the text of thread, task and caller. A context that has a number already keeps it. The first
        number is 1. The context itself is returned, and gets no number, if the header has no room for it, or no
        file of rows can be made; the file is made if there is none.
        """
        with self._lock:
            number = len(self.contexts)
            if context in self._numbers or not self._append_to_header(f"c\t{number}\t{context}\n"):
                return self._numbers.get(context) or context
            self.contexts.append(context)
            self._numbers[context] = number
            return number

    def context_text(self, context: int | str) -> str:
        """Return a context as text; `context` is its number, or already the text."""
        return context if isinstance(context, str) else self.contexts[context]

    def shape(self, point: int, letters: str) -> int:
        """Return the number of a shape (a point and the types of its values); 0: the shape gets no number.

        A new shape gets the next number, from 1 on, which is written into the header of the file; the file is made if
        there is none. 0 means that the header has no room, or that no file can be made now: the caller then has to
        write rows of this shape as text. `point` is the point's id, and `letters` has one of `row_format.LETTERS` for
        each value.
        """
        key = f"{point}\t{letters}"
        with self._lock:
            number = len(self._shape_numbers) + 1
            if key not in self._shape_numbers and self._append_to_header(f"s\t{number}\t{key}\n"):
                self._shape_numbers[key] = number
            return self._shape_numbers.get(key, 0)

    def function_called(self, point: int, function: str) -> None:
        """Write into the header that a function of a point was called, whether a call of it ends or not."""
        with self._lock:
            self._append_to_header(f"b\t{point}\t{function}\n")

    def _append_to_header(self, line: str) -> bool:
        """Append a line to the header's list of names; return False if that is impossible.

        `line` has its own line end. The result is False if the header has no room for the line, or no file can
        be made; then nothing is appended. The file is made if there is none.
        """
        text = line.encode()
        if self._names_end + len(text) >= row_format.HEADER_BYTES or not self._ensure_open():
            return False
        self._header[self._names_end : self._names_end + len(text)] = text
        self._names_end += len(text)
        return True

    def now(self) -> str:
        """Return the seconds since the file was begun, as text for a row."""
        return f"{time.perf_counter_ns() - self.start_ns}e-9"

    def count_lost_row(self) -> None:
        """Count a row that could not be made or written, and write the count into the header.

        Without a file of rows, the count becomes the modification time of the `.lost` file instead, if there is
        one: at each of the first `REPORTED_AFTER_ROWS` lost rows, and then at each `REPORTED_AFTER_ROWS`th. An
        error of the system is ignored there.
        """
        with self._lock:
            self.lost += 1
            if self._header is not None:
                row_format.SERIAL.pack_into(self._header, row_format.LOST_OFFSET, self.lost)
            elif self.lost < REPORTED_AFTER_ROWS or not self.lost % REPORTED_AFTER_ROWS:
                self._write_header()

    def close(self) -> None:
        """Write no more; what is written stays."""
        self.report_lost()
        self.write = self._drop_line
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _drop_line(self, line: bytes) -> None:
        """Drop a line: it is `write` when nothing is collected any more."""

    def _refuse_without_chunk(self, _line: bytes) -> None:
        """Raise ValueError: it is `write` where there is no chunk with room."""
        raise ValueError

    def _count_lost(self, _line: bytes) -> None:
        """Count a line as lost: it is `write` after a failure.

        After a while it raises ValueError instead, so that writing is tried again.
        """
        if time.perf_counter() >= self._retry_time:
            raise ValueError
        self.count_lost_row()

    def _begin_next_chunk(self) -> bool:
        """Begin the next chunk of the file of rows, and have `write` write to it; return False if that fails.

        Once all chunks are used, the oldest is used again, but never one of the first `FIRST_CHUNKS`; the rows in it are
        counted in `dropped`. It fails if the file cannot be made or the disk is full: the error is remembered, and `write`
        counts lines as lost for `PAUSE_SECONDS`.
        """
        place = self._serial
        if place >= self.chunks:
            place = FIRST_CHUNKS + (place - FIRST_CHUNKS) % (self.chunks - FIRST_CHUNKS)
        if not self._ensure_open():
            return False
        try:
            chunk = map_file(
                self._file,
                row_format.HEADER_BYTES + place * row_format.CHUNK_BYTES,
                row_format.CHUNK_BYTES,
            )
        except OSError as error:
            # The disk is full. What was never reserved must not be written: that would kill the program.
            self._fail(error)
            return False
        if self._serial >= self.chunks:
            self.dropped += count(chunk[row_format.SERIAL.size :])
            chunk[:] = bytes(row_format.CHUNK_BYTES)
        self._serial += 1
        row_format.SERIAL.pack_into(chunk, 0, self._serial)
        chunk.seek(row_format.SERIAL.size)
        self.write = chunk.write
        self._write_header()
        return True

    def report_lost(self) -> None:
        """Write the number of rows that are lost up to now into the header, or the file in its place."""
        with self._lock:
            self._write_header()

    def _write_header(self) -> None:
        """Write the header's numbers, such as the counts of chunks and of lost rows, into the file of rows.

        Without that file, the times of the `.lost` file are set, if there is one: its access time is the number of
        the last system error, its modification time the count of lost rows. An error of the system is ignored
        there.
        """
        if self._header is not None:
            row_format.HEADER.pack_into(
                self._header, 0, row_format.MAGIC, os.getpid(), row_format.HEADER_BYTES, row_format.CHUNK_BYTES, self.chunks, self._start_time,
                self.start_ns / 1e9, self.dropped, self.lost, self.error,
            )  # fmt: skip
        elif self._lost_file:
            with contextlib.suppress(OSError):
                os.utime(self._lost_file, (self.error, self.lost))


def count(chunk: bytes) -> int:
    """Return how many rows are in a chunk, which is given without its serial number.

    `chunk` has rows of both forms, and then zeros. A line without an end is not counted.
    """
    rows = at = 0
    while at < len(chunk) and chunk[at]:
        if chunk[at] < row_format.PLAIN:
            lines = row_format.LINES.search(chunk, at)
            if lines is None:
                break
            rows += chunk.count(b"\n", at, lines.end())
            at = lines.end()
            continue
        alike = row_format.count_alike(chunk, at)
        rows += alike
        at += alike * row_format.row_bytes(chunk[at] - row_format.PLAIN)
    return rows
