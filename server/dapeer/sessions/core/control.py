"""What differs by who holds a session's adapter, we or somebody's editor; and why it has ended."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import RequestFailed
from dapeer.base.secret_files import SecretFiles
from dapeer.collecting.row_files import RowFolders
from dapeer.dap.messages import Body, Message, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint

# What the sessions of one server share.


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the sessions of one server share, and the number of a new one."""

    number: int
    project: Path
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    """Of all adapters; they tell whose a source file is."""
    secret_files: SecretFiles = field(default_factory=SecretFiles)
    """Files whose text is not shown."""
    rows: RowFolders | None = None
    """Where programs write what they collect by themselves; None: nowhere."""


SECONDS_TO_END_ITSELF = 2.0
"""Seconds in which a debuggee may end by itself when it is asked to."""


@dataclass(slots=True)
class Ending:
    """The cause of a session's end, as far as anybody knows it."""

    cause: str | None = None
    ended_by_tool: bool = False
    """A tool has ended the program, so its exit code means nothing."""

    def explain(self, cause: str) -> None:
        """Set `cause`, unless one is set already."""
        self.cause = self.cause or cause

    def decide(self, cause: str, *, by_us: bool) -> None:
        """Set `cause` to what a client has decided, in place of any other.

        `ended_by_tool` stays True once it was True.
        """
        self.cause, self.ended_by_tool = cause, self.ended_by_tool or by_us

    def credit(self, tool: str) -> None:
        """Set `cause` to "ended by `tool`", if `ended_by_tool`; else change nothing."""
        if self.ended_by_tool:
            self.cause = f"ended by {tool}"


class SessionControl(abc.ABC):
    """What every session can do; the defaults are those of a session whose adapter another client holds."""

    owns_adapter: bool = False
    """We hold the adapter, and may kill it."""
    fate: str = "the program runs on"
    """What became of a program that was left, as a part of a sentence."""

    # -- messages

    def on_message(self, message: Message) -> None:
        """React to a message that the adapter or the client has sent; the mirror has applied it already."""

    async def answer(self, request: Request) -> Body:
        """Carry out a request that the adapter has sent to dapeer, and return the body of the response.

        Raises:
            RequestFailed: It cannot be done, or is not wanted.
        """
        raise RequestFailed(request.command, f"dapeer does not support `{request.command}`")

    def watched_pid(self) -> int:
        """Return the pid of the session's program if it is known to run on this machine, else 0."""
        return 0

    @abc.abstractmethod
    def why_over(self) -> str:
        """Return a clause on why the connection has ended, where no message has reported the end."""

    # -- breakpoints

    def takes(self, path: str) -> bool:
        """Return whether breakpoints of the source file `path` may be sent to the session's adapter."""
        return True

    def may_run_elsewhere(self, path: str) -> bool:
        """Return whether `path`, a source file, may run in a process that the adapter does not debug."""
        return False

    def follows_children(self) -> bool:
        """Return whether processes that the program starts are debugged, too.

        True also where that is not known.
        """
        return True

    def awaits_children_of(self, path: str) -> bool:
        """Return whether the program's children in the language of the file `path`, another one, are debugged."""
        return False

    @abc.abstractmethod
    async def ensure_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Make `requested` all breakpoints of `path`; send them, or wait for nvim-dap to do so."""

    # -- end

    def check_leave(self, *, terminate: bool | None) -> None:
        """Check that the session can end with `terminate`; this default accepts all.

        `terminate` is False if the program is to run on, True if it is to end, and None for the session's default.

        Raises:
            Unsupported: The adapter cannot end the session so.
        """

    async def cut_off(self, tool: str) -> None:
        """Kill the program, or its adapter, if the adapter would resume the program on its way to the end.

        `tool` is the name of the tool that ends the session; it is recorded as the cause. The default does nothing.
        """

    async def force(self) -> None:
        """Kill the adapter and the processes that dapeer has started with it; the default does nothing."""

    @abc.abstractmethod
    async def farewell(self, seconds: float) -> None:
        """Leave the session at the server's end: end a program that dapeer has launched, detach from others.

        `seconds` is how long the adapter may take to answer.
        """

    @abc.abstractmethod
    async def terminate(self) -> None:
        """End the debuggee, wait for it, and end the session."""

    @abc.abstractmethod
    async def disconnect(self, *, terminate: bool | None) -> bool:
        """Send `disconnect` and end the session; return whether the debuggee was ended with it.

        `terminate` says whether to end the debuggee; None: only if it was launched.

        Raises:
            DapeerError: The session cannot end so, or the adapter rejects the request.
        """
