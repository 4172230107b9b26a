"""Waits until a program is ready for what is sent to it; nothing sleeps for a guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from dapeer.base.errors import DapeerError
from dapeer.base.system.matching import AwaitedLines
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.session import Session
from dapeer.sessions.triggers.listening import LOCALHOST, Processes, foreign_listener, processes_of
from dapeer.sessions.triggers.trigger import (
    TITLE_CHARS,
    Evaluation,
    HttpRequest,
    ReadyCondition,
    TerminalInput,
    Trigger,
    port_of,
)

SECONDS_BETWEEN_LOOKS: Final = 0.1
"""Seconds between two looks at the table of sockets."""
SECONDS_TO_EVALUATE: Final = 5.0
_LOADED: Final = "document.readyState"

AllSessions = Callable[[], Iterable[Session]]


def _port_in(group: str) -> int:
    """Return the port that a group of a pattern names, as a number or within a URL; 0: none."""
    try:
        port = int(group) if group.isdigit() else port_of(group)
    except ValueError:
        return 0
    return port if port < 1 << 16 else 0


def _own_ports(processes: Processes) -> frozenset[int]:
    """Return the ports at which the programs listen, without their debuggers'."""
    return processes.own_ports


@dataclass(slots=True)
class Readiness:
    """Whether a program is ready, and at which port it listens."""

    session: Session
    ready: ReadyCondition
    everybody: AllSessions
    """All sessions: a request may go to any program that is debugged."""
    lines: AwaitedLines
    """The line of output that says that the program is ready."""
    port: int = 0
    """The port at which the program listens, or that its output names; 0: not known yet."""
    _searched_to: int = field(default=0, init=False)
    """Cursor up to which its output was searched."""
    _has_printed: bool = field(default=False, init=False)
    """The output was found."""
    _occupant: str = field(default="", init=False)
    """Who else listens at the port that is waited for; empty: nobody that is known."""

    def awaited(self, trigger: Trigger) -> str:
        """Return a clause on what `trigger` waits for, such as "until the program listens at port 80".

        Empty: it waits for nothing.
        """
        if self.ready.output and not self._has_printed:
            return f"until it prints {shortened(self.ready.output, TITLE_CHARS)!r}"
        if port := self._awaited_port(trigger):
            has = f", which {self._occupant} has now" if self._occupant else ""
            return f"until the program listens at port {port}{has}"
        match trigger:
            case TerminalInput():
                return ""
            case Evaluation() if self._page:
                return "until the page is loaded"
            case _:
                return "until the program listens at a port (`ready` names another sign)"

    def _awaited_port(self, trigger: Trigger) -> int:
        """Return the port that `trigger` waits for, once the output is found; 0: any, or none."""
        own = trigger.port if isinstance(trigger, HttpRequest) and trigger.is_here else 0
        return own or self.ready.port or (self.port if self._has_printed else 0)

    async def holds(self, trigger: Trigger) -> bool:
        """Return whether the program is ready for a trigger now; set `port` when it becomes known.

        The program's new output is searched, and the table of sockets is read.

        Raises:
            PatternOverdue: The pattern takes too long.
        """
        if self.ready.output and not self._has_printed and not await self._prints():
            return False
        if self.ready.port:
            self.port = self.ready.port
        if not self.ready.is_given:
            return await self._holds_unasked(trigger)
        # Some servers say that they listen before they do.
        port = self.port
        if isinstance(trigger, HttpRequest) and trigger.is_here:
            port = trigger.port or port
            if not port:
                self.port = min(await in_thread(_own_ports, await self.processes()), default=0)
                return bool(self.port)
        return not port or await self._listens_at(port)

    async def _holds_unasked(self, trigger: Trigger) -> bool:
        """Return whether the program is ready, where the caller has not said what it waits for; set `port`.

        Terminal input needs nothing. A request to a port of this machine needs a program that listens there, an evaluation in a web page
        the loaded page. All others need that the program listens at any port; its least one becomes `port`. A program that was attached
        to counts as ready, unless a request needs its port, or a page has to be loaded.
        """
        match trigger:
            case TerminalInput():
                return True
            case HttpRequest() if trigger.is_here and trigger.port:
                self.port = trigger.port
                return self._was_running or await self._listens_at(trigger.port)
            case Evaluation() if self._page:
                return await self._is_loaded()
            case _:
                self.port = self.port or min(
                    await in_thread(_own_ports, await self.processes()), default=0
                )
                needs_port = isinstance(trigger, HttpRequest) and trigger.is_here
                return bool(self.port) or (self._was_running and not needs_port)

    @property
    def _was_running(self) -> bool:
        """Whether the program was attached to: then it counts as ready."""
        return isinstance(self.session, DirectSession) and not self.session.launched

    @property
    def _page(self) -> bool:
        """Whether the program is a web page, which is loaded rather than listens at a port."""
        session = self.session
        return isinstance(session, DirectSession) and session.plan.definition.uses("url")

    async def processes(self, *, all_programs: bool = False) -> Processes:
        """Return the processes of the program, or of all programs that are debugged."""
        sessions = [*self.everybody()] if all_programs else self.session.program.sessions
        return await in_thread(processes_of, sessions)

    async def _listens_at(self, port: int) -> bool:
        """Return whether any program that is debugged listens at a port; if not, note who else does.

        The note is `_occupant`. Where it is not known which processes listen, or which are the programs', anything that accepts a
        connection at the port on localhost counts, and nothing is noted.
        """
        processes = await self.processes(all_programs=True)
        if not processes.is_known:
            return await in_thread(processes.address, LOCALHOST, port) is not None
        if port in await in_thread(lambda: processes.ports):
            return True
        self._occupant = await in_thread(foreign_listener, processes, LOCALHOST, port)
        return False

    async def _prints(self) -> bool:
        """Search the new output for the pattern.

        Return whether it was found; then set `port` to the port in the first group that names one, else to 0. The last line may not be
        whole yet, and is searched again.

        Raises:
            PatternOverdue: The pattern takes too long.
        """
        log = self.session.program.output
        text = "".join(piece.text for piece in log.pieces(self._searched_to))
        self._searched_to = log.end - len(text.rpartition("\n")[2])
        found = await self.lines.see(text.splitlines())
        if found is None:
            return False
        self._has_printed = True
        self.port = next((port for each in found[1:] if (port := _port_in(each))), 0)
        return True

    async def _is_loaded(self) -> bool:
        """Return whether the page is loaded; False also if it cannot be evaluated."""
        try:
            return json.dumps("complete") in (await self.evaluate(_LOADED)).replace("'", '"')
        except DapeerError:
            return False

    async def evaluate(self, expression: str, seconds: float = SECONDS_TO_EVALUATE) -> str:
        """Evaluate in the running program, without a frame; return the text of the result.

        Where the session's program is debugged as its first child, that child evaluates. The request does not wait for other evaluations
        of the session, as it may take until a stop is over.

        Raises:
            DapeerError: It cannot be evaluated, or `seconds` are over.
        """
        session = self.session.program.acting(self.session, exactly=True)
        body = await session.request(
            "evaluate", {"expression": expression, "context": "repl"}, seconds=seconds
        )
        return str(body.get("result") or "")
