"""The options of a caller for the next stop, which the tools that resume a program share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from dapeer.tools.base.arguments import GroupName, Milliseconds, SessionId
from dapeer.tools.base.schema import Unlisted

Show = Literal["full", "brief"] | None


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
class GroupOptions(ResumeOptions):
    """The same, of a session or a group of them."""

    group: GroupName = None


@dataclass(frozen=True, slots=True)
class WaitOptions(ResumeOptions):
    """The same, of a tool that always waits."""

    wait_until_paused: bool = field(default=True, init=False)


NOTHING: Final = StopOptions()
