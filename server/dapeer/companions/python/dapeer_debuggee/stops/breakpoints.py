"""Has pydevd evaluate conditions, hits and log messages by `breaking`, and report failures.

From Python 3.12 on pydevd traces codes, and not threads. Those of generators and coroutines that wait are on no stack while breakpoints
change, so they are looked for.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any

from .. import patching
from ..exceptions import tracebacks
from . import breaking, parts

CONDITION = "pydevd:PyDB.handle_breakpoint_condition"
EXPRESSION = "pydevd:PyDB.handle_breakpoint_expression"
FACTORY = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson"
SUSPENDED = f"{FACTORY}.make_thread_suspend_single_notification"
IO_MESSAGE = f"{FACTORY}.make_io_message"
CONVERTED = "_pydevd_bundle.pydevd_process_net_command_json:convert_dap_log_message_to_expression"
DISPOSE = "pydevd:PyDB.dispose_and_kill_all_pydevd_threads"

CONDITIONS = patching.Row(
    "conditions",
    "debugpy",
    "A condition that raises NameError counts as false, and nobody is told; others print a traceback at each hit.",
    replaces={CONDITION: "self info pybreakpoint new_frame"},
)
LOG_MESSAGES = patching.Row(
    "log-messages",
    "debugpy",
    "Log messages may come in another order than the program's output, and the last ones may be lost.",
    replaces={
        CONVERTED: "log_message",
        EXPRESSION: "self pybreakpoint info new_frame",
        IO_MESSAGE: "self msg ctx",
    },
    uses=("_pydevd_bundle.pydevd_net_command:NULL_NET_COMMAND",),
)
AT_STOPS = patching.Row(
    "failures-at-stops",
    "debugpy",
    "How often a condition failed is not told at each stop.",
    replaces={SUSPENDED: "self py_db thread_id thread stop_reason"},
)
AT_END = patching.Row(
    "failures-at-end",
    "debugpy",
    "What a program does last, such as a log message, may not be told.",
    replaces={DISPOSE: "self wait= timeout="},
)

MONITORING = "_pydevd_sys_monitoring.pydevd_sys_monitoring"
WAITING = patching.Row(
    "generators-that-wait",
    "debugpy",
    "From Python 3.12 on a breakpoint that is set while a generator or coroutine waits does not stop in it.",
    replaces={"pydevd:PyDB.on_breakpoints_changed": "self removed="},
)
WAIT: dict[Any, str] = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}
"""The attribute that has the frame of what can wait, by its type."""


@CONDITIONS
def count_conditions(patch: Any) -> None:
    """Patch pydevd so that it evaluates conditions and hit conditions by `breaking.conditions_hold`.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(CONDITION)
    def handle_condition(
        stock: Any,
        self: Any,
        info: Any,
        pybreakpoint: Any,
        new_frame: Any,
        *rest: Any,
        **named: Any,
    ) -> Any:
        """Return whether the breakpoint's conditions hold; if not, its log message is dropped.

        pydevd's own function is not called.
        """
        held = breaking.conditions_hold(pybreakpoint, new_frame)
        if not held:
            breaking.waiting.log = None
        return held


@LOG_MESSAGES
def print_messages(patch: Any) -> None:
    """Patch pydevd so that log messages are printed to the program's stdout, behind their conditions.

    In a child, whose stdout may be another program's pipe, they are sent as output. `patch` is this patch's `patching.Row`: it calls this
    function when it is applied, and its `undo` puts back what was replaced by it.
    """
    nothing: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NULL_NET_COMMAND
    printer = breaking.Printer() if patching.first_process[0] else None

    @patch.replace(CONVERTED)
    def template(stock: Any, log_message: str, *rest: Any, **named: Any) -> str:
        made = breaking.Template(stock(log_message, *rest, **named))
        made.parts = parts.parts_of(log_message)
        return made

    @patch.replace(EXPRESSION)
    def handle_expression(
        stock: Any,
        self: Any,
        pybreakpoint: Any,
        info: Any,
        new_frame: Any,
        *rest: Any,
        **named: Any,
    ) -> None:
        """Keep a log message for later: pydevd checks the condition after this, and the message may raise.

        It is kept for this thread, with its frame. Any other expression of a breakpoint is handled by pydevd.
        """
        # Not evaluated yet: pydevd checks the condition after this, and the message may raise.
        if isinstance(pybreakpoint.expression, breaking.Template):
            breaking.waiting.log = pybreakpoint, new_frame
            info.pydev_message = breaking.MARK
        else:
            stock(self, pybreakpoint, info, new_frame, *rest, **named)

    @patch.replace(IO_MESSAGE)
    def make_io_message(stock: Any, self: Any, msg: str, ctx: Any, *rest: Any, **named: Any) -> Any:
        """Print the log message of the breakpoint that this thread has hit, and return an empty command.

        A message that cannot be printed is returned as pydevd's output event, and so is a text (`msg`) that is no log message. `stock` is
        pydevd's function.
        """
        due = getattr(breaking.waiting, "log", None)
        if due is None or not msg.startswith(breaking.MARK):
            return stock(self, msg, ctx, *rest, **named)
        breaking.waiting.log = None
        line = breaking.message(*due) + "\n"
        if printer and printer.prints(line):
            return nothing
        return stock(self, line, ctx, *rest, **named)


@AT_STOPS
def report_at_stops(patch: Any) -> None:
    """Patch pydevd so that counts of failed conditions, and rows that are off, are reported before stops.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(SUSPENDED)
    def make_suspended(stock: Any, *given: Any, **named: Any) -> Any:
        breaking.failures.report()
        patching.report_news()
        return stock(*given, **named)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=breaking.failures.forget)


@AT_END
def report_at_end(patch: Any) -> None:
    """Patch pydevd so that the last counts are reported, and all events sent, before it ends.

    It waits for `breaking.SECONDS_TO_SEND_ALL` at most. `patch` is this patch's `patching.Row`: it calls this function when it is applied,
    and its `undo` puts back what was replaced by it.
    """

    @patch.replace(DISPOSE)
    def dispose(stock: Any, self: Any, *rest: Any, **named: Any) -> Any:
        """Report failures, wait until pydevd has sent all, and end the debugger as pydevd does.

        It waits for `breaking.SECONDS_TO_SEND_ALL` at most, and neither reports nor waits if the debugger has ended already or the client
        ends it.
        """
        if not self.pydb_disposed and not self.terminate_requested:
            breaking.failures.report(self)
            writer, until = self.writer, time.monotonic() + breaking.SECONDS_TO_SEND_ALL
            while writer and writer.is_alive() and not writer.empty() and time.monotonic() < until:
                time.sleep(0.005)
        return stock(self, *rest, **named)


SET_FUNCTIONS = "_pydevd_bundle.pydevd_api:PyDevdAPI.set_function_breakpoints"
FUNCTIONS = patching.Row(
    "breakpoints-at-functions",
    "debugpy",
    "A breakpoint at a function has no class or module in its name, and up to Python 3.11 it does not stop in a generator or coroutine.",
    replaces={SET_FUNCTIONS: "self py_db function_breakpoints"},
    uses=("pydevd:PyDB#function_breakpoint_name_to_breakpoint",),
)


@FUNCTIONS
def know_functions_by_name(patch: Any) -> None:
    """Patch pydevd so that the collector of dapeer stops at breakpoints of functions.

    It gets them all (`Collector.stop_at`), and pydevd none. pydevd itself compares the last part of a name, and passes by code without a
    file. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(SET_FUNCTIONS)
    def set_function_breakpoints(
        stock: Any, self: Any, py_db: Any, function_breakpoints: Any, *rest: Any, **named: Any
    ) -> None:
        from ..collecting import collecting

        collecting.collector().stop_at(list(function_breakpoints))
        stock(self, py_db, [], *rest, **named)


KIND = "pydevd:PyDB._internal_get_file_type"
OWN_FILES = patching.Row(
    "own-files-by-path",
    "debugpy",
    "From Python 3.12 on, a file of the program that is called as one of Python's (io.py, queue.py, threading.py) is not debugged.",
    replaces={KIND: "self abs_real_path_and_basename"},
    uses=("pydevd:LIB_FILE",),
)


@OWN_FILES
def know_by_path(patch: Any) -> None:
    """Patch pydevd so that it knows Python's own files by their paths, not by their names.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    library = importlib.import_module("pydevd").LIB_FILE

    @patch.replace(KIND, again=True)
    def kind_of_file(
        stock: Any, self: Any, abs_real_path_and_basename: Any, *rest: Any, **named: Any
    ) -> Any:
        kind = stock(self, abs_real_path_and_basename, *rest, **named)
        own = kind == library and tracebacks.is_users(abs_real_path_and_basename[0])
        return None if own else kind


EXISTS = "pydevd_file_utils:exists"
ARCHIVES = patching.Row(
    "files-in-archives",
    "debugpy",
    "In a zip archive that is called neither .zip nor .egg, such as a .pyz, no breakpoint is set.",
    replaces={EXISTS: "filename"},
)


@ARCHIVES
def know_archives(patch: Any) -> None:
    """Patch pydevd so that it takes a file in a zip archive of any name for one that exists.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(EXISTS)
    def exists(stock: Any, filename: Any, *rest: Any, **named: Any) -> Any:
        return stock(filename, *rest, **named) or is_in_archive(str(filename))


def is_in_archive(path: str) -> bool:
    """Return whether a path leads to a file in a zip archive, whose own path it begins with.

    False: there is no such file, it is an ordinary one, or the archive cannot be read. It reads the archive's list of files.
    """
    archive = path
    while archive and not os.path.exists(archive) and archive != os.path.dirname(archive):
        archive = os.path.dirname(archive)
    if not os.path.isfile(archive):
        return False
    zipfile: Any = importlib.import_module("zipfile")
    try:
        with zipfile.ZipFile(archive) as held:
            held.getinfo(os.path.relpath(path, archive).replace(os.sep, "/"))
    except (OSError, KeyError, zipfile.BadZipFile):
        return False
    return True


@WAITING
def trace_what_waits(patch: Any) -> None:
    """Patch pydevd so that new breakpoints bind in generators and coroutines that wait.

    Nothing changes before Python 3.12. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts
    back what was replaced by it.
    """
    if sys.version_info < (3, 12):
        return

    @patch.replace("pydevd:PyDB.on_breakpoints_changed")
    def changed(stock: Any, self: Any, removed: bool = False, *given: Any, **named: Any) -> Any:
        """Do as pydevd does, and have it trace the codes of all generators and coroutines that wait.

        Nothing more is done where breakpoints were only removed, or pydevd is not ready yet.
        """
        result = stock(self, removed, *given, **named)
        if self.ready_to_run and not removed:
            enable: Any = importlib.import_module(MONITORING).enable_code_tracing
            for frame in suspended_frames():
                enable(threading.main_thread().ident, frame.f_code, frame)
        return result


def suspended_frames() -> Iterator[Any]:
    """Yield a frame of a suspended generator or coroutine, one for each code; no code of theirs runs.

    All objects that the garbage collector knows are looked at, which takes a while in a large program.
    """
    codes: set[int] = set()
    objects: list[Any] = gc.get_objects()
    for each in objects:
        name = WAIT.get(type(each))
        frame = getattr(each, name) if name else None
        if frame is not None and id(frame.f_code) not in codes:
            codes.add(id(frame.f_code))
            yield frame
