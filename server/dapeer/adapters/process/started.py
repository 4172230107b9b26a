"""The process of an adapter that dapeer has started, and all that ends with it."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from dapeer.adapters.process.greeted import Greeted
from dapeer.adapters.process.owned_process import Processes
from dapeer.adapters.process.reaper import Reaper
from dapeer.adapters.process.spawn import Command, Spawned, spawn
from dapeer.adapters.process.terminal import Terminal
from dapeer.base.system.process_table import is_able

SECONDS_TO_END = 0.5
"""Seconds that an adapter has to end by itself when its wire is closed."""


@dataclass(frozen=True, slots=True)
class Started:
    """An adapter's process, and what belongs to it."""

    spawned: Spawned
    processes: Processes
    """It, and its debuggees."""
    greeted: Greeted | None = None
    """Its transport, if it has answered `initialize`."""

    @property
    def able(self) -> bool:
        """Whether the adapter's process can still answer: it has neither ended nor been stopped."""
        process = self.spawned.process
        return process.returncode is None and is_able(process.pid)

    async def end(self) -> None:
        """Give it a moment to end by itself, then kill it and what it owns."""
        with anyio.move_on_after(SECONDS_TO_END, shield=True):
            await self.spawned.end()
        self.spawned.close()
        await self.processes.aclose()

    async def kill(self) -> None:
        """End it at once: it has no debuggee."""
        await self.processes.aclose()
        await self.end()


async def start(command: Command, reaper: Reaper, terminal: Terminal | None = None) -> Started:
    """Start an adapter's process, which the reaper kills if dapeer is killed.

    Raises:
        AdapterFailed: The program, or the folder to start it in, is not there or not usable.
    """
    processes = Processes(reaper)
    spawned = await spawn(command, processes.mark, terminal)
    processes.add(spawned.process.pid)
    return Started(spawned, processes)
