"""What is no core dump is refused in a sentence."""

import struct
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
