"""The rights of an ordinary user, for a test that runs as root: permissions of files hold for it."""

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager

VERSION = 0x20080522
FILE_RIGHTS = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: see capabilities(7)."""


@contextmanager
def without_root_rights() -> Generator[None]:
    """Take the rights to pass over permissions from this thread, and from those that it starts meanwhile.

    Programs that it starts have them again: the kernel gives them to root at each exec.
    """
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    before = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0, os.strerror(ctypes.get_errno())
    fewer = (ctypes.c_uint32 * 6)(*before)
    fewer[0] &= ~FILE_RIGHTS
    assert libc.capset(header, fewer) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0, os.strerror(ctypes.get_errno())
