"""`dapeer end --all`: ends what commands have started, and their server."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from typing import Final

from dapeer.base.system.stderr import say
from dapeer.cli.debugging import core
from dapeer.mcp.data_extension import END
from dapeer.scripting.wire import ServerGone

MILLISECONDS_TO_END: Final = 5000
"""Milliseconds in which a server ends that nobody uses."""
NOTHING_RUNS: Final = "Nothing that commands have started runs here.\n"


def end_all() -> int:
    """End all that commands have started, and their server if nobody else uses it; return 0.

    Programs that they have attached to are detached from. What has become of each session is printed to stdout, or that no server runs.
    """
    try:
        server = core.joined(None)
    except ServerGone:
        server = None
    if server is None:
        sys.stdout.write(NOTHING_RUNS)
        return 0
    connection, announcement = server.connection, server.announcement
    process = _opened(announcement.pid) if announcement.detached else None
    lines, is_alone = list[str](), True
    with suppress(ServerGone):
        ended = connection.request(END, {})
        lines, is_alone = [*ended["lines"]], ended["alone"]
    server.close()
    if announcement.detached and is_alone:
        if process is None or _has_ended(process):
            lines.append("Ended the server of this project.")
        else:
            say("the server of this project goes on: another client is there.")
    sys.stdout.write("".join(f"{line}\n" for line in lines) or NOTHING_RUNS)
    return 0


def _opened(pid: int) -> int | None:
    """Return a pidfd of a process, which is readable once it has ended, and which the caller closes.

    None: there is no such process, or the system has no pidfds.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _has_ended(process: int) -> bool:
    """Wait `MILLISECONDS_TO_END` for the end of a pidfd's process, close it; return whether it ended."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    ended = bool(poll.poll(MILLISECONDS_TO_END))
    os.close(process)
    return ended
