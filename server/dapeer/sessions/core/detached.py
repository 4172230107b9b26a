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
    """Those of one program."""

    def __init__(self, processes: Processes, program: Program[Any], relay: str) -> None:
        """Keep `relay`: a pattern for command lines of the debugger's own, which end by themselves."""
        self._processes = processes
        self._program = program
        self._relay = relay
        self._reported: set[int] = set()

    def look(self) -> None:
        """Find those that can be told from others only while the program lives."""
        self._processes.detached()

    def unreported(self) -> list[str]:
        """Return a note on those that nobody was told of; none while the program lives."""
        new = self.left()
        if not new:
            return []
        way = "dap_terminate(detached=true) ends what has left the program's POSIX session"
        return [f"still running: {named(new)}; {way}"]

    def left(self) -> dict[int, str]:
        """Return those that nobody was told of, and what they run; none while the program lives."""
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
        """Kill them; return a sentence on which."""
        commands = {pid: self._command(pid) for pid in self._processes.detached()}
        ended = {pid: commands.get(pid, "") for pid in await self._processes.kill_detached()}
        self._reported |= ended.keys()
        if not ended and not processes():
            return "This system does not tell which processes there are, so none was looked for."
        return f"Ended, too: {named(ended)}." if ended else "Nothing has left its POSIX session."

    def _command(self, pid: int) -> str:
        """Return what a process runs, on one line; empty for one that is the debugger's, or has ended."""
        command = " ".join(command_line(pid).split())
        own = self._relay and re.search(self._relay, command)
        return "" if own else shortened(command, COMMAND_CHARS)


def named(commands: Mapping[int, str]) -> str:
    """Return processes and what they run; of many the first ones."""
    named = [f"{pid} ({command})" for pid, command in commands.items()]
    more = [f"{len(named) - MAX_NAMED_PROCESSES} more"] if len(named) > MAX_NAMED_PROCESSES else []
    return ", ".join([*named[:MAX_NAMED_PROCESSES], *more])
