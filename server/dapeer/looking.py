"""What is fetched at a stop before anybody asks: stack, scopes, locals, exception, late output."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from dapeer import snapshot, sources
from dapeer.errors import ChannelError, Unsupported
from dapeer.history import Stop

if TYPE_CHECKING:
    from dapeer.session import Session

QUIET = 0.015
"""Seconds without output after which a stop's output counts as complete."""
SETTLED = 0.15
"""Seconds after which nobody waits any longer for a stop's output to be complete."""


async def fetch_stop(session: Session) -> None:
    """Fetch what everybody asks at a stop. What cannot be had is left out; the stop is told anyway."""
    stop = session.mirror.stop
    if stop is None:
        return
    began = session.mirror.output.end
    await asyncio.gather(
        _quietly(_names(session, stop)),
        _quietly(_exception(session, stop)),
        fetch_locals(session, stop),
    )
    await _output_settled(session, stop, began)


async def fetch_locals(session: Session, stop: Stop) -> None:
    """Fetch the stack, the source around the place, and the locals of the innermost frame."""
    await _quietly(_locals(session, stop))


async def _names(session: Session, stop: Stop) -> None:
    if not session.mirror.threads.get(stop.thread_id):
        await session.threads()


async def _exception(session: Session, stop: Stop) -> None:
    if stop.reason == "exception":
        await session.exception_info(stop.thread_id)


async def _locals(session: Session, stop: Stop) -> None:
    frames = await session.stack_trace(stop.thread_id)
    if not frames:
        return
    path = snapshot.frame_path(frames[0])
    if path:
        stop.source = sources.window(path, frames[0]["line"], snapshot.SOURCE_AROUND)
    await session.scopes(frames[0]["id"])
    references = [scope["variablesReference"] for scope in stop.local_scopes(frames[0]["id"])]
    await asyncio.gather(*map(session.variables, references))


async def _output_settled(session: Session, stop: Stop, began: int) -> None:
    """Wait for output that was printed before the stop but travels by a slower road.

    A program that has printed nothing since it was resumed costs no time.
    """
    output = session.mirror.output
    if output.end == stop.output_start:
        return
    clock = asyncio.get_running_loop().time
    end, seen = clock() + SETTLED, began
    while seen != output.end and clock() < end:
        seen = output.end
        await session.wait_for(lambda: output.end > seen, QUIET)  # noqa: B023 - used up at once


async def _quietly(fetch: Coroutine[Any, Any, None]) -> None:
    try:
        await fetch
    except (ChannelError, Unsupported, KeyError):
        return
