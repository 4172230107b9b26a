"""A debug session: a channel to act on, a mirror of what it has reported, and what each kind can do."""

from __future__ import annotations

import abc
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, cast

import anyio

from dapeer.adapters.definition.definition import Definition
from dapeer.base.errors import (
    ChannelClosed,
    ChannelError,
    RequestFailed,
    RequestTimeout,
    Unsupported,
)
from dapeer.base.secret_files import SecretFiles
from dapeer.collecting.row_files import RowFolders
from dapeer.collecting.rows.collected import CollectedOutputReader
from dapeer.dap.channel import Channel
from dapeer.dap.messages import Body, Event, Message, Request
from dapeer.dap.requested_breakpoints import RequestedBreakpoint
from dapeer.dap.requests import CONTROL, ENDS, is_supported
from dapeer.dap.sent_requests import EvaluateArguments, ResumingCommand, SendRequest
from dapeer.dap.transport import Transport
from dapeer.mirror.frames import Frames
from dapeer.mirror.mirror import Mirror
from dapeer.mirror.output import IN_TERMINAL
from dapeer.mirror.post_mortem import PostMortem
from dapeer.sessions.breakpoints.lines import CollectingLogPoints, LineBreakpoints
from dapeer.sessions.breakpoints.stops_at import FunctionsAndFilters
from dapeer.sessions.breakpoints.watching import Watching
from dapeer.sessions.core.program import DetachedProcesses, Keyboard, Program
from dapeer.sessions.inspection.arriving_output import PrintedErrors
from dapeer.sessions.inspection.inspection import Inspection
from dapeer.sessions.inspection.thread_locations import ThreadLocator
from dapeer.sessions.traits import Traits
from dapeer.view.advice import Advice

# What the sessions of one server share, what each can do, and why it has ended.


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

    def set_cause_if_unknown(self, cause: str) -> None:
        """Set `cause`, unless one is set already."""
        self.cause = self.cause or cause

    def replace_cause(self, cause: str, *, by_us: bool) -> None:
        """Set `cause` to what a client has decided, in place of any other.

        `ended_by_tool` stays True once it was True.
        """
        self.cause, self.ended_by_tool = cause, self.ended_by_tool or by_us

    def set_ending_tool(self, tool: str) -> None:
        """Set `cause` to "ended by `tool`", if `ended_by_tool`; else change nothing."""
        if self.ended_by_tool:
            self.cause = f"ended by {tool}"


class SessionControl(abc.ABC):
    """What every session can do; the defaults are those of a session whose adapter another client holds."""

    owns_adapter: bool = False
    """We hold the adapter, and may kill it."""
    detach_outcome: str = "the program runs on"
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

    def accepts_breakpoints_in(self, path: str) -> bool:
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

    async def kill_if_end_would_resume(self, tool: str) -> None:
        """Kill the program, or its adapter, if the adapter would resume the program on its way to the end.

        `tool` is the name of the tool that ends the session; it is recorded as the cause. The default does nothing.
        """

    async def kill_adapter(self) -> None:
        """Kill the adapter and the processes that dapeer has started with it; the default does nothing."""

    @abc.abstractmethod
    async def leave_at_server_end(self, seconds: float) -> None:
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
    post_mortem: PostMortem | None = None
    """It looks at a core dump."""
    detached_processes: DetachedProcesses | None = None
    """What its program has left running; None: dapeer has not started it, or another session has."""
    runs_in_first_child: bool = False
    """Its program is its first child: it has no threads of its own."""
    advice = Advice()
    """The hints on messages of the adapter and the program."""

    adapter_lost = False
    """Whether the adapter ended before it told the end of the program: it may have missed something."""

    _last_evaluation: EvaluateArguments | None = None
    """The arguments of the newest `evaluate` of a client; never those of dapeer itself."""

    def __init__(
        self,
        context: SessionContext,
        name: str,
        adapter: str,
        transport: Transport,
        traits: Traits,
        parent: Session | None = None,
    ) -> None:
        """Make a session with its mirror and channel, and add it to its program.

        Nothing is sent or received yet. `name` is shown to people; `adapter` is the definition's id or nvim-dap's type; `parent` is the
        session whose program has started this one's, and whose `program` it joins.
        """
        self.id = context.number
        self.name = name
        self.adapter = adapter
        """The definition's id: debugpy, gdb, …; in Neovim the type that nvim-dap knows."""
        self.parent = parent
        """The session whose program has started this one's."""
        self.program = parent.program if parent else Program()
        self.project = context.project
        self.frames = traits.stopping.frames(context.project)
        program, collected = self.program, self.program.collected
        reader = CollectedOutputReader(collected, context.number)
        self.mirror: Mirror = Mirror(self.frames, program.output_intake, program.failures, reader)
        self.channel = Channel(transport, self.apply_message, self.answer)
        stopping = traits.stopping
        self.errors = PrintedErrors(self.program.output, stopping.traceback, stopping.debugger)
        request = self.request
        arriving, secret_files = program.arriving_output, context.secret_files
        self.inspect = Inspection(
            self.mirror, request, self.wait_for, arriving, self.errors, secret_files, traits
        )
        self.thread_locator = ThreadLocator(
            self.mirror, self.inspect, request, traits.sight, self._first_mirror, self.watched_pid
        )
        self.functions_and_filters = FunctionsAndFilters(
            adapter, self.mirror, request, self.supports, traits
        )
        log = CollectingLogPoints(
            collected, self.functions_and_filters, request, traits.collect, columns=traits.columns
        )
        folder = partial(self.program.ensure_row_folder, context.rows) if context.rows else None
        self.line_breakpoints = LineBreakpoints(
            collected, self.supports, request, self.apply_message, log, traits, folder
        )
        self.watching = Watching(collected, self.mirror, self.line_breakpoints, self.wait_for)
        self.ending = Ending()
        self.initialized_event = anyio.Event()
        self._deadlines = traits.deadlines
        # A thread that stock debugpy has suspended takes one command per 200 ms once two are queued.
        self.evaluation_lock = anyio.Lock(fast_acquire=True)
        self.program.add(self)

    def _first_mirror(self) -> Mirror:
        """Return the mirror of the program's first session."""
        return self.program.first.mirror

    @property
    def is_current(self) -> bool:
        """Whether messages arrive as they are sent; False: a journal of earlier ones is still being read."""
        return True

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended: no more output, no more responses."""
        return self.mirror.is_closed

    @property
    def cause(self) -> str | None:
        """Why the session ended, as a clause; None: the program has ended by itself, or the session has not."""
        return self.ending.cause

    @property
    def is_ended_by_tool(self) -> bool:
        """Whether a tool has ended the program, so that its exit code means nothing."""
        return self.ending.ended_by_tool

    # -- messages

    async def run(self) -> None:
        """Receive messages until the connection ends; then `finish`."""
        try:
            await self.channel.run()
        finally:
            self.finish()

    def why_untested(self, printed: str) -> str | None:
        """Return why the program, which was to run tests, has run none; None: it has, or that is not known.

        `printed` is all that it has printed. This default returns None.
        """
        return None

    def finish(self) -> None:
        """Mark the session as over, record the program's end if no message has, and wake those who wait.

        Nothing is sent, and no connection or process is closed: this is called when the connection has ended or is
        given up. A second call does nothing.
        """
        if not self.is_over:
            unreported = not self.mirror.has_ended
            self.mirror.mark_closed()
            if unreported:
                self.record_end(self.channel.breach or self.why_over())
            self.program.waiters.wake()

    def record_end(self, cause: str) -> None:
        """Record an end of the program that no message reports.

        Set the cause, unless one is known, and apply a `terminated` event.
        """
        self.ending.set_cause_if_unknown(cause)
        self.apply_message(Event("terminated"))

    def apply_message(self, message: Message) -> None:
        """Apply a message of the session, in either direction, to the mirror, and tell all who wait or listen.

        In a core dump, messages without a meaning there are dropped. Hints are added to messages that the adapter's definition explains.
        """
        meaning = self.post_mortem.translate_message(message) if self.post_mortem else message
        if meaning is not None:
            self._apply(self.advice.with_hint(meaning))

    def _apply(self, message: Message) -> None:
        """Apply a message to the mirror and the inspection, call `on_message`, then publish the message.

        The event `initialized` sets `initialized_event`. When the message brings the last row that a breakpoint may
        collect, the log points of that breakpoint are removed in the background, where the adapter allows that while it
        runs: from this session, or, if it `runs_in_first_child`, from all of the program's.
        """
        self.mirror.apply(message, time.time())
        if isinstance(message, Event) and message.event == "initialized":
            self.initialized_event.set()
        self.inspect.on_message(message)
        if number := self.mirror.collected_reader.filled_point(message):
            # Some adapters tell what a child logs in the session of its parent.
            for each in self.program.sessions if self.runs_in_first_child else [self]:
                each.line_breakpoints.remove_log_points(number)
        self.on_message(message)
        self.program.publish(self, message)

    async def wait_for(self, predicate: Callable[[], bool], seconds: float | None) -> bool:
        """Wait until `predicate()` is true, and return True.

        False: `seconds` have passed first (None: no limit). It is called again after every message, so it must be cheap.
        """
        return await self.program.waiters.wait_for(predicate, seconds)

    # -- its terminal

    def set_terminal(self, terminal: Keyboard) -> None:
        """Set the terminal into which text for the program is typed, for all of its processes.

        The first session's mirror gets a capability that says so, and tools that type are listed.
        """
        self.program.set_keyboard(terminal)
        self.program.first.apply_message(
            Event("capabilities", {"capabilities": {IN_TERMINAL: True}})
        )

    def print_in_terminal(self, printed: Body) -> None:
        """Apply an `output` event for what the program's terminal shows; `printed` is the event's body."""
        self.apply_message(Event("output", {**printed, IN_TERMINAL: True}))

    # -- requests

    @property
    def request(self) -> SendRequest:
        """The function that sends a request; its arguments and its response are typed by the command.

        It is `send`, with its deadline and its errors.
        """
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

        `command` and `arguments` are those of the DAP request; ids in it are the adapter's. `forced` sends it
        although the adapter does not advertise it. `seconds` is the deadline; None: the definition's usual one, which
        differs for requests in `CONTROL`. If dapeer's own adapter does not answer a request to end (`ENDS`), the
        adapter is killed.

        Raises:
            Unsupported: The adapter does not advertise it, or it needs a process and the session is on a core
                dump; nothing was sent.
            RequestFailed: The adapter answered that it cannot.
            RequestTimeout: No answer in time, also where the adapter was killed for that.
            DapeerError: The transport rejected the request; it was not sent.
            NeovimBusy: The Neovim that holds the session does not run; nothing was sent.
            ChannelClosed: The session ended first; the error names the cause, if that becomes known within
                `SECONDS_TO_EXPLAIN`.
        """
        if not forced:
            self.require(command)
        control = command in CONTROL
        usual = self._deadlines.control if control else self._deadlines.request
        limit = usual if seconds is None else seconds
        try:
            return await self.channel.request(command, arguments, seconds=limit)
        except ChannelClosed as error:
            raise await self._with_cause(error) from error
        except RequestTimeout as error:
            if not self.owns_adapter or command not in ENDS:
                unknown = forced and not self.supports(command)
                owed = self.channel.unanswered[:-1]
                raise RequestTimeout(command, limit, forced=unknown, owed=owed) from error
            outcome = await self.kill_and_record_cause(
                f"the adapter did not answer `{command}` within {limit:g} s"
            )
            killed = outcome == TOGETHER
            raise RequestTimeout(command, limit, outcome=outcome, killed=killed) from error

    def record_evaluation(self, arguments: EvaluateArguments) -> None:
        """Keep the arguments of the `evaluate` that a client asks for next, instead of those before."""
        self._last_evaluation = arguments

    def unanswered_evaluation(self) -> Request | None:
        """Return the newest `evaluate` of a client if the adapter has not answered it yet, else None."""
        asked = self._last_evaluation
        return self.channel.newest_unanswered("evaluate", {**asked}) if asked else None

    async def kill_and_record_cause(self, cause: str) -> str:
        """Kill a session whose adapter did not answer a request to end.

        Return a clause on what became of the program.

        Args:
            cause: What is recorded as the reason, with what became of the program.
        """
        self.ending.set_cause_if_unknown(f"{cause}, {TOGETHER}")
        await self.kill_adapter()
        return TOGETHER

    async def _with_cause(self, error: ChannelClosed) -> ChannelClosed:
        """Wait a moment for the cause of the connection's end; return an error that names the cause.

        The wait lasts for `SECONDS_TO_EXPLAIN` at most. Nothing is raised here. The result is a new
        `ChannelClosed` with the cause; `error` itself if no cause becomes known, or if a tool of dapeer's has
        ended the program.
        """
        await self.wait_for(lambda: self.is_over, SECONDS_TO_EXPLAIN)
        if not self.cause or self.is_ended_by_tool:
            return error
        what = f"{error.problem.rstrip('.')}: {self.cause.rstrip('.')}."
        return ChannelClosed(
            what, "dap_program_output shows what it printed; dap_run starts it again."
        )

    def supports(self, name: str) -> bool:
        """Return whether the adapter has a request, or an option of requests.

        It does if it advertises `name`, or every adapter has it. In a core dump, requests that need a process are not supported.
        """
        allowed = self.post_mortem is None or self.post_mortem.allows(name)
        return allowed and is_supported(self.mirror.capabilities, name)

    def has_now(self, name: str) -> bool:
        """Return whether a request, or an option of requests, can be used now: the adapter has it, and runs."""
        return self.supports(name) and not self.is_over

    def require(self, name: str) -> None:
        """Raise `Unsupported` if the adapter does not have a request, or an option of requests.

        `name` is DAP's name of the request (`readMemory`) or a key of `OPTIONS` (`granularity`), not that of a
        capability. Outside of core dumps, requests that every adapter answers pass. Call this before sending:
        some adapters crash on a request they do not know, and some never answer anything again.

        Raises:
            Unsupported: The adapter does not advertise it, or it needs a process and the session is on a core dump.
        """
        if self.post_mortem is not None:
            self.post_mortem.check(name)
        if not self.supports(name):
            raise Unsupported(
                f"The adapter {self.adapter} does not support `{name}`.",
                "Reach it another way: dap_evaluate may, or a breakpoint.",
            )

    async def resume(self, command: ResumingCommand, arguments: Body) -> None:
        """Send a resuming request (`continue`, `next`, …); the stop that follows comes as an event.

        An adapter that ends at the request, or does not answer it in time because of what the program does, raises nothing: whoever waits
        for the next stop is told.

        Raises:
            NotStopped: The program runs already, or has ended.
            RequestFailed: The adapter answered that it cannot.
            Unsupported: The adapter does not advertise the request.
        """
        self.mirror.require_stop()
        with contextlib.suppress(ChannelClosed, RequestTimeout):
            await self.send(command, arguments)

    async def pause(self, thread_id: int | None, seconds: float) -> bool:
        """Send `pause` to a running program.

        Return whether the adapter has answered. The stop comes as an event. `thread_id` is the adapter's; None: the
        first thread, whose id is asked for if no thread is known (0: there is none). False: an earlier `pause` is
        still unanswered, and nothing is sent; or no answer came within `seconds`, or in the adapter's own time for
        a request, and it may stop the program later.

        Raises:
            DapeerError: The program has ended, or the adapter rejects a request.
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
        """Record, before the request is sent, that `tool` ends the program; if not `ending`, detaches.

        `ending` sets the cause "ended by `tool`" and `by_us`, unless the program has ended already. Without `ending`, the cause is
        "detached" and the program's `detach_outcome`, or "closed" for a core dump, in any case.
        """
        if not ending:
            cause = "closed" if self.post_mortem else f"detached; {self.detach_outcome}"
            self.ending.replace_cause(cause, by_us=False)
        elif not self.mirror.has_ended and self.mirror.exit_code is None:
            self.ending.replace_cause(f"ended by {tool}", by_us=True)

    async def ask_to_end(self, seconds: float) -> bool:
        """Send `terminate`, if the adapter supports it; return whether the program has ended by now.

        Before, it is recorded that `dap_terminate` ends the program, unless the program has ended already. The
        response may take `seconds`, and the end as many again. A rejection, a timeout (after that of `terminate`,
        dapeer's own adapter is killed) and a closed connection raise nothing, and end the wait. Without support
        nothing is sent or awaited, and the result is False unless the program has ended already.
        """
        self.expect_end(ending=True, tool="dap_terminate")
        with contextlib.suppress(ChannelError):
            if self.supports("terminate"):
                await self.request("terminate", {"restart": False}, seconds=seconds)
                await self.wait_for(lambda: self.mirror.has_ended, seconds)
        return self.mirror.has_ended

    # -- breakpoints

    async def set_breakpoints(self, path: str, requested: Sequence[RequestedBreakpoint]) -> None:
        """Send `requested` as all breakpoints of the source file `path`; the mirror gets the adapter's answer.

        Options that the adapter lacks are left out. The file's present text is kept, to notice later changes.
        """
        self.inspect.source_versions.keep(path)
        await self.line_breakpoints.set(path, requested)
