"""Each tool is a method of the library."""

import subprocess
import sys

import pytest

from tools import script_methods


def test_the_methods_are_those_of_the_tools() -> None:
    pytest.importorskip("ruff", reason="needs ruff: uv sync --group dev")
    assert script_methods.FILE.read_text("utf-8") == script_methods.made(), (
        "run `uv run python -m tools.script_methods`"
    )


def test_importing_dapeer_loads_nothing_else_of_it() -> None:
    code = "import sys, dapeer; print([each for each in sys.modules if each.startswith('dapeer.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
