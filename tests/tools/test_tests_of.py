"""`just tests-of MODULE` names the tests that run it, also in processes that they start."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

coverage = pytest.importorskip("coverage", reason="needs coverage: uv sync --group dev")
tests_of = importlib.import_module("tools.tests_of")


def test_tests_are_listed_by_how_much_of_a_module_they_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tests_of, "DATA", tmp_path / "data")
    module = tests_of.path_of("dapeer.base.errors")
    assert module.is_file()
    data = coverage.CoverageData(str(tests_of.DATA))
    for context, lines in (("test_short|", [1]), ("|test_long", [1, 2]), ("", [9])):
        data.set_context(context)
        data.add_lines({str(module): lines})
    data.write()
    assert tests_of.lines_by_test(module).most_common() == [("test_long", 2), ("test_short", 1)]


def test_without_a_record_it_says_how_to_make_one() -> None:
    asked = [sys.executable, "-m", "tools.tests_of", "no/such/module.py"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "--record" in done.stderr
