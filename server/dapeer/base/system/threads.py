"""Threads for what may block: what only the file system of somebody else's machine can answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

import anyio

from dapeer.base.system.termination import SECONDS_OF_A_HANG

T = TypeVar("T")
SECONDS_FOR_THE_END = 1.0
"""Seconds for which an end waits for what is done beside."""

_HALF = getattr(select, "POLLRDHUP", 0)
SEES_HALVES = bool(_HALF)
"""Whether this system says that the other end of a socket has closed the half that it writes to."""
_HANGS = b"dapeer: The client has gone, and something hangs here, such as a file system: ended without waiting for it.\n"


class Clients:
    """The clients of this process, which ends some seconds after the last left, whatever hangs by then.

    A question about a file of a stalled network mount may hold any thread, the first one, too. The processes that
    were started are ended by those that watch over them.
    """

    def __init__(self) -> None:
        self._client_count = 0
        self._arrival_count = 0
        self._change_condition = threading.Condition()

    def watch(self, client: int) -> None:
        """Count a client until it closes its end of a pipe or socket; return at once.

        `client` is the descriptor of this process's end. A thread waits for the client without a limit, and
        closes the descriptor then. When the last client has gone, and none comes within `SECONDS_OF_A_HANG`,
        that thread ends this process with code 1, after a line to stderr if that takes one. A descriptor that
        is no pipe or socket is left open, and counts as a client for ever. Where the system has no `poll`,
        nothing happens.
        """
        if not hasattr(select, "poll"):
            return
        with self._change_condition:
            self._client_count += 1
            self._arrival_count += 1
            self._change_condition.notify_all()
        threading.Thread(target=self._wait, args=(client,), daemon=True).start()

    def _wait(self, client: int) -> None:
        """Wait until a client has closed its end, close ours, and end this process if it was the last one.

        `client` is our end's descriptor. The process ends with code 1, after a line to stderr if that takes one at once, if no other client
        comes within `SECONDS_OF_A_HANG`. A descriptor that is no pipe or socket is left open, and counts as a client for ever.
        """
        poll = select.poll()
        poll.register(client, _HALF)
        # What is no pipe may report something else, and does not hang up.
        if not any(event & (select.POLLHUP | _HALF) for _, event in poll.poll()):
            return
        os.close(client)
        with self._change_condition:
            self._client_count -= 1
            arrived = self._arrival_count
            if self._client_count or self._change_condition.wait_for(
                lambda: self._arrival_count != arrived, SECONDS_OF_A_HANG
            ):
                return
        # Who reads stderr may have gone, too, or read no more.
        with contextlib.suppress(OSError, ValueError):
            if select.select([], [2], [], 0)[1]:
                os.write(2, _HANGS)
        os._exit(1)


async def in_thread(work: Callable[..., T], *arguments: object) -> T:
    """Call a function with `arguments` in a thread of its own; return what it returns, or raise its error.

    A caller that is cancelled does not wait for the thread, and neither does the end of dapeer: a stalled
    network mount may hold the thread for ever. The function then runs on, and its result or error is dropped.
    The thread has a copy of the caller's context variables.
    """
    loop = asyncio.get_running_loop()
    # The outcome is a list of the result, or an error: a future takes no StopIteration as its exception.
    done: asyncio.Future[list[T] | BaseException] = loop.create_future()
    context = copy_context()

    def finish(outcome: list[T] | BaseException) -> None:
        """Give the result or the error to the caller, unless it was cancelled."""
        if not done.done():
            done.set_result(outcome)

    def run() -> None:
        """Call the function, and pass its result or error to the caller's loop."""
        outcome: list[T] | BaseException
        try:
            outcome = [context.run(work, *arguments)]
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            outcome = error
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    threading.Thread(target=run, daemon=True).start()
    outcome = await done
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome[0]


class CallerLoop:
    """The event loop in which this is made, for the threads that its maker starts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in that loop and wait for it; return its result, or raise its error.

        Call it in another thread than the loop's.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def run_in_thread_briefly(work: Callable[[], object]) -> None:
    """Call a function in a thread of its own and wait for it, at most `SECONDS_FOR_THE_END` seconds.

    A cancellation does not shorten the wait; the function's result is dropped, its error is raised.
    """
    with anyio.move_on_after(SECONDS_FOR_THE_END, shield=True):
        await in_thread(work)
