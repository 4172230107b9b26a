"""Waits until a program is ready for what is sent to it, and finds the ports at which it listens.

Nothing sleeps for a guess. What reads the system's tables of sockets blocks: call it in a thread.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from dapeer.base.errors import DapeerError
from dapeer.base.system import ownership, process_table
from dapeer.base.system.matching import AwaitedLines
from dapeer.base.system.threads import in_thread
from dapeer.base.text.fitting import shortened
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.session import Session
from dapeer.sessions.triggers.trigger import (
    TITLE_CHARS,
    Evaluation,
    HttpRequest,
    ReadyCondition,
    TerminalInput,
    Trigger,
    port_of,
)

SECONDS_TO_PROBE = 0.5
"""Seconds in which a port of this machine accepts a connection."""
LOCALHOST = "localhost"
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
"""The addresses of `localhost`, in the order in which they are tried."""
MAX_NAMED_LISTENERS = 3
"""Processes that an error names."""


class NotListening(DapeerError):
    """Nothing of the program's is at an address; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of programs, and those of their debuggers."""

    programs: frozenset[int]
    debuggers: frozenset[int]
    is_known: bool
    """Whether the system tells who listens, and the processes are known."""

    @property
    def ports(self) -> frozenset[int]:
        """The ports at which the programs listen, also for their debuggers; empty if unknown."""
        return ownership.ports_of(self.programs) if self.is_known else frozenset()

    @property
    def own_ports(self) -> frozenset[int]:
        """The ports at which the programs listen, without those of their debuggers; empty if unknown.

        js-debug has a process beside the program that reaches its inspector.
        """
        if not self.is_known:
            return frozenset()
        return ownership.unconnected_ports(self.programs, self.debuggers)

    def address(self, host: str, port: int) -> str | None:
        """Return the numeric address at which one of the programs listens at `port`.

        `host` is a name or an address of this machine's loopback. None: at none of its addresses. If it is not known who listens, it is
        the first address that accepts a connection.
        """
        for each in _addresses(host):
            if self._is_reached(each, port):
                return each
        return None

    def _is_reached(self, address: str, port: int) -> bool:
        """Return whether one of `programs` listens at a numeric address and port.

        If it is not known who listens (`is_known` is False), connect there instead, wait `SECONDS_TO_PROBE` at most,
        and return whether anything accepts the connection, which is closed at once.
        """
        if self.is_known:
            return ownership.listens(self.programs, address, port)
        with contextlib.suppress(OSError):
            socket.create_connection((address, port), SECONDS_TO_PROBE).close()
            return True
        return False


def processes_of(sessions: Iterable[Session]) -> Processes:
    """Return the processes of the sessions' programs, with those that they have started.

    Sessions that have ended are left out. Of the result, `debuggers` are the adapters, what these have started,
    and all ancestors of the programs, as far as they are none of `programs`. `is_known` is False if no process of a
    program is known, or this system does not tell which process listens where. It reads the table of processes, so
    call it in a thread.
    """
    living = [each for each in sessions if not each.is_over]
    first = {pid for each in living for pid in _program_pids(each)}
    programs = first | {child for pid in first for child in process_table.descendants(pid)}
    adapters = {
        pid
        for each in living
        if isinstance(each, DirectSession) and (pid := each.adapter_process.pid)
    }
    above = {pid for each in first for pid in process_table.ancestors(each)}
    below = {child for pid in adapters for child in process_table.descendants(pid)}
    debuggers = (adapters | below | above) - programs
    known = bool(programs) and ownership.reports_port_owners()
    return Processes(frozenset(programs), frozenset(debuggers), known)


def _program_pids(session: Session) -> set[int]:
    """Return the pids of a session's program, without those that it has started if its own is known.

    That is the watched or reported pid, or the one that was attached to; a pid that is reported from another machine does not count. Of a
    launched program whose pid is not known, they are all below its adapter, and the adapter if it is the program itself. Empty: none is
    known, or a child session has the program.
    """
    if session.runs_in_first_child:
        return set()
    told = session.mirror.process
    here = told.get("isLocalProcess") is not False
    reported = int(told.get("systemProcessId") or 0) if here else 0
    if pid := session.watched_pid() or reported:
        return {pid}
    if not isinstance(session, DirectSession):
        return set()
    given = session.plan.inputs.get("pid")
    if session.plan.request == "attach":
        return {given} if isinstance(given, int) else set()
    adapter = session.adapter_process.pid or 0
    own = {adapter} if adapter and session.plan.definition.is_the_program else set[int]()
    return own | {*process_table.descendants(adapter)}


def require_address(processes: Processes, host: str, port: int) -> str:
    """Return the numeric address of `host`, a name of this machine, at which one of the programs listens.

    It reads the system's tables, and blocks: call it in a thread. Where these do not tell who listens, it connects
    for a moment, and returns the first address that accepts, whoever listens there.

    Raises:
        NotListening: Nobody listens there, or a process that is not debugged does.
    """
    found = processes.address(host, port)
    if found is not None:
        return found
    if owner := foreign_listener(processes, host, port):
        raise NotListening(
            f"port {port} is of {owner}, which is not debugged: nothing was sent"
            f"{_ports_of(processes)}"
        )
    elsewhere = processes.address(LOCALHOST, port)
    if elsewhere is not None:
        raise NotListening(
            f"nothing listens at {_place(host, port)}; the program listens at {_place(elsewhere, port)}"
        )
    raise NotListening(f"nothing listens at port {port}{_ports_of(processes)}")


def foreign_listener(processes: Processes, host: str, port: int) -> str:
    """Return who else listens at a port of this machine, such as `process 12 (nginx)`.

    `host` is `localhost`, a name below it, or an address of this machine. Several processes are separated by
    commas, `MAX_NAMED_LISTENERS` at most; those that the system hides from dapeer are left out; if it hides all,
    the result is `another user's process`. It reads the system's tables, and is to be called where none of the
    programs listens there. Empty: nobody listens, or `processes.is_known` is false.
    """
    if not processes.is_known:
        return ""
    occupied = [each for each in _addresses(host) if ownership.has_listener(each, port)]
    if not occupied:
        return ""
    others = [pid for each in occupied for pid in ownership.listening_processes(each, port) or ()]
    named = [f"process {pid} ({_name(pid)})" for pid in dict.fromkeys(others)]
    return ", ".join(named[:MAX_NAMED_LISTENERS]) or "another user's process"


def _place(host: str, port: int) -> str:
    """Return an address and a port as a URL writes them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _ports_of(processes: Processes) -> str:
    """Return a clause on the ports at which the programs listen; empty if there are none."""
    ports = ", ".join(map(str, sorted(processes.own_ports)))
    return f"; the program listens at {ports}" if ports else ""


def _name(pid: int) -> str:
    """Return the name of a process, as the system has it."""
    return process_table.status(pid).get("Name", "") or "ended"


def _addresses(host: str) -> tuple[str, ...]:
    """Return the numeric addresses of a name or an address of this machine's loopback.

    `localhost` and the names below it are loopback by RFC 6761, so no resolver is asked. `0.0.0.0` and `::` stand for loopback, too.

    >>> _addresses("shop.localhost"), _addresses("0.0.0.0"), _addresses("::1")
    (('127.0.0.1', '::1'), ('127.0.0.1',), ('::1',))
    """
    if host == LOCALHOST or host.endswith(f".{LOCALHOST}"):
        return LOOPBACK_ADDRESSES
    return ({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host),)  # noqa: S104 - not bound


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

    def awaited_clause(self, trigger: Trigger) -> str:
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

    async def check_ready(self, trigger: Trigger) -> bool:
        """Return whether the program is ready for a trigger now; set `self.port` when it becomes known.

        If the caller of the tool has given a pattern, the program must have printed it; a debugged program must
        also listen at the port of a request to this machine, else at the given port, else at one that the found
        output names. Where none of these is known, a request to this machine needs that the program listens at any
        port, and all else needs none. With neither pattern nor port given, the kind of trigger decides
        (`_check_ready_by_kind`). Each call searches the new output and looks for who listens, and does not wait.

        Raises:
            PatternOverdue: The search for the pattern takes too long.
        """
        if self.ready.output and not self._has_printed and not await self._search_output():
            return False
        if self.ready.port:
            self.port = self.ready.port
        if not self.ready.is_given:
            return await self._check_ready_by_kind(trigger)
        # Some servers say that they listen before they do.
        port = self.port
        if isinstance(trigger, HttpRequest) and trigger.is_here:
            port = trigger.port or port
            if not port:
                self.port = min(await in_thread(_own_ports, await self.processes()), default=0)
                return bool(self.port)
        return not port or await self._listens_at(port)

    async def _check_ready_by_kind(self, trigger: Trigger) -> bool:
        """Return whether the program is ready, where the caller has not said what it waits for; set `port`.

        Terminal input needs nothing. A request that names a port of this machine needs a program that listens
        there, an evaluation in a web page the loaded page; of these a program that was attached to needs only the
        page. All others need a `port`: the one that is known already, else the least at which the program listens
        (0: none). Without one, a program that was attached to is ready all the same, except for a request to this
        machine.
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

        The note is `_occupant`, a text that is empty if nobody else is known to listen; if one of the programs listens,
        it stays as it was. Where it is not known which processes listen, or which are the programs', anything that
        accepts a connection at the port on localhost counts, and nothing is noted.
        """
        processes = await self.processes(all_programs=True)
        if not processes.is_known:
            return await in_thread(processes.address, LOCALHOST, port) is not None
        if port in await in_thread(lambda: processes.ports):
            return True
        self._occupant = await in_thread(foreign_listener, processes, LOCALHOST, port)
        return False

    async def _search_output(self) -> bool:
        """Search the program's output since the last search for the pattern, and return whether it was found.

        If it was found, the search is marked as over, and `port` is set to the port in the first group that names
        one, else to 0; otherwise neither changes. The last line is searched again next time, since it may be
        incomplete.

        Raises:
            PatternOverdue: The pattern takes too long; of the output up to here only an incomplete last line is
                searched again.
        """
        log = self.session.program.output
        text = "".join(piece.text for piece in log.pieces(self._searched_to))
        self._searched_to = log.end - len(text.rpartition("\n")[2])
        found = await self.lines.search_lines(text.splitlines())
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
        session = self.session.program.session_for_tool(self.session, exactly=True)
        body = await session.request(
            "evaluate", {"expression": expression, "context": "repl"}, seconds=seconds
        )
        return str(body.get("result") or "")
