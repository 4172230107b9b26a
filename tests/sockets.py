"""At which sockets processes listen."""

import contextlib
import re
from pathlib import Path

import pytest

from dapeer.base.system import ownership
from tests.processes import descendants

needs_tables = pytest.mark.skipif(
    not ownership.reports_port_owners(),
    reason="this system does not show who owns a TCP port: run it on Linux",
)


def ports_of(pid: int) -> set[int]:
    """Return the TCP ports at which a process and those below it listen."""
    lines = [
        line.split() for path in ownership.TABLES for line in path.read_text().splitlines()[1:]
    ]
    inodes = inodes_of(pid)
    return {int(w[1].rpartition(":")[2], 16) for w in lines if w[3] == "0A" and int(w[9]) in inodes}


def sockets_of(pid: int) -> set[Path]:
    """Return the Unix sockets at which a process and those below it listen; unnamed ones are nobody's to find."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    inodes = inodes_of(pid)
    # The flag of a socket that listens: __SO_ACCEPTCON of the kernel's net.h.
    return {Path(w[7]) for w in lines if len(w) > 7 and w[3] == "00010000" and int(w[6]) in inodes}


def inodes_of(pid: int) -> set[int]:
    """Return the sockets that a process and those below it have open."""
    found: set[int] = set()
    for each in (pid, *descendants(pid)):
        # A process may end, or close a file, at any time.
        with contextlib.suppress(FileNotFoundError):
            for file in Path(f"/proc/{each}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):
                    match = re.fullmatch(r"socket:\[(\d+)\]", str(file.readlink()))
                    found |= {int(match[1])} if match else set()
    return found
