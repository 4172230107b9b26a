"""Has a step over or out of a call that raises arrive where the exception is caught.

One out of a task or generator arrives in what takes its value.

pydevd follows a frame until it returns. Of a frame that an exception ends it does not hear from Python 3.12 on; before that it takes a generator
or coroutine for suspended, and another function for returned with None. So the step goes on in the caller, as pydevd's step over there, until a
line catches. Where the caller is a library's, it is a step into the next line of the program.
"""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import sys
import threading
from types import FrameType
from typing import Any

from .. import patching
from ..stacks import awaiting
from ..values import cells

# A step of pydevd's over or out of a frame: after an exception or a value it goes on in the caller.
#
# The exception ends the frame, or the frame is a generator that gives the value.

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
        self._only_own_code = "_MY_CODE" in self._command()
        out = self._command().startswith("RETURN") and self._stop is frame
        self.value_giver_code: Any = (
            frame.f_code if of_task or (out and is_generator(frame)) else None
        )
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
        self.events_by_code: dict[Any, int] = {}
        """By code: the local events of `sys.monitoring` that the step needs there; none before Python 3.12."""

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

        Return what `show` needs to undo that: the command and the frame of pydevd's step. With `all_of_it`, `is_in` is False until then.
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

    def value_taker(self, frame: Any, place: int, value: Any) -> Any:
        """Return the frame that takes what the step's frame returns or yields; None: pydevd finds the way.

        `frame` is the frame that the step follows, and `place` the offset of its instruction that returns or
        yields `value`. The taker is the frame that awaits the frame's task, or the one for which the generator
        yields. The result is also None if the values of this frame do not end the step (`value_giver_code` is
        another code or None), if the instruction neither returns nor yields, or if nobody takes the value.
        """
        if self.value_giver_code is not frame.f_code:
            return None
        name = instruction(frame.f_code, place)
        if name in RETURNS:
            return awaiter_of(frame)
        return consumer_of(frame, value) if name in YIELDS and is_generator(frame) else None

    def leave(self, frame: Any, taker: Any = None) -> None:
        """Have the step leave `frame`, and go on in `taker`, or else in the caller of `frame`.

        `taker` is the frame that gets the value of `frame`; None: the step goes on in what awaits the task of
        `frame`, else in its caller, and `self.error` becomes the exception (with a `taker`, None). `self.frame`
        becomes the next frame, where frames of the debugger are passed by, or None: then the step is over, and
        pydevd's state stays. Otherwise pydevd's state of the thread becomes a step over in the next frame, or,
        where that is a library's, a step into the next line of the program.
        """
        self.error = (self.error or self.raised) if taker is None else None
        self.raises, self.line, self.value_giver_code = False, 0, None
        caller = taker or awaiter_of(frame) or frame.f_back
        while caller is not None and self._debugger.get_file_type(caller) is not None:
            caller = caller.f_back
        self.frame = caller
        if caller is None:
            return
        # It may give the value on, before it comes to a line.
        self.value_giver_code = (
            caller.f_code if taker is not None and is_generator(caller) else None
        )
        passed = self._is_passed(caller)
        command = "INTO" if passed else "OVER"
        self._stop = None if passed else caller
        self._state.pydev_step_cmd = self._numbers[command + "_MY_CODE" * self._only_own_code]
        self._state.pydev_step_stop = self._stop
        self._debugger.set_trace_for_frame_and_parents(self._ident, caller)

    def _is_passed(self, frame: Any) -> bool:
        """Return whether pydevd does not stop in a frame, since it is a library's.

        That is so only where libraries are left out (`justMyCode`).
        """
        if not (self._only_own_code or self._debugger.is_files_filter_enabled):
            return False
        path = frame.f_code.co_filename
        return bool(self._debugger.apply_files_filter(frame, path, self._only_own_code))


def awaiter_of(frame: Any) -> Any:
    """Return the frame that awaits the asyncio task which this thread is running; None if there is none.

    `frame` must be the frame of that task's outermost coroutine: for any other frame the result is None, as
    it is if no task awaits this one. Otherwise the result is the innermost frame of the task that awaits it,
    be it directly or by `gather`, `shield` or a task group.
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
    waits = awaiting.awaiting_task(task, asyncio)
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
    """Return the frame for which a generator's frame yields a value, past generators that pass it on.

    `frame` is the frame of the generator, as it yields `value`. An asynchronous generator yields to its direct
    caller if `value` is wrapped (its type is named `GIVEN`), else to the event loop; for other generators `value`
    is not looked at. None: the value is for the event loop, also since a coroutine or asynchronous generator on the
    way passes it on, or there is no such frame.
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
    """Return the offsets in a code at which an exception only passes by, with another `line` event.

    Each is the offset of the instruction where the compiler's own handler at the end of a `with` block or an `await` begins: there Python
    repeats the `line` event of the `with` or `await`, with this as `f_lasti`, and pydevd would stop again. It is empty for a code without
    such blocks. `code` is a code object; the result is cached.
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

    It is True where an exception ends the followed frame, or passes by at a line, and False for any other frame. `step` is a `ThreadStep`;
    `event` and `argument` are those of a trace function. At an exception, what pydevd shows as the result of the function that has raised
    is removed.
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
    return event == "return" and argument is None and is_ended_by_exception(step, frame)


def is_suspended(step: Any, frame: Any, value: Any) -> bool:
    """Return whether the followed frame is an asynchronous generator's that goes on later.

    pydevd takes it for returned. `value` is that of its `return` event.
    """
    if not is_stream(step, frame) or is_at_return(frame):
        return False
    return value is not None or not is_ended_by_exception(step, frame)


def is_stream(step: Any, frame: Any) -> bool:
    """Return whether the frame is the followed one, and an asynchronous generator's.

    `step` is a `ThreadStep`.
    """
    return bool(step.is_in(frame) and frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR)


def is_at_return(frame: Any) -> bool:
    """Return whether a frame's instruction is one that returns."""
    return dis.opname[int(frame.f_code.co_code[frame.f_lasti])] in RETURNS


def is_ended_by_exception(step: ThreadStep, frame: Any) -> bool:
    """Return whether an exception ends a frame, judged at the frame's `return` event with the value None.

    Python sends the same event where the frame returns None, or is a generator or coroutine that yields or awaits
    and goes on later: then the result is False. `step` is the step that follows this frame, and has noted its
    last line and exception, by which it is guessed where the instruction of a generator or coroutine does not
    tell.
    """
    code: Any = frame.f_code
    name: str = dis.opname[int(code.co_code[frame.f_lasti])]
    if frame.f_code.co_flags & RESUMED and name not in RAISES | RETURNS:
        # An exception that is raised again after a `with` block, say, is at the line that has raised it first.
        return bool(step.raises or step.line not in {0, frame.f_lineno})
    return name not in RETURNS


def forget_result(frame: Any, place: Any) -> None:
    """Remove each None from a frame's locals that pydevd shows as the result of a function that raised.

    `place` is the traceback entry of that function. Results are found by its name alone, so those of others
    with this name go, too. Nothing is removed if `place` is None, the frame shows no results, or none of these
    is None.
    """
    constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
    results: Any = frame.f_locals.get(constants.RETURN_VALUES_DICT)
    if place is None or not results:
        return
    for name in list(results):
        if results[name] is None and name.rpartition(".")[2] == place.tb_frame.f_code.co_name:
            del results[name]


RAISED = "dapeerRaised"
"""Key in the body of `stopped`: the exception that has ended the function in which the step began."""
WAIT = "pydevd:PyDB.do_wait_suspend"
SUSPENDED = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson.make_thread_suspend_single_notification"
STATE = "_pydevd_bundle.pydevd_additional_thread_info_regular:PyDBAdditionalThreadInfo"
UNWINDING = patching.Row(
    "raising-steps",
    "debugpy",
    "A step over or out of a call that raises may run on past the line that catches the exception.",
    replaces={
        WAIT: "self thread frame event arg exception_type=",
        SUSPENDED: "self py_db thread_id thread stop_reason",
    },
    uses=(
        f"{COMMANDS}:CMD_STEP_OVER",
        f"{COMMANDS}:CMD_STEP_OVER_MY_CODE",
        f"{COMMANDS}:CMD_STEP_RETURN",
        f"{COMMANDS}:CMD_STEP_INTO",
        f"{COMMANDS}:CMD_STEP_INTO_MY_CODE",
        f"{STATE}#pydev_state",
        f"{STATE}#pydev_step_cmd",
        f"{STATE}#pydev_step_stop",
        f"{STATE}#suspend_type",
        "_pydevd_bundle.pydevd_constants:RETURN_VALUES_DICT",
        "pydevd:PYDEVD_USE_SYS_MONITORING",
        "pydevd:PyDB.set_trace_for_frame_and_parents(self thread_ident frame **kwargs)",
        "pydevd:PyDB.apply_files_filter(self frame original_filename force_check_project_scope)",
        "pydevd:PyDB.get_file_type",
    ),
)
TOOLS = (4, 3)
"""Numbers in `sys.monitoring` of no kind of tool; collecting takes the first from the other end."""
NAME = "dapeer-steps"
UP = 2
"""Frames from a function that is called by a guard to the program's."""

here = threading.local()
"""`step`: the step that this thread makes; `error`: what ended the function where the last one began."""
current: Any = sys._getframe  # pyright: ignore[reportPrivateUsage]


class Tracer:
    """The trace function of the frame that a step follows, around pydevd's; up to Python 3.11.

    Python replaces a frame's trace function by what pydevd's returns, and when a generator or coroutine goes on. So this one, when it is
    deleted, puts a new one on the frame.
    """

    def __init__(self, step: Any, frame: Any) -> None:
        self._step = step
        self._frame_id = id(frame)
        self._inner = frame.f_trace

    @property
    def is_over(self) -> bool:
        """Whether its step has ended, so that only pydevd's tracer is left of it."""
        return self._step.frame is None

    def get_method_object(self) -> Any:
        """Return pydevd's trace function, as pydevd's own wrappers do."""
        wrapped = getattr(self._inner, "get_method_object", None)
        return self._inner if wrapped is None else wrapped()

    def __call__(self, frame: Any, event: str, argument: Any) -> Any:
        """Pass the event on to pydevd unless it would stop wrongly; follow the step where the frame ends.

        Return itself while the step follows the frame, else pydevd's trace function.
        """
        taker = self._taker(frame, argument) if event == "return" else None
        waits = taker is None and event == "return" and is_suspended(self._step, frame, argument)
        passes = taker is not None or waits or passes_by(self._step, frame, event, argument)
        if passes and event == "return":
            before = self._step.hide(all_of_it=True)
            self._pass_on(frame, event, argument)
            self._step.show(before)
            if not waits:
                go_on_after(self._step, frame, taker)
        elif not passes:
            self._pass_on(frame, event, argument)
        return self if self._step.frame is frame else self._inner

    def _taker(self, frame: Any, value: Any) -> Any:
        """Return the frame in which the step goes on, where pydevd would lose it; None: pydevd finds it.

        `value` is what the frame returns or yields.
        """
        taker = self._step.value_taker(frame, frame.f_lasti, value)
        if taker is None and is_stream(self._step, frame) and is_at_return(frame):
            return frame.f_back
        return taker

    def _pass_on(self, frame: Any, event: str, argument: Any) -> None:
        """Call pydevd's trace function, and keep the one that it returns."""
        if self._inner is not None:
            self._inner = self._inner(frame, event, argument) or self._inner

    def __del__(self) -> None:
        """Put a new tracer around what has replaced this one, while the step follows the frame."""
        trace_again(self._step, self._frame_id)


def go_on_after(step: Any, frame: Any, taker: Any) -> None:
    """Have a step go on in the caller of its ended frame, or in `taker`, unless the thread has stopped.

    `taker` is the frame that gets the value; None: the caller.
    """
    if step.is_in(frame):
        step.leave(frame, taker)
        follow(step)


def follow(step: Any) -> None:
    """Set a `Tracer` on the frame that a step follows, if it follows one."""
    if step.frame is not None:
        step.frame.f_trace = Tracer(step, step.frame)


def trace_again(step: Any, of: int) -> None:
    """Set a new `Tracer` on the frame that a step follows, if something has replaced the last one.

    `of` is the id of the frame of that one: nothing happens if the step follows another by now. `step` is a `ThreadStep`.
    """
    frame = step.frame
    if frame is None or id(frame) != of or isinstance(frame.f_trace, (Tracer, type(None))):
        return
    follow(step)


class Monitor:
    """Follows the frames of all threads' steps by `sys.monitoring`, since Python 3.12."""

    def __init__(self, patch: Any) -> None:
        of_python: Any = sys
        self._sys_monitoring: Any = of_python.monitoring
        self._lock = threading.RLock()
        self._steps: list[Any] = []
        self._tool: int | None = None
        events = self._sys_monitoring.events
        self._callbacks = {
            events.PY_UNWIND: patch.guard(self._on_unwind, nothing),
            events.EXCEPTION_HANDLED: patch.guard(self._on_exception_handled, nothing),
            events.LINE: patch.guard(self._on_line, nothing),
            events.PY_RETURN: patch.guard(self._step_to_taker, nothing),
            events.PY_YIELD: patch.guard(self._step_to_taker, nothing),
        }

    def begin(self, step: Any) -> None:
        """Follow a `ThreadStep`; the first one takes a number of `sys.monitoring` for this tool."""
        with self._lock:
            self._steps.append(step)
            if self._tool is None:
                self._begin()
            self._set_events(step, lines=False)

    def _begin(self) -> None:
        """Take a free number of `sys.monitoring`, and register the callbacks; do nothing if none is free.

        Events for the ends of frames by exceptions, and for handled ones, are switched on.
        """
        self._tool = next((each for each in TOOLS if not self._sys_monitoring.get_tool(each)), None)
        if self._tool is None:
            return
        self._sys_monitoring.use_tool_id(self._tool, NAME)
        for event, called in self._callbacks.items():
            self._sys_monitoring.register_callback(self._tool, event, called)
        events = self._sys_monitoring.events
        self._sys_monitoring.set_events(self._tool, events.PY_UNWIND | events.EXCEPTION_HANDLED)

    def end(self, step: Any) -> None:
        """Stop following a `ThreadStep`; it may have ended already.

        With the last one, the tool's number in `sys.monitoring` is free.
        """
        with self._lock:
            if step in self._steps:
                self._steps.remove(step)
            for code in step.events_by_code:
                self._set_local_events(code)
            if self._steps or self._tool is None:
                return
            self._sys_monitoring.set_events(self._tool, 0)
            for event in self._callbacks:
                self._sys_monitoring.register_callback(self._tool, event, None)
            self._sys_monitoring.free_tool_id(self._tool)
            self._tool = None

    def end_all(self) -> None:
        """Stop following all steps."""
        for step in list(self._steps):
            self.end(step)

    def _set_events(self, step: Any, *, lines: bool, values: bool = True) -> None:
        """Set which events `sys.monitoring` reports for the code that a step (`ThreadStep`) follows.

        That is the code in which pydevd must not stop for now (`hidden`), else the code whose values end the step
        (`value_giver_code`). With `lines` each line is reported; with `values` what the code returns and yields, if it is
        that of `value_giver_code`. What is False is switched off, unless the step of another thread needs it there.
        Nothing happens if the step has neither code, or if no number of `sys.monitoring` was free.
        """
        code = step.hidden[0] if step.hidden is not None else step.value_giver_code
        if self._tool is None or code is None:
            return
        events = self._sys_monitoring.events
        events_on = events.LINE if lines else 0
        events_on |= (
            (events.PY_RETURN | events.PY_YIELD) if values and code is step.value_giver_code else 0
        )
        step.events_by_code[code] = events_on
        self._set_local_events(code)

    def _set_local_events(self, code: Any) -> None:
        """Have `sys.monitoring` report what any of the followed steps needs of a code, and nothing else."""
        with self._lock:
            events_on = 0
            for each in self._steps:
                events_on |= each.events_by_code.get(code, 0)
            if self._tool is not None:
                self._sys_monitoring.set_local_events(self._tool, code, events_on)

    def _on_unwind(self, _code: Any, _place: int, error: Any) -> None:
        """Have the step of this thread go on in the caller, if the exception `error` ends its frame.

        It is the callback of `PY_UNWIND`. The frame that ends is the one that called this method; nothing happens if
        the step, if any, is not in that frame. In a task the step goes on in what awaits the task. Frames of the
        debugger are passed by; if no frame is left, the step is over. `error` is kept in the step.
        """
        step, frame = getattr(here, "step", None), current(UP)
        if step is not None and step.is_in(frame):
            self._set_events(step, lines=False)
            step.hidden, step.raised = None, error
            step.leave(frame)
            if step.frame is None:
                self.end(step)

    def _step_to_taker(self, _code: Any, place: int, value: Any) -> None:
        """Have this thread's step go on in the frame that takes the value which its frame returns or yields.

        The taker is the frame that awaits the task, or for which the generator yields. Nothing happens if there is
        none, the step does not follow this frame, or the step does not end with this frame's values. This method is
        the callback of `PY_RETURN` and `PY_YIELD`: `place` is the offset of the instruction, `value` what is returned
        or yielded. It must be called through `patch.guard`, since it takes the program's frame from `UP` frames
        above.
        """
        step, frame = getattr(here, "step", None), current(UP)
        if step is None or not step.is_in(frame):
            return
        taker = step.value_taker(frame, place, value)
        if taker is not None:
            self._set_events(step, lines=False, values=False)
            step.leave(frame, taker)
            self._set_events(step, lines=False)

    def _on_exception_handled(self, code: Any, place: int, _error: Any) -> None:
        """Have pydevd not stop at the line where an exception passes through the frame of this thread's step."""
        step, frame = getattr(here, "step", None), current(UP)
        if step is not None and step.is_at_lines_of(frame) and place in pass_through_offsets(code):
            step.hidden = (code, step.hide(all_of_it=False))
            self._set_events(step, lines=True)

    def _on_line(self, code: Any, _line: int) -> None:
        """Have pydevd stop at lines again, once the exception has passed through the frame.

        It is the callback of lines, which pydevd's tool gets after this one. It does nothing unless this thread's step
        is hidden from pydevd in the current frame, and the line is one at which the exception is no longer passed
        through.
        """
        step, frame = getattr(here, "step", None), current(UP)
        if step is None or step.hidden is None or step.frame is not frame:
            return
        if frame.f_lasti not in pass_through_offsets(code):
            self._set_events(step, lines=False)
            (_code, before), step.hidden = step.hidden, None
            step.show(before)


def nothing(*_given: Any) -> None:
    """Do nothing: what is called in place of a callback once the row is off."""


class Steps:
    """Begins and ends the steps of threads; each is kept by its own thread."""

    def __init__(self, monitor: Monitor | None) -> None:
        self._monitor = monitor

    def begin(self, debugger: Any, thread: Any, frame: Any) -> None:
        """Follow the step that pydevd makes with this thread, if it is one over or out of the frame.

        `debugger` is pydevd's `PyDB`, `thread` this thread, `frame` where it has been stopped. Nothing happens at any other resume.
        """
        step = ThreadStep(debugger, thread, frame)
        if not step.is_followed:
            return
        here.step = step
        if self._monitor is None:
            follow(step)
        else:
            self._monitor.begin(step)

    def end(self) -> None:
        """Stop following the step of this thread, and keep in `here.error` what ended its function.

        That is an exception or its type; None: nothing ended it so, or no step is followed.
        """
        step = here.__dict__.pop("step", None)
        here.error = getattr(step, "error", None)
        if step is None:
            return
        step.frame = None
        if self._monitor is not None:
            self._monitor.end(step)


@UNWINDING
def follow_exceptions(patch: Any) -> None:
    """Patch pydevd so that `stopped` after a step names the exception that ended the step's function.

    Steps over and out of a function are followed for this, since Python 3.12 by `sys.monitoring`. The exception is
    the text under the key `RAISED` in the body of the event, which is left out if none ended the function. `patch`
    is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    pydevd: Any = importlib.import_module("pydevd")
    monitor = Monitor(patch) if pydevd.PYDEVD_USE_SYS_MONITORING else None
    if monitor is not None:
        patch.and_undo(monitor.end_all)
    followed = Steps(monitor)

    @patch.replace(WAIT)
    def do_wait_suspend(
        stock: Any, self: Any, thread: Any, frame: Any, *rest: Any, **named: Any
    ) -> Any:
        followed.end()
        result = stock(self, thread, frame, *rest, **named)
        followed.end()
        followed.begin(self, thread, frame)
        return result

    @patch.replace(SUSPENDED)
    def make_suspended(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's event `stopped`, with the exception under the key `RAISED` if there is one."""
        command = stock(*given, **named)
        error, here.error = getattr(here, "error", None), None
        if error is None:
            return command
        made = isinstance(error, BaseException)
        shown = cells.error_cell(error)[len(cells.FAILED) :] if made else cells.name_of(error)
        body = {**command.as_dict["body"], RAISED: shown}
        return type(command)(command.id, 0, {**command.as_dict, "body": body}, is_json=True)
