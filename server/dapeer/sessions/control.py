"""What every session that has not ended can be asked, whoever holds its adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dapeer.dap.messages import Message
from dapeer.dap.types import SourceBreakpoint
from dapeer.sessions.session import Session


class SessionControl(Protocol):
    """A session that has not ended, whoever holds its adapter: we do, or somebody's editor."""

    session: Session
    run_to: str | None
    """File of a breakpoint that lasts until the next stop."""

    def accepts(self, path: str, /) -> bool:
        """Whether breakpoints of a source file may be sent to its adapter."""
        ...

    def observe(self, message: Message) -> None:
        """Take note of a message of the session, both directions."""
        ...

    async def set_breakpoints(self, path: str, wanted: Sequence[SourceBreakpoint]) -> None:
        """Make `wanted` the breakpoints of a file."""
        ...

    def check_leave(self, *, terminate: bool | None) -> None:
        """Raise `Unsupported` when the session cannot end so."""
        ...

    async def farewell(self, seconds: float) -> None:
        """Part, because the server ends: what is ours ends with it."""
        ...

    async def cut_off(self, tool: str) -> None:
        """Kill what is to end and must not run on, where its adapter would have it do so; `tool` ends it."""
        ...

    async def terminate(self) -> None:
        """End the debuggee and the session."""
        ...

    async def force(self) -> None:
        """End what would not end when it was asked to, if it is ours."""
        ...

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """End the session; return whether the debuggee was ended, too."""
        ...
