"""The breakpoints that collect instead of stopping, each client's apart. Pure."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from dapeer.collecting.rows.collected import Collected, Point
from dapeer.dap.requested_breakpoints import RequestedBreakpoint, RequestedFunction, Spot, spot_of

Key = TypeVar("Key")
ByPlace = dict[str, dict[int, dict[Key, RequestedBreakpoint]]]
"""Breakpoints by path, line, and what tells them apart there."""


def put_at(
    by_path: ByPlace[Key], path: str, line: int, key: Key, requested: RequestedBreakpoint | None
) -> RequestedBreakpoint | None:
    """Set, or with None remove, a breakpoint in `by_path`; return what `key` had there, or None.

    `key` names one of several breakpoints on the line, such as by its column and client; the others stay. Lines
    and files that are left without a breakpoint are removed from the table.
    """
    lines = by_path.setdefault(path, {})
    here = lines.setdefault(line, {})
    before = here.pop(key, None)
    if requested is not None:
        here[key] = requested
    if not here:
        del lines[line]
    if not lines:
        del by_path[path]
    return before


@dataclass(slots=True)
class CollectionPoints:
    """The breakpoints that collect instead of stopping. Each client has its own at a place of a line."""

    by_path: ByPlace[tuple[int, str]] = field(default_factory=ByPlace[tuple[int, str]])
    """By absolute source path, line, and column and client."""
    change_count: int = 0
    """Counts the changes."""
    listeners: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    """Called at once with the path of a file whose points have changed."""

    def get(self, path: str, spot: Spot, client: str) -> RequestedBreakpoint | None:
        """Return the breakpoint with which a client collects at a place of a file; None: there is none."""
        line, column = spot
        return self.by_path.get(path, {}).get(line, {}).get((column, client))

    def set_collecting(
        self, path: str, spot: Spot, client: str, requested: RequestedBreakpoint | None
    ) -> RequestedBreakpoint | None:
        """Set, or with None remove, what a client collects at a place; return what it collected there before.

        `path` is the file's, `spot` the line and column that were asked for (column 0: none), `client` the client's
        key. `requested` is the breakpoint that collects. None is returned if the client collected nothing there. If
        `requested` differs from what is returned, `change_count` grows by one, and each of `listeners` is called
        with `path`.
        """
        line, column = spot
        before = put_at(self.by_path, path, line, (column, client), requested)
        if before != requested:
            self.change_count += 1
            for listener in self.listeners:
                listener(path)
        return before

    def breakpoints_of_file(self, path: str) -> list[RequestedBreakpoint]:
        """Return the breakpoints of a file that collect, of all clients, by place."""
        lines = self.by_path.get(path, {})
        return [lines[line][key] for line in sorted(lines) for key in sorted(lines[line])]

    def columns_on(self, path: str, line: int, client: str) -> list[int]:
        """Return the columns of the breakpoints with which a client collects on a line; 0: it has none."""
        return [column for column, who in self.by_path.get(path, {}).get(line, ()) if who == client]

    def spots(self, client: str) -> list[tuple[str, Spot]]:
        """Return path and (line, column) of each breakpoint with which a client collects.

        `client` is the client's key. Paths are absolute; column 0: the breakpoint was set without a column. The list is
        empty if the client collects nothing on lines.
        """
        return [
            (path, (line, column))
            for path, lines in self.by_path.items()
            for line, here in lines.items()
            for column, who in here
            if who == client
        ]


class FunctionPoints(UserDict[tuple[str, str], RequestedFunction]):
    """The functions at which programs collect, by client and title."""

    def __init__(self) -> None:
        self.change_count = 0
        """Counts the changes."""
        self.listeners: list[Callable[[], None]] = []
        """Called at once when they have changed."""
        super().__init__()

    def __setitem__(self, key: tuple[str, str], item: RequestedFunction) -> None:
        super().__setitem__(key, item)
        self._record_change()

    def __delitem__(self, key: tuple[str, str]) -> None:
        super().__delitem__(key)
        self._record_change()

    def _record_change(self) -> None:
        """Count a change, and call all listeners."""
        self.change_count += 1
        for listener in self.listeners:
            listener()


def ensure_line_point(collected: Collected, path: str, requested: RequestedBreakpoint) -> Point:
    """Return the point, a place that collects, of a breakpoint that collects in the file `path`.

    If `collected` has no point with the same properties, one is added there, with the next number. The
    properties are `path`, and of `requested` its `line`, `column`, `collect`, `expect`, `collectedBy` and
    `maxHits`.
    """
    line, column = spot_of(requested)
    return collected.ensure_point(
        requested.get("collect") or (),
        path=path,
        line=line,
        column=column,
        expect=requested.get("expect") or "",
        client=requested.get("collectedBy") or "",
        max_hits=requested.get("maxHits") or 0,
    )


def ensure_function_point(collected: Collected, requested: RequestedFunction) -> Point:
    """Return the point of functions at which a program collects; it is made in `collected` if it is new.

    A point is a place at which values are recorded. `requested` is what a client wants there; of it count
    `name` (the function), `collect` (the expressions), `calls` (each row is a call of the function),
    `collectedBy` (the client's key) and `maxHits` (after so many rows no more are taken; 0, None or missing:
    all are). A point that agrees in all of these is returned as it is.
    """
    return collected.ensure_point(
        requested["collect"],
        function=requested["name"],
        client=requested.get("collectedBy") or "",
        max_hits=requested.get("maxHits") or 0,
        calls=requested["calls"],
    )


FINALIZER = "__del__"
LATE = " (unless while the interpreter ended, where the debugger sees nothing)"


def functions_without_rows(
    collected: Collected, name: str, *, calls: bool
) -> Iterator[tuple[Literal["never called", "never ended"], str, str]]:
    """Yield state, name and doubt of those functions of a point at functions that have no row.

    `collected` has what the program has collected. `name` is the point's text, which may name several functions
    with `, ` between them, also by `*` and `?`; only the part after the last dot is compared. `calls` says whether
    its rows are calls; if not, the functions cannot be told apart, and `name` as a whole is "never called" where
    the point has no hit. The state is "never called", or "never ended" for a function that was called and has not
    returned. Nothing is yielded if the point has dropped rows, or any rows of the program were lost or overwritten.
    The doubt is a text in brackets that begins with a space, mostly empty.
    """
    points = {
        n for n, each in collected.points.items() if (each.function, each.calls) == (name, calls)
    }
    found = [each for (_, number), each in collected.collections.items() if number in points]
    if not collected.complete or any(collected.overwritten.values()):
        return
    if any(each.dropped for each in found):
        return
    if not calls:
        if not any(each.hits for each in found):
            yield "never called", name, ""
        return
    # A row has the function's own name, which may be written with more or less of what is around it.
    seen = {_last(each) for rows in found for each in set(rows.table.cells[0])}
    called_before = {_last(function) for number, function in collected.called if number in points}
    for each in name.split(", "):
        own = _last(each)
        if any(fnmatchcase(one, own) for one in seen):
            continue
        if any(fnmatchcase(one, own) for one in called_before):
            yield "never ended", each, ""
        else:
            yield "never called", each, LATE if own == FINALIZER else ""


def _last(name: str) -> str:
    """Return the last part of a function's name.

    >>> _last("shop.Order.total")
    'total'
    """
    return name.rpartition(".")[2]
