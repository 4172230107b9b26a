"""Numbers for the calls in which the program stops, which tell a recursive call from its caller.

DAP numbers frames anew at each stop, and CPython reuses the address of an old frame, so neither identifies a call.

Up to Python 3.11 pydevd traces each call by an object of its own. Keeping it keeps neither frame nor variables alive.
"""

from __future__ import annotations

import collections
import contextlib
import inspect
import threading
from typing import Any

from .. import patching

ACTIVATION = "dapeerActivation"
"""Key in the body of `stopped`: the innermost call's number; 0: a generator or coroutine is resumed."""
MAX_KEPT_CALLS = 200
"""Calls that are remembered."""
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class StoppedCalls:
    """Numbers the calls in which the program has stopped; a call is known by its tracer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbered_tracers: collections.deque[tuple[Any, int]] = collections.deque(
            maxlen=MAX_KEPT_CALLS
        )
        self._count = 0

    def number(self, tracer: object) -> int:
        """Return the number of the call that a tracer traces, from 1 on; a new tracer gets the next number.

        `tracer` is pydevd's object for one call, told by its identity, and kept alive here. Only the last `MAX_KEPT_CALLS` calls are
        remembered; an older one gets a new number. Threads may call this at once.
        """
        with self._lock:
            for known, number in self._numbered_tracers:
                if known is tracer:
                    return number
            self._count += 1
            self._numbered_tracers.append((tracer, self._count))
            return self._count


calls = StoppedCalls()
stopping = threading.local()
"""`number`: the call in which this thread is about to stop."""


def tracer_of(frame: Any) -> object:
    """Return pydevd's tracer object (`PyDBFrame`) of one call; None if the frame has none."""
    method = frame.f_trace
    if hasattr(method, "get_method_object"):
        method = method.get_method_object()
    owner = getattr(method, "__self__", None)
    return owner if type(owner).__name__ == "PyDBFrame" else None


def number_of(frame: Any) -> int | None:
    """Return the number of the call of a frame; 0 for a generator or coroutine, None if unknown.

    A call that has none yet gets the next number, from 1 on: equal numbers are one call, and a greater one was numbered later, not begun
    later. A call that is no more among the last `MAX_KEPT_CALLS` gets a new number. It is unknown for None and for a frame that pydevd does
    not trace by an object, as from Python 3.12 on.
    """
    if frame is None:
        return None
    if frame.f_code.co_flags & RESUMED:
        return 0
    tracer = tracer_of(frame)
    return None if tracer is None else calls.number(tracer)


WAIT = "pydevd:PyDB.do_wait_suspend"
SUSPENDED = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson.make_thread_suspend_single_notification"
CALLS = patching.Row(
    "calls-numbered",
    "debugpy",
    "A recursive call cannot be told from its caller, so changes of variables may be shown between the two.",
    replaces={
        WAIT: "self thread frame event arg exception_type=",
        SUSPENDED: "self py_db thread_id thread stop_reason",
    },
)


@CALLS
def number_calls(patch: Any) -> None:
    """Patch pydevd so that `stopped` has the number of the innermost call, under the key `ACTIVATION`.

    `stopped` is DAP's event; the key is missing where the number is unknown, and 0 for a generator or
    coroutine. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo`
    puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(WAIT)
    def do_wait_suspend(
        stock: Any, self: Any, thread: Any, frame: Any, *rest: Any, **named: Any
    ) -> Any:
        """Note the number of the innermost call for this thread, then suspend the thread as pydevd does."""
        with contextlib.suppress(Exception):
            stopping.number = number_of(frame)
        return stock(self, thread, frame, *rest, **named)

    @patch.replace(SUSPENDED)
    def make_suspended(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's event `stopped` with the call's number in its body; without it where it is unknown."""
        command = stock(*given, **named)
        number, stopping.number = getattr(stopping, "number", None), None
        if number is None:
            return command
        body = {**command.as_dict["body"], ACTIVATION: number}
        return type(command)(command.id, 0, {**command.as_dict, "body": body}, is_json=True)
