"""The form of a file of rows, which the program writes and dapeer's core reads.

Numbers are little-endian. The file begins with a header of `HEADER_BYTES` bytes: `HEADER`, and from `NAMES_OFFSET` on lines that say what numbers in rows stand for. Chunks of
`CHUNK_BYTES` bytes follow: 8 bytes tell which chunk it is, counted from 1 in the order in which they were begun (0: it is unused), then rows, then
zeros. A row never goes over into the next chunk. The first chunks stay; of the others the oldest is used again, and its rows count as dropped.

A row is a line of UTF-8 text, or, where all its values are plain, `HEAD`, 8 bytes for each value, and the time of `perf_counter` as a double,
whose last byte is never 0: so a row is complete. Its first byte is `PLAIN` and the number of its values; no line begins so.

Where a disk has no room for the header, there is an empty file instead, `<pid>.lost`: its time of access is the number of the error, and its
time of change how many rows are lost.
"""

from __future__ import annotations

import re
import struct

MAGIC = b"dapeerR3"
HEADER = struct.Struct("<8sIIIIddQQI")
"""The fields of the header.

Magic, process, bytes of the header, of a chunk, chunks, start in seconds since 1970, the same by `perf_counter`, rows
dropped, rows that could not be kept, and the number of the system's error for that; 0: it was none of the system's.
"""
HEADER_BYTES = 4 * 65536
"""Bytes; a multiple of what can be mapped on every system."""
LOST_OFFSET = 48
"""Where the header has the number of rows that could not be kept, as a `SERIAL`."""
NAMES_OFFSET = 72
"""Where the lines of the header begin: each a letter, and what follows it.

`c`: number, thread, task and caller; `b`: point, and a function that was called, though its calls are not over; `s`:
number, point, and the letter of each value (`LETTERS`).
"""
CHUNK_BYTES = 1 << 20
SERIAL = struct.Struct("<Q")
"""The number that a chunk begins with."""
HEAD = "<IIQ"
"""Begins a row of plain values.

`PLAIN` + count + 256 * shape; number of thread, task and caller; hit.
"""
HEAD_BYTES = struct.calcsize(HEAD)
PLAIN = 128
"""The first byte of such a row, without the number of its values."""
WIDTH = 8
"""Bytes of a plain value, and of the time at the end of the row."""
LETTERS = {int: "q", float: "d", bool: "?", type(None): "x"}
"""By the type of a plain value; a `?` is a whole number, an `x` has nothing in its 8 bytes."""
LINES = re.compile(rb"\n(?=[\x80-\xff\0]|\Z)|\0")
"""The end of text lines that follow each other: the next row is plain, or the chunk is over."""
ROWS_AHEAD = 64
"""Rows that are looked at before more are."""

CALL_COLUMNS = ("function", "depth", "took", "arguments", "result", "changed", "within")
"""The cells of a call, before those of expressions.

`took` is in seconds, without the time at stops; `arguments` and `changed` are `name=value` and `name: before → after`, between commas;
a `result` that begins with the mark of errors is what was raised; `within` is the number of the call around it, empty: none.
"""
LIFE_COLUMNS = ("file", "line", "changed")
"""The cells of a line of one call.

`changed` is a list in JSON: name, value before (empty: none), value now (the same: changed within).
"""
PLACE_COLUMNS = ("function", "file", "line")
"""The cells that tell a line; line 0: none of the function's, it was so when that began."""
WATCH_COLUMNS = (*PLACE_COLUMNS, "before", "after")
"""The cells of a change of what is watched: the line that did it, and the value before and after."""
LOOK_COLUMNS = (*PLACE_COLUMNS, "value")
"""The cells of a row about the watching.

A function, and what the expression was there first, or its error.
"""


def row_bytes(values: int) -> int:
    """Return the bytes of a plain row of so many values."""
    return HEAD_BYTES + WIDTH * (values + 1)


def count_alike(chunk: bytes, index: int) -> int:
    """Return how many plain rows begin with the same byte, one after the other from `index` in a chunk.

    The last one may not be whole.
    """
    size = row_bytes(chunk[index] - PLAIN)
    alike = _count_repeated(chunk[index : index + ROWS_AHEAD * size : size])
    return _count_repeated(chunk[index::size]) if alike == ROWS_AHEAD else alike


def _count_repeated(first_bytes: bytes) -> int:
    """Return how many bytes at the beginning are as the first one."""
    return len(first_bytes) - len(first_bytes.lstrip(first_bytes[:1]))
