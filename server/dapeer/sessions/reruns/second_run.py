"""Runs a program once more beside what is debugged, to record one of its calls line by line."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio

from dapeer.base.errors import ArgumentError
from dapeer.base.system.exchange import on_cancellation
from dapeer.collecting.rows.collection import OF_LIVES, Point
from dapeer.collecting.rows.table import CollectedRow
from dapeer.collecting.text.call_lines import ARGUMENTS, FUNCTION, RESULT
from dapeer.dap.requested_breakpoints import RequestedFunction, RequestedLife
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

WHOLE_LIKENESS = 3
"""The likeness of two calls that are alike in all."""


@dataclass(frozen=True, slots=True)
class RecordedLife:
    """What a second run tells of one call."""

    call: CollectedRow | None
    """The call, in that run; None: it has none of this number that is over."""
    lines: list[CollectedRow]
    """The lines that it has executed; their cells are `OF_LIVES`."""
    in_time: bool
    """Whether the call, or the program, was over in time."""


NOTHING = RecordedLife(None, [], in_time=True)


def plan_again(session: Session, point: Point, recorded: CollectedRow) -> Plan:
    """Return a plan that runs a program again, records one call line by line, and stops nowhere.

    It has no breakpoint but the one that records the call, and no exception filters. Nothing is started.

    Args:
        session: A session of the first run.
        point: What has collected the call.
        recorded: The call.

    Raises:
        ArgumentError: The program was not launched by dapeer.
    """
    first = session.program.first
    if not isinstance(first, DirectSession) or not first.plan.launched:
        raise ArgumentError(
            "Only a program that dap_run starts, outside of Neovim, can be run again for the lines of a call.",
            "Collect on the lines of the function instead.",
        )
    life = RequestedLife(call=recorded.hit, function=recorded.cells[FUNCTION])
    function = RequestedFunction(name=point.function, calls=True, collect=[], life=life)
    # Calls are counted where the condition holds.
    for each in first.lines.functions:
        if each["calls"] and each["name"] == point.function and "condition" in each:
            function["condition"] = each["condition"]
    alone = Breakpoints(exceptions=[])
    alone.want_functions([function])
    return replace(
        first.plan,
        inputs={**first.plan.inputs, "stop_on_entry": False},
        breakpoints=alone,
        functions=(),
        exception_filters=(),
        conditions={},
    )


async def record_life(
    debugger: Debugger, plan: Plan, recorded: CollectedRow, seconds: float
) -> RecordedLife:
    """Run a program again for at most `seconds`, end it, and return what one of its calls has done.

    The focus stays on the session that has it.

    Args:
        debugger: Starts it, beside what it debugs.
        plan: How it is run: a `plan_again`.
        recorded: The call, in the first run.
        seconds: How long.

    Raises:
        DapeerError: It does not start.
    """
    focused = debugger.sessions.focused
    session = await debugger.start(plan)
    debugger.sessions.focus_on(focused)
    async with on_cancellation(debugger.terminate, session.program.first):
        in_time = await _over(session, recorded, seconds)
    await debugger.terminate(session.program.first)
    await session.program.read_rows()
    debugger.sessions.forget(session.id)
    return replace(_likest_life(session, recorded), in_time=in_time)


async def _over(session: Session, recorded: CollectedRow, seconds: float) -> bool:
    """Resume the second run at each stop until the recorded call has come up again; return whether it has.

    A call that is equal in all counts. True also if the program has ended; False: `seconds` are over.
    """
    clock = anyio.current_time
    end = clock() + seconds
    while (
        stopped_session := await session.program.next_stop(session, 0, end - clock())
    ) is not None:
        stop = stopped_session.mirror.stop
        if stop is None:
            return True
        await session.program.read_rows()
        if likeness(_likest_life(session, recorded).call, recorded) == WHOLE_LIKENESS:
            return True
        await stopped_session.resume("continue", {"threadId": stop.thread_id})
    return False


def _likest_life(session: Session, recorded: CollectedRow) -> RecordedLife:
    """Return the call that is most like `recorded` of all processes of the second run, with its lines.

    `NOTHING` if no process has collected yet.
    """
    collected = session.program.collected
    processes: dict[int, RecordedLife] = {}
    for (process, number), each in collected.collections.items():
        rows = [each.table.row(index, number) for index in range(len(each.table))]
        known = processes.get(process, NOTHING)
        if each.point.expressions == OF_LIVES:
            processes[process] = replace(known, lines=rows)
        else:
            call = next((row for row in rows if row.hit == recorded.hit), None)
            processes[process] = replace(known, call=call)
    every = sorted(processes.values(), key=lambda each: -likeness(each.call, recorded))
    return every[0] if every else NOTHING


def likeness(call: CollectedRow | None, other: CollectedRow) -> int:
    """Return in how many of function, arguments and result two calls are equal; -1: `call` is None."""
    if call is None:
        return -1
    return sum(call.cells[which] == other.cells[which] for which in (FUNCTION, ARGUMENTS, RESULT))
