"""The interpreter of a Python program, found the way a person expects."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from dapeer.adapters.definition.installation import Interpreter
from dapeer.base.errors import ArgumentError
from dapeer.base.system import environment

_IN_VENV = ("bin/python", "bin/python3", "Scripts/python.exe")
_ASKED = "import sys; print('version = %d.%d' % sys.version_info[:2])"
_VERSION = re.compile(r"^version(?:_info)? *= *(\d+)\.(\d+)", re.MULTILINE)
"""In `pyvenv.cfg`, and in the answer to `_ASKED`."""
_NAMED = re.compile(r"(?:python|pypy)(\d)\.(\d+)(?:\.exe)?$")
_SECONDS = 10


def find_python(
    argument: str | None,
    cwd: Path,
    env: Mapping[str, str],
    *,
    project: Path | None = None,
    program: str | None = None,
) -> str:
    """Return the path of an interpreter.

    In this order: the argument (a path, seen from `cwd` or the project, a virtual environment's
    folder, or a name on PATH), the environment whose console script the program is, `$VIRTUAL_ENV`,
    the nearest `.venv` above the program, that above `cwd`, PATH. dapeer's own environment is only
    taken where it is the one of the project.

    Raises:
        ArgumentError: The argument is no interpreter, or none is found.
    """
    if argument:
        return _given(argument, [cwd, project or cwd], env)
    environments = _environments(cwd, env, program)
    found = next((python for folder in environments for python in _pythons(folder)), None)
    found = found or next(
        filter(None, (_on_path(name, env) for name in ("python3", "python"))), None
    )
    if found is None:
        raise ArgumentError("No Python interpreter was found.", "Give its path as `python`.")
    return found


def check_version(python: str, wanted: Interpreter, cwd: Path) -> None:
    """Refuse an interpreter that the adapter cannot debug, before it is started: it would not answer.

    Raises:
        ArgumentError: It is too old.
    """
    version = version_of(python, cwd)
    if version is not None and version < wanted.minimum:
        least = ".".join(map(str, wanted.minimum))
        raise ArgumentError(
            f"{python} is Python {version[0]}.{version[1]}, which is too old: {least} is the oldest "
            "that can be debugged.",
            f"Give another as `python`. {wanted.older}".rstrip(),
        )


def version_of(python: str, cwd: Path) -> tuple[int, int] | None:
    """Return an interpreter's version; None if unknown.

    It is read from the virtual environment, or the name of the file; only where neither tells the
    interpreter is run, in `cwd`, which some heed, and once there: that blocks.
    """
    try:
        said = (Path(python).parents[1] / "pyvenv.cfg").read_text("utf-8", "replace")
    except (OSError, IndexError):
        said = ""
    found = _VERSION.search(said) or _NAMED.search(os.path.realpath(python))
    if found is None:
        try:
            changed = Path(python).stat().st_mtime_ns
        except OSError:
            return None
        found = _VERSION.search(_answer(python, changed, cwd))
    return (int(found[1]), int(found[2])) if found else None


@functools.lru_cache(maxsize=64)
def _answer(python: str, _changed: int, cwd: Path) -> str:
    """Return what an interpreter prints of itself; asked again only when its file has changed."""
    try:
        done = subprocess.run(
            [python, "-c", _ASKED],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=cwd,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _environments(cwd: Path, env: Mapping[str, str], program: str | None) -> Iterator[Path]:
    """Yield the folders of virtual environments that may be meant, the likeliest first."""
    file = None if program is None else Path(program)
    if file is not None and (file.parent.parent / "pyvenv.cfg").is_file():
        yield file.parent.parent
    active = environment.active(env)
    if active is not None:
        yield active
    for folder in (file, cwd):
        if folder is not None:
            yield from (above / ".venv" for above in (folder, *folder.parents))
    if environment.is_of(cwd):
        yield Path(sys.prefix)


def _given(argument: str, bases: list[Path], env: Mapping[str, str]) -> str:
    # Unlike pathlib's, it leaves the home of an unknown user unchanged.
    expanded = os.path.expanduser(argument)
    tried = dict.fromkeys(base / expanded for base in bases)
    for path in tried:
        found = next(_pythons(path), None) if path.is_dir() else None
        if found is None and os.sep in argument and _runs(path):
            found = str(path)
        if found is not None:
            return found
    found = None if os.sep in argument else _on_path(argument, env)
    if found is None:
        looked = " and ".join(map(str, tried)) + ("" if os.sep in argument else " and on PATH")
        raise ArgumentError(
            f"`python`: {argument} is not a runnable Python interpreter; looked at {looked}.",
            "Give the path of an interpreter or of a virtual environment.",
        )
    return found


def _pythons(environment: Path) -> Iterator[str]:
    # Never resolved: an environment's interpreter is a link, and known by where the link is.
    paths = (environment / name for name in _IN_VENV)
    return (str(path) for path in paths if _runs(path))


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _on_path(name: str, env: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=env.get("PATH", os.defpath))
