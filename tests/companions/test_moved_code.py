"""Code in an archive, and the file that it was made of."""

import importlib
import zipfile
from pathlib import Path
from typing import Any

breakpoints: Any = importlib.import_module("dapeer_debuggee.stops.breakpoints")


def test_a_member_of_an_archive_has_the_lines_of_its_file_unless_it_is_damaged(
    tmp_path: Path,
) -> None:
    file, archive = tmp_path / "a.py", tmp_path / "a.zip"
    file.write_bytes(b"x = 1\n" * 100)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as held:
        held.write(file, "a.py")
    member = str(archive / "a.py")
    assert breakpoints.has_same_lines(member, str(file))
    data = bytearray(archive.read_bytes())
    # Behind the header of the member and its name.
    data[34:40] = b"\xff" * 6
    archive.write_bytes(data)
    assert not breakpoints.has_same_lines(member, str(file))
