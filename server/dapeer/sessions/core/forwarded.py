"""A session of nvim-dap: dapeer reads its messages, and acts through nvim-dap."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import ChannelError, NeovimBusy, NotStopped
from dapeer.dap.messages import Event, Message, Response
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, spot_of
from dapeer.neovim.client import Neovim
from dapeer.neovim.feeds import Feed, Hello, NvimTransport
from dapeer.sessions.core.session import SECONDS_TO_END_ITSELF, Session, SessionContext
from dapeer.sessions.traits import Traits

SECONDS_TO_CLOSE = 0.5
"""Seconds for nvim-dap to close a session whose debuggee ended; Neovim may be waiting for a key."""
SECONDS_FOR_SIGNS = 0.3
"""Seconds in which nvim-dap sends breakpoints that have become signs, unless its Neovim is held up."""

TYPE = "return require('dapeer.nvim_dap.terminals').type(...)"


class ForwardedSession(Session):
    """nvim-dap's session, with mirror and requests as a direct one; dapeer never kills its processes.

    nvim-dap sends all breakpoints to all adapters, and so do we.
    """

    def __init__(
        self,
        context: SessionContext,
        hello: Hello,
        feed: Feed,
        neovim: Neovim,
        *,
        names: Mapping[str, str],
        definition: Definition | None = None,
        parent: Session | None = None,
    ) -> None:
        """Make the session of nvim-dap that `hello` describes.

        `names` maps paths in Neovim to paths here, where these differ. `definition` tells how the adapter differs, None: unknown;
        `parent` is the session whose debuggee has started this one's.
        """
        self.hello = hello
        self.failure: str | None = None
        """Why nvim-dap could not start its debuggee, in the adapter's words."""
        self.replayed_event = anyio.Event()
        """Set when the journal of earlier messages has been read."""
        self._neovim = neovim
        self._feed = feed
        self._transport = NvimTransport(feed, names)
        name, traits = hello.name or hello.type, _traits(hello, definition)
        super().__init__(context, name, hello.type, self._transport, traits, parent)
        self.feed = feed.name
        if definition is not None:
            # The program is unpatched, so what its adapter leaves out is requested or noted.
            self.thread_locator.enable_program_queries(definition.stopping.folded)
            children = definition.children
            self.runs_in_first_child = parent is None and children is not None and children.primary

    # -- differences from a direct session

    @property
    def is_current(self) -> bool:
        """Whether the journal of earlier messages has been read."""
        return self.replayed_event.is_set()

    def on_message(self, message: Message) -> None:
        """React to a message: note a terminal, the end of the replayed journal, and why a start has failed.

        An event that says that nvim-dap has a terminal for the program makes this session the program's
        keyboard. An event at the end of the replayed journal sets `replayed_event`. At a response of
        `setBreakpoints`, also a failed one, the present text of every file that has breakpoints in the
        mirror is kept. A failed `launch` or `attach` sets `failure`, and the cause of the end if none is
        known. Other messages are ignored.
        """
        match message:
            case Event(event="capabilities", body={"capabilities": {"dapeerTerminal": True}}):
                self.program.set_keyboard(self)
            case Event(event="dapeer.replayed"):
                self.replayed_event.set()
            case Response(command="setBreakpoints"):
                for path in self.mirror.breakpoints:
                    # The event may change before a reader sees it.
                    self.inspect.source_versions.keep(path)
            case Response(command="launch" | "attach" as command, success=False):
                self.failure = f"could not {command}: {message.failure()}"
                self.ending.set_cause_if_unknown(self.failure)
            case _:
                pass

    async def type(self, text: str) -> None:
        """Type `text` into the terminal that nvim-dap has opened for the program.

        Raises:
            NotStopped: There is none any more.
        """
        wrong = await self._neovim.call(TYPE, self.hello.session, text)
        if wrong:
            raise NotStopped(
                f"Nothing was typed: {wrong}.", "dap_status shows the program's state."
            )

    async def ensure_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Wait until nvim-dap has sent exactly the breakpoints `requested` of `path`; else send them directly.

        They are sent directly if nvim-dap has not sent them within `SECONDS_FOR_SIGNS`, as when its Neovim is held
        up. Breakpoints that collect are not waited for: the program is instructed to collect there. Before the
        adapter is initialized nothing is done, because nvim-dap sends all breakpoints then.

        Raises:
            NeovimBusy: Neovim does not respond, so they are not set yet.
            DapeerError: The adapter rejected them, or did not answer.
        """
        if not self.initialized_event.is_set():
            return  # nvim-dap sends all its signs when the adapter is ready
        if await self.wait_for(lambda: self._has(path, requested), SECONDS_FOR_SIGNS):
            await self.line_breakpoints.collect(path, requested)
            return
        try:
            await self.set_breakpoints(path, requested)
        except NeovimBusy as error:
            raise NeovimBusy(
                f"The breakpoints of {Path(path).name} are not set yet: {error.problem}",
                "They will be set once Neovim responds.",
            ) from error

    def _has(self, path: str, requested: Sequence[RequestedBreakpoint]) -> bool:
        """Return whether the mirror holds exactly these breakpoints for the file.

        Those that collect are left out.
        """
        sent = [each for each, _ in self.mirror.breakpoints.get(path, ())]
        requested = [each for each in requested if "collect" not in each]
        columns = self.line_breakpoints.log_points.columns
        have, want = ([_key(each, columns=columns) for each in some] for some in (sent, requested))
        return sorted(have) == sorted(want)

    # -- end

    def why_over(self) -> str:
        """Return a clause on what closed the session: nvim-dap, or the end of Neovim or the connection."""
        if self._neovim.closed_event.is_set():
            return "its Neovim has ended"
        # A Neovim that dies takes several connections along, and this one may be noticed first.
        cut = "the connection to its Neovim has ended"
        return "nvim-dap has closed the session" if self._feed.is_closed_by_nvim_dap else cut

    async def wait_and_close_connection(self) -> None:
        """Wait for the end of the debuggee, the last output, and nvim-dap's closing; then close dapeer's side."""
        await self.wait_for(lambda: self.mirror.has_ended, None)
        await self.program.arriving_output.wait_for_silence()
        await self.wait_for(lambda: self.is_over, SECONDS_TO_CLOSE)
        await self.close_connection()

    async def close_connection(self) -> None:
        """Close the connection to nvim-dap's session and record the end here; nvim-dap's session goes on."""
        await self._transport.aclose()
        self.finish()

    async def leave_at_server_end(self, seconds: float) -> None:  # noqa: ARG002
        """Close the connection to the person's session, which goes on; `seconds` is not used."""
        await self._transport.aclose()

    async def terminate(self) -> None:
        """End the debuggee: `terminate` first, and if it has not ended, `disconnect` with `terminateDebuggee`.

        `terminate` is left out if the adapter does not support it. Then wait a moment for nvim-dap to close the session. Nothing is raised
        if the adapter rejects either request or does not answer it, or if the session stays open: `is_over` tells whether it has ended.
        """
        if not await self.ask_to_end(SECONDS_TO_END_ITSELF):
            with contextlib.suppress(ChannelError):
                await self.request(
                    "disconnect", {"terminateDebuggee": True}, seconds=SECONDS_TO_END_ITSELF
                )
        await self.wait_for(lambda: self.is_over, SECONDS_TO_END_ITSELF)

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """Send `disconnect` and wait for the end; return whether the debuggee was ended with it.

        `terminate` says whether to end the debuggee; None: only if nvim-dap has launched it. The wait takes at most
        `SECONDS_TO_END_ITSELF`.

        Raises:
            DapeerError: As `send`: the adapter rejected the request, or did not answer it in time.
        """
        ending = self.hello.request == "launch" if terminate is None else terminate
        self.expect_end(ending=ending)
        await self.request("disconnect", {"terminateDebuggee": ending})
        await self.wait_for(lambda: self.is_over, SECONDS_TO_END_ITSELF)
        return ending


def _traits(hello: Hello, definition: Definition | None) -> Traits:
    """Return the differences of nvim-dap's adapter, from its definition, if that is known, for `Session`.

    The adapter is always shared with nvim-dap; the session is the person's (`is_theirs`) unless dapeer has asked for its start
    (`hello.launch`).
    """
    # nvim-dap sends log messages itself, and prints what they say; the caller that has started a session waits for its first stop.
    traits = Traits(is_shared=True, is_theirs=hello.launch is None)
    if definition is None:
        return traits
    return replace(
        traits,
        stopping=definition.stopping,
        sight=definition.sight,
        collect=definition.collect,
        columns=definition.quirks.columns,
    )


def _key(breakpoint_: RequestedBreakpoint, *, columns: bool) -> tuple[int, int, str, str, str]:
    """Return a breakpoint's place and options as a tuple by which two breakpoints can be compared.

    The tuple is line, column, `condition`, `hitCondition` and `logMessage`; a missing option equals an empty one.
    `columns` says whether the adapter tells columns apart; without it the column is 0.
    """
    line, column = spot_of(breakpoint_)
    return (
        line,
        column if columns else 0,
        breakpoint_.get("condition") or "",
        breakpoint_.get("hitCondition") or "",
        breakpoint_.get("logMessage") or "",
    )
