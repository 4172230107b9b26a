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
        """Create it with nothing to clean up.

        `delay` is how many seconds each `detach` waits for longer before its signal, so that the signals of several reapers do not come at
        once.
        """
        self.delay = delay
        self.processes: dict[int, tuple[str, bool, bool]] = {}
        self.attached: dict[int, int] = {}
        """Debuggers of attached programs, each with the signal that makes it detach; 0: none does."""
        self.folders: set[str] = set()

    def obey(self, line: str) -> None:
        """Carry out one line of stdin: it adds something to clean up, removes it, or has a debugger detach.

        The forms are `process PID STARTED LEADS_GROUP LEADS_SESSION`, `attached` with the same and SIGNAL (0:
        none), `folder NAME`, `forget PID_OR_NAME`, and `detach PID`. The last one, for a debugger that is listed as
        attached, forks a process that has the debugger detach, by SIGNAL if need be, and forgets PID here.
        `LEADS_…` are `True` or `False`; NAME is hexadecimal. Any other line is ignored, as is one whose PID or
        SIGNAL is no number.
        """
        match line.split():
            case ["process", pid, since, group, session] if pid.isdecimal():
                self.processes[int(pid)] = since, group == "True", session == "True"
            case ["attached", pid, since, group, session, number] if (pid + number).isdecimal():
                self.processes[int(pid)] = since, group == "True", session == "True"
                self.attached[int(pid)] = int(number)
            case ["detach", pid] if pid.isdecimal() and int(pid) in self.attached:
                self.fork_detach(int(pid))
            case ["folder", name]:
                self.folders.add(name)
            case ["forget", name]:
                self.folders.discard(name)
                self.processes.pop(int(name) if name.isdecimal() else 0, None)
                self.attached.pop(int(name) if name.isdecimal() else 0, None)
            case _:
                pass

    def clean_up(self) -> None:
        """Kill all listed processes, then delete the listed folders.

        With folders, the end of the processes is awaited first, for `SECONDS_TO_DIE` at most; the folders are
        deleted also when that time is over. A process whose start time has changed is another one, and is left
        alone. Debuggers of attached programs are not killed here: for each a process is forked, if that can be, that
        waits until it has detached. A folder whose name was not given in hexadecimal is left out.
        """
        for pid in [*self.attached]:
            self.fork_detach(pid)
        killed = [
            file for pid in self.processes if pid not in self.attached for file in self.kill(pid)
        ]
        if self.folders:
            wait_for(killed)
            # Slow to import.
            import shutil

            for name in self.folders:
                # One that is no name keeps no other folder from being removed.
                with contextlib.suppress(ValueError):
                    shutil.rmtree(os.fsdecode(bytes.fromhex(name)), ignore_errors=True)

    def fork_detach(self, pid: int) -> None:
        """Fork a process that makes a debugger detach (by `detach`); forget the debugger here.

        `pid` is the debugger's, and is removed from `attached` and from `processes`. This returns in the parent
        only, and at once; the child closes stdin and stdout, and exits when `detach` has returned. Where no process
        can be forked, nothing happens, and the debugger stays in both.

        Raises:
            KeyError: The debugger is not in both of them.
        """
        number, since = self.attached[pid], self.processes[pid][0]
        try:
            child = os.fork()
        except OSError:
            return
        if child:
            del self.attached[pid], self.processes[pid]
            return
        try:
            # Nobody is to wait for its end.
            for stream in (sys.stdin, sys.stdout):
                os.close(stream.fileno())
            detach(pid, since, number, self.delay)
        finally:
            os._exit(0)

    def kill(self, pid: int) -> list[int]:
        """Kill a listed process, the group that it leads, and, if so registered, its POSIX session.

        Nothing is killed if another process has its number by now, which is not checked on a system without `/proc`.
        The group and the POSIX session are killed also where the process has ended itself. Return open pidfds of the
        process and of those of its session, each readable once that process has ended; there is none for the others of
        the group. The list is empty where the system has no pidfds or nothing was killed. Nobody closes the pidfds
        here, and the process stays in `processes`.

        Raises:
            KeyError: The process is not in `processes`.
        """
        since, led, whole = self.processes[pid]
        now = start_ticks(pid)
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
        while whole and (found := session_members(pid) - known):
            killed += [file for other in found for file in kill(other)]
            known |= found
        return killed


def kill(pid: int) -> list[int]:
    """Send SIGKILL to a process; return a list with its open pidfd, which is readable once it has ended.

    The list is empty if the pidfd cannot be opened: there is no such process, or the system has no pidfds, where
    the process is killed all the same. A process that may not be signalled is left alone, and its pidfd is in the
    list all the same. Nobody closes the pidfd: the reaper ends soon.
    """
    files: list[int] = []
    if hasattr(os, "pidfd_open"):
        # An old system, or a filter of its calls, has none all the same.
        with contextlib.suppress(OSError):
            files = [os.pidfd_open(pid)]
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    return files


def wait_for(files: list[int]) -> None:
    """Wait until the processes of all these pidfds have ended, for `SECONDS_TO_DIE` at most."""
    until = time.monotonic() + SECONDS_TO_DIE
    for file in files:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        poll.poll(max(0, until - time.monotonic()) * 1000)


def line_of(pid: int) -> str:
    """Return the line of the reaper's stdin that registers a running process `pid`."""
    session = session_of(pid) == pid
    return f"process {pid} {start_ticks(pid) or '-'} {leads_group(pid)} {session}\n"


def attached_line_of(pid: int, number: int) -> str:
    """Return the line of the reaper's stdin that registers the debugger of an attached program.

    `number` is the signal that makes it detach; 0: none does.
    """
    return line_of(pid).replace("process", "attached").replace("\n", f" {number}\n")


def start_ticks(pid: int) -> str:
    """Return when a process was started, in clock ticks since boot; empty if unknown."""
    return "".join(stat(pid)[19:20])


def session_of(pid: int) -> int:
    """Return the POSIX session of a process; 0 if unknown."""
    return int("".join(stat(pid)[3:4]) or 0)


def session_members(session: int) -> set[int]:
    """Return the processes of a POSIX session."""
    return {pid for pid in numbers("/proc") if session_of(pid) == session}


def leads_group(pid: int) -> bool:
    """Return whether a process is the leader of its process group; False if there is no such process."""
    try:
        return os.getpgid(pid) == pid
    except OSError:
        return False


def main() -> None:
    """Register what the lines of stdin say until it ends, then clean all of that up.

    Clean-up kills processes and removes folders; the debugger of an attached program is first made to
    detach, in a forked process. It blocks until stdin ends. A last line without a line end is ignored, as is a
    line of another form (see `Cleanup.obey`). `sys.argv[1]` is the number of this reaper among those of its
    core (the server process), from 0; it delays the signals to such debuggers, so that those of several reapers
    do not come at once. SIGINT, SIGTERM and SIGHUP are ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Who has started a process that waits does not wait for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    watch = Cleanup(SECONDS_BETWEEN_SIGNALS / 2 * int(sys.argv[1]))
    for line in sys.stdin:
        # A core that is killed while it writes may leave half a line, which could name a folder above the one that is meant.
        if line.endswith("\n"):
            watch.obey(line)
    watch.clean_up()


if __name__ == "__main__":
    main()
