"""The terminal that a program runs in."""

from __future__ import annotations

from dataclasses import dataclass, field

from dapeer.base.errors import Unsupported
from dapeer.peers.consent_kinds import VALUES, CallKinds
from dapeer.tools.base.arguments import Milliseconds
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.deadline import RemainingTime
from dapeer.tools.base.report import ResumeOptions
from dapeer.tools.base.tool import Section, tool
from dapeer.tools.base.waiting import next_stop


@dataclass(frozen=True, slots=True)
class _TypingOptions(ResumeOptions):
    wait_until_paused: bool = field(default=False, init=False)
    timeout_ms: Milliseconds = 1000


@tool(
    "Type into the terminal",
    section=Section.OUTPUT,
    kinds=CallKinds(("run", "evaluate"), VALUES, "a program may run what is typed"),
    needs=["terminal"],
)
async def dap_send_input(
    call: Call, text: str, enter: bool = True, *, options: _TypingOptions
) -> Reply:
    r"""Type a line for a program started with `terminal`, and return what it prints or where it stops next. `\x04` alone, without `enter`, ends its input."""
    session = call.session(options.session_id)
    session.mirror.require_live()
    program = session.program
    keyboard = program.keyboard
    if keyboard is None:
        raise Unsupported(
            "The program does not run in a terminal.", "Start it with dap_run and `terminal: true`."
        )
    log, epoch, left = (
        session.program.output,
        session.mirror.epoch,
        RemainingTime(options.timeout_ms),
    )
    begin, stop = log.end, session.mirror.stop
    await keyboard.type(f"{text}\n" if enter else text)
    # A program that ran may have stopped anew while it was typed.
    if stop is not None and session.mirror.stop is stop:
        return Reply("Typed. The program is stopped; it reads this when it runs on.")
    await program.until(
        lambda: log.end > begin or program.stop_or_end(session, epoch) is not None,
        options.timeout_ms / 1000,
    )
    await program.arriving.idle()
    # The caller has seen the earlier output.
    session.mirror.mark_shown(begin)
    return await next_stop(call, session, epoch, left.remaining_ms, options=options)
