"""Collected calls as an indented tree, folded where they are alike, so that the odd one shows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dapeer.mirror.rows import Table
from dapeer.view.call_lines import ARGUMENTS, RESULT, SLOW, Lines, duration, nanoseconds
from dapeer.view.collected import ODD_ROWS, described
from dapeer.view.columns import FEW, Odd, column, is_rare
from dapeer.view.kinds import NUMERIC, kind
from dapeer.view.repeats import Repeat, repeats

TREE = 30
"""Lines of a tree."""
DEEPEST = 40
"""Calls within each other that are shown."""
SIBLINGS = 16
"""Parts of the calls within one; of more the first and the last ones."""
FUNCTIONS = 8
"""Functions of which it is told what they return."""

Lane = tuple[str, str]
"""Thread and task."""


@dataclass(slots=True)
class Forest:
    """The calls of a table, each within the one that it belongs to."""

    lines: Lines
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
        """Find the tree, then what is alike in it."""
        table = self.lines.table
        starts = list(map(nanoseconds, table.seconds))
        self.order = sorted(range(len(table)), key=starts.__getitem__)
        stacks: dict[Lane, list[int]] = {}
        for index in self.order:
            lane = table.threads[index], table.tasks[index]
            stack = stacks.setdefault(lane, [])
            depth, start = self.lines.depth(index), starts[index]
            while stack and (
                self.lines.depth(stack[-1]) >= depth
                or starts[stack[-1]] + self.lines.took(stack[-1]) < start
            ):
                stack.pop()
            if stack:
                self.around[index] = stack[-1]
                self.within.setdefault(stack[-1], []).append(index)
            else:
                self.roots.setdefault(lane, []).append(index)
            stack.append(index)
        name = self.lines.function
        recursive = {
            name(inner) for inner, outer in self.around.items() if name(inner) == name(outer)
        }
        self.why = _odd(self.lines, self.order, recursive)
        self._shape()

    def _shape(self) -> None:
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
        """Return the calls within one."""
        return self.within.get(index, ())


def _odd(lines: Lines, order: Sequence[int], recursive: Collection[str]) -> dict[int, str]:
    """Return what is odd about calls, by index: their result, or that they change something, unlike others of their function."""
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
                changing[:FEW], some if len(changing) > 1 else "the only one that changes something"
            )
    kept = sorted(found)[:ODD_ROWS]
    return {index: found[index] for index in kept}


def _odd_kinds(results: Sequence[str]) -> Iterator[Odd]:
    kinds = list(map(kind, results))
    for name, count in Counter(kinds).items():
        if is_rare(count, len(kinds)) and name not in NUMERIC:
            why = f"the only {name}" if count == 1 else f"the first of {count:,} {name}"
            yield Odd(kinds.index(name), why)


def by_function(lines: Lines, order: Iterable[int]) -> dict[str, list[int]]:
    """Return the indices of the calls of each function, as they began."""
    by: dict[str, list[int]] = {}
    for index in order:
        by.setdefault(lines.function(index), []).append(index)
    return by


def tree(table: Table, expressions: Sequence[str]) -> list[str]:
    """Return calls as lines: what each function returns where there are many, and the tree."""
    lines = Lines(table, expressions)
    forest = Forest(lines)
    shown: list[str] = []
    for deepest in range(1, DEEPEST):
        deeper = list(_lanes(forest, deepest))
        if shown and (len(deeper) > TREE or deeper == shown):
            break
        shown = deeper
    # Where each call has its line, nothing is to be said of all of them.
    return shown if len(shown) >= len(table) else [*functions(forest), *shown]


def _lanes(forest: Forest, deepest: int) -> Iterator[str]:
    several = len(forest.roots) > 1
    for (thread, task), roots in forest.roots.items():
        if several:
            yield f"{task or thread}:"
        yield from _within(forest, roots, deepest, "  " * several)


def _within(forest: Forest, calls: Sequence[int], deepest: int, indent: str) -> Iterator[str]:
    """Yield the lines of calls that follow each other."""
    shapes = [forest.shapes[each] for each in calls]
    parts = list(repeats(shapes))
    left_out = _left_out(parts, calls, forest)
    shown: dict[tuple[int, ...], int] = {}
    for number, part in enumerate(parts):
        if number in left_out:
            if number - 1 not in left_out:
                end = next(n for n in range(number, len(parts) + 1) if n not in left_out)
                count = sum(parts[n].period * parts[n].times for n in range(number, end))
                yield f"{indent}… {count:,} more"
            continue
        first = calls[part.start]
        known = shown.setdefault(tuple(shapes[part.start : part.start + part.period]), first)
        if known != first and (part.times > 1 or forest.of(first)):
            yield f"{indent}{_alike(forest, calls[part.start : part.end], part, known)}"
            continue
        for index in calls[part.start : part.start + part.period]:
            yield from _call(forest, index, deepest, indent)
        if part.times > 1:
            rest = calls[part.start + part.period : part.end]
            yield f"{indent}{_alike(forest, rest, part)}"


def _left_out(parts: Sequence[Repeat], calls: Sequence[int], forest: Forest) -> set[int]:
    """Return the parts that are not shown, where there are too many."""
    if len(parts) <= SIBLINGS:
        return set()
    shown = {*range(SIBLINGS // 2), *range(len(parts) - SIBLINGS // 4, len(parts))}
    odd = {
        n
        for n, part in enumerate(parts)
        if any(_has_odd(forest, each) for each in calls[part.start : part.end])
    }
    return {*range(len(parts))} - shown - set(sorted(odd)[:ODD_ROWS])


def _has_odd(forest: Forest, index: int) -> bool:
    return bool(forest.why) and (
        index in forest.why or any(_is_within(forest, odd, index) for odd in forest.why)
    )


def _is_within(forest: Forest, index: int, outer: int) -> bool:
    at: int | None = index
    while at is not None and at != outer:
        at = forest.around.get(at)
    return at == outer


def _alike(forest: Forest, calls: Sequence[int], part: Repeat, known: int | None = None) -> str:
    """Say that calls are alike; `known`: as the ones from there on."""
    hits = forest.lines.table.hits
    like = "alike" if known is None else f"like #{hits[known]}"
    if len(calls) == 1:
        return f"#{hits[calls[0]]} {like}"
    each = f", {part.period} calls each" if part.period > 1 else ""
    return f"#{hits[calls[0]]}…{hits[calls[-1]]} {like} ({len(calls) // part.period:,}{each})"


def _call(forest: Forest, index: int, deepest: int, indent: str) -> Iterator[str]:
    outer = forest.around.get(index)
    text = forest.lines.line(index, None if outer is None else forest.lines.function(outer))
    odd = f"  ← {forest.why[index]}" if index in forest.why else ""
    inner = forest.of(index)
    opened = deepest > 1 or (
        inner and any(_is_within(forest, each, index) for each in forest.why if each != index)
    )
    more = "" if opened or not inner else f"  (+{forest.sizes[index]:,} within)"
    yield f"{indent}{text}{odd}{more}"
    if opened:
        yield from _within(forest, inner, deepest - 1, f"{indent}  ")


def functions(forest: Forest) -> Iterator[str]:
    """Yield what the calls of each function have in common, where there are several."""
    lines = forest.lines
    by = by_function(lines, forest.order)
    # A call within one of the same function is a part of its time.
    inner = {
        index
        for index, outer in forest.around.items()
        if lines.function(index) == lines.function(outer)
    }
    spent = {
        name: sum(lines.took(each) for each in indices if each not in inner)
        for name, indices in by.items()
    }
    order = sorted(by, key=lambda name: (-len(by[name]), name))
    for name in order[:FUNCTIONS]:
        indices = by[name]
        results = column([lines.table.cells[RESULT][index] for index in indices])
        took = f", {duration(spent[name])} in all" if spent[name] >= SLOW * 10 else ""
        yield f"{name}: {len(indices):,} call{'' if len(indices) == 1 else 's'}{took} → {described(results)}"
    if len(order) > FUNCTIONS:
        yield f"{len(order) - FUNCTIONS} more functions"


def one_by_one(table: Table, expressions: Sequence[str], *, changes: bool) -> Iterator[str]:
    """Yield calls one by one, as they began; `changes`: those that are unlike the call of their function before."""
    lines = Lines(table, expressions)
    order = sorted(range(len(table)), key=lambda index: nanoseconds(table.seconds[index]))
    least = min(map(lines.depth, order), default=0)
    before: dict[str, tuple[str, ...]] = {}
    for index in order:
        cells = tuple(column[index] for column in table.cells[ARGUMENTS:])
        if not changes or before.get(lines.function(index)) != cells:
            yield f"{'  ' * min(lines.depth(index) - least, DEEPEST)}{lines.line(index)}"
        before[lines.function(index)] = cells
