"""Kill the processes and remove the folders that a dead process has left behind.

Reads lines from stdin. `process PID STARTED LEADS_GROUP LEADS_SESSION`, the same with `attached` and SIGNAL, and `folder NAME`
(hexadecimal) add something to clean up; `forget PID` and `forget NAME` remove it. When stdin ends, the other side has died: every
listed process is killed, with the process group and the session that it leads, and every listed folder is
removed. Only the standard library; run with `-I -S NUMBER`, which counts these processes.

A debugger that is killed takes the program with it that it is attached to: its breakpoints stay there. So one that is `attached` is never
killed while it traces a process. At the end of stdin, or at `detach PID`, a process of its own waits until it has let go.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

if __name__ == "__main__":
    # `-I` and `-S` leave out where this package is.
    sys.path.append(os.path.abspath(f"{__file__}/../../../.."))
from dapeer.companions.process.detaching import SECONDS_BETWEEN_SIGNALS, detach, numbers, stat

SECONDS_TO_DIE = 2.0
"""Timeout for the killed processes to end, after which their folders are removed anyway."""


class Cleanup:
    """What to clean up. The start time identifies a process, since its number may be reused."""

    def __init__(self, delay: float = 0.0) -> None:
        """`delay` has the signals of several such processes not come at once, in seconds."""
        self.delay = delay
        self.processes: dict[int, tuple[str, bool, bool]] = {}
        self.attached: dict[int, int] = {}
        """Debuggers of attached programs, each with the signal that makes it detach; 0: none does."""
        self.folders: set[str] = set()

    def obey(self, line: str) -> None:
        """Carry out one line of stdin."""
        match line.split():
            case ["process", pid, since, group, session]:
                self.processes[int(pid)] = since, group == "True", session == "True"
            case ["attached", pid, since, group, session, number]:
                self.processes[int(pid)] = since, group == "True", session == "True"
                self.attached[int(pid)] = int(number)
            case ["detach", pid] if int(pid) in self.attached:
                self.detach_beside(int(pid))
            case ["folder", name]:
                self.folders.add(name)
            case ["forget", name]:
                self.folders.discard(name)
                self.processes.pop(int(name) if name.isdecimal() else 0, None)
                self.attached.pop(int(name) if name.isdecimal() else 0, None)
            case _:
                pass

    def do_away(self) -> None:
        """Kill the processes whose start time is still the same; when they have ended, remove the folders.

        Debuggers of attached programs are left to processes of their own.
        """
        for pid in [*self.attached]:
            self.detach_beside(pid)
        killed = [file for pid in self.processes for file in self.kill(pid)]
        if self.folders:
            wait_for(killed)
            # Slow to import.
            import shutil

            for name in self.folders:
                shutil.rmtree(os.fsdecode(bytes.fromhex(name)), ignore_errors=True)

    def detach_beside(self, pid: int) -> None:
        """Start a process that waits until a debugger has detached, and forget that debugger."""
        number, since = self.attached.pop(pid), self.processes.pop(pid)[0]
        if os.fork():
            return
        try:
            # Nobody is to wait for its end.
            for stream in (sys.stdin, sys.stdout):
                os.close(stream.fileno())
            detach(pid, since, number, self.delay)
        finally:
            os._exit(0)

    def kill(self, pid: int) -> list[int]:
        """Kill a process, its group and session; return file descriptors that are readable at their end."""
        since, led, whole = self.processes[pid]
        now = started(pid)
        if now not in ("", since):
            return []
        killed: list[int] = []
        if now or not os.path.isdir("/proc/self"):
            killed += kill(pid)
        # A group outlives its leader. Until it ends, the system does not reuse its number.
        if led or leads_group(pid):
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        # A debuggee may have its own process group, but stays in the adapter's session. A process may start
        # another one before it is killed, so this repeats until none is new.
        known: set[int] = set()
        while whole and (found := members(pid) - known):
            killed += [file for other in found for file in kill(other)]
            known |= found
        return killed


def kill(pid: int) -> list[int]:
    """Kill a process; return a pidfd, which becomes readable when it has ended, if the system has them."""
    files: list[int] = []
    with contextlib.suppress(OSError):
        if hasattr(os, "pidfd_open"):
            files = [os.pidfd_open(pid)]
        os.kill(pid, signal.SIGKILL)
    return files


def wait_for(files: list[int]) -> None:
    """Wait until all processes have ended, for `SECONDS_TO_DIE` at most."""
    until = time.monotonic() + SECONDS_TO_DIE
    for file in files:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        poll.poll(max(0, until - time.monotonic()) * 1000)


def line_of(pid: int) -> str:
    """Return the line of stdin that adds a running process."""
    session = session_of(pid) == pid
    return f"process {pid} {started(pid) or '-'} {leads_group(pid)} {session}\n"


def attached_line_of(pid: int, number: int) -> str:
    """Return the line that adds an attached program's debugger, with the signal that makes it detach or 0."""
    return line_of(pid).replace("process", "attached").replace("\n", f" {number}\n")


def started(pid: int) -> str:
    """Return when a process started, in clock ticks since boot; empty if unknown."""
    return "".join(stat(pid)[19:20])


def session_of(pid: int) -> int:
    """Return the POSIX session of a process; 0 if unknown."""
    return int("".join(stat(pid)[3:4]) or 0)


def members(session: int) -> set[int]:
    """Return the processes of a POSIX session."""
    return {pid for pid in numbers("/proc") if session_of(pid) == session}


def leads_group(pid: int) -> bool:
    """Whether a process leads its process group."""
    try:
        return os.getpgid(pid) == pid
    except OSError:
        return False


def main() -> None:
    """Read stdin until it ends, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Who has started a process that waits does not wait for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    watch = Cleanup(SECONDS_BETWEEN_SIGNALS / 2 * int(sys.argv[1]))
    for line in sys.stdin:
        watch.obey(line)
    watch.do_away()


if __name__ == "__main__":
    main()
