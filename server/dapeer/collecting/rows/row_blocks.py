"""A chunk of a file of rows: lines of text, and between them rows of plain values, 8 bytes each. Pure.

`dapeer_debuggee/collecting/row_format.py` tells their form.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Literal, NamedTuple

from dapeer.collecting.rows.table import Cells, NumberColumn, Table
from dapeer.companions.python.dapeer_debuggee.collecting import row_format

_LETTERS = frozenset(row_format.LETTERS.values())
_NUMBER = re.compile(r"[0-9]{1,15}").fullmatch


class Shape(NamedTuple):
    """What rows of plain values are like."""

    point: int
    letters: str
    """The type of each value."""


NOBODY = ("", "", "")
"""Thread, task and caller that nobody has named."""


@dataclass(frozen=True, slots=True)
class NumberedNames:
    """What numbers in rows stand for."""

    start_time: float = 0.0
    """The time from which rows count."""
    shapes: Mapping[int, Shape] = field(default_factory=dict[int, Shape])
    contexts: Mapping[int, tuple[str, str, str]] = field(
        default_factory=dict[int, tuple[str, str, str]]
    )
    """Thread, task and caller."""
    called: frozenset[tuple[int, str]] = frozenset()
    """Points and functions that were called."""


@dataclass(frozen=True, slots=True)
class BlockPart:
    """Rows that follow each other."""

    text: str = ""
    """Those that are lines."""
    order: Sequence[int] = ()
    """The number of each line among the rows of the part."""
    tables: Sequence[tuple[int, Table]] = ()
    """Those of plain values, by point; a point may have several."""
    count: int = 0
    """How many rows there are."""

    @classmethod
    def of_text(cls, text: str) -> BlockPart:
        """Return a part whose rows are all lines of `text`."""
        count = text.count("\n") + (text[-1:] not in {"", "\n"})
        return cls(text, range(count), (), count)


@dataclass(slots=True)
class _ChunkRows:
    """Rows of a chunk, as bytes."""

    lines: list[bytes] = field(default_factory=list[bytes])
    order: list[int] = field(default_factory=list[int])
    plain: dict[int, list[bytes]] = field(default_factory=dict[int, list[bytes]])
    """By their first byte rows of plain values."""
    numbers: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """By their first byte the number of each among the rows of the chunk."""
    count: int = 0
    end: int = 0

    def add_rows(self, part: bytes, rows: int) -> None:
        """Add the bytes of `rows` rows of one kind that follow each other, and number them.

        `part` must not be empty. Its first byte tells the kind: below `row_format.PLAIN` lines of text, else rows of
        plain values, all with the same number of these. The numbers go on from `count`, which grows by `rows`; `end`
        grows by the length of `part`.
        """
        order = range(self.count, self.count + rows)
        if part[0] < row_format.PLAIN:
            self.lines.append(part)
            self.order += order
        else:
            self.plain.setdefault(part[0], []).append(part)
            self.numbers.setdefault(part[0], []).extend(order)
        self.count += rows
        self.end += len(part)


def read_part(chunk: bytes, names: NumberedNames) -> tuple[BlockPart, int]:
    """Return the complete rows of a chunk, and how many bytes they take.

    They end at a zero byte, which is not counted, or at the chunk's end; an incomplete one is left for later. `names` has what the numbers
    in the rows stand for. Rows of plain values whose shape it does not have, or that do not fit it, are dropped, though counted in the
    bytes and in `count`. Undecodable bytes of lines are replaced; nothing is raised.
    """
    found = _ChunkRows()
    while found.end < len(chunk) and chunk[found.end]:
        rows = (
            _lines(chunk, found.end)
            if chunk[found.end] < row_format.PLAIN
            else _plain(chunk, found.end)
        )
        if not rows[1]:
            break
        found.add_rows(*rows)
    tables = [
        table
        for first, parts in found.plain.items()
        for table in _tables(b"".join(parts), first - row_format.PLAIN, found.numbers[first], names)
    ]
    text = b"".join(found.lines).decode("utf-8", "replace")
    return BlockPart(text, found.order, tables, found.count), found.end


def _lines(chunk: bytes, index: int) -> tuple[bytes, int]:
    """Return the bytes of the complete lines that follow each other from `index` on, and their number."""
    end = row_format.LINES.search(chunk, index)
    last = len(chunk) if end is None else end.end()
    part = chunk[index : chunk.rfind(b"\n", index, last) + 1]
    return part, part.count(b"\n")


def _plain(chunk: bytes, index: int) -> tuple[bytes, int]:
    """Return the bytes of complete rows with as many plain values from `index` on, and their number."""
    size = row_format.row_bytes(chunk[index] - row_format.PLAIN)
    rows = row_format.count_alike(chunk, index)
    while rows and (index + rows * size > len(chunk) or not chunk[index + rows * size - 1]):
        rows -= 1
    return chunk[index : index + rows * size], rows


def _tables(
    rows: bytes, count: int, order: Sequence[int], names: NumberedNames
) -> Iterator[tuple[int, Table]]:
    """Yield point and table of rows that have `count` values each; rows of an unknown shape are dropped.

    A point is a place that collects, here its number; one pair is yielded for each shape among the rows, so a
    point may come several times. Rows whose shape has another number of letters than `count` are dropped, too.
    `rows` are the rows' bytes, one behind the other. `order` has the number of each row in the chunk, `names`
    the shapes by their numbers.
    """
    size = row_format.row_bytes(count)
    heads = _column(rows, "I", 0, size)
    known = _different(heads)
    for head in known:
        shape = names.shapes.get(head // 256)
        if shape is None or len(shape.letters) != count:
            continue
        if len(known) == 1:
            yield shape.point, _table(rows, shape.letters, order, names)
            continue
        chosen = [each == head for each in heads]
        parts = (
            rows[start : start + size] for start in compress(range(0, len(rows), size), chosen)
        )
        of = list(compress(order, chosen))
        yield shape.point, _table(b"".join(parts), shape.letters, of, names)


def _table(rows: bytes, type_codes: str, order: Sequence[int], names: NumberedNames) -> Table:
    """Return rows of one shape as a table.

    `rows` are the rows' bytes, one behind the other. `type_codes` has, for each value of a row, the letter of its
    type in `row_format.LETTERS`. `order` has the number of each row in the chunk. `names` has the time from which
    rows count their seconds, and the threads, tasks and callers that numbers stand for.
    """
    size = row_format.row_bytes(len(type_codes))
    contexts = _column(rows, "I", 4, size)
    zero = names.start_time
    times = [each - zero for each in _column(rows, "d", size - row_format.WIDTH, size)]
    return Table(
        len(type_codes),
        NumberColumn(_column(rows, "q", row_format.WIDTH, size)),
        NumberColumn(array("d", times)),
        *_contexts_of(contexts, names),
        [_cells(rows, each, row_format.WIDTH * (2 + n), size) for n, each in enumerate(type_codes)],
        [*order],
    )


def _contexts_of(
    contexts: array[int], names: NumberedNames
) -> tuple[list[str], list[str], list[str]]:
    """Return the threads, tasks and callers of rows as three lists, by the numbers of their contexts.

    A context is a combination of these. `contexts` has the number of each row's context, and must not be empty; `names` has them by number.
    One that is not there gives `NOBODY`.
    """
    of = {each: names.contexts.get(each, NOBODY) for each in _different(contexts)}
    if len(of) == 1:
        thread, task, caller = of[contexts[0]]
        count = len(contexts)
        return [thread] * count, [task] * count, [caller] * count
    threads, tasks, callers = zip(*map(of.__getitem__, contexts), strict=True)
    return [*threads], [*tasks], [*callers]


def _different(column: array[int]) -> Sequence[int]:
    """Return the different numbers of a column, in the order in which they come; mostly it is one."""
    if column.tobytes() == column[:1].tobytes() * len(column):
        return column[:1]
    return [*dict.fromkeys(column)]


def _cells(rows: bytes, type_code: str, start: int, size: int) -> Cells:
    """Return the texts of the values at one place of each row, in the order of the rows.

    `rows` are rows of `size` bytes behind each other, `start` is the value's first byte in a row; both are
    multiples of 8. `type_code` is the letter of its type in `row_format.LETTERS`. Numbers (`q`, `d`) become
    a `NumberColumn`, which gives each as a text when it is read; other values a list of `True`, `False` or
    `None` as texts.
    """
    if type_code == "d":
        return NumberColumn(_column(rows, "d", start, size))
    if type_code == "x":
        return ["None"] * (len(rows) // size)
    whole = _column(rows, "q", start, size)
    return (
        NumberColumn(whole) if type_code == "q" else ["True" if each else "False" for each in whole]
    )


def _column(rows: bytes, kind: Literal["I", "q", "d"], start: int, size: int) -> array[Any]:
    """Return the numbers at one place of each row; `kind` is a type code of `array`.

    `rows` are rows of `size` bytes behind each other, with little-endian numbers. `start` is the number's place in a row, in bytes;
    it and `size` are multiples of the number's width.
    """
    column: array[Any] = array(kind)
    width = column.itemsize
    column.frombytes(memoryview(rows).cast(kind)[start // width :: size // width].tobytes())
    if sys.byteorder == "big":
        column.byteswap()
    return column


def read_names(text: bytes, start_time: float) -> NumberedNames:
    """Return what the lines of a file's header say, up to a zero byte; a line of another form is ignored.

    The fields of a line stand between tabs: `s`, number, point and letters of a shape; `c`, number, thread,
    task and caller of a context; `b`, point and function of a call that has begun. A point is given by its
    number. A last line without a line end is ignored, too. `start_time` is the time from which rows count; it
    is only passed on, as the result's `start_time`.
    """
    shapes, contexts = dict[int, Shape](), dict[int, tuple[str, str, str]]()
    opened: set[tuple[int, str]] = set()
    for line in text.partition(b"\0")[0].decode("utf-8", "replace").split("\n")[:-1]:
        match line.split("\t"):
            case ["s", number, point, letters] if (
                _NUMBER(number) and _NUMBER(point) and _LETTERS.issuperset(letters)
            ):
                shapes[int(number)] = Shape(int(point), letters)
            case ["b", point, function] if _NUMBER(point):
                opened.add((int(point), function))
            case ["c", number, thread, task, caller] if _NUMBER(number):
                contexts[int(number)] = thread, task, caller
            case _:
                pass
    return NumberedNames(start_time, shapes, contexts, frozenset(opened))


# The file that a collector in the program has written its rows into. Pure.
#
# `dapeer_debuggee/collecting/row_format.py` tells its form. It may be read while it is written, and after its program was killed.


MAX_FILE_BYTES = 1 << 27
"""Bytes; no collector writes so large a file."""


class FilePosition(NamedTuple):
    """Up to where a file was read: the number of a chunk, and bytes of it."""

    chunk: int
    bytes: int


START = FilePosition(0, 0)


@dataclass(frozen=True, slots=True)
class RowFileContents:
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
    lost_rows: int = 0
    """Rows that could not be written: too large, or the disk was full."""
    called: frozenset[tuple[int, str]] = frozenset()
    """Points and functions that were called, though their calls may not be over."""
    error: int = 0
    """The number of the system's error for which they could not; 0: it was none of the system's."""

    @property
    def text(self) -> str:
        """The rows that are lines of text, without those of plain values."""
        return "".join(each.text for each in self.parts)


def read_row_file(data: bytes | memoryview, after: FilePosition = START) -> RowFileContents:
    """Return what was written into a file of rows after a position, and up to where it was read.

    There is a part for each chunk from that of `after` on, the oldest first, even without new rows. A row that is
    not complete yet is left for the next call, which gets the returned `place` as `after`. If `data` is no file
    of rows, there are no parts, all numbers are 0, and `place` is `after`. All other fields are those of the
    whole file.
    """
    if len(data) < row_format.HEADER.size:
        return RowFileContents(place=after)
    magic, pid, begin, size, chunks, started, zero, dropped, lost, error = (
        row_format.HEADER.unpack_from(data)
    )
    if (
        magic != row_format.MAGIC
        or not row_format.SERIAL.size < size <= MAX_FILE_BYTES
        or chunks * size > MAX_FILE_BYTES
    ):
        return RowFileContents(place=after)
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
    return RowFileContents(parts, place, pid, started, dropped, lost, names.called, error)
