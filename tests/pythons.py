"""The Pythons of this machine, and tests that run in several of them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MINE = f"{sys.version_info.major}.{sys.version_info.minor}"


def versions(*others: str) -> pytest.MarkDecorator:
    """Have a test run in this Python, and in the stage `real` in others, too: its argument is `version`."""
    more = (pytest.param(each, marks=pytest.mark.real) for each in others if each != MINE)
    return pytest.mark.parametrize("version", [MINE, *more])


def python_of(version: str) -> str:
    """Return an interpreter of a version, as `3.12`, or `3.13t` without the global lock; the test is skipped where there is none."""
    found = found_python(version)
    if found is None:
        pytest.skip(
            f"needs python{version} on PATH, of pyenv or of uv: uv python install {version}"
        )
    return found


@cache
def found_python(version: str) -> str | None:
    """Return an interpreter of a version: this one, one on PATH, or one that pyenv or uv has installed."""
    if version == MINE:
        return sys.executable
    for command in (shutil.which(f"python{version}"), *_installed(version)):
        # What pyenv puts on PATH may stand for a version that is not installed.
        asked = command and subprocess.run(
            [command, "-c", "import sys; print(sys.executable)"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if asked and not asked.returncode:
            return asked.stdout.strip()
    return None


def _installed(version: str) -> Iterator[Path]:
    """Yield the interpreters of a version that pyenv and uv have, the newest first."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for folder in (pyenv, uv):
        yield from sorted(folder.glob(f"*/bin/python{version}"), key=_patch_release, reverse=True)


def _patch_release(path: Path) -> list[int]:
    """Return the numbers in the name of an installation: `3.12.10` is newer than `3.12.9`."""
    return [int(number) for number in re.findall(r"\d+", path.parts[-3])]
