"""The processes of a session end together."""

import os
import subprocess
from pathlib import Path

import pytest

from dapeer.adapters.process.owned_process import OwnedProcess, Processes, Reaper

BETWEEN = 50
"""Processes that are killed after the one that is waited for, and before the one that waits for it."""


def started(written: Path) -> list[subprocess.Popen[bytes]]:
    """Start many processes; the last one writes a file when the first one has gone."""
    read, write = os.pipe()
    first = subprocess.Popen(["sleep", "1000"], pass_fds=[write])
    os.close(write)
    between = [subprocess.Popen(["sleep", "1000"]) for _ in range(BETWEEN)]
    # `read` returns when nobody has the other end of the pipe any more.
    last = subprocess.Popen(["sh", "-c", f"read line; : >{written}"], stdin=read)
    os.close(read)
    return [first, *between, last]


@pytest.mark.parametrize("at_once", [True, False])
async def test_no_process_learns_of_the_end_of_another_before_its_own(
    tmp_path: Path, reaper: Reaper, *, at_once: bool
) -> None:
    written = tmp_path / "written"
    all_of_them = started(written)
    processes = Processes(reaper)
    for each in all_of_them:
        processes.add(each.pid)
    if at_once:
        processes.kill_all_but(None)
    await processes.aclose()
    for each in all_of_them:
        each.wait()
    assert not written.exists()


def test_the_number_of_another_users_process_is_its_own() -> None:
    """An ordinary user may not signal one, as a program that has become root."""
    first = OwnedProcess(1)
    assert not first.is_number_reused()
    first.close()
