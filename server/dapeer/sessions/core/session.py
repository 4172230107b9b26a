"""A debug session: a channel to act on, and a mirror of all that it has reported."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, cast

import anyio

from dapeer.base.errors import ChannelClosed, ChannelError, RequestTimeout, Unsupported
from dapeer.collecting.rows.collected import Gathered
from dapeer.dap.channel import Channel
from dapeer.dap.messages import Body, Event, Message
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.requests import CONTROL, ENDS, can
from dapeer.dap.sent_requests import ResumingCommand, SendRequest
from dapeer.dap.transport import Transport
from dapeer.mirror.frames import Frames
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.post_mortem import PostMortem
from dapeer.mirror.printed import IN_TERMINAL
from dapeer.sessions.breakpoints.lines import LineBreakpoints
from dapeer.sessions.breakpoints.log_lines import LogLines
from dapeer.sessions.breakpoints.stops_at import StopsAt
from dapeer.sessions.breakpoints.watching import Watching
from dapeer.sessions.core.context import SessionContext
from dapeer.sessions.core.control import Ending, SessionControl
from dapeer.sessions.core.detached import Detached
from dapeer.sessions.core.program import Keyboard, Program
from dapeer.sessions.inspection.inspection import Inspection
from dapeer.sessions.inspection.printed_errors import PrintedErrors
from dapeer.sessions.inspection.thread_locations import Whereabouts
from dapeer.sessions.traits import Traits
from dapeer.view.advice import Advice

SECONDS_TO_EXPLAIN = 1.0
"""Seconds in which the reason for the end of a connection is known."""


TOGETHER: Final = "so it was killed together with the program"
"""What becomes of a program whose adapter does not end it when it is to."""


class Session(SessionControl):
    """One debug session, from its first message to its last.

    Reading is answered from the mirror; what it does not hold yet is asked once, however many ask.
    Every request goes through `request`: there it is checked against the adapter's capabilities and
    gets its deadline.
    """

    program: Program[Session]
    """The processes that belong together, this one's among them."""
    frames: Frames
    """Tells the user's stack frames from those of runtimes and libraries."""
    feed: str | None = None
    """The feed of a session of nvim-dap: tap or listeners. None: a direct session."""
    over: bool = False
    """The connection has ended: no more output, no more responses."""
    post_mortem: PostMortem | None = None
    """It looks at a core dump."""
    detached: Detached | None = None
    """What its program has left running; None: dapeer has not started it, or another session has."""
    delegates: bool = False
    """Its program is its first child: it has no threads of its own."""
    advice = Advice()
    """The hints on messages of the adapter and the program."""

    adapter_lost = False
    """Whether the adapter ended before it told the end of the program: it may have missed something."""

    def __init__(
        self,
        context: SessionContext,
        name: str,
        adapter: str,
        transport: Transport,
        traits: Traits,
        parent: Session | None = None,
    ) -> None:
        self.id = context.number
        self.name = name
        self.adapter = adapter
        """The definition's id: debugpy, gdb, …; in Neovim the type that nvim-dap knows."""
        self.parent = parent
        """The session whose program has started this one's."""
        self.program = parent.program if parent else Program()
        self.project = context.project
        self.frames = traits.stopping.frames(context.project)
        gathered = Gathered(self.program.collected, context.number)
        printed, failed = self.program.printed, self.program.failures
        self.mirror: Mirror = Mirror(self.frames, printed, failed, gathered)
        self.channel = Channel(transport, self.observe, self.answer)
        stopping = traits.stopping
        self.errors = PrintedErrors(self.program.output, stopping.traceback, stopping.debugger)
        request, collected = self.request, self.program.collected
        self.inspect = Inspection(
            self.mirror,
            request,
            self.wait_for,
            self.program.arriving,
            self.errors,
            context.secret_files,
            traits,
        )
        self.where = Whereabouts(
            self.mirror, self.inspect, request, traits.sight, self._first_mirror, self.watched_pid
        )
        self.stops_at = StopsAt(adapter, self.mirror, request, self.supports, traits)
        log = LogLines(collected, self.stops_at, request, traits.collect)
        folder = partial(self.program.rows_in, context.rows) if context.rows else None
        self.lines = LineBreakpoints(
            collected, self.supports, request, self.observe, log, traits, folder
        )
        self.watching = Watching(collected, self.mirror, self.lines, self.wait_for)
        self.ending = Ending()
        self.initialized = anyio.Event()
        self._deadlines = traits.deadlines
        # A thread that stock debugpy has suspended takes one command per 200 ms once two are queued.
        self.evaluating = anyio.Lock(fast_acquire=True)
        self.program.add(self)

    def _first_mirror(self) -> Mirror:
        return self.program.first.mirror

    @property
    def is_current(self) -> bool:
        """Whether its messages are of now; no: it is being told what was before dapeer came."""
        return True

    @property
    def cause(self) -> str | None:
        """Why the session ended, where it was not the program's own doing."""
        return self.ending.cause

    @property
    def by_us(self) -> bool:
        """Whether a tool has ended the program, so that its exit code means nothing."""
        return self.ending.by_us

    # -- messages

    async def run(self) -> None:
        """Receive messages until the adapter has ended."""
        try:
            await self.channel.run()
        finally:
            self.finish()

    def untested(self, printed: str) -> str | None:  # noqa: ARG002 - of those that are started here
        """Return why its program, which was to run tests, has run none; None: it has, or that is not known."""
        return None

    def finish(self) -> None:
        """Record the end of the connection: a session without `terminated` has ended, too."""
        if not self.over:
            self.over = True
            if not self.mirror.ended:
                self.lose(self.channel.breach or self.why_over())
            self.program.waiters.wake()

    def lose(self, cause: str) -> None:
        """Record the end of the program that no message reports, and its reason, if that is unknown."""
        self.ending.explain(cause)
        self.observe(Event("terminated"))

    def observe(self, message: Message) -> None:
        """Take in a message of the session, in either direction."""
        meaning = self.post_mortem.meaning_of(message) if self.post_mortem else message
        if meaning is not None:
            self._take_in(self.advice.explained(meaning))

    def _take_in(self, message: Message) -> None:
        self.mirror.apply(message, time.time())
        if isinstance(message, Event) and message.event == "initialized":
            self.initialized.set()
        self.inspect.on_message(message)
        if number := self.mirror.gathered.full(message):
            # Some adapters tell what a child logs in the session of its parent.
            for each in self.program.sessions if self.delegates else [self]:
                each.lines.remove(number)
        self.on_message(message)
        self.program.publish(self, message)

    async def wait_for(self, predicate: Callable[[], bool], seconds: float | None) -> bool:
        """Wait until `predicate` is true of the session; False when `seconds` pass first (None: no limit).

        It is asked again after every message, so it must be cheap.
        """
        return await self.program.waiters.wait_for(predicate, seconds)

    # -- its terminal

    def in_terminal(self, terminal: Keyboard) -> None:
        """Take note that the program, its other processes too, runs in a terminal that can be typed into."""
        self.program.type_into(terminal)
        self.program.first.observe(Event("capabilities", {"capabilities": {IN_TERMINAL: True}}))

    def print_in_terminal(self, printed: Body) -> None:
        """Take in output from the program's terminal, as the body of an output event."""
        self.observe(Event("output", {**printed, IN_TERMINAL: True}))

    # -- requests

    @property
    def request(self) -> SendRequest:
        """Send a request that dapeer knows; its arguments and its response are typed by the command."""
        return cast("SendRequest", self.send)

    async def send(
        self,
        command: str,
        arguments: Body | None = None,
        *,
        seconds: float | None = None,
        forced: bool = False,
    ) -> Body:
        """Send a request that the adapter advertises, or any if `forced`, and return the body of its response.

        Raises:
            Unsupported: The adapter does not advertise it; nothing was sent.
            RequestFailed: The adapter answered that it cannot.
            RequestTimeout: No answer in time. The program may run code that lets no debugger in, or
                compute a slow value, so nothing is killed but what was to end anyway.
            NeovimBusy: The Neovim that holds the session does not run; nothing was sent.
            ChannelClosed: The session ended first.
        """
        if not forced:
            self.require(command)
        control = command in CONTROL
        usual = self._deadlines.control if control else self._deadlines.request
        limit = usual if seconds is None else seconds
        try:
            return await self.channel.request(command, arguments, seconds=limit)
        except ChannelClosed as error:
            raise await self._explained(error) from error
        except RequestTimeout as error:
            if not self.ours or command not in ENDS:
                unknown = forced and not self.supports(command)
                owed = self.channel.unanswered[:-1]
                raise RequestTimeout(command, limit, forced=unknown, owed=owed) from error
            outcome = await self.cut_short(
                f"the adapter did not answer `{command}` within {limit:g} s"
            )
            killed = outcome == TOGETHER
            raise RequestTimeout(command, limit, outcome=outcome, killed=killed) from error

    async def cut_short(self, cause: str) -> str:
        """End a session whose adapter has not answered as it was to end; return what became of the program.

        Args:
            cause: What is recorded as the reason, with what became of the program.
        """
        self.ending.explain(f"{cause}, {TOGETHER}")
        await self.force()
        return TOGETHER

    async def _explained(self, error: ChannelClosed) -> ChannelClosed:
        """Return an error with the reason for the end of the connection, as soon as that is known."""
        await self.wait_for(lambda: self.over, SECONDS_TO_EXPLAIN)
        if not self.cause or self.by_us:
            return error
        what = f"{error.what.rstrip('.')}: {self.cause.rstrip('.')}."
        return ChannelClosed(
            what, "dap_program_output shows what it printed; dap_run starts it again."
        )

    def supports(self, name: str) -> bool:
        """Whether the adapter advertises a request, or an option of requests, or every adapter has it."""
        allowed = self.post_mortem is None or self.post_mortem.allows(name)
        return allowed and can(self.mirror.capabilities, name)

    def has_now(self, name: str) -> bool:
        """Whether a caller can use it now."""
        return self.supports(name) and not self.over

    def require(self, name: str) -> None:
        """Raise `Unsupported` when the adapter does not advertise a request, or an option of requests.

        Some adapters crash on a request they do not know, some never answer anything again.
        """
        if self.post_mortem is not None:
            self.post_mortem.check(name)
        if not self.supports(name):
            raise Unsupported(
                f"The adapter {self.adapter} does not support `{name}`.",
                "Reach it another way: dap_evaluate may, or a breakpoint.",
            )

    async def resume(self, command: ResumingCommand, arguments: Body) -> None:
        """Send a request that makes the program run.

        An adapter that ends at it, or has no time to answer it because of what the program does, is no
        failure here: who waits for what happens next is told.

        Raises:
            NotStopped: It runs already, or has ended.
        """
        self.mirror.stopped()
        with contextlib.suppress(ChannelClosed, RequestTimeout):
            await self.send(command, arguments)

    async def pause(self, thread_id: int | None, seconds: float) -> bool:
        """Ask a running program to stop; the stop comes as an event.

        False: the adapter has not answered within `seconds`. It stops the program when it can.
        """
        self.mirror.require_live()
        if "pause" in self.channel.unanswered:
            return False
        try:
            with anyio.fail_after(seconds):
                if thread_id is None:
                    thread_id = next(iter(self.mirror.threads or await self.inspect.threads()), 0)
                await self.request("pause", {"threadId": thread_id})
        except (RequestTimeout, TimeoutError):
            return False
        return True

    def expect_end(self, *, ending: bool, tool: str = "dap_disconnect") -> None:
        """Take note that a tool is about to end the program, if that has not ended by itself, or to let it go."""
        if not ending:
            cause = "closed" if self.post_mortem else f"detached; {self.fate}"
            self.ending.decide(cause, by_us=False)
        elif not self.mirror.ended and self.mirror.exit_code is None:
            self.ending.decide(f"ended by {tool}", by_us=True)

    async def ask_to_end(self, seconds: float) -> bool:
        """Ask the debuggee to end, where the adapter can; return whether it has within `seconds`."""
        self.expect_end(ending=True, tool="dap_terminate")
        with contextlib.suppress(ChannelError):
            if self.supports("terminate"):
                await self.request("terminate", {"restart": False}, seconds=seconds)
                await self.wait_for(lambda: self.mirror.ended, seconds)
        return self.mirror.ended

    # -- breakpoints

    async def set_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Make `requested` a file's breakpoints, without what the adapter lacks; the mirror has the result."""
        self.inspect.editions.keep(path)
        await self.lines.set(path, requested)
