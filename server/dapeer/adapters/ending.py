"""When a process ends, and by which signal, whoever its parent is. On Linux; elsewhere nobody can tell."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
from pathlib import Path

_GET_INFO, _EXIT = 0xC040_FF0B, 1 << 3
"""The request PIDFD_GET_INFO with the first 64 bytes of its answer, and what is asked for: PIDFD_INFO_EXIT."""


def opened(pid: int) -> int | None:
    """Return a descriptor that stands for a process, whose number may be given to another one.

    None: there is no such process, or the system has no such descriptors.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    with contextlib.suppress(OSError):
        return os.pidfd_open(pid)
    return None


async def over(pid: int, file: int) -> None:
    """Wait until the last thread of a process, for which the descriptor stands, has ended.

    Of a process with several threads the descriptor itself tells the end only when its debugger has
    looked at each, and some do not look while it is stopped. Linux 6.9 tells of single threads.
    """
    if not _stat(str(pid)):  # it is gone, or hidden from us
        await _readable(os.dup(file))
        return
    while (thread := _living_thread(pid, file)) is not None:
        await _readable(thread)


async def _readable(file: int) -> None:
    """Wait until a descriptor can be read, and close it."""
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(file, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(file)
        os.close(file)


def _living_thread(pid: int, file: int) -> int | None:
    """Return a descriptor of a thread that lives, or of the whole process; None when all have ended."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - there may be many
        # As long as there is somebody to send a signal to, the number is still that of the process.
        with contextlib.suppress(PermissionError):
            signal.pidfd_send_signal(file, 0)
        for name in sorted(names, key=int):
            if _stat(f"{pid}/task/{name}")[:1] not in ([], [b"Z"], [b"X"]):
                try:
                    return os.pidfd_open(int(name), os.O_EXCL)
                except ProcessLookupError:  # just now
                    return _living_thread(pid, file)
                except OSError:  # an older system
                    return os.dup(file)
    return None


def deadly_signal(pid: int, file: int) -> str | None:
    """Return the name of the signal that has ended a process; None: none has, or the system does not tell."""
    status = _status_of_buried(file)
    if status is None:
        stat = _stat(str(pid))
        status = int(stat[49]) if stat[:1] == [b"Z"] and len(stat) > 49 else 0
    with contextlib.suppress(ValueError):
        return signal.Signals(status & 0x7F).name
    return None


def _status_of_buried(file: int) -> int | None:
    """Return the wait status of a process that its parent has taken note of, where the system keeps it (Linux 6.15)."""
    import fcntl  # noqa: PLC0415 - not everywhere

    answer = bytearray(64)
    struct.pack_into("Q", answer, 0, _EXIT)
    with contextlib.suppress(OSError):
        fcntl.ioctl(file, _GET_INFO, answer)
        if struct.unpack_from("Q", answer)[0] & _EXIT:
            return struct.unpack_from("i", answer, 60)[0]
    return None


def _stat(task: str) -> list[bytes]:
    """Return the fields of a task's status, its state first; none when it is gone."""
    try:
        # The name, in parentheses, may hold anything.
        return Path(f"/proc/{task}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
