"""Evaluates conditions, hit conditions and log messages, and reports what they raise with a count.

pydevd ignores a NameError in a condition, and prints a traceback at each hit for any other error. It sends log
messages in another stream than the program's output, so their order is lost, and unsent ones are lost when the
program ends. Here log messages are printed to the program's own stdout.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from types import CodeType
from typing import Any

from .. import patching

# A log message is split in the program, and where it is checked before that runs.


def parts_of(log_message: str) -> list[tuple[str, str]]:
    """Split a log message into literal texts, each with the expression after it, and return these pairs.

    The last pair has an empty expression. An expression is what stands between `{` and its `}`, without spaces
    around, and may be empty; braces in its strings count as well. A `{` without its `}` makes the rest literal.

    >>> parts_of("a={a}, {{1: 2}} {b")
    [('a=', 'a'), (', ', '{1: 2}'), (' {b', '')]
    """
    parts: list[tuple[str, str]] = []
    depth, text, start = 0, 0, 0
    for place, character in enumerate(log_message):
        if character == "{":
            depth += 1
            start = place if depth == 1 else start
        elif character == "}" and depth:
            depth -= 1
            if not depth:
                parts.append((log_message[text:start], log_message[start + 1 : place].strip()))
                text = place + 1
    return [*parts, (log_message[text:], "")]


EXPRESSION = "<breakpoint>"
"""The file of the code of an expression."""
EVENT = "breakpointFailed"
"""The event that reports an expression of a breakpoint that failed."""
MARK = "\0dapeer"
"""Placeholder for a log message until its breakpoint's conditions have been checked."""
SECONDS_TO_SEND_ALL = 10.0
"""Timeout for an ending program to send its last events, in seconds."""


class FailedEvaluations:
    """Counts failed evaluations of breakpoints, and reports them by events, ever less often."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, int, str, str, str], int] = {}
        self._reported_counts: dict[tuple[str, int, str, str, str], int] = {}

    def add(self, place: tuple[str, int], kind: str, text: str, error: BaseException | str) -> None:
        """Count a failure.

        Report all unreported ones if this is the first, second, fourth, eighth … of its kind. `place` is file and line; `kind` is what
        failed, such as `condition` or `log message`; `text` is the expression.
        """
        key = (*place, kind, text, error if isinstance(error, str) else error_text(error))
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + 1
        if count & (count - 1) == 0:
            self.report()

    def report(self, debugger: Any = None) -> None:
        """Queue an event of ours for each failure whose count has changed since the last report.

        Its body has `path`, `line`, `kind` (such as `condition`), `expression`, `error` and `count`, all failures there so far. `debugger`
        is pydevd's `PyDB`; None: the present one. Counts are marked as reported also where no client is connected.
        """
        with self._lock:
            news = {
                key: n for key, n in self._counts.items() if self._reported_counts.get(key) != n
            }
            self._reported_counts.update(news)
        for (path, line, kind, text, error), count in news.items():
            body = {
                "path": path, "line": line, "kind": kind, "expression": text, "error": error,
                "count": count,
            }  # fmt: skip
            send(body, debugger)

    def forget(self) -> None:
        """Set all counts to zero: in a forked process, earlier failures are its parent's."""
        self._lock = threading.Lock()
        self._counts.clear()
        self._reported_counts.clear()


failures = FailedEvaluations()
OURS = ("_pydevd", "pydevd", "dapeer_debuggee")
"""How modules begin whose tracers are the debugger's."""
REPLACED = (
    "sys.settrace or coverage took the debugger's place; Python 3.12 and later has room for both"
)
waiting = threading.local()
"""`log`: the breakpoint that this thread has hit and whose message is due, and its frame."""


def error_text(error: BaseException) -> str:
    """Return type and message of an exception in one line; the type alone if making the message fails."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{type(error).__name__}: {text}".partition("\n")[0]
    except Exception:
        return type(error).__name__


def send(body: dict[str, Any], debugger: Any = None, event: str = EVENT) -> bool:
    """Queue an event of ours for the client; return False, and drop it, if no client is connected.

    `event` is the event's name, `body` its body, which goes into JSON; `debugger` is pydevd's `PyDB`, None: the present one. It does not
    wait until it is sent.
    """
    debugger = debugger or importlib.import_module("pydevd").get_global_debugger()
    if debugger is None or debugger.writer is None:
        return False
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand
    message = {"type": "event", "event": event, "body": body}
    debugger.writer.add_command(command(0, 0, message, is_json=True))
    return True


def send_row_off_event(body: dict[str, Any]) -> bool:
    """Send the event that names a row of the register that is off; return whether a client is connected."""
    return send(body, event=patching.EVENT)


def report_tracer() -> None:
    """Record as a failure that the program has replaced the debugger's tracer in this thread.

    The launcher calls it at the end of a program's first thread. Until Python 3.11 only one function can trace a
    thread: the program has called `sys.settrace`, with another function or None. Nothing is recorded from Python
    3.12 on, if the debugger's own function still traces, or if the program ran untraced anyway.
    """
    untraced: Any = sys.modules.get("dapeer_debuggee.process.untraced")
    if untraced is not None and not untraced.tracing.is_on:
        return
    tracer = sys.gettrace()
    kind: Any = getattr(tracer, "__module__", None) or type(tracer).__module__
    if sys.version_info < (3, 12) and not str(kind).startswith(OURS):
        failures.add(("", 0), "tracing", "", REPLACED)


@functools.lru_cache(maxsize=1000)
def compile_expression(expression: str) -> CodeType:
    """Return the code of an expression, cached, since it is evaluated at each hit.

    Raises:
        SyntaxError: It does not parse.
    """
    return compile(expression.strip(), EXPRESSION, "eval")


def evaluate_in_frame(expression: str, frame: Any) -> Any:
    """Return the value of an expression in a frame; what it raises is raised."""
    return eval(compile_expression(expression), frame.f_globals, frame.f_locals)


def place_of(breakpoint_: Any, frame: Any) -> tuple[str, int]:
    """Return the file and line of pydevd's breakpoint, in whose code a frame is."""
    return frame.f_code.co_filename, getattr(breakpoint_, "line", None) or frame.f_lineno


def conditions_hold(breakpoint_: Any, frame: Any) -> bool:
    """Return whether the condition of a breakpoint is true in a frame, and then its hit condition.

    Both run code of the program; one that is missing is true. A hit is counted on pydevd's breakpoint only
    where the condition is true and there is a hit condition, an expression in which `@HIT@` stands for the
    count. One that raises an `Exception` counts as false, and is reported as a failure. `breakpoint_` is
    pydevd's `LineBreakpoint` or `FunctionBreakpoint`.
    """
    place = place_of(breakpoint_, frame)
    if breakpoint_.condition:
        try:
            if not evaluate_in_frame(breakpoint_.condition, frame):
                return False
        except Exception as error:
            failures.add(place, "condition", breakpoint_.condition, error)
            return False
    hits = getattr(breakpoint_, "hit_condition", None)
    if not hits:
        return True
    with breakpoint_._hit_condition_lock:
        breakpoint_._hit_count += 1
        expression = hits.replace("@HIT@", str(breakpoint_._hit_count))
    try:
        return bool(eval(expression, frame.f_globals, frame.f_locals))
    except Exception as error:
        failures.add(place, "hit condition", hits.replace("@HIT@", "").strip(), error)
        return False


def evaluate_log_message(breakpoint_: Any, frame: Any) -> str:
    """Return the log message of a breakpoint; an expression that raises is replaced by its error.

    The expressions of the message are evaluated in `frame` and put in by `str`, so code of the program
    runs. An error stands in braces, `{expression: error}`, and is counted as a failure, which is reported
    to the client now and then. `breakpoint_` is pydevd's `LineBreakpoint` or `FunctionBreakpoint`, whose
    `expression` is a `Template`.

    Raises:
        BaseException: An expression raises one that is no `Exception`, such as `SystemExit`.
    """
    parts: list[str] = []
    for text, expression in breakpoint_.expression.parts:
        parts.append(text)
        if not expression:
            continue
        try:
            parts.append(str(evaluate_in_frame(expression, frame)))
        except Exception as error:
            failures.add(place_of(breakpoint_, frame), "log message", expression, error)
            parts.append(f"{{{expression}: {error_text(error)}}}")
    return "".join(parts)


class Template(str):
    """The expression that pydevd makes of a log message, with the parts of that message."""

    __slots__ = ("parts",)
    parts: list[tuple[str, str]]
    """Pairs of a literal text and the expression after it, which may be empty."""


class Printer:
    """Prints to the program's original stdout, even if the program or a test runner replaces `sys.stdout`."""

    def __init__(self) -> None:
        self._file = os.dup(1)
        self._same = self._identity()

    def _identity(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_dev, status.st_ino

    def try_to_print(self, text: str) -> bool:
        """Print a text to the stdout with which the program began; return False if that is closed or fails.

        What the program has printed is flushed before. The text is written as it is, without a line end, and may be
        written in part where it fails. It raises no `Exception`.
        """
        try:
            # The program may have closed all files and opened another one with this number.
            if self._identity() != self._same:
                return False
            if sys.__stdout__ is not None:
                sys.__stdout__.flush()
            data = text.encode("utf-8", "backslashreplace")
            while data:
                data = data[os.write(self._file, data) :]
        except Exception:  # closed, full, or just being written to by this thread
            return False
        return True
