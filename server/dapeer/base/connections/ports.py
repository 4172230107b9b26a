"""TCP ports for the servers that dapeer starts."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path
from typing import Final

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
    """Return a TCP port of `host` that is free now, and that the system does not give to others by itself.

    A server may listen there only after a while: by then the system could have given a port of its own range to another program, to
    which dapeer would connect in its place. So the port is below that range; only if `MAX_PORT_TRIES` of those are taken, it is any
    free one. It is not reserved.
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
    """Return the lowest port that the system gives to programs that ask for any free port.

    `file` is Linux's file with that range; without it the result is that of RFC 6335.
    """
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text("ascii").split()[0])
    return FIRST_GIVEN
