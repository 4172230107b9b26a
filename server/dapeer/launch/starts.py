"""What a start is once all is decided: here, under an adapter of dapeer, or in a Neovim."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import Json
from dapeer.launch.other_languages import start_with_children
from dapeer.launch.request import BreakpointInFile
from dapeer.launch.tasks_json import TaskPlan
from dapeer.peers import Peer, unsaved_changes_error
from dapeer.sessions.broadcast import Broadcast
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger
from dapeer.sessions.triggers.trigger import ReadyCondition

OUTSIDE = "It runs outside of Neovim, whose nvim-dap has no adapter for it: dap.adapters.{name}."
WAITED = "The start waited until the person was free in Neovim."


@dataclass(frozen=True, slots=True)
class Start:
    """A start with all decisions made, which has not begun: under an adapter of dapeer, or in a Neovim."""

    launched: bool
    """Whether a program is started; else one is attached to."""
    folder: Path
    """The folder that the program runs in, to which names of files may be relative."""
    adapter: str
    """The id of the definition by which it is started; empty: another client of DAP decides."""
    begin: Callable[[Debugger, Sequence[BreakpointInFile]], Awaitable[tuple[Session, Broadcast]]]
    """Starts it with breakpoints.

    It returns the session, and a task that sends the breakpoints to other programs meanwhile. It raises a `DapeerError` where it does not start.
    """
    notes: Callable[[Session], Sequence[str]]
    """Returns what the caller should know of how the session was started."""
    tasks: TaskPlan = field(default_factory=TaskPlan)
    """What runs before it, and after it."""
    ready: ReadyCondition = field(default_factory=ReadyCondition)
    """When its server is ready, as its configuration says."""


def start_here(plan: Plan, beside: Peer | None = None) -> Start:
    """Return a start under an adapter of dapeer, by a plan; nothing is started.

    `beside` is the Neovim whose nvim-dap has no adapter for it, if there is one: when the start begins, that Neovim is told that the
    program is debugged elsewhere, and the caller gets a note.
    """
    adapter = plan.definition.id

    async def begin(
        debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start the plan with breakpoints, and send these to other programs.

        Raises:
            DapeerError: It does not start, or breakpoints are given for a core dump.
        """
        if plan.core and breakpoints:
            raise ArgumentError(
                "No breakpoint is hit in a core dump: it does not run.", "Leave `breakpoints` out."
            )
        if beside is not None:
            beside.debugs_elsewhere(adapter)
        session = await start_with_children(debugger, plan, breakpoints)
        return session, debugger.push(*_files(breakpoints), started=session)

    notes = [OUTSIDE.format(name=adapter)] if beside is not None else []
    folder = Path(str(plan.inputs["cwd"]))
    return Start(plan.launched, folder, adapter, begin, lambda _: notes)


def start_in_neovim(peer: Peer, options: Json, *, launched: bool, folder: Path) -> Start:
    """Return a start in a Neovim's nvim-dap; nothing is started.

    `options` are those of the plugin's `run`: a `config`, or the name of a `configuration` with its `filetype` and `overrides`.
    `launched` is False for an attach; `folder` is where the program runs.
    """

    async def begin(
        debugger: Debugger, breakpoints: Sequence[BreakpointInFile]
    ) -> tuple[Session, Broadcast]:
        """Start the configuration in Neovim, and send the breakpoints to other programs.

        Raises:
            DapeerError: It does not start, or a file with a breakpoint has unsaved changes.
        """
        # nvim-dap sends the breakpoints that are its signs.
        paths = _files(breakpoints)
        if paths and (there := await peer.unsaved(paths)):
            raise unsaved_changes_error(there[0])
        with debugger.breakpoints.wanting(breakpoints):
            session = await peer.sessions.run(options)
        return session, debugger.push(*paths)

    return Start(launched, folder, "", begin, _notes_of_neovim)


def _notes_of_neovim(session: Session) -> Sequence[str]:
    """Return a note that the start waited until the person was free, if so; else nothing."""
    waited = isinstance(session, ForwardedSession) and session.hello.waited
    return [WAITED] if waited else []


def _files(breakpoints: Sequence[BreakpointInFile]) -> list[str]:
    """Return the files of some breakpoints, each once, sorted."""
    return sorted({path for path, _ in breakpoints})
