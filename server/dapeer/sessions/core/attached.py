"""What becomes of a program that a debugger was attached to, read from its process."""

from __future__ import annotations

import contextlib
import os
import select
from typing import Final

import anyio

from dapeer.base.system import process_end
from dapeer.base.system.process_table import is_held, is_running, tracer

RUNS_ON: Final = "the program runs on"


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
