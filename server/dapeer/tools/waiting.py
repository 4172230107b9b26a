"""Waiting for what a program does next, and telling it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import Any, cast

from dapeer import render
from dapeer.family import news, notes, shown, untold
from dapeer.session import Session
from dapeer.tools.tool import Call, Reply

PATIENCE = 500
"""Milliseconds that a step has until its caller is told where another process had stopped before."""
TELL_EVERY = 0.5
"""Seconds between two lines of output that a waiting client is told."""


async def next_stop(
    call: Call,
    session: Session,
    epoch: int,
    timeout_ms: int,
    old: AbstractSet[tuple[int, int]] = frozenset(),
) -> Reply:
    """Wait for a stop after `epoch`, the program's end, or the time-out, and tell which.

    `epoch` is noted before the program is resumed, so that a stop which comes sooner than anybody
    waits is not missed, and an old one is not taken for a new one. The stop may be one of another
    process of the program, to which the focus goes then. Of those that were there before, the `old`
    ones, the caller is told only when the session itself does not stop soon.
    """
    patience = min(timeout_ms, PATIENCE) if old else 0
    await until(call, session, lambda: news(session, epoch, old) is not None, patience)
    await until(call, session, lambda: news(session, epoch) is not None, timeout_ms - patience)
    told = news(session, epoch) or shown(session)
    call.focus.follow(told)
    return await look(call, told)


async def until(
    call: Call, session: Session, happened: Callable[[], bool], timeout_ms: int
) -> None:
    """Wait, and tell the client the newest line of output now and then."""
    clock = asyncio.get_running_loop().time
    end = clock() + timeout_ms / 1000
    output = session.mirror.output
    told, due = output.end, clock() + TELL_EVERY

    def news() -> bool:
        return happened() or (output.end > told and clock() >= due)

    while await session.wait_for(news, end - clock()) and not happened():
        told, due = output.end, clock() + TELL_EVERY
        await call.progress(output.last_line())


async def look(call: Call, session: Session) -> Reply:
    """Return what the session looks like now."""
    view = await session.snapshot()
    others = notes(session)
    if others:
        view["notes"] = [*view.get("notes", ()), *others]
    return Reply(render.snapshot(view, call.debugger.project), cast("dict[str, Any]", view))


async def resume(
    call: Call, session: Session, send: Awaitable[None], *, wait: bool, timeout_ms: int
) -> Reply:
    """Make the program run and, unless `wait` is false, wait for what it does next."""
    epoch, old = session.mirror.epoch, untold(session)
    await send
    return await next_stop(call, session, epoch, timeout_ms if wait else 0, old)
