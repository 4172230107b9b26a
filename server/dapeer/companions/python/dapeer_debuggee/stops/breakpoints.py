"""Breakpoints: pydevd evaluates their conditions and messages by `breaking`, and finds their code.

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
from . import breaking

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

    pydevd's own function is not called. Where the conditions do not hold, the waiting log message is dropped.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by it.

    Raises:
        Misfit: pydevd lacks the class of such a function; `Row.apply` catches this.
        AttributeError: pydevd lacks such a function; `Row.apply` catches this, too.
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

    That is: a message is evaluated and printed only where the breakpoint's condition holds. In a child, whose
    stdout may be another program's pipe, messages are sent as output, and so is one that cannot be printed.
    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back
    what was replaced by it.

    Raises:
        Misfit: A function of pydevd's cannot be replaced; `Row.apply` reports that as a failure.
        ImportError: pydevd lacks the module of its commands; likewise.
    """
    nothing: Any = importlib.import_module("_pydevd_bundle.pydevd_net_command").NULL_NET_COMMAND
    printer = breaking.Printer() if patching.first_process[0] else None

    @patch.replace(CONVERTED)
    def template(stock: Any, log_message: str, *rest: Any, **named: Any) -> str:
        made = breaking.Template(stock(log_message, *rest, **named))
        made.parts = breaking.parts_of(log_message)
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
        line = breaking.evaluate_log_message(*due) + "\n"
        if printer and printer.try_to_print(line):
            return nothing
        return stock(self, line, ctx, *rest, **named)


@AT_STOPS
def report_at_stops(patch: Any) -> None:
    """Patch pydevd so that counts of failed conditions, and patches that are off, are told before stops.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts
    back what was replaced by it. From then on a forked process begins with counts of zero; `undo` does not
    change that.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(SUSPENDED)
    def make_suspended(stock: Any, *given: Any, **named: Any) -> Any:
        breaking.failures.report()
        patching.report_off_rows()
        return stock(*given, **named)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=breaking.failures.forget)


@AT_END
def report_at_end(patch: Any) -> None:
    """Patch pydevd so that the last counts are reported, and all events sent, before it ends.

    pydevd's end then waits until all is sent, for `breaking.SECONDS_TO_SEND_ALL` at most. It neither reports
    nor waits if pydevd has ended already, or the client ends it. `patch` is this patch's `patching.Row`: it
    calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
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

    The collector gets all these breakpoints (`Collector.stop_at`), and pydevd none. pydevd itself compares
    the last part of a name, and passes by code without a file. `patch` is this patch's `patching.Row`: it
    calls this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
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

    A file of the user's that only has the name of one of them counts as the user's, not as a library's. `patch` is
    this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was
    replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
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
    except Exception:
        return False
    return True


@WAITING
def trace_what_waits(patch: Any) -> None:
    """Patch pydevd so that new breakpoints bind in generators and coroutines that wait.

    Nothing changes before Python 3.12. `patch` is this patch's `patching.Row`: it calls this function when
    it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
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
            for frame in generator_frames():
                enable(threading.main_thread().ident, frame.f_code, frame)
        return result


def generator_frames() -> Iterator[Any]:
    """Yield a frame of each generator and coroutine that has not ended, one for each code.

    Async generators count as well. Those that have not begun, or are running, come, too. No code of the program
    runs. All objects that the garbage collector knows are looked at, which takes a while in a large program.
    """
    codes: set[int] = set()
    objects: list[Any] = gc.get_objects()
    for each in objects:
        name = WAIT.get(type(each))
        frame = getattr(each, name) if name else None
        if frame is not None and id(frame.f_code) not in codes:
            codes.add(id(frame.f_code))
            yield frame


# Has breakpoints bind in code that names its file in another folder, or in an archive.
#
# A `.pyc` that is run without its source, and a program in a container, name files that are not here; an archive (`zipapp`) has copies. Such a
# name is taken for that of a file with breakpoints if both end in the same names, at least the file's and a folder's, and if there is one such
# file only; in an archive the texts must be the same, too.

NAMED = "dapeerFileNamed"
"""The event that tells `name`, which the program has of the file `path`."""
MIN_COMMON_NAMES = 2
"""Names at the end of two paths that make them the same file: its own, and a folder's."""
MAX_NAMES = 20000
"""Names that are remembered."""
PATHS = "pydevd_file_utils:_abs_and_canonical_path"
CHANGED = "pydevd:PyDB.on_breakpoints_changed"
MOVED = patching.Row(
    "moved-files",
    "debugpy",
    "A breakpoint does not stop in code that was compiled in another folder and runs without its source, or lies in an archive.",
    replaces={PATHS: "filename NORM_PATHS_CONTAINER=", CHANGED: "self removed="},
    uses=("pydevd_file_utils:NORM_PATHS_AND_BASE_CONTAINER", "pydevd:PyDB#file_to_id_to_line_breakpoint"),
)  # fmt: skip


class FileNames:
    """What the program calls the files that have breakpoints."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.paths_without_file: dict[str, str] = {}
        """Names of code for which no file was found, and their paths."""
        self.files_by_name: dict[str, str] = {}
        """The file of each name for which one was."""

    def file_of(self, path: str, files: list[str]) -> str:
        """Return the one of `files` to which the code of `path` belongs; empty if that is none, or several.

        `path` is what the program calls the file. `files` are the paths of files with breakpoints; those that
        already belong to another name (the values of `files_by_name`) are left out. The one is meant whose path has the
        most names in common with the end of `path`, at least `MIN_COMMON_NAMES`. The result is empty if that is
        `path` itself, or if both files exist; for a `path` in an archive, both texts have to be the same instead.
        Nothing is recorded in `files_by_name`.
        """
        taken = self.files_by_name.values()
        lengths = {each: count_common_names(path, each) for each in files if each not in taken}
        most = max(lengths.values(), default=0)
        best = [each for each, length in lengths.items() if length == most]
        if most < MIN_COMMON_NAMES or len(best) != 1 or best[0] == path:
            return ""
        if is_in_archive(path):
            return best[0] if has_same_lines(path, best[0]) else ""
        return "" if os.path.exists(path) and os.path.exists(best[0]) else best[0]


names = FileNames()


def count_common_names(path: str, other: str) -> int:
    """Return how many names, separated by `os.sep`, are the same at the ends of `path` and `other`.

    The empty name before a leading separator counts, too: `/a` and `/a` have two.
    """
    count = 0
    for one, its in zip(reversed(path.split(os.sep)), reversed(other.split(os.sep))):
        if one != its:
            break
        count += 1
    return count


def has_same_lines(member: str, file: str) -> bool:
    """Return whether a file in a zip archive has the same lines as a file on disk.

    False also if one of them cannot be read. `member` is the path of the archive followed by the
    path in the archive; `file` is the path of the file on disk. Line ends may differ.
    """
    zipfile: Any = importlib.import_module("zipfile")
    archive = member
    while not os.path.isfile(archive):
        # It may have been removed meanwhile.
        if archive == os.path.dirname(archive):
            return False
        archive = os.path.dirname(archive)
    try:
        with zipfile.ZipFile(archive) as held, open(file, "rb") as stream:
            text: bytes = held.read(os.path.relpath(member, archive).replace(os.sep, "/"))
            return text.splitlines() == stream.read().splitlines()
    # What unpacks a damaged one raises errors of its own.
    except Exception:
        return False


def files_with_breakpoints() -> list[str]:
    """Return the files that have breakpoints, by pydevd's names."""
    debugger = importlib.import_module("pydevd").get_global_debugger()
    held: Any = getattr(debugger, "file_to_id_to_line_breakpoint", None) or {}
    return [each for each, points in list(held.items()) if points]


def find_moved_file(name: str, path: str) -> str:
    """Find the file with breakpoints that moved code belongs to, and return its path; empty: none fits.

    `name` is the file's name in the code, `path` pydevd's absolute path for it. A file that is found is
    kept in `names.files_by_name`, and the client is told by the event `dapeerFileNamed`;
    a name without a file is kept in `names.paths_without_file`, up to `MAX_NAMES` of them. What another thread has found
    meanwhile is returned.
    """
    with names.lock:
        if name in names.files_by_name:
            return names.files_by_name[name]
        file = names.file_of(path, files_with_breakpoints())
        if not file:
            if len(names.paths_without_file) < MAX_NAMES:
                names.paths_without_file[name] = path
            return ""
        names.files_by_name[name] = file
        names.paths_without_file.pop(name, None)
    breaking.send({"path": file, "name": path}, event=NAMED)
    return file


@MOVED
def know_by_ends(patch: Any) -> None:
    """Patch pydevd so that breakpoints bind in code that names its file in another folder or an archive.

    For such a name pydevd gets the path of the file with breakpoints whose path has the longest equal end; where
    several have it, none. The client is told by the event `dapeerFileNamed` when a file is first found. Names
    without a file are looked at again when breakpoints are added. `patch` is this patch's `patching.Row`: it calls
    this function when it is applied, and its `undo` puts back what was replaced by it.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """
    files: Any = importlib.import_module("pydevd_file_utils")

    @patch.replace(PATHS, again=True)
    def abs_and_canonical(stock: Any, filename: Any, *rest: Any, **named: Any) -> Any:
        """Return pydevd's absolute and canonical path of a file; for moved code, twice its file here.

        The first answer for a name that is not here is remembered, and told to the client if a file is found (`files_by_name`).
        """
        paths = stock(filename, *rest, **named)
        file = names.files_by_name.get(filename)
        if file is None:
            if filename in names.paths_without_file or filename.startswith("<"):
                return paths
            is_here = os.path.exists(paths[0]) and not files_elsewhere()
            file = "" if is_here else find_moved_file(filename, paths[0])
        return (file, file) if file else paths

    @patch.replace(CHANGED)
    def changed(stock: Any, self: Any, removed: bool = False, *rest: Any, **named: Any) -> Any:
        """Look once more for the files of names that had none, drop pydevd's paths of those, and do as pydevd.

        Nothing is looked for where breakpoints were only removed.
        """
        held: Any = files.NORM_PATHS_AND_BASE_CONTAINER
        for name, path in [] if removed else list(names.paths_without_file.items()):
            if find_moved_file(name, path):
                for each in [key for key, known in list(held.items()) if known[0] == path]:
                    held.pop(each, None)
        return stock(self, removed, *rest, **named)


def files_elsewhere() -> bool:
    """Whether a file with breakpoints is not here: the program is in a container."""
    return any(not os.path.exists(each) for each in files_with_breakpoints())


# Remembers which lines of a file have code.
#
# A breakpoint on a line without code moves to one that has some. To find that, pydevd reads and compiles the whole file
# for each breakpoint, and a client sends all breakpoints of a file whenever it changes one. For each of them pydevd also
# sorts all others of the file by line, and looks at every thread again; here it does both once for a request.
# The lines of a template are not those of the Python code that is made of it.

MAX_KEPT_FILES = 50
"""Files whose lines are kept."""


class CodeLines:
    """Finds the lines of a file, or of a code object, that have code."""

    def __init__(self) -> None:
        self._cached_lines: dict[str, tuple[tuple[int, ...], list[int]]] = {}

    def lines_of(self, stock: Any, code: Any, *rest: Any, **named: Any) -> Any:
        """Return the lines that have code; those of `MAX_KEPT_FILES` unchanged files at most are kept.

        `stock` is pydevd's function that finds them, `code` the path of a file or a code object. `rest` and `named` are
        further arguments of that function. For a file the result is a sorted list without doubles, which callers do not
        change. For a code object it is what `stock` returns, and nothing is kept. What `stock` raises leaves this
        function.

        Raises:
            OSError: The file cannot be read.
        """
        if not isinstance(code, str):
            return stock(code, *rest, **named)
        # Before the file is read: what is written meanwhile counts as a change.
        edition = edition_of(code)
        known = self._cached_lines.get(code)
        if known is None or known[0] != edition:
            if len(self._cached_lines) >= MAX_KEPT_FILES:
                self._cached_lines.clear()
            lines = sorted(set(stock(code, *rest, **named)))
            known = self._cached_lines[code] = (edition, lines)
        return known[1]


def edition_of(path: str) -> tuple[int, ...]:
    """Return what differs after a change of a file: inode, size and time.

    Raises:
        OSError: It cannot be read.
    """
    facts = os.stat(path)
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns)


CODE_LINES = "_pydevd_bundle.pydevd_api:_get_code_lines"
SET = "_pydevd_bundle.pydevd_process_net_command_json:PyDevJsonCommandProcessor.on_setbreakpoints_request"
KEPT = patching.Row(
    "lines-with-code",
    "debugpy",
    "Many breakpoints in a long file are set more slowly, since each reads the whole file.",
    replaces={CODE_LINES: "code"},
)
AT_ONCE = patching.Row(
    "breakpoints-at-once",
    "debugpy",
    "Many breakpoints in a file are set more slowly, since each looks at all threads.",
    replaces={SET: "self py_db request"},
    uses=(
        "pydevd:PyDB.on_breakpoints_changed(self removed=)",
        "pydevd:PyDB.consolidate_breakpoints"
        "(self canonical_normalized_filename id_to_breakpoint file_to_line_to_breakpoints)",
    ),
)


@KEPT
def keep_lines(patch: Any) -> None:
    """Patch pydevd so that it remembers which lines of a file have code.

    `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """
    lines = CodeLines()
    patch.replace(CODE_LINES)(lines.lines_of)


@AT_ONCE
def change_once(patch: Any) -> None:
    """Patch pydevd so that changed breakpoints are announced once for a request, at its end.

    They are sorted then, too, but at once where pydevd has a plugin, as for templates. `patch` is this patch's
    `patching.Row`: it calls this function when it is applied, and its `undo` puts back what was replaced by it.
    """

    @patch.replace(SET)
    def handle(stock: Any, self: Any, py_db: Any, request: Any, *rest: Any, **named: Any) -> Any:
        """Handle `setBreakpoints` as pydevd does, then sort and announce the breakpoints once.

        Meanwhile two methods of `py_db`, the debugger, are replaced; also after an error they are as before, and what was set is announced.
        """
        changed: list[bool] = []
        sorts: dict[tuple[str, int], tuple[Any, ...]] = {}
        stock_sort = py_db.consolidate_breakpoints

        def sort_later(*given: Any, **named: Any) -> None:
            """Keep the arguments for a sort at the end; sort at once where a plugin of pydevd's uses the result."""
            # A plugin uses what is sorted; the first breakpoint in a template makes it.
            if named or getattr(py_db, "plugin", py_db) is not None:
                stock_sort(*given, **named)
            else:
                path, _by_id, by_path = given
                sorts[path, id(by_path)] = given

        def change_later(removed: bool = False) -> None:
            changed.append(removed)

        py_db.on_breakpoints_changed = change_later
        py_db.consolidate_breakpoints = sort_later
        try:
            return stock(self, py_db, request, *rest, **named)
        finally:
            py_db.__dict__.pop("consolidate_breakpoints", None)
            del py_db.on_breakpoints_changed
            for each in sorts.values():
                stock_sort(*each)
            if changed:
                py_db.on_breakpoints_changed(removed=all(changed))


ADD = "_pydevd_bundle.pydevd_api:PyDevdAPI.add_breakpoint"
TEMPLATES = patching.Row(
    "templates-of-jinja",
    "debugpy",
    "A breakpoint in a template of Jinja stops at the line of that number of the Python code that is made of it.",
    replaces={
        ADD: "self py_db original_filename breakpoint_type breakpoint_id line condition func_name expression suspend_policy"
        " hit_condition is_logpoint adjust_line= on_changed_breakpoint_state="
    },
)


@TEMPLATES
def know_templates(patch: Any) -> None:
    """Patch pydevd so that a line breakpoint in a template belongs to its plug-in for Jinja.

    A template is any file that is no Python or Cython and has `{{` or `{%`. The user need not set the option
    `jinja`. `patch` is this patch's `patching.Row`: it calls this function when it is applied, and its `undo` puts
    back what was replaced here.

    Raises:
        Misfit, ImportError, AttributeError: pydevd lacks what is to be replaced; `Row.apply` catches this.
    """

    @patch.replace(ADD)
    def add(
        stock: Any,
        self: Any,
        py_db: Any,
        original_filename: Any,
        breakpoint_type: Any,
        *rest: Any,
        **named: Any,
    ) -> Any:
        kind, path = breakpoint_type, self.filename_to_server(original_filename)
        if kind == "python-line" and is_template(path):
            kind = "jinja2-line"
        return stock(self, py_db, original_filename, kind, *rest, **named)


def is_template(path: str) -> bool:
    """Return whether a file is no Python or Cython, and has the marks of a template: `{{` or `{%`.

    It is read and compiled, unless its name or kind tells that it is none: False for the extensions of Python and Cython, and for no
    regular file, and for one that cannot be read.
    """
    if path.endswith((".py", ".pyw", ".pyx", ".pxi")) or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return False
    try:
        compile(text, path, "exec")
    except (SyntaxError, ValueError):
        return b"{{" in text or b"{%" in text
    return False
