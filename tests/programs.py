"""The programs in fixtures/programs, and the lines that they mark by `# @name`."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "fixtures" / "programs"

MARKER = re.compile(r"(?:#|//) @(\w+)")


@dataclass(frozen=True)
class Program:
    """A program to debug."""

    source: Path
    path: Path
    """What to run: the source itself, or what it was compiled to."""

    def __str__(self) -> str:
        return str(self.path)

    def line(self, marker: str) -> int:
        """Return the 1-based number of the line that carries the marker."""
        text = self.source.read_text(encoding="utf-8")
        lines = text.splitlines()
        found = [number for number, line in enumerate(lines, 1) if marker in MARKER.findall(line)]
        assert len(found) == 1, f"{self.source.name}: {marker} is on {len(found)} lines"
        return found[0]

    def at(self, marker: str, **more: object) -> dict[str, object]:
        """Return a breakpoint at the marked line, as `dap_run` takes it."""
        return {"filename": str(self.source), "line": self.line(marker), **more}


def program(name: str) -> Program:
    """Return a program of fixtures/programs."""
    path = PROGRAMS / name
    assert path.is_file(), path
    return Program(path, path)


def tool(name: str, package: str = "") -> str:
    """Return the path of a program that works; skip the test without one, or where a shim of rustup or pyenv has none to start."""
    found = shutil.which(name)
    if (
        not found
        or subprocess.run([found, "--version"], capture_output=True, check=False).returncode
    ):
        pytest.skip(f"needs {name}: apt-get install {package or name}")
    return found


def compiled(
    name: str, folder: Path, source: Path | None = None, options: Sequence[str] = ()
) -> Program:
    """Compile a C or C++ program into a folder, with debug information and, by default, without optimisation."""
    source = source or PROGRAMS / name
    wanted = "g++" if source.suffix == ".cpp" else "gcc"
    target = folder / source.stem
    subprocess.run([tool(wanted), "-g", "-O0", *options, "-o", target, source], check=True)
    return Program(source, target)


def copied(name: str, folder: Path) -> Program:
    """Copy a program into a folder, for a test that edits it."""
    path = Path(shutil.copy(PROGRAMS / name, folder))
    return Program(path, path)
