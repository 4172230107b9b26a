"""What a test leaves open fails that test, and no other."""

import subprocess
import sys
from pathlib import Path

from tests.processes import LIMIT
from tests.programs import ROOT

SETTINGS = "[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function"
TESTS = """
import gc
import socket

def test_leaves_sockets():
    ring = [socket.socketpair()]
    ring.append(ring)

def test_has_no_part_in_it():
    gc.collect()
"""


def test_the_test_that_leaves_a_socket_open_is_named(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import nothing_is_left_open", "utf-8"
    )
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text(SETTINGS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    results = [line for line in done.stdout.splitlines() if line.startswith(("PASSED", "ERROR "))]
    assert [line.partition(" - ")[0] for line in results] == [
        "PASSED test_it.py::test_leaves_sockets",
        "PASSED test_it.py::test_has_no_part_in_it",
        "ERROR test_it.py::test_leaves_sockets",
    ]
    assert "unclosed" in done.stdout
