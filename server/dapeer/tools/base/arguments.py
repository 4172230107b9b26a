"""Arguments that many tools share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from dapeer.base.errors import ArgumentError
from dapeer.dap.wanted import WantedBreakpoint
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
Collect = Annotated[_Several, Field(description="record these instead of stopping")]
MaxHits = Annotated[int | None, Field(ge=1)]
MOST_COLLECTED = 30
LONGEST = 2000
"""Characters of an expression that is collected."""


class BreakpointArgument(BaseModel):
    """A breakpoint as a caller gives it."""

    model_config = ConfigDict(extra="forbid")

    filename: Filename
    line: Line
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    collect: Collect = ()
    max_hits: MaxHits = None

    def wanted(self) -> WantedBreakpoint:
        """Return it in DAP's terms."""
        wanted = source_breakpoint(self.line, self.condition, self.hit_condition, self.log_message)
        return collecting(wanted, self.collect, self.max_hits)


def collecting(
    wanted: WantedBreakpoint, expressions: Sequence[str], max_hits: int | None
) -> WantedBreakpoint:
    """Return a breakpoint with what it collects, if it collects something.

    Raises:
        ArgumentError: It cannot do both.
    """
    if not expressions and max_hits is not None:
        raise ArgumentError("`max_hits` is for `collect`.", "To stop later: hit_condition.")
    if not expressions:
        return wanted
    if other := next((key for key in ("logMessage", "hitCondition") if key in wanted), None):
        name = "log_message" if other == "logMessage" else "hit_condition"
        raise ArgumentError(
            f"`collect` and `{name}` exclude each other.", "A condition and max_hits go with it."
        )
    if len(expressions) > MOST_COLLECTED or any(len(each) > LONGEST for each in expressions):
        raise ArgumentError(
            f"`collect` takes {MOST_COLLECTED} expressions of {LONGEST} characters.", "Give fewer."
        )
    if not all(each.strip() for each in expressions):
        raise ArgumentError("An expression of `collect` is empty.", "Leave it out.")
    wanted["collect"] = [each.strip() for each in expressions]
    if max_hits is not None:
        wanted["maxHits"] = max_hits
    return wanted


def source_breakpoint(
    line: int, condition: str | None, hit_condition: str | None, log_message: str | None
) -> WantedBreakpoint:
    """Return a breakpoint in DAP's terms, without empty fields."""
    wanted = WantedBreakpoint(line=line)
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
