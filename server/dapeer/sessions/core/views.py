"""What a session looks like, for who asks, and what a reader has seen of it.

Another client may end its stop meanwhile.
"""

from __future__ import annotations

from typing import cast

import anyio

from dapeer.base.errors import DapeerError, NotStopped
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.session import Session
from dapeer.sessions.inspection.inspection import SECONDS_TO_LOOK
from dapeer.view import snapshot as look
from dapeer.view.stacks import frame_line

MAX_LOOKS = 10
"""Stops that are shown one after the other to one caller: some adapters' looks cause the next stop."""


class MirrorReading:
    """What a session's mirror held when somebody began to read it; more may arrive until the answer."""

    def __init__(self, mirror: Mirror) -> None:
        """Note what the mirror holds now: the stop, the end of the output, and the count of each failure."""
        self._mirror = mirror
        self.stop = mirror.stop
        self._output_end = mirror.output.end
        self._failures = [(failure, failure.count) for failure in mirror.failures]

    def mark_reported(self) -> None:
        """Have the mirror record that a reader was shown all that was there when this reading began."""
        self._mirror.mark_reported(self.stop, self._output_end, self._failures)


def view_of(session: Session) -> look.Snapshot:
    """Return the session's state from the mirror, with its parent's id if it has one; no request is sent."""
    view = _view(session)
    if session.parent is not None:
        view["parent"] = session.parent.id
    return view


def _view(session: Session) -> look.Snapshot:
    """Return the snapshot of a session that is stopped, has ended, or runs; no request is sent.

    For one that has ended or runs, it has the output since the last that was shown. One that has ended, but by no tool, also has the last
    error that it has printed, and in its cause what failed in the debugger.
    """
    stop = session.mirror.stop
    if stop is not None:
        return look.snapshot_of_stop(session.id, session.mirror, stop, session.project)
    last = session.mirror.history.latest
    since = max(last.presentation.output_start if last else 0, session.program.output.shown_end)
    if session.mirror.has_ended:
        error = None if session.is_ended_by_tool else session.errors.last()
        failed = "" if session.is_ended_by_tool else session.errors.debugger_error_clause()
        return look.snapshot_of_end(
            session.id,
            session.mirror,
            since,
            "; ".join(filter(None, [failed, session.cause])) or None,
            session.project,
            by_us=session.is_ended_by_tool,
            error=error,
        )
    return look.snapshot_of_running(session.id, session.mirror, since, session.project)


async def inspect_stop(session: Session, seconds: float = SECONDS_TO_LOOK) -> None:
    """Request what a snapshot of the current stop needs, for at most `seconds`; nothing is returned.

    The mirror keeps the answers. While the program runs nothing is requested.
    """
    with anyio.move_on_after(seconds):
        await _fetch_stop(session)


async def _fetch_stop(session: Session) -> None:
    """Wait until what the snapshot of the session's stop needs is fetched.

    The mirror keeps what was fetched; errors of the adapter raise nothing. If another stop has replaced the
    stop meanwhile, that one is awaited, up to `MAX_LOOKS` times in all. The wait has no time limit: the caller
    sets one. If the session is not stopped, nothing is done.
    """
    # Another client may resume the program, and it may stop again, during the inspection.
    for _ in range(MAX_LOOKS):
        if (stop := session.mirror.stop) is None:
            return
        await session.inspect.wait_until_inspected(stop)
        if stop is session.mirror.stop:
            return


async def snapshot(session: Session, seconds: float = SECONDS_TO_LOOK) -> look.Snapshot:
    """Return the session's state, after what its stop needs was fetched for at most `seconds`.

    Mark it as reported. What could not be fetched in time is named in the snapshot as missing. Hints of the adapter's definition are
    added.
    """
    await inspect_stop(session, min(seconds, SECONDS_TO_LOOK))
    reading, view = MirrorReading(session.mirror), view_of(session)
    reading.mark_reported()
    return session.advice.add_hints(view, session.program.output)


async def wait_for_place(session: Session, seconds: float) -> None:
    """Wait, for at most `seconds`, until the stack of the stopped thread is in the mirror.

    Nothing is returned, and nothing raised if it does not come. If the inspection of the stop was put off,
    it is started as by `on_request`. Return at once if the program runs, and when it runs on.
    """
    stop = session.mirror.stop
    if stop is not None:
        session.inspect.on_request(stop)
        await session.wait_for(
            lambda: stop.thread_id in stop.stack.frames or session.mirror.stop is not stop, seconds
        )


def summary(session: Session) -> look.Summary:
    """Return the facts of a session that `dap_status` shows: name, adapter, state, and problems.

    The keys are those of `Summary`; facts that are not known are left out. No request is sent.
    """
    facts = {
        "name": session.name,
        "type": session.adapter,
        **session.advice.facts,
        **view_of(session),
    }
    facts |= {
        "problem": session.channel.fault or session.mirror.overflow_note,
        "feed": session.feed,
    }
    kept = look.Summary.__annotations__.keys() & {k for k, v in facts.items() if v is not None}
    return cast("look.Summary", {key: facts[key] for key in facts if key in kept})


def last_place(session: Session) -> str:
    """Return the top frame of the current or last stop as a line of text; empty if there was no stop."""
    last = session.mirror.history.latest
    top = last.default_frame if last else None
    return frame_line(top, session.project) if top else ""


class inspected_stop:  # noqa: N801 - it is used like a function
    """Within it, the stop of the program, or of one thread, is inspected.

    Raises:
        NotStopped: There is none, or it ended before the body did, whatever the body's result.
    """

    def __init__(self, session: Session, thread_id: int | None = None) -> None:
        """Note the stop of the program, or of the thread `thread_id`."""
        self._session = session
        self._stop = session.mirror.require_stop(thread_id)

    def __enter__(self) -> Stop:
        return self._stop

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        """Raise `NotStopped` in place of the body's result or `DapeerError`, if the stop has ended meanwhile.

        Other errors are passed on. The result counts although the stop has ended, if nobody has resumed the program and it has stopped
        again.
        """
        if self._session.mirror.stop is self._stop:
            return
        over = left_stop_error(self._session, self._stop)
        if over is None or not (error is None or isinstance(error, DapeerError)):
            return
        # With some adapters the inspection itself causes the next stop: then the result is still valid.
        if error is not None or self._stop.findings.resumed_by or self._session.mirror.stop is None:
            raise over from error


def left_stop_error(session: Session, stop: Stop) -> NotStopped | None:
    """Return the error for a call during which the program has left `stop`; None: it is still there.

    The error says that the program has ended, or else that it was resumed, by whom if that is known, and
    whether the thread has stopped again.
    """
    now = session.mirror.stop_of(stop.thread_id)
    if now is stop:
        return None
    by = f" by {stop.findings.resumed_by}" if stop.findings.resumed_by else ""
    if session.mirror.has_ended:
        return NotStopped("The program ended during this call.", "dap_run starts it again.")
    again = (
        "It has stopped again: repeat the call."
        if now
        else "dap_wait_until_paused waits for a stop."
    )
    return NotStopped(f"The program was resumed{by} during this call.", again)
