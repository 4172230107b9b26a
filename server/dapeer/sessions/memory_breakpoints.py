"""Breakpoints in the memory of one program, on data and on instructions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from dapeer.adapters.definition.sections import Watchpoints
from dapeer.base.errors import ArgumentError, RequestFailed
from dapeer.base.text.lines import indented_after_first
from dapeer.dap.messages import Body
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.sent_requests import DataBreakpointInfoArguments
from dapeer.dap.types import Breakpoint, DataBreakpoint, InstructionBreakpoint
from dapeer.sessions.breakpoints.breakpoints import unsupported
from dapeer.sessions.core import evaluating
from dapeer.sessions.core.session import Session
from dapeer.view import render

_BEFORE_WHY = re.compile(r"(error: )?(<[^>]*>:\d+:\d+: )?")
"""What LLDB puts before the reason."""
Access = Literal["read", "write", "readWrite"]


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A breakpoint in the memory of one program."""

    session: Session
    kind: Literal["data", "instruction"]
    place: str
    requested: DataBreakpoint | InstructionBreakpoint
    breakpoint: Breakpoint

    @property
    def ignored(self) -> Sequence[str]:
        """The keys of the breakpoint's options that the session's adapter does not support."""
        return unsupported(self.session.mirror, cast("RequestedBreakpoint", self.requested))

    def text(self) -> str:
        """Return the breakpoint as text: kind, place, options, state, adapter's message, and session's id.

        Options that the adapter does not support are named at the end. The text is one line unless a part of it, such
        as the adapter's message, has several: then its further lines are indented.
        """
        labels = (("accessType", "on"), ("condition", "if"), ("hitCondition", "hits"))
        options = [
            f"{label} {self.requested[key]}" for key, label in labels if key in self.requested
        ]
        extra = f" ({'; '.join(options)})" if options else ""
        reason = f": {self.breakpoint['message']}" if "message" in self.breakpoint else ""
        note = f" (this adapter does not support {', '.join(self.ignored)})" if self.ignored else ""
        state = f"{render.breakpoint_state(self.breakpoint)}{reason}, in session {self.session.id}"
        return indented_after_first(f"{self.kind} {self.place}{extra} {state}{note}")

    def data(self) -> dict[str, Any]:
        """Return the breakpoint as the dict of a tool's structured result, without empty values.

        The breakpoint's place is under the key `data` or `instruction`, after its kind. `state` is a text, and
        `session_id` the id of its session. There may also be `access` (`read`, `write` or `readWrite`), `condition`,
        `hit_condition`, `message` (the adapter's) and `not_supported`, a list of those options that the adapter lacks.
        """
        facts = {
            "access": self.requested.get("accessType"),
            "condition": self.requested.get("condition"),
            "hit_condition": self.requested.get("hitCondition"),
            "state": render.breakpoint_state(self.breakpoint),
            "message": self.breakpoint.get("message"),
            "not_supported": list(self.ignored) or None,
            "session_id": self.session.id,
        }
        return {self.kind: self.place, **{key: each for key, each in facts.items() if each}}


async def add_data_breakpoint(
    session: Session,
    path: str,
    frame: int | None,
    access: Access,
    watchpoints: Watchpoints,
    more: Mapping[str, Any] | None = None,
) -> MemoryRow:
    """Set a data breakpoint on what `path` names, beside the others of the session; return it as a row.

    `path` is a variable's path or an expression, looked up in `frame` (the adapter's id; None: the adapter
    looks up the expression without one). `more` are further keys of the DAP breakpoint, `watchpoints` is
    the `[watchpoints]` table of the adapter's definition, and `access` is what stops the program. A
    breakpoint on the same data is replaced. If the adapter does not verify the new one, it is removed
    again. The mirror keeps `path` as its name, also if the breakpoint is not set.

    Raises:
        ArgumentError: It cannot be set; a breakpoint that it was to replace is gone, if the adapter has not
            verified the new one.
        DapeerError: The adapter does not answer, or rejects a request, or the program runs.
    """
    placed = [each for each, _ in session.mirror.breakpoint_statuses.data]
    info = await _data_info(session, path, frame, watchpoints)
    data_point = DataBreakpoint(dataId=_data_id(info, path, access), accessType=access)
    data_point.update(cast("Any", more or {}))
    session.mirror.name_data(data_point["dataId"], path)
    others = [each for each in placed if each["dataId"] != data_point["dataId"]]
    await send_data(session, [*others, data_point])
    row = next((row for row in data_rows(session) if row.requested == data_point), None)
    if row is None or not row.breakpoint.get("verified"):
        await send_data(session, others)
        why = row and row.breakpoint.get("message")
        raise ArgumentError(
            f"The breakpoint on {path} was not set{f': {why}' if why else ''}.",
            "There may be too many: a processor supports about four.",
        )
    return row


async def remove_data_breakpoint(session: Session, row: MemoryRow) -> None:
    """Send the session's data breakpoints without the one of `row`."""
    placed = [each for each, _ in session.mirror.breakpoint_statuses.data]
    await send_data(session, [each for each in placed if each != row.requested])


async def _data_info(
    session: Session, path: str, frame: int | None, watchpoints: Watchpoints
) -> Body:
    """Send `dataBreakpointInfo` for a shown variable, or an expression; return the response's body.

    `path` names the variable, such as `a.b[0]`, or is the expression. If the adapter rejects the request for the
    variable, or gives no `dataId`, the same text is asked for as an expression, and the body is of that response.
    If the adapter rejects the expression, the body has only the reason as `description`. `frame` is the adapter's
    id of a frame; None: no variable is looked for, and the request names no frame. `watchpoints.address` is the
    template into which the expression is put, as text; empty: the expression itself is sent.

    Raises:
        DapeerError: The adapter does not answer, or rejects what finds the variable, or the program runs.
    """
    found, container = await evaluating.find_variable_by_text(session, path, frame)
    if found is not None:
        shown: DataBreakpointInfoArguments = {
            "name": found["name"],
            "variablesReference": container,
        }
        with contextlib.suppress(RequestFailed):
            info = await session.request("dataBreakpointInfo", shown)
            if info.get("dataId"):
                return info
    name = watchpoints.address.replace("${expression}", path) or path
    arguments: DataBreakpointInfoArguments = {"name": name}
    if frame is not None:
        arguments["frameId"] = frame
    try:
        return await session.request("dataBreakpointInfo", arguments)
    except RequestFailed as error:
        return {"description": error.problem}


def _data_id(info: Body, path: str, access: str) -> str:
    """Return the `dataId` of `info`, the body of a `dataBreakpointInfo` response; errors name `path`.

    `path` is the expression that is to be watched, `access` DAP's access type: `read`, `write` or
    `readWrite`. If the adapter lists no access types, `access` is not checked.

    Raises:
        ArgumentError: The adapter gives no `dataId`, or does not list this `access`.
    """
    data_id = info.get("dataId")
    if not data_id:
        said = str(info.get("description") or "").strip() or "the adapter does not say why"
        lines = said.splitlines()
        why = _BEFORE_WHY.sub("", lines[0]).rstrip(".")
        raise ArgumentError(
            f"{path} cannot be watched: {why}.",
            "Give something that lies in memory: a variable or member.",
        )
    offered: Sequence[str] = info.get("accessTypes") or ()
    if offered and access not in offered:
        raise ArgumentError(
            f"`access`: the adapter cannot watch {path} for {access}.",
            f"It can for: {', '.join(offered)}.",
        )
    return str(data_id)


async def send_data(session: Session, requested: Sequence[DataBreakpoint]) -> None:
    """Send these as all data breakpoints of a session; nothing is sent if it has none and gets none."""
    if requested or session.mirror.breakpoint_statuses.data:
        await session.request("setDataBreakpoints", {"breakpoints": list(requested)})


async def send_instructions(session: Session, requested: Sequence[InstructionBreakpoint]) -> None:
    """Send these as all instruction breakpoints of a session.

    Nothing is sent if it has none and gets none.
    """
    if requested or session.mirror.breakpoint_statuses.instructions:
        await session.request("setInstructionBreakpoints", {"breakpoints": list(requested)})


def data_rows(session: Session) -> Iterator[MemoryRow]:
    """Yield a row for each data breakpoint of a session, from the mirror."""
    for data_point, made in session.mirror.breakpoint_statuses.data:
        place = session.mirror.breakpoint_statuses.data_names.get(
            data_point["dataId"], data_point["dataId"]
        )
        yield MemoryRow(session, "data", place, data_point, made)


def instruction_rows(session: Session) -> Iterator[MemoryRow]:
    """Yield a `MemoryRow` for each instruction breakpoint of a session, from the mirror.

    Its place is the address of the instruction in its normal form. No request is sent.
    """
    for instruction_point, made in session.mirror.breakpoint_statuses.instructions:
        yield MemoryRow(
            session,
            "instruction",
            evaluating.normalize_address(instruction_point["instructionReference"]),
            instruction_point,
            made,
        )
