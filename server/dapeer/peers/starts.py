"""The starts that nvim-dap was asked for, and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from dapeer.base.errors import AdapterFailed, DapeerError
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.core.session import Session

MAX_KEPT_STARTS = 20
"""Starts in progress, and outcomes that arrived before their waiter."""
SECONDS_FOR_LAST_WORDS = 0.5
"""Seconds in which nvim-dap says why a session ended before it ran; that comes by another road."""


@dataclass(slots=True)
class _Start:
    session: ForwardedSession | None = None
    """The new session."""
    failure: str | DapeerError | None = None
    """nvim-dap's message on why there is no session, or why it ended at once."""
    began: anyio.Event = field(default_factory=anyio.Event)
    failed: anyio.Event = field(default_factory=anyio.Event)


class Starts:
    """Pairs each start with its session or its failure, which may arrive before the waiter."""

    def __init__(self) -> None:
        self._starts: dict[int, _Start] = {}

    def became(self, launch: int, session: ForwardedSession) -> None:
        """Record the session of a start."""
        start = self._start(launch)
        start.session = session
        start.began.set()

    def failed(self, launch: int, why: str | DapeerError) -> None:
        """Record a failed start."""
        start = self._start(launch)
        start.failure = start.failure or why
        start.began.set()
        start.failed.set()

    def gone(self) -> None:
        """End all starts: nothing more will come of them."""
        for launch in list(self._starts):
            self.failed(launch, "its Neovim has ended")

    async def session_of(self, launch: int) -> Session:
        """Return the session of a start once its debuggee runs.

        Raises:
            AdapterFailed: It failed, with the message of nvim-dap or its adapter.
        """
        start = self._start(launch)
        try:
            await start.began.wait()
            if start.session is not None:
                await _running(start.session, start)
        finally:
            self._starts.pop(launch, None)
        session = start.session
        if isinstance(start.failure, DapeerError):
            raise start.failure
        if start.failure is not None:
            raise AdapterFailed(
                f"nvim-dap could not start this: {start.failure}", "See :messages in Neovim."
            )
        assert session is not None  # noqa: S101 - it began, and did not fail
        if session.failure is not None:
            raise AdapterFailed(
                f"The adapter {session.adapter} {session.failure}",
                "Check program, cwd and config.",
            )
        return session

    def _start(self, launch: int) -> _Start:
        start = self._starts.setdefault(launch, _Start())
        if len(self._starts) > MAX_KEPT_STARTS:
            # Neovim also reports starts of other cores; they have no waiter here.
            del self._starts[next(iter(self._starts))]
        return start


async def _running(session: ForwardedSession, start: _Start) -> None:
    await session.wait_for(lambda: session.over or session.mirror.has_started, None)
    if session.over and not session.initialized.is_set() and session.failure is None:
        with anyio.move_on_after(SECONDS_FOR_LAST_WORDS):
            await start.failed.wait()
