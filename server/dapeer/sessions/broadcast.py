"""Sends changes to several sessions in parallel, so that a failing one does not affect the others."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from dapeer.base.errors import DapeerError, SourceChanged
from dapeer.base.text.fitting import shortened
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.sessions.core.session import Session
from dapeer.sessions.inspection.fetching import ignore_failure
from dapeer.sessions.inspection.source_versions import RESTART
from dapeer.sessions.outcomes import REASON_CHARS, on_loaded_line

log = logging.getLogger(__name__)

SECONDS_FOR_OTHERS = 1.0
"""Seconds that a change waits for further sessions after the first has applied it."""

SendChange = Callable[[Session], Awaitable[object]]
"""Sends a change to one session, within its own deadline."""


async def set_lines(session: Session, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
    """Make `requested` a file's breakpoints in a session; of a changed file only those on lines with one.

    `path` is the file. The program is asked first whether it has loaded the changed file again. One that has
    another version loaded gets those breakpoints on whose line, in that version, it has one already, and loses
    what is not among them. The others are recorded in `program.awaited_breakpoints`. If the loaded text is not
    known, all are sent.

    Raises:
        SourceChanged: The program does not get some of them.
        DapeerError: The adapter rejects the request, or does not answer.
    """
    if session.inspect.source_versions.change(path) is not None:
        await ignore_failure(session.inspect.ask_for_reload(path))
    change = session.inspect.source_versions.change(path)
    if change is None or change.old_lines is None:
        await session.ensure_breakpoints(path, requested)
        session.program.awaited_breakpoints.record_delivered(path)
        return
    has = [sent for sent, _ in session.mirror.breakpoints.get(path, ())]
    lines = {sent["line"] for sent in has}
    # Those of a Neovim have moved with its signs.
    loaded = [(each, on_loaded_line(session, path, each)) for each in requested]
    kept = [then for _, then in loaded if then["line"] in lines]
    # Sent again, they may be moved: debugpy reads the file of now.
    if sorted(kept, key=_line) != sorted(has, key=_line):
        await session.ensure_breakpoints(path, kept)
    if refused := {(path, each["line"]) for each, then in loaded if then not in kept}:
        session.program.awaited_breakpoints.record_undelivered(refused)
        raise SourceChanged(f"{Path(path).name} has changed since the program loaded it; {RESTART}")


def _line(requested: RequestedBreakpoint) -> int:
    """Return a breakpoint's line, as a key for sorting."""
    return requested["line"]


class Broadcast:
    """A change that is being sent to several sessions, each with its own deadline."""

    def __init__(
        self,
        tasks: TaskGroup,
        change_name: str,
        sessions: Sequence[Session],
        send: SendChange,
        *,
        is_taken_elsewhere: bool = False,
    ) -> None:
        """Start a task for each session that calls `send`; `change_name` names the change in texts.

        `is_taken_elsewhere`: a session that is not among these has the change already, so `wait_for_failures` gives the
        others `SECONDS_FOR_OTHERS` only.
        """
        self._change_name = change_name
        self._clock = anyio.current_time
        self._stop_taken_at = self._clock() if is_taken_elsewhere else None
        self._sessions = sessions
        self._answers: dict[Session, str] = {}
        """Why a session has not applied it; empty: it has."""
        self._progress_event = anyio.Event()
        """Set at the next of these."""
        for session in sessions:
            tasks.start_soon(self._send, send, session)

    async def _send(self, send: SendChange, session: Session) -> None:
        """Call `send` for one session, and keep why the session has not applied the change (empty: it has).

        The reason is kept in `_answers`, and whoever waits for progress is woken. At the first success the time is kept in
        `_stop_taken_at`: from then on the other sessions have `SECONDS_FOR_OTHERS`. An error raises nothing: its text is
        the reason, and an unexpected error is logged. If the call is cancelled, the reason says that dapeer did not wait,
        and the cancellation goes on.
        """
        why = "dapeer did not wait for it"
        try:
            await send(session)
            why = ""
            self._stop_taken_at = self._stop_taken_at or self._clock()
        except DapeerError as error:
            why = error.problem
        except Exception:
            log.exception("telling session %s", session.id)
            why = "dapeer failed to do it; its log says why"
        finally:
            self._answers[session] = why
            self._progress_event.set()
            self._progress_event = anyio.Event()

    async def wait_for_failures(self) -> list[str]:
        """Wait for the sessions; return a line for each that has not applied the change, with the reason.

        Until one has applied it, here or elsewhere (`is_taken_elsewhere`), the wait has no limit but the sessions'
        own deadlines; from then on the others are waited for during `SECONDS_FOR_OTHERS` only, and go on applying it:
        they have a line, too. Sessions whose program has ended are left out.
        """
        while self._waits and self._stop_taken_at is None:
            await self._progress_event.wait()
        if self._stop_taken_at is not None:
            with anyio.move_on_after(self._stop_taken_at + SECONDS_FOR_OTHERS - self._clock()):
                while self._waits:
                    await self._progress_event.wait()
        reasons = ((session, self._why_not_applied(session)) for session in self._sessions)
        return [
            f"session {session.id} ({session.name}) has not applied {self._change_name}{why}"
            for session, why in reasons
            if why and not session.mirror.has_ended
        ]

    @property
    def _waits(self) -> bool:
        """Whether a session has not answered yet."""
        return any(each not in self._answers for each in self._sessions)

    def _why_not_applied(self, session: Session) -> str:
        """Return why a session has not applied the change, to be put behind the line; empty: it has."""
        if session not in self._answers:
            owed = "".join(f" `{each}`" for each in session.channel.unanswered[:1])
            return f" yet: its adapter does not answer{owed}"
        why = " ".join(self._answers[session].split()).rstrip(".")
        return f": {shortened(why, REASON_CHARS)}" if why else ""
