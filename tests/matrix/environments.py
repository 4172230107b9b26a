"""An environment of dapeer for a row of the matrix, in the cache of the tests; never the checkout's `.venv`."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.matrix.rows import Row, tools
from tests.npm import CACHE, MissingError, only_one
from tests.programs import ROOT
from tests.pythons import found_python
from tools import constraints

ENVIRONMENTS = CACHE.parent / "matrix"
SECONDS_TO_INSTALL = 600


def environment(row: Row) -> Path:
    """Return the folder of a row's environment, which is made anew when anything about it has changed.

    Raises:
        MissingError: It cannot be had on this machine; the message says why.
    """
    python = found_python(row.python)
    if python is None:
        raise MissingError(f"needs Python {row.python}: uv python install {row.python}")
    wanted = [*_constraints(row)]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    digest = hashlib.sha256("\n".join((str(ROOT), python, project, *wanted)).encode()).hexdigest()
    folder = ENVIRONMENTS / f"{row.python}-{digest[:8]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    complete = folder.with_name(f"{folder.name}.complete")
    with only_one(folder.with_name(f"{folder.name}.lock")):
        # What is newest today is not so tomorrow.
        if row.free or not complete.exists():
            complete.unlink(missing_ok=True)
            _make(row, python, folder, wanted)
            complete.touch()
    return folder


def _make(row: Row, python: str, folder: Path, wanted: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    file = folder.with_name(f"{folder.name}.txt")
    file.write_text("".join(f"{each}\n" for each in wanted), encoding="utf-8")
    _uv("venv", "--clear", "--python", python, str(folder))
    inside = ("--python", str(folder))
    _uv("pip", "install", *inside, "--constraints", str(file), "--editable", ".", "--group", "dev")
    if "*" not in row.free:
        for name in row.free:
            _uv("pip", "install", *inside, "--upgrade", "--no-deps", name)


def _constraints(row: Row) -> Iterator[str]:
    """Yield the exact versions of a row's packages, and nothing of those that are free."""
    known = [] if "*" in row.free else constraints.lines()
    kept = tools() if len(row.pins) > 1 else {*map(constraints.name_of, known)}
    yield from (
        each for each in known if constraints.name_of(each) in kept - {*row.pins, *row.free}
    )
    yield from (f"{name}=={version}" for name, version in row.pins.items())


def differences(folder: Path) -> list[str]:
    """Return which packages of an environment differ from the constraints."""
    installed = {
        constraints.name_of(each): constraints.version_of(each)
        for each in _uv("pip", "freeze", "--python", str(folder)).splitlines()
        if "==" in each
    }
    listed: dict[str, set[str]] = {}
    for each in constraints.lines():
        listed.setdefault(constraints.name_of(each), set()).add(constraints.version_of(each))
    return [
        f"{name} {' or '.join(sorted(listed.get(name, {'(new)'})))} → {version}"
        for name, version in sorted(installed.items())
        if version not in listed.get(name, ())
    ]


def _uv(*arguments: str) -> str:
    """Run uv in the checkout; return its output."""
    if shutil.which("uv") is None:
        raise MissingError("needs uv: pip install uv")
    try:
        done = subprocess.run(
            ["uv", *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_INSTALL,
            check=False,
            env={name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"},
        )
    except subprocess.TimeoutExpired as late:
        raise MissingError(f"uv {arguments[0]} took longer than {SECONDS_TO_INSTALL} s") from late
    if done.returncode:
        raise MissingError(f"uv {' '.join(arguments[:2])}: {done.stderr.strip()[-500:]}")
    return done.stdout
