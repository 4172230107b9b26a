"""Inspecting a stop that another client may end meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from dapeer.base.errors import DapeerError, NotStopped
from dapeer.mirror.stops import Stop
from dapeer.sessions.session import Session


@contextlib.contextmanager
def looking(session: Session, thread_id: int | None = None) -> Generator[Stop]:
    """Yield the stop of the program, or of one thread.

    Raises:
        NotStopped: There is none, or it ended before the body did, whatever the body's result.
    """
    stop = session.mirror.stopped(thread_id)
    try:
        yield stop
    except DapeerError as error:
        if (over := left(session, stop)) is not None:
            raise over from error
        raise
    over = left(session, stop)
    # With some adapters the inspection itself causes the next stop: then the result is still valid.
    if over is not None and (stop.left_by or session.mirror.stop is None):
        raise over


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
