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
import time
from types import CodeType
from typing import Any

EVENT = "breakpointFailed"
"""The event that reports an expression of a breakpoint that failed."""
MARK = "\0dapeer"
"""Placeholder for a log message until its breakpoint's conditions have been checked."""
SECONDS_TO_SEND_ALL = 10.0
"""Timeout for an ending program to send its last events, in seconds."""


class Failures:
    """Counts failed evaluations. Reports the first at once, later ones ever less often, at each stop and at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, int, str, str, str], int] = {}
        self._told: dict[tuple[str, int, str, str, str], int] = {}

    def add(self, place: tuple[str, int], kind: str, text: str, error: BaseException | str) -> None:
        """Count a failure; `kind` is one of condition, hit condition, log message."""
        key = (*place, kind, text, error if isinstance(error, str) else described(error))
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + 1
        if count & (count - 1) == 0:
            self.tell()

    def tell(self, debugger: Any = None) -> None:
        """Report unreported failures through a debugger, by default the current one."""
        with self._lock:
            news = {key: n for key, n in self._counts.items() if self._told.get(key) != n}
            self._told.update(news)
        for (path, line, kind, text, error), count in news.items():
            body = {
                "path": path, "line": line, "kind": kind, "expression": text, "error": error,
                "count": count,
            }  # fmt: skip
            send(body, debugger)

    def forget(self) -> None:
        """Start from zero in a forked process: earlier failures are its parent's."""
        self._lock = threading.Lock()
        self._counts.clear()
        self._told.clear()


failures = Failures()
waiting = threading.local()
"""`log`: the breakpoint that this thread has hit and whose message is due, and its frame."""


def described(error: BaseException) -> str:
    """Return type and message of an exception in one line."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{type(error).__name__}: {text}".partition("\n")[0]
    except Exception:
        return type(error).__name__


def send(body: dict[str, Any], debugger: Any = None) -> None:
    """Send the event."""
    debugger = debugger or importlib.import_module("pydevd").get_global_debugger()
    if debugger is None or debugger.writer is None:
        return
    command: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NetCommand
    event = {"type": "event", "event": EVENT, "body": body}
    debugger.writer.add_command(command(0, 0, event, is_json=True))


@functools.lru_cache(maxsize=1000)
def compiled(expression: str) -> CodeType:
    """Compile an expression; cached, since it is evaluated at each hit."""
    return compile(expression.strip(), "<breakpoint>", "eval")


def evaluated(expression: str, frame: Any) -> Any:
    """Evaluate an expression in a frame."""
    return eval(compiled(expression), frame.f_globals, frame.f_locals)


def place_of(breakpoint_: Any, frame: Any) -> tuple[str, int]:
    """Return the file and line of a breakpoint."""
    return frame.f_code.co_filename, getattr(breakpoint_, "line", None) or frame.f_lineno


def holds(breakpoint_: Any, frame: Any) -> bool:
    """Whether a breakpoint's condition is true, then its hit condition. As DAP says, only hits with a true condition count."""
    place = place_of(breakpoint_, frame)
    if breakpoint_.condition:
        try:
            if not evaluated(breakpoint_.condition, frame):
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


def message(breakpoint_: Any, frame: Any) -> str:
    """Return the log message of a breakpoint; an expression that raises is replaced by its error."""
    parts: list[str] = []
    for text, expression in breakpoint_.expression.parts:
        parts.append(text)
        if not expression:
            continue
        try:
            parts.append(str(evaluated(expression, frame)))
        except Exception as error:
            failures.add(place_of(breakpoint_, frame), "log message", expression, error)
            parts.append(f"{{{expression}: {described(error)}}}")
    return "".join(parts)


class Template(str):
    """The expression that pydevd makes of a log message, with the parts of that message."""

    __slots__ = ("parts",)
    parts: list[tuple[str, str]]
    """Pairs of a literal text and the expression after it, which may be empty."""


def parts_of(log_message: str) -> list[tuple[str, str]]:
    """Split a log message into literal texts, each with the expression after it.

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


class Printer:
    """Prints to the program's original stdout, even if the program or a test runner replaces `sys.stdout`."""

    def __init__(self) -> None:
        self._file = os.dup(1)
        self._same = self._identity()

    def _identity(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_dev, status.st_ino

    def prints(self, text: str) -> bool:
        """Print; return False if stdout is closed."""
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


def improve(*, prints: bool) -> None:
    """Report failed evaluations; if `prints`, print log messages in order with the program's output.

    Raises:
        AttributeError: pydevd has another structure.
    """
    pydevd: Any = importlib.import_module("pydevd")
    answers: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command_factory_json")
    count_conditions(pydevd.PyDB)
    tell_at_stops(answers.NetCommandFactoryJson)
    tell_at_end(pydevd.PyDB)
    print_messages(
        pydevd.PyDB,
        importlib.import_module("_pydevd_bundle.pydevd_process_net_command_json"),
        answers.NetCommandFactoryJson,
        Printer() if prints else None,
    )


def count_conditions(debugger: Any) -> None:
    """Make pydevd evaluate conditions and hit conditions by `holds`."""
    stock = debugger.handle_breakpoint_condition

    def handle_condition(self: Any, info: Any, breakpoint_: Any, frame: Any) -> Any:
        try:
            held = holds(breakpoint_, frame)
        except AttributeError:
            return stock(self, info, breakpoint_, frame)
        if not held:
            waiting.log = None
        return held

    debugger.handle_breakpoint_condition = handle_condition


def print_messages(debugger: Any, requests: Any, factory: Any, printer: Printer | None) -> None:
    """Make pydevd evaluate log messages after the conditions, and print them."""
    nothing: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NULL_NET_COMMAND
    expression_of = requests.convert_dap_log_message_to_expression
    stock_expression = debugger.handle_breakpoint_expression
    io_message = factory.make_io_message

    def template(log_message: str) -> str:
        made = Template(expression_of(log_message))
        made.parts = parts_of(log_message)
        return made

    def handle_expression(self: Any, breakpoint_: Any, info: Any, frame: Any) -> None:
        # Not evaluated yet: pydevd checks the condition after this, and the message may raise.
        if isinstance(breakpoint_.expression, Template):
            waiting.log = breakpoint_, frame
            info.pydev_message = MARK
        else:
            stock_expression(self, breakpoint_, info, frame)

    def make_io_message(self: Any, text: str, stream: Any) -> Any:
        wanted = getattr(waiting, "log", None)
        if wanted is None or not text.startswith(MARK):
            return io_message(self, text, stream)
        waiting.log = None
        line = message(*wanted) + "\n"
        return nothing if printer and printer.prints(line) else io_message(self, line, stream)

    requests.convert_dap_log_message_to_expression = template
    debugger.handle_breakpoint_expression = handle_expression
    factory.make_io_message = make_io_message


def tell_at_stops(factory: Any) -> None:
    """Report failures before each stop."""
    suspended = factory.make_thread_suspend_single_notification

    def make_suspended(*arguments: Any, **named: Any) -> Any:
        failures.tell()
        return suspended(*arguments, **named)

    factory.make_thread_suspend_single_notification = make_suspended
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=failures.forget)


def tell_at_end(debugger: Any) -> None:
    """Report the last counts and send all events before the debugger ends with the program."""
    stock = debugger.dispose_and_kill_all_pydevd_threads

    def dispose(self: Any, *arguments: Any, **named: Any) -> None:
        if not self.pydb_disposed and not self.terminate_requested:
            failures.tell(self)
            writer, until = self.writer, time.monotonic() + SECONDS_TO_SEND_ALL
            while writer and writer.is_alive() and not writer.empty() and time.monotonic() < until:
                time.sleep(0.005)
        stock(self, *arguments, **named)

    debugger.dispose_and_kill_all_pydevd_threads = dispose
