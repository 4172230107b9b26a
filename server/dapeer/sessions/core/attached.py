"""What becomes of a program that a debugger was attached to, read from its process."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from typing import Final

import anyio

from dapeer.base.connections import LOOPBACK
from dapeer.base.connections.ownership import listening_processes
from dapeer.base.system import process_end
from dapeer.base.system.process_table import is_held, is_running, pending_signals, tracer
from dapeer.sessions.core.plan import Plan

RUNS_ON: Final = "the program runs on"
UNKNOWN: Final = "dapeer does not know what became of the program"
"""Its process is not known, and its debugger has not left it in order."""
SECONDS_BETWEEN_LOOKS = 0.02
"""Nothing tells that a process has taken a signal; so it is looked at now and then."""
_STOPS = 1 << (signal.SIGTRAP - 1)
"""By what some debuggers stop a program, in a mask of signals."""


def attached_pid(plan: Plan) -> int | None:
    """Return the pid of the process that an attach plan debugs; None: it is not known.

    It is the plan's `pid` input, or the one process that listens at its `port`. It is not known if the plan launches a program, if the
    adapter itself is what listens at the port (transport `connect`), or if not exactly one process listens there.
    """
    pid, port = plan.inputs.get("pid"), plan.inputs.get("port")
    way = plan.definition.attach.get("tcp")
    if plan.request != "attach" or isinstance(pid, int) or port is None or way is None:
        return pid if plan.request == "attach" and isinstance(pid, int) else None
    connects = plan.definition.transport_of(plan.request, plan.inputs).kind == "connect"
    if connects or not way.port_in:
        return None
    host = str(plan.inputs.get("host") or LOOPBACK)
    found = listening_processes(host, int(str(port))) or []
    return found[0] if len(found) == 1 else None


class AttachedProgram:
    """A process of this machine that was attached to, and runs on when its debugger leaves it."""

    def __init__(self, pid: int) -> None:
        """Open a pidfd of the process `pid`, to tell it from a later process with the same number.

        The process need not exist any more.
        """
        self.pid = pid
        # A descriptor tells the process from another one that gets its number.
        self._file = process_end.opened(pid)

    def close(self) -> None:
        """Close the pidfd; from then on the methods see only whether some process has this number."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait at most `seconds` for the process to end; return whether it has ended by then."""
        if self._file is not None:
            with anyio.move_on_after(seconds):
                await process_end.wait_for_end(self.pid, self._file)
        return self._has_ended()

    async def wait_for_stop_signal(self, seconds: float) -> None:
        """Wait at most `seconds` until the process has no pending SIGTRAP, or has ended; nothing is returned.

        Some debuggers stop a program by SIGTRAP. Where the signal is still pending when the debugger detaches, it kills the program, so a
        caller waits before it lets the adapter go.
        """
        with anyio.move_on_after(seconds):
            while True:
                if self._has_ended() or not pending_signals(self.pid) & _STOPS:
                    return
                await anyio.sleep(SECONDS_BETWEEN_LOOKS)

    def fate(self) -> str:
        """Return a clause on the state of the process now, such as "the program runs on".

        It says whether the process has ended (and by which signal), is still traced by a debugger, is in state T, or runs (`RUNS_ON`).
        """
        if self._has_ended():
            number = process_end.deadly_signal(self.pid, self._file) if self._file else None
            return f"the program has ended{(number and f', killed by {number}') or ''}"
        if tracer(self.pid):
            return "the debugger has not let go of the program yet, and dapeer has it do so as soon as it can"
        if is_held(self.pid):
            return f"the program is stopped (state T): `kill -CONT {self.pid}` continues it"
        return RUNS_ON

    def _has_ended(self) -> bool:
        """Return whether the process has ended, by its pidfd, or without one, by its number."""
        if self._file is None:
            return not is_running(self.pid)
        with contextlib.suppress(OSError):
            return bool(select.select([self._file], [], [], 0)[0]) or not is_running(self.pid)
        return True
