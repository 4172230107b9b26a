"""What is unpacked of an archive, and what is refused, on a Python with `data_filter` and on one without."""

import io
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dapeer.base.system import foreign_files
from dapeer.cli.adapters import check_and_restrict, unpack
from tests.programs import ROOT

HARMLESS = {
    "a file": {"name": "package/a"},
    "a program": {"name": "package/a", "mode": 0o755},
    "one that all may write and run": {"name": "package/a", "mode": 0o6777},
    "one that its owner may not read": {"name": "package/a", "mode": 0o011},
    "a folder": {"name": "package/b", "type": tarfile.DIRTYPE, "mode": 0o700},
    "a link within": {"name": "package/c", "type": tarfile.SYMTYPE, "linkname": "../package/a"},
    "a hard link": {"name": "package/c", "type": tarfile.LNKTYPE, "linkname": "package/a"},
}
HARMFUL = {
    "a name that leads out": {"name": "package/../../a"},
    "a link that leads out": {"name": "package/c", "type": tarfile.SYMTYPE, "linkname": "../../a"},
    "an absolute link": {"name": "package/c", "type": tarfile.SYMTYPE, "linkname": "/etc"},
    "a hard link that leads out": {
        "name": "package/c",
        "type": tarfile.LNKTYPE,
        "linkname": "../a",
    },
    "a hard link to anywhere": {
        "name": "package/c",
        "type": tarfile.LNKTYPE,
        "linkname": "/etc/passwd",
    },
    "a named pipe": {"name": "package/c", "type": tarfile.FIFOTYPE},
    "a device": {"name": "package/c", "type": tarfile.CHRTYPE},
}
UNPACK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from dapeer.cli.adapters import unpack
sys.exit(0 if unpack(Path(sys.argv[2]), "package", Path(sys.argv[3])) else 1)
"""


def member(given: Mapping[str, object]) -> tarfile.TarInfo:
    """Return a member of an archive with these attributes."""
    made = tarfile.TarInfo()
    for name, value in {"mode": 0o644, **given}.items():
        setattr(made, name, value)
    return made


def archive(path: Path, *members: Mapping[str, object]) -> Path:
    """Make an archive; each file holds its name."""
    with tarfile.open(path, "w:gz") as tar:
        for each in map(member, members):
            content = each.name.encode() if each.isreg() else b""
            each.size = len(content)
            tar.addfile(each, io.BytesIO(content))
    return path


def pythons() -> Iterator[str]:
    """Yield this Python, and the system's where it is one without `data_filter`."""
    yield sys.executable
    for each in ("/usr/bin/python3.11", "/usr/bin/python3"):
        lacks = "import sys, tarfile; sys.exit(sys.version_info < (3, 11) or hasattr(tarfile, 'data_filter'))"
        if Path(each).is_file() and not subprocess.run([each, "-c", lacks], check=False).returncode:
            yield each
            return


each_python = pytest.mark.parametrize("python", [*pythons()])


def unpacked(python: str, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Unpack an archive with a Python."""
    command = [python, "-c", UNPACK, str(ROOT / "server"), str(path), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@each_python
def test_a_package_is_unpacked_as_its_user_may_have_it(python: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", *HARMLESS.values(), {"name": "other/a"})
    folder = tmp_path / "to"
    done = unpacked(python, path, folder)
    assert done.returncode == 0, done.stderr
    assert sorted(str(each.relative_to(folder)) for each in folder.rglob("*")) == [
        "package",
        "package/a",
        "package/b",
        "package/c",
    ]
    mode = (folder / "package" / "a").stat().st_mode
    assert mode & stat.S_IRUSR
    assert not mode & (stat.S_IWOTH | stat.S_IWGRP | stat.S_ISUID)


@each_python
@pytest.mark.parametrize("given", HARMFUL.values(), ids=HARMFUL)
def test_what_leads_out_or_is_no_file_is_refused(
    python: str, given: Mapping[str, object], tmp_path: Path
) -> None:
    path = archive(tmp_path / "a.tgz", {"name": "package/a"}, given)
    done = unpacked(python, path, tmp_path / "x" / "to")
    assert done.returncode != 0
    assert "Error" in done.stderr
    assert not [each for each in (tmp_path / "x").iterdir() if each.name != "to"]


@each_python
def test_a_link_through_a_link_leads_nowhere_else(python: str, tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tgz",
        {"name": "package/b", "type": tarfile.DIRTYPE},
        {"name": "package/b/here", "type": tarfile.SYMTYPE, "linkname": ".."},
        {"name": "package/up", "type": tarfile.SYMTYPE, "linkname": "b/here/../.."},
        {"name": "package/up/a"},
    )
    assert unpacked(python, path, tmp_path / "x" / "to").returncode != 0
    assert not (tmp_path / "x" / "a").exists()


@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="needs tarfile.data_filter")
@pytest.mark.parametrize("given", [*HARMLESS.values(), *HARMFUL.values()])
def test_without_the_filter_of_python_a_member_becomes_what_it_would_be(
    given: Mapping[str, object], tmp_path: Path
) -> None:
    try:
        wanted = tarfile.data_filter(member(given), str(tmp_path))
    except tarfile.TarError:
        with pytest.raises(tarfile.TarError):
            check_and_restrict(member(given), tmp_path)
        return
    assert wanted is not None
    ours = check_and_restrict(member(given), tmp_path)
    assert (ours.name, ours.linkname) == (wanted.name, wanted.linkname)
    assert wanted.mode is None or ours.mode == wanted.mode
    assert ours.uid == os.getuid()


def test_an_archive_without_the_folder_is_told_apart(tmp_path: Path) -> None:
    assert not unpack(archive(tmp_path / "a.tgz", {"name": "other/a"}), "package", tmp_path / "to")


def test_names_of_an_archive_may_begin_with_the_folder_that_they_are_in(tmp_path: Path) -> None:
    assert unpack(archive(tmp_path / "a.tgz", {"name": "./package/a"}), "package", tmp_path / "to")
    assert (tmp_path / "to" / "package" / "a").exists()


@pytest.mark.parametrize(
    "way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_file_in_a_damaged_archive_is_not_there(way: int, tmp_path: Path) -> None:
    path, text = tmp_path / "app.pyz", os.urandom(5000)
    with zipfile.ZipFile(path, "w", way) as made:
        made.writestr("a.py", text)
    assert foreign_files.read_member(path / "a.py") == text
    held = bytearray(path.read_bytes())
    held[100:4000] = bytes(3900)
    path.write_bytes(held)
    with pytest.raises(OSError):  # noqa: PT011 - bz2 has a text of its own
        foreign_files.read_member(path / "a.py")
