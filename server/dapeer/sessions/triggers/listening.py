"""At which ports a debugged program listens, and at which addresses it is reached.

It blocks: call it in a thread.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from dapeer.base.errors import DapeerError
from dapeer.base.system import ownership, process_table
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.session import Session

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

        If it is not known who listens (`is_known`), connect there for a moment, and return whether anything accepts the connection.
        """
        if self.is_known:
            return ownership.listens(self.programs, address, port)
        with contextlib.suppress(OSError):
            socket.create_connection((address, port), SECONDS_TO_PROBE).close()
            return True
        return False


def processes_of(sessions: Iterable[Session]) -> Processes:
    """Return the processes of the sessions' programs, with those that they have started.

    Sessions that have ended are left out. The processes of the debuggers are named separately. It reads the table of processes, so call it
    in a thread.
    """
    living = [each for each in sessions if not each.over]
    first = {pid for each in living for pid in _processes(each)}
    programs = first | {child for pid in first for child in process_table.descendants(pid)}
    adapters = {
        pid for each in living if isinstance(each, DirectSession) and (pid := each.process.pid)
    }
    above = {pid for each in first for pid in process_table.ancestors(each)}
    below = {child for pid in adapters for child in process_table.descendants(pid)}
    debuggers = (adapters | below | above) - programs
    known = bool(programs) and ownership.reports_port_owners()
    return Processes(frozenset(programs), frozenset(debuggers), known)


def _processes(session: Session) -> set[int]:
    """Return the pids of a session's program: the watched or reported one, or all that it has started.

    Empty: none is known, it is on another machine, or a child session has it.
    """
    if session.delegates:
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
    adapter = session.process.pid or 0
    own = {adapter} if adapter and session.plan.definition.is_the_program else set[int]()
    return own | {*process_table.descendants(adapter)}


def require_address(processes: Processes, host: str, port: int) -> str:
    """Return the numeric address of `host`, a name of this machine, at which one of the programs listens.

    It reads the system's tables, or connects for a moment where these do not tell who listens, and blocks: call it in a thread.

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

    It reads the system's tables. Call it where none of the programs listens there. Empty: nobody listens, or the system does not tell who.
    """
    if not processes.is_known:
        return ""
    found = [ownership.listening_processes(each, port) for each in _addresses(host)]
    if all(each is None for each in found):
        return ""
    others = [pid for each in found for pid in each or ()]
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
