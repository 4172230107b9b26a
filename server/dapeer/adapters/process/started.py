"""The process of an adapter that dapeer has started, and all that ends with it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

import anyio

from dapeer.adapters.process.owned_process import Processes
from dapeer.adapters.process.reaper import Reaper
from dapeer.adapters.process.spawn import Command, Spawned, spawn
from dapeer.adapters.process.terminal import Terminal
from dapeer.base.errors import AdapterFailed

SECONDS_TO_END = 0.5
"""Seconds that an adapter has to end by itself when its wire is closed."""


@dataclass(frozen=True, slots=True)
class Started:
    """An adapter's process, and what belongs to it."""

    spawned: Spawned
    processes: Processes
    """It, and its debuggees."""

    async def end(self) -> None:
        """Give it a moment to end by itself, then kill it and what it owns."""
        with anyio.move_on_after(SECONDS_TO_END, shield=True):
            await self.spawned.end()
        self.spawned.close()
        await self.processes.aclose()


async def start(command: Command, reaper: Reaper, terminal: Terminal | None = None) -> Started:
    """Start an adapter's process, which the reaper kills if dapeer is killed.

    Raises:
        AdapterFailed: The program, or the folder to start it in, is not there or not usable.
    """
    processes = Processes(reaper)
    spawning = asyncio.create_task(spawn(command, processes.mark, terminal))
    try:
        spawned = await asyncio.shield(spawning)
    except asyncio.CancelledError:
        # asyncio would kill that process alone, and wait for the end of what it has started by then.
        with anyio.CancelScope(shield=True), contextlib.suppress(AdapterFailed):
            spawned = await spawning
            processes.add(spawned.process.pid)
            await Started(spawned, processes).end()
        raise
    processes.add(spawned.process.pid)
    return Started(spawned, processes)
