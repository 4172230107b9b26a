"""Collected calls as an indented tree, folded where they are alike, so that the odd one shows. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dapeer.collecting.rows.table import Table
from dapeer.collecting.text.call_lines import (
    ARGUMENTS,
    MAX_VALUES,
    MIN_SHOWN_NANOSECONDS,
    RESULT,
    WITHIN,
    CallLines,
    RepeatedPart,
    duration,
    nanoseconds,
    repeats,
)
from dapeer.collecting.text.column_lines import ODD_ROWS, column_description
from dapeer.collecting.text.columns import MAX_ODD_ROWS, NUMERIC, OddRow, column, is_rare, kind

# Collected calls, each within the one that it belongs to; which are alike, and which are odd. Pure.

Lane = tuple[str, str]
"""Thread and task."""


@dataclass(slots=True)
class CallForest:
    """The calls of a table, each within the one that it belongs to."""

    lines: CallLines
    roots: dict[Lane, list[int]] = field(default_factory=dict[Lane, list[int]])
    """By thread and task the calls that belong to none, by index in the table."""
    sizes: list[int] = field(default_factory=list[int])
    """By index how many calls are within one, at any depth."""
    inner_calls: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    callers: dict[int, int] = field(default_factory=dict[int, int])
    order: list[int] = field(default_factory=list[int])
    """All calls, as they began."""
    shapes: list[int] = field(default_factory=list[int])
    """By index: calls of one shape are alike, with all that is within them."""
    oddities: dict[int, str] = field(default_factory=dict[int, str])
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
                outer = self._enclosing_call(stacks.get(lane, []), index, starts)
            if outer is not None and self.lines.lane(outer) == lane:
                self.callers[index] = outer
                self.inner_calls.setdefault(outer, []).append(index)
            else:
                self.roots.setdefault(lane, []).append(index)
            stacks.setdefault(lane, []).append(index)
        name = self.lines.function
        recursive = {
            name(inner) for inner, outer in self.callers.items() if name(inner) == name(outer)
        }
        self.oddities = _oddities_of_calls(self.lines, self.order, recursive)
        self._set_shapes_and_sizes()

    def _enclosing_call(self, stack: list[int], index: int, starts: Sequence[int]) -> int | None:
        """Return the index of the innermost call of the same thread and task that was running when one began.

        None: there is none. `index` is the call that began. `stack` has the earlier calls of that thread and task, the
        innermost last; those that were over before the start, or are as deep as the call or deeper, are removed from
        it. `starts` has the start of each call in nanoseconds.
        """
        depth, start = self.lines.depth(index), starts[index]
        while stack and (
            self.lines.depth(stack[-1]) >= depth
            or starts[stack[-1]] + self.lines.took(stack[-1]) < start
        ):
            stack.pop()
        return stack[-1] if stack else None

    def _set_shapes_and_sizes(self) -> None:
        """Set `shapes` and `sizes` of all calls, from the innermost calls on.

        `sizes` counts the calls within a call at any depth, without the call itself. Two calls get the same number in
        `shapes` if they have the same function and kind of result, both or neither have changed an argument, and the
        calls within them have the same shapes; of equal calls that follow each other it does not matter how many there
        are. An odd call has a shape of its own. The row index is the index of both lists.
        """
        known: dict[object, int] = {}
        self.shapes, self.sizes = [0] * len(self.order), [0] * len(self.order)
        outcomes: dict[str, str] = {}
        results = self.lines.table.cells[RESULT]
        for index in reversed(self.order):
            text = results[index]
            self.sizes[index] = sum(1 + self.sizes[each] for each in self.calls_within(index))
            if text not in outcomes:
                outcomes[text] = self.lines.outcome(index)
            inner = tuple(
                key for key, _ in groupby(map(self.shapes.__getitem__, self.calls_within(index)))
            )
            odd = index if index in self.oddities else -1
            what = self.lines.function(index), outcomes[text], self.lines.has_changed(index)
            self.shapes[index] = known.setdefault((what, inner, odd), len(known))

    def calls_within(self, index: int) -> Sequence[int]:
        """Return the row indices of the calls directly within the call in row `index`, as they began."""
        return self.inner_calls.get(index, ())


def _oddities_of_calls(
    lines: CallLines, order: Sequence[int], recursive: Collection[str]
) -> dict[int, str]:
    """Return what is odd about calls, by index, for at most `ODD_ROWS` of them.

    Odd is a result unlike those of its function's other calls, or that it changes something as few of them do; of
    both, the latter is told. For a function in `recursive`, which calls itself, only the first of each rare kind of
    results is odd. `lines` has the table of the calls. `order` are the calls' row indices, as they began: the
    lowest odd ones are returned.
    """
    found: dict[int, str] = {}
    for name, indices in by_function(lines, order).items():
        results = [lines.table.cells[RESULT][index] for index in indices]
        # The results of a recursion differ from level to level.
        odd = _rare_kinds(results) if name in recursive else column(results).odd_rows
        found |= {indices[each.index]: f"result {each.reason}" for each in odd}
        changing = [index for index in indices if lines.has_changed(index)]
        if is_rare(len(changing), len(indices)):
            some = f"one of {len(changing):,} that change something"
            found |= dict.fromkeys(
                changing[:MAX_ODD_ROWS],
                some if len(changing) > 1 else "the only one that changes something",
            )
    kept = sorted(found)[:ODD_ROWS]
    return {index: found[index] for index in kept}


def _rare_kinds(results: Sequence[str]) -> Iterator[OddRow]:
    """Yield the first result of each kind that is rare, numbers apart."""
    kinds = list(map(kind, results))
    for name, count in Counter(kinds).items():
        if is_rare(count, len(kinds)) and name not in NUMERIC:
            why = f"the only {name}" if count == 1 else f"the first of {count:,} {name}"
            yield OddRow(kinds.index(name), why)


def by_function(lines: CallLines, order: Iterable[int]) -> dict[str, list[int]]:
    """Return the indices of the calls of each function, by its name, in the order of `order`."""
    by: dict[str, list[int]] = {}
    for index in order:
        by.setdefault(lines.function(index), []).append(index)
    return by


MAX_TREE_LINES = 30
"""Lines of a tree."""
MAX_LEVELS = 40
"""Calls within each other that are shown."""
MAX_INDENTED_LEVELS = 12
"""Calls within each other from which on a line is not indented further."""
MIN_CHAIN = 6
"""Calls of one recursion from which on they are one line."""
MAX_PERIOD = 3
"""Functions that may call each other in turn in a recursion."""
MAX_UNCOUNTED_CALLS = 2
"""Calls between an odd one and one that is shown, at most: from there on they are counted."""
MAX_SIBLINGS = 16
"""Parts of the calls within one; of more the first and the last ones."""
MAX_SHOWN_FUNCTIONS = 8
"""Functions of which it is told what they return."""
MAX_LISTED_FUNCTIONS = 40
"""Functions that are listed where somebody asks for them."""


def tree_lines(table: Table, expressions: Sequence[str]) -> list[str]:
    """Return collected calls as lines: a summary of what each function returns, and the indented tree.

    The tree has the outermost calls, and as many levels of the calls within them as fit into `MAX_TREE_LINES`.
    Calls that repeat share a line, and a line such as `… 9 more` stands for those left out. The summary is left
    out if the tree has at least as many lines as there are calls. Each row of `table` is a call, and
    `expressions` are those that were collected beside the call. The list is empty if the table has no rows.
    """
    lines = CallLines(table, expressions)
    forest = CallForest(lines)
    shown: list[str] = []
    for deepest in range(1, MAX_LEVELS):
        deeper = list(_lanes(forest, deepest))
        if shown and (len(deeper) > MAX_TREE_LINES or deeper == shown):
            break
        shown = deeper
    # Where each call has its line, nothing is to be said of all of them.
    return shown if len(shown) >= len(table) else [*function_lines(forest), *shown]


def _lanes(forest: CallForest, deepest: int) -> Iterator[str]:
    """Yield the tree of each thread or task, below its name if there are several.

    Calls within each other are shown `deepest` levels deep.
    """
    several = len(forest.roots) > 1
    for (thread, task), roots in forest.roots.items():
        if several:
            yield f"{task or thread}:"
        yield from _lines_of_calls(forest, roots, deepest, "  " * several)


def _lines_of_calls(
    forest: CallForest, calls: Sequence[int], deepest: int, indent: str
) -> Iterator[str]:
    """Yield the lines of calls that follow each other; those that repeat are folded into one line.

    `forest` has all calls of the table. `calls` are row indices; `deepest` is how many levels are shown, these calls being the first
    (1: only these, but a call is opened further if an odd call is within it). `indent` stands before each line. Parts that are left out
    are one line with their number of calls.
    """
    shapes = [forest.shapes[each] for each in calls]
    parts = list(repeats(shapes))
    left_out = _parts_left_out(parts, calls, forest)
    shown: dict[tuple[int, ...], int] = {}
    for number, part in enumerate(parts):
        if number in left_out:
            if number - 1 not in left_out:
                end = next(n for n in range(number, len(parts) + 1) if n not in left_out)
                count = sum(parts[n].period * parts[n].times for n in range(number, end))
                yield f"{indent}… {count:,} more"
            continue
        first = calls[part.start]
        known = shown.setdefault(tuple(shapes[part.start : part.start + part.period]), part.start)
        if known != part.start and (part.times > 1 or forest.calls_within(first)):
            these, those = calls[part.start : part.end], calls[known : known + part.period]
            but = _differing_arguments(forest, [*those, *these], part.period)
            yield f"{indent}{_alike_line(forest, these, part, those[0])}{but}"
            continue
        for index in calls[part.start : part.start + part.period]:
            yield from _lines_of_call(forest, index, deepest, indent)
        if part.times > 1:
            rest = calls[part.start + part.period : part.end]
            but = _differing_arguments(forest, calls[part.start : part.end], part.period)
            yield f"{indent}{_alike_line(forest, rest, part)}{but}"


def _differing_arguments(forest: CallForest, calls: Sequence[int], period: int) -> str:
    """Return ", but for" and the arguments that differ among folded calls; empty: none differs.

    `calls` are row indices, and `period` is how many calls repeat together. If it is 1, the arguments are named
    with some of their values; else without, each as "NAME of FUNCTION", and of more than `MAX_VALUES` the rest is
    "…". Arguments of calls that the folded ones have made are not named, but said to differ, as "arguments within".
    `forest` has all calls of the table.
    """
    each = [calls[place::period] for place in range(period)]
    if period == 1:
        differences = forest.lines.differing_arguments(calls)
    else:
        names = [
            f"{name} of {forest.lines.function(alike[0])}"
            for alike in each
            for name in forest.lines.different(alike)
        ]
        differences = ", ".join(
            dict.fromkeys(names if len(names) <= MAX_VALUES else [*names[:MAX_VALUES], "…"])
        )
    given = any(len({_given_within(forest, one) for one in alike}) > 1 for alike in each)
    within = "arguments within" if given else ""
    return ", but for " * bool(differences or within) + " and ".join(
        filter(None, (differences, within))
    )


def _given_within(forest: CallForest, index: int) -> tuple[str, ...]:
    """Return the arguments of all calls within the call in row `index`, at any depth; one text for each.

    `forest` has all calls of the table. The order is not that of the calls, but alike for trees that are
    alike. Empty: there are no calls within the call.
    """
    given, left = list[str](), list(forest.calls_within(index))
    while left:
        inner = left.pop()
        given.append(forest.lines.table.cells[ARGUMENTS][inner])
        left += forest.calls_within(inner)
    return tuple(given)


def _parts_left_out(
    parts: Sequence[RepeatedPart], calls: Sequence[int], forest: CallForest
) -> set[int]:
    """Return the indices of the parts that are not shown; empty if there are at most `MAX_SIBLINGS`.

    Shown are the first half of `MAX_SIBLINGS` parts, a quarter of it at the end, and the first `ODD_ROWS` parts
    that have an odd call, or one with an odd call within it (those at the ends are among them). `calls` are the row
    indices of all calls, which `parts` cut by place.
    """
    if len(parts) <= MAX_SIBLINGS:
        return set()
    shown = {*range(MAX_SIBLINGS // 2), *range(len(parts) - MAX_SIBLINGS // 4, len(parts))}
    odd = {
        n
        for n, part in enumerate(parts)
        if any(_contains_odd_call(forest, each) for each in calls[part.start : part.end])
    }
    return {*range(len(parts))} - shown - set(sorted(odd)[:ODD_ROWS])


def _contains_odd_call(forest: CallForest, index: int) -> bool:
    """Return whether the call in row `index`, or one within it, is odd."""
    return bool(forest.oddities) and (
        index in forest.oddities or any(_is_within(forest, odd, index) for odd in forest.oddities)
    )


def _is_within(forest: CallForest, index: int, outer: int) -> bool:
    """Return whether the call in row `index` is the call `outer`, or within it at any depth."""
    at: int | None = index
    while at is not None and at != outer:
        at = forest.callers.get(at)
    return at == outer


def _alike_line(
    forest: CallForest, calls: Sequence[int], part: RepeatedPart, known: int | None = None
) -> str:
    """Return a line that says that `calls` are alike, or like those from the call in row `known` on.

    `calls` are row indices in order; `part.period` tells how many of them repeat together. With `known` None
    they are alike. The line has hit numbers, how often the repetition occurs, and the period if it is more
    than 1: `#4…9 alike (3, 2 calls each)`, `#4…9 like #1 (6)`; for one call only `#4 alike`.
    """
    hits = forest.lines.table.hits
    like = "alike" if known is None else f"like #{hits[known]}"
    if len(calls) == 1:
        return f"#{hits[calls[0]]} {like}"
    each = f", {part.period} calls each" if part.period > 1 else ""
    return f"#{hits[calls[0]]}…{hits[calls[-1]]} {like} ({len(calls) // part.period:,}{each})"


def _lines_of_call(forest: CallForest, index: int, deepest: int, indent: str) -> Iterator[str]:
    """Yield the line of the call in row `index`, and those of the calls within it, `deepest` levels deep.

    The call itself is the first of these levels: with 1, its line only tells how many calls are within. With
    1 it is opened nevertheless if an odd call is within it: near ones are shown in their place, for far ones
    a line tells how many calls are left out, and the call around the odd one follows. Behind `←` a line has
    what is odd about its call. Calls that repeat, and recursions, are folded into one line. `forest` has all
    calls of the table; `indent` stands before each line.
    """
    outer = forest.callers.get(index)
    text = forest.lines.line(index, None if outer is None else forest.lines.function(outer))
    odd = f"  ← {forest.oddities[index]}" if index in forest.oddities else ""
    inner = forest.calls_within(index)
    opened = deepest > 1 or (
        inner and any(_is_within(forest, each, index) for each in forest.oddities if each != index)
    )
    more = "" if opened or not inner else f"  (+{forest.sizes[index]:,} within)"
    yield f"{indent}{text}{odd}{more}"
    if not opened:
        return
    deeper = f"{indent}  " if len(indent) < 2 * MAX_INDENTED_LEVELS else indent
    chain = _recursion_chain(forest, index)
    if chain:
        yield f"{deeper}{forest.lines.recursion_line(chain)}"
        inner = forest.calls_within(chain[-1])
        deeper = f"{deeper}  "
    if deepest > 1:
        yield from _lines_of_calls(forest, inner, deepest - 1, deeper)
        return
    far = list(_calls_around_deep_oddities(forest, chain[-1] if chain else index))
    if not far:
        yield from _lines_of_calls(forest, inner, deepest - 1, deeper)
    for outer, between in far:
        yield f"{deeper}… {between:,} calls further within:"
        yield from _lines_of_call(forest, outer, 1, deeper)


def _recursion_chain(forest: CallForest, index: int) -> list[int]:
    """Return the rows of the calls of a recursion below the call in row `index`, the outermost first.

    The call in row `index` and each of these calls but the last have called only the next one; what the last one has
    called does not matter. None of them is odd (in `forest.oddities`); the call in row `index` is not among them. Up to
    `MAX_PERIOD` functions may call each other in turn. The list is empty if there are fewer than `MIN_CHAIN` such
    calls, or none of the first `MAX_PERIOD` is of the same function as the call in row `index`.
    """
    names = {forest.lines.function(index)}
    found: list[int] = []
    while len(inner := forest.calls_within(found[-1] if found else index)) == 1:
        name = forest.lines.function(inner[0])
        if inner[0] in forest.oddities or (name not in names and len(found) >= MAX_PERIOD):
            break
        names.add(name)
        found.append(inner[0])
    recurs = forest.lines.function(index) in map(forest.lines.function, found[:MAX_PERIOD])
    return found if recurs and len(found) >= MIN_CHAIN else []


def _calls_around_deep_oddities(forest: CallForest, index: int) -> Iterator[tuple[int, int]]:
    """Yield calls around odd ones deep within the call in row `index`, each with its distance from it.

    Yielded are the row index of the direct caller of an odd call, and the number of calls between the call in
    row `index` and this caller, both excluded. A caller within another yielded one is left out. Nothing is
    yielded if any odd call is so near, with at most `MAX_UNCOUNTED_CALLS` calls between, that it is shown in
    its place.
    """
    found: dict[int, int] = {}
    for odd in forest.oddities:
        path: list[int] = []
        at: int | None = odd
        while at is not None and at != index:
            path.append(at)
            at = forest.callers.get(at)
        if at is None or not path:
            continue
        if len(path) <= MAX_UNCOUNTED_CALLS + 1:
            return
        found[path[1]] = len(path) - 2
    for outer, between in found.items():
        if not any(each != outer and _is_within(forest, outer, each) for each in found):
            yield outer, between


def function_lines(forest: CallForest) -> Iterator[str]:
    """Yield a line for each function, those with most calls first: number of calls, time, and results.

    `forest` has all calls of the table. The time is left out where it is short. There are at most `MAX_SHOWN_FUNCTIONS`; a last line says
    how many more there are.
    """
    by = by_function(forest.lines, forest.order)
    order = sorted(by, key=lambda name: (-len(by[name]), name))
    for name in order[:MAX_SHOWN_FUNCTIONS]:
        whole, _ = _time_of_calls(forest, by[name])
        took = f", {duration(whole)} in all" if whole >= MIN_SHOWN_NANOSECONDS * 10 else ""
        yield _function_line(forest, name, by[name], took)
    if len(order) > MAX_SHOWN_FUNCTIONS:
        yield f'{len(order) - MAX_SHOWN_FUNCTIONS} more functions: dap_collected by="function"'


def by_time(table: Table, expressions: Sequence[str]) -> Iterator[str]:
    """Yield a line for each function, those that took most time of their own first: calls, times, results.

    `table` has the calls, `expressions` are those that were collected beside them. At most `MAX_LISTED_FUNCTIONS` are listed. A last line
    says that recording makes calls slower.
    """
    forest = CallForest(CallLines(table, expressions))
    by = by_function(forest.lines, forest.order)
    spent = {name: _time_of_calls(forest, indices) for name, indices in by.items()}
    order = sorted(by, key=lambda name: (-spent[name][1], name))
    for name in order[:MAX_LISTED_FUNCTIONS]:
        whole, own = spent[name]
        took = f", {duration(whole)} in all"
        took += f", {duration(own)} without the calls within" * (own < whole)
        yield _function_line(forest, name, by[name], took)
    if len(order) > MAX_LISTED_FUNCTIONS:
        yield f"{len(order) - MAX_LISTED_FUNCTIONS} more functions"
    yield "(Recording makes calls slower: compare these times with each other.)"


def _function_line(forest: CallForest, name: str, indices: Sequence[int], took: str) -> str:
    """Return the line on a function: how many calls, `took`, and what they have returned."""
    results = column([forest.lines.table.cells[RESULT][index] for index in indices])
    count = f"{len(indices):,} call{'' if len(indices) == 1 else 's'}"
    return f"{name}: {count}{took} → {column_description(results)}"


def _time_of_calls(forest: CallForest, indices: Iterable[int]) -> tuple[int, int]:
    """Return how many nanoseconds calls of one function took: in all, and without the calls within them.

    `indices` are the rows of these calls. In the first number, a call directly within one of the same
    function is counted only as a part of the outer one; a call further within is counted again. The second
    number is never negative. Without calls both are 0.
    """
    took, function = forest.lines.took, forest.lines.function
    whole = own = 0
    for index in indices:
        own += took(index) - sum(map(took, forest.calls_within(index)))
        outer = forest.callers.get(index)
        # A call within one of the same function is a part of its time.
        if outer is None or function(outer) != function(index):
            whole += took(index)
    return whole, max(own, 0)


def lines_one_by_one(table: Table, expressions: Sequence[str], *, changes: bool) -> Iterator[str]:
    """Yield a line for each call, in the order of their begins, indented within the call around it.

    `table` has the calls, `expressions` are those that were collected beside them. With `changes`, calls are
    left out whose arguments, result and changes are as at the previous call of their function. Where the outer
    call has no line, or calls of other threads or tasks come between, the first of the calls within it is not
    indented, and says `within #N` (N: the hit of the outer call). Lines are indented by `MAX_INDENTED_LEVELS`
    levels at most. If several threads or tasks have calls, each line ends with the task or thread in brackets.
    """
    lines = CallLines(table, expressions)
    order = sorted(range(len(table)), key=lambda index: nanoseconds(table.seconds[index]))
    several = len({lines.lane(index) for index in order}) > 1
    before: dict[str, tuple[str, ...]] = {}
    around: list[str] = []
    last = ""
    for index in order:
        cells = tuple(column[index] for column in table.cells[ARGUMENTS:WITHIN])
        name, outer = lines.function(index), lines.within(index)
        if changes and before.get(name) == cells:
            continue
        before[name] = cells
        # Only below the call that it belongs to does an indented line say so.
        del around[around.index(outer) + 1 if outer in around else 0 :]
        around_it = f"  within #{outer}" if outer not in {"", last} and not around else ""
        last = "" if around else outer
        of = f"  [{table.tasks[index] or table.threads[index]}]" if several else ""
        yield f"{'  ' * min(len(around), MAX_INDENTED_LEVELS)}{lines.line(index)}{around_it}{of}"
        around.append(f"{table.hits[index]}")
