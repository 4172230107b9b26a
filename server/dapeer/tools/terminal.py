"""The terminal that a program runs in."""

from __future__ import annotations

from dapeer.base.errors import Unsupported
from dapeer.tools.base.arguments import Milliseconds, SessionId
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.deadline import Left
from dapeer.tools.base.stop_options import Evaluate, Show, StopOptions
from dapeer.tools.base.tool import tool
from dapeer.tools.base.waiting import next_stop

SECONDS_WITHOUT_OUTPUT = 0.05
"""Seconds without output after which the response to typed input is complete."""


@tool("Type into the terminal", needs=["terminal"])
async def dap_send_input(
    call: Call,
    text: str,
    enter: bool = True,
    evaluate: Evaluate = (),
    show: Show = None,
    timeout_ms: Milliseconds = 1000,
    session_id: SessionId = None,
) -> Reply:
    r"""Type a line for a program started with `terminal`, and return what it prints or where it stops next. `\x04` alone, without `enter`, ends its input."""
    session = call.session(session_id)
    session.mirror.require_live()
    program = session.program
    keyboard = program.keyboard
    if keyboard is None:
        raise Unsupported(
            "The program does not run in a terminal.", "Start it with dap_run and `terminal: true`."
        )
    log, epoch, left = session.program.output, session.mirror.epoch, Left(timeout_ms)
    begin, stop = log.end, session.mirror.stop
    await keyboard.type(f"{text}\n" if enter else text)
    # A program that ran may have stopped anew while it was typed.
    if stop is not None and session.mirror.stop is stop:
        return Reply("Typed. The program is stopped; it reads this when it runs on.")
    await program.until(
        lambda: log.end > begin or program.stop_or_end(session, epoch) is not None,
        timeout_ms / 1000,
    )
    await program.arriving.idle(SECONDS_WITHOUT_OUTPUT)
    # The caller has seen the earlier output.
    session.mirror.mark_shown(begin)
    asked = StopOptions(evaluate, show, wait=False)
    return await next_stop(call, session, epoch, left.ms, options=asked)


TOOLS = (dap_send_input,)
