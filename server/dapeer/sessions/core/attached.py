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
    """Return the process that is attached to, by its id or as what listens at a port; None: unknown.

    What listens is the program where it is found by its command line, and dapeer starts the adapter.
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
    """A process of this machine that lives on when its debugger leaves it."""

    def __init__(self, pid: int) -> None:
        """Remember a process, which need not live any more."""
        self.pid = pid
        # A descriptor tells the process from another one that gets its number.
        self._file = process_end.opened(pid)

    def close(self) -> None:
        """Release it; what became of it is not known any more."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    async def ended(self, seconds: float) -> bool:
        """Wait some seconds for its end; return whether it has ended."""
        if self._file is not None:
            with anyio.move_on_after(seconds):
                await process_end.over(self.pid, self._file)
        return self._has_ended()

    async def has_taken_stop(self, seconds: float) -> None:
        """Wait some seconds until the program has taken the signal by which its debugger stops it (SIGTRAP).

        It would kill the program once the debugger has left. It stays where a thread met a breakpoint at that moment.
        """
        with anyio.move_on_after(seconds):
            while True:
                if self._has_ended() or not pending_signals(self.pid) & _STOPS:
                    return
                await anyio.sleep(SECONDS_BETWEEN_LOOKS)

    def fate(self) -> str:
        """Return what became of it, as a part of a sentence."""
        if self._has_ended():
            number = process_end.deadly_signal(self.pid, self._file) if self._file else None
            return f"the program has ended{(number and f', killed by {number}') or ''}"
        if tracer(self.pid):
            return "the debugger has not let go of the program yet, and dapeer has it do so as soon as it can"
        if is_held(self.pid):
            return f"the program is stopped (state T): `kill -CONT {self.pid}` continues it"
        return RUNS_ON

    def _has_ended(self) -> bool:
        if self._file is None:
            return not is_running(self.pid)
        with contextlib.suppress(OSError):
            return bool(select.select([self._file], [], [], 0)[0]) or not is_running(self.pid)
        return True
