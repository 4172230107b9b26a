"""The file that a collector in the program has written its rows into. Pure.

`in_debuggee/dapeer_recording.py` tells its form. It may be read while it is written, and after its program was killed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

MAGIC = b"dapeerR1"
HEADER = struct.Struct("<8sIIIIdQQ")
SERIAL = struct.Struct("<Q")
LARGEST = 1 << 27
"""Bytes; no collector writes so large a file."""


class Place(NamedTuple):
    """Up to where a file was read: the number of a chunk, and bytes of it."""

    chunk: int
    bytes: int


START = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Written:
    """What a file tells."""

    text: str = ""
    """The rows, each a line, oldest first."""
    place: Place = START
    """Up to where it was read."""
    pid: int = 0
    started: float = 0.0
    """Seconds since 1970, from which its rows count."""
    dropped: int = 0
    """Rows whose room later ones have taken. Some of them may have been read before."""
    lost: int = 0
    """Rows that could not be written: too large, or the disk was full."""


def read(data: bytes | memoryview, after: Place = START) -> Written:
    """Return what was written after a place of a file; nothing of what is no such file.

    Args:
        data: The file; only those parts are touched that are new.
        after: Up to where it was read before.
    """
    if len(data) < HEADER.size:
        return Written(place=after)
    magic, pid, begin, size, chunks, started, dropped, lost = HEADER.unpack_from(data)
    if magic != MAGIC or not SERIAL.size < size <= LARGEST or chunks * size > LARGEST:
        return Written(place=after)
    starts = range(begin, min(begin + chunks * size, len(data) - SERIAL.size + 1), size)
    parts: list[bytes] = []
    place = after
    for number, start in sorted((SERIAL.unpack_from(data, each)[0], each) for each in starts):
        if not number or number < after.chunk:
            continue
        known = after.bytes if number == after.chunk else 0
        part = _lines(bytes(data[start + SERIAL.size + known : start + size]))
        parts.append(part)
        place = Place(number, known + len(part))
    text = b"".join(parts).decode("utf-8", "replace")
    return Written(text, place, pid, started, dropped, lost)


def _lines(part: bytes) -> bytes:
    """Return what a part of a chunk holds; a line that is not complete is left for later."""
    end = part.find(b"\0")
    return part[: part.rfind(b"\n", 0, end if end >= 0 else None) + 1]
