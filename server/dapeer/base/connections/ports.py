"""TCP ports for the servers that dapeer starts."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path
from typing import Final

LOOPBACK: Final = "127.0.0.1"

_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""The ports that Linux gives to whoever needs any: the first, and the last.

Source: Documentation/networking/ip-sysctl.rst of the kernel.
"""
FIRST_GIVEN: Final = 49_152
"""The first such port by RFC 6335."""
LOWEST_PORT: Final = 15_000
"""Those below it are often taken by services."""
MAX_PORT_TRIES: Final = 20


def free_port(host: str) -> int:
    """Return a port that is free now, and that the system gives to nobody who asks for any.

    The server listens there only after a while, and is connected to as soon as it does. By then the system could have given such a
    port to another program, which would be connected to in its place: the start of a program's debugger fails by that.
    """
    ours = range(LOWEST_PORT, first_given())
    for port in random.sample(ours, min(MAX_PORT_TRIES, len(ours))):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, port))
            return port
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def first_given(file: Path = _GIVEN) -> int:
    """Return the lowest port that the system gives to whoever asks for any."""
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text("ascii").split()[0])
    return FIRST_GIVEN
