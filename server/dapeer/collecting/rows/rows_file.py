"""The file that a collector in the program has written its rows into. Pure.

`dapeer_debuggee/collecting/row_format.py` tells its form. It may be read while it is written, and after its program was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dapeer.collecting.rows.row_blocks import BlockPart, read_names, read_part
from dapeer.companions.python.dapeer_debuggee.collecting import row_format

MAX_FILE_BYTES = 1 << 27
"""Bytes; no collector writes so large a file."""


class FilePosition(NamedTuple):
    """Up to where a file was read: the number of a chunk, and bytes of it."""

    chunk: int
    bytes: int


START = FilePosition(0, 0)


@dataclass(frozen=True, slots=True)
class Written:
    """What a file tells."""

    parts: Sequence[BlockPart] = ()
    """The rows, oldest first."""
    place: FilePosition = START
    """Up to where it was read."""
    pid: int = 0
    started: float = 0.0
    """Seconds since 1970, from which its rows count."""
    dropped: int = 0
    """Rows whose room later ones have taken. Some of them may have been read before."""
    lost: int = 0
    """Rows that could not be written: too large, or the disk was full."""
    called: frozenset[tuple[int, str]] = frozenset()
    """Points and functions that were called, though their calls may not be over."""
    error: int = 0
    """The number of the system's error for which they could not; 0: it was none of the system's."""

    @property
    def text(self) -> str:
        """The rows that are lines of text, without those of plain values."""
        return "".join(each.text for each in self.parts)


def read(data: bytes | memoryview, after: FilePosition = START) -> Written:
    """Return what was written into a file after a position; nothing if `data` is no file of rows."""
    if len(data) < row_format.HEADER.size:
        return Written(place=after)
    magic, pid, begin, size, chunks, started, zero, dropped, lost, error = (
        row_format.HEADER.unpack_from(data)
    )
    if (
        magic != row_format.MAGIC
        or not row_format.SERIAL.size < size <= MAX_FILE_BYTES
        or chunks * size > MAX_FILE_BYTES
    ):
        return Written(place=after)
    starts = range(begin, min(begin + chunks * size, len(data) - row_format.SERIAL.size + 1), size)
    parts: list[BlockPart] = []
    place = after
    names = read_names(bytes(data[row_format.NAMES_OFFSET : min(begin, len(data))]), zero)
    for number, start in sorted(
        (row_format.SERIAL.unpack_from(data, each)[0], each) for each in starts
    ):
        if not number or number < after.chunk:
            continue
        known = after.bytes if number == after.chunk else 0
        part, end = read_part(
            bytes(data[start + row_format.SERIAL.size + known : start + size]), names
        )
        parts.append(part)
        place = FilePosition(number, known + end)
    return Written(parts, place, pid, started, dropped, lost, names.called, error)
