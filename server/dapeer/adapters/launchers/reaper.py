"""Do away with what a process that died has left behind. Only the standard library; run with `-I -S`.

Reads lines from stdin: `process PID STARTED LEADS_GROUP LEADS_SESSION` and `folder NAME` (hexadecimal) say
what to watch, `forget PID` and `forget NAME` what no longer. When stdin ends, because the other side
has died in whatever way, every watched process is killed, with the process group and the session that it
leads, and every watched folder is removed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

SECONDS_TO_DIE = 2.0
"""What the killed processes have to be gone before their folders are removed."""


class Watch:
    """What to do away with. Processes are known by their start time too: the number alone may be reused."""

    def __init__(self) -> None:
        self.processes: dict[int, tuple[str, bool, bool]] = {}
        self.folders: set[str] = set()

    def obey(self, line: str) -> None:
        """Do what one line says."""
        match line.split():
            case ["process", pid, since, group, session]:
                self.processes[int(pid)] = since, group == "True", session == "True"
            case ["folder", name]:
                self.folders.add(name)
            case ["forget", name]:
                self.folders.discard(name)
                self.processes.pop(int(name) if name.isdecimal() else 0, None)
            case _:
                pass

    def do_away(self) -> None:
        """Kill the processes that are still the ones we were told of; when they are gone, remove the folders."""
        killed = [file for pid in self.processes for file in self.kill(pid)]
        if self.folders:
            wait_for(killed)
            # It takes time to import.
            import shutil  # noqa: PLC0415

            for name in self.folders:
                shutil.rmtree(os.fsdecode(bytes.fromhex(name)), ignore_errors=True)

    def kill(self, pid: int) -> list[int]:
        """Kill a process, its group and its session; return descriptors that tell when they are gone."""
        since, led, whole = self.processes[pid]
        now = started(pid)
        if now not in ("", since):
            return []
        killed: list[int] = []
        if now or not os.path.isdir("/proc/self"):  # noqa: PTH112 - pathlib takes time to import
            killed += kill(pid)
        # A group outlives its leader, and keeps its number from being used again.
        if led or leads_group(pid):
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        # An adapter's debuggee may have a group of its own, but not a session. What is killed may have
        # started another meanwhile.
        known: set[int] = set()
        while whole and (found := members(pid) - known):
            killed += [file for other in found for file in kill(other)]
            known |= found
        return killed


def kill(pid: int) -> list[int]:
    """Kill a process; return a descriptor that tells when it is gone, where the system has such."""
    files: list[int] = []
    with contextlib.suppress(OSError):
        if hasattr(os, "pidfd_open"):
            files = [os.pidfd_open(pid)]
        os.kill(pid, signal.SIGKILL)
    return files


def wait_for(files: list[int]) -> None:
    """Wait until all processes are gone, for some seconds at most."""
    until = time.monotonic() + SECONDS_TO_DIE
    for file in files:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        poll.poll(max(0, until - time.monotonic()) * 1000)


def line_of(pid: int) -> str:
    """Return the line that has a process watched, which must be running now."""
    session = session_of(pid) == pid
    return f"process {pid} {started(pid) or '-'} {leads_group(pid)} {session}\n"


def started(pid: int) -> str:
    """Return when a process started, in ticks since boot; nothing when that is not known."""
    return status(pid, 19)


def session_of(pid: int) -> int:
    """Return the session of a process; 0 when that is not known."""
    return int(status(pid, 3) or 0)


def members(session: int) -> set[int]:
    """Return the processes of a session."""
    names = os.listdir("/proc") if os.path.isdir("/proc/self") else []  # noqa: PTH208, PTH112
    return {int(name) for name in names if name.isdigit() and session_of(int(name)) == session}


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
    """Watch until stdin ends, then do away with what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch = Watch()
    for line in sys.stdin:
        watch.obey(line)
    watch.do_away()


if __name__ == "__main__":
    main()
