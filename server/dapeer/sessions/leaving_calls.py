"""Has a step begin in the frame that was shown, though a call that the frame has made still runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from dapeer.base.errors import DapeerError
from dapeer.dap.sent_requests import ResumingCommand
from dapeer.dap.types import StackFrame
from dapeer.mirror.stops import Stop
from dapeer.sessions.core.session import Session


@dataclass(frozen=True, slots=True)
class CallingFrame:
    """A frame of a stopped thread that has made a call which still runs."""

    thread: int
    """The thread's id."""
    inner_frames: int
    """How many frames lie inside of it: the innermost ones."""
    depth: int
    """How many frames the stack has from it to the outermost, itself included."""
    frame: StackFrame


async def calling_frame(session: Session, thread: int) -> CallingFrame | None:
    """Return the frame in which a step of a thread is to begin; None: it is the innermost one.

    Of a thread with a stop of its own, it is the frame that was shown. Of another thread, it is the frame
    in which its interrupted step began, or else (there was none, or that frame is gone) the innermost of
    the user's code. Where a call has raised an exception in a thread with a stop of its own, it is the
    innermost, because such a call never returns. The whole stack may be requested from the adapter.

    Raises:
        NotStopped: The thread runs.
        DapeerError: The thread's stack is not known, and the adapter does not tell it.
    """
    stop = session.mirror.require_stop(thread)
    if stop.thread_id == thread and (not stop.stack.default_index or stop.reason == "exception"):
        return None
    frames = await session.inspect.whole_stack(thread)
    inside = stop.stack.default_index if stop.thread_id == thread else None
    if inside is None and (begun := session.mirror.history.interrupted_step(thread)) is not None:
        inside = _index_of_shown_frame(frames, begun)
    if inside is None:
        users = session.frames.innermost_users_frame(frames)
        inside = frames.index(users) if users is not None else 0
    return CallingFrame(thread, inside, len(frames) - inside, frames[inside]) if inside else None


def _index_of_shown_frame(frames: Sequence[StackFrame], begun: Stop) -> int | None:
    """Return the index in `frames` of the frame that was shown at an earlier stop; None: it is gone.

    `frames` is the whole stack of the thread now, the innermost frame first; `begun` is the earlier stop. The
    frame is found by its distance from the outermost one, and has to have the same function name, file and
    line. The result is None, too, if no frame was shown at that stop.
    """
    top = begun.default_frame
    known = begun.stack.frames.get(begun.thread_id, ())
    total = begun.stack.total_frames.get(begun.thread_id, len(known))
    index = len(frames) - total + (begun.stack.default_index or 0)
    same = top is not None and 0 <= index < len(frames) and _place(frames[index]) == _place(top)
    return index if same else None


def _place(frame: StackFrame) -> tuple[object, ...]:
    """Return a frame's name, path and line, by which two frames are compared."""
    return frame["name"], frame.get("source", {}).get("path"), frame["line"]


async def leave_calls(
    session: Session, calling: CallingFrame, command: ResumingCommand, seconds: float
) -> bool:
    """Step out of a frame's calls until it is the innermost; return whether `command` is still to be sent.

    `calling` is the frame, `command` the step that the user wants of it. The program runs meanwhile, once for
    each `stepOut`, of which there are at most `calling.inner_frames`. True: the frame is the innermost now, or the
    adapter rejects a `stepOut` and the program is still stopped, so that the step is to be made there. False:
    stepping out has made the step already, has left the frame or does not lead to it, something else has stopped
    the program, it has ended, or it still runs `seconds` after the call (the request is not taken back).

    Raises:
        NotStopped: The thread runs when its stack after a step out is requested.
        DapeerError: The stack after a step out cannot be fetched.
    """
    with session.inspect.quiet(), anyio.move_on_after(seconds):
        for _ in range(calling.inner_frames):
            try:
                stepped = await _step_out(session, calling.thread)
            except DapeerError:
                return session.mirror.stop is not None
            if not stepped:
                return False
            frames = await session.inspect.whole_stack(calling.thread)
            if len(frames) <= calling.depth:
                return _is_unfinished(frames, calling, command)
    return False


def _is_unfinished(
    frames: Sequence[StackFrame], calling: CallingFrame, command: ResumingCommand
) -> bool:
    """Return whether the step `command` is still to be made after a step out to `frames`.

    Some adapters step out of a call to the line after it, which is where the step would end.
    """
    if len(frames) < calling.depth:
        return False
    return command == "stepOut" or frames[0]["line"] == calling.frame["line"]


async def _step_out(session: Session, thread: int) -> bool:
    """Send `stepOut` for a thread, wait for the next stop, and return whether that step has caused it.

    False: another thread has stopped, or the thread for another reason, or the program has ended. The wait for the stop has no limit here.

    Raises:
        DapeerError: The program is not stopped, or the adapter rejects the request.
    """
    mirror = session.mirror
    epoch = mirror.epoch
    await session.resume("stepOut", {"threadId": thread})
    await session.wait_for(lambda: mirror.has_moved_on(epoch), None)
    stop = mirror.stop
    return stop is not None and stop.thread_id == thread and stop.reason == "step"
