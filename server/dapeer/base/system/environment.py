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


def of_starter() -> Mapping[str, str]:
    """Return the environment of whoever starts programs in this task: a command's, else dapeer's own."""
    return _OF_THE_STARTER.get() or os.environ


@contextmanager
def started_from(environment: Mapping[str, str] | None) -> Generator[None]:
    """Have programs that are started in the body get this environment; None: what they got before."""
    token = _OF_THE_STARTER.set(environment or _OF_THE_STARTER.get())
    try:
        yield
    finally:
        _OF_THE_STARTER.reset(token)


def surroundings(cwd: Path) -> dict[str, str]:
    """Return the starter's environment, adapted to a program that runs in this folder.

    Where dapeer's virtual environment is the one of the folder's project, nothing is taken out.
    """
    environment = dict(of_starter())
    if not in_virtual_environment() or is_of(cwd):
        return environment
    folders = environment.get("PATH", "").split(os.pathsep)
    kept = [folder for folder in folders if not folder or not is_own(Path(folder).parent)]
    activated = is_own(Path(environment.get("VIRTUAL_ENV") or os.devnull))
    foreign = activated or len(kept) < len(folders)
    dropped = _OF_AN_ACTIVATION * activated + _OF_UV * foreign
    rest = {name: value for name, value in environment.items() if name not in dropped}
    return {**rest, "PATH": os.pathsep.join(kept)}


def is_of(folder: Path) -> bool:
    """Whether dapeer's own virtual environment belongs to the project that a folder is in."""
    here = folder.resolve()
    return in_virtual_environment() and Path(sys.prefix).resolve().parent in (here, *here.parents)


def is_own(environment: Path) -> bool:
    """Whether a virtual environment is the one that dapeer runs in."""
    return in_virtual_environment() and environment.resolve() == Path(sys.prefix).resolve()


def in_virtual_environment() -> bool:
    """Whether dapeer runs in a virtual environment: elsewhere nothing is its own."""
    return sys.prefix != sys.base_prefix


def active(env: Mapping[str, str]) -> Path | None:
    """Return the virtual environment that a person has activated; None: there is none, or it is dapeer's."""
    path = Path(env["VIRTUAL_ENV"]) if env.get("VIRTUAL_ENV") else None
    return None if path is None or is_own(path) else path
