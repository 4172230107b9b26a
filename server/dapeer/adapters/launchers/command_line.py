"""Changes the command line of this process, as the system tells it to other processes. Linux only.

The system reads it from the memory of the process, at places that the process may change (`prctl(2)`, `PR_SET_MM_MAP`, since
Linux 3.18; some kernels are built without).

This runs in the program's own Python.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

PR_SET_MM, PR_SET_MM_MAP = 35, 14
UNCHANGED = 2**32 - 1
"""In place of the descriptor of another program file."""


class Places(ctypes.Structure):
    """Where the parts of a process are in its memory: `struct prctl_mm_map`."""

    # Each with its field in /proc/PID/stat, numbered from 1; 0: none.
    OF_STAT = (
        *(("start_code", 26), ("end_code", 27), ("start_data", 45), ("end_data", 46)),
        *(("start_brk", 47), ("brk", 0), ("start_stack", 28)),
        *(("arg_start", 48), ("arg_end", 49), ("env_start", 50), ("env_end", 51), ("auxv", 0)),
    )
    _fields_ = (
        *((name, ctypes.c_uint64) for name, _ in OF_STAT),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    )


_held: list[Any] = []
"""What the system reads."""


def told() -> bytes:
    """Return the command line: the arguments, each with a zero byte behind it.

    Raises:
        OSError: The system has no `/proc`.
    """
    return Path("/proc/self/cmdline").read_bytes()


def tell(text: bytes) -> None:
    """Make this the command line.

    Raises:
        OSError: The system does not allow that.
    """
    libc: Any = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    buffer = ctypes.create_string_buffer(text, len(text))
    begin = ctypes.addressof(buffer)
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    known = {name: int(fields[number - 3]) for name, number in Places.OF_STAT if number}
    known.update(arg_start=begin, arg_end=begin + len(text), exe_fd=UNCHANGED)
    places = Places(**known)
    where, size = ctypes.addressof(places), ctypes.sizeof(places)
    # The end of the heap must be where it is at that moment.
    while places.brk != libc.sbrk(0):
        places.brk = libc.sbrk(0)
        if libc.prctl(PR_SET_MM, PR_SET_MM_MAP, where, size, 0):
            raise OSError(ctypes.get_errno(), "prctl")
    _held.append(buffer)
