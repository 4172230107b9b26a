"""Arguments that many tools share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import ArgumentError
from dapeer.sessions.session import Session
from dapeer.tools.base.looking import left

SessionId = Annotated[int | None, Field()]
ThreadId = Annotated[int | None, Field()]
FrameId = Annotated[int | None, Field()]
Line = Annotated[int, Field(ge=1)]
Milliseconds = Annotated[int, Field(ge=0)]
Filename = Annotated[str, Field(validation_alias=AliasChoices("filename", "file"))]
OptionalFilename = Annotated[str | None, Field(validation_alias=AliasChoices("filename", "file"))]


def several(given: object) -> object:
    """Return a value as a list: a caller may pass a single expression without one."""
    return [str(given)] if isinstance(given, str | int | float) else given


_Several = Annotated[Sequence[str], BeforeValidator(several)]
Expressions = Annotated[_Several, Field(validation_alias=AliasChoices("expressions", "expression"))]


class BreakpointArgument(BaseModel):
    """A breakpoint as a caller gives it."""

    model_config = ConfigDict(extra="forbid")

    filename: Filename
    line: Line
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None

    def wanted(self) -> SourceBreakpoint:
        """Return it in DAP's terms."""
        return source_breakpoint(self.line, self.condition, self.hit_condition, self.log_message)


def source_breakpoint(
    line: int, condition: str | None, hit_condition: str | None, log_message: str | None
) -> SourceBreakpoint:
    """Return a breakpoint in DAP's terms, without empty fields."""
    wanted = SourceBreakpoint(line=line)
    if condition:
        wanted["condition"] = condition
    if hit_condition:
        wanted["hitCondition"] = hit_condition
    if log_message:
        wanted["logMessage"] = log_message
    return wanted


def thread_of(session: Session, thread_id: int | None) -> int:
    """Return the chosen thread, by default the one that stopped last.

    Raises:
        ArgumentError: There is no such thread.
        NotStopped: Nothing is stopped.
    """
    if thread_id is None:
        return session.mirror.stopped().thread_id
    known = session.mirror.threads
    if known and thread_id not in known:
        listed = ", ".join(map(str, known))
        raise ArgumentError(f"There is no thread {thread_id}.", f"Threads: {listed}.")
    return thread_id


async def frame_of(session: Session, frame_id: int | None) -> int | None:
    """Return the adapter's id of the chosen frame, by default the one that was shown; None if there is none.

    Raises:
        StaleReference: The frame belongs to an earlier stop.
        ArgumentError: There is no such frame.
        NotStopped: Nothing is stopped.
    """
    stop = session.mirror.stopped()
    if frame_id is not None:
        return stop.handles.resolve("frame_id", frame_id)
    frame = await session.inspect.top(stop)
    if frame is None and (over := left(session, stop)) is not None:
        raise over
    return frame["id"] if frame else None
