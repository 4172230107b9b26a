"""Calls: arguments, result, duration, and which of its arguments a call has changed; one row for each, when it is over.

Its cells are `COLUMNS`, and then the point's expressions, evaluated at its end. Its time is that of its begin, so rows sorted by it, and
indented by depth, are the tree of the calls. A generator or coroutine is one call, from its first step to its last.
"""

from __future__ import annotations

import importlib
import inspect
import time
from types import CodeType
from typing import Any

cells: Any = importlib.import_module("in_debuggee.dapeer_cells")
contexts: Any = importlib.import_module("in_debuggee.dapeer_contexts")
functions: Any = importlib.import_module("in_debuggee.dapeer_functions")

COLUMNS = ("function", "depth", "seconds", "arguments", "result", "changed")
"""`arguments` and `changed` are `name=value`, and `name: before → after`, between commas; a result that begins with the mark of errors
is what was raised."""
MOST_ARGUMENTS = 20
MOST_FRAMES = 100
"""So far up is looked for the call that a call belongs to."""
MOST_ELEMENTS = 1000
"""Elements of a container that are looked at for a change."""
FIXED = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type, range)
"""Types whose values never change."""


class Call:
    """A call that is not over."""

    __slots__ = ("arguments", "before", "context", "depth", "hit", "start", "values")

    def __init__(self, hit: int, depth: int, context: str, values: dict[str, Any]) -> None:
        """Take what is known when it begins; values are copied as texts."""
        self.hit = hit
        self.depth = depth
        self.context = context
        texts = {name: cells.cell(value) for name, value in values.items()}
        self.arguments = ", ".join(f"{name}={text}" for name, text in texts.items())
        self.values = {
            name: value for name, value in values.items() if not cells.is_one_of(type(value), FIXED)
        }
        self.before = {name: (texts[name], parts(value)) for name, value in self.values.items()}
        self.start = time.perf_counter_ns()

    def changed(self) -> str:
        """Return which arguments are not what they were, with what they were and are."""
        told: list[str] = []
        for name, value in self.values.items():
            text, held = self.before[name]
            now = cells.cell(value)
            if now != text:
                told.append(f"{name}: {text} → {now}")
            elif held != parts(value):
                told.append(f"{name}: changed within, {now}")
        return ", ".join(told)


def parts(value: Any) -> Any:
    """Return what tells whether a value holds the same as before, without holding it."""
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return len(value), [id(each) for each, _ in zip(value, range(MOST_ELEMENTS))]
    if kind is dict:
        pairs = zip(value.items(), range(MOST_ELEMENTS))
        return len(value), [(id(key), id(each)) for (key, each), _ in pairs]
    if kind is bytearray:
        return bytes(value[:MOST_ELEMENTS]), len(value)
    held = cells.values.objects.own(value)
    return {name: (id(each), cells.cell(each)) for name, each in held.items()}


def arguments_of(code: CodeType) -> list[str]:
    """Return the names of a function's parameters."""
    flags = code.co_flags
    starred = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred])


class Calls:
    """Records the calls of a function at a point."""

    def __init__(self, point: Any, frame: Any, maker: Any, depths: dict[int, int]) -> None:
        """Take the point, a frame of the function, what makes recorders, and the depths of the calls that are not over, by frame."""
        self.point = point
        self._rows = maker.rows
        self._depths = depths
        self._calls: dict[int, Call] = {}
        self._name = cells.escaped(functions.qualified(frame.f_code))
        self._names = arguments_of(frame.f_code)[:MOST_ARGUMENTS]
        self._met = maker.condition(point, frame) if point.condition else None
        self._cells = maker.cells(point, frame) if point.expressions else None
        self._last: int = point.life.get("call", 0)
        """The call behind which the thread stops; 0: none."""

    def begin(self, frame: Any) -> bool:
        """Note that a call begins; whether there were enough."""
        try:
            return self._begin(frame)
        except BaseException:
            self._rows.lose()
        return False

    def _begin(self, frame: Any) -> bool:
        if self._met is not None and not self._met(frame, ""):
            return False
        hit = next(self.point.hits)
        if self.point.max_hits and hit > self.point.max_hits:
            return bool(self.point.end())
        known = frame.f_locals
        values = {name: known[name] for name in self._names if name in known}
        depth = self._depths[id(frame)] = self._depth(frame)
        self._calls[id(frame)] = Call(hit, depth, contexts.context(frame), values)
        return False

    def _depth(self, frame: Any) -> int:
        """Return how many calls are around one that begins."""
        for _ in range(MOST_FRAMES if self._depths else 0):
            frame = frame.f_back
            if frame is None:
                break
            depth = self._depths.get(id(frame))
            if depth is not None:
                return depth + 1
        return 0

    def number(self, frame: Any) -> int:
        """Return which call a frame's is, as they began; 0: it is none that is recorded."""
        call = self._calls.get(id(frame))
        return 0 if call is None else call.hit

    def goes_on(self, frame: Any) -> bool:
        """Whether a frame's call has begun already."""
        return id(frame) in self._calls

    def end(self, frame: Any, result: Any, error: BaseException | str | None = None) -> bool:
        """Record a call that is over, with what it has raised, or the cell of that; whether the thread is to stop."""
        call = self._calls.pop(id(frame), None)
        if call is None:
            return False
        self._depths.pop(id(frame), None)
        try:
            if error is None:
                self._record(call, frame, cells.cell(result))
            else:
                self._record(call, frame, error if type(error) is str else cells.failed(error))
        except BaseException:
            self._rows.lose()
        return call.hit == self._last

    def _record(self, call: Call, frame: Any, result: str) -> None:
        took = time.perf_counter_ns() - call.start
        more = self._cells(frame, "") if self._cells is not None else ""
        line = (
            f"{self.point.id}\t{call.hit}\t{call.start - self._rows.zero}e-9\t{call.context}\t{self._name}\t{call.depth}"
            f"\t{took}e-9\t{call.arguments}\t{result}\t{call.changed()}{more or ''}\n"
        ).encode()
        try:
            self._rows.write(line)
        except ValueError:
            self._rows.kept(line)
