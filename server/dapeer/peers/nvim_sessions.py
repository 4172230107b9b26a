"""The sessions of nvim-dap in one Neovim, and what it was asked to start."""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dapeer.adapters.choice.choice import find_definition
from dapeer.base.errors import AdapterFailed, ArgumentError, DapeerError, NeovimBusy
from dapeer.base.json_types import as_object
from dapeer.neovim.client import SECONDS_TO_ANSWER, Neovim
from dapeer.neovim.feeds import Feed, Hello, Listeners, Tap
from dapeer.sessions.core.forwarded import ForwardedSession
from dapeer.sessions.core.session import Session
from dapeer.sessions.debugger.debugger import Debugger

# The starts that nvim-dap was asked for, and their outcomes.

MAX_KEPT_STARTS = 20
"""Starts in progress, and outcomes that arrived before their waiter."""
SECONDS_FOR_LAST_WORDS = 0.5
"""Seconds in which nvim-dap says why a session ended before it ran; that comes by another road."""


@dataclass(slots=True)
class _Start:
    session: ForwardedSession | None = None
    """The new session."""
    failure: str | DapeerError | None = None
    """nvim-dap's message on why there is no session, or why it ended at once."""
    began: anyio.Event = field(default_factory=anyio.Event)
    failed: anyio.Event = field(default_factory=anyio.Event)


class Starts:
    """Pairs each start with its session or its failure, which may arrive before the waiter."""

    def __init__(self) -> None:
        self._by_launch: dict[int, _Start] = {}

    def record_session(self, launch: int, session: ForwardedSession) -> None:
        """Record the session that has come of start number `launch`, and wake its waiter."""
        start = self._start(launch)
        start.session = session
        start.began.set()

    def record_failure(self, launch: int, why: str | DapeerError) -> None:
        """Record that start number `launch` has failed, and wake its waiter.

        `why` is nvim-dap's message or the error to raise; the first reason of a start stays.
        """
        start = self._start(launch)
        start.failure = start.failure or why
        start.began.set()
        start.failed.set()

    def fail_all(self) -> None:
        """Let all starts without an outcome fail, since their Neovim has ended."""
        for launch in list(self._by_launch):
            self.record_failure(launch, "its Neovim has ended")

    async def wait_for_session(self, launch: int) -> Session:
        """Wait for start number `launch` until its debuggee runs or has ended, and return its session.

        There is no timeout, also for a number of which nothing is known. The outcome is forgotten then, also if the
        wait is cancelled, so it can be had once.

        Raises:
            AdapterFailed: The start or its adapter failed; the error has the message of nvim-dap or the adapter.
            DapeerError: The start was recorded as failed with this error.
        """
        start = self._start(launch)
        try:
            await start.began.wait()
            if start.session is not None:
                await _wait_until_running(start.session, start)
        finally:
            self._by_launch.pop(launch, None)
        session = start.session
        if isinstance(start.failure, DapeerError):
            raise start.failure
        if start.failure is not None:
            raise AdapterFailed(
                f"nvim-dap could not start this: {start.failure}", "See :messages in Neovim."
            )
        assert session is not None  # noqa: S101 - it began, and did not fail
        if session.failure is not None:
            raise AdapterFailed(
                f"The adapter {session.adapter} {session.failure}",
                "Check program, cwd and config.",
            )
        return session

    def _start(self, launch: int) -> _Start:
        """Return the record of start number `launch`, a new one at the first call.

        With more than `MAX_KEPT_STARTS` records the oldest is dropped: Neovim also reports the starts of other cores, which nobody here
        waits for.
        """
        start = self._by_launch.setdefault(launch, _Start())
        if len(self._by_launch) > MAX_KEPT_STARTS:
            # Neovim also reports starts of other cores; they have no waiter here.
            del self._by_launch[next(iter(self._by_launch))]
        return start


async def _wait_until_running(session: ForwardedSession, start: _Start) -> None:
    """Wait until the debuggee of `session` runs or the session is over, without a limit.

    If it ended before `initialized_event` and without a reason of its own, nvim-dap's message on it is awaited for `SECONDS_FOR_LAST_WORDS`: it
    comes by another connection, and sets `failure` of `start`.
    """
    await session.wait_for(lambda: session.is_over or session.mirror.has_started, None)
    if session.is_over and not session.initialized_event.is_set() and session.failure is None:
        with anyio.move_on_after(SECONDS_FOR_LAST_WORDS):
            await start.failed.wait()


log = logging.getLogger(__name__)

SECONDS_TO_START = 20.0
"""Timeout for nvim-dap to start an adapter; some are downloaded or compiled first."""

RUN = "return require('dapeer.nvim_dap.launch').run(...)"
CANCEL = "require('dapeer.nvim_dap.launch').cancel(...)"
COLLECTS = "require('dapeer.nvim_dap.collecting').ready(...)"
AGAIN = "return require('dapeer.nvim_dap.sessions').again(...)"


class NvimSessions:
    """Runs each session of one Neovim in a task of its own."""

    def __init__(
        self, neovim: Neovim, debugger: Debugger, tasks: TaskGroup, names: Mapping[str, str]
    ) -> None:
        """Keep what the sessions of `neovim` need; their tasks run in `tasks`.

        `names` are the paths of files here, by Neovim's path of the file, where the two differ.
        """
        self.by_number: dict[int, ForwardedSession] = {}
        """By nvim-dap's number."""
        self.seconds_ahead = 0.0
        """Seconds by which Neovim's clock is ahead of dapeer's, once they were compared."""
        self._neovim = neovim
        self._debugger = debugger
        self._tasks = tasks
        self._names = names
        self._listeners: dict[int, Listeners] = {}
        self._starts = Starts()
        self._arrival = anyio.Event()

    def compare_clocks(self, there: float) -> None:
        """Set `seconds_ahead` from `there`, the time in Neovim now, in seconds since the epoch."""
        self.seconds_ahead = there - time.time()

    # -- requests to Neovim

    async def start_session(self, options: Mapping[str, Any]) -> Session:
        """Start a debug session in nvim-dap, as the person would; return it once its debuggee runs or ended.

        `options` are those of the Lua function `dapeer.nvim_dap.launch.run`; `latest`, the latest time to begin, is added, after which a
        busy Neovim does not start it.

        Raises:
            AdapterFailed: nvim-dap or its adapter failed, with their message.
            NeovimError: Neovim does not answer, or refused, or took longer than `SECONDS_TO_START`.
        """
        latest = time.time() + self.seconds_ahead + SECONDS_TO_ANSWER
        arguments = {**options, "latest": latest}
        return await self._wait_for_started_session(await self._neovim.call(RUN, arguments))

    async def restart(self, session: ForwardedSession) -> Session:
        """Terminate a session, if it runs, start the same in nvim-dap again, and return the new session.

        Raises:
            AdapterFailed: nvim-dap or its adapter failed, with their message.
            NeovimError: Neovim does not answer, or refused.
        """
        if not session.is_over:
            await session.terminate()
        return await self._wait_for_started_session(
            await self._neovim.call(AGAIN, session.hello.session)
        )

    async def _wait_for_started_session(self, launch: object) -> Session:
        """Wait for the session of a start, and return it once its debuggee runs or has ended.

        `launch` is Neovim's answer to the start: the number of the start, or an object whose `error` says why Neovim
        refused. After `SECONDS_TO_START` the start is cancelled in Neovim.

        Raises:
            AdapterFailed: Neovim has refused the start, or nvim-dap or its adapter has failed.
            DapeerError: The start was recorded as failed with this error.
            NeovimBusy: Neovim has not started the program within `SECONDS_TO_START`.
        """
        if not isinstance(launch, int):
            refused = as_object(launch)
            raise AdapterFailed(
                str(refused.get("error") or "nvim-dap could not start this."),
                "dap_configurations lists what can be started; where='direct' starts without Neovim.",
            )
        try:
            with anyio.fail_after(SECONDS_TO_START):
                return await self._starts.wait_for_session(launch)
        except TimeoutError as error:
            self._neovim.send(CANCEL, launch)
            state = await self._neovim.why_blocked()
            remark = f": it {state}" if state else ""
            raise NeovimBusy(
                f"Neovim has not started the program within {SECONDS_TO_START:g} s{remark}.",
                "The start is given up. Try again later, or start without Neovim by where='direct'.",
            ) from error

    # -- notifications of Neovim

    @property
    def handlers(self) -> Mapping[str, Callable[..., None]]:
        """The handlers of Neovim's notifications on sessions and starts, by kind; they take its arguments.

        `session` begins a forwarded session, `dap` has a message of one, `closed` ends one, and `launch_failed` reports a start that
        failed.
        """
        return {
            "session": self._begin_forwarded_session,
            "dap": self._pass_message_to_feed,
            "closed": self._end_feed,
            "launch_failed": self._starts.record_failure,
        }

    def begin_tapped_session(self, hello: Hello, tap: Tap) -> None:
        """Begin to run, in a task of its own, a session of nvim-dap that has connected by a tap."""
        self._tasks.start_soon(self._run_session, hello, tap)

    def _begin_forwarded_session(self, facts: Mapping[str, Any]) -> None:
        """Begin to run, in a task of its own, a session that Neovim forwards over its RPC channel.

        `facts` are those of `Hello.read`. Its messages arrive by `_pass_message_to_feed`, until `_end_feed`.

        Raises:
            KeyError: `facts` have no number of a session.
        """
        hello = Hello.read(facts)
        feed = self._listeners[hello.session] = Listeners(
            self._neovim, hello.session, self.seconds_ahead
        )
        self._tasks.start_soon(self._run_session, hello, feed)

    def _pass_message_to_feed(self, session: int, kind: str, number: int, message: object) -> None:
        """Pass a DAP message that Neovim has forwarded to the feed of its session.

        `session` is nvim-dap's number; `kind` and `number` are those of a `FeedFrame`. A session that is not known is ignored.
        """
        if session in self._listeners:
            self._listeners[session].queue_frame(kind, number, message)

    def _end_feed(self, session: int) -> None:
        """End the feed of a forwarded session that nvim-dap has closed."""
        if session in self._listeners:
            self._listeners.pop(session).mark_ended()

    async def handle_disconnect(self) -> None:
        """End all sessions here, and fail the starts in progress, after the connection to Neovim has ended.

        In Neovim the sessions continue. Those who wait for a start get `AdapterFailed`.
        """
        for session in list(self.by_number.values()):
            await session.close_connection()
        self._starts.fail_all()

    # -- their lives

    async def wait_for_session(self, number: int) -> ForwardedSession:
        """Wait for the session with this number of nvim-dap's to connect, and return it; there is no timeout."""
        while number not in self.by_number:
            self._arrival = anyio.Event()
            await self._arrival.wait()
        return self.by_number[number]

    async def _run_session(self, hello: Hello, feed: Feed) -> None:
        """Create a session for one of nvim-dap, run it to its end, then remove it from `by_number`.

        Until then the session is in `by_number`, under nvim-dap's number `hello.session`. `hello` also names its
        adapter and, for a child, its parent; `feed` brings its messages. An exception in the session is logged, and
        not raised.
        """
        try:
            await self._run_in_debugger(self._create_session(hello, feed))
        except Exception:
            log.exception("session %s of Neovim at %s", hello.session, self._neovim.target)
        finally:
            self.by_number.pop(hello.session, None)

    def _create_session(self, hello: Hello, feed: Feed) -> ForwardedSession:
        """Create the session of a feed, keep it in `by_number`, wake those in `wait_for_session`; return it.

        The session does not run yet. `hello` names its adapter and, as a child, its parent.
        """
        session = ForwardedSession(
            self._debugger.sessions.next_context(),
            hello,
            feed,
            self._neovim,
            names=self._names,
            definition=find_definition(self._debugger.definitions, hello.type),
            parent=self.by_number.get(hello.parent or 0),
        )
        self.by_number[hello.session] = session
        self._arrival.set()
        return session

    async def _run_in_debugger(self, session: ForwardedSession) -> None:
        """Run a session of nvim-dap to its end, while the debugger lists it among its live sessions.

        Afterwards the session is one of the debugger's ended sessions. Beside it a task of `_prepare` has the
        session collect at everybody's collection points, and sends its exception filters to Neovim. If dapeer
        has requested the start (`session.hello.launch` is its number), the session becomes the focused one, and
        those who wait for that start are told. Errors of the session leave this function, in an
        `ExceptionGroup`.
        """
        launch = session.hello.launch
        restart = functools.partial(self.restart, session)
        with self._debugger.holding(session, restart, focus=launch is not None):
            async with anyio.create_task_group() as running:
                running.start_soon(session.run)
                self._tasks.start_soon(self._prepare, session)
                if launch is not None:
                    self._starts.record_session(launch, session)
                try:
                    await session.wait_and_close_connection()
                finally:
                    running.cancel_scope.cancel()

    async def _prepare(self, session: ForwardedSession) -> None:
        """Set what a new program collects and at which exceptions it stops, then let its start continue.

        First `initialized_event` of the session, or its end, is awaited without a limit. What the adapter
        refuses to collect is left out. The start's own exception filters come before those of everybody. If
        its own are invalid, the start fails, the session is terminated, and Neovim is not notified. Else
        Neovim is notified in the end that the start may go on, with the arguments of
        `setExceptionBreakpoints`; None: there are no filters, or preparing them has failed, which is
        logged.
        """
        await session.wait_for(lambda: session.initialized_event.is_set() or session.is_over, None)
        breakpoints = self._debugger.breakpoints
        for path in filter(session.accepts_breakpoints_in, [*breakpoints.points.by_path]):
            with contextlib.suppress(DapeerError):
                await session.line_breakpoints.collect(path, breakpoints.in_file(path))
        if breakpoints.function_points:
            session.program.awaited_breakpoints.expect(
                (title, 0) for _, title in breakpoints.function_points
            )
            with contextlib.suppress(DapeerError):
                await session.line_breakpoints.collect_at([*breakpoints.function_points.values()])
        own = session.hello.exception_filters
        try:
            session.functions_and_filters.check(own or ())
        except ArgumentError as error:
            self._starts.record_failure(session.hello.launch or 0, error)
            await session.terminate()
            return
        filters = (
            session.functions_and_filters.filters_at_start(breakpoints.exceptions)
            if own is None
            else own
        )
        exceptions = None
        if filters:
            try:
                exceptions = await session.functions_and_filters.prepare_exceptions(filters)
            except DapeerError as error:
                log.warning("exception filters of session %s: %s", session.id, error)
        self._neovim.send(COLLECTS, self._neovim.channel, session.hello.session, exceptions)
