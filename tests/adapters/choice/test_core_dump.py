"""What is no core dump is refused in a sentence, and the program is named if its file is there."""

import shutil
import struct
import sys
from pathlib import Path

import pytest

from dapeer.adapters.choice.core_dump import read_core
from dapeer.base.errors import ArgumentError


@pytest.mark.parametrize("segments", [1 << 40, (1 << 64) - 1], ids=["behind the end", "nowhere"])
def test_a_dump_whose_segments_are_not_in_the_file_is_refused(
    segments: int, tmp_path: Path
) -> None:
    path = tmp_path / "core"
    header = struct.pack(
        "<4sBB10xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 4, 62, 1, 0, segments, 0, 0, 64, 56, 1, 0, 0, 0
    )
    path.write_bytes(header)
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_core(str(path))


def note(kind: int, content: bytes) -> bytes:
    """Return a note of a core dump."""
    content += bytes(-len(content) % 4)
    return struct.pack("<III", 8, len(content), kind) + b"CORE\0\0\0\0" + content


@pytest.mark.parametrize(
    ("name", "files", "found"),
    [
        ("tool", ["tool", "libm.so"], "tool"),
        ("renamed", ["tool", "libm.so"], "tool"),
        ("tool", ["libm.so", "tool"], "tool"),
        ("gone", ["gone", "libm.so"], ""),
        ("renamed", ["gone", "libm.so"], ""),
    ],
)
def test_a_library_is_never_taken_for_the_program(
    name: str, files: list[str], found: str, tmp_path: Path
) -> None:
    for each in ("tool", "libm.so"):
        shutil.copy(sys.executable, tmp_path / each)
    paths = b"".join(bytes(tmp_path / each) + b"\0" for each in files)
    mapped = struct.pack("<QQ", len(files), 4096) + bytes(24 * len(files)) + paths
    notes = note(3, bytes(40) + name.encode().ljust(96, b"\0")) + note(0x46494C45, mapped)
    header = struct.pack(
        "<4sBB10xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 0)
    path = tmp_path / "core"
    path.write_bytes(header + segment + notes)
    assert read_core(str(path)).program == (str(tmp_path / found) if found else "")
