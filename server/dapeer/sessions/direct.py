"""One session with its adapter: how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from dapeer.adapters.definition.quirks import deadly_signal
from dapeer.adapters.process.adapter import Adapter
from dapeer.adapters.process.connecting import no_adapter
from dapeer.adapters.process.log_points import Reader
from dapeer.adapters.process.terminal import Terminal
from dapeer.dap.handshake import handshake
from dapeer.dap.mapped import mapped
from dapeer.dap.messages import Body, Event, Message
from dapeer.dap.types import SourceBreakpoint
from dapeer.errors import (
    AdapterFailed,
    ChannelClosed,
    ChannelError,
    DapeerError,
    RequestFailed,
    RequestTimeout,
    Unsupported,
)
from dapeer.sessions.breakpoints import Breakpoints
from dapeer.sessions.control import SessionControl
from dapeer.sessions.plan import Plan
from dapeer.sessions.process_watch import ProcessWatch
from dapeer.sessions.reverse_requests import Orders
from dapeer.sessions.session import Session
from dapeer.sessions.waiters import Deadlines
from dapeer.view.snapshot import KILLED

log = logging.getLogger(__name__)

SECONDS_FOR_LAST_WORDS = 1.0
"""Seconds that an adapter has after `disconnect` to send what is left and go."""
SECONDS_WITHOUT_OUTPUT = 0.05
"""Seconds without output after which an ended program's output counts as complete."""
SECONDS_TO_END_ITSELF = 2.0
"""Seconds in which a debuggee may end by itself when it is asked to."""
SECONDS_TO_GREET = 5.0
"""Seconds in which an adapter that runs already answers a first request."""
SECONDS_TO_IMPROVE = 3.0
"""Seconds that a program may take to evaluate what its adapter's definition has for one that is attached to."""
QUOTED = 800
"""Characters of an adapter's own words in an error."""


class DirectSession:
    """A session whose adapter is ours."""

    def __init__(
        self,
        number: int,
        plan: Plan,
        adapter: Adapter,
        *,
        project: Path,
        accepts: Callable[[str], bool],
        changed: Callable[[SessionControl, Message], None],
        parent: DirectSession | None = None,
        adopt: Callable[[DirectSession, Body], Awaitable[None]] | None = None,
        adopt_soon: Callable[[DirectSession, Body], None] | None = None,
    ) -> None:
        """`adopt` gives a process that the debuggee has started, and its adapter offers, a session of its own; `adopt_soon` does so later. None: nobody does."""
        self.plan = plan
        self.launched: bool = parent.launched if parent else plan.launched
        """Whether the debuggee is ours, and so ends with its session."""
        self.accepts = accepts
        self.adapter = adapter
        self.run_to: str | None = None
        self._adopt = adopt
        self._adopt_soon = adopt_soon
        self._leaving = False
        """`disconnect` has been sent; a second one would confuse the adapter."""
        timeouts = plan.definition.timeouts
        self.session = Session(
            number,
            plan.title(),
            plan.definition.id,
            mapped(adapter.transport, plan.mappings),
            project=project,
            deadlines=Deadlines(timeouts.request, timeouts.control),
            kill=adapter.kill,
            why_over=self._why_over,
            changed=lambda message: changed(self, message),
            frames=plan.definition.stopping.frames(project),
            sight=plan.definition.sight,
            parent=parent.session if parent else None,
            answer=self._orders(adapter).answer,
        )
        self.session.post_mortem = plan.post_mortem
        self.session.stops_at.own = plan.functions
        self.session.heed(*plan.definition.stopping.told)
        self.session.stops_at.conditions = plan.conditions
        self.session.advice = parent.session.advice if parent else plan.advice
        self.session.delegates = parent is None and plan.delegates
        self._vigil = self._watcher(adapter, parent)
        # It is told to all who observe: nothing may be missing by then.
        if adapter.terminal is not None:
            self._enter(adapter.terminal)

    def _watcher(self, adapter: Adapter, parent: DirectSession | None) -> ProcessWatch:
        # A program that is debugged in its parent's first child was started by the parent's adapter.
        starter = parent.adapter if parent and parent.session.delegates else adapter
        return ProcessWatch(self.session, starter)

    def _orders(self, adapter: Adapter) -> Orders:
        adopt = None if self._adopt is None else functools.partial(self._adopt, self)
        return Orders(
            adapter, launched=self.launched, adopt=adopt, enter=self._enter, blame=self.blame
        )

    def blame(self, words: str) -> None:
        """Have the session's status tell what its adapter should not have done."""
        self.session.channel.blame(words)

    def _enter(self, terminal: Terminal) -> None:
        terminal.listen(Reader(self.adapter.log_points).listener(self.session.print_in_terminal))
        self.session.in_terminal(terminal)

    def observe(self, message: Message) -> None:
        """Take note of the debuggee's process: if it is ours, it ends with us."""
        children = self.plan.definition.children
        match message:
            case Event(event="process", body={"systemProcessId": int(pid), **more}):
                local = more.get("isLocalProcess") is not False
                if self.launched and local and self.adapter.claim(pid):
                    self._vigil.follow(pid)
            case Event(event=str(name), body=offered) if children and name == children.event:
                if self._adopt_soon is not None:
                    self._adopt_soon(self, {"configuration": offered})
            case _:
                self._vigil.heard(message)

    async def set_breakpoints(self, path: str, wanted: Sequence[SourceBreakpoint]) -> None:
        """Make `wanted` the breakpoints of a file."""
        await self.session.set_breakpoints(path, wanted)

    @property
    def _pid(self) -> int:
        """The debuggee's process, 0 when it is not known."""
        told = int(self.session.mirror.process.get("systemProcessId") or 0)
        children = self.plan.definition.children
        offered = children.pid_of(self.plan.config) if children and self.session.parent else 0
        return self._vigil.pid or told or offered

    def unwatch(self) -> None:
        """Expect no more to notice the program's end."""
        self._vigil.close()

    async def run(self) -> None:
        """Receive until the adapter is gone."""
        await self.session.run(self.adapter.settle)

    def _why_over(self) -> str:
        killer = self.adapter.killer
        if killer is not None and self._vigil.inside:
            return f"{KILLED}{killer}"
        words = self.adapter.stderr_tail().strip()[-QUOTED:]
        by = "" if killer is None else f", killed by {killer}"
        return f"the adapter ended unexpectedly{by}{f'; it said: {words}' if words else ''}"

    # -- start

    async def bring_up(self, wanted: Breakpoints, arguments: Body) -> DapeerError | None:
        """Do the handshake, with these arguments of `launch` or `attach`; return why it failed, None when the debuggee ran, if only for a moment."""
        session, plan = self.session, self.plan
        timeouts = plan.definition.timeouts
        # A child that is offered starts up while we attach to it.
        starts = plan.launched or session.parent is not None
        seconds = timeouts.launch if starts else timeouts.attach
        try:
            async with asyncio.timeout(seconds):
                await self._shake_hands(wanted, arguments)
        except TimeoutError:
            owed = " and ".join(f"`{command}`" for command in session.channel.unanswered)
            what = f"answer {owed}" if owed else "send `initialized`"
            return self._failed(f"did not {what} within {seconds:g} s")
        except (RequestFailed, ChannelClosed) as error:
            if session.mirror.exit_code is None:
                reason = getattr(error, "message", "it ended first")
                return self._failed(f"could not {plan.request}: {reason}")
        except RequestTimeout as error:
            return self._failed(f"did not answer `{error.command}` in time")
        except DapeerError as error:
            return error
        self._watch_over()
        return None

    def _watch_over(self) -> None:
        """Watch the program's process, if it is known and its end not told yet."""
        pid = self.plan.inputs.get("pid")
        if self.session.mirror.ended:
            return
        if self.launched:
            self._vigil.find()
        elif isinstance(pid, int) and self.session.parent is None:
            self._vigil.follow(pid)

    async def _shake_hands(self, wanted: Breakpoints, arguments: Body) -> None:
        """Do the handshake, but not longer than the debuggee lives: some adapters forget the answer."""
        session, plan = self.session, self.plan
        started = asyncio.create_task(
            handshake(
                session.channel,
                adapter_id=plan.definition.adapter_id,
                request=plan.definition.request_of(plan.request, plan.inputs),
                arguments=arguments,
                initialized=session.initialized,
                patience=plan.definition.timeouts.start if self.adapter.pid else SECONDS_TO_GREET,
                configure=lambda: self._configure(wanted),
            )
        )
        over = asyncio.create_task(session.wait_for(lambda: session.mirror.ended, None))
        try:
            await asyncio.wait({started, over}, return_when=asyncio.FIRST_COMPLETED)
            if not started.done():
                await asyncio.wait({started}, timeout=SECONDS_FOR_LAST_WORDS)
            if started.done():
                started.result()
        finally:
            started.cancel()
            over.cancel()

    async def _configure(self, wanted: Breakpoints) -> None:
        """Send all breakpoints; one that an adapter rejects keeps nobody from starting."""
        session = self.session
        if not self.launched:
            await self._improve()
        sent: list[Coroutine[Any, Any, None]] = [
            session.set_breakpoints(path, wanted.of(path))
            for path in wanted.by_path
            if self.accepts(path) and not session.delegates
        ]
        functions = wanted.functions or session.stops_at.own
        if functions and session.supports("setFunctionBreakpoints"):
            sent.append(session.stops_at.functions(wanted.functions))
        filters = self._filters(wanted)
        if filters is not None:
            sent.append(session.stops_at.exceptions(filters))
        for answer in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(answer, BaseException) and not isinstance(answer, RequestFailed):
                raise answer
        if session.supports("configurationDone"):
            seconds = self.plan.definition.timeouts.launch
            await session.request("configurationDone", seconds=seconds)

    async def _improve(self) -> None:
        """Evaluate in a program that was attached to what its definition has for it; one that cannot do it is debugged as it is."""
        definition = self.plan.definition
        if not definition.attached:
            return
        arguments = {"expression": definition.attached, "context": "clipboard"}
        try:
            body = await self.session.request("evaluate", arguments, seconds=SECONDS_TO_IMPROVE)
            said = str(body.get("result") or "")
        except (RequestFailed, RequestTimeout) as error:
            said = str(error)
        if said:
            log.info("%s stays as it is: %s", self.plan.title(), said)
            self.session.where.complete(definition.stopping.folded)

    def _filters(self, wanted: Breakpoints) -> Sequence[str] | None:
        """Return the exception filters to send; an adapter stops at none until it is told."""
        chosen = self.plan.exception_filters
        if chosen is None:
            return self.session.stops_at.standing(wanted.exceptions)
        self.session.stops_at.check(chosen)
        return chosen

    def _failed(self, what: str) -> AdapterFailed:
        """Name what the adapter did, with its own last words, which often are the reason."""
        if self.adapter.pid is None and not self.session.mirror.capabilities:
            return no_adapter(self.plan.inputs.get("port"))
        printed = self.session.program.output.read().text.strip()
        words = (printed or self.adapter.stderr_tail().strip())[-QUOTED:]
        told = f" It said: {words}" if words else ""
        return AdapterFailed(
            f"The adapter {self.session.adapter} {what.rstrip('.')}.{told}",
            "Check program, cwd and config; `dapeer doctor` checks the adapter.",
        )

    # -- end

    async def last(self) -> None:
        """Wait for the end of the debuggee, then let the adapter say its last words and go."""
        session = self.session
        mirror = session.mirror
        await session.wait_for(lambda: mirror.ended or mirror.exit_code is not None, None)
        if session.parent is not None and session.cause is None:
            # It may have become another program, which nobody debugs, and lives with its parent.
            self.adapter.release(self._pid)
        await session.wait_for(lambda: session.mirror.ended, SECONDS_FOR_LAST_WORDS)
        # Some adapters tell the end before the last output, and forget it when they are left.
        await session.inspect.output_settled(SECONDS_WITHOUT_OUTPUT)
        signal = deadly_signal(self.plan.definition.quirks.exit_code, mirror.exit_code or 0)
        if signal is not None:
            session.cause = session.cause or f"probably killed by {signal}"
        if self.adapter.terminal is not None:
            await self.adapter.terminal.drained(SECONDS_WITHOUT_OUTPUT)
        if not session.over and not self._leaving:
            await self.leave(SECONDS_FOR_LAST_WORDS, terminate=self.launched)
            await self.gone()
        await session.wait_for(lambda: session.over, SECONDS_FOR_LAST_WORDS)

    async def farewell(self, seconds: float) -> None:
        """End what was launched, and let go of what was attached."""
        with contextlib.suppress(DapeerError):
            await self._let_go(ending=self.launched)
        await self.leave(seconds, terminate=self.launched)

    async def _let_go(self, *, ending: bool) -> None:
        """Take all breakpoints away and resume, where the adapter leaves a program as it is."""
        if ending or not self.plan.definition.quirks.leaves_stopped or self.plan.core is not None:
            return
        for path in list(self.session.mirror.breakpoints):
            await self.session.set_breakpoints(path, ())
        if (stop := self.session.mirror.stop) is not None:
            await self.session.resume("continue", {"threadId": stop.thread_id})

    async def leave(self, seconds: float, *, terminate: bool) -> None:
        """Send `disconnect`; an adapter that cannot answer it any more is no failure."""
        self._leaving = True
        self._vigil.close()
        with contextlib.suppress(ChannelError):
            asked = {"terminateDebuggee": terminate}
            await self.session.channel.request("disconnect", asked, seconds=seconds)

    async def gone(self) -> None:
        """Wait until the session is over; an adapter that stays is killed."""
        await self.session.channel.finish()
        if not await self.session.wait_for(lambda: self.session.over, SECONDS_FOR_LAST_WORDS):
            await self.force()

    async def force(self) -> None:
        """Kill the adapter and what it owns, the debuggee with it."""
        await self.adapter.kill()
        self.session.finish()

    async def cut_off(self, tool: str) -> None:
        """Kill the program, where its adapter would let it run on from a stop when it is asked to end it."""
        first = self.plan.definition.quirks.killed_first
        if not first or not self.launched:
            return
        self.session.part(ending=True, tool=tool)
        if first == "adapter":
            await self.force()
        else:
            self.adapter.kill_program(self._pid)

    async def terminate(self) -> None:
        """End the debuggee and the session; politely first, then by force."""
        if not await self.session.terminate(SECONDS_TO_END_ITSELF):
            await self.leave(SECONDS_TO_END_ITSELF, terminate=True)
        await self.gone()

    def check_leave(self, *, terminate: bool | None) -> None:
        """Look whether the session can end so.

        Raises:
            Unsupported: The adapter cannot let go of a program that it launched.
        """
        plan = self.plan
        if plan.launched and terminate is False and not plan.definition.quirks.detach_launched:
            raise Unsupported(
                f"The adapter {plan.definition.id} cannot leave a program running that it launched.",
                "End it with dap_terminate, or start it yourself and attach.",
            )

    async def disconnect(self, *, terminate: bool | None) -> bool:
        """End the session; return whether the debuggee was ended, too (None: if it was launched).

        Raises:
            Unsupported: The adapter cannot let go of a program that it launched.
        """
        session = self.session
        ending = self.launched if terminate is None else terminate
        self.check_leave(terminate=ending)
        session.part(ending=ending)
        if not ending:
            self.adapter.release(self._pid)
            self._vigil.close()
        await self._let_go(ending=ending)
        self._leaving = True
        # What ends by itself meanwhile, because its child has, is gone, too.
        with contextlib.suppress(ChannelClosed):
            await session.request("disconnect", {"terminateDebuggee": ending})
        await self.gone()
        return ending
