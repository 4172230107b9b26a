"""Tools that go back: to an earlier moment of the program, or to the start of a function."""

from __future__ import annotations

from dapeer.base.errors import ArgumentError
from dapeer.peers.consent_kinds import RESUMES_PROGRAM
from dapeer.tools.base.arguments import FrameId, ThreadId, frame_of
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.report import ResumeOptions, WaitOptions
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import resume
from dapeer.tools.execution import Granularity, stepping_arguments


@tool("Step back", section=Section.RUN, kinds=RESUMES_PROGRAM, resumes=True, needs=["stepBack"])
async def dap_step_back(
    call: Call,
    to_breakpoint: bool = False,
    thread_id: ThreadId = None,
    granularity: Granularity = None,
    *,
    options: ResumeOptions,
) -> Reply:
    """Run backwards by one line, or to the previous breakpoint, and return the snapshot.

    The thread is `thread_id`, by default that of the stop. With `to_breakpoint` `granularity` (DAP's) does not count. The options say what
    is evaluated at the next stop (`evaluate`), how much of the stop is shown (`show`), and whether and for how many milliseconds to wait
    (`wait_until_paused`, `timeout_ms`).

    Raises:
        NotStopped: The session is not stopped.
        DapeerError: The adapter rejects the request, or does not support `granularity`.
    """
    command = "reverseContinue" if to_breakpoint else "stepBack"
    granularity = None if to_breakpoint else granularity
    session, arguments = stepping_arguments(call, options.session_id, thread_id, granularity)
    return await resume(call, session, command, arguments, options)


@tool("Restart a frame", section=Section.RUN, kinds=RESUMES_PROGRAM, needs=["restartFrame"])
async def dap_restart_frame(call: Call, frame_id: FrameId = None, *, options: WaitOptions) -> Reply:
    """Restart a function call with its current arguments, and return the snapshot there.

    The frame is `frame_id`, by default the one shown. `evaluate` and `show` are for the stop there, for which it waits `timeout_ms`.

    Raises:
        ArgumentError: The stopped thread has no frames.
        Unsupported: The adapter cannot restart frames.
        NotStopped: The session is not stopped.
    """
    session = call.session(options.session_id)
    session.require("restartFrame")
    frame = await frame_of(session, frame_id)
    if frame is None:
        raise ArgumentError("The stopped thread has no frames.", "dap_threads lists the others.")
    return await resume(call, session, "restartFrame", {"frameId": frame}, options)
