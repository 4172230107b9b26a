"""The options of a caller for the next stop, which the tools that resume a program share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from dapeer.sessions.core.session import Session
from dapeer.tools.base import evaluation
from dapeer.tools.base.arguments import Milliseconds, SessionId, frame_of
from dapeer.tools.base.deadline import SECONDS_TO_INSPECT, Left
from dapeer.tools.base.schema import Unlisted
from dapeer.view.snapshot import Snapshot
from dapeer.view.variables import VALUE_CHARS

Show = Literal["full", "brief"] | None

MILLISECONDS_TO_EVALUATE: Final = 5000
"""Milliseconds that the expressions of a caller may take together."""
ROOM: Final = 2 * VALUE_CHARS
"""Characters of a value."""


@dataclass(frozen=True, slots=True)
class StopOptions:
    """What to evaluate at the next stop, how much of the stop to show, and how long to wait for it."""

    evaluate: Sequence[str] = ()
    show: Show = None
    wait_until_paused: Annotated[bool, Unlisted()] = True
    """False: as a time-out of 0."""
    timeout_ms: Milliseconds = 30_000


@dataclass(frozen=True, slots=True)
class ResumeOptions(StopOptions):
    """The same, of the session that a tool resumes."""

    session_id: SessionId = None


@dataclass(frozen=True, slots=True)
class WaitOptions(ResumeOptions):
    """The same, of a tool that always waits."""

    wait_until_paused: bool = field(default=True, init=False)


NOTHING: Final = StopOptions()


async def add_values(view: Snapshot, session: Session, options: StopOptions, left: Left) -> None:
    """Add the values of the expressions at the stop; an expression that fails has its error."""
    if not options.evaluate:
        return
    stop = session.mirror.stop
    if stop is None or view["state"] != "stopped":
        state = "has ended" if view["state"] == "ended" else "is not stopped"
        note = f"nothing was evaluated: the program {state}"
        view["notes"] = [*view.get("notes", ()), note]
        return
    frame = await frame_of(session, None)
    seconds = max(left.to_inspect - SECONDS_TO_INSPECT / 2, 0)
    left = Left(min(MILLISECONDS_TO_EVALUATE, seconds * 1000))
    found = await evaluation.each(session, options.evaluate, frame, "watch", left)
    view["values"] = {each.expression: each.text(ROOM) for each in found if not each.error}
    view["failed"] = {each.expression: each.gist for each in found if each.error}
