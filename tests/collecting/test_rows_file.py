"""Files of rows: what a collector writes is read, while it writes and after it was killed."""

import importlib
import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Protocol

from hypothesis import given, settings
from hypothesis import strategies as st

from dapeer.collecting.rows.collected import Collected
from dapeer.collecting.rows.row_blocks import START, FilePosition, read_row_file

cell: Any = importlib.import_module("dapeer_debuggee.values.cells").cell
recording: Any = importlib.import_module("dapeer_debuggee.collecting.recording")
row_format: Any = importlib.import_module("dapeer_debuggee.collecting.row_format")
shapes: Any = importlib.import_module("dapeer_debuggee.collecting.recorders")
CHUNK, FIRST, HEADER = row_format.CHUNK_BYTES, recording.FIRST_CHUNKS, row_format.HEADER_BYTES
LARGE: bytes = b"x" * (CHUNK // 5)
"""Five lines of it do not fit into a chunk."""


class RowsFile(Protocol):
    path: str

    def write(self, line: bytes) -> object: ...
    def write_to_next_chunk(self, line: bytes) -> None: ...


def written(rows: RowsFile) -> bytes:
    return Path(rows.path).read_bytes()


def put(rows: RowsFile, line: bytes) -> None:
    """Write as a recorder does."""
    try:
        rows.write(line)
    except ValueError:
        rows.write_to_next_chunk(line)


def test_what_was_written_is_read_once(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path))
    rows.open()
    assert read_row_file(written(rows)).text == ""
    put(rows, b"1\tone\n")
    put(rows, "2\tzwölf\n".encode())
    first = read_row_file(written(rows))
    assert first.text == "1\tone\n2\tzwölf\n"
    assert read_row_file(written(rows), first.place).text == ""
    # The program may be killed, or be read, in the middle of a line.
    put(rows, b"3\tthr")
    assert read_row_file(written(rows), first.place).text == ""
    put(rows, b"ee\n")
    assert read_row_file(written(rows), first.place).text == "3\tthree\n"
    rows.close()
    put(rows, b"4\tfour\n")
    assert read_row_file(written(rows)).text.count("\n") == 3


def test_the_first_rows_and_the_last_are_kept_and_the_others_are_counted(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path), FIRST + 2)
    place, seen = START, ""
    for number in range(100):
        put(rows, b"%d\t%s\n" % (number, LARGE))
        if number % 5 == 0:
            news = read_row_file(written(rows), place)
            place, seen = news.place, seen + news.text
    put(rows, b"%s\n" % (b"x" * CHUNK))
    every = read_row_file(written(rows))
    numbers = [int(line.partition("\t")[0]) for line in every.text.splitlines()]
    assert numbers[: FIRST * 4] == list(range(FIRST * 4))
    assert numbers[FIRST * 4 :] == list(range(100 - (len(numbers) - FIRST * 4), 100))
    assert every.dropped == 100 - len(numbers) > 0
    assert every.lost_rows == 1
    # Who reads soon enough misses nothing.
    seen += read_row_file(written(rows), place).text
    assert [int(line.partition("\t")[0]) for line in seen.splitlines()] == list(range(100))
    assert len(written(rows)) <= HEADER + (FIRST + 2) * CHUNK
    rows.close()


def test_a_process_with_the_number_of_another_leaves_its_rows_alone(tmp_path: Path) -> None:
    first, second = recording.Rows(str(tmp_path)), recording.Rows(str(tmp_path))
    for rows in (first, second):
        put(rows, b"1\n")
        rows.close()
    assert first.path != second.path


@given(st.binary(max_size=200), st.integers(0, 300), st.tuples(st.integers(0), st.integers(0)))
def test_any_bytes_are_read_without_failing(spoilt: bytes, at: int, after: tuple[int, int]) -> None:
    read_row_file(spoilt, FilePosition(*after))
    good = bytearray(GOOD)
    good[at : at + len(spoilt)] = spoilt
    seen = read_row_file(bytes(good[: len(good) - at]), FilePosition(*after))
    collected = Collected()
    collected.ensure_point(["a", "b"], path="/p/a.py", line=1)
    for part in seen.parts:
        collected.add_part(1, part, "tracer")
    assert len(list(collected.rows(1))) <= sum(each.count for each in seen.parts)


def made() -> bytes:
    """Return the beginning of a file."""
    names = b"s\t1\t1\tqd\nc\t1\tMain\t\t\n"
    head = struct.pack("<8sIIIIddQQI", b"dapeerR3", 1, 128, 128, 2, 1.0, 0.0, 0, 0, 0)
    plain = struct.pack("<IIQqdd", 128 + 2 + 256, 1, 2, -1, 0.5, 1.5)
    chunk = (struct.pack("<Q", 1) + b"1\t1\n" + plain * 2).ljust(128, b"\0")
    return (head.ljust(72, b"\0") + names).ljust(128, b"\0") + chunk


GOOD = made()
PLAIN = st.one_of(st.integers(-(1 << 70), 1 << 70), st.floats(), st.booleans(), st.none())
WRITTEN = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from(["Main\t\tf", "Other\ttask\t"]),
              st.lists(st.one_of(PLAIN, st.text(max_size=3)), min_size=2, max_size=2)),
    max_size=99,
)  # fmt: skip


@settings(max_examples=30)
@given(WRITTEN, st.integers(0, 99))
def test_rows_of_plain_values_and_of_text_are_read_as_they_were_collected(
    every: list[tuple[int, str, list[object]]], seen: int
) -> None:
    with TemporaryDirectory() as folder:
        rows = recording.Rows(folder)
        points = {
            number: shapes.Shapes(
                SimpleNamespace(id=number, expressions="ab", max_hits=None), rows, str
            )
            for number in (1, 2, 3)
        }
        collected = Collected()
        for number in points:
            collected.ensure_point(["a", "b"], path="/p/a.py", line=number)
        place = START
        for hit, (number, context, values) in enumerate(every, 1):
            put(rows, points[number].line(hit, rows.numbered(context), tuple(values)))
            if hit in {seen, len(every)}:
                news = read_row_file(written(rows), place)
                place = news.place
                for part in news.parts:
                    collected.add_part(1, part, "tracer")
        rows.close()
    found = [(each.point, each.hit, *each[3:]) for each in collected.rows(1)]
    assert found == [
        (number, hit, *context.split("\t"), tuple(cell(each) for each in values))
        for hit, (number, context, values) in enumerate(every, 1)
    ]
    assert recording.count(CHUNK * b"\0") == 0


def test_a_row_of_plain_values_is_read_once_it_is_complete(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path))
    of = shapes.Shapes(SimpleNamespace(id=1, expressions="ab", max_hits=None), rows, str)
    line = of.line(1, rows.numbered("\t\t"), (1, 2.5))
    put(rows, line * 2 + line[:20])
    # A copy into memory may be seen before it is over.
    (part,) = read_row_file(written(rows)).parts
    ((point, table),) = part.tables
    assert (point, [*table.cells[0]], [*table.cells[1]]) == (1, ["1"] * 2, ["2.5"] * 2)
    assert recording.count(line * 2) == 2
    rows.close()


def test_where_there_is_no_room_for_names_rows_are_text(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path))
    of = shapes.Shapes(SimpleNamespace(id=1, expressions="a", max_hits=None), rows, str)
    for number in range(HEADER // 1000 + 1):
        put(rows, of.line(number, rows.numbered(f"{number:01000}\t\t"), (number,)))
    (part,) = read_row_file(written(rows)).parts
    ((_, table),) = part.tables
    assert len(table) + part.text.count("\n") == part.count == HEADER // 1000 + 1
    assert part.text.split("\t")[3] == f"{len(table):01000}"
    rows.close()
