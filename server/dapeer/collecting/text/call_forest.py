"""Collected calls, each within the one that it belongs to; which are alike, and which are odd. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dapeer.collecting.text.call_lines import RESULT, CallLines, nanoseconds
from dapeer.collecting.text.column_lines import ODD_ROWS
from dapeer.collecting.text.columns import MAX_ODD_ROWS, Odd, column, is_rare
from dapeer.collecting.text.kinds import NUMERIC, kind

Lane = tuple[str, str]
"""Thread and task."""


@dataclass(slots=True)
class Forest:
    """The calls of a table, each within the one that it belongs to."""

    lines: CallLines
    roots: dict[Lane, list[int]] = field(default_factory=dict[Lane, list[int]])
    """By thread and task the calls that belong to none, by index in the table."""
    sizes: list[int] = field(default_factory=list[int])
    """By index how many calls are within one, at any depth."""
    within: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    around: dict[int, int] = field(default_factory=dict[int, int])
    order: list[int] = field(default_factory=list[int])
    """All calls, as they began."""
    shapes: list[int] = field(default_factory=list[int])
    """By index: calls of one shape are alike, with all that is within them."""
    why: dict[int, str] = field(default_factory=dict[int, str])
    """By index what is odd about a call."""

    def __post_init__(self) -> None:
        """Build the tree of the calls, then find which are alike and which are odd.

        This fills all other attributes.
        """
        table = self.lines.table
        starts = list(map(nanoseconds, table.seconds))
        self.order = sorted(range(len(table)), key=starts.__getitem__)
        by_hit = {f"{hit}": index for index, hit in enumerate(table.hits)}
        stacks: dict[Lane, list[int]] = {}
        for index in self.order:
            lane = self.lines.lane(index)
            outer = by_hit.get(self.lines.within(index))
            if outer is None and self.lines.within(index):
                # The call around it is not over, or forgotten; there may be one around that.
                outer = self._around(stacks.get(lane, []), index, starts)
            if outer is not None and self.lines.lane(outer) == lane:
                self.around[index] = outer
                self.within.setdefault(outer, []).append(index)
            else:
                self.roots.setdefault(lane, []).append(index)
            stacks.setdefault(lane, []).append(index)
        name = self.lines.function
        recursive = {
            name(inner) for inner, outer in self.around.items() if name(inner) == name(outer)
        }
        self.why = _odd(self.lines, self.order, recursive)
        self._shape()

    def _around(self, stack: list[int], index: int, starts: Sequence[int]) -> int | None:
        """Return the index of the innermost call of the same thread and task that was running when one began.

        None: there is none. `stack` has the earlier calls of that thread, and loses those that were over by then; `starts` has the start
        of each call in nanoseconds.
        """
        depth, start = self.lines.depth(index), starts[index]
        while stack and (
            self.lines.depth(stack[-1]) >= depth
            or starts[stack[-1]] + self.lines.took(stack[-1]) < start
        ):
            stack.pop()
        return stack[-1] if stack else None

    def _shape(self) -> None:
        """Set `shapes` and `sizes`, from the innermost calls on.

        Calls that are alike, with all calls within them, get the same shape.
        """
        known: dict[object, int] = {}
        self.shapes, self.sizes = [0] * len(self.order), [0] * len(self.order)
        outcomes: dict[str, str] = {}
        results = self.lines.table.cells[RESULT]
        for index in reversed(self.order):
            text = results[index]
            self.sizes[index] = sum(1 + self.sizes[each] for each in self.of(index))
            if text not in outcomes:
                outcomes[text] = self.lines.outcome(index)
            inner = tuple(key for key, _ in groupby(map(self.shapes.__getitem__, self.of(index))))
            odd = index if index in self.why else -1
            what = self.lines.function(index), outcomes[text], self.lines.has_changed(index)
            self.shapes[index] = known.setdefault((what, inner, odd), len(known))

    def of(self, index: int) -> Sequence[int]:
        """Return the row indices of the calls directly within the call in row `index`, as they began."""
        return self.within.get(index, ())


def _odd(lines: CallLines, order: Sequence[int], recursive: Collection[str]) -> dict[int, str]:
    """Return what is odd about calls, by index, for at most `ODD_ROWS` of them.

    Odd is a result unlike those of its function's other calls, or that it changes something as few of them do. `recursive` names
    functions that call themselves.
    """
    found: dict[int, str] = {}
    for name, indices in by_function(lines, order).items():
        results = [lines.table.cells[RESULT][index] for index in indices]
        # The results of a recursion differ from level to level.
        odd = _odd_kinds(results) if name in recursive else column(results).odd
        found |= {indices[each.index]: f"result {each.why}" for each in odd}
        changing = [index for index in indices if lines.has_changed(index)]
        if is_rare(len(changing), len(indices)):
            some = f"one of {len(changing):,} that change something"
            found |= dict.fromkeys(
                changing[:MAX_ODD_ROWS],
                some if len(changing) > 1 else "the only one that changes something",
            )
    kept = sorted(found)[:ODD_ROWS]
    return {index: found[index] for index in kept}


def _odd_kinds(results: Sequence[str]) -> Iterator[Odd]:
    """Yield the first result of each kind that is rare, numbers apart."""
    kinds = list(map(kind, results))
    for name, count in Counter(kinds).items():
        if is_rare(count, len(kinds)) and name not in NUMERIC:
            why = f"the only {name}" if count == 1 else f"the first of {count:,} {name}"
            yield Odd(kinds.index(name), why)


def by_function(lines: CallLines, order: Iterable[int]) -> dict[str, list[int]]:
    """Return the indices of the calls of each function, by its name, in the order of `order`."""
    by: dict[str, list[int]] = {}
    for index in order:
        by.setdefault(lines.function(index), []).append(index)
    return by
