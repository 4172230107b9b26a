"""Evaluations: cut off in time, with what they print; names are completed without reading values."""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import io
import signal
import sys
import threading
import time
import types
from collections.abc import Generator
from typing import Any

from .. import patching
from . import deadline

# A limit of time, which ends the evaluation and leaves the program alone.
#
# pydevd has one, PYDEVD_INTERRUPT_THREAD_TIMEOUT, which sends SIGINT to the process: a program with a handler for that, such as each of
# asyncio, takes it for Ctrl+C and ends.

SECONDS_TO_EVALUATE = 5.0
"""An evaluation may take so long."""
AWAIT_SECONDS = 4.5
"""An `await` may take so long: pydevd runs it in another thread, for which the evaluation waits."""
STOPPED = "it waits for the program's event loop, which is stopped"
NUDGE: Any = getattr(signal, "SIGURG", None)
"""Ends a call of C code in the main thread; unhandled, it does nothing in Python or the system."""


class EvaluationTimeout(KeyboardInterrupt):
    """An evaluation was cut off. pydevd takes a KeyboardInterrupt for the end of an evaluation."""

    def __str__(self) -> str:
        return f"cut off after {SECONDS_TO_EVALUATE:g} s"


class Limit:
    """Cuts off what the thread that creates it evaluates."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._is_over = self._has_cut = self._has_arrived = self._needs_nudge = False

    def cut(self) -> None:
        """Have the thread that made this object raise `EvaluationTimeout`, unless its evaluation is over.

        Another thread calls this, and does not wait for the exception. Where `nudged` handles the signal, in the
        main thread, the signal raises it, and ends a call of C code, too; elsewhere it comes after such a call.
        """
        with self._lock:
            if self._is_over:
                return
            self._has_cut = True
            if self._needs_nudge and signal.getsignal(NUDGE) == self._nudge:
                signal.pthread_kill(self._thread, NUDGE)
            else:
                self._needs_nudge = False
                deadline.raise_in(self._thread, EvaluationTimeout)

    @contextlib.contextmanager
    def nudged(self) -> Generator[None, None, None]:
        """Handle the signal `NUDGE` in the body, if this is the main thread and the signal is free.

        The signal is free if the program neither handles nor blocks it. The handler raises `EvaluationTimeout` in the
        main thread, once `cut` has sent the signal; so a call of C code ends, too. Afterwards the signal has its
        default action again, unless the body has set another handler. In another thread, or if the signal is not free,
        the body just runs.
        """
        if not is_free(NUDGE):
            yield
            return
        signal.signal(NUDGE, self._nudge)
        self._needs_nudge = True
        try:
            yield
        finally:
            if signal.getsignal(NUDGE) == self._nudge:
                signal.signal(NUDGE, signal.SIG_DFL)

    def _nudge(self, *_: Any) -> None:
        """Raise `EvaluationTimeout` once, if the evaluation was cut off: the handler of the signal."""
        if self._has_cut and not self._has_arrived:
            self._has_arrived = True
            raise EvaluationTimeout

    def end(self) -> None:
        """Record that the evaluation is over: from now on `cut` raises nothing in this thread.

        The thread that made this object calls this. If the evaluation was cut off and its `EvaluationTimeout` is still
        to be raised, this waits for the exception, for 1 s at most, and drops it, so none leaves this function.
        """
        with contextlib.suppress(EvaluationTimeout):
            with self._lock:
                self._is_over = True
            if self._has_cut and self._needs_nudge:
                latest = time.monotonic() + 1
                while not self._has_arrived and time.monotonic() < latest:
                    pass
            elif self._has_cut:
                for _ in range(deadline.JUMPS_PER_CHECK):
                    pass


def is_free(number: Any) -> bool:
    """Return whether this is the main thread, and the program leaves the signal `number` alone.

    That is, the program neither handles nor blocks it. It is False for None.
    """
    if number is None or threading.current_thread() is not threading.main_thread():
        return False
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return number not in blocked and signal.getsignal(number) is signal.SIG_DFL


RUN = "_pydevd_bundle.pydevd_vars:_run_with_interrupt_thread"
FAILED = "_pydevd_bundle.pydevd_vars:ExceptionOnEvaluate"
AWAIT = "_pydevd_bundle.pydevd_vars:_EvalAwaitInNewEventLoop._async_func"
LIMITS = patching.Row(
    "evaluation-limits",
    "debugpy",
    "An evaluation that never ends blocks its thread.",
    replaces={RUN: "original_func py_db curr_thread frame expression is_exec", AWAIT: "self"},
    uses=(FAILED,),
)


@LIMITS
def limit_evaluations(patch: Any) -> None:
    """Patch pydevd so that evaluations which take longer than `SECONDS_TO_EVALUATE` are cut off.

    An expression that is cut off gives pydevd's object for a failure; from statements `EvaluationTimeout` leaves
    pydevd's function. An `await` in an evaluation ends after `AWAIT_SECONDS`. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced here.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    failed: Any = importlib.import_module("_pydevd_bundle.pydevd_vars").ExceptionOnEvaluate

    @patch.replace(RUN)
    def run(
        stock: Any,
        original_func: Any,
        py_db: Any,
        curr_thread: Any,
        frame: Any,
        expression: Any,
        is_exec: bool,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Evaluate as pydevd does, and return its object for a failure if that is cut off.

        Raises:
            EvaluationTimeout: Statements, not an expression (`is_exec`), were cut off.
        """
        given = (original_func, py_db, curr_thread, frame, expression, is_exec, *rest)
        own = Limit()
        try:
            with own.nudged(), py_db.timeout_tracker.call_on_timeout(SECONDS_TO_EVALUATE, own.cut):
                try:
                    return stock(*given, **named)
                finally:
                    own.end()
        except EvaluationTimeout as error:
            if is_exec:
                raise
            return failed(error, EvaluationTimeout, error.__traceback__)

    @patch.replace(AWAIT)
    def awaited(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        return await_in_time(stock(self, *rest, **named))


@types.coroutine
def refuse_other_loops(coroutine: Any, loop: Any) -> Generator[Any, Any, Any]:
    """Run a coroutine, and raise in it where it waits for a future of another event loop than `loop`.

    It is awaited in `loop`, returns the coroutine's result and raises what that raises. What is raised in it is a `RuntimeError`. asyncio
    raises there, too, but leaves the future marked as awaited, and whoever awaits it in C code next fails.
    """
    go, given = coroutine.send, None
    while True:
        try:
            future = go(given)
        except StopIteration as done:
            return done.value
        if getattr(future, "_asyncio_future_blocking", False) and future.get_loop() is not loop:
            future._asyncio_future_blocking = False
            go, given = coroutine.throw, RuntimeError(STOPPED)
            continue
        try:
            go, given = coroutine.send, (yield future)
        except BaseException as error:
            go, given = coroutine.throw, error


async def await_in_time(coroutine: Any) -> Any:
    """Await a coroutine in the running event loop, for `AWAIT_SECONDS` at most, and return its result.

    After that time the coroutine is told to cancel, and its end is not awaited. A `RuntimeError` is raised in the
    coroutine where it waits for a future of another event loop. At the end all locks, events and queues of asyncio
    that are bound to the running loop are freed, so the loop must be one that was made for this coroutine alone.

    Raises:
        TimeoutError: The coroutine was not done by then.
        BaseException: What the coroutine raises.
    """
    asyncio: Any = importlib.import_module("asyncio")
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(refuse_other_loops(coroutine, loop))
    await asyncio.wait({task}, timeout=AWAIT_SECONDS)
    unbind(loop)
    if not task.done():
        task.cancel()
        raise TimeoutError(f"not done after {AWAIT_SECONDS:g} s. Perhaps {STOPPED}")
    return task.result()


def unbind(loop: Any) -> None:
    """Free the locks, events and queues that are bound to an event loop, so that another can use them.

    Since Python 3.10 each of them serves its first loop only.
    """
    bound: Any = getattr(sys.modules.get("asyncio.mixins"), "_LoopBoundMixin", None)
    for each in gc.get_objects() if bound else ():
        if issubclass(type(each), bound) and each.__dict__.get("_loop") is loop:
            each.__dict__["_loop"] = None


# What an evaluation prints is in its result. pydevd sends it as output of the program.

captured = threading.local()
"""`text`: what the current evaluation of this thread has printed."""


def take_printed() -> str:
    """Return what this thread's evaluation has printed up to now, and forget it; empty outside of one.

    An evaluation is the body of `capture_printed`.
    """
    text: Any = getattr(captured, "text", None)
    if text is None:
        return ""
    printed = text.getvalue()
    text.seek(0)
    text.truncate()
    return printed


class StreamOfThread:
    """Stands for `sys.stdout` or `sys.stderr`; what a thread prints that evaluates goes into its text.

    What other threads print goes to the stream that it stands for, as without an evaluation.
    """

    def __init__(self, stream: Any) -> None:
        """Stand for `stream`, which may be None: then other threads print nowhere."""
        self._stream = stream

    def _target(self) -> Any:
        text: Any = getattr(captured, "text", None)
        return self._stream if text is None else text

    def write(self, text: str) -> int:
        """Write as the stream does, or to the text of this thread's evaluation."""
        target = self._target()
        return len(text) if target is None else target.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target(), name)


lock = threading.Lock()
redirected = contextlib.ExitStack()
"""Puts back both streams."""
evaluations: list[Any] = []
"""The texts of the evaluations that run: while there are any, the streams are replaced."""


@contextlib.contextmanager
def capture_printed() -> Generator[None]:
    """Capture what this thread prints to the standard streams in the body; `take_printed` returns it.

    Other threads print as ever, and may evaluate at the same time. What is not taken by the end is lost.
    """
    outer = getattr(captured, "text", None)
    text = captured.text = io.StringIO()
    with lock:
        if not evaluations:
            streams: Any = StreamOfThread(sys.stdout), StreamOfThread(sys.stderr)
            redirected.enter_context(contextlib.redirect_stdout(streams[0]))
            redirected.enter_context(contextlib.redirect_stderr(streams[1]))
        evaluations.append(text)
    try:
        yield
    finally:
        # A stop within an evaluation may bring another one.
        captured.text = outer
        with lock:
            evaluations.remove(text)
            if not evaluations:
                redirected.close()


ANSWER = "_pydevd_bundle.pydevd_comm:pydevd_schema.EvaluateResponseBody.__init__"
RESPONSE = "_pydevd_bundle.pydevd_comm:_evaluate_response"
EVALUATE = "_pydevd_bundle.pydevd_api:internal_evaluate_expression_json"
PRINTED = patching.Row(
    "evaluation-prints",
    "debugpy",
    "What an evaluated expression prints is not in its result, but in the output of the program.",
    replaces={
        ANSWER: "self result variablesReference type= presentationHint= namedVariables= indexedVariables= "
        "memoryReference= update_ids_from_dap= **kwargs",
        RESPONSE: "py_db request result error_message=",
        EVALUATE: "py_db request thread_id",
    },
)


@PRINTED
def add_printed(patch: Any) -> None:
    """Patch pydevd so that what an evaluation in a REPL prints is put before its result or error.

    What is printed so is no output of the program then. Evaluations in another context than `repl` print as
    before. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo`
    puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(ANSWER)
    def init(stock: Any, self: Any, result: str, *rest: Any, **named: Any) -> None:
        stock(self, take_printed() + result, *rest, **named)

    @patch.replace(RESPONSE)
    def response(
        stock: Any,
        py_db: Any,
        request: Any,
        result: Any,
        error_message: str = "",
        *rest: Any,
        **named: Any,
    ) -> Any:
        if error_message:
            error_message = take_printed() + error_message
        return stock(py_db, request, result, error_message, *rest, **named)

    @patch.replace(EVALUATE)
    def evaluate(stock: Any, py_db: Any, request: Any, *rest: Any, **named: Any) -> Any:
        with capture_printed() if request.arguments.context == "repl" else contextlib.nullcontext():
            return stock(py_db, request, *rest, **named)


COMPLETE = "_pydev_bundle._pydev_completer:generate_completions"
TIPS = "_pydev_bundle._pydev_imports_tipper"
NAMES = patching.Row(
    "completions-of-names",
    "debugpy",
    "Completing a name asks the value of each name that the frame knows for its class and its text, which may run code of the program.",
    replaces={COMPLETE: "frame act_tok"},
    uses=[f"{TIPS}:TYPE_{each}" for each in ("IMPORT", "CLASS", "FUNCTION", "ATTR")],
)


@NAMES
def complete_names(patch: Any) -> None:
    """Patch pydevd so that completing names of a frame runs no code of their values.

    All names of the frame, its globals and the built-in ones are then offered. pydevd's own function
    still completes attributes, and names without a frame. `patch` is this patch's `patching.Row`: it
    calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    tips: Any = importlib.import_module(TIPS)

    def kind(value: Any) -> str:
        """Return pydevd's number for the kind of a value: function, module, class or other."""
        real: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
        if issubclass(real, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
            return tips.TYPE_FUNCTION
        if issubclass(real, types.ModuleType):
            return tips.TYPE_IMPORT
        return tips.TYPE_CLASS if issubclass(real, type) else tips.TYPE_ATTR

    @patch.replace(COMPLETE)
    def complete(stock: Any, frame: Any, act_tok: str, *rest: Any, **named: Any) -> Any:
        """Return a tuple (name, "", "", kind) for each name of a frame, its globals and the built-in ones.

        pydevd's own function (`stock`) answers without a frame, and completes attributes (`act_tok` is what is before the dot).
        """
        if frame is None or act_tok:
            return stock(frame, act_tok, *rest, **named)
        names: dict[str, Any] = {**vars(builtins), **frame.f_globals, **frame.f_locals}
        return [(name, "", "", kind(value)) for name, value in names.items()]
