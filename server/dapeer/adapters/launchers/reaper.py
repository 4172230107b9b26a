"""Kill what a process that died has left behind. Only the standard library; run with `-I -S`.

Reads lines from stdin: `+PID` to watch a process, `-PID` to forget it. When stdin ends, because the
other side has died in whatever way, every watched process is killed, with the process group it
leads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


class Watch:
    """The processes to kill, each known by its start time too: the number alone may be reused."""

    def __init__(self) -> None:
        self.watched: dict[int, tuple[str, bool, bool]] = {}

    def obey(self, line: str) -> None:
        """Do what one line says."""
        pid = int(line[1:])
        if line.startswith("+"):
            self.watched[pid] = started(pid), leads_group(pid), session_of(pid) == pid
        else:
            self.watched.pop(pid, None)

    def kill_all(self) -> None:
        """Kill the processes that are still the ones we were told of, their groups and sessions."""
        for pid, (since, led, whole) in self.watched.items():
            now = started(pid)
            if now not in ("", since):
                continue
            # A group outlives its leader, and keeps its number from being used again.
            if led or leads_group(pid):
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
            if now or not os.path.isdir("/proc/self"):  # noqa: PTH112 - pathlib takes time to import
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            # An adapter's debuggee may have a group of its own, but not a session.
            for other in members(pid) if whole else ():
                with contextlib.suppress(OSError):
                    os.kill(other, signal.SIGKILL)


def started(pid: int) -> str:
    """Return when a process started, in ticks since boot; nothing when that is not known."""
    return status(pid, 19)


def session_of(pid: int) -> int:
    """Return the session of a process; 0 when that is not known."""
    return int(status(pid, 3) or 0)


def members(session: int) -> list[int]:
    """Return the processes of a session."""
    names = os.listdir("/proc") if os.path.isdir("/proc/self") else []  # noqa: PTH208, PTH112
    return [int(name) for name in names if name.isdigit() and session_of(int(name)) == session]


def status(pid: int, field: int) -> str:
    """Return a field of a process's status, counted from its state; nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            # The name, in parentheses, may hold anything.
            return file.read().rpartition(b")")[2].split()[field].decode()
    except (OSError, IndexError):
        return ""


def leads_group(pid: int) -> bool:
    """Whether a process leads its process group."""
    try:
        return os.getpgid(pid) == pid
    except OSError:
        return False


def main() -> None:
    """Watch until stdin ends, then kill."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch = Watch()
    for line in sys.stdin:
        watch.obey(line)
    watch.kill_all()


if __name__ == "__main__":
    main()
