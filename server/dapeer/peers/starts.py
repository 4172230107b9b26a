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

    def record_session(self, launch: int, session: ForwardedSession) -> None:
        """Record the session that has come of start number `launch`, and wake its waiter."""
        start = self._start(launch)
        start.session = session
        start.began.set()

    def record_failure(self, launch: int, why: str | DapeerError) -> None:
        """Record that start number `launch` has failed, and wake its waiter.

        `why` is nvim-dap's message or the error to raise; the first reason of a start stays.
        """
        start = self._start(launch)
        start.failure = start.failure or why
        start.began.set()
        start.failed.set()

    def fail_all(self) -> None:
        """Let all starts without an outcome fail, since their Neovim has ended."""
        for launch in list(self._starts):
            self.record_failure(launch, "its Neovim has ended")

    async def wait_for_session(self, launch: int) -> Session:
        """Wait for start number `launch` until its debuggee runs or has ended, and return its session.

        The outcome is forgotten then, so it can be had once.

        Raises:
            AdapterFailed: The start or its adapter failed; the error has the message of nvim-dap or the adapter.
            DapeerError: The start was recorded as failed with this error.
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
        """Return the record of start number `launch`, a new one at the first call.

        Above `MAX_KEPT_STARTS` the oldest is dropped: Neovim also reports the starts of other cores, which nobody here waits for.
        """
        start = self._starts.setdefault(launch, _Start())
        if len(self._starts) > MAX_KEPT_STARTS:
            # Neovim also reports starts of other cores; they have no waiter here.
            del self._starts[next(iter(self._starts))]
        return start


async def _running(session: ForwardedSession, start: _Start) -> None:
    """Wait until a session's debuggee runs or the session is over.

    After an end before `initialized`, nvim-dap's message on it is awaited for `SECONDS_FOR_LAST_WORDS`: it comes by
    another connection.
    """
    await session.wait_for(lambda: session.over or session.mirror.has_started, None)
    if session.over and not session.initialized.is_set() and session.failure is None:
        with anyio.move_on_after(SECONDS_FOR_LAST_WORDS):
            await start.failed.wait()
