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


def detach(pid: int, start_time: str, number: int, delay: float) -> None:
    """Make a debugger, whose input has ended, detach from its program; return when it has ended.

    The debugger's processes get SIGCONT first, so that a stopped one goes on (only once: who stops it again means
    it). While one of them traces a process, `number` is sent to those that do, first after `delay` +
    `SECONDS_TO_DETACH`, then every `SECONDS_BETWEEN_SIGNALS` seconds, without a limit: the call waits as long.
    Debuggers that trace nothing for `SECONDS_TO_LEAVE` seconds are stopped by SIGSTOP, and killed if they still
    trace nothing; the call then returns without waiting for their end. It also returns at once if the debugger does
    not run. The state is read from `/proc` now and then, and at each end of a debugger's process, since nothing
    reports a detach.

    Args:
        pid: The debugger's first process.
        start_time: The start time of that process, as in its `stat`: another process of the same number is left
            alone.
        number: The signal that makes it detach where the end of its input does not; 0: no signal does.
        delay: Seconds to wait for longer before the first signal, so that several callers do not signal one
            debugger at once.
    """
    now = time.monotonic()
    family = debuggers(pid, start_time, {})
    send(family, signal.SIGCONT)
    free, signalled = now, now - SECONDS_BETWEEN_SIGNALS + delay + SECONDS_TO_DETACH
    while family:
        now = time.monotonic()
        if tracing := tracers(family):
            free = now
            if number and now >= signalled + SECONDS_BETWEEN_SIGNALS:
                send(tracing, number)
                signalled = now
        elif now >= free + SECONDS_TO_LEAVE and not stop_unless_tracing(family):
            send(family, signal.SIGKILL)
            return
        wait_for_any(family)
        family = debuggers(pid, start_time, family)


def debuggers(pid: int, start_time: str, known: dict[int, str]) -> dict[int, str]:
    """Return a debugger's living processes (no zombies), each with its start time as in its `stat`.

    These are process `pid`, those of the POSIX session that it leads, those of `known` (an earlier result) that
    still run with the same start time, and all descendants of these: a debugger may have a server of its own in
    another session. The dict is empty if none lives, or if another process (one that did not start at
    `start_time`) has the number `pid` by now. Without a `/proc` it has only `pid` with `start_time`, which is not
    checked, while this user can signal a process `pid`.
    """
    if "".join(stat(pid)[19:20]) not in ("", start_time):
        return {}
    stats = {each: stat(each) for each in numbers("/proc")}
    living = {each: fields for each, fields in stats.items() if fields and fields[0] not in "ZX"}
    if not living:
        return {pid: start_time} if can_signal(pid) else {}
    found = {each for each, at in known.items() if each in living and living[each][19] == at}
    found |= {each for each, fields in living.items() if each == pid or int(fields[3]) == pid}
    while more := {each for each, fields in living.items() if int(fields[1]) in found} - found:
        found |= more
    return {each: living[each][19] for each in found}


def tracers(family: Collection[int]) -> set[int]:
    """Return those of some processes that trace (`ptrace`) a thread of any living process.

    `family` has the numbers of the processes. The answer is read from `/proc`; it is empty where that does not tell.
    """
    found: set[int] = set()
    for pid in numbers("/proc"):
        for thread in numbers(f"/proc/{pid}/task"):
            # A dead one may be counted as traced until it is buried.
            task = status_fields(f"{pid}/task/{thread}")
            tracer = (
                status_fields(task.get("TracerPid", "0"))
                if task.get("State", "Z")[0] not in "ZX"
                else {}
            )
            found |= {int(tracer.get("Tgid", "0"))} & {*family}
    return found


def stop_unless_tracing(family: Collection[int]) -> bool:
    """Stop some processes with SIGSTOP; return whether one traces a process, and continue all if so.

    If none does, they stay stopped: a stopped debugger attaches to nothing, so it can be killed without harm to a program. The wait for
    them to stop takes `SECONDS_TO_STOP` at most.
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
    """Send the signal `number` to each process of `family`; those that cannot be signalled are skipped."""
    for pid in family:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def wait_for_any(family: Collection[int]) -> None:
    """Wait until one of some processes has ended, for `SECONDS_TO_DETACH` / 4 at most.

    One that is already gone when the call begins, or cannot be watched, is passed over; where none is left, the
    call takes all of that time.
    """
    poll, files = select.poll(), list[int]()
    for pid in family:
        with contextlib.suppress(OSError, AttributeError):
            files.append(os.pidfd_open(pid))
            poll.register(files[-1], select.POLLIN)
    poll.poll(SECONDS_TO_DETACH * 1000 / 4)
    for file in files:
        os.close(file)


def numbers(folder: str) -> list[int]:
    """Return the numbers in a folder: all processes of `/proc`, or the threads of `/proc/PID/task`.

    The list is empty if there are none, or if the folder cannot be read.
    """
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def status_fields(task: str) -> dict[str, str]:
    """Return the fields of a process's or a thread's `/proc/…/status` by name, such as `TracerPid`.

    The values are texts without spaces around. `task` is the path below `/proc`: `PID` or `PID/task/TID`. The
    dict is empty if the file cannot be read: the process or thread has ended, or there is no `/proc`.
    """
    try:
        with open(f"/proc/{task}/status", encoding="utf-8", errors="replace") as file:
            return {
                name: value.strip() for name, _, value in (line.partition(":") for line in file)
            }
    except OSError:
        return {}


def stat(task: int | str) -> list[str]:
    """Return the fields of `/proc/TASK/stat` behind the program's name: state, parent, group, session, ….

    The fields are texts, counted from 0: the state has index 0, and the start time in clock ticks since boot
    index 19. `task` is a `PID` or `PID/task/TID`. The list is empty if the task is gone, or the file cannot be
    read.
    """
    try:
        with open(f"/proc/{task}/stat", "rb") as file:
            # The name, in parentheses, may contain spaces and parentheses.
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def can_signal(pid: int) -> bool:
    """Return whether this user can signal a process of this number; False also for another user's process."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
