"""A step of pydevd's over or out of a frame: after an exception or a value it goes on in the caller.

The exception ends the frame, or the frame is a generator that gives the value.
"""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import sys
from types import FrameType
from typing import Any

from ..stacks import awaiting

COMMANDS = "_pydevd_bundle.pydevd_comm_constants"
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
RUNS = 1
"""pydevd's state of a thread that is not suspended."""
OF_PYTHON = 1
"""pydevd's kind of a stop in Python's own code, not in a template's."""
GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
AWAITED = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE
RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
YIELDS = {"YIELD_VALUE", "YIELD_FROM"}
PASSES_ON = {"SEND", "YIELD_FROM"}
"""Instructions that run another generator or coroutine, whose values pass on: `yield from`, `await`."""
CACHE = 0
"""The number of what is no instruction, but room for the one before."""
GIVEN = "async_generator_wrapped_value"
"""Built-in type of an asynchronous generator's values; all else that it yields is for the loop."""
RAISES = {"RAISE_VARARGS", "RERAISE", "SEND"}
"""Instructions at which a frame ends, and no generator or coroutine waits."""


class ThreadStep:
    """A step that pydevd makes with a thread, from a resume until the thread stops again."""

    def __init__(self, debugger: Any, thread: Any, frame: Any) -> None:
        self._debugger = debugger
        self._ident = thread.ident
        self._state = thread.additional_info
        commands = importlib.import_module(COMMANDS)
        self._numbers: dict[str, int] = {
            name[len("CMD_STEP_") :]: number
            for name, number in vars(commands).items()
            if name.startswith("CMD_STEP_")
        }
        self._stop: Any = self._state.pydev_step_stop
        """The frame that pydevd follows; None: all."""
        # A step out of a task's outermost coroutine leaves the event loop, too.
        of_task = awaiter_of(frame) is not None
        self.frame: Any = frame if of_task else self._stop
        """The frame that is followed; None once the step is over."""
        self._only_own = "_MY_CODE" in self._command()
        out = self._command().startswith("RETURN") and self._stop is frame
        self.gives: Any = frame.f_code if of_task or (out and is_generator(frame)) else None
        """The code of a frame whose values end the step: a task's awaited outermost coroutine, or a generator."""
        self.raised: Any = None
        """What the frame has raised last."""
        self.raises = False
        """Whether the line at which the frame is has raised that."""
        self.line = 0
        """The line to which the frame has come last; 0: none yet."""
        self.hidden: Any = None
        """Where pydevd is not to stop in the frame for now: the frame's code, and what `show` is given."""
        self.error: Any = None
        """What has ended the function in which the step began."""

    def _command(self) -> str:
        """Return the name of pydevd's command for the step, such as `OVER` or `RETURN_MY_CODE`; empty: none."""
        number = self._state.pydev_step_cmd
        return next((name for name, each in self._numbers.items() if each == number), "")

    @property
    def is_followed(self) -> bool:
        """Return whether the step leads over or out of a frame of Python code."""
        of_python = isinstance(self.frame, FrameType) and self._state.suspend_type == OF_PYTHON
        return of_python and self._command().startswith(("OVER", "RETURN", "INTO_COROUTINE"))

    def is_in(self, frame: Any) -> bool:
        """Return whether the step follows this frame, and pydevd still makes the step."""
        state = self._state
        return (
            frame is self.frame
            and state.pydev_state == RUNS
            and state.pydev_step_cmd != -1
            and state.pydev_step_stop is self._stop
        )

    def is_at_lines_of(self, frame: Any) -> bool:
        """Return whether the step stops at the next line of this frame."""
        return self.is_in(frame) and self._stop is frame

    def hide(self, *, all_of_it: bool) -> tuple[Any, Any]:
        """Have pydevd not stop in the frame for now, or make no step at all (`all_of_it`).

        Return what `show` needs to undo that.
        """
        state = self._state
        before = (state.pydev_step_cmd, state.pydev_step_stop)
        state.pydev_step_stop = self._stop = None
        if all_of_it:
            state.pydev_step_cmd = -1
        return before

    def show(self, before: tuple[Any, Any]) -> None:
        """Have pydevd make the step again, unless the step is over; `before` is what `hide` returned."""
        if self.frame is not None:
            self._state.pydev_step_cmd, self._state.pydev_step_stop = before
            self._stop = before[1]

    def takes(self, frame: Any, place: int, value: Any) -> Any:
        """Return the frame that gets the followed frame's value, where pydevd would go on elsewhere.

        Else None. `place` is that of the frame's instruction, which returns or yields `value`.
        """
        if self.gives is not frame.f_code:
            return None
        name = instruction(frame.f_code, place)
        if name in RETURNS:
            return awaiter_of(frame)
        return consumer_of(frame, value) if name in YIELDS and is_generator(frame) else None

    def leave(self, frame: Any, taker: Any = None) -> None:
        """Have the step go on in `taker`, which gets the frame's value, or, after an exception, in the caller.

        Frames of the debugger are passed by. Where the next frame is a library's, it is a step into the next line of the program. `error`
        is set to the exception.
        """
        self.error = (self.error or self.raised) if taker is None else None
        self.raises, self.line, self.gives = False, 0, None
        caller = taker or awaiter_of(frame) or frame.f_back
        while caller is not None and self._debugger.get_file_type(caller) is not None:
            caller = caller.f_back
        self.frame = caller
        if caller is None:
            return
        # It may give the value on, before it comes to a line.
        self.gives = caller.f_code if taker is not None and is_generator(caller) else None
        passed = self._is_passed(caller)
        command = "INTO" if passed else "OVER"
        self._stop = None if passed else caller
        self._state.pydev_step_cmd = self._numbers[command + "_MY_CODE" * self._only_own]
        self._state.pydev_step_stop = self._stop
        self._debugger.set_trace_for_frame_and_parents(self._ident, caller)

    def _is_passed(self, frame: Any) -> bool:
        """Return whether pydevd does not stop in a frame, since it is a library's.

        That is so only where libraries are left out (`justMyCode`).
        """
        if not (self._only_own or self._debugger.is_files_filter_enabled):
            return False
        path = frame.f_code.co_filename
        return bool(self._debugger.apply_files_filter(frame, path, self._only_own))


def awaiter_of(frame: Any) -> Any:
    """Return the frame that awaits the asyncio task of which a frame is the outermost coroutine.

    None: no task awaits it, or it is no outermost coroutine.
    """
    asyncio: Any = sys.modules.get("asyncio")
    caller = frame.f_back
    if asyncio is None or not frame.f_code.co_flags & inspect.CO_COROUTINE:
        return None
    if caller is not None and caller.f_code.co_flags & RESUMED:
        return None
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs
        return None
    if task is None or getattr(awaiting.coroutine_of(task), "cr_frame", None) is not frame:
        return None
    waits = awaiting.awaiter(task, asyncio)
    frames: Any = awaiting.frames_of(awaiting.coroutine_of(waits)) if waits is not None else ()
    return next(iter(frames), None)


def instruction(code: Any, place: int) -> str:
    """Return the name of the instruction at a place in a code, or of the one whose cache is there."""
    while place > 0 and dis.opname[int(code.co_code[place])] == "CACHE":
        place -= 2
    return dis.opname[int(code.co_code[place])]


def is_generator(frame: Any) -> bool:
    """Return whether a frame is a generator's, and no coroutine's of an older kind."""
    flags = frame.f_code.co_flags
    return bool(flags & GENERATORS and not flags & AWAITED)


def consumer_of(frame: Any, value: Any) -> Any:
    """Return the frame for which a generator's frame yields a value.

    None: it is for an event loop, in an `await`.
    """
    caller = frame.f_back
    if frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR:
        return caller if type(value).__name__ == GIVEN else None
    while caller is not None and caller.f_code.co_flags & RESUMED:
        if instruction(caller.f_code, caller.f_lasti) not in PASSES_ON:
            break
        if caller.f_code.co_flags & (AWAITED | inspect.CO_ASYNC_GENERATOR):
            return None
        caller = caller.f_back
    return caller


@functools.lru_cache(maxsize=1000)
def pass_through_offsets(code: Any) -> frozenset[int]:
    """Return the offsets in a code at which an exception passes through, at a line once more.

    They are at the ends of `with` blocks and of `await`s. `code` is a code object.
    """
    # A module of 200,000 lines has a million instructions: `dis` takes 10 s for them.
    numbers = code.co_code[::2]
    throw, with_ = (dis.opmap.get(name) for name in ("CLEANUP_THROW", "WITH_EXCEPT_START"))
    if not {throw, with_}.intersection(numbers):
        return frozenset()
    every = [(2 * place, each) for place, each in enumerate(numbers) if each != CACHE]
    # Since Python 3.11 a handler begins by noting the exception.
    head = every[:-1] if "PUSH_EXC_INFO" in dis.opmap else every[1:]
    return frozenset(
        offset
        for (offset, each), (_, then) in zip(head, every[1:])
        if throw == each or then == with_
    )


def passes_by(step: Any, frame: Any, event: str, argument: Any) -> bool:
    """Return whether pydevd is not to stop at a trace event of a frame, and note the event in `step`.

    It is True where an exception ends the followed frame, or passes by at a line. `step` is a `ThreadStep`; `event` and `argument` are
    those of a trace function.
    """
    if not step.is_in(frame):
        return False
    if event == "line":
        step.raises, step.line = False, frame.f_lineno
        return step.is_at_lines_of(frame) and frame.f_lasti in pass_through_offsets(frame.f_code)
    if event == "exception" and not issubclass(argument[0], (StopIteration, StopAsyncIteration)):
        # Up to Python 3.11 it may not be made yet.
        made = isinstance(argument[1], BaseException)
        step.raises, step.raised = True, argument[1] if made else argument[0]
        forget_result(frame, argument[2].tb_next)
    return event == "return" and argument is None and is_raised(step, frame)


def is_suspended(step: Any, frame: Any, value: Any) -> bool:
    """Return whether the followed frame is an asynchronous generator's that goes on later.

    pydevd takes it for returned. `value` is that of its `return` event.
    """
    if not is_stream(step, frame) or returns(frame):
        return False
    return value is not None or not is_raised(step, frame)


def is_stream(step: Any, frame: Any) -> bool:
    """Return whether the frame is the followed one, and an asynchronous generator's.

    `step` is a `ThreadStep`.
    """
    return bool(step.is_in(frame) and frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR)


def returns(frame: Any) -> bool:
    """Return whether a frame's instruction is one that returns."""
    return dis.opname[int(frame.f_code.co_code[frame.f_lasti])] in RETURNS


def is_raised(step: ThreadStep, frame: Any) -> bool:
    """Return whether an exception ends a frame at its `return` event with None as the value.

    Such a frame may also have returned None, or be a generator or coroutine that waits.
    """
    code: Any = frame.f_code
    name: str = dis.opname[int(code.co_code[frame.f_lasti])]
    if frame.f_code.co_flags & RESUMED and name not in RAISES | RETURNS:
        # An exception that is raised again after a `with` block, say, is at the line that has raised it first.
        return bool(step.raises or step.line not in {0, frame.f_lineno})
    return name not in RETURNS


def forget_result(frame: Any, place: Any) -> None:
    """Remove the None that pydevd shows as the result of a function that has raised from a frame's locals.

    `place` is the traceback entry of that function; None: nothing is removed.
    """
    constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
    results: Any = frame.f_locals.get(constants.RETURN_VALUES_DICT)
    if place is None or not results:
        return
    for name in list(results):
        if results[name] is None and name.rpartition(".")[2] == place.tb_frame.f_code.co_name:
            del results[name]
