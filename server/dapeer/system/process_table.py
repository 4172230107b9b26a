"""What the system tells of processes: who has started which."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_TABLE = Path("/proc")


def session_of(pid: int) -> int | None:
    """Return the session that a living process belongs to; None where the system does not tell."""
    status = _status(pid)
    if status:
        return int(status[3])
    if not (_TABLE / "self").exists():
        with contextlib.suppress(OSError):
            return os.getsid(pid)
    return None


def members(session: int) -> list[int]:
    """Return the living processes of a session; none where the system does not tell."""
    try:
        names = os.listdir(_TABLE)  # noqa: PTH208 - there are many
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and session_of(int(name)) == session]


def descendants(pid: int) -> dict[int, int]:
    """Return the living processes that one has started, itself or through others, and who has started each; none where the system does not tell."""
    try:
        names = os.listdir(_TABLE)  # noqa: PTH208 - there are many
    except OSError:
        return {}
    parents = {
        int(name): int(status[1])
        for name in names
        if name.isdigit() and (status := _status(int(name)))
    }
    found = {pid}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return {each: parents[each] for each in found - {pid}}


def ancestors(pid: int) -> Iterator[int]:
    """Yield the process that has started one, the one that has started that, …, as far as they live.

    None where the system does not tell.
    """
    seen: set[int] = set()
    while pid not in seen and (status := _status(pid)):
        seen.add(pid)
        pid = int(status[1])
        yield pid


def carries(pid: int, variable: str) -> bool:
    """Whether a process was started with `NAME=value` in its environment; False where the system does not tell."""
    try:
        return variable.encode() in (_TABLE / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def tracer(pid: int) -> int:
    """Return the thread that debugs a process as the system knows it; 0: none does, or the system does not tell."""
    with contextlib.suppress(OSError, ValueError):
        status = (_TABLE / str(pid) / "status").read_text()
        return int(status.partition("TracerPid:")[2].split()[0])
    return 0


def _status(pid: int) -> list[bytes]:
    """Return state, parent, group and session of a living process; nothing when it is gone."""
    try:
        with (_TABLE / str(pid) / "stat").open("rb") as file:
            # The name, in parentheses, may hold anything.
            status = file.read().rpartition(b")")[2].split()[:4]
    except OSError:
        return []
    return [] if status[:1] in ([b"Z"], [b"X"], []) else status
