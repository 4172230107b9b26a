"""A program's processes that have left its POSIX session: daemons, servers, terminal multiplexers.

They run on where the program runs without a debugger, too, and others may use them. So they are left alone and named once, until
somebody asks for their end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dapeer.adapters.process.owned_process import Processes
from dapeer.base.system.process_table import command_line, processes
from dapeer.base.text.fitting import shortened
from dapeer.sessions.core.program import Program

COMMAND_CHARS = 80
"""Characters of a command line that are shown."""
MAX_NAMED_PROCESSES = 5
"""Processes that are named; more are counted."""


class Detached:
    """The processes of one program that have left its POSIX session, and may run on after its end."""

    def __init__(self, processes: Processes, program: Program[Any], relay: str) -> None:
        """Keep what belongs to one program.

        `relay` is a regular expression for command lines of the debugger's own processes. Processes that match `relay` end by themselves
        and are not reported; an empty `relay` matches none.
        """
        self._processes = processes
        self._program = program
        self._relay = relay
        self._reported: set[int] = set()

    def record_processes(self) -> None:
        """Record which processes have left the POSIX session.

        That can be seen only while the program lives.
        """
        self._processes.detached()

    def unreported(self) -> list[str]:
        """Return at most one note: the processes that `take_unreported` finds, and the call that ends them.

        The list is empty while the program runs, and where there is no process that was not reported before. What the note names counts
        as reported.
        """
        new = self.take_unreported()
        if not new:
            return []
        way = "dap_terminate(detached=true) ends what has left the program's POSIX session"
        return [f"still running: {named(new)}; {way}"]

    def take_unreported(self) -> dict[int, str]:
        """Return the processes that outlived the program as command lines by pid, and record them as reported.

        A process is returned only once. Left out are processes that a session still debugs, those of the debugger itself, and those that
        have ended. The dict is empty while the program runs.
        """
        if self._program.runs:
            return {}
        debugged = {each.mirror.process.get("systemProcessId") for each in self._program.alive}
        new = {
            pid: command
            for pid in self._processes.detached()
            if pid not in self._reported | debugged and (command := self._command(pid))
        }
        self._reported |= new.keys()
        return new

    async def end(self) -> str:
        """Kill the processes that have left the program's POSIX session; return a sentence on them.

        The sentence names the killed processes, or says that there was none, or that this system cannot list processes.
        """
        commands = {pid: self._command(pid) for pid in self._processes.detached()}
        ended = {pid: commands.get(pid, "") for pid in await self._processes.kill_detached()}
        self._reported |= ended.keys()
        if not ended and not processes():
            return "This system does not tell which processes there are, so none was looked for."
        return f"Ended, too: {named(ended)}." if ended else "Nothing has left its POSIX session."

    def _command(self, pid: int) -> str:
        """Return the command line of a process on one line, shortened to `COMMAND_CHARS`.

        Empty: the process has ended, or is one of the debugger's own.
        """
        command = " ".join(command_line(pid).split())
        own = self._relay and re.search(self._relay, command)
        return "" if own else shortened(command, COMMAND_CHARS)


def named(commands: Mapping[int, str]) -> str:
    """Return "pid (command), …" for at most `MAX_NAMED_PROCESSES` processes, and "N more" for the others.

    `commands` has each process's command line by its pid.
    """
    named = [f"{pid} ({command})" for pid, command in commands.items()]
    more = [f"{len(named) - MAX_NAMED_PROCESSES} more"] if len(named) > MAX_NAMED_PROCESSES else []
    return ", ".join([*named[:MAX_NAMED_PROCESSES], *more])
