"""Collects rows where the program runs, without stopping it.

`collect(spec)` takes a JSON text and returns one; each call replaces all points, none at all takes everything away:

    {"folder": where rows are written, "points": [{"id": 1, "file": "/…/shop.py", "line": 20, "collect": ["order.total"],
        "condition": "x > 1" or null, "max_hits": 100 or null}], "chunks": 63, "seconds": 0.25}
    → {"file": "/…/<pid>.rows", "message": what is not reached, "points": [{"id": 1, "bound": true, "line": 20, "message": ""}]}

With `"expect": expression` a point of a line stops the thread, too, where that does not hold.
`chunks` (MiB of a process's file) and `seconds` (deadline of an expression) can be left out. Instead of file and line a point has one of:

* `"function": "shop.cart.total"` (or `Order.total`, `shop.cart.*`; several between commas): a row when it begins, of whatever module, imported later, too.
  With `"calls": true` a row when each call is over: the cells are `row_format.CALL_COLUMNS`, then those of `collect`, evaluated at the end.
  With `"life": {"call": 3, "function": "Order.total", "lines": 2}` also each line of the third of these calls, which is of that function:
  rows of point 2, `row_format.LIFE_COLUMNS`. When that call is over, the thread stops.
* `"writes": "order.total"` (an attribute, `items[3]`, `limits["most"]`, a variable), looked up where the program is stopped: the thread
  stops after the line that changes it; with `"stop": false` it goes on, and each such line is a row: `row_format.WATCH_COLUMNS`, then `collect`.
* `"last": what last_writes.described has told`: the last write of that place is remembered, and told by `last_writes.last_write_as_json`; no rows.
* `"until": expression`: the same for the first line after which it holds, in a function in which its names have values;
  with `"on": "change"` after which it is another. `"scope": {"files": […], "functions": […]}` tells where; else in all code that is no library.
  `"looks": 2` is the number of a point for rows about the looking (`row_format.LOOK_COLUMNS`): each function's first value, and each error.

What is watched is looked up once: a point that is told again in the same words goes on.

Rows are in the form that `recording` and the core's `collecting/rows/row_blocks.py` tell. A forked process writes a file of its own; so does
a program that takes this one's place, once it is told to. What a condition raises is told as pydevd's breakpoints' is
(`breakpointFailed`). Within an expression nothing is recorded.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
from typing import Any

from .. import guard
from ..process import leaving
from ..stops import deadline
from . import expressions, points, recorders, recording


class Collector:
    """Collects rows in this process: its points, their file, and what has recorders called."""

    def __init__(self) -> None:
        """Choose between `sys.monitoring` and trace functions; nothing is collected yet.

        Raises:
            ImportError, AttributeError: pydevd is not the one we know.
        """
        module, hooks = "tracing", "TracingHooks"
        if hasattr(sys, "monitoring"):
            module, hooks = "monitoring", "MonitoringHooks"
        self._hooks: Any = getattr(importlib.import_module(f"{__package__}.{module}"), hooks)()
        self._rows: Any = None
        self._deadline: Any = None
        self._spec: dict[str, Any] = {}
        self._points: list[Any] = []
        self._stops: list[Any] = []
        """Breakpoints at functions."""

    def stop_at(self, breakpoints: list[Any]) -> None:
        """Stop where functions begin, at pydevd's `breakpoints` of functions and no others; points stay."""
        if breakpoints or self._stops:
            self._stops = breakpoints
            self._begin()

    def last_writes(self) -> list[Any]:
        """Return what remembers last writes: the `last_writes.LastWrites` of the present points."""
        return [each.last_writes for each in self._points if each.last_writes is not None]

    def collect(self, spec: dict[str, Any], names: Any) -> dict[str, Any]:
        """Collect at the points of `spec` from now on, and nowhere else; return what is reached.

        A point is a place that collects rows. `spec` is a dict with `folder` (where the file of rows is made),
        `points` (dicts, as at the top of this module), and perhaps `chunks` (MiB of the file) and `seconds` (the
        deadline of an expression). If there are no points, or none can be bound, collecting ends and the file is
        closed; stops at functions stay. A file of the same folder goes on. The answer has `file` (the path of the
        rows, empty: none), `message` (what is not reached, such as some threads, or why there is no file; mostly
        empty) and `points`, which has `id`, `bound`, `line` and `message` for each point, in their order. Where
        neither that file nor one that counts lost rows can be made, no point is bound. A point that cannot be bound
        has `bound` False, and raises nothing. `names` is the frame in which watched expressions are looked up.
        """
        self._spec = spec
        outcomes = self._replace_points(spec, names)
        message = ""
        if not self._points:
            self._close()
            self._begin()
        else:
            if self._rows is None or self._rows.folder != spec["folder"]:
                self._close()
                self._rows = recording.Rows(spec["folder"], spec.get("chunks") or recording.CHUNKS)
            why = self._rows.open()
            if why:
                self._close()
                self._points = []
                self._begin()
                message = f"nothing can be written to {spec['folder']}: {why}"
                outcomes = [{**each, "bound": False, "message": message} for each in outcomes]
            else:
                message = self._begin()
        return {
            "file": self._rows.path if self._rows else "",
            "message": message,
            "points": outcomes,
        }

    def _replace_points(self, spec: dict[str, Any], frame: Any) -> list[dict[str, Any]]:
        """Replace the collector's points by those of `spec` that can be bound; return one dict for each.

        `spec["points"]` are the wanted points, as at the top of this module; a point that is not among them is dropped.
        The returned dicts have `id`, `bound`, `line` and `message` (empty if there is nothing to say), in the order of
        `spec["points"]`. A point that cannot be bound, or whose expression is invalid, has `bound` False, is not kept, and
        raises nothing. A watching point with an equal specification goes on, and a point with a known id keeps its count
        of hits. `frame` is the one in which watched expressions are looked up. Nothing is recorded at the new points until
        `_begin` is called.
        """
        outcomes: list[dict[str, Any]] = []
        watches = [each for each in self._points if each.watch or each.last_writes]
        hits = {each.id: each.hits for each in self._points}
        self._points = []
        for each in spec["points"]:
            bound, message, line = False, "", each.get("line") or 0
            try:
                known = (point for point in watches if point.spec == each)
                point = next(known, None) or points.SpecifiedPoint(each, frame)
                # Its rows keep their numbers, whatever point is added.
                point.hits = hits.get(point.id, point.hits)
                bound = point.bind()
                message, line = point.message, point.line
                if bound:
                    self._points.append(point)
            except expressions.InvalidExpression as error:
                message = str(error)
            outcomes.append({"id": each["id"], "bound": bound, "line": line, "message": message})
        return outcomes

    def _begin(self) -> str:
        """Record at the present points and stop at the present functions; end recording if there are neither.

        Points record only if the file of rows is open: without one, only the stops at functions are set. The result is a
        text on what is not reached, such as some threads; empty means that everything is. The first call with a file of
        rows starts the thread that cuts off slow expressions.
        """
        if not self._points and not self._stops:
            self._hooks.end()
            return ""
        if self._rows is None:
            return str(self._hooks.begin(points.BoundPoints([], None, self._stops)))
        guard.losing[:] = [self._rows.count_lost_row]
        if self._deadline is None:
            self._deadline = deadline.Deadline()
            self._deadline.start()
        self._deadline.seconds = self._spec.get("seconds") or deadline.SECONDS_TO_EVALUATE
        maker = recorders.Maker(self._deadline, self._rows, report_condition)
        return str(self._hooks.begin(points.BoundPoints(self._points, maker, self._stops)))

    def leave(self) -> None:
        """Drop all points and stops, record nothing more, and close the file."""
        self._hooks.end()
        self._points, self._stops = [], []
        self._close()

    def _close(self) -> None:
        """Close the file of rows, if there is one."""
        guard.losing.clear()
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def report_lost_rows(self) -> None:
        """Write the number of lost rows into the file of rows, if there is one."""
        if self._rows is not None:
            self._rows.report_lost()

    def continue_after_fork(self) -> None:
        """Go on in a process that was just forked: its rows go to a new file.

        Points that watch a value or record last writes stay as they are, and all others are bound again; stops at
        functions are dropped, since the process's own session sets them. If no file of rows was open, nothing is
        recorded from now on. Watched expressions are looked up in the frame that called `fork`, which is found by
        its distance from here: only the module's `continue_after_fork`, as a hook of `os.register_at_fork`, may
        call this.
        """
        # The child's own session sets its breakpoints.
        self._stops = []
        if self._rows is None:
            self._hooks.begin(points.BoundPoints([], None))
        else:
            self._rows.begin()
            # The watcher's thread is the parent's. This process may have no other one, and then a program that forks
            # again wants none of ours: the first expression starts it.
            self._deadline = deadline.Deadline()
            self._points = [each for each in self._points if each.watch or each.last_writes]
            self._replace_points(self._spec, sys._getframe(3))  # pyright: ignore[reportPrivateUsage]
            self._begin()


def report_condition(point: Any, error: str) -> None:
    """Report an error of a point's condition by the event `breakpointFailed`, as for pydevd's breakpoints.

    `point` is a `points.SpecifiedPoint`, `error` the cell of the error, whose first character, `cells.FAILED`, is left out. Nothing happens
    where pydevd is not patched.
    """
    breaking: Any = sys.modules.get("dapeer_debuggee.stops.breaking")
    if breaking is not None:
        place = (point.file, point.line)
        breaking.failures.add(place, "condition", point.condition.text, error[1:])


collectors: list[Collector] = []
"""The one, once something was collected."""
hooks: list[Any] = []
"""The functions that Python calls at exit and in a forked child, once they are registered for good."""


def collect(spec: str, names: Any = None) -> str:
    """Collect at the points of a specification from now on, and nowhere else; return the answer, in JSON.

    The answer has `file` (the path of the rows, empty: none), `message` (what is not reached) and for each of the `points` its `id`,
    `bound`, `line` and `message`.

    Args:
        spec: A JSON object with `folder` and `points`, perhaps `chunks` and `seconds`; without points, collecting ends. The docstring of
            this
            module tells the keys of a point.
        names: The frame in which what is watched is looked up; None: the caller's.
    """
    here: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    return json.dumps(collector().collect(json.loads(spec), names or here))


def collector() -> Collector:
    """Return the collector of this process; the first call makes it, and registers hooks for its end.

    By these hooks the collector goes on in a file of its own in a forked child, is dropped before the
    debugger disconnects (the next call makes a new one), and writes the number of lost rows when the
    process ends.

    Raises:
        ImportError, AttributeError: pydevd is not the one we know.
    """
    if not collectors:
        collectors.append(Collector())
        if not hooks:
            hooks.extend(map(guard.hook, (report_lost_rows, continue_after_fork)))
            atexit.register(hooks[0])
            os.register_at_fork(after_in_child=hooks[1])
        leaving.first.append(leave)
        leaving.LEAVE.apply()
    return collectors[0]


def report_lost_rows() -> None:
    """Write the number of lost rows into the file of each collector."""
    for each in collectors:
        each.report_lost_rows()


def continue_after_fork() -> None:
    """Have each collector go on in a forked process, in a file of its own.

    A hook of `os.register_at_fork`.
    """
    for each in collectors:
        each.continue_after_fork()


def leave() -> None:
    """Collect nothing any more, and drop the collector: called before the debugger disconnects.

    Our modules are removed if the program has them only for it.
    """
    for each in collectors:
        each.leave()
    collectors.clear()
    forget()


def forget() -> None:
    """Remove our modules from `sys.modules`, unless pydevd is patched in this program."""
    if "dapeer_debuggee.improving" not in sys.modules:
        leaving.LEAVE.undo()
        for name in [each for each in sys.modules if each.partition(".")[0] == "dapeer_debuggee"]:
            del sys.modules[name]
