"""What differs by who holds a session's adapter, we or somebody's editor; and why it has ended."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass

from dapeer.base.errors import RequestFailed
from dapeer.dap.messages import Body, Message, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint

SECONDS_TO_END_ITSELF = 2.0
"""Seconds in which a debuggee may end by itself when it is asked to."""


@dataclass(slots=True)
class Ending:
    """The cause of a session's end, as far as anybody knows it."""

    cause: str | None = None
    by_us: bool = False
    """A tool has ended the program, so its exit code means nothing."""

    def explain(self, cause: str) -> None:
        """Record a cause that was noticed, unless one is known."""
        self.cause = self.cause or cause

    def decide(self, cause: str, *, by_us: bool) -> None:
        """Record the cause that a client has decided on, which counts more than what was noticed."""
        self.cause, self.by_us = cause, self.by_us or by_us

    def credit(self, tool: str) -> None:
        """Name the tool that has ended the program, if a tool of ours has."""
        if self.by_us:
            self.cause = f"ended by {tool}"


class SessionControl(abc.ABC):
    """What every session can be asked. What is said here is so where the adapter is somebody else's."""

    ours: bool = False
    """We hold the adapter, and may kill it."""
    fate: str = "the program runs on"
    """What became of a program that was left, as a part of a sentence."""

    # -- messages

    def on_message(self, message: Message) -> None:
        """Take note of a message of the session, in either direction, which the mirror has taken in."""

    async def answer(self, request: Request) -> Body:
        """Carry out a request of the adapter.

        Raises:
            RequestFailed: It cannot be done, or is not wanted.
        """
        raise RequestFailed(request.command, f"dapeer does not support `{request.command}`")

    def watched_pid(self) -> int:
        """Return the process of its program, where it is known to be on this machine; 0: it is not."""
        return 0

    @abc.abstractmethod
    def why_over(self) -> str:
        """Say why the wire is gone, where no message has told the end."""

    # -- breakpoints

    def takes(self, path: str) -> bool:
        """Whether breakpoints of a source file may be sent to its adapter."""
        return True

    def may_run_elsewhere(self, path: str) -> bool:
        """Whether a source file may run in a process of the program's that its adapter does not follow."""
        return False

    def follows_children(self) -> bool:
        """Whether processes that the program starts are debugged, or nobody knows."""
        return True

    @abc.abstractmethod
    async def ensure_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """See to it that `requested` are the breakpoints of a file, whoever sends them."""

    # -- end

    def check_leave(self, *, terminate: bool | None) -> None:
        """Raise `Unsupported` when the session cannot end so."""

    async def cut_off(self, tool: str) -> None:
        """Kill what must not resume during the end, if its adapter would resume it; `tool` ends it."""

    async def force(self) -> None:
        """Kill what did not end in time, if dapeer has started it."""

    @abc.abstractmethod
    async def farewell(self, seconds: float) -> None:
        """Leave at the end of the server: what dapeer has started ends with it."""

    @abc.abstractmethod
    async def terminate(self) -> None:
        """End the debuggee and the session."""

    @abc.abstractmethod
    async def disconnect(self, *, terminate: bool | None) -> bool:
        """End the session; return whether the debuggee was ended, too (None: if it was launched)."""
