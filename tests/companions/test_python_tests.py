"""How Python's tests are run where pytest is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from dapeer.adapters.definition.table import COMPANIONS

TESTS = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 2)\n"


@pytest.mark.parametrize("package", [False, True])
def test_a_folder_of_tests_runs_by_unittest_without_pytest(tmp_path: Path, package: bool) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_a.py").write_text(TESTS, encoding="utf-8")
    if package:
        (folder / "__init__.py").touch()
    # -S: without what is installed.
    command = [
        sys.executable,
        "-S",
        COMPANIONS / "python" / "python_tests.py",
        "module",
        "pytest",
        folder,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("pytest is not installed for ")
    assert "AssertionError: 1 != 2" in done.stderr
    assert "Ran 1 test in" in done.stderr
