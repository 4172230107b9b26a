"""Waiting until what a program has printed has arrived: it travels by another road than its stops."""

from __future__ import annotations

import asyncio

from dapeer.mirror.output import OutputLog
from dapeer.sessions.waiters import WaitFor

SECONDS_TO_SETTLE = 0.3
"""Seconds after which nobody waits any longer for a few lines now and then: somebody else may print for ever."""
FLOOD = 20_000
"""Characters printed at a time, or arriving in each second, that tell of a queue on its way."""
SECONDS_WITHOUT_FLOOD = 0.25
"""Seconds without output after which a flood is over; a busy machine makes pauses in it."""
LATE = 1.5
"""Times a pause that tell of a machine on which nobody gets to run: what is here may not be read yet, so silence says nothing."""
SECONDS_OF_FLOOD = 5.0
"""Seconds after which nobody waits any longer for the end of a flood."""


async def settled(output: OutputLog, wait_for: WaitFor, quiet: float, printed: int = 0) -> bool:
    """Wait until nothing more has arrived for `quiet` seconds, and return whether that is so; False: it still flows.

    `printed` characters have just arrived. A program that prints faster than its adapter forwards has
    stopped long before the last line is here, so a flood is waited for as long as it flows.
    """
    clock = asyncio.get_running_loop().time
    begun, first, seen = clock(), output.end, -1
    flood = printed > FLOOD
    while seen != output.end:
        passed = clock() - begun
        flood = flood or output.end - first > FLOOD
        flows = flood and output.end - first >= FLOOD * passed
        if passed > (SECONDS_OF_FLOOD if flows else SECONDS_TO_SETTLE):
            return False
        seen, asleep = output.end, clock()
        pause = max(quiet, SECONDS_WITHOUT_FLOOD) if flood else quiet
        came = await wait_for(lambda: output.end > seen, pause)  # noqa: B023 - used up at once
        if not came and clock() - asleep > LATE * pause:
            seen = -1
    return True
