"""Calls: arguments, result, duration, changed arguments; one row for each, when it is over.

Its cells are `row_format.CALL_COLUMNS`, and then the point's expressions, evaluated at its end. Its time is that of its begin, so rows sorted by it, and
indented by depth, are the tree of the calls. A generator or coroutine is one call, from its first step to its last.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from types import CodeType
from typing import Any

from .. import functions, guard
from ..stops import returned
from ..values import cells
from . import contexts

MOST_ARGUMENTS = 20
MOST_FRAMES = 100
"""So far up is looked for the call that a call belongs to."""
MOST_ELEMENTS = 1000
"""Elements of a container that are looked at for a change."""
FIXED = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type, range)
"""Types whose values never change."""


class OpenCall:
    """A call that is not over."""

    __slots__ = (
        "arguments",
        "before",
        "code",
        "context",
        "depth",
        "hit",
        "outer_call",
        "point",
        "start",
        "stopped",
        "values",
    )  # fmt: skip

    def __init__(self, point: int, hit: int, frame: Any, around: Any, names: list[str]) -> None:
        """Note what is known when a call begins; values are copied as texts.

        `point` and `hit` number it; `around` is the `OpenCall` that it belongs to or None, `names` are those of its parameters.
        """
        self.point, self.hit, self.code, self.outer_call = point, hit, frame.f_code, around
        self.depth: int = 0 if around is None else around.depth + 1
        self.context: str = contexts.context(frame)
        known = frame.f_locals
        values = {name: known[name] for name in names if name in known}
        texts = {name: cells.cell(value) for name, value in values.items()}
        self.arguments = ", ".join(f"{name}={text}" for name, text in texts.items())
        self.values = {
            name: value for name, value in values.items() if not cells.is_one_of(type(value), FIXED)
        }
        self.before = {
            name: (texts[name], content_token(value)) for name, value in self.values.items()
        }
        self.stopped: int = returned.stopped_ns()
        self.start = time.perf_counter_ns()

    @property
    def within(self) -> Any:
        """The number of the call of the same point around it; empty: there is none."""
        outer = self.outer_call
        while outer is not None and outer.point != self.point:
            outer = outer.outer_call
        return "" if outer is None else outer.hit

    def changed(self) -> str:
        """Return which arguments have changed since the call began, as `name: before → now` between commas.

        The text is empty if none has. The object that was passed is looked at, whatever the argument's name stands for
        by now; objects that cannot change, such as numbers, are not. For one that looks the same but holds other
        objects the text is `name: changed within, now`.
        """
        changes: list[str] = []
        for name, value in self.values.items():
            text, held = self.before[name]
            now = cells.cell(value)
            if now != text:
                changes.append(f"{name}: {text} → {now}")
            elif held != content_token(value):
                changes.append(f"{name}: changed within, {now}")
        return ", ".join(changes)


def content_token(value: Any) -> Any:
    """Return a token of what a value holds: it equals a later one while that stays the same.

    It keeps none of them alive. For a list, tuple or set the token is the number of elements and the list of their
    ids; for a dict the number and the pairs of ids of key and value; for a `bytearray` its bytes and its length.
    Only the first `MOST_ELEMENTS` count: a change behind them is seen only if it changes the number. For any other
    object, a subclass of these too, it is a dict of its attributes by name, each as id and cell (its text); empty
    if it has none. No code of the program runs.
    """
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return len(value), [id(each) for each, _ in zip(value, range(MOST_ELEMENTS))]
    if kind is dict:
        pairs = zip(value.items(), range(MOST_ELEMENTS))
        return len(value), [(id(key), id(each)) for (key, each), _ in pairs]
    if kind is bytearray:
        return bytes(value[:MOST_ELEMENTS]), len(value)
    held = cells.values.objects.own_attributes(value)
    return {name: (id(each), cells.cell(each)) for name, each in held.items()}


def arguments_of(code: CodeType) -> list[str]:
    """Return the names of a function's parameters, in order, `*` and `**` ones last."""
    flags = code.co_flags
    starred = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred])


class CallRecorder:
    """Records the calls of one function at a point: a row for each, when it is over."""

    def __init__(self, point: Any, frame: Any, maker: Any, running: dict[int, OpenCall]) -> None:
        """Create it; `begin` and `end` are called at each call.

        `frame` is one of the function, `maker` a `recorders.Maker`; `running` has the open calls of all points by the id of their frames,
        and is changed. `point` is a `points.SpecifiedPoint`.
        """
        self.point = point
        self._rows = maker.rows
        self._running_calls = running
        self._calls: dict[int, OpenCall] = {}
        self._is_first = True
        # A lambda of a module or class has the name that it stands under there.
        self.name = cells.escaped(functions.names_in(frame.f_code, frame.f_globals)[0])
        self._names = arguments_of(frame.f_code)[:MOST_ARGUMENTS]
        self._condition = maker.condition(point, frame) if point.condition else None
        self._cells = maker.cells(point, frame) if point.expressions else None
        self._last_call: int = point.life.get("call", 0)
        """The call behind which the thread stops; 0: none."""
        self.begin: Callable[[Any], bool | None] = guard.hook(self._begin)
        """Notes that a frame's call begins; whether there were enough."""
        self._record = guard.hook(self._write)

    def _begin(self, frame: Any) -> bool:
        """Note that a frame's call begins, if the point's condition holds; return True to end the recording.

        The open call gets the point's next number, and is known to all points from now on; the first one also
        reports the function to the rows. The result is False for a call that was noted, even for the last one, and
        False where the condition does not hold: then nothing is noted. True means that the point had `max_hits`
        hits already: nothing is noted, and the point is marked as ended.
        """
        if self._condition is not None and not self._condition(frame, ""):
            return False
        hit = next(self.point.hits)
        if self.point.max_hits and hit > self.point.max_hits:
            return bool(self.point.end())
        if self._is_first:
            self._is_first = False
            self._rows.function_called(self.point.id, self.name)
        call = OpenCall(self.point.id, hit, frame, self._enclosing_call(frame), self._names)
        self._running_calls[id(frame)] = self._calls[id(frame)] = call
        return False

    def _enclosing_call(self, frame: Any) -> OpenCall | None:
        """Return the open call, of any point, that a frame's call belongs to; None: there is none.

        It is that of the nearest of the frame's callers that has one, among `MOST_FRAMES` of them.
        """
        for _ in range(MOST_FRAMES if self._running_calls else 0):
            frame = frame.f_back
            if frame is None:
                break
            call = self._running_calls.get(id(frame))
            # A generator may be gone without an end, and its number another frame's.
            if call is not None and call.code is frame.f_code:
                return call
        return None

    def number(self, frame: Any) -> int:
        """Return the number of a frame's call, in the order in which calls began; 0: it is not recorded."""
        call = self._calls.get(id(frame))
        return 0 if call is None else call.hit

    def goes_on(self, frame: Any) -> bool:
        """Return whether a frame's call has begun, and is recorded."""
        return id(frame) in self._calls

    def end(self, frame: Any, result: Any, error: BaseException | str | None = None) -> bool:
        """Write the row of a frame's call that is over; return whether the thread is to stop behind it.

        `error` is what the call raised: the exception, or its text as a cell of a row; None: it has returned
        `result`. The result is True for the call whose number is the key `call` of the point's `life`, else
        False. A call whose begin was not noted has no row, and False is returned. A row that cannot be made is
        dropped. The call counts as over from now on: a second `end` does nothing.
        """
        call = self._calls.pop(id(frame), None)
        if call is None:
            return False
        self._running_calls.pop(id(frame), None)
        self._record(call, frame, result, error)
        return call.hit == self._last_call

    def _write(
        self, call: OpenCall, frame: Any, value: Any, error: BaseException | str | None
    ) -> None:
        """Write the row of a call that has returned `value`, or raised `error` (the exception, or its cell).

        With `error` None the call has returned. The cells are `row_format.CALL_COLUMNS` and the point's
        expressions, which are evaluated now with the names of `frame`: code of the program may run. The row's
        time is that of the call's begin, its duration leaves out how long the debugger had stopped the thread;
        both are written in nanoseconds with `e-9` behind them. A row that finds no room, not even in a next
        chunk, is counted as lost.
        """
        took = time.perf_counter_ns() - call.start - (returned.stopped_ns() - call.stopped)
        if error is None:
            result = cells.cell(value)
        else:
            result = error if isinstance(error, str) else cells.error_cell(error)
        more = self._cells(frame, "") if self._cells is not None else ""
        line = (
            f"{self.point.id}\t{call.hit}\t{call.start - self._rows.start_ns}e-9\t{call.context}\t{self.name}\t{call.depth}"
            f"\t{took}e-9\t{call.arguments}\t{result}\t{call.changed()}\t{call.within}{more or ''}\n"
        ).encode()
        try:
            self._rows.write(line)
        except ValueError:
            self._rows.write_to_next_chunk(line)
