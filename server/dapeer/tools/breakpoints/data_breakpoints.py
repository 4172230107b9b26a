"""Tools for breakpoints of one program in memory: on data, and on machine instructions."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from dapeer.adapters.definition.until import Watchpoints
from dapeer.base.errors import ArgumentError, RequestFailed, Unsupported
from dapeer.base.text.lines import continued
from dapeer.dap.messages import Body
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.types import Breakpoint, DataBreakpoint, InstructionBreakpoint
from dapeer.sessions.breakpoints.breakpoints import unsupported
from dapeer.sessions.core.evaluating import known, tidy
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.outcomes.broadcast import Broadcast
from dapeer.tools.base.arguments import FrameId, SessionId, frame_of
from dapeer.tools.base.call import Call, Reply
from dapeer.tools.base.lookup import place_of
from dapeer.tools.base.syntax import check_condition, check_hits
from dapeer.tools.base.tool import tool
from dapeer.view import render

_BEFORE_WHY = re.compile(r"(error: )?(<[^>]*>:\d+:\d+: )?")
"""What LLDB puts before the reason."""
Access = Literal["read", "write", "readWrite"]
Remove = Annotated[bool, Field(description="remove it instead")]


@tool("Stop at data", idempotent=True, needs=["setDataBreakpoints"])
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
    """Stop when a variable is written, or read. It lasts as long as the session."""
    session = call.session(session_id)
    if session.post_mortem is None and not session.supports("setDataBreakpoints"):
        on = "write" if session.lines.traces else "change"
        raise Unsupported(
            f"The adapter {session.adapter} does not support `setDataBreakpoints`.",
            f'dap_run_until(expression={json.dumps(path)}, on="{on}") runs to the line that does it.',
        )
    session.require("setDataBreakpoints")
    placed = [each for each, _ in session.mirror.placed.data]
    if remove:
        others = [
            each for each in placed if session.mirror.placed.names.get(each["dataId"]) != path
        ]
        await _send_data(session, others)
        return _removed(path, len(placed) - len(others))
    frame = await frame_of(session, frame_id)
    conditions = _conditions(call, session, condition, hit_condition)
    definition = call.debugger.definitions.get(session.adapter)
    known = definition.watchpoints if definition is not None else Watchpoints()
    row = await added(session, path, frame, access, known, conditions)
    return Reply(row.text(), row.data())


async def added(
    session: Session,
    path: str,
    frame: int | None,
    access: Access,
    known: Watchpoints,
    more: Mapping[str, Any] | None = None,
) -> MemoryRow:
    """Set a data breakpoint with `more` options, beside the others of a session.

    Raises:
        ArgumentError: It cannot be set; nothing has changed.
    """
    placed = [each for each, _ in session.mirror.placed.data]
    info = await _data_info(session, path, frame, known)
    data_point = DataBreakpoint(dataId=_data_id(info, path, access), accessType=access)
    data_point.update(cast("Any", more or {}))
    session.mirror.name_data(data_point["dataId"], path)
    others = [each for each in placed if each["dataId"] != data_point["dataId"]]
    await _send_data(session, [*others, data_point])
    row = next((row for row in _data_rows(session) if row.requested == data_point), None)
    if row is None or not row.made.get("verified"):
        await _send_data(session, others)
        why = row and row.made.get("message")
        raise ArgumentError(
            f"The breakpoint on {path} was not set{f': {why}' if why else ''}.",
            "There may be too many: a processor supports about four.",
        )
    return row


async def take_away(session: Session, row: MemoryRow) -> None:
    """Remove a data breakpoint."""
    placed = [each for each, _ in session.mirror.placed.data]
    await _send_data(session, [each for each in placed if each != row.requested])


async def _data_info(
    session: Session, path: str, frame: int | None, watchpoints: Watchpoints
) -> Body:
    """Ask the adapter what can be watched at a path: a shown variable, or what an expression names."""
    found, container = await known(session, path, frame)
    if found is not None:
        shown = {"name": found["name"], "variablesReference": container}
        with contextlib.suppress(RequestFailed):
            found = await session.request("dataBreakpointInfo", shown)
            if found.get("dataId"):
                return found
    name = watchpoints.address.replace("${expression}", path) or path
    arguments: dict[str, Any] = {"name": name}
    if frame is not None:
        arguments["frameId"] = frame
    try:
        return await session.request("dataBreakpointInfo", arguments)
    except RequestFailed as error:
        return {"description": error.what}


def _data_id(info: Body, path: str, access: str) -> str:
    data_id = info.get("dataId")
    if not data_id:
        lines = str(info.get("description") or "the adapter does not say why").strip().splitlines()
        why = _BEFORE_WHY.sub("", lines[0]).rstrip(".")
        raise ArgumentError(
            f"{path} cannot be watched: {why}.",
            "Give something that lies in memory: a variable or member.",
        )
    offered = cast("Sequence[str]", info.get("accessTypes") or ())
    if offered and access not in offered:
        raise ArgumentError(
            f"`access`: the adapter cannot watch {path} for {access}.",
            f"It can for: {', '.join(offered)}.",
        )
    return str(data_id)


async def _send_data(session: Session, requested: Sequence[DataBreakpoint]) -> None:
    if requested or session.mirror.placed.data:
        await session.request("setDataBreakpoints", {"breakpoints": list(requested)})


@tool("Stop at an instruction", idempotent=True, needs=["setInstructionBreakpoints"])
async def dap_set_instruction_breakpoint(
    call: Call,
    address: Annotated[str, Field(description="0x… of an instruction, or a function")],
    condition: str | None = None,
    hit_condition: str | None = None,
    remove: Remove = False,
    frame_id: FrameId = None,
    session_id: SessionId = None,
) -> Reply:
    """Stop at a machine instruction. It lasts as long as the session."""
    session = call.session(session_id)
    session.require("setInstructionBreakpoints")
    place = tidy(await place_of(session, address, await frame_of(session, frame_id)))
    placed = [each for each, _ in session.mirror.placed.instructions]
    others = [each for each in placed if each["instructionReference"] != place]
    if remove:
        await _send_instructions(session, others)
        return _removed(place, len(placed) - len(others))
    instruction_point = InstructionBreakpoint(instructionReference=place)
    instruction_point.update(_conditions(call, session, condition, hit_condition))
    await _send_instructions(session, [*others, instruction_point])
    row = next(
        (row for row in _instruction_rows(session) if row.requested == instruction_point), None
    )
    if row is None:
        raise ArgumentError(f"The adapter has not set a breakpoint at {place}.")
    return Reply(row.text(), row.data())


async def _send_instructions(session: Session, requested: Sequence[InstructionBreakpoint]) -> None:
    if requested or session.mirror.placed.instructions:
        await session.request("setInstructionBreakpoints", {"breakpoints": list(requested)})


def _removed(place: str, count: int) -> Reply:
    if not count:
        return Reply(f"No such breakpoint on {place}; nothing changed.", {"removed": False})
    return Reply(f"Removed the breakpoint on {place}.", {"removed": True})


def _conditions(
    call: Call, session: Session, condition: str | None, hit_condition: str | None
) -> Any:  # noqa: ANN401 - part of two types
    check_condition(condition or "true", python=False)
    check_hits(hit_condition, [call.debugger.definitions.get(session.adapter)])
    given = {"condition": condition, "hitCondition": hit_condition}
    return {key: value for key, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A breakpoint in the memory of one program."""

    session: Session
    kind: Literal["data", "instruction"]
    place: str
    requested: DataBreakpoint | InstructionBreakpoint
    made: Breakpoint

    @property
    def ignored(self) -> Sequence[str]:
        """Its options that the adapter does not heed."""
        return unsupported(self.session.mirror, cast("RequestedBreakpoint", self.requested))

    def text(self) -> str:
        """Return it as one line."""
        labels = (("accessType", "on"), ("condition", "if"), ("hitCondition", "hits"))
        options = [
            f"{label} {self.requested[key]}" for key, label in labels if key in self.requested
        ]
        extra = f" ({'; '.join(options)})" if options else ""
        reason = f": {self.made['message']}" if "message" in self.made else ""
        note = f" (this adapter does not support {', '.join(self.ignored)})" if self.ignored else ""
        state = f"{render.breakpoint_state(self.made)}{reason}, in session {self.session.id}"
        return continued(f"{self.kind} {self.place}{extra} {state}{note}")

    def data(self) -> dict[str, Any]:
        """Return it as facts."""
        facts = {
            "access": self.requested.get("accessType"),
            "condition": self.requested.get("condition"),
            "hit_condition": self.requested.get("hitCondition"),
            "state": render.breakpoint_state(self.made),
            "message": self.made.get("message"),
            "not_supported": list(self.ignored) or None,
            "session_id": self.session.id,
        }
        return {self.kind: self.place, **{key: each for key, each in facts.items() if each}}


def rows_of(debugger: Debugger) -> list[MemoryRow]:
    """Return the breakpoints of all living sessions on data and instructions."""
    alive = [session for session in debugger.sessions.values() if not session.mirror.ended]
    return [row for each in alive for row in (*_data_rows(each), *_instruction_rows(each))]


def _data_rows(session: Session) -> Iterator[MemoryRow]:
    for data_point, made in session.mirror.placed.data:
        place = session.mirror.placed.names.get(data_point["dataId"], data_point["dataId"])
        yield MemoryRow(session, "data", place, data_point, made)


def _instruction_rows(session: Session) -> Iterator[MemoryRow]:
    for instruction_point, made in session.mirror.placed.instructions:
        yield MemoryRow(
            session,
            "instruction",
            tidy(instruction_point["instructionReference"]),
            instruction_point,
            made,
        )


def recorded(debugger: Debugger) -> list[str]:
    """Return a line for all that dap_run_until has the living programs record each time."""
    alive = [session for session in debugger.sessions.values() if not session.mirror.ended]
    return [
        f"every {watch.point.watch} recorded, in session {session.id}"
        for session in alive
        for watch in session.watching.recorded
    ]


def clear(debugger: Debugger) -> Broadcast:
    """Begin to take all of them away, and what is recorded each time."""

    async def send(session: Session) -> None:
        await _send_data(session, [])
        await _send_instructions(session, [])
        await session.watching.clear()

    sessions = {row.session.id: row.session for row in rows_of(debugger)}
    sessions |= {s.id: s for s in debugger.sessions.values() if s.watching.recorded}
    return debugger.broadcast("that they are gone", list(sessions.values()), send)


TOOLS = (dap_set_data_breakpoint, dap_set_instruction_breakpoint)
