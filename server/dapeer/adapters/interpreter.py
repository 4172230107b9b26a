"""The interpreter of a Python program, found the way a person expects."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from dapeer.errors import ArgumentError

_IN_VENV = ("bin/python", "bin/python3", "Scripts/python.exe")


def find_python(argument: str | None, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the path of an interpreter.

    In this order: the argument (a path, seen from `cwd`, a virtual environment's folder, or a name
    on PATH), `$VIRTUAL_ENV`, `.venv` in `cwd` or the nearest parent that has one, PATH.

    Raises:
        ArgumentError: The argument is no interpreter, or none is found.
    """
    if argument:
        return _given(argument, cwd, env)
    environments = [Path(env["VIRTUAL_ENV"])] if env.get("VIRTUAL_ENV") else []
    environments += [folder / ".venv" for folder in (cwd, *cwd.parents)]
    found = next((python for folder in environments for python in _pythons(folder)), None)
    found = found or next(
        filter(None, (_on_path(name, env) for name in ("python3", "python"))), None
    )
    if found is None:
        raise ArgumentError("No Python interpreter was found.", "Give its path as `python`.")
    return found


def _given(argument: str, cwd: Path, env: Mapping[str, str]) -> str:
    path = cwd / Path(argument).expanduser()
    if path.is_dir():
        found = next(_pythons(path), None)
    elif os.sep in argument:
        found = str(path) if _runs(path) else None
    else:
        found = _on_path(argument, env)
    if found is None:
        raise ArgumentError(
            f"`python` is {argument}, which is no interpreter that can be run.",
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
