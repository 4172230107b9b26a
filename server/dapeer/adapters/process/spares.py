"""Adapters that are kept ready: started ahead, so that the next session need not wait for its own."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from dapeer.adapters.choice.files import Stamp, stamps
from dapeer.adapters.definition.definition import Definition
from dapeer.adapters.process.greeted import greet
from dapeer.adapters.process.reaper import Reaper
from dapeer.adapters.process.spawn import Command
from dapeer.adapters.process.started import Started, start
from dapeer.adapters.process.streams import StdioStream
from dapeer.base.errors import DapeerError

log = logging.getLogger(__name__)

MOST: Final = 2
"""Adapters that are kept at a time."""
SECONDS_OF_CALM: Final = 2.0
"""Seconds from a stop or an end until the next adapter is started, so that it takes no time from the first looks."""
SECONDS_KEPT: Final = 300.0
"""Seconds without a session of its kind after which an adapter is given up."""


@dataclass(slots=True, eq=False)
class Spare:
    """An adapter that is kept ready, or is about to be."""

    started: Started | None = None
    """None until it has answered `initialize`."""
    taken: bool = False
    """Whether a session has it."""
    files: frozenset[Stamp] = frozenset()
    """Those of the adapter, as they were before it was started."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Spares:
    """The adapters that are kept ready, one for each command with its folder and environment."""

    def __init__(self, tasks: TaskGroup, reaper: Reaper) -> None:
        """At the end of `tasks` they are killed; if dapeer is killed, by the reaper."""
        self._tasks = tasks
        self._reaper = reaper
        self._kept: dict[Command, Spare] = {}
        """The one that was wanted last is the last."""

    def want(self, definition: Definition, command: Command) -> None:
        """Have an adapter ready for the next session with this command, or keep the one that is ready for longer."""
        spare = self._kept.pop(command, None)
        if spare is None:
            spare = Spare()
            self._tasks.start_soon(self._keep, spare, definition, command)
        spare.scope.deadline = anyio.current_time() + SECONDS_OF_CALM + SECONDS_KEPT
        self._kept[command] = spare
        for oldest in list(self._kept)[:-MOST]:
            self._kept.pop(oldest).scope.cancel()

    async def take(self, definition: Definition, command: Command) -> Started | None:
        """Return an adapter that is ready, with all that belongs to it; None if none is, or its files have changed."""
        spare = self._kept.get(command)
        if spare is not None and not spare.files:
            # Its start would take the processor from the session's own. That one will want another.
            self._kept.pop(command).scope.cancel()
        if spare is None or spare.started is None:
            return None
        del self._kept[command]
        spare.scope.cancel()
        started = spare.started
        if not started.able:
            return None
        spare.taken = True
        same = False
        try:
            same = await _files(definition, command) == spare.files
        finally:
            if not same:
                await started.kill()
        return started if same else None

    async def _keep(self, spare: Spare, definition: Definition, command: Command) -> None:
        """Start an adapter, and keep it until it is taken, has ended, or is not wanted for long."""
        started: Started | None = None
        try:
            with spare.scope:
                await anyio.sleep(SECONDS_OF_CALM)
                spare.files = await _files(definition, command)
                with anyio.CancelScope(shield=True):
                    started = await start(command, self._reaper)
                if started is not None:
                    process, tail = started.spawned.process, started.spawned.tail
                    stream, seconds = StdioStream(process, tail), definition.timeouts.start
                    greeted = await greet(stream, definition.adapter_id, seconds)
                    spare.started = replace(started, greeted=greeted)
                    log.info("%s: process %d is kept ready", command.title, process.pid)
                    await process.wait()
        except (DapeerError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            log.info("%s is not kept ready: %s", definition.title, error)
        except Exception:
            # No caller waits for it, and no session must end by it.
            log.exception("%s is not kept ready", definition.title)
        finally:
            if self._kept.get(command) is spare:
                del self._kept[command]
            if started is not None and not spare.taken:
                await started.kill()


async def _files(definition: Definition, command: Command) -> frozenset[Stamp]:
    """Return what tells whether the files of an adapter are still the same."""
    return await anyio.to_thread.run_sync(stamps, definition, command.arguments)
