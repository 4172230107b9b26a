"""The Pythons of this machine, and tests that run in several of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MINE = f"{sys.version_info.major}.{sys.version_info.minor}"


def versions(*others: str) -> pytest.MarkDecorator:
    """Have a test run in this Python, and in the stage `real` in others, too: its argument is `version`."""
    more = (pytest.param(each, marks=pytest.mark.real) for each in others if each != MINE)
    return pytest.mark.parametrize("version", [MINE, *more])


def python_of(version: str) -> str:
    """Return an interpreter of a version: this one, one on PATH, or one that pyenv has."""
    if version == MINE:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for command in (shutil.which(f"python{version}"), *found):
        asked = command and subprocess.run(
            [command, "-c", "import sys; print(sys.executable)"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if asked and not asked.returncode:
            return asked.stdout.strip()
    pytest.skip(f"needs python{version} on PATH or of pyenv: uv python install {version}")
