"""Waits until the debugger of an attached program has let go of it. A part of the reaper."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

SECONDS_TO_DETACH = 1.0
"""Seconds in which a debugger whose input has ended detaches by itself; then it gets its signal."""
SECONDS_BETWEEN_SIGNALS = 4.0
"""Seconds between two such signals, of which one may come while a debugger is deaf to it."""
SECONDS_TO_LEAVE = 10.0
"""Seconds that a debugger which traces nothing has to end by itself."""
SECONDS_TO_STOP = 2.0
"""Seconds for processes to stop that are told to; one that waits for a file system may take long."""


def detach(pid: int, since: str, number: int, delay: float) -> None:
    """Have a debugger detach, whose input has ended, and wait for that; then end what stays of it.

    Nothing tells that a process is traced no more, so it is looked at now and then, and at each end of a debugger's process. One that
    somebody has stopped is continued once: who stops it again means it.

    Args:
        pid: The debugger's process.
        since: When that was started, as in its `stat`.
        number: The signal that makes it detach where the end of its input does not; 0: none does.
        delay: Seconds to wait for longer before such a signal; several may wait for one debugger.
    """
    now = time.monotonic()
    family = debuggers(pid, since, {})
    send(family, signal.SIGCONT)
    free, signalled = now, now - SECONDS_BETWEEN_SIGNALS + delay + SECONDS_TO_DETACH
    while family:
        now = time.monotonic()
        if tracing := tracers(family):
            free = now
            if number and now >= signalled + SECONDS_BETWEEN_SIGNALS:
                send(tracing, number)
                signalled = now
        elif now >= free + SECONDS_TO_LEAVE and not holds(family):
            send(family, signal.SIGKILL)
            return
        wait_for_any(family)
        family = debuggers(pid, since, family)


def debuggers(pid: int, since: str, known: dict[int, str]) -> dict[int, str]:
    """Return a debugger's processes that live, each with the time of its start.

    They are its first one, those of the POSIX session that this leads, those that were `known`, and what all these have started: a
    debugger may have a server of its own in another session. None where another process has the number of the first one by now.
    """
    if "".join(stat(pid)[19:20]) not in ("", since):
        return {}
    stats = {each: stat(each) for each in numbers("/proc")}
    living = {each: fields for each, fields in stats.items() if fields and fields[0] not in "ZX"}
    if not living:
        return {pid: since} if runs(pid) else {}
    found = {each for each, at in known.items() if each in living and living[each][19] == at}
    found |= {each for each, fields in living.items() if each == pid or int(fields[3]) == pid}
    while more := {each for each, fields in living.items() if int(fields[1]) in found} - found:
        found |= more
    return {each: living[each][19] for each in found}


def tracers(family: Collection[int]) -> set[int]:
    """Return those of some processes of which a thread traces a living process."""
    found: set[int] = set()
    for pid in numbers("/proc"):
        for thread in numbers(f"/proc/{pid}/task"):
            # A dead one may be counted as traced until it is buried.
            task = facts(f"{pid}/task/{thread}")
            tracer = (
                facts(task.get("TracerPid", "0")) if task.get("State", "Z")[0] not in "ZX" else {}
            )
            found |= {int(tracer.get("Tgid", "0"))} & {*family}
    return found


def holds(family: Collection[int]) -> bool:
    """Stop some processes; return whether one of them traces a process by then, and continue them if so.

    What is stopped attaches to nothing, so none of them can take a program with it.
    """
    send(family, signal.SIGSTOP)
    until = time.monotonic() + SECONDS_TO_STOP
    tasks = [f"{pid}/task/{each}" for pid in family for each in numbers(f"/proc/{pid}/task")]
    while any(stat(each)[:1] in (["R"], ["D"]) for each in tasks) and time.monotonic() < until:
        os.sched_yield()
    traces = bool(tracers(family))
    if traces:
        send(family, signal.SIGCONT)
    return traces


def send(family: Collection[int], number: int) -> None:
    """Send a signal to some processes, as far as they are there."""
    for pid in family:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def wait_for_any(family: Collection[int]) -> None:
    """Wait until one of some processes has ended, for a part of a second at most."""
    poll, files = select.poll(), list[int]()
    for pid in family:
        with contextlib.suppress(OSError, AttributeError):
            files.append(os.pidfd_open(pid))
            poll.register(files[-1], select.POLLIN)
    poll.poll(SECONDS_TO_DETACH * 1000 / 4)
    for file in files:
        os.close(file)


def numbers(folder: str) -> list[int]:
    """Return the processes of `/proc`, or the threads of one; empty if there are none, or nobody tells."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def facts(task: str) -> dict[str, str]:
    """Return the fields of a process's or a thread's `status`, by name; empty if it has ended."""
    try:
        with open(f"/proc/{task}/status", encoding="utf-8", errors="replace") as file:
            return {
                name: value.strip() for name, _, value in (line.partition(":") for line in file)
            }
    except OSError:
        return {}


def stat(task: int | str) -> list[str]:
    """Return the fields of the `stat` of a process or a thread, state first; empty if it is gone."""
    try:
        with open(f"/proc/{task}/stat", "rb") as file:
            # The name, in parentheses, may contain spaces and parentheses.
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def runs(pid: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
