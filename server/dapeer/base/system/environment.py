"""The environment variables that programs get: dapeer's own, without those that only dapeer needs.

`uv run --project DAPEER dapeer stdio` sets `$VIRTUAL_ENV` and the first folder on PATH, so that dapeer runs
in its own virtual environment. The debugged programs must not run in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_OF_AN_ACTIVATION = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT")
_OF_UV = ("UV", "UV_RUN_RECURSION_DEPTH")
"""Other variables that `uv run` and `uvx` set."""


_OF_THE_STARTER: ContextVar[Mapping[str, str] | None] = ContextVar("environment", default=None)
"""The variables of the command that starts a program; None: dapeer's own are its starter's.

Each task that a start begins inherits it, and so does a thread.
"""


def starter_environment() -> Mapping[str, str]:
    """Return the environment of the command that starts programs in this task, or else dapeer's own."""
    return _OF_THE_STARTER.get() or os.environ


@contextmanager
def use_starter_environment(environment: Mapping[str, str] | None) -> Generator[None]:
    """Have programs that are started in the body get `environment`; None changes nothing.

    It holds for the current task and for the tasks and threads that begin in the body.
    """
    token = _OF_THE_STARTER.set(environment or _OF_THE_STARTER.get())
    try:
        yield
    finally:
        _OF_THE_STARTER.reset(token)


def environment_for(cwd: Path) -> dict[str, str]:
    """Return a new environment for a program that is to run in `cwd`, without dapeer's own venv.

    It has the variables of the command that starts programs in this task, or else dapeer's own. The folder of
    dapeer's virtual environment is removed from `PATH`; `VIRTUAL_ENV` and its prompt are removed if they name
    that environment, and uv's variables if either was found. Nothing is removed if dapeer runs in no virtual
    environment, or if that is the one of the project that `cwd` is in.
    """
    environment = dict(starter_environment())
    if not in_virtual_environment() or is_in_own_project(cwd):
        return environment
    folders = environment.get("PATH", "").split(os.pathsep)
    kept = [folder for folder in folders if not folder or not is_own(Path(folder).parent)]
    activated = is_own(Path(environment.get("VIRTUAL_ENV") or os.devnull))
    foreign = activated or len(kept) < len(folders)
    dropped = _OF_AN_ACTIVATION * activated + _OF_UV * foreign
    rest = {name: value for name, value in environment.items() if name not in dropped}
    return {**rest, "PATH": os.pathsep.join(kept)} if "PATH" in environment else rest


def is_in_own_project(folder: Path) -> bool:
    """Return whether dapeer's own virtual environment belongs to the project that a folder is in."""
    here = folder.resolve()
    return in_virtual_environment() and Path(sys.prefix).resolve().parent in (here, *here.parents)


def is_own(environment: Path) -> bool:
    """Return whether a virtual environment is the one that dapeer runs in."""
    return in_virtual_environment() and environment.resolve() == Path(sys.prefix).resolve()


def in_virtual_environment() -> bool:
    """Return whether dapeer's Python runs in a virtual environment."""
    return sys.prefix != sys.base_prefix


def active_environment(env: Mapping[str, str]) -> Path | None:
    """Return the virtual environment that `$VIRTUAL_ENV` of `env` names; None without one, or if dapeer's."""
    path = Path(env["VIRTUAL_ENV"]) if env.get("VIRTUAL_ENV") else None
    return None if path is None or is_own(path) else path
