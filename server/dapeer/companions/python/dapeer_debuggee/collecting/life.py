"""The life of one call: a row for each executed line, with the local variables that it changed.

A row has `row_format.LIFE_COLUMNS`. It is written when the next line begins, or the call is over: what has changed since the line before was
changed by this line, or by what it has called.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from .. import guard
from ..values import cells
from . import calls

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
        self._of = of
        self._rows = rows
        self._line = 0
        self._hits = itertools.count(1)
        self._known: dict[str, tuple[str, Any]] = {}
        self._take = guard.hook(self._look)

    def begin(self, frame: Any) -> tuple[int, dict[Any, Any]]:
        """Return the line of a frame that runs already, and an empty dict: its call is none that is counted."""
        return frame.f_lineno, {}

    def look(self, frame: Any, line: int, _seen: dict[Any, Any], _event: str) -> bool:
        """Write the row of the line that has ended, if the frame is that of the call.

        Return False: it never stops. `line` is 0 where the function begins or goes on.
        """
        if self._of.number(frame) == self._call:
            self._take(frame, not line)
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

        The new values are remembered. Where at most `MAX_CHANGED_PARTS` members or elements of the same object have changed, these are
        returned in place of the variable, as `name.member` or `name[key]`.
        """
        changes: list[tuple[str, str, str]] = []
        for name, value in itertools.islice(frame.f_locals.items(), MOST_NAMES):
            fixed = cells.is_one_of(type(value), calls.FIXED)
            now = cells.cell(value), None if fixed else (id(value), calls.parts(value))
            before = self._known.get(name, UNKNOWN)
            if now != before and not name.startswith("."):
                self._known[name] = now
                inner = changed_parts(name, value, before[1], now[1])
                changes += (
                    inner if 0 < len(inner) <= MAX_CHANGED_PARTS else [(name, before[0], now[0])]
                )
        return changes

    def _write(self, frame: Any, changed: list[tuple[str, str, str]]) -> None:
        """Write a row with these changes (name, before, now) for the last line."""
        file = cells.escaped(frame.f_code.co_filename)
        text = json.dumps(changed, ensure_ascii=False)
        head = f"{self._point}\t{next(self._hits)}\t{self._rows.now()}\t\t\t"
        line = f"{head}\t{file}\t{self._line}\t{text}\n".encode()
        try:
            self._rows.write(line)
        except ValueError:
            self._rows.kept(line)


def changed_parts(name: str, value: Any, before: Any, now: Any) -> list[tuple[str, str, str]]:
    """Return the elements or members of one and the same object that have changed, as (name, before, now).

    It is empty if the variable is another object now, or what it held is not known.

    Args:
        name: The name of the variable.
        value: The object.
        before: Its id, and its `calls.parts`, as they were; or None.
        now: The same, as they are.
    """
    if before is None or now is None or before[0] != now[0]:
        return []
    was, are = before[1], now[1]
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is list or kind is dict:
        return elements(name, value, was, are) if are[0] >= was[0] else []
    return members(name, was, are) if cells.is_one_of(type(are), (dict,)) else []


def elements(name: str, value: Any, was: Any, are: Any) -> list[tuple[str, str, str]]:
    """Return name, empty text and value now of each element of a list or dictionary that has changed.

    `was` and `are` are its `calls.parts`; elements that are gone are not told.
    """
    keyed: Any = value.items() if hasattr(value, "items") else enumerate(value)
    differ = [one != other for one, other in itertools.zip_longest(was[1], are[1])]
    return [
        (f"{name}[{cells.cell(key)}]", "", cells.cell(each))
        for (key, each), other in zip(keyed, differ)
        if other
    ]


def members(name: str, was: dict[str, Any], are: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return name, value before and value now of each changed member of an object, gone ones first.

    `was` and `are` are its `calls.parts` before and now; an empty text is no value.
    """
    gone = [(f"{name}.{each}", part[1], "") for each, part in was.items() if each not in are]
    return gone + [
        (f"{name}.{each}", was[each][1] if each in was else "", part[1])
        for each, part in are.items()
        if was.get(each) != part
    ]
