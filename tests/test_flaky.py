"""What a run says of tests that needed more than one try."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import LIMIT
from tests.programs import ROOT

CONFTEST = "from tests.flaky import pytest_configure, pytest_itemcollected"
TESTS = """
import pathlib
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_passes_at_the_second_try(number):
    mark = pathlib.Path(f"{{number}}.mark")
    known = mark.exists()
    mark.touch()
    assert known

def test_passes():
    pass
"""


def run(folder: Path, tests: str, *options: str) -> tuple[int, str]:
    """Run tests in a folder of their own; return the exit code, and what pytest prints."""
    for name, text in {
        "conftest.py": CONFTEST,
        "test_it.py": tests,
        "pytest.ini": "[pytest]",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    python_path = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=python_path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_test_that_needs_a_second_try_is_named(tmp_path: Path) -> None:
    code, text = run(tmp_path, TESTS.format(count=1), "-n", "2")
    named = [line for line in text.splitlines() if line.startswith("FLAKY ")]
    assert (code, named) == (0, ["FLAKY test_it.py::test_passes_at_the_second_try[0] (2 of 3)"])


def test_a_test_that_fails_three_times_has_failed(tmp_path: Path) -> None:
    code, text = run(tmp_path, "def test_fails():\n    assert 0")
    assert (code, "FLAKY" in text, "1 failed, 2 rerun" in text) == (1, False, True)


@pytest.mark.parametrize(("count", "code"), [(10, 0), (11, 1)])
def test_eleven_tests_that_need_another_try_fail_the_run(
    tmp_path: Path, count: int, code: int
) -> None:
    ended, text = run(tmp_path, TESTS.format(count=count))
    assert (ended, text.count("FLAKY ")) == (code, count)


def test_a_test_of_a_pure_room_has_one_try(tmp_path: Path) -> None:
    room = tmp_path / "tests" / "view"
    room.mkdir(parents=True)
    (room / "test_pure.py").write_text("def test_fails():\n    assert 0", encoding="utf-8")
    code, text = run(tmp_path, "")
    assert (code, "1 failed in" in text) == (1, True)
