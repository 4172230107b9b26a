"""Watches the process of a session's program: some adapters never notice that it was killed."""

from __future__ import annotations

import asyncio
import os
from typing import Final

from dapeer.adapters.process.adapter import Adapter
from dapeer.base.system import process_end
from dapeer.base.system.process_table import descendants, tracer
from dapeer.dap.messages import Event, Message
from dapeer.sessions.session import Session
from dapeer.view.snapshot import KILLED

SECONDS_TO_TELL_THE_END: Final = 0.1
"""Seconds that an adapter has to report the end of a program that was killed while stopped."""
SECONDS_WITHOUT_OUTPUT: Final = 0.5
"""The same for one that was running: its last output comes before that."""
TARDY: Final = 3.0
"""The same for a program that has ended by itself, or in an unknown way."""


class ProcessWatch:
    """Notices the end of a program by its process, and the signal that killed it. Linux only."""

    def __init__(self, session: Session, adapter: Adapter, *, inside: bool) -> None:
        """`inside`: the program runs in the adapter's own process, whose end is told when it has ended."""
        self._session = session
        self._adapter = adapter
        self.pid = 0
        """The process; 0: it is not known, or not watched any more."""
        self._file: int | None = None
        self._sure = True
        self._task: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()
        """It may have started threads since it was last looked at."""
        self._dead = False
        """A signal has killed it."""
        self._killer: str | None = None
        self._again = False
        """It was not found, and may be at the first stop."""
        self._inside = inside

    def follow(self, pid: int, *, sure: bool = True) -> None:
        """Watch this process from now on; if not `sure`, only a signal that kills it counts."""
        known = pid == self.pid or self._session.mirror.ended
        file = None if known else process_end.opened(pid)
        if file is not None:
            self.close()
            self.pid, self._file, self._sure = pid, file, sure
            self._begin()

    def find(self) -> None:
        """Find and watch the program's process if its adapter has not named it.

        It is the one in the terminal, or the one below the adapter that is debugged as the system knows
        it, else the only one that the adapter itself has started.
        """
        adapter, terminal = self._adapter.pid, self._adapter.terminal
        if self._file is not None or adapter is None or self._inside:
            return
        if terminal is not None and terminal.pid:
            self.follow(terminal.pid, sure=False)
            return
        below = descendants(adapter)
        traced = [pid for pid in below if tracer(pid)]
        children = [pid for pid, parent in below.items() if parent == adapter]
        found = traced or children
        # Some programs lead a POSIX session of their own; they still end with dapeer.
        if len(found) == 1 and self._adapter.claim(found[0]):
            self.follow(found[0], sure=bool(traced))
        self._again = self._file is None and not self._again

    def heard(self, message: Message) -> None:
        """Record a message of the adapter."""
        if not isinstance(message, Event) or message.event != "stopped":
            return
        if self._is_dead():
            # A dead process cannot stop again.
            self._lose()
        elif self._again:
            # Helper processes of the start have ended by now.
            self.find()
        else:
            self._begin()

    def _is_dead(self) -> bool:
        """Whether a signal has killed it: a stop may arrive before the news of that."""
        if not self._dead and self._file is not None:
            self._killer = process_end.deadly_signal(self.pid, self._file)
            self._dead = self._killer is not None
        return self._dead

    def close(self) -> None:
        """Stop watching: the adapter is released, or the process is not dapeer's."""
        if self._task is not None:
            self._task.cancel()
        if self._file is not None:
            os.close(self._file)
        self._task = self._file = None
        self.pid = 0

    def _begin(self) -> None:
        """Wait for the end; a wait that goes on learns that there may be more threads, one of which it may need."""
        if self._task is not None and not self._task.done():
            self._stopped.set()
        elif self._file is not None:
            self._task = asyncio.create_task(self._keep(self.pid, self._file))

    async def _keep(self, pid: int, file: int) -> None:
        session = self._session
        killer = await process_end.over(pid, file, self._stopped)
        if killer is None and not self._sure:
            return
        self._dead, self._killer = killer is not None, killer
        if killer is None:
            patience = TARDY
        else:
            patience = (
                SECONDS_TO_TELL_THE_END
                if session.mirror.stop is not None
                else SECONDS_WITHOUT_OUTPUT
            )
        # If the adapter has ended first, its end is the reason.
        if not await session.wait_for(lambda: session.mirror.ended or session.over, patience):
            self._lose()
        elif killer is not None:
            session.cause = session.cause or self._why()

    def _lose(self) -> None:
        self._session.lose(self._why())

    def _why(self) -> str:
        return f"{KILLED}{self._killer}" if self._killer else "the adapter did not report its end"
