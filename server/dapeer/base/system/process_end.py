"""Waits for the end of any process, and finds the signal that ended it. Linux only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import struct
from collections.abc import Callable, Sequence

import anyio

from dapeer.base.system import process_table

_GET_INFO, _EXIT = 0xC040_FF0B, 1 << 3
"""PIDFD_GET_INFO with the first 64 bytes of its answer, and the field to read: PIDFD_INFO_EXIT."""
_PENDING, _FLAGS, _STATUS = 28, 6, 49
"""Fields of a task's `stat` from its state on: pending signals, the kernel's flags, the wait status.

Source: proc_pid_stat(5).
"""
_EXITING = 1 << 2
"""PF_EXITING: a task has started to end.

It gives its memory back before it is a zombie, which takes long where that is much.
"""
_KILL = 1 << (signal.SIGKILL - 1)


def open_pidfd(pid: int) -> int | None:
    """Return a pidfd of a process, which stays valid when the process id is reused; the caller closes it.

    None if there is no such process, or the system has no pidfds.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    with contextlib.suppress(OSError):
        return os.pidfd_open(pid)
    return None


async def wait_for_end(
    pid: int, file: int, started: Callable[[], anyio.Event] = anyio.Event
) -> str | None:
    """Wait until the process of a pidfd has ended; return the signal that ended it, such as `SIGKILL`.

    None: it was no signal, or that is unknown. `pid` is the process's id, `file` is the pidfd, which stays open. A
    pidfd reports the end only when the last thread has been reaped, which a debugger may delay; so the end of another
    thread is waited for as well, where Linux can (6.9): a signal that kills one kills all. While there is no other
    thread, or Linux cannot, `started` is called before each wait; it returns an event that the caller sets when the
    process may have started further threads, which are looked for then. The wait has no limit.
    """
    # A duplicate, since several may wait, and one descriptor has one reader.
    whole = os.dup(file)
    try:
        while True:
            if thread := _other_thread(pid, whole):
                killer = await _wait_with_thread(pid, whole, *thread)
                if killer is not None:
                    return killer
                continue
            await _wait_until_readable(started(), whole)
            if select.select([whole], [], [], 0)[0]:
                return deadly_signal(pid, whole)
    finally:
        os.close(whole)


async def _wait_with_thread(
    pid: int, process_descriptor: int, number: int, descriptor: int
) -> str | None:
    """Wait until a process or one of its threads ends; return the signal that ended the thread, or None.

    `process_descriptor` is the process's pidfd; `descriptor` is that of the thread `number`, and is closed here.
    """
    try:
        await _wait_until_readable(anyio.Event(), process_descriptor, descriptor)
        return _deadly_signal_of_task(f"{pid}/task/{number}", descriptor)
    finally:
        os.close(descriptor)


async def _wait_until_readable(ready: anyio.Event, *files: int) -> None:
    """Wait until one of the descriptors `files` can be read, or until somebody sets `ready`.

    The wait has no limit. A descriptor that can be read sets `ready`, so the event is set when this returns;
    not if it is cancelled. Nothing is read. Each descriptor may have only one such reader in the event loop
    at a time; those of `files` are removed at the end.
    """
    loop = asyncio.get_running_loop()
    for file in files:
        loop.add_reader(file, ready.set)
    try:
        await ready.wait()
    finally:
        for file in files:
            loop.remove_reader(file)


def _other_thread(pid: int, file: int) -> tuple[int, int] | None:
    """Return the id and a new pidfd of a living thread of a process, other than its first.

    `file` is the process's pidfd. The caller closes the new one. None: there is no such thread, the process has
    ended, or the system refuses, such as one that cannot wait for threads.
    """
    with contextlib.suppress(OSError):
        threads = process_table.thread_ids(pid)
        # While a signal can be sent, the process id has not been reused.
        signal.pidfd_send_signal(file, 0)
        for thread in threads:
            if thread != pid and process_table.is_living(f"{pid}/task/{thread}"):
                with contextlib.suppress(ProcessLookupError):
                    return thread, os.pidfd_open(thread, os.O_EXCL)
    return None


def deadly_signal(pid: int, file: int) -> str | None:
    """Return the name of the signal that has ended a process or is ending it; None: no signal, or unknown.

    `file` is the process's pidfd. It does not wait.
    """
    return _deadly_signal_of_task(str(pid), file)


def _deadly_signal_of_task(task: str, file: int) -> str | None:
    """Return the name of the signal that has ended a task, or is ending it; None: no signal, or unknown.

    `task` is its path in `/proc` (`PID`, or `PID/task/TID`), `file` its pidfd.
    """
    status = _status_of_buried(file)
    if status is None:
        status = _status_of_ending(process_table.stat_fields(task))
    with contextlib.suppress(ValueError):
        return signal.Signals(status & 0x7F).name
    return None


def _status_of_ending(stat: Sequence[bytes]) -> int:
    """Return the wait status of a task that has ended or has begun to; 0 for others.

    `stat` are the fields of the task's `stat` file (proc_pid_stat(5)) from its state on; with fewer fields
    than up to the wait status the result is 0. A task with a pending SIGKILL counts as ending: its status is
    SIGKILL's number. A task that has ended with exit code 0 has the status 0, too.
    """
    if len(stat) <= _STATUS:
        return 0
    if int(stat[_FLAGS]) & _EXITING:
        return int(stat[_STATUS])
    # What kills a process is pending in each of its threads until the system has them run. Between that and the beginning of its end
    # only its status tells, where the system gives that from the kill on.
    killed = int(stat[_PENDING]) & _KILL or int(stat[_STATUS]) & 0x7F == signal.SIGKILL
    return signal.SIGKILL if killed else 0


def _status_of_buried(file: int) -> int | None:
    """Return the wait status of a process that its parent has reaped, by its pidfd; None if unknown.

    Linux keeps it from 6.15 on, while the pidfd is open.
    """
    import fcntl  # noqa: PLC0415 - not everywhere

    answer = bytearray(64)
    struct.pack_into("Q", answer, 0, _EXIT)
    with contextlib.suppress(OSError):
        fcntl.ioctl(file, _GET_INFO, answer)
        if struct.unpack_from("Q", answer)[0] & _EXIT:
            return struct.unpack_from("i", answer, 60)[0]
    return None
