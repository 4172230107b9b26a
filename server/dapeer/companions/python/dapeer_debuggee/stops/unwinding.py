"""Has a step over or out of a call that raises arrive where the exception is caught.

One out of a task or generator arrives in what takes its value.

pydevd follows a frame until it returns. Of a frame that an exception ends it does not hear from Python 3.12 on; before that it takes a generator
or coroutine for suspended, and another function for returned with None. So the step goes on in the caller, as pydevd's step over there, until a
line catches. Where the caller is a library's, it is a step into the next line of the program.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

from .. import patching
from ..values import cells
from . import steps

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
        f"{steps.COMMANDS}:CMD_STEP_OVER",
        f"{steps.COMMANDS}:CMD_STEP_OVER_MY_CODE",
        f"{steps.COMMANDS}:CMD_STEP_RETURN",
        f"{steps.COMMANDS}:CMD_STEP_INTO",
        f"{steps.COMMANDS}:CMD_STEP_INTO_MY_CODE",
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
        self._of = id(frame)
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
        waits = (
            taker is None and event == "return" and steps.is_suspended(self._step, frame, argument)
        )
        passes = taker is not None or waits or steps.passes_by(self._step, frame, event, argument)
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
        taker = self._step.takes(frame, frame.f_lasti, value)
        if taker is None and steps.is_stream(self._step, frame) and steps.returns(frame):
            return frame.f_back
        return taker

    def _pass_on(self, frame: Any, event: str, argument: Any) -> None:
        """Call pydevd's trace function, and keep the one that it returns."""
        if self._inner is not None:
            self._inner = self._inner(frame, event, argument) or self._inner

    def __del__(self) -> None:
        """Put a new tracer around what has replaced this one, while the step follows the frame."""
        trace_again(self._step, self._of)


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

    `of` is the id of the frame of that one: nothing happens if the step follows another by now. `step` is a `steps.ThreadStep`.
    """
    frame = step.frame
    if frame is None or id(frame) != of or isinstance(frame.f_trace, (Tracer, type(None))):
        return
    follow(step)


class Monitor:
    """Follows the frames of all threads' steps by `sys.monitoring`, since Python 3.12."""

    def __init__(self, row: Any) -> None:
        of_python: Any = sys
        self._python: Any = of_python.monitoring
        self._lock = threading.Lock()
        self._steps: list[Any] = []
        self._tool: int | None = None
        events = self._python.events
        self._callbacks = {
            events.PY_UNWIND: row.guard(self._unwound, nothing),
            events.EXCEPTION_HANDLED: row.guard(self._handled, nothing),
            events.LINE: row.guard(self._passed, nothing),
            events.PY_RETURN: row.guard(self._gave, nothing),
            events.PY_YIELD: row.guard(self._gave, nothing),
        }

    def begin(self, step: Any) -> None:
        """Follow a `steps.ThreadStep`; the first one takes a number of `sys.monitoring` for this tool."""
        with self._lock:
            self._steps.append(step)
            if self._tool is None:
                self._begin()
            self._look_at(step, lines=False)

    def _begin(self) -> None:
        """Take a free number of `sys.monitoring`, and register the callbacks; nothing if none is free."""
        self._tool = next((each for each in TOOLS if not self._python.get_tool(each)), None)
        if self._tool is None:
            return
        self._python.use_tool_id(self._tool, NAME)
        for event, called in self._callbacks.items():
            self._python.register_callback(self._tool, event, called)
        events = self._python.events
        self._python.set_events(self._tool, events.PY_UNWIND | events.EXCEPTION_HANDLED)

    def end(self, step: Any) -> None:
        """Stop following a `steps.ThreadStep`.

        With the last one, the tool's number in `sys.monitoring` is free.
        """
        with self._lock:
            self._look_at(step, lines=False, values=False)
            if step in self._steps:
                self._steps.remove(step)
            if self._steps or self._tool is None:
                return
            self._python.set_events(self._tool, 0)
            for event in self._callbacks:
                self._python.register_callback(self._tool, event, None)
            self._python.free_tool_id(self._tool)
            self._tool = None

    def end_all(self) -> None:
        """Stop following all steps."""
        for step in list(self._steps):
            self.end(step)

    def _look_at(self, step: Any, *, lines: bool, values: bool = True) -> None:
        """Switch the events of `sys.monitoring` for the code of a step's frame on or off.

        `lines`: each line is reported; `values`: what it returns and yields, if another frame gets that. `step` is a `steps.ThreadStep`.
        """
        code = step.hidden[0] if step.hidden is not None else step.gives
        if self._tool is None or code is None:
            return
        events = self._python.events
        events_on = events.LINE if lines else 0
        events_on |= (events.PY_RETURN | events.PY_YIELD) if values and code is step.gives else 0
        self._python.set_local_events(self._tool, code, events_on)

    def _unwound(self, _code: Any, _place: int, error: Any) -> None:
        """Have the step of this thread go on in the caller, if the exception `error` ends its frame."""
        step, frame = getattr(here, "step", None), current(UP)
        if step is not None and step.is_in(frame):
            self._look_at(step, lines=False)
            step.hidden, step.raised = None, error
            step.leave(frame)
            if step.frame is None:
                self.end(step)

    def _gave(self, _code: Any, place: int, value: Any) -> None:
        """Have the step go on in what takes the value that its frame returns or yields.

        The frame's task is awaited by another one, or the frame is a generator with a user.
        """
        step, frame = getattr(here, "step", None), current(UP)
        if step is None or not step.is_in(frame):
            return
        taker = step.takes(frame, place, value)
        if taker is not None:
            self._look_at(step, lines=False, values=False)
            step.leave(frame, taker)
            self._look_at(step, lines=False)

    def _handled(self, code: Any, place: int, _error: Any) -> None:
        """Have pydevd not stop at the line where an exception passes through the frame of this thread's step."""
        step, frame = getattr(here, "step", None), current(UP)
        if (
            step is not None
            and step.is_at_lines_of(frame)
            and place in steps.pass_through_offsets(code)
        ):
            step.hidden = (code, step.hide(all_of_it=False))
            self._look_at(step, lines=True)

    def _passed(self, code: Any, _line: int) -> None:
        """Have pydevd stop at lines again, once the exception has passed through the frame.

        It is the callback of lines, which pydevd's tool gets after this one.
        """
        step, frame = getattr(here, "step", None), current(UP)
        if step is None or step.hidden is None or step.frame is not frame:
            return
        if frame.f_lasti not in steps.pass_through_offsets(code):
            self._look_at(step, lines=False)
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

        `debugger` is pydevd's `PyDB`.
        """
        step = steps.ThreadStep(debugger, thread, frame)
        if not step.is_followed:
            return
        here.step = step
        if self._monitor is None:
            follow(step)
        else:
            self._monitor.begin(step)

    def end(self) -> None:
        """Stop following the step of this thread, and keep in `here.error` what ended its function."""
        step = here.__dict__.pop("step", None)
        here.error = getattr(step, "error", None)
        if step is None:
            return
        step.frame = None
        if self._monitor is not None:
            self._monitor.end(step)


@UNWINDING
def follow_exceptions(row: Any) -> None:
    """Patch pydevd so that steps are followed, and `stopped` names the exception that ended the function.

    `row` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    pydevd: Any = importlib.import_module("pydevd")
    monitor = Monitor(row) if pydevd.PYDEVD_USE_SYS_MONITORING else None
    if monitor is not None:
        row.and_undo(monitor.end_all)
    followed = Steps(monitor)

    @row.replace(WAIT)
    def do_wait_suspend(
        stock: Any, self: Any, thread: Any, frame: Any, *rest: Any, **named: Any
    ) -> Any:
        followed.end()
        result = stock(self, thread, frame, *rest, **named)
        followed.end()
        followed.begin(self, thread, frame)
        return result

    @row.replace(SUSPENDED)
    def make_suspended(stock: Any, *given: Any, **named: Any) -> Any:
        """Return pydevd's event `stopped`, with the exception under the key `RAISED` if there is one."""
        command = stock(*given, **named)
        error, here.error = getattr(here, "error", None), None
        if error is None:
            return command
        made = isinstance(error, BaseException)
        shown = cells.failed(error)[len(cells.FAILED) :] if made else cells.name_of(error)
        body = {**command.as_dict["body"], RAISED: shown}
        return type(command)(command.id, 0, {**command.as_dict, "body": body}, is_json=True)
