"""Which adapter debugs a process that runs already."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dapeer.adapters.definition import Definition
from dapeer.errors import AdapterUnknown


def choose_for_process(definitions: Mapping[str, Definition], *, pid: int | None) -> Definition:
    """Return the definition for a process by pid, or, without one, for a port to connect to.

    A process is told by its executable: an interpreter that a definition knows, else a compiled
    program. A port tells nothing: the first adapter that can connect is taken.

    Raises:
        AdapterUnknown: None fits.
    """
    way = "tcp" if pid is None else "pid"
    able = [definition for definition in definitions.values() if way in definition.attach]
    if pid is not None:
        name = _executable(pid)
        interpreted = [d for d in able if any(name.startswith(known) for known in d.shebangs)]
        able = interpreted or [d for d in able if d.binaries]
    if not able:
        types = ", ".join(sorted(definitions))
        raise AdapterUnknown(f"No adapter is known that attaches by {way}.", f"Types: {types}.")
    return able[0]


def is_running(pid: int) -> bool:
    """Whether there is a process with this id, whoever owns it."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _executable(pid: int) -> str:
    """Return the name of a process's executable, empty where the system does not tell."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""
