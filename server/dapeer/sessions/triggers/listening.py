"""At which ports a debugged program listens, and at which addresses it is reached.

It blocks: call it in a thread.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from dapeer.base.errors import DapeerError
from dapeer.base.system import ownership, process_table
from dapeer.sessions.core.direct import DirectSession
from dapeer.sessions.core.session import Session

SECONDS_TO_PROBE = 0.5
"""Seconds in which a port of this machine accepts a connection."""


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

        None: at none of the host's. If it is not known who listens, it is the first address that accepts a connection.
        """
        for each in _addresses(host, port):
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

    Those of their debuggers are named separately. It reads the table of processes, so call it in a thread.
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
    others = ownership.listening_processes(host, port) if processes.is_known else None
    if others is None:
        raise NotListening(f"nothing listens at port {port}{_ports_of(processes)}")
    named = ", ".join(f"{pid} ({_name(pid)})" for pid in others[:3]) or "another user's process"
    raise NotListening(
        f"port {port} is of process {named}, which is not debugged: nothing was sent"
        f"{_ports_of(processes)}"
    )


def _ports_of(processes: Processes) -> str:
    """Return a clause on the ports at which the programs listen; empty if there are none."""
    ports = ", ".join(map(str, sorted(processes.own_ports)))
    return f"; the program listens at {ports}" if ports else ""


def _name(pid: int) -> str:
    """Return the name of a process, as the system has it."""
    return process_table.status(pid).get("Name", "") or "ended"


def _addresses(host: str, port: int) -> list[str]:
    """Return the numeric addresses of a host, without repetitions.

    `host` is a name or an address, which is resolved; `0.0.0.0` and `::` stand for the loopback address, and so do names below
    `localhost` that no resolver knows. It blocks.

    Raises:
        NotListening: It has none.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        # Names below `localhost` are loopback by RFC 6761, whether or not a resolver knows them.
        if host.endswith("localhost") and error.errno != errno.EMFILE:
            return ["127.0.0.1", "::1"]
        raise NotListening(f"{host} has no address") from error
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))
