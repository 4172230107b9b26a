"""Collecting points, and what is recorded of which code."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import os
from collections.abc import Sequence
from typing import Any

from .. import functions, guard, sources
from ..stops import last_writes, watching
from ..values import cells
from . import calls, expressions

# Stops at a line whose expectation fails; each hit is a row, so those before it are shown, too.

MISSING = object()
"""Stands for the value of what has raised something."""


class Expecting:
    """Looks at lines with an expectation in one code, and stops where it fails.

    It can be a code's `watching`.
    """

    def __init__(self, points: list[Any], maker: Any, frame: Any, inner: Any) -> None:
        """Make a recorder and a check for each of some points.

        `maker` is a `recorders.Maker`, `frame` one of the code, `inner` what else is watched in it, or None. `points` are
        `points.SpecifiedPoint`s.
        """
        self._maker = maker
        self._inner = inner
        self._points = [
            (
                point,
                maker.recorder(point, frame, checked=True),
                maker.condition(point, frame) if point.condition else None,
                maker.value(point.expect, frame, MISSING, missed, holds=True),
            )
            for point in points
        ]

    @property
    def over(self) -> bool:
        """Whether no point wants more hits, and what else is watched is over."""
        inner = self._inner is None or self._inner.over
        return inner and all(point.has_ended for point, *_ in self._points)

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Return the line at which a running frame is, and what is known of what else is watched."""
        return (frame.f_lineno, {}) if self._inner is None else self._inner.begin(frame)

    def look(self, frame: Any, line: int, seen: dict[Any, Any], event: str) -> bool:
        """Write a row for each point at the line that a frame comes to; return whether to stop.

        A point whose condition is false or raises, or that has ended, writes no row, and its expectation is not
        evaluated. The result is true where an expectation is false, or raises something, or where `inner` (see
        `__init__`), which is asked first, says so. `line`, the line before, and `seen`, what is known of what
        else is watched, are only for `inner`. `event` is that of a trace function: at any other than `"line"`
        only `inner` is asked.
        """
        stop = self._inner is not None and self._inner.look(frame, line, seen, event)
        for point, record, met, holds in self._points:
            if event != "line" or frame.f_lineno != point.line or point.has_ended:
                continue
            if met is None or met(frame, ""):
                record(frame, self._maker.context(frame))
                outcome = holds(frame)
                stop |= outcome is MISSING or not outcome[0]
        return bool(stop)


def missed(_error: str) -> None:
    """Do nothing with what an expectation has raised: its row tells it."""


# The life of one call: a row for each executed line, with the local variables that it changed.
#
# A row has `row_format.LIFE_COLUMNS`. It is written when the next line begins, or the call is over: what has changed since the line before was
# changed by this line, or by what it has called.

MOST_NAMES = 40
"""Local variables that are looked at."""
MAX_CHANGED_PARTS = 3
"""Elements and members that are told one by one."""
UNKNOWN: tuple[Any, Any] = "", None


class CallTracer:
    """Writes a row after each line of one call, with the local variables that it has changed."""

    over = False
    """It looks until the program ends; the names are those of `watching.CodeWatches`."""

    def __init__(self, spec: dict[str, Any], of: Any, rows: Any) -> None:
        """Create it; `begin` and `look` are called by what watches the code.

        `spec` is the point's `life`: `call` is the number of the call, `lines` that of the point for its rows. `of` is the function's
        `calls.CallRecorder`, which numbers its calls; `rows` is the file.
        """
        self._call: int = spec["call"]
        self._point: int = spec["lines"]
        self._call_recorder = of
        self._rows = rows
        self._line = 0
        self._hits = itertools.count(1)
        self._known_values: dict[str, tuple[str, Any]] = {}
        self._guarded_look = guard.hook(self._look)

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Return the line of a frame that runs already, and an empty dict: its call is none that is counted."""
        return frame.f_lineno, {}

    def look(self, frame: Any, line: int, _seen: dict[Any, Any], _event: str) -> bool:
        """Write the row of the line that has ended, if the frame is that of the call.

        Return False: it never stops. `line` is 0 where the function begins or goes on.
        """
        if self._call_recorder.number(frame) == self._call:
            self._guarded_look(frame, not line)
        return False

    def _look(self, frame: Any, goes_on: bool) -> None:
        """Write a row for the last line of a frame, if there is one, and remember the line that comes.

        After a suspension (`goes_on`) it is only written if something has changed.
        """
        changed = self._changes(frame)
        # A generator that goes on has told the line at which it was suspended.
        if self._line and (changed or not goes_on):
            self._write(frame, changed)
        self._line = frame.f_lineno

    def _changes(self, frame: Any) -> list[tuple[str, str, str]]:
        """Return name, text before and text now of each local variable of a frame that has changed.

        A change is one since the last call; the values are remembered for the next one. The text before is empty
        for a variable or member that is new and for an element of a list or dict, the text now for a member that is
        gone. Where the members or elements of the same object have changed, and at most `MAX_CHANGED_PARTS` of
        them, they are returned in place of the variable, as `name.member` or `name[key]`. Only the first
        `MOST_NAMES` variables are looked at. A variable that is gone is not told, nor one whose name begins with a
        period, as Python's own do.
        """
        changes: list[tuple[str, str, str]] = []
        for name, value in itertools.islice(frame.f_locals.items(), MOST_NAMES):
            fixed = cells.is_one_of(type(value), calls.FIXED)
            now = cells.cell(value), None if fixed else (id(value), calls.content_token(value))
            before = self._known_values.get(name, UNKNOWN)
            if now != before and not name.startswith("."):
                self._known_values[name] = now
                inner = changed_parts(name, value, before[1], now[1])
                changes += (
                    inner if 0 < len(inner) <= MAX_CHANGED_PARTS else [(name, before[0], now[0])]
                )
        return changes

    def _write(self, frame: Any, changed: list[tuple[str, str, str]]) -> None:
        """Write a row of changes of local variables, for the line of the traced call that has just ended.

        `frame` is the frame of the call; the row has its file, and the line in `self._line`. `changed` has (name,
        text before, text now) for each variable; as JSON it is the row's last cell, `[]` if nothing has changed.
        """
        file = cells.escaped(frame.f_code.co_filename)
        text = json.dumps(changed, ensure_ascii=False)
        head = f"{self._point}\t{next(self._hits)}\t{self._rows.now()}\t\t\t"
        line = f"{head}\t{file}\t{self._line}\t{text}\n".encode()
        try:
            self._rows.write(line)
        except ValueError:
            self._rows.write_to_next_chunk(line)


def changed_parts(name: str, value: Any, before: Any, now: Any) -> list[tuple[str, str, str]]:
    """Return the elements or members of one and the same object that have changed, as (name, before, now).

    It is empty if the variable is another object now, if what it held is not known, if a list or dict has become shorter, and for a tuple,
    set or `bytearray`. Of a list or dict, `before` of each element is empty, and only its first `MOST_ELEMENTS` are compared, by place. The
    texts are cells. No code of the program runs.

    Args:
        name: The name of the variable.
        value: The object, as it is now.
        before: Its id, and its `calls.content_token`, as they were; or None.
        now: The same, as they are.
    """
    if before is None or now is None or before[0] != now[0]:
        return []
    was, are = before[1], now[1]
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is list or kind is dict:
        return changed_elements(name, value, was, are) if are[0] >= was[0] else []
    return changed_members(name, was, are) if cells.is_one_of(type(are), (dict,)) else []


def changed_elements(name: str, value: Any, was: Any, are: Any) -> list[tuple[str, str, str]]:
    """Return name, empty text and value now of each element of a list or dictionary that has changed.

    `name` is that of the variable, `value` the list or dictionary; an element's name is `name[INDEX]` or
    `name[KEY]`. `was` and `are` are the `calls.content_token` before and now. An element has changed if another
    object (or key) was at its place before, or none; those behind the tokens' limit, and those that are gone, are
    not told.
    """
    keyed: Any = value.items() if hasattr(value, "items") else enumerate(value)
    differ = [one != other for one, other in itertools.zip_longest(was[1], are[1])]
    return [
        (f"{name}[{cells.cell(key)}]", "", cells.cell(each))
        for (key, each), other in zip(keyed, differ)
        if other
    ]


def changed_members(
    name: str, was: dict[str, Any], are: dict[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (`name.member`, value before, value now) of an object's changed members, gone ones first.

    `name` is that of the variable that has the object. `was` and `are` are its `calls.content_token` before and
    now: by member the id and the text of the value; a member counts as changed if either differs. An empty text
    for a value means that the member is new or gone.
    """
    gone = [(f"{name}.{each}", part[1], "") for each, part in was.items() if each not in are]
    return gone + [
        (f"{name}.{each}", was[each][1] if each in was else "", part[1])
        for each, part in are.items()
        if was.get(each) != part
    ]


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
        self.file = (
            sources.normalized_path(sources.debuggee_path(spec["file"])) if spec.get("file") else ""
        )
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
        self.has_ended = False
        self.watch: Any = None
        self.last_writes: Any = last_writes.LastWrites(spec["last"]) if spec.get("last") else None
        """What remembers the last write of a place."""
        if spec.get("until") or spec.get("writes"):
            self.watch = watching.PointWatch(self, spec, names)

    def end(self) -> bool:
        """Mark the point as one that has enough hits; return True."""
        self.has_ended = True
        return True

    def bind(self) -> bool:
        """Find the line or function of the point, a place that collects; return whether it is bound.

        For a line, `line` is set to the first line with code from there on, as for breakpoints. For functions (one, or
        several names with commas between them), `file` and `line` are set to those of the first that is loaded, or to
        "" and 0. `message` is set to what the user is told, if there is something. What is watched is bound at once.
        Functions count as bound also if they are not loaded yet, and so does a file that cannot be read there, whose
        line stays. A line without code on it or below does not, nor does a file with a syntax error.
        """
        if self.watch is not None or self.last_writes is not None:
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

    __slots__ = ("cached_context", "calls", "context", "enters", "lines", "of_library", "stops", "suspends",
                 "watching")  # fmt: skip

    def __init__(self, code: Any = None, context: Any = None) -> None:
        """Create a plan of a code by which nothing is recorded.

        `context` is a function of a frame (`Maker.context`).
        """
        self.context = context
        self.suspends = code is None or bool(code.co_flags & SUSPENDS)
        """Whether its frames go on, each time called by another."""
        self.of_library = code is not None and not functions.is_programs(code.co_filename)
        self.cached_context = NOWHERE
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

    def cache_context(self, frame: Any) -> Any:
        """Return the context of a frame, and keep it in `cached_context` while no other frame can have its id.

        A generator's or coroutine's is not kept, since it may go on elsewhere.
        """
        context = self.context(frame)
        self.cached_context = NOWHERE if self.suspends else (id(frame), context)
        return context

    def enter(self, frame: Any) -> None:
        """Record that a function begins, and stop there if it has a breakpoint.

        `frame` is that of the call. Recording evaluates expressions and conditions of points, so code of the
        program may run. A stop lasts until the thread is resumed. Recorders that have enough are removed. Nothing
        happens if the debugger has called a library's function for itself.
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


class BoundPoints:
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
        self._lasts = [each.last_writes for each in points if each.last_writes is not None]
        self.watches = bool(self._watches or self._lasts) or any(
            each.life or each.expect for each in points
        )
        """Whether some frames are looked at after each line."""
        self._by_file: dict[str, list[Any]] = {}
        self._running_calls: dict[int, Any] = {}
        for each in points:
            if each.file and not each.function:
                self._by_file.setdefault(each.file, []).append(each)

    def plan(self, frame: Any) -> CodePlan:
        """Return a new `CodePlan` of a frame's code: what is recorded and watched, and where it stops.

        `frame` is one that runs the code; its names are looked up in it. The plan is false if there is nothing to do.
        Points that have ended are left out. Recorders are compiled for the plan, which is slow, so callers keep it.
        A plan has one `watching`: last writes, or else watches, or else a `life`; the others of these are left out.
        Lines with an expectation are put around that one, which is watched as well.
        """
        code = frame.f_code
        made = CodePlan(code, getattr(self._maker, "context", None))
        made.stops += (
            functools.partial(watching.stop_at, each)
            for each in self._stops
            if functions.matches(each.func_name, frame)
        )
        expected = self._add_line_recorders(made, frame)
        for point in self._functions:
            if not point.has_ended and functions.matches(point.function, frame):
                if point.calls:
                    made.calls.append(
                        calls.CallRecorder(point, frame, self._maker, self._running_calls)
                    )
                    if point.life and point.life["function"] == made.calls[-1].name:
                        made.watching = CallTracer(point.life, made.calls[-1], self._maker.rows)
                else:
                    made.enters.append(self._maker.recorder(point, frame))
        watches = [each for each in self._watches if each.concerns(frame)]
        if watches:
            lookers = [each.looker(self._maker, frame) for each in watches]
            made.watching = watching.CodeWatches(watches, lookers, self._maker)
        for last in self._lasts:
            made.watching = last if last.concerns(frame) else made.watching
        if expected:
            made.watching = Expecting(expected, self._maker, frame, made.watching)
        return made

    def _add_line_recorders(self, made: CodePlan, frame: Any) -> list[Any]:
        """Add recorders for the lines of a frame's code that have a point to the plan `made`.

        A point is a place that collects; a recorder writes what it collects. `made.lines` is changed in place:
        each line's recorder is put behind one that is there. Points that have ended are left out. Return the
        points on these lines with an expectation (`expect`), for which no recorder is added; empty: there are
        none. `frame` is any frame of the code, by whose names expressions are read.
        """
        code = frame.f_code
        found = (
            self._by_file.get(sources.normalized_path(code.co_filename)) if self._by_file else None
        )
        here = sources.inner_lines(code) if found else ()
        expected: list[Any] = []
        for point in found or ():
            if point.line in here and not point.has_ended:
                if point.expect is not None:
                    expected.append(point)
                    continue
                record = self._maker.recorder(point, frame)
                there = made.lines.get(point.line)
                made.lines[point.line] = record if there is None else record_both(there, record)
        return expected


def record_both(first: Any, second: Any) -> Any:
    """Return a recorder that calls the recorders `first` and `second`; it has enough when both have."""

    def record(frame: Any, context: Any) -> bool:
        return bool(first(frame, context)) & bool(second(frame, context))

    # What calls it is not guarded itself: it expects that recorders are.
    return guard.hook(record)
