"""What a start is once all is decided: here, under an adapter of dapeer, or in a Neovim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.launch.request import (
    BreakpointInFile,
)
from dapeer.peers import Peer, unsaved
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.outcomes.broadcast import Broadcast

OUTSIDE = "It runs outside of Neovim, whose nvim-dap has no adapter for it: dap.adapters.{name}."
WAITED = "The start waited until the person was free in Neovim."


class Start(Protocol):
    """A start with all decisions made."""

    @property
    def launched(self) -> bool:
        """Whether a program is started; else one is attached to."""
        ...

    @property
    def folder(self) -> Path:
        """The folder that the program runs in, to which names of files may be relative."""
        ...

    @property
    def adapter(self) -> str:
        """The id of the definition by which it is started; empty: another client of DAP decides."""
        ...

    def notes(self, session: Session) -> Sequence[str]:
        """Return what the caller should know of how it was started."""
        ...

    async def begin(
        self, debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start it with breakpoints.

        Return its session, and a task that sends the breakpoints to other programs meanwhile.

        Raises:
            DapeerError: It does not start.
        """
        ...


@dataclass(frozen=True, slots=True)
class StartHere:
    """A start under an adapter of dapeer."""

    plan: Plan
    beside: Peer | None = None
    """The Neovim whose nvim-dap has no adapter for it."""

    @property
    def adapter(self) -> str:
        """The id of its definition."""
        return self.plan.definition.id

    def notes(self, session: Session) -> Sequence[str]:  # noqa: ARG002 - as every start has it
        """Return that it does not run in the person's Neovim."""
        name = self.plan.definition.id
        return [OUTSIDE.format(name=name)] if self.beside is not None else []

    @property
    def launched(self) -> bool:
        """Whether a program is started."""
        return self.plan.launched

    @property
    def folder(self) -> Path:
        """The folder that the program runs in."""
        return Path(str(self.plan.inputs["cwd"]))

    async def begin(
        self, debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start it with breakpoints."""
        if self.plan.core and breakpoints:
            raise ArgumentError(
                "No breakpoint is hit in a core dump: it does not run.", "Leave `breakpoints` out."
            )
        if self.beside is not None:
            self.beside.debugs_elsewhere(self.plan.definition.id)
        session = await debugger.start(self.plan, breakpoints)
        return session, debugger.push(*_files(breakpoints), started=session)


@dataclass(frozen=True, slots=True)
class StartInNeovim:
    """A start in nvim-dap, by a configuration in its form."""

    peer: Peer
    options: Json
    launched: bool
    folder: Path
    adapter: str = ""

    def notes(self, session: Session) -> Sequence[str]:
        """Return that the start has waited for the person, if so."""
        waited = isinstance(session, ForwardedSession) and session.hello.waited
        return [WAITED] if waited else []

    async def begin(
        self, debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Have nvim-dap start it. nvim-dap sends the breakpoints that are its signs."""
        paths = _files(breakpoints)
        if paths and (there := await self.peer.unsaved(paths)):
            raise unsaved(there[0])
        with debugger.breakpoints.wanting(breakpoints):
            session = await self.peer.sessions.run(self.options)
        return session, debugger.push(*paths)


def _files(breakpoints: Sequence[BreakpointInFile]) -> list[str]:
    return sorted({path for path, _ in breakpoints})
