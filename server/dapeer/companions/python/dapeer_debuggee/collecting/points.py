"""Collecting points, and what is recorded of which code."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Sequence
from typing import Any

from .. import functions, guard, sources
from ..stops import watching
from . import calls, expecting, expressions, life

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
NOWHERE = (0, 0)
"""No frame, and no context."""


class SpecifiedPoint:
    """A point of the specification."""

    def __init__(self, spec: dict[str, Any], names: Any) -> None:
        """Parse a point of the specification; `names` is the frame in which watched names are looked up.

        `spec` has the keys that `collecting` tells.

        Raises:
            InvalidExpression: An expression does not parse.
        """
        self.spec = spec
        self.id: int = spec["id"]
        self.file = sources.same_file(sources.mapped(spec["file"])) if spec.get("file") else ""
        self.function: str = spec.get("function") or ""
        self.calls: bool = bool(spec.get("calls"))
        self.life: dict[str, Any] = spec.get("life") or {}
        self.line: int = spec.get("line") or 0
        collected: list[str] = spec.get("collect") or []
        self.expressions: list[Any] = [expressions.Expression(each) for each in collected]
        self.condition: Any = (
            expressions.Expression(spec["condition"]) if spec.get("condition") else None
        )
        self.expect: Any = expressions.Expression(spec["expect"]) if spec.get("expect") else None
        self.max_hits: int | None = spec.get("max_hits")
        self.hits = itertools.count(1)
        self.message = ""
        self.ended = False
        self.watch: Any = None
        if spec.get("until") or spec.get("writes"):
            self.watch = watching.PointWatch(self, spec, names)

    def end(self) -> bool:
        """Mark the point as one that has enough hits; return True."""
        self.ended = True
        return True

    def bind(self) -> bool:
        """Find the line or function of the point; return whether it is bound.

        `line` and `file` are set to the next line with code, as for breakpoints, or to a loaded function's; `message` to what the user is
        told. A function that is not loaded yet counts as bound, and so does a file that cannot be read there; a line without code below it
        does not.
        """
        if self.watch is not None:
            return True
        if self.function:
            names = functions.named_in(self.function)
            found = {each: functions.find_loaded(each) for each in names}
            here = (each[:2] for each in found.values() if each[1])
            self.file, self.line = next(here, ("", 0))
            missing = [name for name, (_, line, _) in found.items() if not line]
            if missing:
                self.message = f"no function {' or '.join(missing)} is loaded yet"
                others = [other for _, _, other in found.values() if other]
                if others:
                    self.message += f"; a library's needs its module: {', '.join(others)}"
            return True
        try:
            lines = sources.lines_of(self.file, os.stat(self.file).st_mtime_ns)
        except SyntaxError:
            # A template: the Python code that is made of it has other lines.
            self.message = "not Python; in a template of Jinja a `log_message` logs"
            return False
        except Exception as error:
            self.message = f"{self.file} cannot be read there: {type(error).__name__}"
            return True
        line = next((each for each in lines if each >= self.line), 0)
        if not line:
            self.message = f"no code on line {self.line} or below"
        self.line = line or self.line
        return bool(line)


class CodePlan:
    """What is recorded of a code."""

    __slots__ = ("around", "calls", "context", "enters", "lines", "of_library", "stops", "suspends",
                 "watching")  # fmt: skip

    def __init__(self, code: Any = None, context: Any = None) -> None:
        """Create a plan of a code by which nothing is recorded.

        `context` is a function of a frame (`Maker.context`).
        """
        self.context = context
        self.suspends = code is None or bool(code.co_flags & SUSPENDS)
        """Whether its frames go on, each time called by another."""
        self.of_library = code is not None and not functions.is_programs(code.co_filename)
        self.around = NOWHERE
        """The number of a frame of it that runs, and its context."""
        self.lines: dict[int, Any] = {}
        """What records when a line is reached; it returns True when it has recorded enough."""
        self.enters: list[Any] = []
        """What records when the function begins."""
        self.calls: list[Any] = []
        """What records its calls."""
        self.stops: list[Any] = []
        """What stops where the function begins."""
        self.watching: Any = None
        """What looks after each line whether something has changed."""

    def clear(self) -> None:
        """Record nothing any more."""
        self.lines.clear()
        self.enters.clear()
        self.calls.clear()
        self.stops.clear()
        self.watching = None

    def __bool__(self) -> bool:
        """Return whether anything is recorded, or it stops where the function begins."""
        return bool(self.stops or self.records)

    @property
    def records(self) -> bool:
        """Whether anything is recorded."""
        return bool(self.lines or self.enters or self.calls or self.watching)

    def stay(self, frame: Any) -> Any:
        """Return the context of a frame, and keep it in `around` while no other frame can have its id.

        A generator's or coroutine's is not kept, since it may go on elsewhere.
        """
        context = self.context(frame)
        self.around = NOWHERE if self.suspends else (id(frame), context)
        return context

    def enter(self, frame: Any) -> None:
        """Record that a function begins, and stop there if it has a breakpoint.

        Nothing happens if the debugger has called a library's function for itself. Recorders that have enough are removed.
        """
        if self.of_library and functions.serves_debugger(frame):
            return
        for record in list(self.enters):
            if record(frame, self.context(frame)):
                self.enters.remove(record)
        for each in list(self.calls):
            if each.begin(frame):
                self.calls.remove(each)
        for stop in list(self.stops):
            stop(frame)

    def leave(self, frame: Any, result: Any, error: Any = None) -> None:
        """Record that a frame's call is over, with its result or what it raised; stop there if that is wanted."""
        stops = [each.end(frame, result, error) for each in self.calls]
        if any(stops):
            watching.suspend(frame, "return", result)


class Bound:
    """The points of a specification, as plans of codes."""

    def __init__(self, points: list[Any], maker: Any, stops: Sequence[Any] = ()) -> None:
        """Group bound points, so that plans of codes can be made.

        `maker` is a `recorders.Maker`, None if there are no points; `stops` are pydevd's breakpoints of functions. `points` are
        `SpecifiedPoint`s.
        """
        self._maker = maker
        self._stops = stops
        self._functions = [each for each in points if each.function]
        self._watches = [each.watch for each in points if each.watch is not None]
        self.watches = bool(self._watches) or any(each.life or each.expect for each in points)
        """Whether some frames are looked at after each line."""
        self._by_file: dict[str, list[Any]] = {}
        self._running: dict[int, Any] = {}
        for each in points:
            if each.file and not each.function:
                self._by_file.setdefault(each.file, []).append(each)

    def plan(self, frame: Any) -> CodePlan:
        """Return a new `CodePlan` of a frame's code: what is recorded and watched, and where it stops."""
        code = frame.f_code
        made = CodePlan(code, getattr(self._maker, "context", None))
        made.stops += (
            functools.partial(watching.stop_at, each)
            for each in self._stops
            if functions.matches(each.func_name, frame)
        )
        expected = self._lines(made, frame)
        for point in self._functions:
            if not point.ended and functions.matches(point.function, frame):
                if point.calls:
                    made.calls.append(calls.CallRecorder(point, frame, self._maker, self._running))
                    if point.life and point.life["function"] == made.calls[-1].name:
                        made.watching = life.CallTracer(
                            point.life, made.calls[-1], self._maker.rows
                        )
                else:
                    made.enters.append(self._maker.recorder(point, frame))
        watches = [each for each in self._watches if each.concerns(frame)]
        if watches:
            lookers = [each.looker(self._maker, frame) for each in watches]
            made.watching = watching.CodeWatches(watches, lookers, self._maker)
        if expected:
            made.watching = expecting.Expecting(expected, self._maker, frame, made.watching)
        return made

    def _lines(self, made: CodePlan, frame: Any) -> list[Any]:
        """Add recorders for lines with a point to a plan; return the points that expect something."""
        code = frame.f_code
        found = self._by_file.get(sources.same_file(code.co_filename)) if self._by_file else None
        here = sources.inner_lines(code) if found else ()
        expected: list[Any] = []
        for point in found or ():
            if point.line in here and not point.ended:
                if point.expect is not None:
                    expected.append(point)
                    continue
                record = self._maker.recorder(point, frame)
                there = made.lines.get(point.line)
                made.lines[point.line] = record if there is None else both(there, record)
        return expected


def both(first: Any, second: Any) -> Any:
    """Return a recorder that calls the recorders `first` and `second`; it has enough when both have."""

    def record(frame: Any, context: Any) -> bool:
        return bool(first(frame, context)) & bool(second(frame, context))

    # What calls it is not guarded itself: it expects that recorders are.
    return guard.hook(record)
