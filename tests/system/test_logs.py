"""The log: bounded, its owner's alone, and no reason to stop."""

import logging
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.base.system.logs import MOST_ALIKE, SECONDS_PER_PLACE, RepetitionFilter
from tests.processes import LIMIT

LOGS_TWICE = """
import logging, sys
from pathlib import Path
from dapeer.base.system import logs
logs.set_up("warning", Path(sys.argv[1]))
for _ in range(2):
    logging.getLogger("a").warning("something happened")
"""


def records(count: int, created: float = 0.0) -> list[logging.LogRecord]:
    """Return as many warnings of one place in the code."""
    warnings = [
        logging.LogRecord("web", logging.WARNING, "web.py", 7, "bad request %d", (number,), None)
        for number in range(count)
    ]
    for warning in warnings:
        warning.created = created
    return warnings


def test_what_is_logged_again_and_again_is_left_out_and_counted() -> None:
    bounded = RepetitionFilter()
    assert [bounded.filter(each) for each in records(MOST_ALIKE + 1_000)].count(True) == MOST_ALIKE
    (later,) = records(1, SECONDS_PER_PLACE + 1)
    assert bounded.filter(later)
    assert later.getMessage() == "bad request 0 (and 1000 more like this before)"


def test_another_warning_is_logged_meanwhile() -> None:
    bounded = RepetitionFilter()
    for each in records(MOST_ALIKE + 1):
        bounded.filter(each)
    other = logging.LogRecord("web", logging.WARNING, "web.py", 8, "another", (), None)
    assert bounded.filter(other)


def logged_to(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LOGS_TWICE, str(path)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def test_only_its_owner_can_read_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    done = logged_to(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_text("utf-8").count("something happened") == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_once_and_stops_nothing() -> None:
    done = logged_to(Path("/dev/full"))
    assert done.returncode == 0
    assert done.stderr == "dapeer: cannot log to /dev/full: [Errno 28] No space left on device\n"
