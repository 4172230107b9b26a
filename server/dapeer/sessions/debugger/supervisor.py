"""Sessions with adapters of ours, from start to end: a program's, and its children's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.children import open_child
from dapeer.adapters.process.reaper import Reaper
from dapeer.base.errors import DapeerError, Unsupported
from dapeer.dap.messages import Body
from dapeer.sessions.breakpoints.breakpoints import Breakpoints
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.plan import Plan
from dapeer.sessions.core.reverse_requests import Offer
from dapeer.sessions.core.session import Session
from dapeer.sessions.core.start_up import start_up
from dapeer.sessions.debugger.registry import Sessions

log = logging.getLogger(__name__)

CANCELLED: Final = "ended by its client, which cancelled the start"


class Supervisor:
    """Runs each session in a task of its own."""

    def __init__(
        self, sessions: Sessions, breakpoints: Breakpoints, tasks: TaskGroup, reaper: Reaper
    ) -> None:
        self._sessions = sessions
        self._breakpoints = breakpoints
        self._tasks = tasks
        self._reaper = reaper

    async def start(
        self, plan: Plan, arguments: Body, parent: DirectSession | None = None
    ) -> Session:
        """Start an adapter, do the handshake, and return the session when its debuggee runs.

        The session goes on in a task of its own. `arguments` are those of `launch` or `attach`. `parent` is the session whose program has
        started this one's; None: it is the first of its program.

        Raises:
            AdapterError: The adapter is missing, did not start, or refused.
        """
        return await self._tasks.start(self._run, plan, arguments, parent)

    async def _run(
        self,
        plan: Plan,
        arguments: Body,
        parent: DirectSession | None,
        *,
        task_status: TaskStatus[Session],
    ) -> None:
        """Start an adapter and run its session to its end.

        `task_status` gets the session once the debuggee runs.

        Raises:
            DapeerError: The session could not start. Later errors are logged.
        """
        started: list[Session] = []

        def begin(session: Session) -> None:
            """Hand the session to the caller of the start."""
            task_status.started(session)
            started.append(session)

        try:
            failure = await self._open(plan, arguments, parent, begin)
        except Exception:
            # The caller of the start gets the error. Later no caller waits, and the fault of one session must
            # not end the others.
            if not started:
                raise
            log.exception("session %s", started[0].id)
        else:
            if failure is not None:
                raise failure

    async def _open(
        self,
        plan: Plan,
        arguments: Body,
        parent: DirectSession | None,
        begin: Callable[[Session], None],
    ) -> DapeerError | None:
        """Start an adapter and run its session to its end, and that of its children; end the adapter then.

        Return why the session could not start, None: it did. `begin` is called once its debuggee runs.
        """
        opened = open_adapter(plan.definition, plan.request, plan.inputs, self._reaper)
        async with opened as adapter:
            session = self._session(plan, adapter, parent)
            failure = await self._run_through(session, arguments, lambda: begin(session))
            if failure is None:
                below = session.program.below
                await session.wait_for(lambda: all(each.over for each in below(session)), None)
            return failure

    async def _adopt_offered(self, parent: DirectSession) -> None:
        """Wait for processes that the adapter of `parent` offers, for ever; debug each in a task of its own."""
        while True:
            self._tasks.start_soon(self._adopt, parent, await parent.offers.take())

    async def _adopt(self, parent: DirectSession, offer: Offer) -> None:
        """Start a session for a process that the debuggee of `parent` has started, and answer the offer.

        Errors are logged, and refuse the offer.
        """
        try:
            await self._begin_child(parent, offer.arguments)
        except DapeerError as error:
            log.warning("a child of session %s: %s", parent.id, error)
            offer.refuse(error)
        except Exception as error:
            log.exception("a child of session %s", parent.id)
            offer.refuse(Unsupported(f"dapeer cannot do it: {error}", ""))
        else:
            offer.accept()

    async def _begin_child(self, parent: DirectSession, offered: Body) -> None:
        """Start the session of a child process, and return once it is connected to its adapter.

        `offered` is what the adapter wants, with the keys `request` and `configuration`. The session goes on in a task of its own.

        Raises:
            DapeerError: The child is not wanted, or cannot be reached: then it runs on without a debugger. The parent's channel
                records why.
        """
        if parent.plan.refuses_children and not parent.delegates:
            raise Unsupported("Child processes are not followed.", "follow_children does.")
        _check_lives(parent)
        try:
            await self._tasks.start(self._run_child, parent, parent.plan.child(offered))
        except DapeerError as error:
            parent.channel.record_fault(error.what)
            raise

    async def _run_child(
        self, parent: DirectSession, plan: Plan, *, task_status: TaskStatus[Session]
    ) -> None:
        """Connect to the adapter of a child process and run its session to its end.

        Errors of the session are logged. `task_status` gets the session once it is connected, before the handshake.
        """
        opened = open_child(plan.definition, plan.config, parent.process, self._reaper)
        async with opened as adapter:
            _check_lives(parent)
            session = self._session(plan, adapter, parent)
            task_status.started(session)
            # No caller waits for it: the fault of one session must not end the others.
            try:
                failure = await self._run_through(session, plan.config, lambda: None)
            except Exception:
                log.exception("session %s", session.id)
            else:
                if failure is not None:
                    log.warning("session %s: %s", session.id, failure)

    def _session(self, plan: Plan, adapter: Adapter, parent: DirectSession | None) -> DirectSession:
        """Make a session with the next free id."""
        return DirectSession(self._sessions.next_context(), plan, adapter, parent)

    async def _run_through(
        self, session: DirectSession, arguments: Body, started: Callable[[], None]
    ) -> DapeerError | None:
        """Register a session, do its handshake, and run it to its end; return why it could not start, or None.

        `started` is called once the debuggee runs. In any case the session is finished and unregistered afterwards.
        """
        # The first one of a program gets the focus.
        self._sessions.add(session, focus=session.parent is None)
        failure: DapeerError | None = None
        runs = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run)
            tasks.start_soon(self._adopt_offered, session)
            try:
                failure = await start_up(
                    session, session.plan.breakpoints or self._breakpoints, arguments
                )
                if failure is None:
                    runs = True
                    started()
                    await _followed(session)
            except anyio.get_cancelled_exc_class():
                if not runs:
                    session.ending.decide(CANCELLED, by_us=True)
                raise
            finally:
                session.finish()
                session.watch.close()
                if session.attached is not None and session.parent is None:
                    session.attached.close()
                self._sessions.mark_ended(session, failed=failure is not None)
                tasks.cancel_scope.cancel()
        return failure


def _check_lives(parent: DirectSession) -> None:
    """Raise `Unsupported` if a tool is ending the parent, whose new child would be left behind."""
    if parent.by_us:
        raise Unsupported("Its program is being ended.", "dap_run starts it again.")


async def _followed(session: DirectSession) -> None:
    """Run a session to its end; an internal error is logged, and recorded as the cause of its end."""
    try:
        await session.follow()
    except Exception:
        log.exception("session %s", session.id)
        session.ending.explain("dapeer lost track of it after an error; its log says why")
