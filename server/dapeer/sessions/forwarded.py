"""A session whose adapter somebody else's client holds: we look and act through that client."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio

from dapeer.adapters.definition.definition import Definition
from dapeer.dap.messages import Event, Message, Response
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import ChannelError, NeovimBusy
from dapeer.mirror.frames import Frames
from dapeer.mirror.places import Sight
from dapeer.neovim.nvim_dap.feeds import Feed, Hello
from dapeer.neovim.nvim_dap.transport import NvimTransport
from dapeer.sessions.control import SessionControl
from dapeer.sessions.direct import SECONDS_TO_END_ITSELF, SECONDS_WITHOUT_OUTPUT
from dapeer.sessions.session import Session
from dapeer.sessions.waiters import Deadlines

SECONDS_TO_CLOSE = 0.5
"""Seconds that nvim-dap has to close a session whose debuggee has ended; it may be waiting for a key."""
SECONDS_FOR_SIGNS = 0.3
"""Seconds in which nvim-dap sends breakpoints that have become signs, unless its Neovim is held up."""


class ForwardedSession:
    """A session of nvim-dap. The same mirror, the same requests; what is not ours we never kill."""

    def __init__(
        self,
        number: int,
        hello: Hello,
        feed: Feed,
        *,
        project: Path,
        changed: Callable[[SessionControl, Message], None],
        why_over: Callable[[], str],
        names: Mapping[str, str],
        frames: Frames | None = None,
        sight: Sight | None = None,
        parent: Session | None = None,
        type_there: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`names`: what files are called here, by their paths in Neovim where these differ."""
        self.hello = hello
        self.run_to: str | None = None
        self.failure: str | None = None
        """Why nvim-dap could not start its debuggee, in the adapter's words."""
        self.replayed = anyio.Event()
        """All that had happened before we came has been told."""
        self._transport = NvimTransport(feed, names)
        self.session = Session(
            number,
            hello.name or hello.type,
            hello.type,
            self._transport,
            project=project,
            deadlines=Deadlines(),
            kill=None,
            why_over=why_over,
            changed=lambda message: changed(self, message),
            frames=frames,
            sight=sight,
            parent=parent,
        )
        self.session.feed = feed.name
        # nvim-dap sends log messages itself, and prints what they say.
        self.session.lines.heard = False
        # Who has started it waits for its first stop.
        self.session.inspect.turns.persons = hello.launch is None
        self._type_there = type_there

    # -- what is special about a session that is not ours

    def accepts(self, path: str, /) -> bool:  # noqa: ARG002
        """Nvim-dap sends all breakpoints to all adapters, and so do we."""
        return True

    def heed(self, definition: Definition) -> None:
        """Take in how its adapter differs, which is as the person has it: what it leaves out is asked for, or said to be left out."""
        self.session.heed(*definition.stopping.told)
        self.session.where.complete(definition.stopping.folded)

    def observe(self, message: Message) -> None:
        """Take note of the end of the past, of a terminal, and of why the debuggee could not be started."""
        match message:
            case Event(event="capabilities", body={"capabilities": {"dapeerTerminal": True}}):
                self.session.program.keyboard = self
            case Event(event="dapeer.replayed"):
                self.replayed.set()
            case Response(command="setBreakpoints"):
                for path in self.session.mirror.breakpoints:
                    # It may change before anybody looks.
                    self.session.inspect.editions.keep(path)
            case Response(command="launch" | "attach" as command, success=False):
                self.failure = f"could not {command}: {message.failure()}"
                self.session.cause = self.session.cause or self.failure
            case _:
                pass

    async def type(self, text: str) -> None:
        """Type into the terminal that nvim-dap has opened for the program."""
        if self._type_there is not None:
            await self._type_there(text)

    async def set_breakpoints(self, path: str, wanted: Sequence[SourceBreakpoint]) -> None:
        """Wait until nvim-dap has sent the signs of a file; where its Neovim is held up, send them past it."""
        session = self.session
        if not session.initialized.is_set():
            return  # nvim-dap sends all its signs when the adapter is ready
        if await session.wait_for(lambda: self._has(path, wanted), SECONDS_FOR_SIGNS):
            return
        try:
            await session.set_breakpoints(path, wanted)
        except NeovimBusy as error:
            raise NeovimBusy(
                f"The breakpoints of {Path(path).name} are not set yet: {error.what}",
                "They will be set once Neovim responds.",
            ) from error

    def _has(self, path: str, wanted: Sequence[SourceBreakpoint]) -> bool:
        """Whether the adapter has exactly these breakpoints, as far as the mirror knows."""
        sent = [asked for asked, _ in self.session.mirror.breakpoints.get(path, ())]
        wanted = [each for each in wanted if "collect" not in each]
        return sorted(map(_key, sent)) == sorted(map(_key, wanted))

    # -- end

    async def live(self) -> None:
        """Live the rest of the session's life, to its end."""
        session = self.session
        await session.wait_for(lambda: session.mirror.ended or session.over, None)
        await session.inspect.output_settled(SECONDS_WITHOUT_OUTPUT)
        await session.wait_for(lambda: session.over, SECONDS_TO_CLOSE)
        await self.part()

    async def part(self) -> None:
        """Hang up; nvim-dap's session goes on, if it has not ended."""
        await self._transport.aclose()
        self.session.finish()

    def check_leave(self, *, terminate: bool | None) -> None:
        """Look whether the session can end so; its adapter says so itself when it cannot."""

    async def farewell(self, seconds: float) -> None:  # noqa: ARG002
        """Leave the person's session alone."""
        await self._transport.aclose()

    async def cut_off(self, tool: str) -> None:
        """Leave the program to nvim-dap."""

    async def terminate(self) -> None:
        """End the debuggee and the session, as nvim-dap does: politely first."""
        session = self.session
        if not await session.terminate(SECONDS_TO_END_ITSELF):
            with contextlib.suppress(ChannelError):
                await session.request(
                    "disconnect", {"terminateDebuggee": True}, seconds=SECONDS_TO_END_ITSELF
                )
        await session.wait_for(lambda: session.over, SECONDS_TO_END_ITSELF)

    async def force(self) -> None:
        """Leave it to the person, whose Neovim holds the adapter."""

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """End the session; return whether the debuggee was ended, too (None: if it was launched)."""
        session = self.session
        ending = self.hello.request == "launch" if terminate is None else terminate
        session.part(ending=ending)
        await session.request("disconnect", {"terminateDebuggee": ending})
        await session.wait_for(lambda: session.over, SECONDS_TO_END_ITSELF)
        return ending


def _key(breakpoint_: SourceBreakpoint) -> tuple[int, str, str, str]:
    return (
        breakpoint_["line"],
        breakpoint_.get("condition") or "",
        breakpoint_.get("hitCondition") or "",
        breakpoint_.get("logMessage") or "",
    )
