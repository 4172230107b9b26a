"""Collects rows where the program runs, without stopping it.

`collect(spec)` takes a JSON text and returns one; each call replaces all points, none at all takes everything away:

    {"folder": where rows are written, "points": [{"id": 1, "file": "/…/shop.py", "line": 20, "collect": ["order.total"],
        "condition": "x > 1" or null, "max_hits": 100 or null}], "chunks": 63, "seconds": 0.25}
    → {"file": "/…/<pid>.rows", "message": what is not reached, "points": [{"id": 1, "bound": true, "line": 20, "message": ""}]}

`chunks` (MiB of a process's file) and `seconds` (deadline of an expression) can be left out. Instead of file and line a point has one of:

* `"function": "shop.cart.total"` (or `Order.total`, `shop.cart.*`; several between commas): a row when it begins, of whatever module, imported later, too.
  With `"calls": true` a row when each call is over: the cells are `dapeer_calls.COLUMNS`, then those of `collect`, evaluated at the end.
  With `"life": {"call": 3, "function": "Order.total", "lines": 2}` also each line of the third of these calls, which is of that function:
  rows of point 2, `dapeer_life.COLUMNS`. When that call is over, the thread stops.
* `"writes": "order.total"` (an attribute, `items[3]`, `limits["most"]`, a variable), looked up where the program is stopped: the thread
  stops after the line that changes it; with `"stop": false` it goes on, and each such line is a row: `dapeer_watching.COLUMNS`, then `collect`.
* `"until": expression`: the same for the first line after which it holds, in a function in which its names have values;
  with `"on": "change"` after which it is another. `"scope": {"files": […], "functions": […]}` tells where; else in all code that is no library.
  `"looks": 2` is the number of a point for rows about the looking (`dapeer_watching.LOOKED`): each function's first value, and each error.

What is watched is looked up once: a point that is told again in the same words goes on.

Rows are in the form that `dapeer_recording` and the core's `mirror/rows_file.py` tell. A forked process writes a file of its own; so does
a program that takes this one's place, once it is told to. What a condition raises is told as pydevd's breakpoints' is
(`breakpointFailed`). Within an expression nothing is recorded.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import Any

deadline: Any = importlib.import_module("in_debuggee.dapeer_deadline")
expressions: Any = importlib.import_module("in_debuggee.dapeer_expressions")
points: Any = importlib.import_module("in_debuggee.dapeer_points")
recorders: Any = importlib.import_module("in_debuggee.dapeer_recorders")
recording: Any = importlib.import_module("in_debuggee.dapeer_recording")


class Collector:
    """What this process collects."""

    def __init__(self) -> None:
        """Choose the road.

        Raises:
            ImportError, AttributeError: pydevd is not the one we know.
        """
        road = "dapeer_monitoring" if hasattr(sys, "monitoring") else "dapeer_tracing"
        self._road: Any = importlib.import_module(f"in_debuggee.{road}").Road()
        self._rows: Any = None
        self._spec: dict[str, Any] = {}
        self._points: list[Any] = []

    def collect(self, spec: dict[str, Any], names: Any) -> dict[str, Any]:
        """Collect at the points of a specification, and nowhere else; what is watched is looked up in a frame."""
        self._spec = spec
        told = self._take(spec, names)
        message = ""
        if not self._points:
            self.leave()
        else:
            if self._rows is None or self._rows.folder != spec["folder"]:
                self.leave()
                self._rows = recording.Rows(spec["folder"], spec.get("chunks") or recording.CHUNKS)
                self._rows.open()
            message = self._begin()
        return {"file": self._rows.path if self._rows else "", "message": message, "points": told}

    def _take(self, spec: dict[str, Any], names: Any) -> list[dict[str, Any]]:
        """Take the points that can be bound; return what is told of each."""
        told: list[dict[str, Any]] = []
        watches = [each for each in self._points if each.watch is not None]
        self._points = []
        for each in spec["points"]:
            bound, message, line = False, "", each.get("line") or 0
            try:
                known = (point for point in watches if point.told == each)
                point = next(known, None) or points.Point(each, names)
                bound = point.bind()
                message, line = point.message, point.line
                if bound:
                    self._points.append(point)
            except expressions.Refused as error:
                message = str(error)
            told.append({"id": each["id"], "bound": bound, "line": line, "message": message})
        return told

    def _begin(self) -> str:
        """Begin, or go on with other points; return what is not reached."""
        watch = deadline.Watch(self._spec.get("seconds") or deadline.SECONDS)
        maker = recorders.Maker(watch, self._rows, tell)
        return self._road.begin(points.Bound(self._points, maker))

    def leave(self) -> None:
        """Collect nothing."""
        self._road.end()
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def forked(self) -> None:
        """Go on in a new process, with a file of its own."""
        if self._rows is not None:
            self._rows.begin()
            self._take(self._spec, sys._getframe(2))  # pyright: ignore[reportPrivateUsage]
            self._begin()


def tell(point: Any, error: str) -> None:
    """Tell what a condition has raised."""
    breaking: Any = sys.modules.get("in_debuggee.dapeer_breaking")
    if breaking is not None:
        place = (point.file, point.line)
        breaking.failures.add(place, "condition", point.condition.text, error[1:])


collectors: list[Collector] = []
"""The one, once something was collected."""


def collect(spec: str, names: Any = None) -> str:
    """Do as this module says, and return what came of it.

    Args:
        spec: What is collected.
        names: The frame in which what is watched is looked up; None: the caller's.
    """
    if not collectors:
        collectors.append(Collector())
        os.register_at_fork(after_in_child=forked)
        leave_with_debugger()
    here: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    return json.dumps(collectors[0].collect(json.loads(spec), names or here))


def forked() -> None:
    """Go on in a forked process."""
    for each in collectors:
        with contextlib.suppress(Exception):
            each.forked()


def leave_with_debugger() -> None:
    """Collect nothing any more when the debugger goes, whether it says so or its connection ends."""
    with contextlib.suppress(ImportError, AttributeError):
        requests: Any = importlib.import_module("_pydevd_bundle.pydevd_process_net_command_json")
        answers: Any = requests.PyDevJsonCommandProcessor
        stock = answers.on_disconnect_request

        def on_disconnect_request(*arguments: Any) -> Any:
            answers.on_disconnect_request = stock
            with contextlib.suppress(Exception):
                for each in collectors:
                    each.leave()
                collectors.clear()
                forget()
            return stock(*arguments)

        answers.on_disconnect_request = on_disconnect_request


def forget() -> None:
    """Leave none of our modules in a program that has them for this only."""
    if "in_debuggee.improving" not in sys.modules:
        for name in [each for each in sys.modules if each.partition(".")[0] == "in_debuggee"]:
            del sys.modules[name]
