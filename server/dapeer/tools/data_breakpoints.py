"""Tools for breakpoints of one program in memory: on data, and on machine instructions."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from dapeer.adapters.definition.sections import Watchpoints
from dapeer.base.errors import ArgumentError, Unsupported
from dapeer.dap.types import InstructionBreakpoint
from dapeer.peers.consent_kinds import (
    CONDITIONS,
    EVALUATE,
    EXPRESSION,
    WRITE,
    ArgumentKinds,
    CallKinds,
    is_expression,
)
from dapeer.sessions.broadcast import Broadcast
from dapeer.sessions.core.evaluating import normalize_address
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.memory_breakpoints import (
    Access,
    MemoryRow,
    add_data_breakpoint,
    data_rows,
    instruction_rows,
    send_data,
    send_instructions,
)
from dapeer.tools.base.arguments import FrameId, SessionId, frame_of
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.evaluation import memory_reference
from dapeer.tools.base.syntax import check_condition, check_hits
from dapeer.tools.base.tool import Section, tool

Remove = Annotated[bool, Field(description="remove it instead")]


@tool(
    "Stop at data",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE, (*CONDITIONS, ArgumentKinds("path", EVALUATE, EXPRESSION, is_expression))
    ),
    idempotent=True,
    needs=["setDataBreakpoints"],
)
async def dap_set_data_breakpoint(
    call: Call,
    path: Annotated[str, Field(description="a variable, such as total or order.items[3].price")],
    access: Access = "write",
    condition: str | None = None,
    hit_condition: str | None = None,
    remove: Remove = False,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Stop when a variable is written, or read. It lasts as long as the session.

    `path` is a variable in the frame `frame_id`, by default the one shown. `access` says at what the program
    stops; `condition` and `hit_condition` limit it. A breakpoint on the same data is replaced. With `remove`,
    those that were set with this very text as `path` are removed instead, whatever their `access`; the other
    arguments except `session_id` then do not count, and the program may run. The data is the breakpoint, or for
    `remove` `removed`: whether there was one.

    Raises:
        NoSession: There is no such session, or it is not clear which one is meant.
        Unsupported: The adapter has no data breakpoints, or the session is on a core dump.
        ArgumentError: There is no such variable or frame, a condition is wrong, or the adapter cannot watch the
            variable; if the adapter has taken the breakpoint but not verified it, one that was to be replaced
            is gone, too.
        NotStopped: The session is not stopped.
        StaleReference: `frame_id` is of an earlier stop.
        DapeerError: The adapter does not answer, or rejects a request.
    """
    session = call.session(session_id)
    if session.post_mortem is None and not session.supports("setDataBreakpoints"):
        on = "write" if session.line_breakpoints.traces else "change"
        raise Unsupported(
            f"The adapter {session.adapter} does not support `setDataBreakpoints`.",
            f'dap_run_until(expression={json.dumps(path)}, on="{on}") runs to the line that does it.',
        )
    session.require("setDataBreakpoints")
    placed = [each for each, _ in session.mirror.breakpoint_statuses.data]
    if remove:
        others = [
            each
            for each in placed
            if session.mirror.breakpoint_statuses.data_names.get(each["dataId"]) != path
        ]
        await send_data(session, others)
        return _removed(path, len(placed) - len(others))
    frame = await frame_of(session, frame_id)
    conditions = _conditions(call, session, condition, hit_condition)
    definition = call.debugger.definitions.get(session.adapter)
    known = definition.watchpoints if definition is not None else Watchpoints()
    row = await add_data_breakpoint(session, path, frame, access, known, conditions)
    return Reply(row.text(), row.data())


@tool(
    "Stop at an instruction",
    section=Section.STOP,
    kinds=CallKinds(
        WRITE, (*CONDITIONS, ArgumentKinds("address", EVALUATE, EXPRESSION, is_expression))
    ),
    idempotent=True,
    needs=["setInstructionBreakpoints"],
)
async def dap_set_instruction_breakpoint(
    call: Call,
    address: Annotated[str, Field(description="0x… of an instruction, or a function")],
    condition: str | None = None,
    hit_condition: str | None = None,
    remove: Remove = False,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Stop at a machine instruction. It lasts as long as the session.

    `address` is a number, or a name or path in the frame `frame_id` (by default the one shown), such as a
    function, that has an address; to find it, the text may be evaluated, which may run code of the program.
    `condition` and `hit_condition` limit the breakpoint. One at the same address is replaced; `remove` removes it
    instead. The data is the breakpoint, whose `state` says whether the adapter has verified it; one that it has
    not verified stays. For `remove` the data is `removed`: whether there was one.

    Raises:
        Unsupported: The adapter has no instruction breakpoints, or the session is on a core dump.
        ArgumentError: There is no such address or frame, a condition is wrong, or the adapter has not answered
            for this breakpoint.
        NotStopped: The session is not stopped, also for `remove`.
        StaleReference: `frame_id` belongs to an earlier stop.
        DapeerError: There is no such session, or the adapter rejects the request or does not answer.
    """
    session = call.session(session_id)
    session.require("setInstructionBreakpoints")
    place = normalize_address(
        await memory_reference(session, address, await frame_of(session, frame_id))
    )
    placed = [each for each, _ in session.mirror.breakpoint_statuses.instructions]
    others = [each for each in placed if normalize_address(each["instructionReference"]) != place]
    if remove:
        await send_instructions(session, others)
        return _removed(place, len(placed) - len(others))
    instruction_point = InstructionBreakpoint(instructionReference=place)
    instruction_point.update(_conditions(call, session, condition, hit_condition))
    await send_instructions(session, [*others, instruction_point])
    row = next(
        (row for row in instruction_rows(session) if row.requested == instruction_point), None
    )
    if row is None:
        raise ArgumentError(f"The adapter has not set a breakpoint at {place}.")
    return Reply(row.text(), row.data())


def _removed(place: str, count: int) -> Reply:
    """Return the reply to the removal of `count` breakpoints at a place; 0: there was none."""
    if not count:
        return Reply(f"No such breakpoint on {place}; nothing changed.", {"removed": False})
    return Reply(f"Removed the breakpoint on {place}.", {"removed": True})


def _conditions(
    call: Call, session: Session, condition: str | None, hit_condition: str | None
) -> Any:  # noqa: ANN401 - part of two types
    """Check a condition and a hit condition, and return those that are given under DAP's names.

    Raises:
        ArgumentError: One does not parse, or the session's adapter does not understand the hit condition.
    """
    check_condition(condition or "true", python=False)
    check_hits(hit_condition, [call.debugger.definitions.get(session.adapter)])
    given = {"condition": condition, "hitCondition": hit_condition}
    return {key: value for key, value in given.items() if value}


def rows_of(debugger: Debugger) -> list[MemoryRow]:
    """Return the breakpoints of all living sessions on data and instructions."""
    return [
        row
        for each in debugger.sessions.live
        for row in (*data_rows(each), *instruction_rows(each))
    ]


def recording_lines(debugger: Debugger) -> list[str]:
    """Return a line for each watch by which `dap_run_until` has living programs record values each time."""
    return [
        f"every {watch.point.watch} recorded, in session {session.id}"
        for session in debugger.sessions.live
        for watch in session.watching.recorded
    ]


def begin_clearing(debugger: Debugger) -> Broadcast:
    """Begin to remove all breakpoints on data and instructions, and all recording watches.

    All living sessions that have some lose theirs, in tasks that start at once; nothing is awaited here. The
    returned broadcast's `wait_for_failures` is to be awaited: it tells which adapters have not removed them,
    and why.
    """

    async def send(session: Session) -> None:
        """Remove those of one session."""
        await send_data(session, [])
        await send_instructions(session, [])
        await session.watching.clear()

    sessions = {row.session.id: row.session for row in rows_of(debugger)}
    sessions |= {s.id: s for s in debugger.sessions.values() if s.watching.recorded}
    return debugger.broadcast("that they are gone", list(sessions.values()), send)
