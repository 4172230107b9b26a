"""Files of rows: what a collector writes is read, while it writes and after it was killed."""

import importlib
import struct
from pathlib import Path
from typing import Any, Protocol

from hypothesis import given
from hypothesis import strategies as st

from dapeer.mirror.rows_file import START, Place, Written, read

recording: Any = importlib.import_module("in_debuggee.dapeer_recording")
CHUNK, FIRST, HEADER = recording.CHUNK, recording.FIRST, recording.HEADER
LARGE: bytes = b"x" * (CHUNK // 5)
"""Five lines of it do not fit into a chunk."""


class RowsFile(Protocol):
    path: str

    def write(self, line: bytes) -> object: ...
    def kept(self, line: bytes) -> None: ...


def written(rows: RowsFile) -> bytes:
    return Path(rows.path).read_bytes()


def put(rows: RowsFile, line: bytes) -> None:
    """Write as a recorder does."""
    try:
        rows.write(line)
    except ValueError:
        rows.kept(line)


def test_what_was_written_is_read_once(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path))
    rows.open()
    assert read(written(rows)).text == ""
    put(rows, b"1\tone\n")
    put(rows, "2\tzwölf\n".encode())
    first = read(written(rows))
    assert first.text == "1\tone\n2\tzwölf\n"
    assert read(written(rows), first.place).text == ""
    # The program may be killed, or be read, in the middle of a line.
    put(rows, b"3\tthr")
    assert read(written(rows), first.place).text == ""
    put(rows, b"ee\n")
    assert read(written(rows), first.place).text == "3\tthree\n"
    rows.close()
    put(rows, b"4\tfour\n")
    assert read(written(rows)).text.count("\n") == 3


def test_the_first_rows_and_the_last_are_kept_and_the_others_are_counted(tmp_path: Path) -> None:
    rows = recording.Rows(str(tmp_path), FIRST + 2)
    place, seen = START, ""
    for number in range(100):
        put(rows, b"%d\t%s\n" % (number, LARGE))
        if number % 5 == 0:
            news = read(written(rows), place)
            place, seen = news.place, seen + news.text
    put(rows, b"%s\n" % (b"x" * CHUNK))
    every = read(written(rows))
    numbers = [int(line.partition("\t")[0]) for line in every.text.splitlines()]
    assert numbers[: FIRST * 4] == list(range(FIRST * 4))
    assert numbers[FIRST * 4 :] == list(range(100 - (len(numbers) - FIRST * 4), 100))
    assert every.dropped == 100 - len(numbers) > 0
    assert every.lost == 1
    # Who reads soon enough misses nothing.
    seen += read(written(rows), place).text
    assert [int(line.partition("\t")[0]) for line in seen.splitlines()] == list(range(100))
    assert len(written(rows)) <= HEADER + (FIRST + 2) * CHUNK
    rows.close()


def test_a_process_with_the_number_of_another_leaves_its_rows_alone(tmp_path: Path) -> None:
    first, second = recording.Rows(str(tmp_path)), recording.Rows(str(tmp_path))
    for rows in (first, second):
        put(rows, b"1\n")
        rows.close()
    assert first.path != second.path


@given(st.binary(max_size=200), st.integers(0, 200), st.tuples(st.integers(0), st.integers(0)))
def test_any_bytes_are_read_without_failing(spoilt: bytes, at: int, after: tuple[int, int]) -> None:
    read(spoilt, Place(*after))
    good = bytearray(GOOD)
    good[at : at + len(spoilt)] = spoilt
    assert isinstance(read(bytes(good[: len(good) - at]), Place(*after)), Written)


def made() -> bytes:
    """Return the beginning of a file."""
    head = struct.pack("<8sIIIIddQQ", b"dapeerR2", 1, 64, 128, 2, 1.0, 0.0, 0, 0)
    chunk = (struct.pack("<Q", 1) + b"1\t1\n").ljust(128, b"\0")
    return head.ljust(64, b"\0") + chunk


GOOD = made()
