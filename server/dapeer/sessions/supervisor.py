"""How sessions whose adapters are ours begin, live and end: that of a program, and those of its children."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.adapter import Adapter, open_adapter
from dapeer.adapters.process.children import open_child
from dapeer.adapters.process.reaper import Reaper
from dapeer.dap.messages import Body, Message
from dapeer.errors import DapeerError, Unsupported
from dapeer.sessions.breakpoints import Breakpoints
from dapeer.sessions.control import SessionControl
from dapeer.sessions.direct import DirectSession
from dapeer.sessions.plan import Plan
from dapeer.sessions.session import Session

log = logging.getLogger(__name__)


class Host(Protocol):
    """Whoever holds the sessions."""

    project: Path
    breakpoints: Breakpoints

    def next_id(self) -> int:
        """Return the id of the next session."""
        ...

    def accepts(self, definition: Definition, path: str, /) -> bool:
        """Whether an adapter debugs such files."""
        ...

    def observe(self, live: SessionControl, message: Message, /) -> None:
        """Take note of a message of a session."""
        ...

    def began(self, live: SessionControl, plan: Plan, /) -> None:
        """Count a session among ours."""
        ...

    def ended(self, live: SessionControl, /, *, failed: bool) -> None:
        """Count it among ours no longer."""
        ...


class Supervisor:
    """Lives the whole life of each session, in a task of its own."""

    def __init__(self, host: Host, tasks: TaskGroup, reaper: Reaper) -> None:
        self._host = host
        self._tasks = tasks
        self._reaper = reaper

    async def start(self, plan: Plan, arguments: Body) -> Session:
        """Start an adapter, and return the session when its debuggee runs.

        Raises:
            AdapterError: The adapter is missing, did not start, or refused.
        """
        return await self._tasks.start(self._run, plan, arguments)

    async def _run(self, plan: Plan, arguments: Body, *, task_status: TaskStatus[Session]) -> None:
        """Live the life of a program's first session, whose adapter outlives those of its children."""
        begun: list[Session] = []

        def begin(session: Session) -> None:
            task_status.started(session)
            begun.append(session)

        try:
            failure = await self._open(plan, arguments, begin)
        except Exception:
            # Who starts is told; later nobody waits, and a fault of one must not end all the others.
            if not begun:
                raise
            log.exception("session %s", begun[0].id)
        else:
            if failure is not None:
                raise failure

    async def _open(
        self, plan: Plan, arguments: Body, begin: Callable[[Session], None]
    ) -> DapeerError | None:
        """Live a session with an adapter of its own; return why it could not start."""
        opened = open_adapter(plan.definition, plan.request, plan.inputs, self._reaper)
        async with opened as adapter:
            live = self._live(plan, adapter, None)
            session = live.session
            failure = await self._live_through(live, arguments, lambda: begin(session))
            if failure is None:
                await session.wait_for(lambda: not session.program.alive, None)
            return failure

    async def _adopt(self, parent: DirectSession, offered: Body) -> None:
        """Debug a process that another one has started; return when its session has begun.

        Raises:
            DapeerError: It is not wanted, or cannot be reached: then it runs on without us.
        """
        unwanted = parent.plan.inputs.get("follow_children") is False
        if unwanted and not parent.session.delegates:
            raise Unsupported("Child processes are not followed.", "follow_children does.")
        try:
            await self._tasks.start(self._run_child, parent, parent.plan.child(offered))
        except DapeerError as error:
            parent.blame(error.what)
            raise

    def _adopt_soon(self, parent: DirectSession, offered: Body) -> None:
        async def adopt() -> None:
            try:
                await self._adopt(parent, offered)
            except DapeerError as error:
                log.warning("a child of session %s: %s", parent.session.id, error)
            except Exception:
                log.exception("a child of session %s", parent.session.id)

        self._tasks.start_soon(adopt)

    async def _run_child(
        self, parent: DirectSession, plan: Plan, *, task_status: TaskStatus[Session]
    ) -> None:
        opened = open_child(plan.definition, plan.config, parent.adapter, self._reaper)
        async with opened as adapter:
            live = self._live(plan, adapter, parent)
            task_status.started(live.session)
            # Nobody waits for it: a fault of one must not end all the others.
            try:
                failure = await self._live_through(live, plan.config, lambda: None)
            except Exception:
                log.exception("session %s", live.session.id)
            else:
                if failure is not None:
                    log.warning("session %s: %s", live.session.id, failure)

    def _live(self, plan: Plan, adapter: Adapter, parent: DirectSession | None) -> DirectSession:
        return DirectSession(
            self._host.next_id(),
            plan,
            adapter,
            project=self._host.project,
            # Nothing runs to a breakpoint in a core dump.
            accepts=functools.partial(self._accepts, plan),
            changed=self._host.observe,
            parent=parent,
            adopt=self._adopt,
            adopt_soon=self._adopt_soon,
        )

    def _accepts(self, plan: Plan, path: str) -> bool:
        return plan.core is None and self._host.accepts(plan.definition, path)

    async def _live_through(
        self, live: DirectSession, arguments: Body, started: Callable[[], None]
    ) -> DapeerError | None:
        """Live a session from the handshake to its end; return why it could not start."""
        self._host.began(live, live.plan)
        failure: DapeerError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(live.run)
            try:
                failure = await live.bring_up(self._host.breakpoints, arguments)
                if failure is None:
                    started()
                    await _followed(live)
            finally:
                live.session.finish()
                live.unwatch()
                self._host.ended(live, failed=failure is not None)
                tasks.cancel_scope.cancel()
        return failure


async def _followed(live: DirectSession) -> None:
    """Follow a session to its end; a fault of ours ends this one, and no other."""
    try:
        await live.last()
    except Exception:
        log.exception("session %s", live.session.id)
        live.session.cause = (
            live.session.cause or "dapeer lost track of it after an error; its log says why"
        )
