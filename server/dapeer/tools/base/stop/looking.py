"""Inspecting a stop that another client may end meanwhile."""

from __future__ import annotations

from dapeer.base.errors import DapeerError, NotStopped
from dapeer.mirror.stops.stops import Stop
from dapeer.sessions.core.session import Session


class looking:  # noqa: N801 - it is used like a function
    """Within it, the stop of the program, or of one thread, is inspected.

    Raises:
        NotStopped: There is none, or it ended before the body did, whatever the body's result.
    """

    def __init__(self, session: Session, thread_id: int | None = None) -> None:
        self._session = session
        self._stop = session.mirror.stopped(thread_id)

    def __enter__(self) -> Stop:
        return self._stop

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        if self._session.mirror.stop is self._stop:
            return
        over = left(self._session, self._stop)
        if over is None or not (error is None or isinstance(error, DapeerError)):
            return
        # With some adapters the inspection itself causes the next stop: then the result is still valid.
        if error is not None or self._stop.left_by or self._session.mirror.stop is None:
            raise over from error


def left(session: Session, stop: Stop) -> NotStopped | None:
    """Return the error to raise when the program has left a stop; None if it has not."""
    now = session.mirror.stop_of(stop.thread_id)
    if now is stop:
        return None
    by = f" by {stop.left_by}" if stop.left_by else ""
    if session.mirror.ended:
        return NotStopped("The program ended during this call.", "dap_run starts it again.")
    again = (
        "It has stopped again: repeat the call."
        if now
        else "dap_wait_until_paused waits for a stop."
    )
    return NotStopped(f"The program was resumed{by} during this call.", again)
