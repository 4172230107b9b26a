"""Folders that last as long as the process that has made them."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapeer.base.system.folders import PREFIX, remove_left_folders, temporary_folder
from dapeer.sessions.debugger.debugger import Debugger
from tests.processes import LIMIT
from tests.programs import ROOT

HOLDER = (
    "import sys, time\nfrom dapeer.base.system.folders import temporary_folder\n"
    "with temporary_folder(sys.argv[1]) as folder:\n"
    "    (folder / 'file').touch()\n    print(folder, flush=True)\n    time.sleep(1000)"
)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Return a process that holds a folder, and the folder."""
    command = (sys.executable, "-c", HOLDER, str(tmp_path))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.wait(LIMIT)
    process.stdout.close()


def test_a_folder_is_closed_to_others_and_gone_at_the_end(tmp_path: Path) -> None:
    with temporary_folder(str(tmp_path)) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_has_left_is_swept_and_what_lives_is_not(
    holder: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    process, folder = holder
    with temporary_folder(str(tmp_path)) as mine:
        remove_left_folders(str(tmp_path))
        assert {folder, mine} == set(tmp_path.iterdir())
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT)
        assert folder.exists()
        remove_left_folders(str(tmp_path))
        assert [mine] == list(tmp_path.iterdir())


def test_only_folders_of_ours_are_swept(tmp_path: Path) -> None:
    kept = [tmp_path / "dapeer-other", tmp_path / f"{PREFIX}link", tmp_path / f"{PREFIX}file"]
    kept[0].mkdir()
    kept[1].symlink_to(kept[0])
    kept[2].touch()
    (tmp_path / f"{PREFIX}left").mkdir()
    remove_left_folders(str(tmp_path))
    assert set(kept) == set(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a folder away: run as root")
def test_a_folder_of_another_user_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / f"{PREFIX}theirs"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    remove_left_folders(str(tmp_path))
    assert folder.exists()


def test_nothing_to_sweep_is_no_trouble(tmp_path: Path) -> None:
    remove_left_folders(str(tmp_path / "nothing"))


async def test_a_server_that_starts_removes_what_a_killed_one_has_left(
    holder: tuple[subprocess.Popen[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, folder = holder
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process.kill()
    process.wait(LIMIT)
    async with Debugger({}, tmp_path):
        await asyncio.sleep(0)
    assert not folder.exists()


def test_a_folder_that_cannot_be_locked_is_removed(tmp_path: Path) -> None:
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A folder can be made then, but not opened.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"), temporary_folder(str(tmp_path)):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    assert list(tmp_path.iterdir()) == []
